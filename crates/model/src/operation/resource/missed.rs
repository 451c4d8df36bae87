//! What AWS did not find, which proves nothing yet.

use super::decision::Decision;
use super::intent::Intent;
use super::state::State;
use super::step::Step;
use crate::{ErrorCode, Failure, Identifier};

/// Decides after AWS did not find the resource, which proves nothing yet: it is looked up again later. `intent` is the
/// change whose outcome is in doubt, if any.
pub(super) fn missed(step: &Step<'_>, intent: Option<&Intent>, reason: &'static str) -> Decision {
    if step.sightings.contradict(step.now) {
        return step.fail(
            contradicted(step),
            "AWS shows it, and does not find it, for too long",
        );
    }
    step.look_later(State::Missing(intent.cloned()), reason)
}

/// The failure of an operation on a resource that AWS both shows and does not find.
fn contradicted(step: &Step<'_>) -> Failure {
    let operation = step.operation;
    let name = operation.subject().map_or("", Identifier::as_str);
    let witness = match step.sightings.listed {
        Some(true) => "a list of its type holds it",
        Some(false) | None => "reads in between show it",
    };
    let message = format!(
        "AWS contradicts itself about '{name}': it was not found {} times, while {witness}. ucp has neither created anything in its place nor forgotten it. Find out in AWS whether it exists, and try again.",
        step.sightings.missed_in_all
    );
    Failure::new(ErrorCode::NotFound, message)
}
