//! The in-memory reference engine: one lock, ordered maps, and nothing that outlives the process.

mod tables;

use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ucp_model::{
    CorrelationId, Credential, CredentialId, GroupId, Operation, OperationId, Plane, PlaneId,
    Reference, ReferenceId, ResourceGroup, Target, Timestamp,
};

use self::tables::{Held, Row, Tables};
use crate::{
    Accepted, Claimed, Documents, Error, Event, FinishOperation, Forgotten, Lease, LeaseTerm,
    NewCredential, NewOperation, Precondition, PutGroup, PutPlane, Sealed, SealedKey, SealedPlace,
    Store, StoredCredential, rules,
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

    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error> {
        let mut tables = self.tables();
        let alias = match &new.reference {
            Some(id) => Some(tables.idle_alias(id)?),
            None => None,
        };
        let desired = new.desired.clone();
        let accepted = rules::accept(new, alias)?;
        let operation = &accepted.operation;

        let target = operation.target().map(|target| target.key());
        if let Some(busy) = target.as_ref().and_then(|key| tables.holder_of(key)) {
            return Err(Error::Busy(busy));
        }
        if let Some(reference) = &accepted.reference {
            let owner = tables.owner_of(target.as_deref(), &reference.id.key());
            if let Some(owner) = owner.filter(|_| operation.options.take_ownership) {
                return Err(Error::OwnedElsewhere(owner.id.clone()));
            }
            tables
                .references
                .insert(reference.id.key(), reference.clone());
        }
        let row = Row {
            operation: operation.clone(),
            documents: Documents {
                desired,
                document: None,
            },
            target,
            generation: 0,
            held: None,
        };
        tables.operations.insert(operation.id, row);
        Ok(accepted)
    }

    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Claimed>, Error> {
        let mut tables = self.tables();
        let mut due: Vec<(Timestamp, OperationId)> = tables
            .live()
            .filter(|row| row.claimable_at() <= now)
            .map(|row| (row.operation.due_at, row.operation.id))
            .collect();
        due.sort_unstable();
        due.truncate(limit);

        let mut claimed = Vec::new();
        for (_, id) in due {
            let Some(row) = tables.operations.get_mut(&id) else {
                continue;
            };
            row.generation += 1;
            row.held = Some(Held {
                owner: owner.to_owned(),
                expires_at: now.after(term.0),
            });
            let row = row.clone();
            let reference = row.operation.reference.as_ref();
            let mapping = reference.and_then(|id| tables.references.get(&id.key()));
            claimed.push(Claimed {
                lease: Lease {
                    operation: id,
                    owner: owner.to_owned(),
                    generation: row.generation,
                    expires_at: now.after(term.0),
                },
                operation: row.operation,
                documents: row.documents,
                baseline: mapping.and_then(|mapping| mapping.baseline.clone()),
            });
        }
        Ok(claimed)
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
        let renewed = tables.leased(lease)?.renew(lease, now, term);
        let target = tables.free_target(operation);
        let owned_elsewhere = tables.is_owned_elsewhere(operation);

        let row = tables.leased(lease)?;
        row.write(operation);
        row.target = target;
        if document.is_some() {
            row.documents.document = document;
        }
        if let Some(mapping) = tables.mapping_of(operation)
            && let Some(stepped) = rules::step(mapping, operation, owned_elsewhere, now)
        {
            *mapping = stepped;
        }
        Ok(renewed)
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        Ok(self.tables().leased(lease)?.renew(lease, now, term))
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        if let Ok(row) = self.tables().leased(lease) {
            row.held = None;
        }
        Ok(())
    }

    async fn finish_operation(&self, lease: &Lease, finish: FinishOperation) -> Result<(), Error> {
        let mut tables = self.tables();
        let row = tables.leased(lease)?;
        row.write(&finish.operation);
        row.documents = Documents::default();
        row.target = None;
        row.held = None;
        let operation = row.operation.clone();

        if let Some(id) = &operation.reference
            && let Some(mapping) = tables.references.remove(&id.key())
        {
            let owned_elsewhere = tables.is_owned_elsewhere(&operation);
            if let Some(mapping) = rules::end(mapping, &finish, owned_elsewhere) {
                tables.references.insert(id.key(), mapping);
            }
        }
        if rules::removes_all_mappings(&operation) {
            tables.remove_idle_mappings(&operation);
        }
        tables.events.push(rules::ended(&operation));
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
        let operation = &mut row.operation;
        if !operation.state.is_terminal() {
            operation.cancel_requested_at.get_or_insert(now);
            operation.due_at = operation.due_at.min(now);
        }
        Ok(Some(operation.clone()))
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
        tables.refuse_busy_alias(&id.key())?;
        if mapping.owned {
            return Ok(Forgotten::Owned(Box::new(mapping.clone())));
        }
        let event = rules::forgot(mapping, caller, correlation_id, now);
        tables.references.remove(&id.key());
        tables.events.push(event);
        Ok(Forgotten::Forgotten)
    }

    async fn take_over_leases(&self) -> Result<(), Error> {
        for row in self.tables().operations.values_mut() {
            row.held = None;
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

    async fn live_operations(&self) -> Result<(u64, Option<Timestamp>), Error> {
        let tables = self.tables();
        let count = tables.live().fold(0, |count, _| count + 1);
        Ok((count, tables.live().map(Row::claimable_at).min()))
    }

    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error> {
        Ok(self.tables().references.get(&id.key()).cloned())
    }

    async fn list_references(&self, group: &GroupId) -> Result<Vec<Reference>, Error> {
        let tables = self.tables();
        tables.group(group)?;
        let references = tables.references.values();
        Ok(references
            .filter(|reference| reference.id.group.key() == group.key())
            .cloned()
            .collect())
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
