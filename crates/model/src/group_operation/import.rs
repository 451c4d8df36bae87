//! Importing many resources: one child for each, and what became of them one by one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::decide::{BUSY_RETRY, Child, Decision, Ending, Next, Refusal, Survey, cancelled, wait};
use super::{CHILDREN_AT_ONCE, GroupOperation, Progress};
use crate::operation::Kind;
use crate::{Failure, Identifier, Operation, ReferenceId, Scope, State, Timestamp};

/// One resource to import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportItem {
    /// Under which alias.
    pub reference: ReferenceId,
    /// Where it lives.
    pub scope: Scope,
    /// AWS's name for it.
    pub identifier: Identifier,
    /// Whether the reference is to own it.
    pub owned: bool,
}

/// What became of an [`ImportItem`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ImportOutcome {
    /// The alias maps it now.
    Imported,
    /// AWS does not have it.
    Missing,
    /// The alias was mapped before.
    AlreadyTracked,
    /// AWS refuses the read, or something stands in the way.
    Failed(Failure),
}

/// The next step of an import.
pub(super) fn decide(
    operation: &GroupOperation,
    items: &[ImportItem],
    survey: Survey<'_>,
    now: Timestamp,
) -> Decision {
    let tracked: BTreeSet<String> = survey
        .references
        .iter()
        .map(|reference| reference.id.key())
        .collect();
    let children: BTreeMap<String, &Operation> = survey
        .children
        .iter()
        .filter_map(|child| Some((child.reference.as_ref()?.key(), child)))
        .collect();
    let mut outcomes = operation.outcomes.clone();
    let mut start = Vec::new();
    let mut running = 0;
    let mut later = 0;
    for (index, item) in items.iter().enumerate() {
        let key = item.reference.key();
        if outcomes.contains_key(&index) {
            continue;
        }
        let outcome = match (children.get(&key), survey.refused.get(&key)) {
            (Some(child), _) => match &child.state {
                State::Succeeded => ImportOutcome::Imported,
                State::Failed(failure) if failure.code == "NotFound" => ImportOutcome::Missing,
                State::Failed(failure) | State::Canceled(failure) => {
                    ImportOutcome::Failed(failure.clone())
                }
                State::Accepted
                | State::Submitting(_)
                | State::Waiting(..)
                | State::Observing(_)
                | State::Salvaging(..)
                | State::Adopting(_) => {
                    running += 1;
                    continue;
                }
            },
            (None, _) if tracked.contains(&key) => ImportOutcome::AlreadyTracked,
            (None, Some(Refusal::Busy)) => {
                later += 1;
                continue;
            }
            (None, Some(Refusal::Lasting(failure))) => ImportOutcome::Failed(failure.clone()),
            (None, None) => {
                start.push(item);
                continue;
            }
        };
        outcomes.insert(index, outcome);
    }
    if operation.cancel_requested_at.is_some() && start.len() + later > 0 {
        return match running {
            0 => cancelled(operation, outcomes.len(), outcomes),
            _ => Decision {
                next: wait(outcomes.len(), outcomes, None, now),
                reason: "cancelled, but imports are under way",
            },
        };
    }
    let room = CHILDREN_AT_ONCE.saturating_sub(running);
    let is_over = start.is_empty() && running + later == 0;
    let start: Vec<Child> = start.into_iter().take(room).map(child).collect();
    if !start.is_empty() {
        return Decision {
            next: Next::Start(start),
            reason: "there is room for more",
        };
    }
    if !is_over {
        return Decision {
            next: wait(
                outcomes.len(),
                outcomes,
                (later > 0).then(|| now.after(BUSY_RETRY)),
                now,
            ),
            reason: "imports are under way",
        };
    }
    Decision {
        next: Next::End(Ending {
            progress: Progress::Succeeded,
            done: u32::try_from(outcomes.len()).unwrap_or(u32::MAX),
            outcomes,
        }),
        reason: "every item has its outcome",
    }
}

fn child(item: &ImportItem) -> Child {
    Child {
        kind: Kind::Import,
        reference: item.reference.clone(),
        scope: item.scope.clone(),
        identifier: Some(item.identifier.clone()),
        take_ownership: item.owned,
    }
}
