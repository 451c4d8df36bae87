//! Operations on groups, and what is asked about all operations of a group.

use ucp_model::{GroupId, GroupOperation, Operation, OperationId, Timestamp};

use super::tables::{GroupRow, Row, Slot, Tables};
use crate::rules::Claimant;
use crate::{
    Accepted, Documents, Error, GroupDeletion, Lease, ListedOperation, NewGroupOperation,
    NewOperation, OperationPage, Precondition, rules,
};

impl Tables {
    pub(super) fn delete_group(
        &mut self,
        new: NewGroupOperation,
        precondition: &Precondition,
    ) -> Result<GroupDeletion, Error> {
        let key = new.group.key();
        let Some(group) = self.groups.get(&key) else {
            return Ok(GroupDeletion::Absent);
        };
        precondition.judge(Some(group.etag()))?;
        if let Some(deletion) = group.body.deletion {
            let running = self.group_operations.get(&deletion);
            let running =
                running.ok_or_else(|| Error::Corrupt(format!("no deletion {deletion}")))?;
            return Ok(GroupDeletion::Running(Box::new(running.operation.clone())));
        }
        if let Some(busy) = self.live_in(&key) {
            return Err(Error::Busy(busy));
        }
        let references = self.references_of(&new.group);
        if references.is_empty() {
            self.groups.remove(&key);
            return Ok(GroupDeletion::Removed);
        }
        let owned = references
            .iter()
            .filter(|reference| reference.owned)
            .count();
        let operation = rules::accept_group_operation(new, group.id.clone(), owned);
        if let Some(group) = self.groups.get_mut(&key) {
            group.body.deletion = Some(operation.id);
        }
        self.insert_group_operation(operation.clone());
        Ok(GroupDeletion::Accepted(Box::new(operation)))
    }

    pub(super) fn accept_import(
        &mut self,
        new: NewGroupOperation,
    ) -> Result<GroupOperation, Error> {
        self.refuse_deletion(&new.group)?;
        let group = self.group(&new.group)?.id.clone();
        let operation = rules::accept_group_operation(new, group, 0);
        self.insert_group_operation(operation.clone());
        Ok(operation)
    }

    fn insert_group_operation(&mut self, operation: GroupOperation) {
        let row = GroupRow {
            operation,
            slot: Slot::default(),
        };
        self.group_operations.insert(row.operation.id, row);
    }

    pub(super) fn accept(&mut self, new: NewOperation, by: Claimant) -> Result<Accepted, Error> {
        let alias = match &new.reference {
            Some(id) => Some(self.idle_alias(id, by)?),
            None => None,
        };
        let desired = new.desired.clone();
        let accepted = rules::accept(new, alias)?;
        let operation = &accepted.operation;

        let target = operation.target().map(|target| target.key());
        if let Some(busy) = target.as_ref().and_then(|key| self.holder_of(key)) {
            return Err(Error::Busy(busy));
        }
        if let Some(reference) = &accepted.reference {
            let owner = self.owner_of(target.as_deref(), &reference.id.key());
            if let Some(owner) = owner.filter(|_| operation.options.take_ownership) {
                return Err(Error::OwnedElsewhere(owner.id.clone()));
            }
            self.references
                .insert(reference.id.key(), reference.clone());
        }
        let row = Row {
            operation: operation.clone(),
            documents: Documents {
                desired,
                document: None,
            },
            target,
            slot: Slot::default(),
        };
        self.operations.insert(operation.id, row);
        Ok(accepted)
    }

    /// Everything that is live: when it can be claimed, when it is due, and its id.
    pub(super) fn claimable(&self) -> impl Iterator<Item = (Timestamp, Timestamp, OperationId)> {
        let on_resources = self
            .live()
            .map(|row| (&row.slot, row.operation.due_at, row.operation.id));
        let on_groups = self
            .live_on_groups()
            .map(|row| (&row.slot, row.operation.due_at, row.operation.id));
        on_resources
            .chain(on_groups)
            .map(|(slot, due_at, id)| (slot.claimable_at(due_at), due_at, id))
    }

