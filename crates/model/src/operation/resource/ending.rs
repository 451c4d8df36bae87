//! Ends without success. What becomes of the reference also depends on a replacement in progress.

use serde_json::Value;

use super::super::decision::ReferenceChange;
use super::decision::{Decision, Finish};
use super::intent::Intent;
use super::replacing;
use super::state::State;
use super::step::Step;
use crate::{Action, ErrorCode, Failure, Identifier, LeftoverReason, NewLeftover, Setback};

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
        };
        self.finish(finish, reason)
    }

    /// Ends because the outcome of `intent` cannot be determined. The message has everything that helps to find out.
    pub(super) fn outcome_unknown(
        &self,
        intent: &Intent,
        what: &str,
        reason: &'static str,
    ) -> Decision {
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
        let message = format!(
            "{what}{identifier} Client token {}{request}, from {}. Find out in AWS whether there is such a {} before putting it again: another put may make a second one.",
            intent.client_token, intent.issued_at, operation.type_name
        );
        let end = self.fail(Failure::new(ErrorCode::OutcomeUnknown, message), reason);
        match intent.action() {
            Action::Create => end.leaving(NewLeftover {
                identifier: operation.identifier.clone(),
                reason: LeftoverReason::OutcomeUnknown,
                error: None,
            }),
            Action::Update | Action::Delete => end,
        }
    }
}

/// The end of an operation whose call AWS has not accepted.
pub(super) fn cancelled() -> Setback {
    Setback::Canceled(Failure::new(
        ErrorCode::Canceled,
        "Cancelled before AWS took it.",
    ))
}
