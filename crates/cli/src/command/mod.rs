//! The commands, a file each.

mod apply;
mod completions;
mod declared;
mod delete;
mod explain;
mod get;
mod import;
mod man;
mod place;
mod plan;
mod preview;
mod refactor;
mod release;
mod types;
mod watch;
mod what_if;

use std::process::ExitCode;

use clap::Subcommand;
use ucp_client::Failure;

/// A command that talks to a server, or about the commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Makes resources as files declare them, after showing what would change.
    Apply(Box<apply::Apply>),
    /// Shows what an apply would change. Nothing is changed.
    WhatIf(Box<what_if::WhatIf>),
    /// Shows a resource, the resources of a group, or the groups.
    Get(Box<get::Get>),
    /// Deletes resources, references or groups, and waits until they are gone.
    Delete(Box<delete::Delete>),
    /// Puts a resource that exists in AWS under an alias. Nothing in AWS is changed.
    Import(Box<import::Import>),
    /// Gives references up. What they stand for is left alone in AWS, also what they own.
    Release(Box<release::Release>),
    /// Gives resources other aliases and groups, after showing what moves where. Nothing in AWS is changed.
    Refactor(Box<refactor::Refactor>),
    /// Follows an operation until it ends.
    Watch(Box<watch::Watch>),
    /// Lists the resource types.
    Types(Box<types::Types>),
    /// Shows what a resource type has: its properties, their types and classes, and its handlers.
    Explain(Box<explain::Explain>),
    /// Prints the completions of a shell.
    Completions(completions::Completions),
    /// Writes the manual pages into a directory.
    Man(man::Man),
}

/// Runs a command to its end. `ucp` is the whole command line.
pub fn run(command: Command, ucp: clap::Command) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = match command {
        Command::Apply(arguments) => runtime.block_on(arguments.run()),
        Command::WhatIf(arguments) => runtime.block_on(arguments.run()),
        Command::Get(arguments) => runtime.block_on(arguments.run()),
        Command::Delete(arguments) => runtime.block_on(arguments.run()),
        Command::Import(arguments) => runtime.block_on(arguments.run()),
        Command::Release(arguments) => runtime.block_on(arguments.run()),
        Command::Refactor(arguments) => runtime.block_on(arguments.run()),
        Command::Watch(arguments) => runtime.block_on(arguments.run()),
        Command::Types(arguments) => runtime.block_on(arguments.run()),
        Command::Explain(arguments) => runtime.block_on(arguments.run()),
        Command::Completions(arguments) => arguments.run(ucp),
        Command::Man(arguments) => arguments.run(ucp),
    };
    // The lookup of a host name may hang.
    runtime.shutdown_background();
    Ok(outcome.map_err(hinted)?.into())
}

/// Says what to do next on a command line, where the client of the API can say only what has happened.
fn hinted(error: anyhow::Error) -> anyhow::Error {
    let hint = match error.downcast_ref() {
        Some(Failure::Late { .. }) => "--timeout waits longer",
        Some(Failure::Unreachable { .. }) => "--server says where it is",
        Some(Failure::Lost { .. }) => "`ucp watch` asks again",
        Some(_) | None => return error,
    };
    anyhow::anyhow!("{error:#}; {hint}")
}
