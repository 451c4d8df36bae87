use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::intent::Change;
use super::options::Options;
use super::replacement::Replacing;
use super::state::State;
use crate::{Action, Ended, Failure, Identifier, ReferenceId, Scope, Target, Timestamp, TypeName};

/// What an operation is to achieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// The resource is to be as declared.
    Put,
    /// The resource is to be gone.
    Delete,
    /// The alias is to stand for the resource, which is left as it is.
    Import,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Put, Self::Delete, Self::Import];

    /// One word for the history, the log and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Put => "put",
            Kind::Delete => "delete",
            Kind::Import => "import",
        }
    }
}

/// What an operation does to one resource, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceWork {
    /// What it is to achieve.
    pub kind: Kind,
    /// Where.
    pub scope: Scope,
    /// On a resource of which type.
    pub type_name: TypeName,
    /// Under which alias; none without a reference.
    #[serde(default, with = "crate::ids::optional_text")]
    pub reference: Option<ReferenceId>,
    /// AWS's name of the resource, as far as known.
    #[serde(default)]
    pub identifier: Option<Identifier>,
    /// Whether the reference had an identifier when the operation began.
    #[serde(default, rename = "wasMapped")]
    pub was_referenced: bool,
    /// Whether the reference owned what it referenced when the operation began.
    #[serde(default)]
    pub was_owned: bool,
    /// Whether a create was recorded for what `identifier` names: only this makes us its owner.
    #[serde(default)]
    pub created: bool,
    /// The replacement that is under way.
    #[serde(default)]
    pub replacing: Option<Replacing>,
    /// What the caller chose.
    #[serde(default)]
    pub options: Options,
    /// How far it is.
    pub state: State,
    /// When it entered that state.
    pub state_since: Timestamp,
    /// Consecutive tries in this state that told us nothing.
    #[serde(default)]
    pub attempt: u32,
    /// The paths that the recorded intent changes.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// The live form that a put ended with.
    #[serde(default)]
    pub result: Option<Value>,
    /// The schema it was validated and planned with.
    #[serde(default)]
    pub schema_fingerprint: String,
}

/// What has been decided about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// Nothing yet.
    Undecided,
    /// It ended well without asking anything of AWS but a look.
    NothingToDo,
    /// It ended without success and without asking anything of AWS but a look: the request that began it may answer with
    /// the failure.
    Refused(&'a Failure),
    /// Something was recorded to be sent to AWS, whatever came of it.
    Underway,
}

impl ResourceWork {
    /// The AWS resource it works on, once known; not one that only makes room for another.
    pub fn target(&self) -> Option<Target<'_>> {
        let identifier = self.identifier.as_ref();
        identifier
            .filter(|_| self.replacing != Some(Replacing::OldFirst))
            .map(|identifier| self.named(identifier))
    }

    /// The AWS resource that the next call to AWS is about.
    pub fn subject(&self) -> Option<&Identifier> {
        Replacing::subject(self.replacing.as_ref(), self.identifier.as_ref())
    }

    /// The AWS resource that the alias stands for at this step.
    pub fn referenced(&self) -> Option<Target<'_>> {
        let identifier = match &self.replacing {
            Some(Replacing::NewFirst { old, .. } | Replacing::Undoing { old, .. }) => old,
            Some(
                Replacing::OldFirst
                | Replacing::OldGone { .. }
                | Replacing::OldLast { .. }
                | Replacing::OldLeft { .. },
            )
            | None => self.identifier.as_ref()?,
        };
        Some(self.named(identifier))
    }

    /// The AWS resource that no other live operation may work on.
    pub fn held(&self) -> Option<Target<'_>> {
        let identifier = match &self.replacing {
            Some(Replacing::NewFirst { old, .. } | Replacing::OldLast { old }) => old,
            Some(
                Replacing::OldFirst
                | Replacing::OldGone { .. }
                | Replacing::OldLeft { .. }
                | Replacing::Undoing { .. },
            )
            | None => self.identifier.as_ref()?,
        };
        Some(self.named(identifier))
    }

    fn named<'a>(&'a self, identifier: &'a Identifier) -> Target<'a> {
        Target {
            scope: &self.scope,
            type_name: &self.type_name,
            identifier,
        }
    }

    /// Whether what it does could still be left undone.
    pub(crate) fn may_be_cancelled(&self) -> bool {
        match &self.replacing {
            Some(Replacing::OldFirst | Replacing::OldGone { .. } | Replacing::NewFirst { .. })
            | None => true,
            Some(
                Replacing::OldLast { .. } | Replacing::OldLeft { .. } | Replacing::Undoing { .. },
            ) => false,
        }
    }

    /// Whether what is to be done next is to delete [`ResourceWork::subject`].
    pub fn deletes(&self) -> bool {
        match &self.replacing {
            Some(Replacing::OldLast { .. } | Replacing::Undoing { .. }) => true,
            Some(
                Replacing::OldFirst
                | Replacing::OldGone { .. }
                | Replacing::NewFirst { .. }
                | Replacing::OldLeft { .. },
            )
            | None => self.kind == Kind::Delete,
        }
    }

    /// ARM's word for its status.
    pub fn status(&self) -> &'static str {
        if let State::Ended(ended) = &self.state {
            return ended.status();
        }
        match (self.state.action(), &self.replacing) {
            (None, _) => "Accepted",
            (Some(_), Some(_)) | (Some(Action::Update), None) => "Updating",
            (Some(Action::Create), None) => "Provisioning",
            (Some(Action::Delete), None) => "Deleting",
        }
    }

    /// What has been decided about it. A recorded intent stays known by the paths that it changes; a create may set none.
    pub fn verdict(&self) -> Verdict<'_> {
        if self.created || !self.changes.is_empty() {
            return Verdict::Underway;
        }
        match &self.state {
            State::Accepted => Verdict::Undecided,
            State::Ended(Ended::Succeeded) => Verdict::NothingToDo,
            State::Ended(Ended::Failed(failure) | Ended::Canceled(failure)) => {
                Verdict::Refused(failure)
            }
            State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_) => Verdict::Underway,
        }
    }

    /// Why it ended, when it did not succeed.
    pub fn failure(&self) -> Option<&Failure> {
        self.state.ended()?.failure()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
