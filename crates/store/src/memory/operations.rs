use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::operation::group::Task;
use ucp_model::operation::{GroupWork, Header, ResourceWork, Work};
use ucp_model::{
    GroupId, Operation, OperationId, PlanPolicy, Reference, ReferenceId, Target, Timestamp,
};

use super::Memory;
use super::tables::{Row, Slot, Tables, maps};
use crate::rules::{Claimant, Others};
use crate::{
    Accepted, Documents, Error, FinishOperation, Lease, LeaseTerm, LiveOperations, NewOperation,
    NewWork, OperationPage, Operations, RecordedTarget, Sealed, place, rules,
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
    pub(super) fn accept(&mut self, new: NewOperation, by: Claimant) -> Result<Accepted, Error> {
        let (header, now) = (new.header(), new.accepted_at);
        let lowers_protection = new.lowers_protection();
        let new = match new.work {
            NewWork::Resource(new) => *new,
            NewWork::Group {
                task: Task::Delete | Task::DeleteUnshared,
                ..
            } => {
                let message = "the deletion of a group is accepted by delete_resource_group only";
                return Err(Error::Corrupt(message.to_owned()));
            }
            NewWork::Group {
                group,
                task,
                declared,
                heirs,
            } => {
                self.refuse_deletion(&group)?;
                let group = self.group(&group)?;
                let (group, policy) = (group.id.clone(), by.policy(group));
                let is_apply = matches!(task, Task::Apply(_));
                let running = match rules::order_of(&task) {
                    Some(_) => self.deployment_of(&group.key(), None),
                    None => self.apply_to(&group),
                };
                if is_apply && let Some(running) = running {
                    return Err(Error::Busy(running));
                }
                let work = GroupWork {
                    heirs,
                    ..GroupWork::new(group, task, 0)
                };
                let operation = Operation {
                    header,
                    work: Work::Group(Box::new(work)),
                };
                let plan = self.used_plan(&operation, by)?;
                if is_apply {
                    rules::judge_operation(policy, plan.as_ref(), lowers_protection)?;
                }
                self.write_used(plan, now);
                let documents = Documents {
                    desired: declared,
                    ..Documents::default()
                };
                self.insert(operation.clone(), None, documents);
                return Ok(Accepted {
                    operation,
                    reference: None,
                    keeps_look: false,
                });
            }
        };
        let alias = match &new.reference {
            Some(id) => Some(self.alias(id, by)?),
            None => None,
        };
        let desired = new.desired.clone();
        let look = new.look.clone();
        let before = alias.as_ref().and_then(|alias| alias.reference.clone());
        let policy = alias.as_ref().map(|alias| alias.policy).unwrap_or_default();
        let made = rules::Made::by(&new, before.as_ref());
        let (work, reference) = rules::accept(header.id, new, alias, now)?;
        let target = work.target().map(|target| target.key());
        let recorded = target.as_deref().map(|target| self.recorded(target));
        let recorded = recorded.unwrap_or_default();
        let look = look.filter(|look| look.basis.holds(before.as_ref(), &recorded));
        let documents = Documents {
            desired,
            document: None,
            look: look.map(|look| look.sealed),
        };
        if let Some(busy) = recorded.holder {
            return Err(Error::Busy(busy));
        }
        if let Some(reference) = &reference {
            let owner = self.owner_of(target.as_deref(), &reference.id.key());
            if let Some(owner) = owner.filter(|_| work.options.take_ownership) {
                return Err(Error::OwnedElsewhere(owner.id.clone()));
            }
        }
        let is_change = rules::is_change(&work);
        let mut operation = Operation {
            header,
            work: Work::Resource(Box::new(work)),
        };
        let plan = self.used_plan(&operation, by)?;
        if is_change {
            rules::judge_operation(policy, plan.as_ref(), lowers_protection)?;
            if let Some(target) = &target {
                let others = self.others(target, &operation);
                rules::judge_second(&made, &others)?;
                rules::share(&mut operation, &others);
                rules::judge_others(&operation, &others)?;
            }
        }
        self.write_used(plan, now);
        if let Some(reference) = &reference {
            self.references
                .insert(reference.id.key(), reference.clone());
        }
        let keeps_look = documents.look.is_some();
        self.insert(operation.clone(), target, documents);
        Ok(Accepted {
            operation,
            reference,
            keeps_look,
        })
    }

    /// Records a cancel request for a live operation and its live children.
    pub(super) fn request_cancel(&mut self, id: OperationId, now: Timestamp) -> Option<Operation> {
        let row = self.operations.get_mut(&id)?;
        row.request_cancel(now);
        let operation = row.operation.clone();
        if !operation.is_terminal() {
            let rows = self.operations.values_mut();
            for child in rows.filter(|row| row.operation.header.parent == Some(id)) {
                child.request_cancel(now);
            }
        }
        Some(operation)
    }

    /// Returns the apply to a group that is live, but for those with an order.
    fn apply_to(&self, group: &GroupId) -> Option<OperationId> {
        let is_meant = |work: &GroupWork| {
            matches!(work.task, Task::Apply(_))
                && work.order().is_none()
                && work.group.key() == group.key()
        };
        let mut live = self.live();
        let row = live.find(|row| row.operation.work.group().is_some_and(is_meant));
        row.map(|row| row.operation.header.id)
            .or_else(|| self.deployment_of(&group.key(), None))
    }

    /// Passes what a reference gives up to others on to its heir.
    fn pass_on(
        &mut self,
        header: &Header,
        work: &ResourceWork,
        (before, after): (&Reference, Option<&Reference>),
        now: Timestamp,
    ) {
        let Some(heir) = rules::heir_of(work, before, after) else {
            return;
        };
        let is_open = self.refuse_deletion(&heir.group).is_ok();
        let recorded = self.references.get(&heir.key()).filter(|_| is_open);
        if let Some(heir) = recorded.and_then(|it| rules::inherited(it.clone(), before, now)) {
            let event = rules::updated(&heir, &header.caller, &header.correlation_id, now);
            self.references.insert(heir.id.key(), heir);
            self.events.push(event);
        }
    }

    /// Takes the resource from who owned one of its identifier before.
    fn supersede(&mut self, header: &Header, work: &ResourceWork) {
        let target = work.target().map(|target| target.key());
        let own = work.reference.as_ref().map(ReferenceId::key);
        let owner = self.owner_of(target.as_deref(), &own.unwrap_or_default());
        let now = rules::ended_at(header);
        if let Some(owner) = owner.and_then(|it| rules::superseded(it.clone(), work, now)) {
            let event = rules::updated(&owner, &header.caller, &header.correlation_id, now);
            self.references.insert(owner.id.key(), owner);
            self.events.push(event);
        }
    }

    /// Refuses a step to a resource that AWS has named or respelled, if the operation may not work on it.
    fn refuse_taken(&self, operation: &Operation) -> Result<(), Error> {
        let Some(target) = rules::unchecked_target(operation).map(|target| target.key()) else {
            return Ok(());
        };
        let holder = self.holder_of(&target);
        if let Some(busy) = holder.filter(|holder| *holder != operation.header.id) {
            return Err(Error::Busy(busy));
        }
        let reference = operation.work.reference();
        if rules::needs_ownership(operation)
            && let Some(own) = reference.map(ReferenceId::key)
            && let Some(owner) = self.owner_of(Some(&target), &own)
        {
            return Err(Error::OwnedElsewhere(owner.id.clone()));
        }
        match operation.work.resource() {
            Some(work) if rules::begins_change(work) => {
                rules::judge_others(operation, &self.others(&target, operation))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns what is recorded of the references to the AWS resource besides that of the operation.
    fn others(&self, target: &str, operation: &Operation) -> Others {
        let own = operation.work.reference().map(ReferenceId::key);
        let references = self.references.iter();
        let others = references
            .filter(|(key, reference)| own.as_ref() != Some(key) && maps(reference, target));
        Others {
            references: others.map(|(_, reference)| reference.id.clone()).collect(),
            policy: self.policy_elsewhere(target, operation.work.group_id()),
        }
    }

    /// Returns the strictest policy of the groups besides `own` that have a reference to the AWS resource.
    pub(super) fn policy_elsewhere(&self, target: &str, own: Option<&GroupId>) -> PlanPolicy {
        let own = own.map(GroupId::key);
        let references = self.references.values();
        let elsewhere = references
            .filter(|reference| maps(reference, target))
            .map(|reference| reference.id.group.key())
            .filter(|group| own.as_ref() != Some(group));
        let groups = elsewhere.filter_map(|group| self.groups.get(&group));
        let policies = groups.map(|group| group.body.policy());
        policies.max().unwrap_or_default()
    }

    pub(super) fn insert(
        &mut self,
        operation: Operation,
        target: Option<String>,
        documents: Documents,
    ) {
        let row = Row {
            operation,
            documents,
            target,
            slot: Slot::default(),
        };
        self.operations.insert(row.operation.header.id, row);
    }

    fn children_of(&self, parent: OperationId) -> impl Iterator<Item = &Row> {
        let rows = self.operations.values();
        rows.filter(move |row| row.operation.header.parent == Some(parent))
    }

    fn is_live(&self, id: Option<OperationId>) -> bool {
        let row = id.and_then(|id| self.operations.get(&id));
        row.is_some_and(|row| !row.operation.is_terminal())
    }

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

impl Row {
    /// Records a cancel request for a live operation.
    fn request_cancel(&mut self, now: Timestamp) {
        if !self.operation.is_terminal() {
            let header = &mut self.operation.header;
            header.cancel_requested_at.get_or_insert(now);
            header.due_at = header.due_at.min(now);
            header.waits_for = None;
            self.slot.waiting = None;
        }
    }
}
