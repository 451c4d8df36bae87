//! What a plan was made for, and whether that is still so.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use ucp_model::operation::{Options, PlanOutcome, Presence, ResourceWork, State};
use ucp_model::{
    Baseline, Detail, ErrorCode, Failure, Identifier, Reference, ReferenceId, Scope, TypeName, json,
};
use ucp_plan::{Action, Plan, first_difference, is_as_planned, settled};
use ucp_schema::ResourceSchema;

use crate::Planned;

/// What is kept of a plan beside what was declared for it. `C` is what it shows of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanContent<C> {
    /// Its members. If a set was planned, an operation that applies it has the same.
    pub members: Vec<PlannedMember>,
    /// What it shows.
    pub changes: Vec<C>,
}

/// What is planned for a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedMember {
    /// Its account and region.
    pub scope: Scope,
    /// Its type.
    pub type_name: TypeName,
    /// Its reference, if it has one.
    #[serde(default)]
    pub reference: Option<ReferenceId>,
    /// The name in the URL of the request, if it had one.
    #[serde(default)]
    pub name: Option<String>,
    /// The identifier that was looked at, if it was known.
    #[serde(default)]
    pub identifier: Option<Identifier>,
    /// The options of its put; `None` for a delete.
    #[serde(default)]
    pub put: Option<Options>,
    /// What is done.
    pub step: PlannedStep,
    /// What it was planned for.
    pub basis: PlanBasis,
    /// The model that is planned, settled.
    #[serde(default)]
    pub planned: Option<Value>,
}

/// What is done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlannedStep {
    /// Nothing.
    Nothing,
    /// It is created.
    Create,
    /// It is updated.
    Update,
    /// It is replaced.
    Replace,
    /// It is deleted.
    Delete,
}

/// The state that a plan is made for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanBasis {
    /// What the alias stands for; `None` for a new one.
    pub mapping: Option<Mapping>,
    /// A digest of what was last applied under it, if anything was.
    pub last_applied: Option<String>,
    /// The fingerprint of the schema.
    pub schema: String,
    /// What AWS shows.
    pub live: LiveBasis,
}

/// What an alias stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mapping {
    /// The identifier of its resource, once known.
    pub identifier: Option<Identifier>,
    /// Whether it owns that.
    pub owned: bool,
}

/// What AWS shows of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LiveBasis {
    /// There is none.
    Absent,
    /// This, settled.
    Model(Value),
    /// Its type has no read handler.
    Unreadable,
    /// It could not be read, which does not keep anybody from deleting it.
    Unread,
}

impl PlannedStep {
    /// Returns what a plan of a put does. `None` if it cannot be done.
    pub fn of(action: Action) -> Option<Self> {
        match action {
            Action::Create => Some(PlannedStep::Create),
            Action::Update => Some(PlannedStep::Update),
            Action::Replace => Some(PlannedStep::Replace),
            Action::Noop => Some(PlannedStep::Nothing),
            Action::Error => None,
        }
    }
}

impl LiveBasis {
    /// Returns what a look has found. `None` if that is not known.
    pub fn of(presence: &Presence, schema: &ResourceSchema) -> Option<Self> {
        match presence {
            Presence::Absent => Some(LiveBasis::Absent),
            Presence::Present { live, .. } => Some(LiveBasis::Model(settled(live, schema))),
            Presence::Unreadable(_) => Some(LiveBasis::Unreadable),
            Presence::Unknown(_) => None,
        }
    }
}

impl PlanBasis {
    /// Returns the basis of a plan that a request makes.
    pub fn of(reference: Option<&Reference>, schema: &str, live: LiveBasis) -> Self {
        let baseline = reference.and_then(|reference| reference.baseline.as_ref());
        Self {
            mapping: reference.map(|reference| Mapping {
                identifier: reference.identifier.clone(),
                owned: reference.owned,
            }),
            last_applied: baseline.map(digest),
            schema: schema.to_owned(),
            live,
        }
    }

