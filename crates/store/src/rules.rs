//! The contract's rules for groups, operations and references, as pure functions: an engine reads rows, calls these
//! functions, and writes the result.

mod history;
mod leftovers;
mod orders;
mod others;
mod places;
mod plans;
mod predictions;
mod rates;
mod refactors;
mod role_assignments;

use std::collections::BTreeMap;

use ucp_model::operation::group::GroupState;
use ucp_model::operation::{
    Call, GroupWork, Intent, Kind, ReferenceChange, Replacing, Resolve, ResourceWork, Sightings,
    State,
};
use ucp_model::{
    Baseline, Creation, Ended, GroupBody, GroupId, Identifier, Lineage, MAX_TAGS, NewResourceGroup,
    Operation, OperationId, PlanPolicy, ProvisioningState, Reference, ReferenceId, ResourceGroup,
    Scope, Target, Timestamp, TypeName, pointer,
};

pub use self::history::{
    adopted, ended, ended_at, forgot, forgot_leftover, forgot_with_group, updated,
};
pub use self::leftovers::{
    Attempt, abandoned, decided, failed_delete, left_over, resolving, settled, unresolved,
};
pub use self::orders::{
    Concerned, concerned, ended_order, gone_with_instance, instance_of, is_called_after,
    is_of_instance, kept, may_leave_some, order_of, placed, refuse_many_bindings, tagged,
};
pub use self::others::{
    Made, Others, heir_of, inherited, judge_others, judge_second, share, takes_away,
};
pub use self::places::{places_to_judge, refuse_elsewhere};
pub use self::plans::{
    begins_change, ended_plan, is_change, judge_forgetting, judge_operation, judge_policy,
    judge_policy_elsewhere, used_plan,
};
pub use self::predictions::{Predicted, predicted, track_record_key};
pub use self::rates::{in_turn, turns_until, weight_of};
pub use self::refactors::{
    BeforeRefactor, Relocated, addresses_of, after_history, audited, deployed, emptied, groups_of,
    held_by, refactored, refuse_status, relocate, set_of, undone,
};
pub use self::role_assignments::{narrowed, refuse_gone, refuse_unjudged, without_group};
use crate::{
    Adoption, Error, FinishOperation, GroupUpdate, NewResourceWork, Precondition, RecordedTarget,
    ReferenceUpdate, Release,
};

/// Returns what a PUT of a group writes over `current`.
pub fn put_group(
    current: Option<&ResourceGroup>,
    new: NewResourceGroup,
    precondition: &Precondition,
    now: Timestamp,
) -> Result<ResourceGroup, Error> {
    let said = current.and_then(|current| current.body.plan_policy);
    let self_approval = current.and_then(|current| current.body.self_approval);
    let new = NewResourceGroup {
        body: GroupBody {
            plan_policy: new.body.plan_policy.or(said),
            self_approval: new.body.self_approval.or(self_approval),
            ..new.body
        },
        ..new
    };
    let put = precondition.put(current, new, now)?;
    let Some(current) = current else {
        return Ok(put);
    };
    if precondition.keeps_plan_policy && put.body.policy() < current.body.policy() {
        return Err(Error::PolicyLowered);
    }
    match current.body.deletion {
        Some(deletion) => Err(Error::GroupDeleting(deletion)),
        None => Ok(put),
    }
}

/// Returns what [`Groups::update_resource_group`](crate::Groups::update_resource_group) writes.
pub fn update_group(
    current: &ResourceGroup,
    update: GroupUpdate,
    precondition: &Precondition,
    now: Timestamp,
) -> Result<ResourceGroup, Error> {
    let new = NewResourceGroup {
        id: current.id.clone(),
        location: current.location.clone(),
        tags: update.tags.applied_to(current.tags.clone()),
        body: GroupBody {
            default_tags: update
                .default_tags
                .applied_to(current.body.default_tags.clone()),
            plan_policy: update.plan_policy,
            self_approval: update.self_approval,
            deletion: None,
        },
    };
    let is_more =
        |tags: &BTreeMap<_, _>, before: &BTreeMap<_, _>| tags.len() > MAX_TAGS.max(before.len());
    if is_more(&new.tags, &current.tags)
        || is_more(&new.body.default_tags, &current.body.default_tags)
    {
        return Err(Error::TooManyTags);
    }
    put_group(Some(current), new, precondition, now)
}

