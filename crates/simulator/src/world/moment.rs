use ucp_model::{Entropy, Timestamp};

use crate::request::Caller;

/// The context of a call: caller, time and randomness.
pub(super) struct Moment<'a> {
    pub(super) caller: &'a Caller,
    pub(super) now: Timestamp,
    pub(super) entropy: &'a dyn Entropy,
}
