use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use ucp_model::operation::{GroupWork, ResourceWork};
use ucp_model::{
    GroupId, Leftover, Lineage, Operation, OperationId, PlanId, Plane, RateBucket, RateKey,
    Refactor, RefactorId, Reference, ReferenceId, ResourceGroup, ServiceBinding, ServiceInstance,
    Target, Timestamp, TrackRecord,
};

use crate::rules::{Alias, Claimant};
use crate::{
    AuditEvent, AuditPlace, Documents, Error, Event, KeyRange, Lease, RecordedTarget,
    RoleAssignment, Sealed, SealedKey, SealedPlace, StoredCredential, StoredPlan, TAKEN_OVER_OFTEN,
    Token, TypeSchema, Watch, place,
};

/// All tables, by key.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) planes: BTreeMap<String, Plane>,
    pub(super) groups: BTreeMap<String, ResourceGroup>,
    pub(super) credentials: BTreeMap<String, StoredCredential>,
    pub(super) references: BTreeMap<String, Reference>,
    pub(super) operations: BTreeMap<OperationId, Row>,
    pub(super) events: Vec<Event>,
    pub(super) leftovers: BTreeMap<String, Leftover>,
    pub(super) tokens: BTreeMap<String, Token>,
    pub(super) role_assignments: BTreeMap<String, RoleAssignment>,
    /// By type, then by fingerprint.
    pub(super) type_schemas: BTreeMap<String, BTreeMap<String, TypeSchema>>,
    pub(super) track_records: BTreeMap<String, TrackRecord>,
    pub(super) watches: BTreeMap<String, Watch>,
    pub(super) rates: BTreeMap<RateKey, Bucket>,
    pub(super) digest_key: Option<SealedKey>,
    pub(super) plans: BTreeMap<PlanId, StoredPlan>,
    pub(super) refactors: BTreeMap<RefactorId, Refactor>,
    /// The refactors that had brought events to a group before one of its name was deleted.
    pub(super) forgotten: BTreeSet<(String, RefactorId)>,
    pub(super) service_instances: BTreeMap<String, ServiceInstance>,
    pub(super) service_bindings: BTreeMap<String, ServiceBinding>,
    pub(super) audit_events: BTreeMap<AuditPlace, AuditEvent>,
    /// The number of events that were ever audited.
    pub(super) audited: i64,
}

/// An operation, which is also the job.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) operation: Operation,
    pub(super) documents: Documents,
    /// The key of the AWS resource that no other live operation may work on.
    pub(super) target: Option<String>,
    pub(super) slot: Slot,
}

/// Returns up to `limit` rows with these keys, in their order.
pub(super) fn page<T: Clone>(rows: &BTreeMap<String, T>, keys: KeyRange, limit: usize) -> Vec<T> {
    if !keys.is_possible() {
        return Vec::new();
    }
    let bounds = (Bound::Excluded(keys.start), Bound::Excluded(keys.end));
    let rows = rows.range(bounds).map(|(_, row)| row);
    rows.take(limit).cloned().collect()
}

/// The lease of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) generation: u64,
    pub(super) held: Option<Held>,
    /// What is held against the operation.
    pub(super) takeovers: u64,
    /// Whether the operation waits for its turn.
    pub(super) waiting: Option<Waiting>,
    /// Whether it has its turn.
    pub(super) has_permit: bool,
}

/// Since when an operation waits for its turn.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) key: RateKey,
    pub(super) since: Timestamp,
    /// When it can be claimed all the same.
    pub(super) until: Timestamp,
}

/// A bucket with the last time at which it was asked.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub(super) bucket: RateBucket,
    pub(super) used_at: Timestamp,
}

/// The holder of a lease of the row's generation.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) owner: String,
    pub(super) expires_at: Timestamp,
}

impl Tables {
    pub(super) fn group(&self, id: &GroupId) -> Result<&ResourceGroup, Error> {
        self.groups.get(&id.key()).ok_or(Error::NoSuchGroup)
    }

    pub(super) fn live(&self) -> impl Iterator<Item = &Row> {
        self.operations
            .values()
            .filter(|row| !row.operation.is_terminal())
    }

