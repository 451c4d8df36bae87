use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::operation::{GroupWork, ResourceWork, Work};
use ucp_model::{GroupId, Operation, OperationId, Target, Timestamp};

use super::Memory;
use super::tables::Tables;
use crate::rules::Claimant;
use crate::{
    Accepted, Documents, Error, FinishOperation, Lease, LeaseTerm, LiveOperations, NewOperation,
    OperationPage, Operations, RecordedTarget, Sealed, place, rules,
};

#[async_trait]
impl Operations for Memory {
    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error> {
        self.tables().accept(new, Claimant::Anyone)
    }

    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error> {
        let mut tables = self.tables();
        let parent = tables.leased(lease)?;
        let cancel_requested_at = parent.operation.header.cancel_requested_at;
        let mut accepted = tables.accept(new, Claimant::Child)?;
        if let Some(at) = cancel_requested_at {
            let child = accepted.operation.header.id;
            if let Some(row) = tables.operations.get_mut(&child) {
                row.request_cancel(at);
            }
            accepted.operation.header.cancel_requested_at = Some(at);
        }
        Ok(accepted)
    }

    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error> {
        let tables = self.tables();
        Ok(tables.operations.get(&id).map(|row| row.operation.clone()))
    }

    async fn get_operations(&self, ids: &[OperationId]) -> Result<Vec<Operation>, Error> {
        let tables = self.tables();
        let ids: BTreeSet<&OperationId> = ids.iter().collect();
        let rows = ids.into_iter().filter_map(|id| tables.operations.get(id));
        Ok(rows.map(|row| row.operation.clone()).collect())
    }

    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<Operation>, Error> {
        let tables = self.tables();
        tables.group(group)?;
        let key = group.key();
        let of_group = |operation: &&Operation| {
            let group = operation.work.group_id();
            group.is_some_and(|group| group.key() == key)
        };
        let operations = tables.operations.values().map(|row| &row.operation);
        let mut operations: Vec<Operation> = operations
            .filter(of_group)
            .filter(|operation| page.holds(operation))
            .cloned()
            .collect();
        operations.sort_unstable_by_key(|operation| std::cmp::Reverse(place(operation)));
        operations.truncate(page.limit);
        Ok(operations)
    }

    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error> {
        let tables = self.tables();
        let mut children: Vec<Operation> = tables
            .children_of(parent)
            .map(|row| row.operation.clone())
            .collect();
        children.sort_unstable_by_key(place);
        Ok(children)
    }

    async fn recorded_target(&self, target: &Target<'_>) -> Result<RecordedTarget, Error> {
        Ok(self.tables().recorded(&target.key()))
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
        tables.leased(lease)?;
        tables.refuse_taken(operation)?;
        let slot = &mut tables.leased(lease)?.slot;
        slot.takeovers = 0;
        slot.has_permit = false;
        slot.waiting = None;
        let renewed = lease.stepped(now, term);
        slot.hold(&renewed);
        let target = tables.free_target(operation);
        let ended_children = tables
            .children_of(lease.operation)
            .filter(|row| row.operation.is_terminal())
            .count();

        let row = tables.leased(lease)?;
        let before = std::mem::replace(&mut row.operation, operation.clone());
        row.target = target;
        row.documents.look = None;
        if document.is_some() {
            row.documents.document = document;
        }
        let header = &mut row.operation.header;
        header.waits_for = None;
        header.cancel_requested_at = before.header.cancel_requested_at;
        if operation.header.cancel_requested_at.is_none()
            && let Some(asked_at) = before.header.cancel_requested_at
        {
            header.due_at = header.due_at.min(asked_at);
        }
        match (&before.work, &operation.work) {
            (Work::Resource(before), Work::Resource(work)) => {
                let owned_elsewhere = tables.is_owned_elsewhere(work, work.referenced());
                if let Some(reference) = tables.reference_of(work)
                    && let Some(stepped) = rules::step(reference, work, owned_elsewhere, now)
                {
                    let before = std::mem::replace(reference, stepped.clone());
                    tables.pass_on(&operation.header, work, (&before, Some(&stepped)), now);
                }
                if let Some(target) = rules::replaced(before, work) {
                    tables.remove_idle_references(&target);
                }
            }
            (_, Work::Group(work)) if ended_children > work.ended_children => {
                header.due_at = header.due_at.min(now);
            }
            (_, Work::Group(_)) | (Work::Group(_), _) => {}
        }
        Ok(renewed)
    }