/// The recorded state of an alias.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The recorded group.
    pub group: GroupId,
    /// Which changes the group takes from this claimant.
    pub policy: PlanPolicy,
    /// The recorded reference, if any.
    pub reference: Option<Reference>,
    /// Whether the alias has no reference, and one that was moved away has its lineage.
    pub is_lineage_taken: bool,
}

/// Who claims an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimant {
    /// A request.
    Anyone,
    /// A child of the operation on the group.
    Child,
}

impl Claimant {
    /// Returns which changes a group takes from them. The operation that a child belongs to was judged before.
    pub fn policy(self, group: &ResourceGroup) -> PlanPolicy {
        match self {
            Claimant::Anyone => group.body.policy(),
            Claimant::Child => PlanPolicy::Optional,
        }
    }
}

/// Returns [`Error::Busy`] if the reference has a live operation.
pub fn refuse_busy(reference: &Reference) -> Result<(), Error> {
    match reference.operation {
        Some(operation) => Err(Error::Busy(operation)),
        None => Ok(()),
    }
}

/// Returns what [`Operations::accept_operation`](crate::Operations::accept_operation) records of the change of one
/// resource by the operation `id`. `alias` is `None` for an operation without a reference.
///
/// The engine checks whether the target is busy, and who owns it.
pub fn accept(
    id: OperationId,
    new: NewResourceWork,
    alias: Option<Alias>,
    now: Timestamp,
) -> Result<(ResourceWork, Option<Reference>), Error> {
    let before = alias.as_ref().and_then(|alias| alias.reference.as_ref());
    let state_before = before.map(|reference| reference.provisioning_state);
    let last_seen_at = before.map(last_seen_at);
    if let (Some(instance), Some(before)) = (&new.of_instance, before)
        && (new.kind == Kind::Put
            || before.owned
            || state_before == Some(ProvisioningState::Unknown))
        && !is_of_instance(&before.id, &before.tags, instance)
    {
        return Err(Error::NotOfInstance);
    }
    let reference = match (&new.reference, alias) {
        (None, _) | (_, None) => None,
        (Some(reference), Some(alias)) => {
            let claimed = claim(id, &new, reference, alias, now)?;
            let tags = orders::with_tags(&claimed.tags, &new.reference_tags)?;
            Some(Reference { tags, ..claimed })
        }
    };
    let referenced = reference.as_ref().and_then(|r| r.identifier.clone());
    let asked_for = new.spelled.as_ref().or(new.identifier.as_ref()).cloned();
    // An order may delete nothing that its create of unknown outcome has not made.
    let is_undecided = new.forgets_unowned && state_before == Some(ProvisioningState::Unknown);
    let needs_mark = reference
        .as_ref()
        .is_none_or(|reference| is_undecided || reference.marked && !reference.told_to_own);
    // What a create of unknown outcome may have made is found out.
    let is_unowned = reference.as_ref().is_some_and(|reference| {
        let is_decided = state_before != Some(ProvisioningState::Unknown);
        is_decided && reference.identifier.is_some() && !reference.owned
    });
    let work = ResourceWork {
        reference: reference.as_ref().map(|r| r.id.clone()),
        lineage: reference
            .as_ref()
            .map(|r| r.lineage.clone())
            .or(new.lineage),
        was_referenced: referenced.is_some(),
        was_owned: reference.as_ref().is_some_and(|r| r.owned),
        takes_references: reference.is_none() && new.kind == Kind::Delete && new.is_referenced,
        was_told_to_own: reference.as_ref().is_some_and(|r| r.told_to_own),
        when_shared: new.when_shared,
        heir: new.heir,
        has_name: new.has_name,
        forgets: new.kind == Kind::Delete && (new.forgets || new.forgets_unowned && is_unowned),
        marked_for: new.marked_for.filter(|_| needs_mark),
        looks_only: new.looks_only,
        creation: match new.kind {
            Kind::Put => Some(Creation::by(id)),
            Kind::Resolve => new.resolves.and_then(|create| create.creation),
            Kind::Delete | Kind::Import => None,
        },
        resolves: new.resolves,
        marked: new.resolves.is_some_and(|create| create.marked),
        state_before,
        sightings: Sightings::since(last_seen_at),
        asked_for: asked_for.filter(|_| reference.is_none()),
        spelled: new.spelled.filter(|_| referenced.is_none()),
        identifier: referenced.or(new.identifier),
        options: new.options,
        referred_bytes: new.referred_bytes,
        plan: new.plan,
        schema_fingerprint: new.schema_fingerprint,
        ..ResourceWork::new(new.kind, new.scope, new.type_name, now)
    };
    Ok((work, reference))
}

