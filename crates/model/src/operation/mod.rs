//! Operations: asynchronous changes, and the state machines that move them.
//!
//! From the bottom up: what an operation is ([`Operation`]: a [`Header`], and [`Work`] on a [`resource`] or on a whole
//! [`group`]), the words of a decision ([`Decision`]), what the machine of each kind of work decides, and [`decide`], which
//! asks the one that knows.

mod decide;
mod decision;
pub mod group;
mod header;
mod record;
pub mod resource;

pub use decide::decide;
pub use decision::{
    Chance, Decision, Effect, Next, Observation, PlanOutcome, Presence, ReferenceChange,
};
pub use group::GroupWork;
pub use header::Header;
pub use record::{Operation, Work};
pub use resource::{
    AdoptionPolicy, CLIENT_TOKEN_LIFE, CONSISTENCY_BOUND, Call, Change, Intent, Kind, Options,
    PATIENCE, REQUEST_TOKEN_LIFE, ReplacementOrder, ReplacementPolicy, Replacing, ResourceWork,
    State, TRIES_BEFORE_GIVING_UP, UpdateMode, Verdict,
};

pub use crate::cloud::Action;