    /// Returns what is different now, as details of a failure, in the order in which it is checked.
    pub fn differences(&self, now: &Self) -> Vec<Detail> {
        let mut details = Vec::new();
        let mut tell = |code: &str, message: &str, target: Option<String>| {
            details.push(Detail {
                code: code.to_owned(),
                message: message.to_owned(),
                target,
            });
        };
        if self.mapping != now.mapping {
            let message = "The alias stands for something else than when it was planned.";
            tell("MappingChanged", message, None);
        }
        if self.last_applied != now.last_applied {
            let message = "Something else was put under the alias since it was planned.";
            tell("LastAppliedChanged", message, None);
        }
        if self.schema != now.schema {
            let message = "The schema of the type has changed since it was planned.";
            tell("SchemaChanged", message, None);
        }
        let changed = match (&self.live, &now.live) {
            (LiveBasis::Model(before), LiveBasis::Model(now)) => first_difference(before, now)
                .map(|place| ("AWS shows another value than when it was planned.", place)),
            (LiveBasis::Unread, _) => None,
            (before, now) if before == now => None,
            (_, LiveBasis::Absent) => Some(("AWS does not show it any more.", String::new())),
            (LiveBasis::Absent, _) => Some((
                "It exists by now, and did not when it was planned.",
                String::new(),
            )),
            _ => Some(("It can be read now, or no longer.", String::new())),
        };
        if let Some((message, place)) = changed {
            let target = format!("/properties{place}");
            tell("LiveStateChanged", message, Some(target));
        }
        details
    }
}

fn digest(baseline: &Baseline) -> String {
    let value = serde_json::to_value(baseline).unwrap_or_default();
    hex::encode(Sha256::digest(json::canonical(&value)))
}

/// Returns the failure of what a plan was not made for.
pub fn stale(details: Vec<Detail>) -> Failure {
    let message = "The plan was made for another state. Nothing was sent. Ask for a new plan, and look at what it shows.";
    Failure::new(ErrorCode::StalePlan, message).with_details(details)
}

impl PlannedMember {
    /// Reads a member from the text of a [`PlanContent`]; the first one by default.
    pub fn read(content: &[u8], member: Option<usize>) -> Option<Self> {
        let content: PlanContent<IgnoredAny> = serde_json::from_slice(content).ok()?;
        let mut members = content.members.into_iter();
        members.nth(member.unwrap_or_default())
    }

