//! Grants that are stored, and who has given them.

use serde::{Deserialize, Serialize};

use crate::grant::Grant;

/// A grant that somebody has given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    /// What is given, and to whom.
    #[serde(flatten)]
    pub grant: Grant,
    /// The name of the caller who gave it first.
    pub created_by: String,
    /// The name of the caller who changed it last.
    pub modified_by: String,
}
