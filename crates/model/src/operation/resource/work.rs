use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::forecast::Forecast;
use super::in_flight::{CancelAsked, TimeLimits};
use super::intent::Change;
use super::options::Options;
use super::prediction::Prediction;
use super::proof::{Proof, Sent};
use super::replacement::Replacing;
use super::retry_class::Class;
use super::searched::Searched;
use super::sightings::Sightings;
use super::state::State;
use super::tries::{Retrying, Tries};
use crate::{
    Action, Creation, Ended, Failure, Identifier, Lineage, Ownership, PlanUse, ProvisioningState,
    ReferenceId, Scope, Secrets, Target, Timestamp, TypeName, UnknownCreate, Warning,
};

/// The goal of an operation on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Make the resource as declared.
    Put,
    /// Delete the resource.
    Delete,
    /// Make the alias stand for an existing resource, without changing the resource.
    Import,
    /// Find out what came of the create of an alias whose outcome is unknown, without changing anything in AWS.
    Resolve,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Put, Self::Delete, Self::Import, Self::Resolve];

    /// Returns its name for the history, the log and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Put => "put",
            Kind::Delete => "delete",
            Kind::Import => "import",
            Kind::Resolve => "resolve",
        }
    }
}

/// What becomes of a delete if other references stand for the resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WhenShared {
    /// The resource is deleted, and these references go with it: the caller has named the resource.
    #[default]
    Delete,
    /// It is refused if one of them is in another group: those of its own group go anyway.
    RefuseElsewhere,
    /// It is refused.
    Refuse,
    /// The resource is left alone, and only the reference goes.
    Forget,
    /// The same if one of them is in another group.
    ForgetElsewhere,
}

