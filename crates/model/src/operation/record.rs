use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decision::{Finish, Moved};
use super::intent::Change;
use super::options::{Options, ReplacementPolicy};
use super::replacement::{ReplacementOrder, Replacing};
use super::state::State;
use crate::{
    Action, CorrelationId, Ended, Failure, Identifier, OperationId, ReferenceId, Scope, Target,
    Timestamp, TypeName,
};

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
}

/// One asynchronous change: the row that is also the job.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// What it is to achieve.
    pub kind: Kind,
    /// Where.
    pub scope: Scope,
    /// On a resource of which type.
    pub type_name: TypeName,
    /// Under which alias; none when untracked.
    pub reference: Option<ReferenceId>,
    /// AWS's name of the resource, as far as known.
    pub identifier: Option<Identifier>,
    /// Whether the mapping had an identifier when the operation began.
    pub was_mapped: bool,
    /// Whether the reference owned what it mapped when the operation began.
    pub was_owned: bool,
    /// Whether a create was recorded for what `identifier` names: only this makes us its owner.
    pub created: bool,
    /// The replacement that is under way.
    pub replacing: Option<Replacing>,
    /// What the caller chose.
    pub options: Options,
    /// When somebody asked to cancel it.
    pub cancel_requested_at: Option<Timestamp>,
    /// How far it is.
    pub state: State,
    /// When it entered that state.
    pub state_since: Timestamp,
    /// Consecutive tries in this state that told us nothing.
    pub attempt: u32,
    /// When to go on.
    pub due_at: Timestamp,
    /// The paths that the recorded intent changes.
    pub changes: Vec<Change>,
    /// The live form that a put ended with.
    pub result: Option<Value>,
    /// The schema it was validated and planned with.
    pub schema_fingerprint: String,
    /// The operation this one is a part of.
    pub parent: Option<OperationId>,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// Who asked for it.
    pub caller: String,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
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

impl Operation {
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
    pub fn mapped(&self) -> Option<Target<'_>> {
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

    /// Whether it is to be cancelled: somebody asked for it while what it does could still be left undone.
    pub fn is_to_be_cancelled(&self) -> bool {
        let may_be = match &self.replacing {
            Some(Replacing::OldFirst | Replacing::OldGone { .. } | Replacing::NewFirst { .. })
            | None => true,
            Some(
                Replacing::OldLast { .. } | Replacing::OldLeft { .. } | Replacing::Undoing { .. },
            ) => false,
        };
        may_be && self.cancel_requested_at.is_some()
    }

    /// Whether what is to be done next is to delete [`Operation::subject`].
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

    /// In which order the caller has the mapped resource replaced; none when it is not to be.
    pub fn replacement_order(&self) -> Option<ReplacementOrder> {
        match self.options.replacement_policy {
            ReplacementPolicy::Refuse => None,
            ReplacementPolicy::DeleteBeforeCreate if self.was_owned => {
                Some(ReplacementOrder::DeleteBeforeCreate)
            }
            ReplacementPolicy::CreateBeforeDelete | ReplacementPolicy::DeleteBeforeCreate => {
                Some(ReplacementOrder::CreateBeforeDelete)
            }
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

    /// The operation after `moved`.
    #[must_use]
    pub fn moved(&self, moved: Moved, now: Timestamp) -> Self {
        let stays = std::mem::discriminant(&self.state) == std::mem::discriminant(&moved.state);
        Self {
            state_since: if stays { self.state_since } else { now },
            state: moved.state,
            identifier: moved.identifier,
            created: moved.created,
            replacing: moved.replacing,
            attempt: moved.attempt,
            due_at: moved.due_at,
            changes: moved.planned.unwrap_or_else(|| self.changes.clone()),
            ..self.clone()
        }
    }

    /// The operation after `finish`.
    #[must_use]
    pub fn finished(&self, finish: Finish, now: Timestamp) -> Self {
        Self {
            state: State::Ended(finish.ended),
            state_since: now,
            identifier: finish.identifier,
            replacing: None,
            attempt: 0,
            due_at: now,
            result: finish.live,
            ended_at: Some(now),
            ..self.clone()
        }
    }

    /// Why it ended, when it did not succeed.
    pub fn failure(&self) -> Option<&Failure> {
        self.state.ended()?.failure()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Put => "put",
            Kind::Delete => "delete",
            Kind::Import => "import",
        })
    }
}
