use std::fs::File;

use async_trait::async_trait;
use ucp_model::{
    CorrelationId, Credential, CredentialId, GroupId, GroupOperation, Operation, OperationId,
    Plane, PlaneId, Reference, ReferenceId, ResourceGroup, Scope, Target, Timestamp, TypeName,
};
use ucp_store::{
    Accepted, Error, Event, FinishOperation, Forgotten, GroupDeletion, Job, Lease, LeaseTerm,
    ListedOperation, NewCredential, NewGroupOperation, NewOperation, OperationPage, Precondition,
    PutGroup, PutPlane, ReferenceUpdate, Sealed, SealedKey, SealedPlace, Store, StoredCredential,
    TypeSchema,
};

use crate::database::{Database, transaction};
use crate::nudges::Nudges;
use crate::{
    credentials, events, group_operations, groups, keys, leases, mappings, operations, planes,
    sealed, type_schemas,
};
use ucp_store::rules::Claimant;

/// A store in a SQL database.
#[derive(Debug)]
pub struct Sql {
    pub(crate) database: Database,
    /// With Postgres: what wakes the workers of other processes.
    pub(crate) nudges: Option<Nudges>,
    /// With SQLite: what keeps other processes out for as long as this store lives.
    pub(crate) _lock: Option<File>,
}

