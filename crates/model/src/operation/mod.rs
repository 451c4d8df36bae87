//! Operations: one asynchronous create, update, delete or import each, and the state machine that moves them.

mod decide;
mod looking;
mod progressing;
mod reading;
mod replacing;
mod submitting;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use decide::{
    Chance, Decision, Effect, Finish, MappingChange, Moved, Next, Observation, PlanOutcome,
    Presence, decide,
};

use crate::{
    ClientToken, CorrelationId, Failure, Identifier, OperationId, ReferenceId, RequestToken, Scope,
    Target, Timestamp, TypeName,
};

/// How long a client token is trusted to mean the same request: AWS honours it for 36 hours, less a margin for skew.
pub const CLIENT_TOKEN_LIFE: Duration = Duration::from_secs(35 * 3600);
/// How long "not found" right after a confirmed create or update is taken for eventual consistency.
pub const CONSISTENCY_BOUND: Duration = Duration::from_secs(60);
/// How long AWS keeps a request under its token.
pub const REQUEST_TOKEN_LIFE: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many tries in a row must have told nothing before time alone ends an operation: a process that was down has not
/// tried.
pub const TRIES_BEFORE_GIVING_UP: u32 = 20;
/// How long one state may go on without telling us anything before the operation ends without an answer.
pub const PATIENCE: Duration = Duration::from_secs(24 * 3600);

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

/// What was decided to ask of Cloud Control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// `CreateResource`.
    Create,
    /// `UpdateResource`.
    Update,
    /// `DeleteResource`.
    Delete,
}

/// A recorded intent: it is durable, with the exact bytes of its document, before AWS is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The call.
    pub action: Action,
    /// The idempotency key of the call.
    pub client_token: ClientToken,
    /// When the token was drawn.
    pub issued_at: Timestamp,
    /// Digest of the live model that an update was planned on.
    pub base: Option<String>,
    /// How many times it was sent without an answer that we have; recorded before each send. What AWS says to a later
    /// send then tells nothing about the earlier ones.
    pub unanswered: u32,
}

impl Intent {
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

/// How far an operation is. Each state that is not terminal has a next wake-up, [`Operation::due_at`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Recorded; nothing was sent to AWS for what is to be done next.
    Accepted,
    /// The intent is recorded; the call may or may not have reached AWS.
    Submitting(Intent),
    /// AWS has accepted the call.
    Waiting(Intent, RequestToken),
    /// AWS reports success; the result is still to be read.
    Observing(Action),
    /// The call ended without success and may have left something: a create that failed but named a resource, or a
    /// change that was cancelled half-way. What there is is still to be read.
    Salvaging(Action, Failure),
    /// A create was refused because the identifier is taken; who holds it is still to be read.
    Adopting(Failure),
    /// Done.
    Succeeded,
    /// Ended without reaching its aim.
    Failed(Failure),
    /// Cancelled, and AWS confirmed it.
    Canceled(Failure),
}

impl State {
    /// Whether it never changes again.
    pub fn is_terminal(&self) -> bool {
        matches!(
            self,
            State::Succeeded | State::Failed(_) | State::Canceled(_)
        )
    }

    /// One word for the log and the database.
    pub fn name(&self) -> &'static str {
        match self {
            State::Accepted => "accepted",
            State::Submitting(_) => "submitting",
            State::Waiting(..) => "waiting",
            State::Observing(_) => "observing",
            State::Salvaging(..) => "salvaging",
            State::Adopting(_) => "adopting",
            State::Succeeded => "succeeded",
            State::Failed(_) => "failed",
            State::Canceled(_) => "canceled",
        }
    }

    /// The call that is under way.
    pub fn action(&self) -> Option<Action> {
        match self {
            State::Submitting(intent) | State::Waiting(intent, _) => Some(intent.action),
            State::Observing(action) | State::Salvaging(action, _) => Some(*action),
            State::Adopting(_) => Some(Action::Create),
            State::Accepted | State::Succeeded | State::Failed(_) | State::Canceled(_) => None,
        }
    }
}

/// What a put does when its alias is new but AWS already has a resource under the identifier it declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AdoptionPolicy {
    /// Map it, not owned, and update it.
    #[default]
    Adopt,
    /// Refuse, and leave it alone.
    Fail,
}

