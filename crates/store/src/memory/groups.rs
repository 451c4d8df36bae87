use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::operation::group::Task;
use ucp_model::operation::{GroupWork, Work};
use ucp_model::{
    GroupId, NewResourceGroup, Operation, PlanPolicy, ReferenceId, ResourceGroup, Target, Timestamp,
};

use super::Memory;
use super::tables::page;
use crate::{
    Documents, Error, GroupDeletion, GroupUpdate, Groups, NewOperation, NewWork, OwnedPlace,
    Precondition, SHARED_MAX, Written, group_keys, rules,
};

#[async_trait]
impl Groups for Memory {
    async fn put_resource_group(
        &self,
        group: NewResourceGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<ResourceGroup>, Error> {
        let mut tables = self.tables();
        let current = tables.groups.get(&group.id.key());
        let written = rules::put_group(current, group, precondition, now)?;
        let before = tables.groups.insert(written.id.key(), written.clone());
        Ok(Written {
            before,
            after: written,
        })
    }

    async fn update_resource_group(
        &self,
        id: &GroupId,
        update: GroupUpdate,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<ResourceGroup>, Error> {
        let mut tables = self.tables();
        let current = tables.groups.get(&id.key()).ok_or(Error::NoSuchGroup)?;
        let written = rules::update_group(current, update, precondition, now)?;
        let before = tables.groups.insert(id.key(), written.clone());
        Ok(Written {
            before,
            after: written,
        })
    }

    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error> {
        let tables = self.tables();
        tables
            .groups
            .get(&id.key())
            .cloned()
            .ok_or(Error::NoSuchGroup)
    }

    async fn list_resource_groups(
        &self,
        plane: &str,
        after: Option<&GroupId>,
        limit: usize,
    ) -> Result<Vec<ResourceGroup>, Error> {
        let keys = group_keys(plane, after);
        Ok(page(&self.tables().groups, keys, limit))
    }

    async fn count_resource_groups(&self, plane: &str, limit: usize) -> Result<usize, Error> {
        let keys = group_keys(plane, None);
        Ok(page(&self.tables().groups, keys, limit).len())
    }

    async fn policy_elsewhere(
        &self,
        target: &Target<'_>,
        own: Option<&GroupId>,
    ) -> Result<PlanPolicy, Error> {
        Ok(self.tables().policy_elsewhere(&target.key(), own))
    }

    async fn delete_resource_group(
        &self,
        deletion: NewOperation,
        precondition: &Precondition,
        deletable: Option<&BTreeSet<OwnedPlace>>,
    ) -> Result<GroupDeletion, Error> {
        let mut tables = self.tables();
        let NewWork::Group {
            group: id,
            task: task @ (Task::Delete | Task::DeleteUnshared),
            heirs,
            ..
        } = &deletion.work
        else {
            let message = "delete_resource_group accepts only the deletion of a group";
            return Err(Error::Corrupt(message.to_owned()));
        };
        let key = id.key();
        let Some(group) = tables.groups.get(&key) else {
            return Ok(GroupDeletion::Absent);
        };
        precondition.judge(Some(group.etag()))?;
        if let Some(running) = group.body.deletion {
            let running = tables.operations.get(&running);
            let running = running.ok_or_else(|| Error::Corrupt(format!("{id} has no deletion")))?;
            return Ok(GroupDeletion::Running(Box::new(running.operation.clone())));
        }
        rules::judge_policy(group.body.policy(), None)?;
        if let Some(busy) = tables.live_in(&key, None) {
            return Err(Error::Busy(busy));
        }
        let references = tables.references_of(id);
        if let Some(deletable) = deletable {
            let owned = references.iter().filter(|reference| reference.owned);
            let owned: BTreeSet<OwnedPlace> = owned
                .map(|reference| (reference.scope.clone(), reference.id.type_name.clone()))
                .collect();
            let limit = rules::places_to_judge(deletable);
            let owned: BTreeSet<OwnedPlace> = owned.into_iter().take(limit).collect();
            if !owned.is_subset(deletable) {
                return Ok(GroupDeletion::Owns(owned));
            }
        }
        let owned = references.iter().filter(|reference| reference.owned);
        let targets: BTreeSet<String> = owned
            .filter_map(|reference| Some(reference.target()?.key()))
            .collect();
        let others = tables.references.values().filter(|other| {
            let target = other.target().map(|target| target.key());
            other.id.group.key() != key && target.is_some_and(|target| targets.contains(&target))
        });
        let others: Vec<ReferenceId> = others
            .take(SHARED_MAX)
            .map(|other| other.id.clone())
            .collect();
        if *task == Task::Delete && !others.is_empty() {
            return Err(Error::Shared(others));
        }
        if references.is_empty() && !tables.has_leftovers_of_ours(&key) {
            tables.remove_register(&key);
            tables.unassign(id, &deletion.header());
            tables.forget_history(&key);
            tables.remove_services(&key);
            tables.groups.remove(&key);
            return Ok(GroupDeletion::Removed);
        }
        let owned = references.iter().filter(|reference| reference.owned);
        let work = GroupWork {
            heirs: heirs.clone(),
            ..GroupWork::new(group.id.clone(), task.clone(), owned.count())
        };
        let operation = Operation {
            header: deletion.header(),
            work: Work::Group(Box::new(work)),
        };
        if let Some(group) = tables.groups.get_mut(&key) {
            group.body.deletion = Some(deletion.id);
        }
        tables.insert(operation.clone(), None, Documents::default());
        Ok(GroupDeletion::Accepted(Box::new(operation)))
    }
}