    /// Every sealed value with its place.
    pub(super) fn sealed(&mut self) -> impl Iterator<Item = (SealedPlace, &mut Sealed)> {
        let secrets = self.credentials.values_mut().filter_map(|row| {
            let place = SealedPlace::Credential(row.credential.id.clone());
            Some((place, row.secret.as_mut()?))
        });
        let documents = self.operations.values_mut().flat_map(|row| {
            let id = row.operation.header.id;
            let Documents {
                desired,
                document,
                look,
            } = &mut row.documents;
            let places = [
                (SealedPlace::Desired(id), desired),
                (SealedPlace::Document(id), document),
                (SealedPlace::Look(id), look),
            ];
            let places = places.into_iter();
            places.filter_map(|(place, sealed)| Some((place, sealed.as_mut()?)))
        });
        let key = self.digest_key.as_mut();
        let key = key.map(|key| (SealedPlace::DigestKey(key.id.clone()), &mut key.key));
        let plans = self.plans.values_mut().flat_map(|row| {
            let id = row.plan.id;
            let content = Some((SealedPlace::PlanContent(id), &mut row.content));
            let declared = row.declared.as_mut();
            let declared = declared.map(|declared| (SealedPlace::PlanDeclared(id), declared));
            content.into_iter().chain(declared)
        });
        secrets.chain(documents).chain(key).chain(plans)
    }

    pub(super) fn refuse_deletion(&self, group: &GroupId) -> Result<(), Error> {
        match self.group(group)?.body.deletion {
            Some(deletion) => Err(Error::GroupDeleting(deletion)),
            None => Ok(()),
        }
    }

    /// Returns the live operation on the group, or on one of its references, that was accepted first.
    pub(super) fn live_in(&self, group: &str, but: Option<OperationId>) -> Option<OperationId> {
        let of_group = |row: &&Row| {
            let id = row.operation.work.group_id();
            id.is_some_and(|id| id.key() == group) && Some(row.operation.header.id) != but
        };
        let live = self.live().filter(of_group);
        let first = live.map(|row| place(&row.operation)).min();
        first
            .map(|(_, id)| id)
            .or_else(|| self.deployment_of(group, but))
    }

    /// The live deployment that holds a group.
    pub(super) fn deployment_of(
        &self,
        group: &str,
        but: Option<OperationId>,
    ) -> Option<OperationId> {
        let holds = |row: &&Row| {
            let deployment = row.operation.work.group().and_then(GroupWork::deployment);
            let mut groups = deployment.iter().flat_map(|it| &it.groups);
            groups.any(|held| held.key() == group) && Some(row.operation.header.id) != but
        };
        let row = self.live().find(holds)?;
        Some(row.operation.header.id)
    }

    /// The references of a group, in the order of their keys.
    pub(super) fn references_of(&self, group: &GroupId) -> Vec<Reference> {
        let references = self.references.values();
        let key = group.key();
        references
            .filter(|reference| reference.id.group.key() == key)
            .cloned()
            .collect()
    }

    /// Returns the state of an alias.
    pub(super) fn alias(&self, id: &ReferenceId, by: Claimant) -> Result<Alias, Error> {
        let group = self.group(&id.group)?.clone();
        if by == Claimant::Anyone {
            self.refuse_deletion(&group.id)?;
        }
        let reference = self.references.get(&id.key()).cloned();
        Ok(Alias {
            policy: by.policy(&group),
            group: group.id,
            is_lineage_taken: reference.is_none() && self.is_lineage_taken(&Lineage::of(id), id),
            reference,
        })
    }

    /// Whether another reference than the one at `id` has the lineage.
    pub(super) fn is_lineage_taken(&self, lineage: &Lineage, id: &ReferenceId) -> bool {
        let mut references = self.references.iter();
        references.any(|(key, reference)| reference.lineage == *lineage && *key != id.key())
    }

    /// The live operation that works on the AWS resource.
    pub(super) fn holder_of(&self, target: &str) -> Option<OperationId> {
        self.live()
            .find(|row| row.target.as_deref() == Some(target))
            .map(|row| row.operation.header.id)
    }

    /// What is recorded of the AWS resource.
    pub(super) fn recorded(&self, target: &str) -> RecordedTarget {
        let works_on = |row: &&Row| {
            let target_of = |work: &ResourceWork| Some(work.target()?.key());
            let work = row.operation.work.resource();
            work.and_then(target_of).as_deref() == Some(target)
        };
        let rows = self.operations.values().filter(works_on);
        let ended = rows.filter_map(|row| {
            let header = &row.operation.header;
            Some((header.ended_at?, header.id))
        });
        let mut references = self.references.values();
        RecordedTarget {
            holder: self.holder_of(target),
            is_referenced: references.any(|reference| maps(reference, target)),
            last_ended: ended.max().map(|(_, id)| id),
        }
    }

