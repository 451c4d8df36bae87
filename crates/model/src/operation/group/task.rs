use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Failure, Identifier, ReferenceId, Scope};

/// What an operation on a group is to achieve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Task {
    /// The group and what it owns are to be gone.
    Delete,
    /// The group is to track these resources.
    Import(Vec<ImportItem>),
}

/// One resource to import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportItem {
    /// Under which alias.
    pub reference: ReferenceId,
    /// Where it lives.
    pub scope: Scope,
    /// AWS's name for it.
    pub identifier: Identifier,
    /// Whether the reference is to own it.
    pub owned: bool,
}

/// What became of an [`ImportItem`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ImportOutcome {
    /// The alias maps it now.
    Imported,
    /// AWS does not have it.
    Missing,
    /// The alias was referenced before.
    AlreadyTracked,
    /// AWS refuses the read, or something stands in the way.
    Failed(Failure),
}

impl Task {
    /// One word for the history, the log and the database.
    pub fn kind(&self) -> &'static str {
        match self {
            Task::Delete => "deleteGroup",
            Task::Import(_) => "importGroup",
        }
    }

    /// ARM's word for the status of an operation that does this.
    pub fn status(&self) -> &'static str {
        match self {
            Task::Delete => "Deleting",
            Task::Import(_) => "Provisioning",
        }
    }

    /// How many resources it concerns in a group that owns so many.
    pub fn total(&self, owned: usize) -> usize {
        match self {
            Task::Delete => owned,
            Task::Import(items) => items.len(),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Task::Delete => "deletion of the group",
            Task::Import(_) => "import into the group",
        })
    }
}