/// What a put does about properties that it does not declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpdateMode {
    /// Leave them alone.
    #[default]
    Merge,
    /// Remove them: strict PUT.
    Replace,
}

/// What a put does when the resource would have to be replaced to become what is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplacementPolicy {
    /// Refuse, and name what would force it.
    #[default]
    Refuse,
    /// Create the new resource; once it stands, delete the old one if it is owned.
    CreateBeforeDelete,
    /// Delete the old resource, then create the new one. One that is not owned is left alone.
    DeleteBeforeCreate,
}

/// What the caller may choose about one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Options {
    /// What to do about an existing resource.
    pub adoption_policy: AdoptionPolicy,
    /// What to do about undeclared properties.
    pub update_mode: UpdateMode,
    /// `"ownedResource": true`: own it even when it was adopted.
    pub take_ownership: bool,
    /// What to do about a change that AWS makes only by replacing the resource.
    pub replacement_policy: ReplacementPolicy,
}

/// In which order a replacement is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacementOrder {
    /// The old resource goes when the new one stands.
    CreateBeforeDelete,
    /// The old resource goes first.
    DeleteBeforeCreate,
}

/// How far an operation is with replacing a resource, beyond its state. The alias goes on standing for the old resource
/// until the new one stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase")]
pub enum Replacing {
    /// `identifier` is the old resource, and is being deleted to make room for the new one.
    OldFirst,
    /// `identifier` is the new resource, as far as known, and is created like any other.
    OldGone {
        /// The old one, which was deleted to make room for it.
        old: Identifier,
    },
    /// `identifier` is the new resource, as far as known, and is being created.
    NewFirst {
        /// The old one, which is still mapped.
        old: Identifier,
        /// Whether the declaration determines the new one's identifier. Then somebody else may have made what has it.
        is_named: bool,
    },
    /// `identifier` is the new resource, which stands and is mapped.
    OldLast {
        /// The old one, which is being deleted.
        old: Identifier,
    },
    /// `identifier` is the new resource, which stands and is mapped; the old one could not be deleted.
    OldLeft {
        /// Which says so.
        failure: Failure,
    },
    /// `identifier` is what a failed create left of the new resource, and is being deleted.
    Undoing {
        /// The old one, which stays.
        old: Identifier,
        /// Why the create failed.
        failure: Failure,
    },
}

/// One path that an operation changes. Values are left out: they may be secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// JSON Pointer into the properties; empty for the whole resource.
    pub path: String,
    /// `add`, `remove` or `replace`, after RFC 6902.
    pub op: String,
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
        match &self.replacing {
            Some(Replacing::OldLast { old }) => Some(old),
            Some(
                Replacing::OldFirst
                | Replacing::OldGone { .. }
                | Replacing::NewFirst { .. }
                | Replacing::OldLeft { .. }
                | Replacing::Undoing { .. },
            )
            | None => self.identifier.as_ref(),
        }
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
        match (&self.state, self.state.action()) {
            (State::Succeeded, _) => "Succeeded",
            (State::Failed(_), _) => "Failed",
            (State::Canceled(_), _) => "Canceled",
            (_, Some(_)) if self.replacing.is_some() => "Updating",
            (_, Some(Action::Create)) => "Provisioning",
            (_, Some(Action::Update)) => "Updating",
            (_, Some(Action::Delete)) => "Deleting",
            (_, None) => "Accepted",
        }
    }

    /// Whether it ended well without asking anything of AWS but a look.
    pub fn found_nothing_to_do(&self) -> bool {
        self.state == State::Succeeded && !self.created && self.changes.is_empty()
    }

    /// Whether it ended without success and without asking anything of AWS but a look: the request that began it may
    /// answer with the failure.
    pub fn was_refused(&self) -> bool {
        self.failure().is_some() && !self.created && self.changes.is_empty()
    }

    /// Whether what is to be done, or that nothing is, has been decided.
    pub fn has_verdict(&self) -> bool {
        self.state != State::Accepted || self.has_begun()
    }

    /// Whether something was recorded to be sent to AWS.
    pub fn has_begun(&self) -> bool {
        !self.changes.is_empty()
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
            state: finish.state,
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
        match &self.state {
            State::Failed(failure) | State::Canceled(failure) => Some(failure),
            State::Accepted
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_)
            | State::Succeeded => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Create => "create",
            Action::Update => "update",
            Action::Delete => "delete",
        })
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