    /// What is recorded of the AWS resource that a reference stands for.
    pub(super) fn target_of(&self, reference: Option<&Reference>) -> RecordedTarget {
        let target = reference.and_then(Reference::target);
        let recorded = target.map(|target| self.recorded(&target.key()));
        recorded.unwrap_or_default()
    }

    /// The operation's target, unless another live operation holds it.
    pub(super) fn free_target(&self, operation: &Operation) -> Option<String> {
        let key = operation.work.resource()?.held()?.key();
        let holder = self.holder_of(&key);
        holder
            .is_none_or(|holder| holder == operation.header.id)
            .then_some(key)
    }

    /// The reference other than `own` that owns the AWS resource.
    pub(super) fn owner_of(&self, target: Option<&str>, own: &str) -> Option<&Reference> {
        let target = target?;
        let mut references = self.references.iter();
        references
            .find(|(key, reference)| *key != own && reference.owned && maps(reference, target))
            .map(|(_, reference)| reference)
    }

    /// Returns whether another reference than that of `work` owns the AWS resource.
    pub(super) fn is_owned_elsewhere(
        &self,
        work: &ResourceWork,
        target: Option<Target<'_>>,
    ) -> bool {
        let target = target.map(|target| target.key());
        let own = work.reference.as_ref().map(ReferenceId::key);
        self.owner_of(target.as_deref(), &own.unwrap_or_default())
            .is_some()
    }

    /// Returns the row, if `lease` is still valid for writing to it.
    pub(super) fn leased(&mut self, lease: &Lease) -> Result<&mut Row, Error> {
        self.operations
            .get_mut(&lease.operation)
            .filter(|row| row.slot.is_leased(lease))
            .ok_or(Error::LeaseLost)
    }

    pub(super) fn reference_of(&mut self, work: &ResourceWork) -> Option<&mut Reference> {
        let id = work.reference.as_ref()?;
        self.references.get_mut(&id.key())
    }

    /// Removes the references to an AWS resource that no live operation works on.
    pub(super) fn remove_idle_references(&mut self, target: &str) {
        self.references
            .retain(|_, reference| reference.operation.is_some() || !maps(reference, target));
    }

    pub(super) fn events_of(&self, key: &str) -> Vec<Event> {
        let is_of = |event: &&Event| {
            let id = event.reference.as_deref().and_then(|id| id.parse().ok());
            id.is_some_and(|id: ReferenceId| id.key() == key)
        };
        self.events.iter().filter(is_of).cloned().collect()
    }
}

pub(super) fn maps(reference: &Reference, target: &str) -> bool {
    reference
        .target()
        .is_some_and(|referenced| referenced.key() == target)
}

impl Slot {
    fn is_leased(&self, lease: &Lease) -> bool {
        let is_owner = |held: &Held| held.owner == lease.owner;
        self.generation == lease.generation && self.held.as_ref().is_some_and(is_owner)
    }

    pub(super) fn claim(
        &mut self,
        operation: OperationId,
        owner: &str,
        expires_at: Timestamp,
    ) -> Lease {
        self.take_over();
        self.generation += 1;
        self.held = Some(Held {
            owner: owner.to_owned(),
            expires_at,
        });
        Lease {
            operation,
            owner: owner.to_owned(),
            generation: self.generation,
            expires_at,
            takeovers: self.takeovers,
        }
    }

    /// Drops the lease, if any, of a holder that has neither written a step nor given it back.
    pub(super) fn take_over(&mut self) {
        let held = self.held.take();
        let is_held = held.is_some_and(|held| !held.owner.is_empty());
        if is_held && self.takeovers < TAKEN_OVER_OFTEN {
            self.takeovers += 1;
        }
    }

    /// Keeps everybody off until then. No lease has an empty owner.
    pub(super) fn held_by_nobody_until(&mut self, not_before: Timestamp) {
        self.held = Some(Held {
            owner: String::new(),
            expires_at: not_before,
        });
    }

    /// Writes the term of a lease.
    pub(super) fn hold(&mut self, lease: &Lease) {
        self.held = Some(Held {
            owner: lease.owner.clone(),
            expires_at: lease.expires_at,
        });
    }
}

impl Row {
    /// When it can be claimed: when it is due and its lease, if any, has expired.
    pub(super) fn claimable_at(&self) -> Timestamp {
        let due_at = match (&self.operation.header.waits_for, &self.slot.waiting) {
            (Some(_), Some(waiting)) => waiting.until,
            _ => self.operation.header.due_at,
        };
        let held = self.slot.held.as_ref();
        held.map_or(due_at, |held| held.expires_at.max(due_at))
    }
}
