//! The workers: they claim due operations under a lease and step each one until it ends or has to wait.
//!
//! The engine contains no policy. [`ucp_model::operation::decide`] returns what to write, which effect to perform, and
//! why. This crate writes it, performs the effect, and reports the result. All state is in the store, so that any
//! worker can continue where another one stopped.

#![warn(clippy::wildcard_enum_match_arm)]

mod engine;
mod group;
mod looking;
mod sweeper;
mod workers;

pub use engine::{Abandoned, Engine, Parts, ProgressListener, Settings};
pub use sweeper::Sweeper;
pub use workers::{Nudges, Workers};
