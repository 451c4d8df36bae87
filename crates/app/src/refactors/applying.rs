//! Moves, there and back again.

use std::collections::{BTreeSet, HashMap, HashSet};

use ucp_access::Right;
use ucp_model::{
    Detail, ErrorCode, Failure, GroupId, PlaneId, Refactor, RefactorContent, RefactorHistory,
    RefactorId, RefactorMove, RefactorStatus, ReferenceId,
};
use ucp_refactor::Base;
use ucp_store::{ApplyRefactor, Error, NewOperation};

use super::records::{RECORD_MAX_BYTES, no_such_refactor, told_by};
use super::{DeclaredRefactor, RefactorMode, Refactored};
use crate::ground::refusal::policy_lowered;
use crate::moves::in_words;
use crate::{Caller, RefactorCases, Rejection};

const ACTION: &str = "System.Resources/resourceGroups/refactor/action";
/// The maximum number of plans that are kept of a caller, and that nobody has applied.
pub(crate) const PLANS_MAX: usize = 50;
/// What as many of them as are kept would have, if each were as large as the latest one, in bytes.
pub(crate) const PLANS_MAX_BYTES: usize = 64 << 20;
/// How many addresses a message names.
const SHOWN: usize = 10;

/// What is to move.
struct Moving {
    record: Refactor,
    /// Whether it was planned before.
    is_planned: bool,
    /// The ids of the events that its groups had had when it was judged.
    history: Vec<String>,
    /// What puts what changes.
    deploy: Option<NewOperation>,
}

impl RefactorCases {
    /// Tells what moves where, and keeps that; or moves it, all at once, and nothing is sent to AWS.
    pub async fn refactor(
        &self,
        plane: &str,
        mut declared: DeclaredRefactor,
        caller: &Caller,
    ) -> Result<Refactored, Rejection> {
        let found = self.found(&mut declared, caller).await?;
        let history = found.history.brought.clone();
        let (mut planned, groups, puts) = self.planned(plane, &declared, found, caller);
        let is_plane = matches!(declared.base, Base::Plane(_));
        let existing = groups.iter().flat_map(|group| &group.recorded);
        let existing: BTreeSet<String> = existing.map(|group| group.id.key()).collect();
        let puts = self.judged_puts(puts, &groups, is_plane, caller).await?;
        judge_fingerprint(&planned, declared.fingerprint.as_deref())?;
        match declared.mode {
            RefactorMode::Plan => {
                let most = plans_beside(told_by(&planned.content));
                let kept = self.ground.store.keep_refactor(planned.clone(), most);
                kept.await?;
                Ok(Refactored {
                    record: caller.shown(planned),
                    deployment: None,
                })
            }
            RefactorMode::Apply => {
                refuse_what_is_refused(&planned.content)?;
                let deploy = match declared.deploy {
                    Some(on_failure) => {
                        let refactor = (planned.id, &planned.content);
                        self.new_deployment(refactor, puts, &existing, on_failure, caller)
                            .await?
                    }
                    None => None,
                };
                planned.content.deployment = deploy.as_ref().map(|deploy| deploy.id);
                let moving = Moving {
                    record: planned,
                    is_planned: false,
                    history,
                    deploy,
                };
                self.move_all(moving, caller).await
            }
        }
    }

    /// Applies a refactor that was planned.
    pub async fn apply_refactor(
        &self,
        plane: &str,
        id: RefactorId,
        fingerprint: Option<&str>,
        caller: &Caller,
    ) -> Result<Refactor, Rejection> {
        let mut planned = self.refactor_to_change(plane, id, caller).await?;
        refuse_status(planned.status, RefactorStatus::Planned)?;
        judge_fingerprint(&planned, fingerprint)?;
        // Nothing is put, so no group is made for that.
        let RefactorContent { moves, groups, .. } = &mut planned.content;
        let targets: HashSet<String> = moves.iter().map(|it| it.to.group.key()).collect();
        groups
            .create
            .retain(|group| targets.contains(&group.id.key()));
        let history = self.moves.history(&planned.content.named).await?;
        if history.ids() != planned.content.history.environment {
            let message =
                "The groups have had another refactor since this one was planned. Plan it again.";
            return Err(precondition_failed(message));
        }
        let moving = Moving {
            record: planned,
            is_planned: true,
            history: history.brought,
            deploy: None,
        };
        Ok(self.move_all(moving, caller).await?.record)
    }