/// Returns when the resource of the reference was last known to exist: when it was last observed, or after a change that
/// succeeded, when that change ended.
fn last_seen_at(reference: &Reference) -> Timestamp {
    let Reference {
        observed_at,
        updated_at,
        ..
    } = reference;
    match (observed_at, reference.provisioning_state) {
        (Some(observed_at), ProvisioningState::Succeeded) => *observed_at.max(updated_at),
        (Some(observed_at), _) => *observed_at,
        (None, _) => *updated_at,
    }
}

fn claim(
    operation: OperationId,
    new: &NewResourceWork,
    id: &ReferenceId,
    alias: Alias,
    now: Timestamp,
) -> Result<Reference, Error> {
    if let Some(reference) = &alias.reference {
        let is_undecided = reference.provisioning_state == ProvisioningState::Unknown;
        // Also while somebody looks.
        if is_undecided && new.kind == Kind::Put && new.options.resolve == Resolve::Refuse {
            return Err(Error::OutcomeUnknown);
        }
        refuse_busy(reference)?;
    }
    match alias.reference {
        Some(reference)
            if matches!(new.kind, Kind::Import | Kind::Resolve)
                && reference.provisioning_state != ProvisioningState::Unknown =>
        {
            Err(Error::AlreadyReferenced)
        }
        Some(reference) if !reference.scope.is_same_place(&new.scope) => {
            Err(Error::ReferencedElsewhere(reference.scope))
        }
        Some(reference)
            if new
                .owned_since
                .is_some_and(|at| !reference.owned || reference.created_at != at) =>
        {
            Err(Error::NotOwned)
        }
        Some(reference) if reference.provisioning_state == ProvisioningState::Unknown => {
            let baseline = reference.baseline.clone();
            let baseline = baseline.map(|baseline| undecided_if(true, baseline));
            Ok(match new.kind {
                Kind::Put => Reference {
                    baseline: None,
                    ..anew(operation, new.kind, reference, now)
                },
                Kind::Import => Reference {
                    baseline,
                    ..anew(operation, new.kind, reference, now)
                },
                Kind::Delete | Kind::Resolve => Reference {
                    baseline,
                    ..claimed(operation, new.kind, reference, now)
                },
            })
        }
        Some(reference) => Ok(claimed(operation, new.kind, reference, now)),
        None if matches!(new.kind, Kind::Delete | Kind::Resolve) => Err(Error::NoSuchReference),
        None => Ok(Reference {
            id: ReferenceId {
                group: alias.group,
                ..id.clone()
            },
            lineage: Lineage::claimed(id, alias.is_lineage_taken, operation),
            scope: new.scope.clone(),
            identifier: None,
            owned: false,
            told_to_own: false,
            marked: false,
            tags: BTreeMap::new(),
            operation: Some(operation),
            provisioning_state: under_way(new.kind),
            baseline: None,
            observed: None,
            observed_at: None,
            created_at: now,
            updated_at: now,
            revision: 1,
            moves: 0,
        }),
    }
}

