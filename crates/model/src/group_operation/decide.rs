use super::decision::{Decision, Next, Survey};
use super::record::GroupOperation;
use super::task::Task;
use super::{deletion, import};
use crate::Timestamp;

/// What happens next to `operation`, given what there is. Pure, and a function of rows: whoever claims the operation after
/// a crash decides the same.
pub fn decide(operation: &GroupOperation, survey: Survey<'_>, now: Timestamp) -> Decision {
    if operation.is_terminal() {
        return Decision {
            next: Next::Keep,
            reason: "already ended",
        };
    }
    match &operation.task {
        Task::Delete => deletion::decide(operation, survey, now),
        Task::Import(items) => import::decide(operation, items, survey, now),
    }
}