impl WhenShared {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn is_nothing(count: &usize) -> bool {
    *count == 0
}

/// The work of an operation on one resource, with its current state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceWork {
    /// The goal of the operation.
    pub kind: Kind,
    /// The account and region of the resource.
    pub scope: Scope,
    /// The type of the resource.
    pub type_name: TypeName,
    /// The id of the reference it works on, if any.
    #[serde(default, with = "crate::ids::optional_text")]
    pub reference: Option<ReferenceId>,
    /// The lineage of that reference, or of the one whose mark the resource must bear. Rows of earlier versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<Lineage>,
    /// The identifier that the request determines, for an operation without a reference.
    #[serde(default)]
    pub asked_for: Option<Identifier>,
    /// The primary identifier, if known.
    #[serde(default)]
    pub identifier: Option<Identifier>,
    /// The caller's spelling of `identifier`, if a look found that AWS spells it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelled: Option<Identifier>,
    /// Whether the reference had an identifier when the operation was accepted.
    // Rows have it under its former name.
    #[serde(default, rename = "wasMapped")]
    pub was_referenced: bool,
    /// Whether the reference owned its resource when the operation was accepted.
    #[serde(default)]
    pub was_owned: bool,
    /// Whether a resource that is replaced, and that the reference owned, is left to the other references that stand for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gives_up_old: bool,
    /// Whether a delete without a reference may take references along: some stand for the resource, or may come to.
    #[serde(default)]
    pub takes_references: bool,
    /// Whether the reference had been told to own its resource when the operation was accepted, whose mark that may carry.
    #[serde(default)]
    pub was_told_to_own: bool,
    /// What becomes of a delete if other references stand for the resource.
    #[serde(default, skip_serializing_if = "WhenShared::is_default")]
    pub when_shared: WhenShared,
    /// Whether a delete leaves the resource alone, and only the reference goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgets: bool,
    /// The other references that stood for the resource of the reference when the operation was accepted, if it may replace
    /// that. They do not change while it holds the resource.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        with = "crate::ids::list_of_text"
    )]
    pub shared_with: Vec<ReferenceId>,
    /// The reference whose mark the resource must bear to be deleted: its name may have passed to another resource.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::ids::optional_text"
    )]
    pub marked_for: Option<ReferenceId>,
    /// Whether a delete only sees whether the resource is gone: it may not be ours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub looks_only: bool,
    /// What the mark on the resource names its creates by, or the create whose outcome it resolves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creation: Option<Creation>,
    /// What is known of the create whose outcome the operation resolves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolves: Option<UnknownCreate>,
    /// The provisioning state of the reference when the operation was accepted; `None` for a new alias.
    #[serde(default)]
    pub state_before: Option<ProvisioningState>,
    /// Whether a create was recorded for the resource that `identifier` names.
    #[serde(default)]
    pub created: bool,
    /// Whether the declaration names the resource, so that AWS has it only once: its name, or an identifier that AWS derives
    /// from the name, stands in events whoever has made it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_name: bool,
    /// Whether AWS has named the resource in an event of that create, or a search has found it by its mark.
    #[serde(default)]
    pub named: bool,
    /// What looks have shown of the existence of [`ResourceWork::subject`].
    #[serde(default)]
    pub sightings: Sightings,
    /// The replacement in progress, if any.
    #[serde(default)]
    pub replacing: Option<Replacing>,
    /// The caller's options.
    #[serde(default)]
    pub options: Options,
    /// How many bytes of its declaration are values that it refers to, as a member of a set.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub referred_bytes: usize,
    /// The plan that it carries out, and may not depart from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanUse>,
    /// The current state.
    pub state: State,
    /// When it entered that state.
    pub state_since: Timestamp,
    /// Consecutive inconclusive tries in this state.
    #[serde(default)]
    pub attempt: u32,
    /// The errors of the call that were put up with in this state, by what they call for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refusals: BTreeMap<Class, Tries>,
    /// The change that is made again, if it failed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrying: Option<Retrying>,
    /// What the failure of a create that named nothing calls for, while what it may have made is searched for by its mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searching: Option<Class>,
    /// How far a search by the mark has come that AWS has interrupted, or that has more pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<Searched>,
    /// What was last asked about cancelling the request in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_asked: Option<CancelAsked>,
    /// When a role or a policy of the account last changed under the same group, as far as it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions_changed_at: Option<Timestamp>,
    /// The reference that comes to own the resource if this one gives it up to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heir: Option<ReferenceId>,
    /// When an operation of ours that may be in the way of an update was last seen under way, after AWS had refused the update because
    /// of another change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_in_the_way_at: Option<Timestamp>,
    /// How long AWS may take for each change.
    #[serde(default, skip_serializing_if = "TimeLimits::is_unknown")]
    pub time_limits: TimeLimits,
    /// What the process that works on it expects of its request.
    #[serde(skip)]
    pub forecast: Forecast,
    /// AWS's answer to the latest of these tries, if it was an error.
    #[serde(default)]
    pub last_error: Option<Failure>,
    /// The paths that the recorded intent changes.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Whether the latest look has found the reference's mark on the resource that `identifier` names.
    #[serde(default)]
    pub bears_mark: bool,
    /// Whether the mark of the reference is on the document of a create.
    #[serde(default)]
    pub marked: bool,
    /// The places that the recorded intent changes, with digests of what was there before.
    #[serde(default, skip_serializing_if = "Sent::is_empty")]
    pub sent: Sent,
    /// The model that the recorded update is to come to, with what it leaves as it is, if that is not too long to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<Value>,
    /// What AWS shows of the change after it has reported success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// How good its plan was, as far as AWS shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
    /// What the caller should know about the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// What an operation that resolves an unknown outcome has found out, if it has decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
    /// The live properties at the end, if they were read.
    #[serde(default)]
    pub result: Option<Value>,
    /// The fingerprint of the schema it was validated and planned with.
    #[serde(default)]
    pub schema_fingerprint: String,
}

