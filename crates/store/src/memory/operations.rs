use async_trait::async_trait;
use ucp_model::{GroupId, GroupOperation, Operation, OperationId, Target, Timestamp};

use super::Memory;
use crate::rules::Claimant;
use crate::{
    Accepted, Documents, Error, FinishOperation, Lease, LeaseTerm, ListedOperation,
    NewGroupOperation, NewOperation, OperationPage, Operations, Sealed, rules,
};

#[async_trait]
impl Operations for Memory {
    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error> {
        self.tables().accept(new, Claimant::Anyone)
    }

    async fn accept_group_import(&self, new: NewGroupOperation) -> Result<GroupOperation, Error> {
        self.tables().accept_import(new)
    }

    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error> {
        let mut tables = self.tables();
        tables.group_leased(lease)?;
        tables.accept(new, Claimant::Child)
    }

    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error> {
        let tables = self.tables();
        Ok(tables.operations.get(&id).map(|row| row.operation.clone()))
    }

    async fn get_group_operation(&self, id: OperationId) -> Result<Option<GroupOperation>, Error> {
        let tables = self.tables();
        let row = tables.group_operations.get(&id);
        Ok(row.map(|row| row.operation.clone()))
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

    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error> {
        Ok(self.tables().children_of(parent))
    }

    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error> {
        let tables = self.tables();
        let mut rows = tables.operations.values();
        Ok(rows.any(|row| rules::created(&row.operation, target, since)))
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

    async fn finish_group_operation(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
    ) -> Result<(), Error> {
        self.tables().finish_group_operation(lease, operation)
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

    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        Ok(self.tables().remove_ended(before, limit))
    }
}
