//! Looks of requests. What is to be done is decided before an operation is accepted, as a worker would decide it; if
//! nothing is to be done, there is no operation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_cpu_pool::Undone;
use ucp_look::{Look, OwnershipTags, Planned, Reader, Seen, baseline_at};
use ucp_model::operation::{
    Chance, Next, Observation, PlanOutcome, Presence, ReferenceChange, ResourceWork, Work, decide,
};
use ucp_model::{
    Baseline, ClientToken, Failure, Fault, GroupBody, GroupId, Identifier, Lineage,
    NewResourceGroup, Operation, ProvisioningState, Reference, ReferenceId, ResourceDescription,
    ResourceGroup, Target, Timestamp, Warning,
};
use ucp_plan::{Desired, Plan};
use ucp_schema::ResourceSchema;
use ucp_seal::AssociatedData;
use ucp_store::rules::{self, Alias, Claimant};
use ucp_store::{
    Basis, FinishOperation, NewLook, NewOperation, NewResourceWork, NewWork, RecordedAlias,
    RecordedTarget, Sealed,
};

use crate::declaring::Purpose;
use crate::live::LiveReader;
use crate::looks::settling::Nothing;
use crate::{Looks, Rejection};

/// The time in which a what-if looks at its resources.
pub(crate) const LOOKING_TIME: Duration = Duration::from_secs(30);

/// What is recorded of the alias and the AWS resource that a request is about.
pub(crate) struct Recorded {
    /// `None` for a request without a reference.
    alias: Option<RecordedAlias>,
    target: RecordedTarget,
}

/// What a look has shown.
pub(crate) enum Outlook {
    /// Nothing has to be done.
    Nothing(Box<Nothing>),
    /// It cannot be done, for this reason.
    Refused(Failure),
    /// Something has to be done.
    Change(Box<Change>),
    /// It is not known: an operation has to find out.
    Open,
    /// The reference or the resource has changed meanwhile: the request has to start over.
    Stale,
}

/// What an operation will do.
pub(crate) struct Change {
    /// The work after the decision.
    pub(crate) work: Work,
    /// The live properties of a resource that is to be updated.
    pub(crate) live: Option<Value>,
    /// What the caller should know.
    pub(crate) warnings: Vec<Warning>,
    /// What the worker need not read again, with what it was judged with.
    pub(crate) look: Option<(Seen, Basis)>,
}

/// What accepting an operation would record.
struct Claim {
    work: ResourceWork,
    /// The reference as recorded, and as it would be.
    before: Option<Reference>,
    claimed: Option<Reference>,
    /// Whether a reference stands for the resource.
    is_referenced: bool,
    basis: Basis,
}

impl Claim {
    /// Returns the identifier as AWS spells it, if the request spells it otherwise. If a reference does, its next
    /// operation corrects it.
    fn spelled_by(&self, presence: &Presence) -> Option<Identifier> {
        match presence {
            Presence::Present { identifier, .. } if !self.work.was_referenced => {
                let is_other = self.work.subject() != Some(identifier);
                is_other.then(|| identifier.clone())
            }
            Presence::Present { .. }
            | Presence::Absent
            | Presence::Unreadable(_)
            | Presence::Unknown(_) => None,
        }
    }

    /// Returns whether a request may rely on this.
    fn is_proved_by(&self, presence: &Presence) -> bool {
        match presence {
            Presence::Present { identifier, .. } => self.work.subject() == Some(identifier),
            // One "not found" does not prove that something is gone.
            Presence::Absent => !self.is_referenced && !self.work.was_referenced,
            Presence::Unreadable(_) => true,
            // An operation waits, or ends in AWS's words.
            Presence::Unknown(_) => false,
        }
    }
}

/// What a look has found and planned, for those who show it.
#[derive(Default)]
pub(crate) struct View {
    /// What was found; `None` if it was not looked at.
    pub(crate) presence: Option<Presence>,
    /// What a put would do.
    pub(crate) plan: Option<Box<Plan>>,
    /// The reference as recorded.
    pub(crate) reference: Option<Reference>,
    /// The baseline that the put would leave.
    pub(crate) declared: Option<Baseline>,
}