    async fn finish_operation(&self, lease: &Lease, finish: FinishOperation) -> Result<(), Error> {
        let mut tables = self.tables();
        tables.leased(lease)?;
        if let Work::Group(work) = &finish.operation.work
            && rules::removes_group(work)
        {
            for reference in tables.references_of(&work.group) {
                rules::refuse_busy(&reference)?;
            }
        }
        tables.refuse_taken(&finish.operation)?;
        let row = tables.leased(lease)?;
        let cancel_requested_at = row.operation.header.cancel_requested_at;
        row.operation = rules::kept(&finish.operation).into_owned();
        row.operation.header.cancel_requested_at = cancel_requested_at;
        row.operation.header.waits_for = None;
        row.documents = Documents::default();
        row.target = None;
        row.slot.held = None;
        match &finish.operation.work {
            Work::Resource(work) => {
                if let Some(id) = &work.reference
                    && let Some(reference) = tables.references.remove(&id.key())
                {
                    if rules::supersedes(work, &finish) {
                        tables.supersede(&finish.operation.header, work);
                    }
                    let owned_elsewhere = tables.is_owned_elsewhere(work, work.target());
                    let before = reference.clone();
                    let after = rules::end(reference, work, &finish, owned_elsewhere);
                    if let Some(reference) = &after {
                        tables.references.insert(id.key(), reference.clone());
                    }
                    let header = &finish.operation.header;
                    let at = rules::ended_at(header);
                    tables.pass_on(header, work, (&before, after.as_ref()), at);
                }
                if rules::removes_all_references(work)
                    && let Some(target) = work.target().map(|target| target.key())
                {
                    tables.remove_idle_references(&target);
                }
                tables.finish_leftovers(work, &finish);
            }
            Work::Group(work) => tables.finish_on_group(&finish.operation, work),
        }
        tables.end_plan(&finish.operation);
        tables.events.push(rules::ended(&finish.operation));
        if let Some(predicted) = rules::predicted(&finish.operation) {
            tables.predicted(predicted);
        }
        tables.wake_parent(&finish.operation);
        Ok(())
    }

    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error> {
        Ok(self.tables().request_cancel(id, now))
    }

    async fn count_live_operations(
        &self,
        those: LiveOperations<'_>,
        limit: usize,
    ) -> Result<usize, Error> {
        let tables = self.tables();
        let operations = tables.operations.values().map(|row| &row.operation);
        let live = operations.filter(|operation| operation.header.ended_at.is_none());
        let counted = live.filter(|operation| match those {
            LiveOperations::All => true,
            LiveOperations::InGroup(group) => {
                operation.work.group_id().map(GroupId::key) == Some(group.key())
            }
            LiveOperations::RequestedBy(caller) => {
                operation.header.parent.is_none() && operation.header.caller == caller
            }
        });
        Ok(counted.take(limit).count())
    }

    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let rows = tables.operations.values().map(|row| &row.operation.header);
        let mut old: Vec<(Timestamp, OperationId)> = rows
            .filter(|header| !tables.is_live(header.parent))
            .filter_map(|header| Some((header.ended_at.filter(|at| *at < before)?, header.id)))
            .collect();
        old.sort_unstable();
        old.truncate(limit);
        let count = old.iter().fold(0, |count, _| count + 1);
        for (_, id) in old {
            tables.operations.remove(&id);
        }
        Ok(count)
    }
}

impl Tables {
    /// Enters what the operation leaves, and removes what it has settled.
    fn finish_leftovers(&mut self, work: &ResourceWork, finish: &FinishOperation) {
        let reference = self.reference_of(work).cloned();
        if let Some(target) = rules::settled(work, reference.as_ref()) {
            self.settle(&target.key());
        }
        if let Some(reference) = rules::decided(work) {
            self.decide(reference);
        }
        if let Some(reference) = rules::abandoned(work, reference.as_ref()) {
            self.abandon(reference);
        }
        if let Some(reference) = rules::unresolved(work) {
            let now = finish.operation.header.ended_at;
            self.note_look(reference, now.unwrap_or_default());
        }
        if let Some(attempt) = rules::failed_delete(finish) {
            self.note_try(&attempt);
        }
        if let Some(leftover) = rules::left_over(finish) {
            self.enter(leftover);
        }
    }

    fn finish_on_group(&mut self, operation: &Operation, work: &GroupWork) {
        let key = work.group.key();
        if let Some(order) = work.order() {
            self.end_order(operation, work, order);
        }
        if rules::removes_group(work) {
            for reference in self.references_of(&work.group) {
                self.references.remove(&reference.id.key());
                let event = rules::forgot_with_group(&reference, &operation.header);
                self.events.push(event);
            }
            self.remove_register(&key);
            self.unassign(&work.group, &operation.header);
            self.forget_history(&key);
            self.remove_services(&key);
            self.groups.remove(&key);
        } else if let Some(group) = self.groups.get_mut(&key)
            && group.body.deletion == Some(operation.header.id)
        {
            group.body.deletion = None;
        }
    }

    /// Makes the parent of an ended operation due.
    fn wake_parent(&mut self, ended: &Operation) {
        let parent = ended.header.parent;
        let parent = parent.and_then(|id| self.operations.get_mut(&id));
        let parent = parent.filter(|row| !row.operation.is_terminal());
        if let (Some(row), Some(ended_at)) = (parent, ended.header.ended_at) {
            let header = &mut row.operation.header;
            header.due_at = header.due_at.min(ended_at);
        }
    }
}
