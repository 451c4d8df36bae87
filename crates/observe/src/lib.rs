//! Decorators of the store and of Cloud Control that tell an [`Observer`] of every commit and every AWS call in the life
//! of an operation, just before and just after it.
//!
//! A [`Process`] wraps both doors: `ucp` pauses at a crash point with it, tests die at one. The product does not know:
//! whoever assembles it hands in the doors as they are, or wrapped. Metrics belong at the same seam, as another observer.
//!
//! The decorators change no call and no reply. They do one thing besides: once the observer says [`Crashed`], nothing
//! passes any more, in either direction, as if the process had died.

#![warn(clippy::wildcard_enum_match_arm)]

mod cloud;
mod crash_point;
mod process;
mod store;

pub use crash_point::{CrashPoint, CrashTurn, Edge, Moment};
pub use process::{Crashed, Observer, Process};