/// Returns a reference that an operation works on.
fn claimed(operation: OperationId, kind: Kind, reference: Reference, now: Timestamp) -> Reference {
    Reference {
        operation: Some(operation),
        provisioning_state: under_way(kind),
        updated_at: now,
        revision: reference.revision + 1,
        ..reference
    }
}

/// The same of an undecided reference, which stands for nothing any more.
fn anew(operation: OperationId, kind: Kind, undecided: Reference, now: Timestamp) -> Reference {
    Reference {
        identifier: None,
        owned: false,
        told_to_own: false,
        marked: false,
        observed: None,
        observed_at: None,
        ..claimed(operation, kind, undecided, now)
    }
}

fn under_way(kind: Kind) -> ProvisioningState {
    match kind {
        Kind::Put | Kind::Import => ProvisioningState::Provisioning,
        Kind::Delete => ProvisioningState::Deleting,
        Kind::Resolve => ProvisioningState::Unknown,
    }
}

/// Returns the AWS resource that the step to `operation` may make the operation work on only if no other live operation
/// works on it: AWS has told which one it is since the operation was accepted. `None` for a step that needs no such check.
pub fn unchecked_target(operation: &Operation) -> Option<Target<'_>> {
    let work = operation.work.resource()?;
    let goes_on = matches!(work.state.ended(), None | Some(Ended::Succeeded));
    work.unchecked_target().filter(|_| goes_on)
}

/// Returns whether an operation on a respelled resource must not work on one that another reference owns. Group
/// deletions delete only what the group owns.
pub fn needs_ownership(operation: &Operation) -> bool {
    operation.work.resource().is_some_and(|work| {
        let deletes_for_group = work.kind == Kind::Delete && operation.header.parent.is_some();
        work.spelled.is_some()
            && work.reference.is_some()
            && (work.options.take_ownership || deletes_for_group)
    })
}

/// Returns the reference after a step that does not end the operation; `None` if it stays as it is, revision included.
/// `owned_elsewhere` says whether another reference owns the operation's target.
pub fn step(
    reference: &Reference,
    work: &ResourceWork,
    owned_elsewhere: bool,
    now: Timestamp,
) -> Option<Reference> {
    let referenced = work.referenced().map(|target| target.identifier.clone());
    // The create may still turn out to have been refused.
    let being_created =
        work.created && matches!(work.replacing, None | Some(Replacing::OldGone { .. }));
    // The baseline and the observed properties belong to the old resource.
    let stays = is_same(reference, work, referenced.as_ref());
    // What is not ours is not owned because the resource before it was.
    let is_of_ours = stays || work.created;
    let owned = reference.owned && is_of_ours && !owned_elsewhere && !being_created;
    let baseline = reference.baseline.as_ref();
    let baseline = baseline
        .filter(|_| reference.last_put().is_none() || stays && !being_created)
        .map(|baseline| while_sent(baseline, work));
    if reference.identifier == referenced
        && reference.owned == owned
        && reference.baseline == baseline
    {
        return None;
    }
    let observed = reference.observed.clone().filter(|_| stays);
    Some(Reference {
        identifier: referenced,
        owned,
        marked: reference.marked && stays && !being_created,
        baseline,
        observed_at: reference.observed_at.filter(|_| stays),
        observed,
        updated_at: now,
        revision: reference.revision + 1,
        ..reference.clone()
    })
}

