//! Applies that carry out a plan.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::stream::{self, FuturesUnordered};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::Value;
use tokio::time::Instant;
use ucp_access::Right;
use ucp_look::{LiveBasis, PlanBasis, PlannedMember, stale};
use ucp_model::operation::group::{Application, ApplyMember, MemberGoal};
use ucp_model::{Detail, FaultClass, GroupId, PlanId, PlanUse, ReferenceId};
use ucp_set::{Declarations, DeclaredMember, Expression, Link, links, resolve, visit};

use super::judged::JudgedSet;
use super::obstacle::refused_elsewhere;
use super::outcome::ApplyOutcome;
use crate::changes::{ChangeMember, GroupChange, applied};
use crate::declaring::Purpose;
use crate::ground::sharing::Taken;
use crate::looks::looking::LOOKING_TIME;
use crate::looks::values::{LOOKS_AT_ONCE, Referents, referred_changed, value_of};
use crate::plans::plan_to_apply::{DeclaredPlan, PlanToApply, is_same_declaration};
use crate::{BeyondRate, Caller, DeclaredSet, Rejection, Room, SetCases};

/// The state that a member of a plan is in.
enum Now {
    /// What the store knows, and what AWS shows.
    Seen(PlanBasis),
    /// What the store knows. AWS did not show it in time, or one look does not prove it.
    Recorded(PlanBasis),
    /// Its schema is not known.
    Unknown,
}

impl SetCases {
    /// Carries out the plan of a set. What is declared, if anything, must be what was planned. A member whose state is not
    /// that of the plan any more refuses all; what is not read in time is left to the workers.
    pub(super) async fn apply_plan(
        &self,
        group: &GroupId,
        id: PlanId,
        set: Option<DeclaredSet>,
        caller: &Caller,
        admit: impl FnOnce(usize) -> Result<(), BeyondRate>,
    ) -> Result<ApplyOutcome, Rejection> {
        let deadline = Instant::now() + LOOKING_TIME;
        let plan = self.plans.plan_to_apply(id, caller).await?;
        let own = plan.plan.group.as_ref();
        if own.is_none_or(|own| own.key() != group.key()) {
            return Err(Rejection::plan_mismatch(
                "The plan is about another resource group, or about none.",
            ));
        }
        for member in &plan.members {
            let verb = match member.put {
                Some(_) => "write",
                None => "delete",
            };
            caller.judge_type(Right::Write, &member.scope, &member.type_name, verb)?;
        }
        plan.judge_use(None, self.ground.now())?;
        let (mut application, mut declarations) = declared(&plan)?;
        match set {
            Some(set) => {
                let judged = self.judged_set(group, set, caller, Purpose::Change).await?;
                self.judge_same_set(&judged, &application, &declarations)?;
                // It has what was not known when it was planned.
                let declared = || {
                    let members = judged.members.iter();
                    let members =
                        members.map(|member| self.changes.declared_member(member, &judged.group));
                    members.collect()
                };
                let pool = &self.ground.pool;
                declarations.members = pool.run_here(judged.is_quick, declared).await?;
                declarations.outputs = judged.outputs;
            }
            None => {
                refuse_unknown(&declarations)?;
                let listed = application.members.iter();
                let listed =
                    listed.filter(|member| !matches!(member.goal, MemberGoal::DeleteOwned(_)));
                let more = listed.count().saturating_sub(1);
                admit(more).map_err(Rejection::BeyondRate)?;
            }
        }
        let compared = match self.judge_state(&plan, deadline, &caller.room).await {
            Ok(compared) => compared,
            Err(refused) => {
                return Err(self.plans.refused_under(PlanUse::whole(id), refused).await);
            }
        };
        self.judge_policies(&plan).await?;
        let taken = plan.members.iter().filter_map(Taken::by).collect();
        let deleted = plan.members.iter().filter(|member| member.put.is_none());
        let going = deleted.filter_map(|member| Some(member.reference.as_ref()?.key()));
        self.ground
            .refuse_taken(taken, &going.collect(), caller)
            .await?;
        let members = application.members.iter_mut().zip(&plan.members);
        for ((member, planned), is_compared) in members.zip(compared) {
            // Otherwise a put writes what its reference is to remember, such as that it is adopted.
            member.is_unchanged = is_compared && !planned.may_change() && planned.is_remembered;
            member.is_compared = is_compared;
        }
        let stays = |member: &ApplyMember| member.is_unchanged && member.moved_from.is_none();
        let has_nothing_to_do = application.members.iter().all(stays);
        application.plan = Some(id);
        if has_nothing_to_do {
            let outputs = Value::Object(declarations.outputs.clone());
            let seen = self
                .looks
                .referred(&outputs, deadline, &caller.room)
                .await?;
            if let Ok(told) = resolve(&outputs, |link| value_of(&seen, link)) {
                return Ok(ApplyOutcome::unchanged(group.clone(), application, told));
            }
        }
        let more = plan
            .members
            .iter()
            .filter(|member| member.put.is_some() && member.basis.mapping.is_none());
        let scopes = plan.members.iter().map(|member| &member.scope);
        self.changes
            .admit_members(scopes, [(group, more.count())], caller)
            .await?;
        let change = GroupChange {
            application,
            declarations,
        };
        self.accept_apply(group, change, caller).await
    }