    /// Refuses a look of a request that finds another state than the one that was planned for, or another change to make.
    pub fn judge(
        &self,
        reference: Option<&Reference>,
        schema: &ResourceSchema,
        presence: &Presence,
        plan: Option<&Plan>,
    ) -> Result<(), Failure> {
        let Some(live) = LiveBasis::of(presence, schema) else {
            return Ok(());
        };
        let now = PlanBasis::of(reference, schema.fingerprint(), live);
        let step = plan.and_then(|plan| PlannedStep::of(plan.action));
        self.judge_basis(&now)?;
        match (step, plan) {
            (Some(step), Some(plan)) => self.judge_step(step, Some(plan), schema),
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// Refuses a state that is another one, as far as the store knows it. What AWS shows is not judged.
    pub fn judge_recorded(
        &self,
        reference: Option<&Reference>,
        schema: &ResourceSchema,
    ) -> Result<(), Failure> {
        let live = self.basis.live.clone();
        self.judge_basis(&PlanBasis::of(reference, schema.fingerprint(), live))
    }

    /// Refuses a basis that is another one.
    pub fn judge_basis(&self, now: &PlanBasis) -> Result<(), Failure> {
        let details = self.basis.differences(now);
        match details.is_empty() {
            true => Ok(()),
            false => Err(stale(self.placed(details))),
        }
    }

    /// Names the resource in details that do not say where they are.
    fn placed(&self, details: Vec<Detail>) -> Vec<Detail> {
        let name = self.reference.as_ref().map(ToString::to_string);
        let details = details.into_iter();
        details
            .map(|detail| Detail {
                target: detail.target.or_else(|| name.clone()),
                ..detail
            })
            .collect()
    }

    fn judge_step(
        &self,
        step: PlannedStep,
        plan: Option<&Plan>,
        schema: &ResourceSchema,
    ) -> Result<(), Failure> {
        let is_planned = match (step, plan) {
            (PlannedStep::Nothing, _) => true,
            (step, None) => step == self.step,
            (step, Some(plan)) => {
                let model = settled(&plan.planned, schema);
                step == self.step
                    && self
                        .planned
                        .as_ref()
                        .is_none_or(|planned| is_as_planned(planned, &model))
            }
        };
        match is_planned {
            true => Ok(()),
            false => {
                let message = "Another change would be made than the one that was planned.";
                let detail = Detail {
                    code: ErrorCode::PlanMismatch.into(),
                    message: message.to_owned(),
                    target: None,
                };
                Err(stale(self.placed(vec![detail])))
            }
        }
    }

    /// Returns why a worker that carries out the plan must not do what it has found out to be done: it may do what was
    /// planned, or nothing.
    pub fn departed(
        &self,
        work: &ResourceWork,
        baseline: Option<&Baseline>,
        schema: &ResourceSchema,
        presence: &Presence,
        planned: &Planned,
    ) -> Option<Failure> {
        self.judge_look(work, baseline, schema, presence, planned)
            .err()
    }

    fn judge_look(
        &self,
        work: &ResourceWork,
        baseline: Option<&Baseline>,
        schema: &ResourceSchema,
        presence: &Presence,
        planned: &Planned,
    ) -> Result<(), Failure> {
        let step = match &planned.outcome {
            PlanOutcome::Create { .. } => Some(PlannedStep::Create),
            PlanOutcome::Update { .. } => Some(PlannedStep::Update),
            PlanOutcome::Replace { .. } => Some(PlannedStep::Replace),
            PlanOutcome::Delete(_) => Some(PlannedStep::Delete),
            PlanOutcome::Nothing => Some(PlannedStep::Nothing),
            PlanOutcome::Impossible(_) => None,
        };
        if work.replacing.is_some() {
            // One of the two calls of a replacement that was planned.
            return Ok(());
        }
        if let State::Submitting(intent) = &work.state
            && intent.unanswered > 0
        {
            return match step {
                Some(PlannedStep::Create | PlannedStep::Update | PlannedStep::Replace) => {
                    Err(after_lost_reply())
                }
                Some(PlannedStep::Nothing | PlannedStep::Delete) | None => Ok(()),
            };
        }
        let Some(live) = LiveBasis::of(presence, schema) else {
            return Ok(());
        };
        // What is gone need not be deleted.
        let is_gone = step == Some(PlannedStep::Nothing) && self.step == PlannedStep::Delete;
        self.judge_basis(&PlanBasis {
            mapping: mapping(work),
            last_applied: baseline.map(digest),
            schema: schema.fingerprint().to_owned(),
            live: match is_gone {
                true => self.basis.live.clone(),
                false => live,
            },
        })?;
        match step {
            Some(step) => self.judge_step(step, planned.plan.as_deref(), schema),
            None => Ok(()),
        }
    }
}

/// What the alias stood for when the operation was accepted.
fn mapping(work: &ResourceWork) -> Option<Mapping> {
    work.reference.as_ref()?;
    work.state_before?;
    let identifier = work.spelled.as_ref().or(work.identifier.as_ref());
    Some(Mapping {
        identifier: identifier.filter(|_| work.was_referenced).cloned(),
        owned: work.was_owned,
    })
}

/// The failure of a change whose reply was lost, and which does not show.
fn after_lost_reply() -> Failure {
    let message = "The reply to the change was lost, and the resource is not as planned. A plan is carried out once, so nothing more was sent. Ask for a new plan, which shows what is left to do.";
    Failure::new(ErrorCode::StalePlan, message).with_details(vec![Detail {
        code: "LiveStateChanged".to_owned(),
        message: "AWS shows something else than what was planned.".to_owned(),
        target: Some("/properties".to_owned()),
    }])
}