/// Returns whether the reference stands for `identifier` already. A resource that is only spelled otherwise is the same. What a
/// resolve finds is what the reference waits for.
fn is_same(reference: &Reference, work: &ResourceWork, identifier: Option<&Identifier>) -> bool {
    let is_respelled = work.spelled.is_some() && reference.identifier == work.spelled;
    let is_awaited = work.kind == Kind::Resolve;
    reference.identifier.as_ref() == identifier || is_respelled || is_awaited
}

/// Returns the baseline while an update is recorded: what the update sends, and no read returns, is unknown until a put
/// succeeds.
fn while_sent(baseline: &Baseline, work: &ResourceWork) -> Baseline {
    let mut baseline = baseline.clone();
    let State::Submitting(Intent {
        call: Call::Update(_),
        base,
        ..
    }) = &work.state
    else {
        return baseline;
    };
    for change in &work.changes {
        let name = change.path.split('/').nth(1).unwrap_or_default();
        let property = format!("/{name}");
        let mut digests = baseline.digests.keys();
        let holds_secrets = digests.any(|digest| pointer::is_within(digest, &property));
        // An update that was planned on no live properties is one of a type that cannot be read.
        if holds_secrets || base.is_none() {
            baseline.unconfirmed.insert(property);
        }
    }
    baseline
}

/// Returns the key of the old resource, if a replacement has deleted it in the step from `before` to `after`.
/// References to it are removed in the same transaction, unless a live operation holds them.
pub fn replaced(before: &ResourceWork, after: &ResourceWork) -> Option<String> {
    match &after.replacing {
        None | Some(Replacing::OldGone { .. }) => {}
        Some(
            Replacing::OldFirst
            | Replacing::Lost { .. }
            | Replacing::NewFirst { .. }
            | Replacing::OldLast { .. }
            | Replacing::OldLeft { .. }
            | Replacing::Undoing { .. },
        ) => return None,
    }
    let old = match &before.replacing {
        Some(Replacing::OldFirst) => before.referenced()?,
        Some(Replacing::OldLast { .. }) => before.held()?,
        Some(
            Replacing::OldGone { .. }
            | Replacing::Lost { .. }
            | Replacing::NewFirst { .. }
            | Replacing::OldLeft { .. }
            | Replacing::Undoing { .. },
        )
        | None => return None,
    };
    // The new resource may have the same identifier.
    (after.identifier.as_ref() != Some(old.identifier)).then(|| old.key())
}

/// Returns the reference after the end of an operation; `None` if it is to be removed. `owned_elsewhere` says whether
/// another reference owns the operation's target.
pub fn end(
    reference: Reference,
    work: &ResourceWork,
    finish: &FinishOperation,
    owned_elsewhere: bool,
) -> Option<Reference> {
    // What is remembered of another resource says nothing about this one.
    let stays = is_same(&reference, work, work.identifier.as_ref());
    // An earlier version that claimed the reference has not noted that the baseline is undecided.
    let is_of_put = reference.last_put().is_some() && !finds_out(work);
    let (last, undecided) = if is_of_put {
        (reference.baseline.filter(|_| stays), None)
    } else {
        (None, reference.baseline)
    };
    let left = finish.baseline.clone();
    let left = left.map(|left| as_shown(left, work, last.as_ref()));
    let (state, owned, baseline) = match finish.reference? {
        ReferenceChange::Applied { owned } => (ProvisioningState::Succeeded, owned, left),
        ReferenceChange::Untouched => {
            // Operations that an earlier version accepted do not know the state.
            let state = work.state_before.unwrap_or_else(|| outcome(work));
            (state, false, undecided.or(last))
        }
        // Another create under the alias may have made what a resolve has found.
        ReferenceChange::Kept { owned } => (outcome(work), owned, left.or(last)),
        ReferenceChange::Made => (
            outcome(work),
            true,
            undecided.map(|it| undecided_if(false, it)),
        ),
        ReferenceChange::Unknown => {
            let left = left.map(|left| undecided_if(true, left));
            (ProvisioningState::Unknown, false, left.or(undecided))
        }
        // An import that finds nothing decides nothing.
        ReferenceChange::Removed if stays_undecided(work) => {
            (ProvisioningState::Unknown, false, undecided)
        }
        ReferenceChange::Removed => return None,
    };
    let is_unknown = state == ProvisioningState::Unknown;
    let now = ended_at(&finish.operation.header);
    let (observed, observed_at) = match &work.result {
        Some(live) => (Some(live.clone()), Some(now)),
        None => (
            reference.observed.filter(|_| stays),
            reference.observed_at.filter(|_| stays),
        ),
    };
    let is_declined = work.options.declines_ownership && !work.was_referenced;
    let owned =
        (reference.owned && stays || owned) && !owned_elsewhere && !is_unknown && !is_declined;
    let is_told = work.options.take_ownership && state == ProvisioningState::Succeeded;
    let was_told = reference.told_to_own && stays;
    Some(Reference {
        identifier: work.identifier.clone().filter(|_| !stays_undecided(work)),
        owned,
        told_to_own: owned && (is_told || was_told),
        // Somebody may have made another one of its name, so it is not forgotten when a look misses the mark.
        marked: work.bears_mark || reference.marked && stays && !work.created,
        operation: None,
        provisioning_state: state,
        baseline,
        observed,
        observed_at,
        updated_at: now,
        revision: reference.revision + 1,
        ..reference
    })
}

