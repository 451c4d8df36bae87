//! Operations: one asynchronous create, update, delete or import each, and the state machine that moves them.
//!
//! From the bottom up: what an operation is (`record` and what it is made of), the words of a decision (`decision`), what
//! each family of transitions decides, and [`decide`], which asks the family that knows.

mod decide;
mod decision;
mod ending;
mod intent;
mod looking;
mod options;
mod progressing;
mod reading;
mod record;
mod replacement;
mod replacing;
mod state;
mod step;
mod submitting;

pub use decide::decide;
pub use decision::{
    Chance, Decision, Effect, Finish, MappingChange, Moved, Next, Observation, PlanOutcome,
    Presence,
};
pub use intent::{CLIENT_TOKEN_LIFE, Call, Change, Intent};
pub use options::{AdoptionPolicy, Options, ReplacementPolicy, UpdateMode};
pub use progressing::REQUEST_TOKEN_LIFE;
pub use reading::CONSISTENCY_BOUND;
pub use record::{Kind, Operation, Verdict};
pub use replacement::{ReplacementOrder, Replacing};
pub use state::State;
pub use step::{PATIENCE, TRIES_BEFORE_GIVING_UP};

pub use crate::cloud::Action;
