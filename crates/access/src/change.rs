//! What a change of a grant is.

use serde::{Deserialize, Serialize};

use crate::grant::Grant;

/// What was given before a change, and what is given since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantChange {
    /// What was given. `None` if that was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Grant>,
    /// What is given. `None` if that is nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Grant>,
}
