use std::cmp::Reverse;
use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::{GroupId, Refactor, RefactorEvent, RefactorId, Timestamp};

use super::Memory;
use crate::{Error, Refactors, refactor_place};

#[async_trait]
impl Refactors for Memory {
    async fn keep_refactor(&self, refactor: Refactor) -> Result<(), Error> {
        self.tables().refactors.insert(refactor.id, refactor);
        Ok(())
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
    ) -> Result<Vec<RefactorEvent>, Error> {
        let tables = self.tables();
        let keys: BTreeSet<String> = groups.iter().map(GroupId::key).collect();
        let is_of = |refactor: &&Refactor| {
            refactor.brings_events() && keys.iter().any(|key| names(refactor, key))
        };
        let mut of: Vec<&Refactor> = tables.refactors.values().filter(is_of).collect();
        of.sort_unstable_by_key(|refactor| (refactor.changed_at, refactor.id));
        let events = of.into_iter().take(limit);
        Ok(events
            .flat_map(|refactor| refactor.content.events.clone())
            .collect())
    }

    async fn remove_refactors(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let is_old =
            |refactor: &&Refactor| refactor.changed_at < before && !refactor.brings_events();
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

/// Returns whether a refactor names the group.
fn names(refactor: &Refactor, group: &str) -> bool {
    let mut named = refactor.content.named.iter();
    named.any(|named| named.key() == group)
}
