//! The end of an operation whose step no worker has come to the end of. Nothing is looked up any more: what is known is
//! what its row says.

use super::decision::Decision;
use super::state::State;
use super::step::Step;
use crate::{Action, ErrorCode, Failure, Setback};

/// The reason of such an end.
pub(super) const REASON: &str = "no worker could finish a step";

/// Decides the end.
pub(super) fn given_up(step: &Step<'_>) -> Decision {
    let operation = step.operation;
    match &operation.state {
        State::Submitting(intent) | State::Waiting(intent, _) | State::Missing(Some(intent)) => {
            let what = format!(
                "No worker could finish a step of this operation, so it is not known what came of the {}.",
                intent.action()
            );
            // A search could take as long as what nobody finished.
            may_have_left(step, intent.action(), step.unknown(intent, &what))
        }
        State::Observing(action) => {
            let what = format!(
                "AWS has reported that the {action} succeeded, but nothing was read after it."
            );
            may_have_left(step, *action, abandoned(&what))
        }
        State::Salvaging(action, setback) => {
            let (Setback::Failed(failure) | Setback::Canceled(failure)) = setback;
            let what = format!(
                "The {action} ended with {}: {}",
                failure.code, failure.message
            );
            may_have_left(step, *action, abandoned(&what))
        }
        State::Accepted | State::Missing(None) | State::Adopting(_) | State::Ended(_) => {
            match &operation.retrying {
                Some(retrying) => {
                    let failure = &retrying.failure;
                    let what = format!(
                        "Its last try ended with {}: {}",
                        failure.code, failure.message
                    );
                    may_have_left(step, retrying.action, abandoned(&what))
                }
                None => step.fail(abandoned("Nothing was sent to AWS."), REASON),
            }
        }
    }
}

/// Ends after a change that AWS has taken. What a create made may still exist.
fn may_have_left(step: &Step<'_>, action: Action, failure: Failure) -> Decision {
    match action {
        Action::Create => step.create_unknown(failure, REASON),
        Action::Update | Action::Delete => step.fail(failure, REASON),
    }
}

/// The failure of an operation that is given up. `what` says what is known.
pub(super) fn abandoned(what: &str) -> Failure {
    let message = format!(
        "No worker could finish a step of this operation, in several tries. {what} Report it with the logs of the workers. It may be tried again; a put that is given up again needs another declaration."
    );
    Failure::new(ErrorCode::Abandoned, message)
}
