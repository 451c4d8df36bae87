//! The record of what a refactor has found.

use std::collections::{HashMap, HashSet};

use ucp_model::{
    EventMove, GroupChanges, Refactor, RefactorAmbiguity, RefactorChanges, RefactorContent,
    RefactorEnvironment, RefactorEvent, RefactorGroup, RefactorHistory, RefactorId, RefactorMove,
    RefusedMove,
};
use ucp_refactor::{Event, OnAmbiguity};

use super::found::{Found, FoundGroup, FoundPut};
use super::{DeclaredRefactor, EmptiedGroups};
use crate::moves::history::History;
use crate::moves::recording::itself;
use crate::{Caller, RefactorCases};

impl RefactorCases {
    /// Returns the record of what was found, with the named groups and the puts of what changes. Nothing has moved.
    pub(super) fn planned(
        &self,
        plane: &str,
        declared: &DeclaredRefactor,
        found: Found,
        caller: &Caller,
    ) -> (Refactor, Vec<FoundGroup>, Vec<FoundPut>) {
        let id = RefactorId(self.ground.entropy.uuid("refactor"));
        let Found {
            refactor,
            groups,
            references,
            history,
            puts,
        } = found;
        let moves = refactor.moves.iter().filter_map(|it| {
            let reference = references.get(&it.from.key())?;
            Some(RefactorMove {
                from: it.from.clone(),
                to: it.to.clone(),
                scope: reference.scope.clone(),
                identifier: it.identifier.clone(),
                reason: it.reason.as_str().to_owned(),
                etag: Some(reference.etag().as_str().to_owned()),
                lineage: None,
                written: None,
            })
        });
        let moves: Vec<RefactorMove> = moves.collect();
        let left = references
            .values()
            .map(|reference| reference.id.group.key());
        let put = puts.iter().map(|it| it.reference.group.key());
        let changes = group_changes(&groups, &moves, (left, put), declared.emptied_groups);
        let events = events(
            id,
            declared.history.as_deref(),
            &moves,
            &history,
            &refactor.history,
        );
        let content = RefactorContent {
            named: groups.iter().map(|group| group.id().clone()).collect(),
            ambiguities: refactor
                .ambiguities
                .into_iter()
                .map(|ambiguity| RefactorAmbiguity {
                    scope: Some(ambiguity.scope),
                    from: ambiguity.from,
                    to: ambiguity.to,
                    reason: ambiguity.reason.as_str().to_owned(),
                })
                .collect(),
            leaves_ambiguities: declared.on_ambiguity == OnAmbiguity::Leave,
            refused: refactor
                .refused
                .into_iter()
                .map(|refused| RefusedMove {
                    scope: refused.scope,
                    from: refused.from,
                    to: refused.to,
                    code: refused.code.as_str().to_owned(),
                    message: refused.message,
                })
                .collect(),
            changes: RefactorChanges {
                create: refactor.changes.create,
                update: refactor.changes.update,
                undeclared: refactor.changes.undeclared,
            },
            environments: refactor
                .environments
                .into_iter()
                .map(|environment| RefactorEnvironment {
                    scope: environment.scope,
                    moves: environment.moves,
                    ambiguities: environment.ambiguities,
                    refused: environment.refused,
                })
                .collect(),
            history: RefactorHistory {
                environment: refactor.history.environment,
                common: refactor.history.common,
                pending: refactor.history.pending,
                elsewhere: history.elsewhere,
            },
            moves,
            groups: changes,
            events,
            taken_events: Vec::new(),
            undoes: None,
            deployment: None,
            is_deployed: declared.deploy.is_some(),
        };
        (self.moves.record(id, plane, content, caller), groups, puts)
    }
}

/// Returns the groups that are created, since something moves into them or is put there, and those that are emptied and removed.
/// `left` are the keys of the groups of everything that is deployed, `put` those of what is put.
fn group_changes(
    groups: &[FoundGroup],
    moves: &[RefactorMove],
    (left, put): (impl Iterator<Item = String>, impl Iterator<Item = String>),
    emptied: EmptiedGroups,
) -> GroupChanges {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for key in left {
        *counts.entry(key).or_default() += 1;
    }
    let (mut sources, mut targets) = (HashSet::new(), HashSet::new());
    for it in moves {
        let source = it.from.group.key();
        if let Some(count) = counts.get_mut(&source) {
            *count -= 1;
        }
        sources.insert(source);
        targets.insert(it.to.group.key());
    }
    targets.extend(put);
    let mut changes = GroupChanges::default();
    for group in groups {
        let key = group.id().key();
        match &group.recorded {
            None if targets.contains(&key) => {
                let new = &group.new;
                changes.create.push(RefactorGroup {
                    id: new.id.clone(),
                    location: new.location.clone(),
                    tags: new.tags.clone(),
                    body: new.body.clone(),
                });
            }
            Some(recorded)
                if emptied == EmptiedGroups::Remove
                    && sources.contains(&key)
                    && !targets.contains(&key)
                    && !group.is_declared
                    && counts.get(&key) == Some(&0) =>
            {
                changes.remove.push(RefactorGroup {
                    id: recorded.id.clone(),
                    location: recorded.location.clone(),
                    tags: recorded.tags.clone(),
                    body: recorded.body.clone(),
                });
            }
            None | Some(_) => {}
        }
    }
    changes
}

/// Returns the events that a refactor brings: those of its history that the groups have not had, and what it revokes, so that
/// theirs is the same; without a history, itself, if anything moves.
fn events(
    id: RefactorId,
    given: Option<&[Event]>,
    moves: &[RefactorMove],
    had: &History,
    compared: &ucp_refactor::History,
) -> Vec<RefactorEvent> {
    let Some(given) = given else {
        let event = Some(itself(id, moves)).filter(|event| !event.moves.is_empty());
        return event.into_iter().collect();
    };
    let common = given.len() - compared.pending.len();
    let History { events: had, .. } = had;
    let revoked = had.iter().skip(common).map(|event| RefactorEvent {
        moves: Vec::new(),
        revoked: true,
        id: event.id.clone(),
    });
    let pending = given.iter().skip(common).map(|event| RefactorEvent {
        id: event.id.clone(),
        moves: event
            .moves
            .iter()
            .map(|it| EventMove {
                from: it.from.clone(),
                to: it.to.clone(),
            })
            .collect(),
        revoked: false,
    });
    revoked.chain(pending).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str) -> RefactorEvent {
        RefactorEvent {
            id: id.to_owned(),
            moves: Vec::new(),
            revoked: false,
        }
    }

    /// Also where the two have parted.
    #[test]
    fn the_history_becomes_that_of_the_request() {
        let had = History::of(vec![event("a"), event("b")]);
        let given: Vec<Event> = ["a", "c"]
            .map(|id| Event {
                id: id.to_owned(),
                moves: Vec::new(),
            })
            .into();
        let compared = ucp_refactor::History {
            environment: had.ids(),
            common: Some("a".to_owned()),
            pending: vec!["c".to_owned()],
        };
        let id = format!("{:032x}", 1).parse().unwrap();
        let brought = events(id, Some(&given), &[], &had, &compared);
        let all = had.events.into_iter().chain(brought).collect();
        assert_eq!(History::of(all).ids(), ["a", "c"]);
    }
}
