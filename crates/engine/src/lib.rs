//! The workers: they claim due operations under a lease and step each one until it ends or has to wait.
//!
//! The engine contains no policy. [`ucp_model::operation::decide`] returns what to write, which effect to perform, and
//! why. This crate writes it, performs the effect, and reports the result. All state is in the store, so that any
//! worker can continue where another one stopped.

#![warn(clippy::wildcard_enum_match_arm)]

mod abandoned;
mod admitting;
mod changing;
mod engine;
mod forecasts;
mod foreseeing;
mod governor;
mod group;
mod in_the_way;
mod keeper;
mod known_plans;
mod leasing;
mod limits;
mod looking;
mod pacer;
mod permissions;
mod planned;
mod progress;
mod pulse;
mod reads;
mod set_values;
mod slots;
mod stepper;
mod stepping;
mod sweeper;
mod taking_back;
mod turn;
mod watcher;
mod watching;
mod workers;

pub use abandoned::Abandoned;
pub use engine::{Engine, Parts, Settings};
pub use governor::Pacing;
pub use keeper::Keeper;
pub use limits::LIMITS;
pub use pacer::Pacer;
pub use progress::ProgressListener;
pub use pulse::Pulse;
pub use reads::{Reads, Urgency};
pub use sweeper::{Sweeper, Swept};
pub use ucp_look::OwnershipTags;
pub use watcher::Watcher;
pub use workers::{Nudges, Workers};
