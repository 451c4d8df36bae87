use std::fmt;

use serde::{Deserialize, Serialize};

use super::application::Application;
use crate::{Failure, Identifier, ReferenceId, Scope, Warning};

/// The goal of an operation on a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Task {
    /// Delete the group and the resources it owns.
    Delete,
    /// The same, but leave alone what references of other groups stand for.
    DeleteUnshared,
    /// Import these resources into the group.
    Import(Vec<ImportItem>),
    /// Make the resources of the group as a set declares them.
    Apply(Application),
}

/// One resource to import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportItem {
    /// The id of the reference to create.
    pub reference: ReferenceId,
    /// The account and region of the resource.
    pub scope: Scope,
    /// The primary identifier.
    pub identifier: Identifier,
    /// Whether the reference takes ownership of the resource.
    pub owned: bool,
}

/// The outcome of an [`ImportItem`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ImportOutcome {
    /// The reference now stands for the resource.
    Imported,
    /// The same, and the caller should know something about the resource.
    ImportedWithWarnings(Vec<Warning>),
    /// The resource does not exist in AWS.
    Missing,
    /// The reference existed before.
    AlreadyTracked,
    /// AWS refused the read, or the import conflicts with something else.
    Failed(Failure),
}

impl Task {
    /// Returns its name for the history, the log and the database.
    pub fn kind(&self) -> &'static str {
        match self {
            Task::Delete | Task::DeleteUnshared => "deleteGroup",
            Task::Import(_) => "importGroup",
            Task::Apply(_) => "applyGroup",
        }
    }

    /// Returns the ARM status of an operation with this goal while it runs.
    pub fn status(&self) -> &'static str {
        match self {
            Task::Delete | Task::DeleteUnshared => "Deleting",
            Task::Import(_) => "Provisioning",
            Task::Apply(_) => "Updating",
        }
    }

    /// Returns whether it deletes the group.
    pub fn deletes_group(&self) -> bool {
        matches!(self, Task::Delete | Task::DeleteUnshared)
    }

    /// Returns whether its decisions depend on the references of the group.
    pub fn needs_references(&self) -> bool {
        match self {
            Task::Delete | Task::DeleteUnshared | Task::Import(_) => true,
            Task::Apply(application) => application.deletes(),
        }
    }

    /// Returns how many resources it concerns in a group that owns `owned` resources.
    pub fn total(&self, owned: usize) -> usize {
        match self {
            Task::Delete | Task::DeleteUnshared => owned,
            Task::Import(items) => items.len(),
            Task::Apply(application) => application.members.len(),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Task::Delete | Task::DeleteUnshared => "deletion of the group",
            Task::Import(_) => "import into the group",
            Task::Apply(application) if application.deployment.is_some() => {
                "deployment of the refactor"
            }
            Task::Apply(_) => "apply to the group",
        })
    }
}
