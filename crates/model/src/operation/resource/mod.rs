//! The state machine of one change of one resource.
//!
//! From the bottom up: what the work is (`work` and what it is made of), the words in which families decide (`decision`),
//! what each family of transitions decides, and [`decide`], which asks the family that knows.

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
pub use options::{AdoptionPolicy, Options, ReplacementPolicy, UpdateMode};
pub use progressing::REQUEST_TOKEN_LIFE;
pub use reading::CONSISTENCY_BOUND;
pub use replacement::{ReplacementOrder, Replacing};
pub use state::State;
pub use step::{PATIENCE, TRIES_BEFORE_GIVING_UP};
pub use work::{Kind, ResourceWork, Verdict};
