use std::time::Duration;

use serde::{Deserialize, Serialize};
use ucp_model::operation::Presence;
use ucp_model::{Fault, FaultClass, Identifier, ResourceDescription, Timestamp};

/// How long a worker may rely on what a request has seen.
const FRESH_FOR: Duration = Duration::from_secs(5);

/// What the first read of a look has shown. A request hands it to the worker, which then need not read again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// When the read was begun.
    pub at: Timestamp,
    /// The identifier that was read.
    pub identifier: Identifier,
    /// The resource; `None` if there was none.
    pub found: Option<ResourceDescription>,
}

impl Seen {
    /// Returns what a look at the resource `identifier` has shown, if it has read anything.
    pub fn of(presence: &Presence, identifier: Option<&Identifier>, at: Timestamp) -> Option<Self> {
        let asked = identifier?;
        let found = match presence {
            Presence::Absent => None,
            Presence::Present {
                identifier, live, ..
            } => Some(ResourceDescription {
                identifier: identifier.clone(),
                properties: live.clone(),
            }),
            Presence::Unreadable(_) | Presence::Unknown(_) => return None,
        };
        Some(Self {
            at,
            identifier: asked.clone(),
            found,
        })
    }

    /// Returns whether it is recent enough to plan on.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.at <= now && now.since(self.at) < FRESH_FOR
    }

    /// Returns the reply of the read.
    pub fn reply(self) -> Result<ResourceDescription, Fault> {
        self.found.ok_or_else(|| {
            Fault::new(
                FaultClass::Missing,
                "ResourceNotFoundException",
                format!("'{}' was not found.", self.identifier),
            )
        })
    }
}
