//! The commands of `ucp` for every day: a client of the HTTP API, which knows nothing of stores and of AWS.
//!
//! Start in [`command`], which has a file for each command. `client` sends requests and follows operations, [`render`]
//! shows what people read, [`document`] reads what they write.

mod client;
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
mod set;

pub use output::print;
