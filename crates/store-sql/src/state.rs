//! How the state of an operation lies in columns.

use serde::de::DeserializeOwned;
use ucp_model::operation::{Action, Call, Intent};
use ucp_model::{Ended, Identifier, RequestToken, State, Timestamp};
use ucp_store::Error;

use crate::database::Row;
use crate::json::{corrupt, from_json, parsed, to_json};

/// The columns that hold a [`State`]; those that it does not need are null.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StateColumns {
    pub(crate) state: String,
    pub(crate) action: Option<String>,
    pub(crate) client_token: Option<String>,
    pub(crate) token_issued_at: Option<i64>,
    pub(crate) base_digest: Option<String>,
    pub(crate) unanswered_sends: Option<i64>,
    pub(crate) request_token: Option<String>,
    pub(crate) failure: Option<String>,
}

impl StateColumns {
    pub(crate) fn of(state: &State) -> Result<Self, Error> {
        let columns = Self {
            state: state.name().to_owned(),
            ..Self::default()
        };
        Ok(match state {
            State::Accepted | State::Ended(Ended::Succeeded) => columns,
            State::Submitting(intent) => columns.with_intent(intent),
            State::Waiting(intent, request_token) => Self {
                request_token: Some(request_token.as_str().to_owned()),
                ..columns.with_intent(intent)
            },
            State::Observing(action) => Self {
                action: Some(action.to_string()),
                ..columns
            },
            State::Salvaging(action, setback) => Self {
                action: Some(action.to_string()),
                failure: Some(to_json(setback)?),
                ..columns
            },
            State::Adopting(failure)
            | State::Ended(Ended::Failed(failure) | Ended::Canceled(failure)) => Self {
                failure: Some(to_json(failure)?),
                ..columns
            },
        })
    }

    fn with_intent(self, intent: &Intent) -> Self {
        Self {
            action: Some(intent.action().to_string()),
            client_token: Some(intent.client_token.to_string()),
            token_issued_at: Some(intent.issued_at.as_millis()),
            base_digest: intent.base.clone(),
            unanswered_sends: Some(i64::from(intent.unanswered)),
            ..self
        }
    }

    pub(crate) fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            state: row.get("state")?,
            action: row.get("action")?,
            client_token: row.get("client_token")?,
            token_issued_at: row.get("token_issued_at")?,
            base_digest: row.get("base_digest")?,
            unanswered_sends: row.get("unanswered_sends")?,
            request_token: row.get("request_token")?,
            failure: row.get("failure")?,
        })
    }

    /// The state, if these columns are what [`StateColumns::of`] made of one. A call is about `subject`, which has a
    /// column of its own.
    pub(crate) fn state(&self, subject: Option<&Identifier>) -> Result<State, Error> {
        let state = match self.state.as_str() {
            "accepted" => State::Accepted,
            "submitting" => State::Submitting(self.intent(subject)?),
            "waiting" => {
                let request_token = present("request_token", self.request_token.as_ref())?;
                State::Waiting(
                    self.intent(subject)?,
                    RequestToken::new(request_token.as_str()),
                )
            }
            "observing" => State::Observing(self.action()?),
            // Before changes could be cancelled, only creates were.
            "salvaging" if self.action.is_none() => {
                return Self {
                    action: Some(Action::Create.to_string()),
                    ..self.clone()
                }
                .state(subject);
            }
            "salvaging" => State::Salvaging(self.action()?, self.reason()?),
            "adopting" => State::Adopting(self.reason()?),
            "succeeded" => State::Ended(Ended::Succeeded),
            "failed" => State::Ended(Ended::Failed(self.reason()?)),
            "canceled" => State::Ended(Ended::Canceled(self.reason()?)),
            other => return corrupt(format!("there is no state '{other}'")),
        };
        let mut expected = Self::of(&state)?;
        // The text of a failure may have been written by another version of this program.
        if expected.failure.is_some() {
            expected.failure.clone_from(&self.failure);
        }
        if expected != *self {
            return corrupt(format!("columns that no state '{}' fills", self.state));
        }
        Ok(state)
    }

    fn intent(&self, subject: Option<&Identifier>) -> Result<Intent, Error> {
        let client_token = present("client_token", self.client_token.as_ref())?;
        let subject = || present("identifier", subject).cloned();
        Ok(Intent {
            call: match self.action()? {
                Action::Create => Call::Create,
                Action::Update => Call::Update(subject()?),
                Action::Delete => Call::Delete(subject()?),
            },
            client_token: parsed(client_token)?,
            issued_at: Timestamp::from_millis(*present(
                "token_issued_at",
                self.token_issued_at.as_ref(),
            )?),
            base: self.base_digest.clone(),
            unanswered: u32::try_from(*present(
                "unanswered_sends",
                self.unanswered_sends.as_ref(),
            )?)
            .map_err(|_| Error::Corrupt("unanswered_sends is not a count".to_owned()))?,
        })
    }

    fn action(&self) -> Result<Action, Error> {
        let action = present("action", self.action.as_ref())?;
        Action::ALL
            .into_iter()
            .find(|candidate| candidate.to_string() == *action)
            .ok_or_else(|| Error::Corrupt(format!("there is no action '{action}'")))
    }

    fn reason<T: DeserializeOwned>(&self) -> Result<T, Error> {
        from_json(present("failure", self.failure.as_ref())?)
    }
}

fn present<'a, T>(column: &str, value: Option<&'a T>) -> Result<&'a T, Error> {
    value.ok_or_else(|| Error::Corrupt(format!("{column} is missing")))
}

#[cfg(test)]
mod tests {
    use ucp_model::{Failure, Setback};

    use super::*;

    #[test]
    fn every_state_survives_its_columns() {
        let subject = Identifier::new("subject");
        let intent = |base: Option<&str>| Intent {
            call: Call::Update(subject.clone()),
            client_token: "6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d".parse().unwrap(),
            issued_at: Timestamp::from_millis(17),
            unanswered: 2,
            base: base.map(str::to_owned),
        };
        let failure = Failure::new("NotStabilized", "later");
        for state in [
            State::Accepted,
            State::Submitting(intent(None)),
            State::Waiting(intent(Some("digest")), RequestToken::new("token")),
            State::Observing(Action::Create),
            State::Salvaging(Action::Create, Setback::Failed(failure.clone())),
            State::Salvaging(Action::Delete, Setback::Canceled(failure.clone())),
            State::Adopting(failure.clone()),
            State::Ended(Ended::Succeeded),
            State::Ended(Ended::Failed(failure.clone())),
            State::Ended(Ended::Canceled(failure)),
        ] {
            let columns = StateColumns::of(&state).unwrap();
            assert_eq!(columns.state(Some(&subject)).unwrap(), state);
        }
    }

    #[test]
    fn columns_that_no_state_fills_are_corrupt() {
        let columns = |state: &str| StateColumns {
            state: state.to_owned(),
            ..StateColumns::default()
        };
        let with_token = StateColumns {
            request_token: Some("token".to_owned()),
            ..columns("succeeded")
        };
        for columns in [
            columns("unheard-of"),
            columns("submitting"),
            columns("observing"),
            columns("failed"),
            with_token,
        ] {
            assert!(
                matches!(columns.state(None), Err(Error::Corrupt(_))),
                "{columns:?}"
            );
        }
    }
}