/// The result of a look.
struct Looked {
    presence: Presence,
    planned: Planned,
    /// When it was begun.
    at: Timestamp,
}

impl Recorded {
    fn reference(&self) -> Option<&Reference> {
        self.alias.as_ref()?.reference.as_ref()
    }

    /// Returns whether the alias has no reference yet, or one that stands for nothing known.
    pub(crate) fn is_new_alias(&self) -> bool {
        let stands = |it: &Reference| it.provisioning_state != ProvisioningState::Unknown;
        self.alias.is_some() && !self.reference().is_some_and(stands)
    }

    /// Returns whether the alias is new, and another reference stands for the AWS resource.
    pub(crate) fn makes_second(&self) -> bool {
        self.is_new_alias() && self.target.is_referenced
    }

    /// Returns whether no operation works on the AWS resource, and no reference stands for it.
    pub(crate) fn is_idle_and_unreferenced(&self) -> bool {
        self.target.holder.is_none() && !self.target.is_referenced
    }

    fn basis(&self) -> Basis {
        Basis::new(self.reference(), &self.target)
    }
}

impl Looks {
    /// Returns what is recorded of the alias of a request, if it has one. For those who change nothing, every alias is new in a group
    /// that is not there.
    pub(crate) async fn recorded_alias(
        &self,
        reference: Option<&ReferenceId>,
        purpose: Purpose,
    ) -> Result<Option<RecordedAlias>, Rejection> {
        let Some(id) = reference else {
            return Ok(None);
        };
        match self.ground.store.recorded_alias(id).await {
            Ok(alias) => Ok(Some(alias)),
            Err(ucp_store::Error::NoSuchGroup) if purpose == Purpose::Preview => {
                Ok(Some(RecordedAlias {
                    group: self.new_group(&id.group),
                    reference: None,
                    target: RecordedTarget::default(),
                    is_lineage_taken: false,
                }))
            }
            Err(error) => Err(self.ground.refusal(error, reference).await),
        }
    }

    /// Returns a group that is not there yet, as it would be made.
    pub(crate) fn new_group(&self, id: &GroupId) -> ResourceGroup {
        let new = NewResourceGroup {
            id: id.clone(),
            location: "global".to_owned(),
            tags: BTreeMap::new(),
            body: GroupBody::default(),
        };
        ResourceGroup::put(None, new, self.ground.now())
    }

    /// Adds what is recorded of the AWS resource: the one that the alias stands for, or else `target`.
    pub(crate) async fn recorded(
        &self,
        alias: Option<RecordedAlias>,
        target: Option<&Target<'_>>,
    ) -> Result<Recorded, Rejection> {
        let reference = alias.as_ref().and_then(|alias| alias.reference.as_ref());
        // An undecided reference yields to what the request names.
        let stands = reference.is_some_and(|reference| {
            let is_undecided = reference.provisioning_state == ProvisioningState::Unknown;
            reference.identifier.is_some() && !(is_undecided && target.is_some())
        });
        let target = match (&alias, target) {
            (Some(alias), _) if stands => alias.target,
            (_, Some(target)) => self.ground.store.recorded_target(target).await?,
            (_, None) => RecordedTarget::default(),
        };
        Ok(Recorded { alias, target })
    }

    /// Decides what the operation `new` would do, by a look at its resource. Refuses what would not be accepted. The
    /// outlook is open if the look takes longer than until `deadline`, or proves nothing. If AWS spells the identifier
    /// otherwise than the request, `new` gets AWS's spelling.
    pub(crate) async fn outlook(
        &self,
        new: &mut NewOperation,
        recorded: Recorded,
        schema: &Arc<ResourceSchema>,
        desired: Option<&Desired>,
        deadline: Instant,
    ) -> Result<Outlook, Rejection> {
        self.viewed(new, recorded, schema, desired, deadline, None)
            .await
    }