/// Returns whether the end of an operation may prove that what another reference owned under its identifier is gone: the resource
/// bears its mark.
pub fn supersedes(work: &ResourceWork, finish: &FinishOperation) -> bool {
    let owns = matches!(
        finish.reference,
        Some(ReferenceChange::Applied { owned: true } | ReferenceChange::Made)
    );
    owns && work.bears_mark && !work.options.declines_ownership
}

/// Returns the reference as it owns nothing any more, since there is another resource of that identifier by now: the operation has made
/// it, or the one that was owned bore the mark of its owner. `None` while an operation works on it.
pub fn superseded(owner: Reference, work: &ResourceWork, now: Timestamp) -> Option<Reference> {
    let target = |target: Target<'_>| target.key();
    let is_same = owner.owned && owner.target().map(target) == work.target().map(target);
    let is_other = is_same && (work.created || owner.marked && !owner.told_to_own);
    let disowned = ReferenceUpdate {
        owned: Some(false),
        ..ReferenceUpdate::default()
    };
    (is_other && owner.operation.is_none()).then(|| update(owner, disowned, now))
}

/// Returns the baseline that a change leaves. If its result cannot be read, AWS shows what is declared as before as it did before.
fn as_shown(baseline: Baseline, work: &ResourceWork, last: Option<&Baseline>) -> Baseline {
    let last = last.filter(|_| work.result.is_none() && !work.created);
    let Some(last) = last else { return baseline };
    let declared = |baseline: &Baseline, at: &str| baseline.declared.pointer(at).cloned();
    let is_as_before = |at: &&String| declared(&baseline, at) == declared(last, at);
    let places = last.shown.keys().filter(is_as_before);
    let shown = places.map(|at| (at.clone(), last.shown[at].clone()));
    Baseline {
        shown: shown.chain(baseline.shown.clone()).collect(),
        is_seen: last.is_seen,
        is_made: last.is_made,
        ..baseline
    }
}

/// Returns the declaration of a create, before or after it is known whether it has made what there is.
fn undecided_if(is_undecided: bool, baseline: Baseline) -> Baseline {
    Baseline {
        is_undecided,
        ..baseline
    }
}

/// Returns whether the operation works on what an earlier create of unknown outcome may have made.
fn finds_out(work: &ResourceWork) -> bool {
    work.kind != Kind::Put && work.state_before == Some(ProvisioningState::Unknown)
}