    /// Takes a refactor back that was applied. Returns the record of that, which can be taken back too.
    pub async fn undo_refactor(
        &self,
        plane: &str,
        id: RefactorId,
        fingerprint: Option<&str>,
        caller: &Caller,
    ) -> Result<Refactor, Rejection> {
        let applied = self.refactor_to_change(plane, id, caller).await?;
        refuse_status(applied.status, RefactorStatus::Applied)?;
        judge_fingerprint(&applied, fingerprint)?;
        let history = self.moves.history(&applied.content.named).await?;
        let content = RefactorContent {
            history: RefactorHistory {
                environment: history.ids(),
                elsewhere: history.elsewhere,
                ..RefactorHistory::default()
            },
            ..applied.inverse()
        };
        let id = RefactorId(self.ground.entropy.uuid("refactor"));
        let undo = self.moves.record(id, &applied.plane, content, caller);
        let moving = Moving {
            record: undo,
            is_planned: false,
            history: history.brought,
            deploy: None,
        };
        Ok(self.move_all(moving, caller).await?.record)
    }

    /// Returns a record whose groups the caller may change.
    async fn refactor_to_change(
        &self,
        plane: &str,
        id: RefactorId,
        caller: &Caller,
    ) -> Result<Refactor, Rejection> {
        caller.room.before_read(RECORD_MAX_BYTES).await?;
        let record = self.recorded_refactor(plane, id, caller).await?;
        for group in &record.content.named {
            caller.judge_group(Right::Write, group, ACTION)?;
        }
        Ok(record)
    }

    /// Moves what a record says, in one transaction.
    async fn move_all(&self, moving: Moving, caller: &Caller) -> Result<Refactored, Rejection> {
        let Moving {
            record: planned,
            is_planned,
            history,
            deploy,
        } = moving;
        let content = &planned.content;
        refuse_what_is_refused(content)?;
        for it in &content.moves {
            let type_name = &it.from.type_name;
            caller.judge_type(Right::Write, &it.scope, type_name, "move/action")?;
        }
        self.moves.judge_instances(&content.moves).await?;
        self.admit_moves(content).await?;
        let mut named = content.named.iter();
        let keeps_plan_policy = !named.all(|group| caller.may_lower_policy(group));
        let record = Refactor {
            status: RefactorStatus::Applied,
            changed_at: self.ground.now(),
            ..planned
        };
        let id = record.id;
        let groups = record.content.named.clone();
        let applied = self.ground.store.apply_refactor(ApplyRefactor {
            record,
            is_planned,
            keeps_plan_policy,
            history: Some(history),
            deploy,
            taken_back_by: None,
            caller: caller.name.clone(),
            correlation_id: caller.correlation_id.clone(),
        });
        let applied = match applied.await {
            Ok(applied) => applied,
            Err(error) => return Err(self.not_moved(error, id, &groups, caller).await),
        };
        tracing::info!(
            refactor.id = %id,
            moves = applied.content.moves.len(),
            "resources have other addresses"
        );
        let deployment = match applied.content.deployment {
            Some(id) => {
                let operation = self.operations.operation(id).await?;
                if let Some(group) = operation.work.group_id() {
                    self.operations.group_operation_accepted(&operation, group);
                }
                Some(operation)
            }
            None => None,
        };
        Ok(Refactored {
            record: caller.shown(applied),
            deployment,
        })
    }

    /// Refuses more groups, or more references in a group, than the quotas allow.
    async fn admit_moves(&self, content: &RefactorContent) -> Result<(), Rejection> {
        let mut planes: HashMap<String, (PlaneId, usize)> = HashMap::new();
        for group in &content.groups.create {
            let plane = group.id.plane_id();
            planes.entry(plane.key()).or_insert((plane, 0)).1 += 1;
        }
        for (plane, more) in planes.into_values() {
            self.allowances.admit_groups(&plane, more).await?;
        }
        let mut more: HashMap<String, (&GroupId, isize)> = HashMap::new();
        for RefactorMove { from, to, .. } in &content.moves {
            more.entry(to.group.key()).or_insert((&to.group, 0)).1 += 1;
            more.entry(from.group.key()).or_insert((&from.group, 0)).1 -= 1;
        }
        for (group, more) in more.into_values() {
            if let Ok(more @ 1..) = usize::try_from(more) {
                self.allowances.admit_references(group, more).await?;
            }
        }
        Ok(())
    }

