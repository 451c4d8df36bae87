use std::collections::BTreeMap;

use async_trait::async_trait;
use ucp_model::{OperationId, RequestToken, Timestamp};

use super::Memory;
use super::tables::Tables;
use crate::{Error, LeaseTerm, WaitingOperation, WaitingScope, Watch, Watches};

#[async_trait]
impl Watches for Memory {
    async fn list_waiting_scopes(&self, least: usize) -> Result<Vec<WaitingScope>, Error> {
        let tables = self.tables();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (scope, _) in waiting(&tables) {
            *counts.entry(scope).or_default() += 1;
        }
        for scope in tables.watches.keys() {
            counts.entry(scope.clone()).or_default();
        }
        let scopes = counts.into_iter().map(|(scope, count)| WaitingScope {
            is_crowded: count >= least,
            watch: tables.watches.get(&scope).cloned(),
            scope,
        });
        Ok(scopes.filter(WaitingScope::concerns).collect())
    }

    async fn keep_watch(
        &self,
        scope: &str,
        owner: &str,
        works_until: Option<Timestamp>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<bool, Error> {
        let mut tables = self.tables();
        let before = tables.watches.get(scope);
        if before.is_some_and(|before| before.owner != owner && before.expires_at > now) {
            return Ok(false);
        }
        let promised = before.map_or_else(Timestamp::default, |before| before.works_until);
        let watch = Watch {
            owner: owner.to_owned(),
            expires_at: now.after(term.0),
            works_until: works_until.unwrap_or_default().max(promised),
        };
        tables.watches.insert(scope.to_owned(), watch);
        Ok(true)
    }

    async fn end_watch(&self, scope: &str, owner: &str) -> Result<(), Error> {
        let watches = &mut self.tables().watches;
        if watches.get(scope).is_some_and(|watch| watch.owner == owner) {
            watches.remove(scope);
        }
        Ok(())
    }

    async fn list_waiting_operations(
        &self,
        scope: &str,
        after: Option<&RequestToken>,
        limit: usize,
    ) -> Result<Vec<WaitingOperation>, Error> {
        let tables = self.tables();
        let here = waiting(&tables).filter(|(its, _)| its == scope);
        let mut found: Vec<WaitingOperation> = here
            .map(|(_, operation)| operation)
            .filter(|it| after.is_none_or(|after| it.request.as_str() > after.as_str()))
            .collect();
        found.sort_unstable_by(|a, b| a.request.as_str().cmp(b.request.as_str()));
        found.truncate(limit);
        Ok(found)
    }

    async fn reschedule_waiting(
        &self,
        ids: &[OperationId],
        now: Timestamp,
        due_at: Timestamp,
    ) -> Result<u64, Error> {
        let mut tables = self.tables();
        let mut changed = 0;
        for id in ids {
            let Some(row) = tables.operations.get_mut(id) else {
                continue;
            };
            let waits = row.operation.work.request_in_flight().is_some();
            let asks_by = row.operation.work.asks_by().unwrap_or_default();
            let header = &mut row.operation.header;
            let is_earlier = due_at < header.due_at;
            let may_wait = header.cancel_requested_at.is_none() && asks_by > header.due_at;
            if waits && header.due_at > now && (is_earlier || may_wait) {
                header.due_at = if is_earlier {
                    due_at
                } else {
                    due_at.min(asks_by)
                };
                changed += 1;
            }
        }
        Ok(changed)
    }
}

/// The operations that wait, with their scopes.
fn waiting(tables: &Tables) -> impl Iterator<Item = (String, WaitingOperation)> {
    tables.live().filter_map(|row| {
        let header = &row.operation.header;
        let waiting = WaitingOperation {
            id: header.id,
            request: row.operation.work.request_in_flight()?.clone(),
            due_at: header.due_at,
        };
        Some((row.operation.work.scope_key(), waiting))
    })
}
