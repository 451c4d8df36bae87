//! Refactors: what was found, and what has come of it.

use async_trait::async_trait;
use ucp_model::{GroupId, Refactor, RefactorEvent, RefactorId, Timestamp};

use crate::Error;

/// Storage of the records of refactors.
#[async_trait]
pub trait Refactors: Send + Sync {
    /// Stores the record of a new refactor. Nothing moves.
    async fn keep_refactor(&self, refactor: Refactor) -> Result<(), Error>;

    /// Returns the record, if there is one and it has not been removed yet.
    async fn get_refactor(&self, id: RefactorId) -> Result<Option<Refactor>, Error>;

    /// Returns up to `limit` records of a plane, or only those that name `group`: latest first, then by descending id. They
    /// start after the one that was created at `after.0` and has the id `after.1`, which need not exist any more.
    async fn list_refactors(
        &self,
        plane: &str,
        group: Option<&GroupId>,
        after: Option<(Timestamp, RefactorId)>,
        limit: usize,
    ) -> Result<Vec<Refactor>, Error>;

    /// Returns the history of groups: the events that refactors have brought which name any of them, in the order in which
    /// they were applied, then by id. What was undone has brought none. It has events of up to `limit` refactors, the first
    /// ones.
    async fn refactor_events(
        &self,
        groups: &[GroupId],
        limit: usize,
    ) -> Result<Vec<RefactorEvent>, Error>;

    /// Removes up to `limit` records whose status is from before `before`, earliest first, and returns how many were removed.
    /// Those that have brought events stay: they are the history of their groups.
    async fn remove_refactors(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}

/// Returns the place of a record in lists.
pub fn refactor_place(refactor: &Refactor) -> (Timestamp, RefactorId) {
    (refactor.created_at, refactor.id)
}
