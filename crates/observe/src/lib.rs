//! Decorators of the store and of Cloud Control. They notify an [`Observer`] immediately before and after every commit
//! and every AWS call in the life of an operation, and of every call to the store.
//!
//! A [`Process`] wraps both. `ucp` uses it to pause at a crash point, tests to crash at one. The product itself does
//! not depend on it: the code that assembles the product passes in the plain implementations or the wrapped ones.
//!
//! The decorators change no call and no reply, with two exceptions. After the observer has returned [`Crashed`], every
//! call and every reply is blocked, as if the process had died. And an observer may hand out other work than was claimed, as
//! tests do that plant a defect.

#![warn(clippy::wildcard_enum_match_arm)]

mod cloud;
mod crash_point;
mod process;
mod store;

pub use crash_point::{CrashPoint, CrashTurn, Edge, Moment};
pub use process::{Crashed, Observer, Process};
