//! Whether a delete that failed may succeed later.

use std::time::Duration;

use crate::{Failure, Reason, retry};

/// The maximum number of tries of a delete that fails for a passing reason. A group's deletion counts anew when another
/// resource of the group was deleted.
pub(super) const DELETE_TRIES_MAX: u32 = 5;
/// Delays between tries.
const FIRST_RETRY: Duration = Duration::from_secs(2);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Returns how long to wait after this many failed tries.
pub(super) fn delete_again_after(tries: u32) -> Duration {
    retry::backoff(tries.saturating_sub(1), FIRST_RETRY, LONGEST_RETRY, 1.0)
}

/// How long the reason of a failed delete is likely to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    /// It passes by itself, or when other resources of the group are deleted.
    Passing,
    /// It may pass when another resource of the group is deleted.
    OfThisMoment,
    /// It lasts until someone fixes the cause.
    Lasting,
}

/// Returns whether a failure tells in its message that something depends on the resource. Services do so in words of
/// their own, often with the code `InvalidRequest`.
pub(super) fn tells_of_dependency(failure: &Failure) -> bool {
    const WORDS: [&str; 5] = ["depend", "in use", "being used", "not empty", "attached"];
    let message = failure.message.to_lowercase();
    match failure.reason() {
        Reason::NotFound | Reason::Other => WORDS.iter().any(|word| message.contains(word)),
        Reason::Passing | Reason::Lasting => false,
    }
}

/// Classifies a failure.
pub(super) fn persistence(failure: &Failure) -> Persistence {
    match failure.reason() {
        Reason::Lasting => Persistence::Lasting,
        Reason::Passing => Persistence::Passing,
        Reason::NotFound | Reason::Other if tells_of_dependency(failure) => Persistence::Passing,
        Reason::NotFound | Reason::Other => Persistence::OfThisMoment,
    }
}
