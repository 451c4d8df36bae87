//! The state machine of one change to one resource.
//!
//! `work` has the data of an operation, `decision` the vocabulary of decisions. Each family of transitions has a
//! module; [`decide`] dispatches to them.

mod abandoned;
mod concluding;
mod decide;
mod decision;
mod ending;
mod forecast;
mod hidden;
mod in_flight;
mod intent;
mod looking;
mod marking;
mod missed;
mod missing;
mod options;
mod patience;
mod prediction;
mod progressing;
mod proof;
mod reading;
mod replacement;
mod replacing;
mod resolving;
mod retry_class;
mod retrying;
mod searched;
mod searching;
mod sightings;
mod state;
mod step;
mod submitting;
mod tries;
mod work;

pub use decide::decide;
pub use decision::{Decision, Finish, Moved, Next};
pub use forecast::{Forecast, Watched};
pub use in_flight::{CancelAsked, TimeLimits};
pub use intent::{CLIENT_TOKEN_LIFE, Call, Change, Intent};
pub use options::{
    AdoptionPolicy, CreationPolicy, OnShared, Options, ReplacementPolicy, Resolve, UpdateMode,
};
pub use prediction::{Difference, DifferenceKind, Prediction};
pub use progressing::REQUEST_TOKEN_LIFE;
pub use proof::{Proof, Sent, digest_before};
pub use replacement::{ReplacementOrder, Replacing};
pub(crate) use retry_class::names_what_is_in_the_way;
pub use retry_class::{
    Bound, Class, Course, IN_PROGRESS, IN_THE_WAY, Left, Problem, UNNAMED_QUEUE, retry_class,
};
pub use searched::Searched;
pub use sightings::{SETTLING_WINDOW, Sightings};
pub use state::State;
pub use step::{PATIENCE, PERMISSIONS_SETTLE, TRIES_BEFORE_GIVING_UP};
pub use tries::{Retrying, Tries};
pub use work::{Kind, ResourceWork, Verdict, WhenShared};