    /// The same. What the look finds is copied to `view`.
    pub(crate) async fn viewed(
        &self,
        new: &mut NewOperation,
        recorded: Recorded,
        schema: &Arc<ResourceSchema>,
        desired: Option<&Desired>,
        deadline: Instant,
        mut view: Option<&mut View>,
    ) -> Result<Outlook, Rejection> {
        note_references(new, &recorded);
        let claim = self.claim(new, recorded).await?;
        let looked = self.look(&claim, schema, desired, deadline).await;
        note(&mut view, &claim, looked.as_ref(), desired, schema);
        let Some(looked) = looked else {
            return Ok(Outlook::Open);
        };
        let Some(identifier) = claim.spelled_by(&looked.presence) else {
            return self.decided(new, claim, looked, schema, desired).await;
        };
        if let NewWork::Resource(work) = &mut new.work {
            work.spelled = work.identifier.replace(identifier);
        }
        let lineage = claim.work.lineage;
        // Few requests come here and further, so their state is not part of this one's.
        Box::pin(self.outlook_as_spelled(new, lineage, schema, desired, deadline, view)).await
    }

    /// Looks again under AWS's spelling of the identifier: what is recorded of the resource is recorded under that. `lineage` is
    /// the one that the secrets of the declaration are digested for.
    async fn outlook_as_spelled(
        &self,
        new: &mut NewOperation,
        lineage: Option<Lineage>,
        schema: &Arc<ResourceSchema>,
        desired: Option<&Desired>,
        deadline: Instant,
        mut view: Option<&mut View>,
    ) -> Result<Outlook, Rejection> {
        let recorded = self.recorded_of(new).await?;
        note_references(new, &recorded);
        let claim = self.claim(new, recorded).await?;
        if claim.work.lineage != lineage {
            return Ok(Outlook::Stale);
        }
        let looked = self.look(&claim, schema, desired, deadline).await;
        note(&mut view, &claim, looked.as_ref(), desired, schema);
        match looked {
            // It was there a moment ago.
            Some(Looked {
                presence: Presence::Absent,
                ..
            })
            | None => Ok(Outlook::Open),
            Some(looked) => self.decided(new, claim, looked, schema, desired).await,
        }
    }

    /// Returns what is recorded of the subject of an operation.
    pub(crate) async fn recorded_of(&self, new: &NewOperation) -> Result<Recorded, Rejection> {
        let work = work_of(new)?;
        let target = work.identifier.as_ref().map(|identifier| Target {
            scope: &work.scope,
            type_name: &work.type_name,
            identifier,
        });
        let alias = self
            .recorded_alias(work.reference.as_ref(), Purpose::Preview)
            .await?;
        self.recorded(alias, target.as_ref()).await
    }

    /// Returns whether everything is recorded as it was.
    async fn holds(&self, new: &NewOperation, basis: &Basis) -> Result<bool, Rejection> {
        let recorded = self.recorded_of(new).await?;
        Ok(self.claim(new, recorded).await?.basis == *basis)
    }

    /// Returns what accepting the operation would record, or why it would be refused.
    async fn claim(&self, new: &NewOperation, recorded: Recorded) -> Result<Claim, Rejection> {
        let work = work_of(new)?;
        let basis = recorded.basis();
        let Recorded { alias, target } = recorded;
        let alias = match alias {
            Some(RecordedAlias { group, .. }) if let Some(deletion) = group.body.deletion => {
                return Err(Box::pin(self.ground.busy(deletion)).await);
            }
            Some(RecordedAlias {
                group,
                reference,
                is_lineage_taken,
                ..
            }) => Some(Alias {
                policy: Claimant::Anyone.policy(&group),
                group: group.id,
                reference,
                is_lineage_taken,
            }),
            None => None,
        };
        let before = alias.as_ref().and_then(|alias| alias.reference.clone());
        let (work, claimed) = match rules::accept(new.id, work.clone(), alias, new.accepted_at) {
            Ok(accepted) => accepted,
            Err(error) => {
                let refusal = self.ground.refusal(error, work.reference.as_ref());
                return Err(Box::pin(refusal).await);
            }
        };
        match target.holder {
            Some(running) => Err(Box::pin(self.ground.busy(running)).await),
            None => Ok(Claim {
                work,
                before,
                claimed,
                is_referenced: target.is_referenced,
                basis,
            }),
        }
    }