/// Returns whether the operation is an import that has not decided what came of an earlier create.
fn stays_undecided(work: &ResourceWork) -> bool {
    work.kind == Kind::Import && finds_out(work) && work.failure().is_some()
}

/// Returns the state of a reference after a change that ended without success.
fn outcome(work: &ResourceWork) -> ProvisioningState {
    match work.state.ended() {
        Some(Ended::Canceled(_)) => ProvisioningState::Canceled,
        Some(Ended::Succeeded | Ended::Failed(_)) | None => ProvisioningState::Failed,
    }
}

/// Returns whether every reference to the operation's target is removed with the operation's own.
pub fn removes_all_references(work: &ResourceWork) -> bool {
    work.kind == Kind::Delete && work.state == State::Ended(Ended::Succeeded) && !work.forgets
}

/// Returns whether `operation` created `target` and succeeded after `since`.
pub fn created(operation: &Operation, target: &Target<'_>, since: Timestamp) -> bool {
    let ended_at = operation.header.ended_at;
    let Some(work) = operation.work.resource() else {
        return false;
    };
    let is_target = |own: Target<'_>| own.key() == target.key();
    work.created
        && work.state == State::Ended(Ended::Succeeded)
        && ended_at.is_some_and(|ended_at| ended_at > since)
        && work.target().is_some_and(is_target)
}

/// Returns whether the group is removed when the operation on it ends.
pub fn removes_group(work: &GroupWork) -> bool {
    work.task.deletes_group() && work.state == GroupState::Ended(Ended::Succeeded)
}

/// Returns the key of a type's schemas: account, region and type name, in lower case.
pub fn type_key(scope: &Scope, type_name: &TypeName) -> String {
    let Scope {
        account, region, ..
    } = scope;
    format!("{account}/{region}/{type_name}").to_ascii_lowercase()
}

/// Applies `update` to a reference.
pub fn update(reference: Reference, update: ReferenceUpdate, now: Timestamp) -> Reference {
    Reference {
        owned: update.owned.unwrap_or(reference.owned),
        told_to_own: update.owned.unwrap_or(reference.told_to_own),
        tags: match update.tags {
            Some(tags) => orders::still_of_instance(&reference, tags),
            None => reference.tags,
        },
        updated_at: now,
        revision: reference.revision + 1,
        ..reference
    }
}

/// Returns the heir of a reference that is given up, as it owns the resource from then on. `None` if the reference does not own
/// it. [`Error::PreconditionFailed`] if the heir [cannot own it](inherited).
pub fn inherit(release: &Release, given_up: &Reference) -> Result<Option<Reference>, Error> {
    if release.reference.etag() != given_up.etag() {
        return Err(Error::PreconditionFailed);
    }
    let Some(heir) = release.heir.as_ref().filter(|_| given_up.owned) else {
        return Ok(None);
    };
    let inherited = inherited(heir.clone(), given_up, release.at);
    inherited.map(Some).ok_or(Error::PreconditionFailed)
}

/// Returns whether [`References::adopt`](crate::References::adopt) writes the reference, given what is recorded: the
/// reference under its alias, its resource, and the other reference that owns the resource. The engine checks the group.
pub fn adopt(
    adoption: &Adoption,
    reference: Option<&Reference>,
    target: &RecordedTarget,
    other_owner: Option<ReferenceId>,
) -> Result<bool, Error> {
    if let Some(reference) = reference {
        refuse_busy(reference)?;
    }
    if !adoption.basis.is_of(reference) {
        return Ok(false);
    }
    if let Some(holder) = target.holder {
        return Err(Error::Busy(holder));
    }
    if !adoption.basis.holds(reference, target) {
        return Ok(false);
    }
    match other_owner.filter(|_| adoption.reference.owned) {
        Some(owner) => Err(Error::OwnedElsewhere(owner)),
        None => Ok(true),
    }
}
