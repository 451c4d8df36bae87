use std::cmp::Reverse;
use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::operation::Work;
use ucp_model::{
    GroupId, OperationId, Refactor, RefactorId, RefactorStatus, ResourceGroup, Timestamp,
};

use super::Memory;
use super::tables::{Row, Tables};
use crate::rules::{self, BeforeRefactor, Claimant, Relocated};
use crate::{
    ApplyRefactor, Brought, Documents, Error, NewWork, REFACTORS_MAX, Refactors, place,
    refactor_place,
};

#[async_trait]
impl Refactors for Memory {
    async fn keep_refactor(&self, refactor: Refactor, most: usize) -> Result<(), Error> {
        let mut tables = self.tables();
        let maker = refactor.created_by.clone();
        tables.refactors.insert(refactor.id, refactor);
        let planned = tables
            .refactors
            .values()
            .filter(|it| it.status == RefactorStatus::Planned && it.created_by == maker);
        let mut planned: Vec<_> = planned.map(refactor_place).collect();
        planned.sort_unstable_by_key(|place| Reverse(*place));
        for (_, id) in planned.into_iter().skip(most) {
            tables.refactors.remove(&id);
        }
        Ok(())
    }

    async fn apply_refactor(&self, new: ApplyRefactor) -> Result<Refactor, Error> {
        let mut tables = self.tables();
        let id = new.record.id;
        let by = new.taken_back_by.as_ref().map(|lease| lease.operation);
        if let Some(lease) = &new.taken_back_by {
            tables.leased(lease)?;
        }
        if new.is_planned {
            let planned = tables.refactors.get(&id).ok_or(Error::NoSuchRefactor)?;
            rules::refuse_status(planned, RefactorStatus::Planned)?;
        }
        let undone = match new.record.content.undoes {
            Some(id) => {
                let applied = tables.refactors.get(&id).ok_or(Error::NoSuchRefactor)?;
                rules::refuse_status(applied, RefactorStatus::Applied)?;
                Some(rules::undone(applied, &new.record))
            }
            None => None,
        };
        let before = tables.before_refactor(&new);
        let brought = tables.brought(&new.record.content.named, REFACTORS_MAX);
        let changed_at = rules::after_history(&new, &brought)?;
        let new = at(new, changed_at);
        let relocated = rules::relocate(&new, &before)?;
        tables.refuse_live(&new, &before, &relocated, by)?;
        // What is refused refuses the moves, too.
        if let Some(set) = rules::set_of(&new) {
            tables.accept(set.clone(), Claimant::Anyone)?;
        }

        for group in &relocated.created {
            tables.groups.insert(group.id.key(), group.clone());
        }
        for (id, _) in &relocated.references {
            tables.references.remove(&id.key());
        }
        for (_, reference) in &relocated.references {
            let key = reference.id.key();
            tables.references.insert(key, reference.clone());
        }
        let events = relocated.events.iter().map(|(_, event)| event.clone());
        tables.events.extend(events);
        let mut removed = Vec::new();
        for group in rules::emptied(&new, undone.as_ref(), &before) {
            removed.extend(tables.remove_emptied(&group.id, by));
        }
        if let Some(undone) = undone {
            tables.refactors.insert(undone.id, undone);
        }
        let record = rules::refactored(&new, &relocated, removed);
        tables.refactors.insert(id, record.clone());
        tables.record(&rules::audited(&record, &new));
        if let Some((operation, _)) = rules::deployed(&new) {
            let desired = new.deploy.and_then(|deploy| match deploy.work {
                NewWork::Group { declared, .. } => declared,
                NewWork::Resource(_) => None,
            });
            let documents = Documents {
                desired,
                ..Documents::default()
            };
            tables.insert(operation, None, documents);
        }
        Ok(record)
    }

    async fn get_refactor(&self, id: RefactorId) -> Result<Option<Refactor>, Error> {
        Ok(self.tables().refactors.get(&id).cloned())
    }

    async fn list_refactors(
        &self,
        plane: &str,
        group: Option<&GroupId>,
        after: Option<(Timestamp, RefactorId)>,
        limit: usize,
    ) -> Result<Vec<Refactor>, Error> {
        let tables = self.tables();
        let group = group.map(GroupId::key);
        let is_listed = |refactor: &&Refactor| {
            let is_after = after.is_none_or(|after| refactor_place(refactor) < after);
            let is_named = group.as_ref().is_none_or(|key| names(refactor, key));
            is_after && is_named && refactor.plane.eq_ignore_ascii_case(plane)
        };
        let mut listed: Vec<&Refactor> = tables.refactors.values().filter(is_listed).collect();
        listed.sort_unstable_by_key(|refactor| Reverse(refactor_place(refactor)));
        Ok(listed.into_iter().take(limit).cloned().collect())
    }

    async fn refactor_events(
        &self,
        groups: &[GroupId],
        limit: usize,
    ) -> Result<Vec<Brought>, Error> {
        let brought = self.tables().brought(groups, limit).into_iter();
        Ok(brought.map(|(_, brought)| brought).collect())
    }

