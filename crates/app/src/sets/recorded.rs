//! What is recorded of the group of a set.

use std::collections::BTreeSet;

use ucp_model::{GroupId, Outline, Reference};
use ucp_set::MEMBERS_MAX;
use ucp_store::Limit;

use crate::ground::refusal::no_such_group;
use crate::in_flight::recorded_by;
use crate::listed::PAGE_MAX_BYTES;
use crate::{DeclaredSet, Mode, Rejection, Room, SetCases};

impl SetCases {
    /// Returns all references of a group, and takes room for each page of them before the next is read. Without what was declared
    /// and observed of those that a set leaves as they are: whose alias it does not list.
    pub(super) async fn references_for(
        &self,
        set: &DeclaredSet,
        group: &GroupId,
        room: &Room,
    ) -> Result<Vec<Reference>, Rejection> {
        let limit = Limit {
            items: MEMBERS_MAX,
            bytes: PAGE_MAX_BYTES,
        };
        let listed = set.members.iter().flatten();
        let listed: BTreeSet<String> = listed.map(|it| it.alias.to_lowercase()).collect();
        let is_left =
            |alias: &str| set.mode == Mode::Incremental && !listed.contains(&alias.to_lowercase());
        let mut recorded: Vec<Reference> = Vec::new();
        loop {
            let after = recorded.last().map(|last| &last.id);
            let read = self.ground.store.list_references(group, None, after, limit);
            let page = match read.await {
                Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
                other => other?,
            };
            let items = page.items.into_iter();
            let known = items.map(|reference| {
                if is_left(&reference.id.alias) {
                    Outline::of(reference).into()
                } else {
                    reference
                }
            });
            let before = recorded.len();
            recorded.extend(known);
            room.take(recorded[before..].iter().map(recorded_by).sum())?;
            if !page.is_limited {
                return Ok(recorded);
            }
        }
    }
}