    async fn not_moved(
        &self,
        error: Error,
        id: RefactorId,
        groups: &[GroupId],
        caller: &Caller,
    ) -> Rejection {
        match error {
            Error::NoSuchRefactor => no_such_refactor(id, caller),
            Error::RefactorStatus(status) => wrong_status(status),
            Error::GroupDeleting(running) | Error::Busy(running) => {
                self.ground.busy(running).await.shown_to(caller)
            }
            Error::PreconditionFailed | Error::NoSuchGroup => precondition_failed(
                "What moves, or a group, is not as it was. Nothing has moved. Plan again.",
            ),
            error @ (Error::PlanRequired | Error::ApprovalRequired) => {
                let code = match error {
                    Error::PlanRequired => ErrorCode::PlanRequired,
                    _ => ErrorCode::ApprovalRequired,
                };
                let message = "A group where something is put takes only changes that were planned, and a deployment has no plan. Nothing has moved. Refactor without deploy, and apply the changes under a plan.";
                Rejection::Conflict(Failure::new(code, message))
            }
            Error::OutcomeUnknown => {
                let message = "Something that moves may not exist: the outcome of its create is unknown. Nothing has moved. Let that be decided first: see its group's leftovers.";
                Rejection::Conflict(Failure::new(ErrorCode::Conflict, message))
            }
            Error::PolicyLowered => {
                let mut protected = groups
                    .iter()
                    .filter(|group| !caller.may_lower_policy(group));
                match protected.next() {
                    Some(group) => policy_lowered(group, caller),
                    None => precondition_failed("What you may do has changed. Send it again."),
                }
            }
            other => other.into(),
        }
    }
}

/// Refuses moves that are ambiguous or cannot be.
fn refuse_what_is_refused(content: &RefactorContent) -> Result<(), Rejection> {
    let pair = |from: &[ReferenceId], to: &[ReferenceId]| {
        let list = |ids: &[ReferenceId]| match ids {
            [] => "nothing".to_owned(),
            ids => {
                let mut words: Vec<String> = ids.iter().take(SHOWN).map(in_words).collect();
                if ids.len() > SHOWN {
                    words.push(format!("{} more", ids.len() - SHOWN));
                }
                words.join(", ")
            }
        };
        format!("{} → {}", list(from), list(to))
    };
    let target = |from: &[ReferenceId], to: &[ReferenceId]| {
        from.first().or_else(|| to.first()).map(ToString::to_string)
    };
    if !content.refused.is_empty() {
        let details = content.refused.iter().map(|it| Detail {
            code: it.code.clone(),
            message: format!("{}: {}", pair(&it.from, &it.to), it.message),
            target: target(&it.from, &it.to),
        });
        let message = "Some moves cannot be. Nothing has moved. Correct what the details name.";
        let failure = Failure::new(ErrorCode::RefactorRefused, message);
        return Err(Rejection::Conflict(failure.with_details(details.collect())));
    }
    if !content.ambiguities.is_empty() && !content.leaves_ambiguities {
        let details = content.ambiguities.iter().map(|it| Detail {
            code: it.reason.clone(),
            message: format!("{}: nothing tells which is which.", pair(&it.from, &it.to)),
            target: target(&it.from, &it.to),
        });
        let message = "Nothing tells where some resources are to move. Nothing has moved. Say it in `moves`, take them out with `exclude`, or leave them with onAmbiguity 'leave'.";
        let failure = Failure::new(ErrorCode::RefactorAmbiguous, message);
        return Err(Rejection::Conflict(failure.with_details(details.collect())));
    }
    Ok(())
}

fn judge_fingerprint(record: &Refactor, seen: Option<&str>) -> Result<(), Rejection> {
    match seen {
        Some(seen) if seen != record.fingerprint => Err(precondition_failed(
            "The refactor has another fingerprint than the request: other moves, groups or revisions of what moves. Plan it again, and send the fingerprint of what you have seen.",
        )),
        Some(_) | None => Ok(()),
    }
}

fn refuse_status(status: RefactorStatus, expected: RefactorStatus) -> Result<(), Rejection> {
    if status == expected {
        Ok(())
    } else {
        Err(wrong_status(status))
    }
}

fn wrong_status(status: RefactorStatus) -> Rejection {
    let message = match status {
        RefactorStatus::Planned => "The refactor was not applied, so there is nothing to undo.",
        RefactorStatus::Applied => "The refactor is applied already. Undo it, or plan another one.",
        RefactorStatus::Undone => "The refactor was undone. Plan another one.",
    };
    Rejection::Conflict(Failure::new(ErrorCode::Conflict, message))
}

fn precondition_failed(message: &str) -> Rejection {
    Rejection::PreconditionFailed(Failure::new(ErrorCode::PreconditionFailed, message))
}

/// Returns how many plans of a caller stay when one of so many bytes is kept, with that.
fn plans_beside(bytes: usize) -> usize {
    (PLANS_MAX_BYTES / bytes.max(1)).clamp(1, PLANS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_a_plan_is_the_fewer_are_kept() {
        assert_eq!(plans_beside(2_000), PLANS_MAX);
        assert_eq!(plans_beside(16 << 20), 4);
        assert_eq!(plans_beside(65 << 20), 1);
    }
}
