//! The in-memory reference engine: one lock, ordered maps, and nothing that outlives the process.

mod groups;
mod tables;

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ucp_model::{
    CorrelationId, Credential, CredentialId, GroupId, GroupOperation, Operation, OperationId,
    Plane, PlaneId, Reference, ReferenceId, ResourceGroup, Scope, Target, Timestamp, TypeName,
};

use self::tables::Tables;
use crate::rules::Claimant;
use crate::{
    Accepted, Claimed, ClaimedGroup, Documents, Error, Event, FinishOperation, Forgotten,
    GroupDeletion, Job, Lease, LeaseTerm, ListedOperation, NewCredential, NewGroupOperation,
    NewOperation, OperationPage, Precondition, PutGroup, PutPlane, ReferenceUpdate, Sealed,
    SealedKey, SealedPlace, Store, StoredCredential, TypeSchema, rules,
};

/// A store that lives and dies with the process; for tests, and to read what the others do.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every method changes the tables only after its last check, so a panic leaves nothing half done.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for Memory {
    async fn put_plane(
        &self,
        put: PutPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Plane, Error> {
        let mut tables = self.tables();
        let current = tables.planes.get(&put.id.key());
        let written = rules::put_plane(current, put, precondition, now)?;
        tables.planes.insert(written.id.key(), written.clone());
        Ok(written)
    }

    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error> {
        Ok(self.tables().planes.get(&id.key()).cloned())
    }

    async fn list_planes(&self) -> Result<Vec<Plane>, Error> {
        Ok(self.tables().planes.values().cloned().collect())
    }

    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error> {
        let mut tables = self.tables();
        let Some(current) = tables.planes.get(&id.key()) else {
            return Ok(false);
        };
        precondition.judge(Some(current.etag()))?;
        tables.planes.remove(&id.key());
        Ok(true)
    }

    async fn put_resource_group(
        &self,
        put: PutGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<ResourceGroup, Error> {
        let mut tables = self.tables();
        let current = tables.groups.get(&put.id.key());
        let written = rules::put_group(current, put, precondition, now)?;
        tables.groups.insert(written.id.key(), written.clone());
        Ok(written)
    }

    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error> {
        let tables = self.tables();
        tables
            .groups
            .get(&id.key())
            .cloned()
            .ok_or(Error::NoSuchGroup)
    }

    async fn list_resource_groups(&self, plane: &str) -> Result<Vec<ResourceGroup>, Error> {
        let tables = self.tables();
        let groups = tables.groups.values();
        Ok(groups
            .filter(|group| group.id.plane.eq_ignore_ascii_case(plane))
            .cloned()
            .collect())
    }

    async fn put_credential(
        &self,
        new: NewCredential,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Credential, Error> {
        let mut tables = self.tables();
        let key = new.id.key();
        let first = tables.credentials.get(&key).map(|row| &row.credential);
        precondition.judge(first.map(Credential::etag))?;
        let credential = Credential {
            id: first.map_or(new.id, |first| first.id.clone()),
            location: new.location,
            tags: new.tags,
            kind: new.kind,
            created_at: first.map_or(now, |first| first.created_at),
            updated_at: now,
            revision: first.map_or(0, |first| first.revision) + 1,
        };
        let stored = StoredCredential {
            credential: credential.clone(),
            secret: new.secret,
        };
        tables.credentials.insert(key, stored);
        Ok(credential)
    }

    async fn get_credential(&self, id: &CredentialId) -> Result<Option<StoredCredential>, Error> {
        Ok(self.tables().credentials.get(&id.key()).cloned())
    }

    async fn list_credentials(
        &self,
        plane: &str,
        after: Option<&CredentialId>,
        limit: usize,
    ) -> Result<Vec<Credential>, Error> {
        let tables = self.tables();
        let after = after.map(CredentialId::key).unwrap_or_default();
        Ok(tables
            .credentials
            .range((Bound::Excluded(after), Bound::Unbounded))
            .map(|(_, row)| &row.credential)
            .filter(|credential| credential.id.plane.eq_ignore_ascii_case(plane))
            .take(limit)
            .cloned()
            .collect())
    }

    async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Error> {
        let mut tables = self.tables();
        let Some(row) = tables.credentials.get(&id.key()) else {
            return Ok(false);
        };
        precondition.judge(Some(row.credential.etag()))?;
        tables.credentials.remove(&id.key());
        Ok(true)
    }

    async fn delete_resource_group(
        &self,
        new: NewGroupOperation,
        precondition: &Precondition,
    ) -> Result<GroupDeletion, Error> {
        self.tables().delete_group(new, precondition)
    }

    async fn accept_group_import(&self, new: NewGroupOperation) -> Result<GroupOperation, Error> {
        self.tables().accept_import(new)
    }

    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error> {
        self.tables().accept(new, Claimant::Anyone)
    }

    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error> {
        let mut tables = self.tables();
        tables.group_leased(lease)?;
        tables.accept(new, Claimant::Child)
    }

    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Job>, Error> {
        let mut tables = self.tables();
        let expires_at = now.after(term.0);
        let mut due: Vec<(Timestamp, OperationId)> = tables
            .claimable()
            .filter(|(claimable_at, _, _)| *claimable_at <= now)
            .map(|(_, due_at, id)| (due_at, id))
            .collect();
        due.sort_unstable();
        due.truncate(limit);

        let mut jobs = Vec::new();
        for (_, id) in due {
            if let Some(row) = tables.group_operations.get_mut(&id) {
                jobs.push(Job::Group(Box::new(ClaimedGroup {
                    lease: row.slot.claim(id, owner, expires_at),
                    operation: row.operation.clone(),
                })));
            }
            let Some(row) = tables.operations.get_mut(&id) else {
                continue;
            };
            let lease = row.slot.claim(id, owner, expires_at);
            let row = row.clone();
            let reference = row.operation.reference.as_ref();
            let mapping = reference.and_then(|id| tables.references.get(&id.key()));
            jobs.push(Job::Resource(Box::new(Claimed {
                lease,
                operation: row.operation,
                documents: row.documents,
                baseline: mapping.and_then(|mapping| mapping.baseline.clone()),
            })));
        }
        Ok(jobs)
    }

    async fn commit_step(
        &self,
        lease: &Lease,
        operation: &Operation,
        document: Option<Sealed>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let mut tables = self.tables();
        let renewed = tables.leased(lease)?.slot.renew(lease, now, term);
        let target = tables.free_target(operation);
        let owned_elsewhere = tables.is_owned_elsewhere(operation);

        let row = tables.leased(lease)?;
        let replaced = rules::replaced(&row.operation, operation);
        row.write(operation);
        if operation.cancel_requested_at.is_none()
            && let Some(asked_at) = row.operation.cancel_requested_at
        {
            row.operation.due_at = row.operation.due_at.min(asked_at);
        }
        row.target = target;
        if document.is_some() {
            row.documents.document = document;
        }
        if let Some(mapping) = tables.mapping_of(operation)
            && let Some(stepped) = rules::step(mapping, operation, owned_elsewhere, now)
        {
            *mapping = stepped;
        }
        if let Some(target) = replaced {
            tables.remove_idle_mappings(&target);
        }
        Ok(renewed)
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        Ok(self.tables().slot_leased(lease)?.renew(lease, now, term))
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        if let Ok(slot) = self.tables().slot_leased(lease) {
            slot.held = None;
        }
        Ok(())
    }

    async fn finish_operation(&self, lease: &Lease, finish: FinishOperation) -> Result<(), Error> {
        let mut tables = self.tables();
        let row = tables.leased(lease)?;
        row.write(&finish.operation);
        row.documents = Documents::default();
        row.target = None;
        row.slot.held = None;
        let operation = row.operation.clone();

        if let Some(id) = &operation.reference
            && let Some(mapping) = tables.references.remove(&id.key())
        {
            let owned_elsewhere = tables.is_owned_elsewhere(&operation);
            if let Some(mapping) = rules::end(mapping, &finish, owned_elsewhere) {
                tables.references.insert(id.key(), mapping);
            }
        }
        if rules::removes_all_mappings(&operation)
            && let Some(target) = operation.target().map(|target| target.key())
        {
            tables.remove_idle_mappings(&target);
        }
        tables.events.push(rules::ended(&operation));
        tables.wake_parent(&operation);
        Ok(())
    }

    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error> {
        let mut tables = self.tables();
        let Some(row) = tables.operations.get_mut(&id) else {
            return Ok(None);
        };
        row.request_cancel(now);
        Ok(Some(row.operation.clone()))
    }

    async fn request_group_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<GroupOperation>, Error> {
        let mut tables = self.tables();
        let Some(row) = tables.group_operations.get_mut(&id) else {
            return Ok(None);
        };
        let operation = &mut row.operation;
        if operation.is_terminal() {
            return Ok(Some(operation.clone()));
        }
        operation.cancel_requested_at.get_or_insert(now);
        operation.due_at = operation.due_at.min(now);
        let operation = operation.clone();
        for row in tables.operations.values_mut() {
            if row.operation.parent == Some(id) {
                row.request_cancel(now);
            }
        }
        Ok(Some(operation))
    }

    async fn commit_group_step(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
        ended_children: usize,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let mut tables = self.tables();
        let unseen = tables.ended_children(lease.operation) != ended_children;
        let row = tables.group_leased(lease)?;
        row.write(operation);
        if unseen {
            row.operation.due_at = now;
        }
        Ok(row.slot.renew(lease, now, term))
    }

    async fn finish_group_operation(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
    ) -> Result<(), Error> {
        self.tables().finish_group_operation(lease, operation)
    }

    async fn forget_reference(
        &self,
        id: &ReferenceId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error> {
        let mut tables = self.tables();
        let mapping = tables.references.get(&id.key()).ok_or(Error::NotMapped)?;
        tables.refuse_deletion(&id.group)?;
        tables.refuse_busy_alias(&id.key())?;
        if mapping.owned {
            return Ok(Forgotten::Owned(Box::new(mapping.clone())));
        }
        let event = rules::forgot(mapping, caller, correlation_id, now);
        tables.references.remove(&id.key());
        tables.events.push(event);
        Ok(Forgotten::Forgotten)
    }

    async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Reference, Error> {
        let mut tables = self.tables();
        let mapping = tables.references.get(&id.key()).ok_or(Error::NotMapped)?;
        let mapping = mapping.clone();
        tables.refuse_deletion(&id.group)?;
        tables.refuse_busy_alias(&id.key())?;
        let target = mapping.target().map(|target| target.key());
        if let Some(busy) = target.as_ref().and_then(|key| tables.holder_of(key)) {
            return Err(Error::Busy(busy));
        }
        if update.owned == Some(true)
            && let Some(owner) = tables.owner_of(target.as_deref(), &id.key())
        {
            return Err(Error::OwnedElsewhere(owner.id.clone()));
        }
        let updated = rules::update(mapping, update, now);
        let event = rules::updated(&updated, caller, correlation_id, now);
        tables.references.insert(id.key(), updated.clone());
        tables.events.push(event);
        Ok(updated)
    }

    async fn take_over_leases(&self) -> Result<(), Error> {
        for slot in self.tables().slots() {
            slot.held = None;
        }
        Ok(())
    }

    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error> {
        let tables = self.tables();
        Ok(tables.operations.get(&id).map(|row| row.operation.clone()))
    }

    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error> {
        let tables = self.tables();
        let mut rows = tables.operations.values();
        Ok(rows.any(|row| rules::created(&row.operation, target, since)))
    }

    async fn get_group_operation(&self, id: OperationId) -> Result<Option<GroupOperation>, Error> {
        let tables = self.tables();
        let row = tables.group_operations.get(&id);
        Ok(row.map(|row| row.operation.clone()))
    }

    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error> {
        Ok(self.tables().children_of(parent))
    }

    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<ListedOperation>, Error> {
        let tables = self.tables();
        tables.group(group)?;
        Ok(tables.operations_of(group, page))
    }

    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        Ok(self.tables().remove_ended(before, limit))
    }

    async fn live_operations(&self) -> Result<(u64, Option<Timestamp>), Error> {
        let tables = self.tables();
        let count = tables.claimable().fold(0, |count, _| count + 1);
        let next = tables.claimable().map(|(claimable_at, _, _)| claimable_at);
        Ok((count, next.min()))
    }

    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error> {
        Ok(self.tables().references.get(&id.key()).cloned())
    }

    async fn list_references(&self, group: &GroupId) -> Result<Vec<Reference>, Error> {
        let tables = self.tables();
        tables.group(group)?;
        Ok(tables.references_of(group))
    }

    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error> {
        Ok(self.tables().events_of(&reference.key()))
    }

    async fn ensure_digest_key(
        &self,
        candidate: SealedKey,
        _now: Timestamp,
    ) -> Result<SealedKey, Error> {
        Ok(self.tables().digest_key.get_or_insert(candidate).clone())
    }

    async fn replace_digest_key(&self, new: SealedKey, _now: Timestamp) -> Result<(), Error> {
        self.tables().digest_key = Some(new);
        Ok(())
    }

    async fn list_sealed(
        &self,
        after: Option<&SealedPlace>,
        limit: usize,
    ) -> Result<Vec<(SealedPlace, Sealed)>, Error> {
        let mut tables = self.tables();
        let after = after.map(order);
        let mut values: Vec<(SealedPlace, Sealed)> = tables
            .sealed()
            .map(|(place, sealed)| (place, sealed.clone()))
            .filter(|(place, _)| after.as_ref().is_none_or(|after| order(place) > *after))
            .collect();
        values.sort_by_key(|(place, _)| order(place));
        values.truncate(limit);
        Ok(values)
    }

    async fn reseal(&self, place: &SealedPlace, old: &Sealed, new: Sealed) -> Result<bool, Error> {
        let mut tables = self.tables();
        let found = tables
            .sealed()
            .find(|(found, _)| order(found) == order(place));
        let unchanged = found
            .map(|(_, sealed)| sealed)
            .filter(|sealed| *sealed == old);
        let resealed = unchanged.is_some();
        if let Some(sealed) = unchanged {
            *sealed = new;
        }
        Ok(resealed)
    }

    async fn put_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        schema: TypeSchema,
    ) -> Result<(), Error> {
        let mut tables = self.tables();
        let key = rules::type_key(scope, type_name);
        let live = tables.live();
        let needed: BTreeSet<String> = live
            .map(|row| row.operation.schema_fingerprint.clone())
            .collect();
        let schemas = tables.type_schemas.entry(key).or_default();
        let fetched_at = schema.fetched_at;
        schemas.insert(schema.fingerprint.clone(), schema);
        schemas.retain(|fingerprint, schema| {
            schema.fetched_at >= fetched_at || needed.contains(fingerprint)
        });
        Ok(())
    }

    async fn get_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: Option<&str>,
    ) -> Result<Option<TypeSchema>, Error> {
        let tables = self.tables();
        let Some(schemas) = tables.type_schemas.get(&rules::type_key(scope, type_name)) else {
            return Ok(None);
        };
        let found = match fingerprint {
            Some(fingerprint) => schemas.get(fingerprint),
            // Of those fetched at once the first one by fingerprint.
            None => schemas
                .values()
                .rev()
                .max_by_key(|schema| schema.fetched_at),
        };
        Ok(found.cloned())
    }

    async fn ping(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// In which order sealed values are walked: one kind after the other.
fn order(place: &SealedPlace) -> (u8, String) {
    match place {
        SealedPlace::Credential(id) => (0, id.key()),
        SealedPlace::Desired(id) => (1, id.to_string()),
        SealedPlace::DigestKey(id) => (2, id.clone()),
        SealedPlace::Document(id) => (3, id.to_string()),
    }
}
