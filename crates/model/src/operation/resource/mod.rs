//! The state machine of one change to one resource.
//!
//! `work` has the data of an operation, `decision` the vocabulary of decisions. Each family of transitions has a
//! module; [`decide`] dispatches to them.

mod decide;
mod decision;
mod ending;
mod intent;
mod looking;
mod options;
mod progressing;
mod reading;
mod replacement;
mod replacing;
mod state;
mod step;
mod submitting;
mod work;

pub use decide::decide;
pub use decision::{Decision, Finish, Moved, Next};
pub use intent::{CLIENT_TOKEN_LIFE, Call, Change, Intent};
pub use options::{AdoptionPolicy, CreationPolicy, Options, ReplacementPolicy, UpdateMode};
pub use progressing::REQUEST_TOKEN_LIFE;
pub use reading::CONSISTENCY_BOUND;
pub use replacement::{ReplacementOrder, Replacing};
pub use state::State;
pub use step::{PATIENCE, TRIES_BEFORE_GIVING_UP};
pub use work::{Kind, ResourceWork, Verdict};
