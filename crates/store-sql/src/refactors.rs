//! The refactors.

use async_trait::async_trait;
use ucp_model::{GroupId, Refactor, RefactorId, Timestamp};
use ucp_store::{ApplyRefactor, Brought, Error, Refactors};

use crate::database::transaction;
use crate::{Sql, moves, refactor_row};

#[async_trait]
impl Refactors for Sql {
    async fn keep_refactor(&self, refactor: Refactor, most: usize) -> Result<(), Error> {
        transaction!(self, |tx| refactor_row::keep(&mut tx, &refactor, most))
    }

    async fn apply_refactor(&self, new: ApplyRefactor) -> Result<Refactor, Error> {
        transaction!(self, |tx| moves::apply(&mut tx, &new))
    }

    async fn get_refactor(&self, id: RefactorId) -> Result<Option<Refactor>, Error> {
        refactor_row::get(&self.database, id).await
    }

    async fn list_refactors(
        &self,
        plane: &str,
        group: Option<&GroupId>,
        after: Option<(Timestamp, RefactorId)>,
        limit: usize,
    ) -> Result<Vec<Refactor>, Error> {
        refactor_row::list(&self.database, plane, group, after, limit).await
    }

    async fn refactor_events(
        &self,
        groups: &[GroupId],
        limit: usize,
    ) -> Result<Vec<Brought>, Error> {
        refactor_row::events(&self.database, groups, limit).await
    }

    async fn remove_refactors(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        transaction!(self, |tx| refactor_row::remove(&mut tx, before, limit))
    }
}