    /// Refuses a plan whose changes the policy of another group does not take.
    async fn judge_policies(&self, plan: &PlanToApply) -> Result<(), Rejection> {
        let judged = plan.members.iter().map(|member| async move {
            let refused = self.resources.unapprovable(Some(member)).await?;
            Ok::<_, Rejection>(refused.map(|failure| Detail {
                code: failure.code,
                message: failure.message,
                target: member.reference.as_ref().map(ToString::to_string),
            }))
        });
        // The futures are made before the first is awaited.
        let judged: Vec<_> = judged.collect();
        let refused: Vec<Option<Detail>> = stream::iter(judged)
            .buffered(LOOKS_AT_ONCE)
            .try_collect()
            .await?;
        refused_elsewhere(refused.into_iter().flatten().collect())
    }

    /// Compares a plan with what is there now. Returns which of its members could be compared in whole.
    async fn judge_state(
        &self,
        plan: &PlanToApply,
        deadline: Instant,
        room: &Room,
    ) -> Result<Vec<bool>, Rejection> {
        let compared = self.judge_members(plan, deadline).await?;
        self.judge_referred(plan, deadline, room).await?;
        Ok(compared)
    }

    /// Compares the members of a plan with what is there now. Returns which of them could be compared in whole: AWS has shown
    /// them in time.
    async fn judge_members(
        &self,
        plan: &PlanToApply,
        deadline: Instant,
    ) -> Result<Vec<bool>, Rejection> {
        let mut left = plan.members.iter().enumerate();
        let mut looks = FuturesUnordered::new();
        let mut compared = vec![false; plan.members.len()];
        let mut details: Vec<(usize, Vec<Detail>)> = Vec::new();
        loop {
            while looks.len() < LOOKS_AT_ONCE
                && let Some((index, member)) = left.next()
            {
                looks.push(async move { (index, self.basis_now(member, deadline).await) });
            }
            let Some((index, now)) = looks.next().await else {
                break;
            };
            let member = &plan.members[index];
            let (now, is_seen) = match now? {
                Now::Seen(now) => (now, true),
                Now::Recorded(now) => (now, false),
                Now::Unknown => continue,
            };
            match member.judge_basis(&now) {
                Ok(()) => compared[index] = is_seen,
                Err(failure) => details.push((index, failure.details)),
            }
        }
        if details.is_empty() {
            return Ok(compared);
        }
        details.sort_by_key(|(index, _)| *index);
        let details = details.into_iter().flat_map(|(index, details)| {
            let name = plan.members[index].reference.as_ref();
            details.into_iter().map(move |detail| of(name, detail))
        });
        Err(Rejection::PreconditionFailed(stale(details.collect())))
    }

    /// Compares what the members of a plan refer to outside of the set with what is there now. What is not read in time is not
    /// compared; it is sent as it was planned.
    async fn judge_referred(
        &self,
        plan: &PlanToApply,
        deadline: Instant,
        room: &Room,
    ) -> Result<(), Rejection> {
        let declared = plan.declared()?;
        let of_set = plan.members.iter().filter_map(|it| it.reference.as_ref());
        let of_set: BTreeSet<String> = of_set.map(ReferenceId::key).collect();
        let members = declared.declarations.members.iter().enumerate();
        let referring = members.filter_map(|(index, member)| {
            let properties = Value::Object(member.as_ref()?.properties.clone());
            let mut links = links(&properties).into_iter();
            let is_outside = |link: Link| !of_set.contains(&link.reference.key());
            links.any(is_outside).then_some((index, properties))
        });
        let referring: Vec<(usize, Value)> = referring.collect();
        let all = referring.iter().map(|(_, properties)| properties);
        let outside = Referents::of(all, &of_set);
        let seen = self.looks.seen_outside(outside, deadline, room).await?;
        let mut details = Vec::new();
        for (index, properties) in &referring {
            if let Some(place) = plan.first_changed(properties, &seen)? {
                let detail = referred_changed(&place);
                details.push(of(plan.members[*index].reference.as_ref(), detail));
            }
        }
        if details.is_empty() {
            Ok(())
        } else {
            Err(Rejection::PreconditionFailed(stale(details)))
        }
    }

