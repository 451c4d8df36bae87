//! What is recorded of the group of a set.

use ucp_model::{GroupId, Reference};
use ucp_set::MEMBERS_MAX;
use ucp_store::Limit;

use crate::in_flight::recorded_by;
use crate::listed::PAGE_MAX_BYTES;
use crate::refusal::no_such_group;
use crate::{App, Rejection, Room};

impl App {
    /// Returns all references of a group, and takes room for each page of them before the next is read.
    pub(super) async fn all_references(
        &self,
        group: &GroupId,
        room: &Room,
    ) -> Result<Vec<Reference>, Rejection> {
        let limit = Limit {
            items: MEMBERS_MAX,
            bytes: PAGE_MAX_BYTES,
        };
        let mut recorded: Vec<Reference> = Vec::new();
        loop {
            let after = recorded.last().map(|last| &last.id);
            let read = self.parts.store.list_references(group, None, after, limit);
            let page = match read.await {
                Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
                other => other?,
            };
            room.take(page.items.iter().map(recorded_by).sum())?;
            recorded.extend(page.items);
            if !page.is_limited {
                return Ok(recorded);
            }
        }
    }
}
