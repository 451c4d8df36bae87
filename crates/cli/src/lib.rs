//! The commands of `ucp` for every day: a client of the HTTP API, which knows nothing of stores and of AWS.
//!
//! Start in [`command`], which has a file for each command. `ucp-client` sends requests and follows operations, [`render`]
//! shows what people read, [`document`] reads what they write.

// They panic if nobody reads: see `ucp_cli::tell`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod color;
pub mod command;
mod comparison;
mod confirm;
pub mod document;
mod id;
mod outcome;
mod output;
mod progress;
pub mod render;
mod server;
mod set;

pub use output::{print, tell};
