//! `ucp`: a control plane that makes declarative clients and AWS agree on what is the same resource.
//!
//! This is the binary: configuration, wiring, command line. What a request may do is in `ucp-app`, what happens to an
//! operation in `ucp-model`.

mod ambient;
mod cli;
mod demo;
mod dev;
mod keys;
mod node;
mod pause;
mod serve;
mod shutdown;
mod simulator;
mod telemetry;
mod types;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    telemetry::init(match &cli.command {
        Command::Serve(_) => telemetry::Format::Json,
        Command::Dev(_) | Command::Migrate(_) | Command::Simulator(_) | Command::Openapi => {
            telemetry::Format::Human
        }
    });
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line for the person who started it, causes included.
            eprintln!("ucp: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match command {
            Command::Dev(arguments) => dev::run(arguments).await,
            Command::Serve(arguments) => serve::run(arguments).await,
            Command::Migrate(arguments) => serve::migrate(&arguments.database_url).await,
            Command::Simulator(arguments) => simulator::run(arguments).await,
            Command::Openapi => {
                println!("{}", ucp_api::openapi_json());
                Ok(())
            }
        }
    })
}