    async fn remove_refactors(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let is_old = |refactor: &&Refactor| refactor.changed_at < before && !refactor.is_lasting();
        let mut old: Vec<(Timestamp, RefactorId)> = tables
            .refactors
            .values()
            .filter(is_old)
            .map(|refactor| (refactor.changed_at, refactor.id))
            .collect();
        old.sort_unstable();
        old.truncate(limit);
        let count = old.iter().fold(0, |count, _| count + 1);
        for (_, id) in old {
            tables.refactors.remove(&id);
        }
        Ok(count)
    }
}

impl Tables {
    /// What the last refactors have brought to any of these groups, with the time of each, in order.
    fn brought(&self, groups: &[GroupId], limit: usize) -> Vec<(Timestamp, Brought)> {
        let keys: BTreeSet<String> = groups.iter().map(GroupId::key).collect();
        let is_of = |refactor: &&Refactor| {
            let is_kept = |key: &&String| {
                let forgotten = ((*key).clone(), refactor.id);
                names(refactor, key) && !self.forgotten.contains(&forgotten)
            };
            refactor.brings_events() && keys.iter().any(|key| is_kept(&key))
        };
        let mut of: Vec<&Refactor> = self.refactors.values().filter(is_of).collect();
        of.sort_unstable_by_key(|refactor| (refactor.changed_at, refactor.id));
        let first = of.len().saturating_sub(limit);
        let of = of.into_iter().skip(first);
        of.map(|refactor| {
            let content = &refactor.content;
            let brought = Brought {
                groups: content.named.iter().map(GroupId::key).collect(),
                events: content.events.clone(),
            };
            (refactor.changed_at, brought)
        })
        .collect()
    }

    /// Forgets the history of a group that is deleted.
    pub(super) fn forget_history(&mut self, group: &str) {
        let refactors = self.refactors.values();
        let had = refactors.filter(|it| it.brings_events() && names(it, group));
        let had: Vec<_> = had.map(|it| (group.to_owned(), it.id)).collect();
        self.forgotten.extend(had);
    }

    /// What is recorded of what a refactor concerns.
    fn before_refactor(&self, new: &ApplyRefactor) -> BeforeRefactor {
        let groups = rules::groups_of(new).into_keys();
        let references = rules::addresses_of(new).into_iter();
        BeforeRefactor {
            groups: groups
                .filter_map(|key| Some((key.clone(), self.groups.get(&key)?.clone())))
                .collect(),
            references: references
                .filter_map(|key| Some((key.clone(), self.references.get(&key)?.clone())))
                .collect(),
        }
    }

    /// Refuses a refactor if an operation is live on one of its groups as a whole, or on the AWS resource of what moves.
    fn refuse_live(
        &self,
        new: &ApplyRefactor,
        before: &BeforeRefactor,
        relocated: &Relocated,
        but: Option<OperationId>,
    ) -> Result<(), Error> {
        let on_group = |row: &&Row| match &row.operation.work {
            Work::Group(work) => {
                before.groups.contains_key(&work.group.key())
                    && Some(row.operation.header.id) != but
            }
            Work::Resource(_) => false,
        };
        let live = self.live().filter(on_group);
        if let Some((_, busy)) = live.map(|row| place(&row.operation)).min() {
            return Err(Error::Busy(busy));
        }
        let groups = rules::held_by(new);
        let mut groups = groups.keys();
        if let Some(busy) = groups.find_map(|group| self.deployment_of(group, but)) {
            return Err(Error::Busy(busy));
        }
        let moving = relocated.references.iter();
        let targets: BTreeSet<String> = moving
            .filter_map(|(_, reference)| Some(reference.target()?.key()))
            .collect();
        let holds = |row: &&Row| row.target.as_ref().is_some_and(|key| targets.contains(key));
        match self.live().find(holds) {
            Some(row) => Err(Error::Busy(row.operation.header.id)),
            None => Ok(()),
        }
    }

    /// Removes a group if nothing is lost with it, and returns it.
    fn remove_emptied(&mut self, id: &GroupId, but: Option<OperationId>) -> Option<ResourceGroup> {
        let key = id.key();
        let loses_nothing = self.references_of(id).is_empty()
            && self.live_in(&key, but).is_none()
            && !self.has_leftovers(&key)
            && !self.is_assigned(id)
            && !self.has_services(&key);
        if !loses_nothing {
            return None;
        }
        self.remove_services(&key);
        self.groups.remove(&key)
    }
}

/// Returns whether a refactor names the group.
fn names(refactor: &Refactor, group: &str) -> bool {
    let mut named = refactor.content.named.iter();
    named.any(|named| named.key() == group)
}

/// Returns a refactor as it is applied at this time.
fn at(new: ApplyRefactor, changed_at: Timestamp) -> ApplyRefactor {
    ApplyRefactor {
        record: Refactor {
            changed_at,
            ..new.record
        },
        ..new
    }
}
