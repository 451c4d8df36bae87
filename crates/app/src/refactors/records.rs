//! The records of refactors, for those who may read all groups that they name.

use ucp_access::Right;
use ucp_model::{ErrorCode, Failure, GroupId, Refactor, RefactorId, Timestamp};

use crate::{App, Caller, Listed, Rejection};

/// How many records a page has at most. Each may tell of thousands of resources.
const PAGE_MAX: usize = 20;

/// A query for records of refactors.
#[derive(Clone, Debug)]
pub struct RefactorQuery {
    /// The radius plane.
    pub plane: String,
    /// Only those that name this group; all if `None`.
    pub group: Option<GroupId>,
    /// The last record of the previous page; `None` on the first page.
    pub after: Option<(Timestamp, RefactorId)>,
    /// The maximum number of records.
    pub top: usize,
}

impl App {
    /// Returns a record of a plane.
    pub async fn get_refactor(
        &self,
        plane: &str,
        id: RefactorId,
        caller: &Caller,
    ) -> Result<Refactor, Rejection> {
        let found = self.parts.store.get_refactor(id).await?;
        let found = found.filter(|record| record.plane.eq_ignore_ascii_case(plane));
        let shown = found.filter(|record| caller.reads_refactor(record));
        shown.ok_or_else(|| no_such_refactor(id))
    }

    /// Returns a page of records, latest first, and where the next one starts. A page has only those that the caller may read,
    /// and may be empty although more follow.
    pub async fn list_refactors(
        &self,
        query: RefactorQuery,
        caller: &Caller,
    ) -> Result<(Listed<Refactor>, Option<(Timestamp, RefactorId)>), Rejection> {
        let RefactorQuery {
            plane,
            group,
            after,
            top,
        } = query;
        if let Some(group) = &group {
            let action = "System.Resources/refactors/read";
            caller.judge_group(Right::Read, group, action)?;
        }
        let (store, top) = (&self.parts.store, top.min(PAGE_MAX));
        let listed = store.list_refactors(&plane, group.as_ref(), after, top + 1);
        let mut listed = Listed::of(listed.await?, top);
        let next = listed.last_of_more().map(ucp_store::refactor_place);
        // One that is listed here may name groups of other planes.
        listed.items.retain(|record| caller.reads_refactor(record));
        Ok((listed, next))
    }
}

impl Caller {
    /// A record shows what moved between all groups that it names.
    fn reads_refactor(&self, record: &Refactor) -> bool {
        let mut named = record.content.named.iter();
        named.all(|group| self.reads_group(group))
    }
}

pub(super) fn no_such_refactor(id: RefactorId) -> Rejection {
    let message =
        format!("There is no refactor {id}, or you may not read all groups that it names.");
    Rejection::Missing(Failure::new(ErrorCode::NotFound, message))
}