/// What has been decided about an operation so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// Nothing yet.
    Undecided,
    /// It succeeded, and nothing was sent to AWS but reads.
    NothingToDo,
    /// It ended without success, and nothing was sent to AWS but reads. The request that began it may return the
    /// failure.
    Refused(&'a Failure),
    /// A mutation was recorded, whatever its outcome, or the absence of the resource or of its mark is being proven, which
    /// takes longer than a request waits.
    Underway,
}

impl ResourceWork {
    /// Returns the work of an operation that has just been accepted, on a resource that nothing is known of yet.
    pub fn new(kind: Kind, scope: Scope, type_name: TypeName, now: Timestamp) -> Self {
        Self {
            kind,
            scope,
            type_name,
            reference: None,
            lineage: None,
            identifier: None,
            asked_for: None,
            spelled: None,
            was_referenced: false,
            was_owned: false,
            gives_up_old: false,
            takes_references: false,
            was_told_to_own: false,
            when_shared: WhenShared::default(),
            forgets: false,
            shared_with: Vec::new(),
            marked_for: None,
            looks_only: false,
            creation: None,
            resolves: None,
            state_before: None,
            created: false,
            has_name: false,
            named: false,
            sightings: Sightings::default(),
            replacing: None,
            options: Options::default(),
            referred_bytes: 0,
            plan: None,
            state: State::Accepted,
            state_since: now,
            attempt: 0,
            refusals: BTreeMap::new(),
            retrying: None,
            searching: None,
            searched: None,
            cancel_asked: None,
            permissions_changed_at: None,
            heir: None,
            last_in_the_way_at: None,
            time_limits: TimeLimits::default(),
            forecast: Forecast::default(),
            changes: Vec::new(),
            bears_mark: false,
            marked: false,
            sent: Sent::new(),
            planned: None,
            proof: None,
            prediction: None,
            told: None,
            result: None,
            last_error: None,
            warnings: Vec::new(),
            schema_fingerprint: String::new(),
        }
    }

    /// Returns the lineage of the reference that it works on, or else of the one whose mark the resource must bear.
    pub fn lineage(&self) -> Option<Lineage> {
        let reference = self.reference.as_ref().or(self.marked_for.as_ref());
        let recorded = self.lineage.as_ref();
        Some(recorded.cloned().unwrap_or(Lineage::of(reference?)))
    }