#[async_trait]
impl Store for Sql {
    async fn put_plane(
        &self,
        put: PutPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Plane, Error> {
        transaction!(self.database, |tx| planes::put(
            &mut tx,
            &put,
            precondition,
            now
        ))
    }

    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error> {
        planes::get(&self.database, id).await
    }

    async fn list_planes(&self) -> Result<Vec<Plane>, Error> {
        planes::list(&self.database).await
    }

    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error> {
        transaction!(self.database, |tx| planes::delete(
            &mut tx,
            id,
            precondition
        ))
    }

    async fn put_resource_group(
        &self,
        put: PutGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<ResourceGroup, Error> {
        transaction!(self.database, |tx| groups::put(
            &mut tx,
            &put,
            precondition,
            now
        ))
    }

    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error> {
        groups::get(&self.database, id).await
    }

    async fn list_resource_groups(&self, plane: &str) -> Result<Vec<ResourceGroup>, Error> {
        groups::list(&self.database, plane).await
    }

    async fn put_credential(
        &self,
        new: NewCredential,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Credential, Error> {
        transaction!(self.database, |tx| credentials::put(
            &mut tx,
            &new,
            precondition,
            now
        ))
    }

    async fn get_credential(&self, id: &CredentialId) -> Result<Option<StoredCredential>, Error> {
        credentials::get(&self.database, id).await
    }

    async fn list_credentials(
        &self,
        plane: &str,
        after: Option<&CredentialId>,
        limit: usize,
    ) -> Result<Vec<Credential>, Error> {
        credentials::list(&self.database, plane, after, limit).await
    }

    async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Error> {
        transaction!(self.database, |tx| credentials::delete(
            &mut tx,
            id,
            precondition
        ))
    }

    async fn delete_resource_group(
        &self,
        new: NewGroupOperation,
        precondition: &Precondition,
    ) -> Result<GroupDeletion, Error> {
        let deletion = transaction!(self.database, |tx| group_operations::delete_group(
            &mut tx,
            &new,
            precondition
        ))?;
        self.nudge();
        Ok(deletion)
    }

    async fn accept_group_import(&self, new: NewGroupOperation) -> Result<GroupOperation, Error> {
        let accepted = transaction!(self.database, |tx| group_operations::accept_import(
            &mut tx, &new
        ))?;
        self.nudge();
        Ok(accepted)
    }

    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error> {
        let by = Claimant::Anyone;
        let accepted = transaction!(self.database, |tx| operations::accept(&mut tx, &new, by))?;
        self.nudge();
        Ok(accepted)
    }

    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error> {
        let accepted = transaction!(self.database, |tx| async {
            group_operations::hold(&mut tx, lease).await?;
            operations::accept(&mut tx, &new, Claimant::Child).await
        })?;
        self.nudge();
        Ok(accepted)
    }

    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Job>, Error> {
        transaction!(self.database, |tx| leases::claim(
            &mut tx, owner, now, term, limit
        ))
    }

    async fn commit_step(
        &self,
        lease: &Lease,
        operation: &Operation,
        document: Option<Sealed>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let renewed = renewed(lease, now, term);
        transaction!(self.database, |tx| operations::step(
            &mut tx,
            &renewed,
            operation,
            document.as_ref(),
            now,
        ))?;
        Ok(renewed)
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let renewed = renewed(lease, now, term);
        transaction!(self.database, |tx| leases::renew(&mut tx, &renewed))?;
        Ok(renewed)
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        transaction!(self.database, |tx| leases::release(&mut tx, lease))
    }

    async fn finish_operation(&self, lease: &Lease, finish: FinishOperation) -> Result<(), Error> {
        transaction!(self.database, |tx| operations::finish(
            &mut tx, lease, &finish
        ))?;
        if finish.operation.parent.is_some() {
            self.nudge();
        }
        Ok(())
    }

    async fn commit_group_step(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
        ended_children: usize,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let renewed = renewed(lease, now, term);
        transaction!(self.database, |tx| group_operations::step(
            &mut tx,
            &renewed,
            operation,
            ended_children,
            now,
        ))?;
        Ok(renewed)
    }

    async fn finish_group_operation(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
    ) -> Result<(), Error> {
        transaction!(self.database, |tx| group_operations::finish(
            &mut tx, lease, operation
        ))
    }

    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error> {
        let operation = transaction!(self.database, |tx| operations::request_cancel(
            &mut tx, id, now
        ))?;
        if let Some(nudges) = &self.nudges {
            nudges.send();
        }
        Ok(operation)
    }

    async fn request_group_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<GroupOperation>, Error> {
        let operation = transaction!(self.database, |tx| group_operations::request_cancel(
            &mut tx, id, now
        ))?;
        if let Some(nudges) = &self.nudges {
            nudges.send();
        }
        Ok(operation)
    }

    async fn forget_reference(
        &self,
        id: &ReferenceId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error> {
        transaction!(self.database, |tx| mappings::forget(
            &mut tx,
            id,
            caller,
            correlation_id,
            now
        ))
    }

    async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Reference, Error> {
        transaction!(self.database, |tx| mappings::update(
            &mut tx,
            id,
            &update,
            caller,
            correlation_id,
            now
        ))
    }

    async fn take_over_leases(&self) -> Result<(), Error> {
        transaction!(self.database, |tx| leases::release_all(&mut tx))
    }

    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error> {
        operations::get(&self.database, id).await
    }

    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error> {
        operations::was_created(&self.database, target, since).await
    }

    async fn get_group_operation(&self, id: OperationId) -> Result<Option<GroupOperation>, Error> {
        group_operations::get(&self.database, id).await
    }

    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error> {
        operations::children(&self.database, parent).await
    }

    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<ListedOperation>, Error> {
        groups::get(&self.database, group).await?;
        group_operations::list(&self.database, group, page).await
    }

    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        transaction!(self.database, |tx| group_operations::remove_ended(
            &mut tx, before, limit
        ))
    }

    async fn live_operations(&self) -> Result<(u64, Option<Timestamp>), Error> {
        operations::live(&self.database).await
    }

    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error> {
        mappings::get(&self.database, id).await
    }

    async fn list_references(&self, group: &GroupId) -> Result<Vec<Reference>, Error> {
        groups::get(&self.database, group).await?;
        mappings::list(&self.database, group).await
    }

    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error> {
        events::list(&self.database, reference).await
    }

    async fn ensure_digest_key(
        &self,
        candidate: SealedKey,
        now: Timestamp,
    ) -> Result<SealedKey, Error> {
        transaction!(self.database, |tx| keys::ensure(&mut tx, &candidate, now))
    }

    async fn replace_digest_key(&self, new: SealedKey, now: Timestamp) -> Result<(), Error> {
        transaction!(self.database, |tx| keys::replace(&mut tx, &new, now))
    }

    async fn list_sealed(
        &self,
        after: Option<&SealedPlace>,
        limit: usize,
    ) -> Result<Vec<(SealedPlace, Sealed)>, Error> {
        sealed::list(&self.database, after, limit).await
    }

    async fn reseal(&self, place: &SealedPlace, old: &Sealed, new: Sealed) -> Result<bool, Error> {
        transaction!(self.database, |tx| sealed::replace(
            &mut tx, place, old, &new
        ))
    }

    async fn put_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        schema: TypeSchema,
    ) -> Result<(), Error> {
        transaction!(self.database, |tx| type_schemas::put(
            &mut tx, scope, type_name, &schema
        ))
    }

    async fn get_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: Option<&str>,
    ) -> Result<Option<TypeSchema>, Error> {
        type_schemas::get(&self.database, scope, type_name, fingerprint).await
    }

    async fn ping(&self) -> Result<(), Error> {
        planes::ping(&self.database).await
    }

    async fn nudged(&self) {
        match &self.nudges {
            Some(nudges) => nudges.received().await,
            None => std::future::pending().await,
        }
    }
}

impl Sql {
    /// Wakes the workers of other processes.
    fn nudge(&self) {
        if let Some(nudges) = &self.nudges {
            nudges.send();
        }
    }
}

fn renewed(lease: &Lease, now: Timestamp, term: LeaseTerm) -> Lease {
    Lease {
        expires_at: now.after(term.0),
        ..lease.clone()
    }
}
