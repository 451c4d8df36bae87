use serde::{Deserialize, Serialize};

use super::retry_class::Class;
use crate::{Action, Failure, Timestamp};

/// A change that failed and is made again, with what its tries have come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retrying {
    /// The change.
    pub action: Action,
    /// What the latest failure calls for.
    pub class: Class,
    /// How many tries have failed.
    pub tries: u32,
    /// When the first failed.
    pub since: Timestamp,
    /// Why the latest failed.
    pub failure: Failure,
    /// Whether AWS named the resource of the latest try, a create.
    #[serde(default)]
    pub is_named: bool,
}
