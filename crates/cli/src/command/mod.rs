//! The commands, a file each.

mod apply;
mod declared;
mod place;
mod preview;
mod what_if;

use std::process::ExitCode;

use clap::Subcommand;

/// A command that talks to a server.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Makes resources as files declare them, after showing what would change.
    Apply(Box<apply::Apply>),
    /// Shows what an apply would change. Nothing is changed.
    WhatIf(Box<what_if::WhatIf>),
}

/// Runs a command to its end.
pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = match command {
        Command::Apply(arguments) => runtime.block_on(arguments.run()),
        Command::WhatIf(arguments) => runtime.block_on(arguments.run()),
    };
    // The lookup of a host name may hang.
    runtime.shutdown_background();
    Ok(outcome?.into())
}
