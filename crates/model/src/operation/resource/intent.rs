use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Action, ClientToken, Identifier, Timestamp};

/// How long a client token is trusted to mean the same request: AWS honours it for 36 hours, less a margin for skew.
pub const CLIENT_TOKEN_LIFE: Duration = Duration::from_secs(35 * 3600);

/// What was decided to ask of Cloud Control, and about which resource. The document is recorded beside it.
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

/// A recorded intent: it is durable, with the exact bytes of its document, before AWS is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// The call.
    pub call: Call,
    /// The idempotency key of the call.
    pub client_token: ClientToken,
    /// When the token was drawn.
    pub issued_at: Timestamp,
    /// Digest of the live model that an update was planned on.
    #[serde(default)]
    pub base: Option<String>,
    /// How many times it was sent without an answer that we have; recorded before each send. What AWS says to a later
    /// send then tells nothing about the earlier ones.
    pub unanswered: u32,
}

/// One path that an operation changes. Values are left out: they may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// JSON Pointer into the properties; empty for the whole resource.
    pub path: String,
    /// `add`, `remove` or `replace`, after RFC 6902.
    pub op: String,
}

impl Call {
    /// What it does.
    pub fn action(&self) -> Action {
        match self {
            Call::Create => Action::Create,
            Call::Update(_) => Action::Update,
            Call::Delete(_) => Action::Delete,
        }
    }
}

impl Intent {
    /// What the call does.
    pub fn action(&self) -> Action {
        self.call.action()
    }

    /// The same, about to be sent once more.
    pub(crate) fn resent(&self) -> Self {
        Self {
            unanswered: self.unanswered.saturating_add(1),
            ..self.clone()
        }
    }

    /// The same, with its latest send answered: it certainly had no effect.
    pub(crate) fn answered(&self) -> Self {
        Self {
            unanswered: self.unanswered.saturating_sub(1),
            ..self.clone()
        }
    }

    /// Whether AWS still takes a repeat under this token for the same request.
    pub fn token_lives(&self, now: Timestamp) -> bool {
        now.since(self.issued_at) < CLIENT_TOKEN_LIFE
    }
}
