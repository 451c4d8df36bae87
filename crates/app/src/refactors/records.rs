//! The records of refactors, for those who may read all groups that they name.

use ucp_access::Right;
use ucp_model::{
    ErrorCode, Failure, GroupId, Refactor, RefactorContent, RefactorId, Timestamp, json,
};
use ucp_store::refactor_place;

use crate::listed::{Filling, LARGE};
use crate::{Caller, Listed, RefactorCases, Rejection};

/// How many records a page has at most. Each may tell of thousands of resources.
const PAGE_MAX: usize = 20;
/// What a record may have, before it is read.
pub(super) const RECORD_MAX_BYTES: usize = 16 << 20;
/// How often a record is in memory when it is shown: as it is stored, as it is read, and in the reply.
const COPIES: usize = 5;
/// What a record has of each move, and of each id, about.
const TOLD_BYTES: usize = 1_024;
const ID_BYTES: usize = 256;
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

impl RefactorCases {
    /// Returns a record of a plane.
    pub async fn get_refactor(
        &self,
        plane: &str,
        id: RefactorId,
        caller: &Caller,
    ) -> Result<Refactor, Rejection> {
        caller.room.before_read(RECORD_MAX_BYTES).await?;
        let recorded = self.recorded_refactor(plane, id, caller).await?;
        let bytes = told_by(&recorded.content);
        caller.room.has_read(bytes.saturating_mul(COPIES))?;
        Ok(caller.shown(recorded))
    }

    /// Returns a record that the caller may read, with all that it has.
    pub(super) async fn recorded_refactor(
        &self,
        plane: &str,
        id: RefactorId,
        caller: &Caller,
    ) -> Result<Refactor, Rejection> {
        let found = self.ground.store.get_refactor(id).await?;
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
        let mut shown = Filling::up_to(top.min(PAGE_MAX), LARGE, &caller.room);
        let (mut after, mut looked) = (after, 0);
        shown.enter().await?;
        loop {
            let asked = shown.to_read();
            let store = &self.ground.store;
            let page = store.list_refactors(&plane, group.as_ref(), after, asked);
            let page = page.await?;
            let is_end = page.len() < asked;
            looked += page.len();
            after = page.last().map(refactor_place);
            // One that is listed here may name groups of other planes.
            for refactor in page.into_iter().filter(|it| caller.reads_refactor(it)) {
                let refactor = caller.shown(refactor);
                let bytes = told_by(&refactor.content);
                if !shown.add(refactor, bytes) {
                    let next = shown.last().map(refactor_place);
                    return Ok((shown.listed(), next));
                }
            }
            if is_end {
                return Ok((shown.listed(), None));
            }
            if looked >= LOOKED_AT {
                return Ok((shown.listed(), after));
            }
        }
    }
}

impl Caller {
    /// A record shows what moved between all groups that it names.
    fn reads_refactor(&self, record: &Refactor) -> bool {
        let mut named = record.content.named.iter();
        named.all(|group| self.reads_group(group))
    }
}

/// Returns about what a record has as JSON. To write it takes long.
pub(super) fn told_by(content: &RefactorContent) -> usize {
    let RefactorContent {
        named,
        moves,
        ambiguities,
        leaves_ambiguities: _,
        refused,
        changes,
        is_deployed: _,
        groups,
        environments,
        history,
        events,
        taken_events,
        undoes: _,
        deployment: _,
    } = content;
    let events = events.iter().chain(taken_events);
    let of_events = events.map(|event| 1 + event.moves.len()).sum::<usize>();
    let of_several = ambiguities.iter().map(|it| (&it.from, &it.to));
    let of_several = of_several.chain(refused.iter().map(|it| (&it.from, &it.to)));
    let several = of_several.map(|(from, to)| from.len() + to.len());
    let elsewhere = history.elsewhere.iter();
    let elsewhere = elsewhere.map(|it| it.groups.len() + it.events.len());
    let ids = [
        named.len(),
        changes.create.len(),
        changes.update.len(),
        changes.undeclared.len(),
        several.sum::<usize>(),
        history.environment.len(),
        history.pending.len(),
        elsewhere.sum::<usize>(),
    ];
    let groups = groups.create.iter().chain(&groups.remove);
    let of_groups = groups.map(|it| TOLD_BYTES + json::length(&it.tags) + json::length(&it.body));
    let told = 1 + moves.len() + refused.len() + ambiguities.len() + environments.len() + of_events;
    told * TOLD_BYTES + ids.iter().sum::<usize>() * ID_BYTES + of_groups.sum::<usize>()
}

/// The audit does not tell what is not there from what is hidden.
pub(super) fn no_such_refactor(id: RefactorId, caller: &Caller) -> Rejection {
    let message =
        format!("There is no refactor {id}, or you may not read all groups that it names.");
    let failure = Failure::new(ErrorCode::NotFound, message);
    if caller.rights.are_unlimited() {
        Rejection::Missing(failure)
    } else {
        Rejection::Hidden(failure)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ucp_model::{
        GroupBody, GroupChanges, RefactorAmbiguity, RefactorGroup, ReferenceId, TypeName,
    };

    use super::*;

    /// Whatever is large in a record is counted.
    #[test]
    fn about_what_a_record_has_is_told() {
        let group = GroupId::new("local", "rg").unwrap();
        let tags = (0..50).map(|tag| (format!("{tag}-{}", "k".repeat(100)), "v".repeat(250)));
        let tags: BTreeMap<String, String> = tags.collect();
        let removed = RefactorGroup {
            id: group.clone(),
            location: "global".to_owned(),
            tags: tags.clone(),
            body: GroupBody {
                default_tags: tags,
                ..GroupBody::default()
            },
        };
        let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
        let id = ReferenceId::new(group, type_name, &"a".repeat(60)).unwrap();
        let ambiguity = RefactorAmbiguity {
            scope: None,
            from: vec![id.clone(); 500],
            to: vec![id; 500],
            reason: "Twins".to_owned(),
        };
        for content in [
            RefactorContent {
                groups: GroupChanges {
                    remove: vec![removed; 10],
                    ..GroupChanges::default()
                },
                ..RefactorContent::default()
            },
            RefactorContent {
                ambiguities: vec![ambiguity],
                ..RefactorContent::default()
            },
        ] {
            let (told, has) = (told_by(&content), json::length(&content));
            assert!(has > 100_000);
            assert!(told >= has && told < 3 * has, "{told} of {has}");
        }
    }
}