    /// Looks at the resource, if there is time for it.
    async fn look(
        &self,
        claim: &Claim,
        schema: &Arc<ResourceSchema>,
        desired: Option<&Desired>,
        deadline: Instant,
    ) -> Option<Looked> {
        if Instant::now() >= deadline {
            return None;
        }
        let Claim { work, before, .. } = claim;
        let mut reader = OfRequest {
            live: self.live.as_ref(),
            work,
        };
        let at = self.ground.now();
        let look = Look {
            work,
            schema: Some(schema),
            declared: Ok(desired),
            baseline: before.as_ref().and_then(Reference::last_put),
            // A request sends nothing.
            ownership_tags: OwnershipTags::Off,
            pool: &self.ground.pool,
        };
        let look = look.at(work.subject().cloned(), &mut reader);
        let (presence, planned) = match tokio::time::timeout_at(deadline, look).await {
            Ok(Ok(looked)) => looked,
            Ok(Err(undone)) => {
                tracing::debug!(error = %undone, "the look has no plan");
                return None;
            }
            Err(_) => {
                tracing::debug!("the look took too long");
                return None;
            }
        };
        Some(Looked {
            presence,
            planned,
            at,
        })
    }

    /// Asks what a worker would do after this look.
    async fn decided(
        &self,
        new: &NewOperation,
        claim: Claim,
        looked: Looked,
        schema: &Arc<ResourceSchema>,
        desired: Option<&Desired>,
    ) -> Result<Outlook, Rejection> {
        if !claim.is_proved_by(&looked.presence) {
            tracing::debug!("the look proves nothing");
            return Ok(Outlook::Open);
        }
        let Looked {
            presence,
            planned,
            at,
        } = looked;
        let Planned {
            outcome, warnings, ..
        } = planned;
        let live = match (&presence, &outcome) {
            (Presence::Present { live, .. }, PlanOutcome::Update { .. }) => {
                Some(schema.shown(live))
            }
            _ => None,
        };
        let subject = claim.work.subject().cloned();
        let seen = match &outcome {
            PlanOutcome::Nothing | PlanOutcome::Impossible(_) => None,
            PlanOutcome::Create { .. }
            | PlanOutcome::Update { .. }
            | PlanOutcome::Replace { .. }
            | PlanOutcome::Delete(_) => Seen::of(&presence, subject.as_ref(), at),
        };
        let is_nothing = matches!(outcome, PlanOutcome::Nothing);
        let baseline = desired
            .filter(|_| is_nothing)
            .map(|desired| left(desired, claim.before.as_ref(), Some(&presence), schema));
        let operation = Operation {
            header: new.header(),
            work: Work::Resource(Box::new(claim.work)),
        };
        // No intent is recorded here, so the token is never sent.
        let chance = Chance {
            token: ClientToken(new.id.0),
            jitter: 0.0,
        };
        let looked = Observation::Looked(presence, outcome);
        match decide(&operation, looked, self.ground.now(), chance).next {
            Next::Finish {
                operation,
                reference: Some(change),
                leftover: _,
            } => {
                let mut operation = *operation;
                let Work::Resource(work) = &mut operation.work else {
                    return Ok(Outlook::Open);
                };
                if let Some(failure) = work.failure() {
                    // The reason may be a change that another request has made meanwhile.
                    let mut failure = failure.clone();
                    Box::pin(
                        self.ground
                            .veil_refusal(claim.before.as_ref(), &mut failure),
                    )
                    .await?;
                    return Ok(if Box::pin(self.holds(new, &claim.basis)).await? {
                        Outlook::Refused(failure)
                    } else {
                        Outlook::Stale
                    });
                }
                if claim.claimed.is_some() && change == ReferenceChange::Removed {
                    return Ok(Outlook::Open);
                }
                if let Some(live) = &mut work.result {
                    *live = schema.shown(live);
                }
                Ok(Outlook::Nothing(Box::new(Nothing {
                    warnings,
                    finish: FinishOperation {
                        operation,
                        reference: Some(change),
                        baseline,
                        leftover: None,
                    },
                    before: claim.before,
                    claimed: claim.claimed,
                    basis: claim.basis,
                })))
            }
            Next::Move {
                operation,
                is_new_intent: true,
            } => Ok(Outlook::Change(Box::new(Change {
                work: operation.work,
                live,
                warnings,
                look: seen.map(|seen| (seen, claim.basis)),
            }))),
            Next::Finish { .. } | Next::Move { .. } | Next::Keep => Ok(Outlook::Open),
        }
    }
}

