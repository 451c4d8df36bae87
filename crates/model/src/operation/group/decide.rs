use super::decision::{Decision, Next};
use super::survey::Survey;
use super::task::Task;
use super::work::GroupWork;
use super::{apply, deletion, import};
use crate::Timestamp;

/// Decides the next step of `operation`, given a survey and whether cancellation was requested. Pure, and a function of
/// rows alone: a worker that claims the operation after a crash decides the same.
pub fn decide(
    operation: &GroupWork,
    is_cancel_requested: bool,
    survey: &Survey,
    now: Timestamp,
) -> Decision {
    if operation.ended().is_some() {
        return Decision {
            next: Next::Keep,
            reason: "already ended",
        };
    }
    match &operation.task {
        Task::Delete | Task::DeleteUnshared => {
            deletion::decide(operation, is_cancel_requested, survey, now)
        }
        Task::Import(items) => import::decide(operation, is_cancel_requested, items, survey, now),
        Task::Apply(application) => {
            apply::decide(operation, is_cancel_requested, application, survey, now)
        }
    }
}
