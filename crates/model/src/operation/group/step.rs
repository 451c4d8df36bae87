//! What both tasks need to wait or to end.

use std::collections::BTreeMap;
use std::time::Duration;

use super::decision::{Decision, Finish, Moved, Next};
use super::task::ImportOutcome;
use super::work::GroupWork;
use crate::{Ended, ErrorCode, Failure, Timestamp};

/// How many children of one operation are under way at once.
pub const CHILDREN_AT_ONCE: usize = 50;
/// When an operation whose children are under way looks by itself; the end of a child comes first.
const NEXT_LOOK: Duration = Duration::from_secs(10 * 60);
/// When it tries again to start a child that something else stands in the way of.
pub(super) const BUSY_RETRY: Duration = Duration::from_secs(5);

/// The end of an operation that was cancelled: it starts nothing more, and what it has done stays done.
pub(super) fn cancelled(
    operation: &GroupWork,
    done: usize,
    outcomes: BTreeMap<usize, ImportOutcome>,
) -> Decision {
    let done = u32::try_from(done).unwrap_or(u32::MAX);
    let message = format!(
        "The {} was cancelled with {done} of {} resources done, which stay so. The others were left as they were.",
        operation.task, operation.total
    );
    Decision {
        next: Next::Finish(Finish {
            ended: Ended::Canceled(Failure::new(ErrorCode::Canceled, message)),
            done,
            outcomes,
        }),
        reason: "cancelled, and nothing is under way",
    }
}

/// A wait for the children, or until `due_at` if that is earlier.
pub(super) fn wait(
    done: usize,
    outcomes: BTreeMap<usize, ImportOutcome>,
    due_at: Option<Timestamp>,
    now: Timestamp,
) -> Next {
    let latest = now.after(NEXT_LOOK);
    Next::Wait(Moved {
        done: u32::try_from(done).unwrap_or(u32::MAX),
        outcomes,
        due_at: due_at.map_or(latest, |due_at| due_at.min(latest)),
    })
}