impl Looks {
    /// Returns a look as it is accepted with an operation.
    pub(crate) fn sealed_look(
        &self,
        new: &NewOperation,
        (seen, basis): (Seen, Basis),
    ) -> Result<NewLook, Rejection> {
        let text = serde_json::to_vec(&seen).map_err(|error| Rejection::Internal(error.into()))?;
        let place = AssociatedData::Look(new.id);
        let entropy = self.ground.entropy.as_ref();
        let sealed = self.ground.keys.sealing.seal(place, &text, entropy);
        Ok(NewLook {
            basis,
            sealed: Sealed(sealed),
        })
    }
}

/// Returns what a put leaves that has nothing to do. AWS shows what it has shown after the last one, or else it would have.
fn left(
    desired: &Desired,
    before: Option<&Reference>,
    presence: Option<&Presence>,
    schema: &ResourceSchema,
) -> Baseline {
    let last = before.and_then(Reference::last_put);
    let last = last.map(|last| match presence {
        Some(presence @ Presence::Present { live, .. })
            if schema.is_quick_for([live, &last.declared]) =>
        {
            baseline_at(last, presence, schema)
        }
        Some(_) | None => Cow::Borrowed(last),
    });
    Baseline {
        shown: last
            .as_ref()
            .map(|last| last.shown.clone())
            .unwrap_or_default(),
        is_seen: last.as_ref().is_some_and(|last| last.is_seen),
        is_made: last.is_some_and(|last| last.is_made),
        ..desired.baseline.clone()
    }
}

/// Copies what a look has found, if anybody wants to see it.
fn note(
    view: &mut Option<&mut View>,
    claim: &Claim,
    looked: Option<&Looked>,
    desired: Option<&Desired>,
    schema: &ResourceSchema,
) {
    if let Some(view) = view {
        let presence = looked.map(|looked| &looked.presence);
        let before = claim.before.as_ref();
        **view = View {
            presence: presence.cloned(),
            plan: looked.and_then(|looked| looked.planned.plan.clone()),
            reference: claim.before.clone(),
            declared: desired.map(|desired| left(desired, before, presence, schema)),
        };
    }
}

/// Notes whether a reference stands for the resource of the operation.
fn note_references(new: &mut NewOperation, recorded: &Recorded) {
    if let NewWork::Resource(work) = &mut new.work {
        work.is_referenced = recorded.target.is_referenced;
    }
}

/// Returns the work of an operation on a resource.
fn work_of(new: &NewOperation) -> Result<&NewResourceWork, Rejection> {
    match &new.work {
        NewWork::Resource(work) => Ok(work),
        NewWork::Group { .. } => Err(Rejection::Internal("not an operation on a resource".into())),
    }
}

/// Reads on behalf of a request.
struct OfRequest<'a> {
    live: &'a dyn LiveReader,
    work: &'a ResourceWork,
}

impl Reader for OfRequest<'_> {
    type Error = Undone;

    async fn read(
        &mut self,
        identifier: &Identifier,
    ) -> Result<Result<ResourceDescription, Fault>, Self::Error> {
        let ResourceWork {
            scope, type_name, ..
        } = self.work;
        Ok(self.live.read(scope, type_name, identifier).await)
    }

    /// A request records no intent.
    fn digest(&self, _: &Value) -> String {
        String::new()
    }
}

pub(crate) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
