//! The records of refactors, for those who may read all groups that they name.

use ucp_access::Right;
use ucp_model::{ErrorCode, Failure, GroupId, Refactor, RefactorId, Timestamp};
use ucp_store::refactor_place;

use crate::{App, Caller, Listed, Rejection};

/// How many records a page has at most. Each may tell of thousands of resources.
const PAGE_MAX: usize = 20;
/// How many records are looked at for a page, about.
const LOOKED_AT: usize = 200;

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
        let recorded = self.recorded_refactor(plane, id, caller).await?;
        Ok(caller.shown(recorded))
    }

    /// Returns a record that the caller may read, with all that it has.
    pub(super) async fn recorded_refactor(
        &self,
        plane: &str,
        id: RefactorId,
        caller: &Caller,
    ) -> Result<Refactor, Rejection> {
        let found = self.parts.store.get_refactor(id).await?;
        let found = found.filter(|record| record.plane.eq_ignore_ascii_case(plane));
        let shown = found.filter(|record| caller.reads_refactor(record));
        shown.ok_or_else(|| no_such_refactor(id, caller))
    }

    /// Returns a page of records, latest first, and where the next one starts. A page has only those that the caller may read. How
    /// many others there are shows only if so many of them follow each other that no more are looked at.
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
        let (mut shown, mut after, mut looked) = (Vec::new(), after, 0);
        let next = loop {
            let page = store.list_refactors(&plane, group.as_ref(), after, top + 1);
            let page = page.await?;
            let is_end = page.len() <= top;
            looked += page.len();
            after = page.last().map(refactor_place);
            // One that is listed here may name groups of other planes.
            shown.extend(page.into_iter().filter(|it| caller.reads_refactor(it)));
            if shown.len() > top {
                shown.truncate(top);
                break shown.last().map(refactor_place);
            }
            if is_end {
                break None;
            }
            if looked >= LOOKED_AT {
                break after;
            }
        };
        let shown = shown.into_iter().map(|it| caller.shown(it));
        Ok((Listed::of(shown.collect(), top), next))
    }
}

impl Caller {
    /// A record shows what moved between all groups that it names.
    fn reads_refactor(&self, record: &Refactor) -> bool {
        let mut named = record.content.named.iter();
        named.all(|group| self.reads_group(group))
    }
}

/// The audit does not tell what is not there from what is hidden.
pub(super) fn no_such_refactor(id: RefactorId, caller: &Caller) -> Rejection {
    let message =
        format!("There is no refactor {id}, or you may not read all groups that it names.");
    let failure = Failure::new(ErrorCode::NotFound, message);
    match caller.rights.are_unlimited() {
        true => Rejection::Missing(failure),
        false => Rejection::Hidden(failure),
    }
}
