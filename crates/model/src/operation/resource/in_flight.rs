//! What is known of a change in flight, besides its progress.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Action, Timestamp};

/// How long a change may take if its type does not say, as in CloudFormation.
const USUAL_LIMIT: Duration = Duration::from_secs(120 * 60);

/// How long AWS may take for each change, in minutes, as far as the type's schema says
/// (`handlers.*.timeoutInMinutes`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TimeLimits {
    /// Of a create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<u32>,
    /// Of an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<u32>,
    /// Of a delete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<u32>,
}

impl TimeLimits {
    /// Returns whether the schema says nothing.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Returns how long an action may take.
    pub fn of(&self, action: Action) -> Duration {
        let minutes = match action {
            Action::Create => self.create,
            Action::Update => self.update,
            Action::Delete => self.delete,
        };
        minutes.map_or(USUAL_LIMIT, |minutes| {
            Duration::from_secs(u64::from(minutes) * 60)
        })
    }
}

/// What was asked about cancelling the request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelAsked {
    /// How often AWS was asked.
    pub times: u32,
    /// When it may be asked again.
    pub next_at: Timestamp,
}
