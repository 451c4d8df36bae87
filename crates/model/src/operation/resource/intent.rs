use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Action, ClientToken, Identifier, Timestamp};

/// How long a client token is relied on: AWS honours it for 36 hours, less a margin for clock skew.
pub const CLIENT_TOKEN_LIFE: Duration = Duration::from_secs(35 * 3600);

/// A Cloud Control mutation and its resource. The document is recorded separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Call {
    /// `CreateResource`.
    Create,
    /// `UpdateResource`.
    Update(Identifier),
    /// `DeleteResource`.
    Delete(Identifier),
}

/// A recorded intent. It is durable, with the exact bytes of its document, before AWS is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// The call.
    pub call: Call,
    /// The idempotency key of the call.
    pub client_token: ClientToken,
    /// When the token was generated.
    pub issued_at: Timestamp,
    /// The digest of the live properties that an update was planned on.
    #[serde(default)]
    pub base: Option<String>,
    /// How many sends have no known answer; incremented before each send. While an earlier send has none, AWS's answer
    /// to a later one says nothing about it.
    pub unanswered: u32,
}

/// One path that an operation changes. The value is left out, since it may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// A JSON Pointer into the properties; empty for the whole resource.
    pub path: String,
    /// `add`, `remove` or `replace`, as in RFC 6902.
    pub op: String,
    /// Whether it is of a conditional create-only property, which AWS takes in an update under conditions of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conditional: bool,
}

impl Call {
    /// Returns the kind of the call.
    pub fn action(&self) -> Action {
        match self {
            Call::Create => Action::Create,
            Call::Update(_) => Action::Update,
            Call::Delete(_) => Action::Delete,
        }
    }
}

impl Intent {
    /// Returns the kind of the call.
    pub fn action(&self) -> Action {
        self.call.action()
    }

    /// Counts another send.
    pub(crate) fn resent(&self) -> Self {
        Self {
            unanswered: self.unanswered.saturating_add(1),
            ..self.clone()
        }
    }

    /// Discounts the latest send, after an answer that it certainly had no effect.
    pub(crate) fn answered(&self) -> Self {
        Self {
            unanswered: self.unanswered.saturating_sub(1),
            ..self.clone()
        }
    }

    /// Returns whether AWS still recognizes a repeat under this token as the same request.
    pub fn token_lives(&self, now: Timestamp) -> bool {
        now.since(self.issued_at) < CLIENT_TOKEN_LIFE
    }
}
