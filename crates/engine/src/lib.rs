//! Workers: they claim due operations under a lease and step them until there is nothing to do but wait.
//!
//! The engine holds no policy. [`ucp_model::operation::decide`] says what to write, what to do then, and why; this crate
//! writes it, does it, and reports what came of it. All its state is in the store, so that any worker may go on where
//! another stopped.

#![warn(clippy::wildcard_enum_match_arm)]

mod engine;
mod group;
mod planner;
mod sweeper;
mod workers;

pub use engine::{Abandoned, Engine, Parts, Settings};
pub use sweeper::Sweeper;
pub use workers::{Nudges, Workers};