    /// Lets the operation that an ended one is a part of go on.
    pub(super) fn wake_parent(&mut self, ended: &Operation) {
        let parent = ended
            .parent
            .and_then(|id| self.group_operations.get_mut(&id));
        let parent = parent.filter(|row| !row.operation.is_terminal());
        if let (Some(row), Some(ended_at)) = (parent, ended.ended_at) {
            row.operation.due_at = row.operation.due_at.min(ended_at);
        }
    }

    pub(super) fn children_of(&self, parent: OperationId) -> Vec<Operation> {
        let operations = self.operations.values().map(|row| &row.operation);
        let mut children: Vec<Operation> = operations
            .filter(|operation| operation.parent == Some(parent))
            .cloned()
            .collect();
        children.sort_unstable_by_key(|child| (child.accepted_at, child.id));
        children
    }

    pub(super) fn ended_children(&self, parent: OperationId) -> usize {
        let operations = self.operations.values().map(|row| &row.operation);
        operations
            .filter(|operation| operation.parent == Some(parent) && operation.ended_at.is_some())
            .count()
    }

    pub(super) fn finish_group_operation(
        &mut self,
        lease: &Lease,
        operation: &GroupOperation,
    ) -> Result<(), Error> {
        let row = self.group_leased(lease)?;
        row.write(operation);
        row.slot.held = None;
        let operation = row.operation.clone();
        let key = operation.group.key();
        if rules::removes_group(&operation) {
            for mapping in self.references_of(&operation.group) {
                self.references.remove(&mapping.id.key());
                self.events
                    .push(rules::forgot_with_group(&mapping, &operation));
            }
            self.groups.remove(&key);
        } else if let Some(group) = self.groups.get_mut(&key)
            && group.body.deletion == Some(operation.id)
        {
            group.body.deletion = None;
        }
        self.events.push(rules::group_operation_ended(&operation));
        Ok(())
    }

    pub(super) fn operations_of(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Vec<ListedOperation> {
        let key = group.key();
        let on_references = self.operations.values().filter_map(|row| {
            let reference = row.operation.reference.as_ref()?;
            (reference.group.key() == key)
                .then(|| ListedOperation::Resource(Box::new(row.operation.clone())))
        });
        let on_group = self
            .group_operations
            .values()
            .filter(|row| row.operation.group.key() == key)
            .map(|row| ListedOperation::Group(Box::new(row.operation.clone())));
        let mut operations: Vec<ListedOperation> = on_references
            .chain(on_group)
            .filter(|operation| page.holds(operation))
            .collect();
        operations.sort_unstable_by_key(|operation| std::cmp::Reverse(operation.place()));
        operations.truncate(page.limit);
        operations
    }

    pub(super) fn remove_ended(&mut self, before: Timestamp, limit: usize) -> u64 {
        let on_resources = self
            .operations
            .values()
            .filter(|row| !self.has_live_parent(&row.operation))
            .map(|row| (row.operation.ended_at, row.operation.id));
        let on_groups = self
            .group_operations
            .values()
            .map(|row| (row.operation.ended_at, row.operation.id));
        let mut old: Vec<(Timestamp, OperationId)> = on_resources
            .chain(on_groups)
            .filter_map(|(ended_at, id)| Some((ended_at.filter(|at| *at < before)?, id)))
            .collect();
        old.sort_unstable();
        old.truncate(limit);
        let count = old.iter().fold(0, |count, _| count + 1);
        for (_, id) in old {
            self.operations.remove(&id);
            self.group_operations.remove(&id);
        }
        count
    }
}

impl GroupRow {
    /// Takes over what may change about an operation on a group.
    pub(super) fn write(&mut self, operation: &GroupOperation) {
        let new = operation.clone();
        self.operation = GroupOperation {
            progress: new.progress,
            done: new.done,
            outcomes: new.outcomes,
            due_at: new.due_at,
            ended_at: new.ended_at,
            ..self.operation.clone()
        };
    }
}
