//! Import of many resources: one child and one outcome for each.

use std::collections::{BTreeMap, BTreeSet};

use super::super::record::Operation;
use super::decision::{Decision, Finish, Next};
use super::step::{BUSY_RETRY, CHILDREN_AT_ONCE, cancelled, wait};
use super::survey::{Child, ChildGoal, Refusal, Survey};
use super::task::{ImportItem, ImportOutcome};
use super::work::GroupWork;
use crate::{Ended, Reason, Timestamp, Warning};

/// Decides the next step of an import.
pub(super) fn decide(
    operation: &GroupWork,
    is_cancel_requested: bool,
    items: &[ImportItem],
    survey: &Survey,
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
        .filter_map(|child| Some((child.work.reference()?.key(), child)))
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
            (Some(child), _) => match child.ended() {
                Some(ended) => outcome(ended, child.work.warnings()),
                None => {
                    running += 1;
                    continue;
                }
            },
            (None, _) if tracked.contains(&key) => ImportOutcome::AlreadyTracked,
            (None, Some(Refusal::Busy)) => {
                later += 1;
                continue;
            }
            (None, Some(Refusal::Later(failure) | Refusal::Lasting(failure))) => {
                ImportOutcome::Failed(failure.clone())
            }
            (None, None) => {
                start.push(item);
                continue;
            }
        };
        outcomes.insert(index, outcome);
    }
    if is_cancel_requested && start.len() + later > 0 {
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
        next: Next::Finish(Box::new(Finish {
            done: u32::try_from(outcomes.len()).unwrap_or(u32::MAX),
            outcomes,
            ..Finish::of_end(Ended::Succeeded)
        })),
        reason: "every item has its outcome",
    }
}

/// The outcome of an item whose child ended so.
fn outcome(ended: &Ended, warnings: &[Warning]) -> ImportOutcome {
    match ended {
        Ended::Succeeded if warnings.is_empty() => ImportOutcome::Imported,
        Ended::Succeeded => ImportOutcome::ImportedWithWarnings(warnings.to_vec()),
        Ended::Failed(failure) if failure.reason() == Reason::NotFound => ImportOutcome::Missing,
        Ended::Failed(failure) | Ended::Canceled(failure) => ImportOutcome::Failed(failure.clone()),
    }
}

fn child(item: &ImportItem) -> Child {
    Child {
        reference: item.reference.clone(),
        scope: item.scope.clone(),
        goal: ChildGoal::Import {
            identifier: item.identifier.clone(),
            take_ownership: item.owned,
        },
    }
}
