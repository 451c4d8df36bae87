//! `ucp`: a control plane between declarative clients and AWS, in which the same declaration is the same resource.
//!
//! This is the binary: configuration, wiring and command line. The use cases of requests are in `ucp-app`, the state
//! machine of operations in `ucp-model`.

// They panic if nobody reads: see `ucp_cli::tell`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod access;
mod accounts;
mod ambient;
mod audit;
mod broker;
mod catalog;
mod cli;
mod config;
mod connections;
mod core_dumps;
mod demo;
mod descriptors;
mod dev;
mod dev_token;
mod keys;
mod limits;
mod node;
mod oidc;
mod pacing;
mod pause;
mod plan;
mod rights;
mod rotate_key;
mod serve;
mod shutdown;
mod simulator;
mod telemetry;
mod token;
mod types;
mod version;
mod wrong;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use mimalloc::MiMalloc;

use crate::cli::{Cli, Command};
use crate::telemetry::Format;

/// Large requests come and go. Their memory is given back, whichever thread has worked on them.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The default log filter of commands that write to a terminal.
const QUIET: &str = "warn";
/// The default log filter of `dev`: as above, and a line per request.
const REQUESTS: &str = "warn,ucp_api=info";

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(asked_for_help) if !asked_for_help.use_stderr() => asked_for_help.exit(),
        Err(error) => {
            // Not clap's 2, which `ucp plan` exits with for changes.
            let _ = error.print();
            return ExitCode::FAILURE;
        }
    };
    match run(cli.command) {
        Ok(status) => status,
        Err(error) => {
            // One line, including the causes.
            ucp_cli::tell(format_args!("ucp: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Daily(command) => ucp_cli::command::run(command, Cli::command()),
        Command::Dev(arguments) => {
            // The demo tells its own story.
            let default = if arguments.demo { QUIET } else { REQUESTS };
            work(Format::Human, default, dev::run(arguments))
        }
        Command::Serve(arguments) => work(Format::Json, "info", serve::run(arguments)),
        Command::Migrate(arguments) => {
            let migration = serve::migrate(&arguments.database_url);
            work(Format::Human, QUIET, migration)
        }
        Command::RotateKey(arguments) => work(Format::Human, QUIET, rotate_key::run(arguments)),
        Command::Token(command) => work(Format::Human, QUIET, token::run(command)),
        Command::Simulator(arguments) => work(Format::Human, QUIET, simulator::run(arguments)),
        Command::Plan(arguments) => plan::run(*arguments),
        Command::Catalog(arguments) => catalog::run(&arguments),
        Command::Openapi => {
            ucp_cli::print(&format!("{}\n", ucp_api::openapi_json()))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Limits => {
            ucp_cli::print(&limits::page()?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The threads of the runtime for each core. Beside them, work that takes CPU time has threads of its own. If all of these are busy, the
/// cores are shared by the number of threads: with one for each core, the runtime would get a third of them, and probes would wait.
const RUNTIME_THREADS: usize = 2;

/// Starts logging and runs `work` to its end.
fn work(
    logs: Format,
    default_filter: &str,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<ExitCode> {
    telemetry::init(logs, default_filter)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores * RUNTIME_THREADS)
        .enable_all()
        .build()?;
    let done = runtime.block_on(work);
    // The lookup of a host name may hang.
    runtime.shutdown_background();
    done?;
    Ok(ExitCode::SUCCESS)
}