    /// Returns the state that a member is in now.
    async fn basis_now(&self, member: &PlannedMember, deadline: Instant) -> Result<Now, Rejection> {
        let reference = match member.moved_from.as_ref().or(member.reference.as_ref()) {
            Some(id) => self.ground.store.get_reference(id).await?,
            None => None,
        };
        let schema = self
            .types
            .recorded_schema(&member.scope, &member.type_name)
            .await;
        let Ok(schema) = schema else {
            return Ok(Now::Unknown);
        };
        let of = |live| PlanBasis::of(reference.as_ref(), schema.fingerprint(), live);
        let recorded = reference.as_ref().and_then(|it| it.identifier.as_ref());
        let Some(identifier) = recorded.or(member.identifier.as_ref()) else {
            return Ok(Now::Seen(of(LiveBasis::Absent)));
        };
        if !schema.handlers().read {
            return Ok(Now::Seen(of(LiveBasis::Unreadable)));
        }
        let live = Arc::clone(&self.looks.live);
        let read = live.read(&member.scope, schema.type_name(), identifier);
        Ok(match tokio::time::timeout_at(deadline, read).await {
            Ok(Ok(found)) => {
                let settled = ucp_plan::settled(&found.properties, &schema);
                Now::Seen(of(LiveBasis::Model(settled)))
            }
            Ok(Err(fault)) if fault.class == FaultClass::Missing && recorded.is_none() => {
                Now::Seen(of(LiveBasis::Absent))
            }
            // One "not found" does not prove that it is gone.
            Ok(Err(_)) | Err(_) => Now::Recorded(of(member.basis.live.clone())),
        })
    }

    /// Refuses a set that is not the one that was planned.
    fn judge_same_set(
        &self,
        judged: &JudgedSet,
        application: &Application,
        declarations: &Declarations,
    ) -> Result<(), Rejection> {
        let planned = application.members.iter().zip(&declarations.members);
        let is_same = |(given, (planned, declared)): (
            &ChangeMember,
            (&ApplyMember, &Option<DeclaredMember>),
        )| {
            let mut given_member = applied(given, false);
            // What moves is compared with the state that it was planned for.
            given_member.moved_from.clone_from(&planned.moved_from);
            // Plans of earlier versions do not say it.
            given_member.is_declared = planned.is_declared;
            let given_declared = self.changes.declared_member(given, &judged.group);
            let is_declared = match (declared, given_declared) {
                (None, None) => true,
                (Some(declared), Some(given)) => is_same_member(declared, &given),
                (None, Some(_)) | (Some(_), None) => false,
            };
            is_declared && given_member == *planned
        };
        let outputs = [&declarations.outputs, &judged.outputs].map(|it| Value::Object(it.clone()));
        let is_same = judged.members.len() == application.members.len()
            && judged.members.iter().zip(planned).all(is_same)
            && is_same_declaration(&outputs[0], &outputs[1]);
        if is_same {
            Ok(())
        } else {
            Err(Rejection::plan_mismatch(
                "The set is not the one that was planned. Nothing was stored or sent. Leave resources out, or ask for a new plan.",
            ))
        }
    }
}

/// Refuses declarations with values that were not known when they were planned.
fn refuse_unknown(declarations: &Declarations) -> Result<(), Rejection> {
    let members = declarations.members.iter().flatten();
    let mut values = members
        .map(|member| &member.properties)
        .chain([&declarations.outputs]);
    let has_unknown = |values: &serde_json::Map<String, Value>| {
        let mut has_unknown = false;
        for value in values.values() {
            visit(value, |_, read| {
                has_unknown |= read == Ok(Expression::Unknown);
            });
        }
        has_unknown
    };
    if values.any(has_unknown) {
        Err(Rejection::plan_mismatch(
            "Some values were not known when the set was planned. Nothing was stored or sent. Send the set with them, and the id of the plan.",
        ))
    } else {
        Ok(())
    }
}

/// Compares declarations whose references are linked, so that they are the same if their places are.
fn is_same_member(planned: &DeclaredMember, given: &DeclaredMember) -> bool {
    let [one, other] = [planned, given].map(|it| Value::Object(it.properties.clone()));
    planned.default_tags == given.default_tags && is_same_declaration(&one, &other)
}

/// Names the resource of a detail.
fn of(reference: Option<&ReferenceId>, detail: Detail) -> Detail {
    let Some(reference) = reference else {
        return detail;
    };
    Detail {
        message: format!("{}: {}", reference.alias, detail.message),
        ..detail
    }
}

/// Returns the set that was planned.
fn declared(plan: &PlanToApply) -> Result<(Application, Declarations), Rejection> {
    match plan.declared()?.clone() {
        DeclaredPlan {
            application: Some(application),
            declarations,
            resolved: _,
        } => Ok((application, declarations)),
        DeclaredPlan {
            application: None, ..
        } => Err(Rejection::plan_mismatch(
            "The plan is one of a single resource. Carry it out with a put of that.",
        )),
    }
}
