//! Accepting an operation: what it claims, and what else it concerns.

use ucp_model::operation::group::Task;
use ucp_model::operation::{GroupWork, Header, ResourceWork, Work};
use ucp_model::{GroupId, Operation, OperationId, PlanPolicy, Reference, ReferenceId, Timestamp};

use super::tables::{Row, Slot, Tables, maps};
use crate::rules::{Claimant, Others};
use crate::{Accepted, Documents, Error, NewOperation, NewWork, rules};

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

    /// Returns the apply to a group that is live, but for those with an order.
    pub(super) fn apply_to(&self, group: &GroupId) -> Option<OperationId> {
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
    pub(super) fn pass_on(
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
    pub(super) fn supersede(&mut self, header: &Header, work: &ResourceWork) {
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
    pub(super) fn refuse_taken(&self, operation: &Operation) -> Result<(), Error> {
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
    pub(super) fn others(&self, target: &str, operation: &Operation) -> Others {
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

    pub(super) fn children_of(&self, parent: OperationId) -> impl Iterator<Item = &Row> {
        let rows = self.operations.values();
        rows.filter(move |row| row.operation.header.parent == Some(parent))
    }

    pub(super) fn is_live(&self, id: Option<OperationId>) -> bool {
        let row = id.and_then(|id| self.operations.get(&id));
        row.is_some_and(|row| !row.operation.is_terminal())
    }
}
