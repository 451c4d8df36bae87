//! Steps common to all tasks: waiting, and ending after a cancellation.

use std::collections::BTreeMap;
use std::time::Duration;

use super::application::{MemberState, MemberStatus};
use super::decision::{Decision, Finish, Moved, Next};
use super::task::ImportOutcome;
use super::work::GroupWork;
use crate::{Ended, ErrorCode, Failure, Timestamp};

/// The maximum number of children of one operation that are in progress at once.
pub const CHILDREN_AT_ONCE: usize = 50;
/// How long an operation waits for the end of a child, which makes it due, before it looks again by itself.
const NEXT_LOOK: Duration = Duration::from_secs(5);
/// How long to wait before another attempt to start a child that conflicts with another operation.
pub(super) const BUSY_RETRY: Duration = Duration::from_secs(5);

/// Ends a cancelled operation. What it has done is not undone.
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
        next: Next::Finish(Box::new(Finish {
            done,
            outcomes,
            ..Finish::of_end(Ended::Canceled(Failure::new(ErrorCode::Canceled, message)))
        })),
        reason: "cancelled, and nothing is under way",
    }
}

/// Returns the end of an operation whose step no worker could finish. What it has done is not undone.
pub(in crate::operation) fn given_up(operation: &GroupWork) -> Finish {
    let message = format!(
        "No worker could finish a step of this {}, in several tries. {} of {} resources are done, and those that are under way go on. Report it with the logs of the workers, and try again.",
        operation.task, operation.done, operation.total
    );
    let failure = Failure::new(ErrorCode::Abandoned, message);
    let members = operation.members.iter().map(|status| MemberStatus {
        state: match &status.state {
            MemberState::Waiting | MemberState::Running => {
                let message = "The apply was given up before this resource was seen to be as declared. Its operation, if it has one, goes on.";
                MemberState::Failed(Failure::new(ErrorCode::Abandoned, message))
            }
            over @ (MemberState::Succeeded
            | MemberState::Unchanged
            | MemberState::Failed(_)
            | MemberState::Skipped(_)
            | MemberState::Canceled(_)) => over.clone(),
        },
        ..status.clone()
    });
    Finish {
        done: operation.done,
        members: members.collect(),
        ..Finish::of_end(Ended::Failed(failure))
    }
}

/// Waits for the children, or until `due_at` if that is earlier.
pub(super) fn wait(
    done: usize,
    outcomes: BTreeMap<usize, ImportOutcome>,
    due_at: Option<Timestamp>,
    now: Timestamp,
) -> Next {
    Next::Wait(Moved {
        done: u32::try_from(done).unwrap_or(u32::MAX),
        outcomes,
        members: Vec::new(),
        output_tries: 0,
        due_at: due_by(due_at, now),
    })
}

/// Returns when to look again at the latest: also if the end of a child should make nobody look.
pub(super) fn due_by(due_at: Option<Timestamp>, now: Timestamp) -> Timestamp {
    let latest = now.after(NEXT_LOOK);
    due_at.map_or(latest, |due_at| due_at.min(latest))
}
