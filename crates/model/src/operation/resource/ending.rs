//! Ends without success. What becomes of the reference also depends on a replacement in progress.

use serde_json::Value;

use super::super::decision::ReferenceChange;
use super::decision::{Decision, Finish};
use super::intent::Intent;
use super::replacing;
use super::retry_class::Class;
use super::sightings::SETTLING_WINDOW;
use super::state::State;
use super::step::Step;
use crate::{
    Action, Ended, ErrorCode, Failure, Identifier, LeftoverReason, NewLeftover, Setback,
    UnknownCreate,
};

impl Step<'_> {
    /// Ends without success. The reference stays if it stands for something.
    pub(super) fn end(
        &self,
        setback: Setback,
        live: Option<Value>,
        reason: &'static str,
    ) -> Decision {
        match &self.operation.replacing {
            Some(replacing) => replacing::end(self, replacing, setback, live, reason),
            None => self.end_unreplaced(setback, live, reason),
        }
    }

    /// Ends in failure. The reference stays if it stands for something.
    pub(super) fn fail(&self, failure: Failure, reason: &'static str) -> Decision {
        self.end(Setback::Failed(failure), None, reason)
    }

    /// Ends as cancelled, with nothing in flight.
    pub(super) fn cancel(&self, reason: &'static str) -> Decision {
        self.end(cancelled(), None, reason)
    }

    /// Ends a create that created nothing. The reference is removed, unless it still stands for an old resource.
    pub(super) fn end_create(
        &self,
        setback: Setback,
        identifier: Option<Identifier>,
        reason: &'static str,
    ) -> Decision {
        if replacing::is_old_referenced(self) {
            return self.end(setback, None, reason);
        }
        let finish = Finish {
            ended: setback.into(),
            identifier,
            reference: ReferenceChange::Removed,
            live: None,
            leftover: None,
            told: None,
        };
        self.finish(finish, reason)
    }

    /// Ends because the outcome of `intent` cannot be determined, for a create if no search finds what it made.
    pub(super) fn outcome_unknown(
        &self,
        intent: &Intent,
        what: &str,
        reason: &'static str,
    ) -> Decision {
        let failure = self.unknown(intent, what);
        match intent.action() {
            Action::Create => {
                let setback = Setback::Failed(failure);
                self.search_first(Class::Unknown, &setback)
                    .unwrap_or_else(|| self.create_unknown(setback.failure().clone(), reason))
            }
            Action::Update | Action::Delete => self.fail(failure, reason),
        }
    }

    /// The failure of an operation of which the outcome of `intent` is unknown. The message has everything that helps to
    /// find out.
    pub(super) fn unknown(&self, intent: &Intent, what: &str) -> Failure {
        let operation = self.operation;
        let identifier = match operation.subject() {
            Some(identifier) => format!(" The resource, if it exists, is '{identifier}'."),
            None => String::new(),
        };
        let request = match &operation.state {
            State::Waiting(_, request_token) => format!(", request token {request_token}"),
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_)
            | State::Ended(_) => String::new(),
        };
        let advice = match intent.action() {
            Action::Create => format!(
                "Find out in AWS whether there is such a {} before putting it again: another put may make a second one.",
                operation.type_name
            ),
            Action::Update | Action::Delete => {
                "Look at the resource in AWS, then put or delete it again.".to_owned()
            }
        };
        let message = format!(
            "{what}{identifier} Client token {}{request}, from {}. {advice}",
            intent.client_token, intent.issued_at
        );
        Failure::new(ErrorCode::OutcomeUnknown, message)
    }

    /// Ends a create whose outcome cannot be determined. Its alias is not free: another put could make a second resource.
    pub(super) fn create_unknown(&self, failure: Failure, reason: &'static str) -> Decision {
        let operation = self.operation;
        // The request may have been sent again until now, so AWS may have begun with it now.
        let limit = operation.time_limits.of(Action::Create);
        // What stood before the create was not made by it.
        let made = operation.identifier.as_ref();
        let made = made.filter(|made| Some(*made) != operation.replaced());
        let leftover = NewLeftover {
            identifier: made.cloned(),
            reason: LeftoverReason::OutcomeUnknown,
            error: Some(failure.clone()),
            create: Some(UnknownCreate {
                may_show_until: self.now.after(limit.max(SETTLING_WINDOW)),
                marked: operation.marked,
                named: operation.created && operation.named,
                creation: operation.creation,
            }),
        };
        // Beside an old resource, which the alias stands for.
        if operation.reference.is_none() || replacing::is_beside_old(self) {
            return self.fail(failure, reason).leaving(leftover);
        }
        let finish = Finish {
            ended: Ended::Failed(failure),
            identifier: operation.identifier.clone(),
            reference: ReferenceChange::Unknown,
            live: None,
            leftover: Some(leftover),
            told: None,
        };
        self.finish(finish, reason)
    }
}

/// The end of an operation whose call AWS has not accepted.
pub(super) fn cancelled() -> Setback {
    Setback::Canceled(Failure::new(
        ErrorCode::Canceled,
        "Cancelled before AWS took it.",
    ))
}