    /// Returns the AWS resource it works on, once known. An old resource that is deleted first in a replacement does
    /// not count.
    pub fn target(&self) -> Option<Target<'_>> {
        let identifier = self.identifier.as_ref();
        identifier
            .filter(|_| self.replacing != Some(Replacing::OldFirst))
            .map(|identifier| self.named(identifier))
    }

    /// Returns the identifier that the next call to AWS is about.
    pub fn subject(&self) -> Option<&Identifier> {
        Replacing::subject(self.replacing.as_ref(), self.identifier.as_ref())
    }

    /// Returns the old resource of a replacement, beside which the new one is created: it is not what the create has made.
    pub fn replaced(&self) -> Option<&Identifier> {
        self.replacing.as_ref().and_then(Replacing::old)
    }

    /// Returns the AWS resource that the alias stands for at this step.
    pub fn referenced(&self) -> Option<Target<'_>> {
        let identifier = match &self.replacing {
            Some(
                Replacing::Lost { old }
                | Replacing::NewFirst { old, .. }
                | Replacing::Undoing { old, .. },
            ) => old,
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

    /// Returns the AWS resource that no other operation may work on meanwhile.
    pub fn held(&self) -> Option<Target<'_>> {
        let identifier = match &self.replacing {
            Some(
                Replacing::Lost { old }
                | Replacing::NewFirst { old, .. }
                | Replacing::OldLast { old, .. },
            ) => old,
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

    /// Returns the AWS resource it works on, if AWS has told which one it is since the operation was accepted: it spells the
    /// identifier otherwise, or has refused a create because of a resource that it names. So it is with what a failed create has
    /// left. Nobody has checked yet whether the operation may work on that one.
    pub fn unchecked_target(&self) -> Option<Target<'_>> {
        let is_told = self.spelled.is_some() || self.named;
        // What it replaces was spelled otherwise, and another one is being created beside that.
        let replaces_respelled =
            self.spelled.is_some() && matches!(self.replacing, Some(Replacing::NewFirst { .. }));
        let undoes = matches!(self.replacing, Some(Replacing::Undoing { .. }));
        self.held()
            .filter(|_| is_told && !self.created || replaces_respelled || undoes)
    }

    /// Returns the work with the identifier and the mark of the resource that was found, if either was unknown.
    pub(crate) fn found_as(&self, identifier: &Identifier, ownership: &Ownership) -> Option<Self> {
        let known = self.identifier.as_ref()?;
        if self.subject() != Some(known) {
            return None;
        }
        let is_respelled = identifier != known;
        let bears_mark = ownership.is_ours();
        (is_respelled || bears_mark != self.bears_mark).then(|| Self {
            identifier: Some(identifier.clone()),
            spelled: if is_respelled {
                Some(known.clone())
            } else {
                self.spelled.clone()
            },
            bears_mark,
            ..self.clone()
        })
    }

    /// Returns whether the reference comes to own the resource when the operation succeeds. The mark makes a reference
    /// the owner that the store does not know of. One that it knows of may have been released.
    pub(super) fn comes_to_own(&self) -> bool {
        let was_found = self.bears_mark && !self.was_referenced;
        self.created || self.options.take_ownership || was_found
    }

    /// Returns the caller's spelling of `identifier`, as far as known.
    pub(super) fn spelling_of(&self, identifier: Option<&Identifier>) -> Option<Identifier> {
        let is_same = self.identifier.as_ref() == identifier;
        self.spelled.clone().filter(|_| is_same)
    }

    fn named<'a>(&'a self, identifier: &'a Identifier) -> Target<'a> {
        Target {
            scope: &self.scope,
            type_name: &self.type_name,
            identifier,
        }
    }

    /// Returns when the change in flight takes too long.
    pub(crate) fn overdue_at(&self, action: Action) -> Timestamp {
        self.state_since.after(self.time_limits.of(action))
    }

    /// Returns whether the operation can still be cancelled.
    pub(crate) fn may_be_cancelled(&self) -> bool {
        match &self.replacing {
            Some(
                Replacing::OldFirst
                | Replacing::OldGone { .. }
                | Replacing::Lost { .. }
                | Replacing::NewFirst { .. },
            )
            | None => true,
            Some(
                Replacing::OldLast { .. } | Replacing::OldLeft { .. } | Replacing::Undoing { .. },
            ) => false,
        }
    }

    /// Returns whether the next step is to delete [`ResourceWork::subject`].
    pub fn deletes(&self) -> bool {
        match &self.replacing {
            Some(Replacing::OldLast { .. } | Replacing::Undoing { .. }) => true,
            Some(
                Replacing::OldFirst
                | Replacing::OldGone { .. }
                | Replacing::Lost { .. }
                | Replacing::NewFirst { .. }
                | Replacing::OldLeft { .. },
            )
            | None => self.kind == Kind::Delete,
        }
    }

    /// Returns its ARM status.
    pub fn status(&self) -> &'static str {
        if let State::Ended(ended) = &self.state {
            return ended.status();
        }
        let retried = self.retrying.as_ref().map(|retrying| retrying.action);
        let action = match self.state {
            State::Missing(_) if self.deletes() => Some(Action::Delete),
            State::Missing(_) => Some(Action::Create),
            State::Accepted
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_)
            | State::Ended(_) => self.state.action(),
        };
        match (action.or(retried), &self.replacing) {
            (None, _) => "Accepted",
            (Some(Action::Create), None | Some(Replacing::Lost { .. })) => "Provisioning",
            (Some(_), Some(_)) | (Some(Action::Update), None) => "Updating",
            (Some(Action::Delete), None) => "Deleting",
        }
    }

    /// See [`Work::mask`](crate::operation::Work::mask).
    pub(crate) fn mask(&mut self, secrets: &Secrets) {
        let of_state = match &mut self.state {
            State::Salvaging(_, setback) => Some(setback.failure_mut()),
            State::Adopting(failure) => Some(failure),
            State::Ended(ended) => ended.failure_mut(),
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_) => None,
        };
        let of_try = self.retrying.as_mut().map(|it| &mut it.failure);
        let failures = of_state.into_iter().chain(of_try);
        for failure in failures.chain(&mut self.last_error) {
            secrets.mask_failure(failure);
        }
        for warning in &mut self.warnings {
            warning.mask(secrets);
        }
        if let Some(told) = &mut self.told {
            secrets.mask_text(told);
        }
        let differences = self.prediction.iter_mut();
        for it in differences.flat_map(|it| &mut it.differences) {
            for value in it.planned.iter_mut().chain(&mut it.live) {
                secrets.mask(value);
            }
        }
    }

    /// Returns AWS's latest error, as long as the operation goes on after it.
    pub fn setback_so_far(&self) -> Option<&Failure> {
        let of_state = match &self.state {
            State::Salvaging(_, setback) => Some(setback.failure()),
            State::Adopting(failure) => Some(failure),
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Ended(_) => None,
        };
        let of_try = self.retrying.as_ref().map(|retrying| &retrying.failure);
        self.last_error.as_ref().or(of_state).or(of_try)
    }

    /// Returns whether what the alias stood for is proven not to exist, or was deleted to make room.
    pub fn has_lost(&self) -> bool {
        matches!(
            self.replacing,
            Some(Replacing::Lost { .. } | Replacing::OldGone { .. })
        )
    }

    /// Returns whether a change was recorded to be sent.
    pub fn has_recorded_change(&self) -> bool {
        self.created || !self.changes.is_empty()
    }

    /// Returns whether it is proven that our create has made the resource which `identifier` names: AWS has named it in
    /// an event of that create, or reports that the create succeeded; or it bears the mark of the reference.
    pub(super) fn is_ours(&self) -> bool {
        let has_succeeded = self.state == State::Observing(Action::Create);
        let is_proven = self.named || has_succeeded || self.bears_mark;
        self.created && is_proven || self.bears_mark && !self.was_referenced
    }

    /// Returns whether something is lost if it is believed that [`ResourceWork::subject`] does not exist: a reference
    /// stands for it, or it is ours.
    pub(super) fn must_prove_absence(&self) -> bool {
        match &self.replacing {
            None if !self.created => self.was_referenced || self.takes_references,
            Some(Replacing::OldFirst | Replacing::OldLast { .. } | Replacing::Undoing { .. }) => {
                true
            }
            Some(
                Replacing::OldGone { .. }
                | Replacing::Lost { .. }
                | Replacing::NewFirst { .. }
                | Replacing::OldLeft { .. },
            )
            | None => self.is_ours(),
        }
    }

    /// Returns what has been decided about it. `changes` shows that an intent was recorded; for a create, which may set
    /// no paths, `created` does.
    pub fn verdict(&self) -> Verdict<'_> {
        if self.has_recorded_change() {
            return Verdict::Underway;
        }
        match &self.state {
            State::Accepted if self.sightings.unmarked > 0 => Verdict::Underway,
            State::Accepted => Verdict::Undecided,
            State::Ended(Ended::Succeeded) => Verdict::NothingToDo,
            State::Ended(Ended::Failed(failure) | Ended::Canceled(failure)) => {
                Verdict::Refused(failure)
            }
            State::Missing(_)
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_) => Verdict::Underway,
        }
    }

    /// Returns why it failed or was cancelled, if so.
    pub fn failure(&self) -> Option<&Failure> {
        self.state.ended()?.failure()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
