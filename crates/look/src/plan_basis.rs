//! What a plan was made for, and whether that is still so.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use ucp_model::operation::{OnShared, Options, Presence};
use ucp_model::{
    Baseline, Detail, ErrorCode, Failure, Identifier, Reference, ReferenceId, Scope, Target,
    TypeName, json,
};
use ucp_plan::{Action, Plan, first_difference, is_as_planned, settled};
use ucp_schema::{ResourceSchema, holds_unknown};

pub(crate) const ANOTHER_VALUE: &str = "AWS shows another value than when it was planned.";

/// What is kept of a plan beside what was declared for it. `C` is what it shows of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanContent<C> {
    /// Its members. If a set was planned, an operation that applies it has the same.
    pub members: Vec<PlannedMember>,
    /// What it shows.
    pub changes: Vec<C>,
    /// What was read for it besides: the resources that it refers to. `None` if it was made by an earlier version, which did
    /// not note them.
    #[serde(default)]
    pub reads: Option<Vec<PlanRead>>,
}

/// A resource that a plan refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRead {
    /// Its reference.
    pub reference: ReferenceId,
    /// Its account and region.
    pub scope: Scope,
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
    /// The id that its reference had when it was planned, if it moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<ReferenceId>,
    /// The name in the URL of the request, if it had one.
    #[serde(default)]
    pub name: Option<String>,
    /// The identifier that was looked at, if it was known.
    #[serde(default)]
    pub identifier: Option<Identifier>,
    /// The options of its put; `None` for a delete.
    #[serde(default)]
    pub put: Option<Options>,
    /// What becomes of a delete if other references stand for the resource. An earlier version did not note it: it is refused.
    #[serde(default, skip_serializing_if = "OnShared::refuses")]
    pub on_shared: OnShared,
    /// What is done.
    pub step: PlannedStep,
    /// Whether its reference remembers all that a put would write, if nothing is done to the resource.
    #[serde(default)]
    pub is_remembered: bool,
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
        let baseline = reference.and_then(Reference::last_put);
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
            (LiveBasis::Model(before), LiveBasis::Model(now)) => {
                first_difference(before, now).map(|place| (ANOTHER_VALUE, place))
            }
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
            details.push(live_state_changed(message, &place));
        }
        details
    }
}

/// Returns the detail of a live state that is another one at a place.
pub(crate) fn live_state_changed(message: &str, place: &str) -> Detail {
    Detail::at("LiveStateChanged", message, format!("/properties{place}"))
}

pub(crate) fn digest(baseline: &Baseline) -> String {
    // How AWS shows it is no part of what was put; the live model is compared beside it.
    let put = Baseline {
        shown: BTreeMap::new(),
        is_seen: false,
        is_made: false,
        is_undecided: false,
        ..baseline.clone()
    };
    let value = serde_json::to_value(put).unwrap_or_default();
    hex::encode(Sha256::digest(json::canonical(&value)))
}

/// Returns the failure of what a plan was not made for.
pub fn stale(details: Vec<Detail>) -> Failure {
    let message = "The plan was made for another state. Nothing was sent. Ask for a new plan, and look at what it shows.";
    Failure::new(ErrorCode::StalePlan, message).with_details(details)
}

/// Reads the texts of the members from that of a [`PlanContent`]; none if it is not one. A text takes about a tenth of the
/// memory that a [`PlannedMember`] takes.
pub fn planned_members(content: &[u8]) -> Vec<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Members {
        members: Vec<Box<RawValue>>,
    }
    let content: Option<Members> = serde_json::from_slice(content).ok();
    content.map(|content| content.members).unwrap_or_default()
}

impl PlannedMember {
    /// Returns the AWS resource that it changes, if it is known and anything is done to it, or may be.
    pub fn changed(&self) -> Option<Target<'_>> {
        let identifier = self.identifier.as_ref();
        let identifier = identifier.filter(|_| self.may_change())?;
        Some(Target {
            scope: &self.scope,
            type_name: &self.type_name,
            identifier,
        })
    }

    /// Returns whether anything is done to it, or may be: it refers to values that AWS may assign anew.
    pub fn may_change(&self) -> bool {
        self.step != PlannedStep::Nothing || self.is_open()
    }

    /// Returns whether nothing is done to it, unless values that were not known are others than now.
    fn is_open(&self) -> bool {
        self.step == PlannedStep::Nothing && self.planned.as_ref().is_some_and(holds_unknown)
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
        self.judge_basis(&now)?;
        match plan.and_then(|plan| PlannedStep::of(plan.action)) {
            Some(step) => refusal(self.step_differences(step, plan, schema)),
            None => Ok(()),
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
        refusal(self.basis_differences(now))
    }

    /// Returns what is different in the basis now.
    pub(crate) fn basis_differences(&self, now: &PlanBasis) -> Vec<Detail> {
        self.placed(self.basis.differences(now))
    }

    /// Returns in what a change differs from the one that was planned.
    pub(crate) fn step_differences(
        &self,
        step: PlannedStep,
        plan: Option<&Plan>,
        schema: &ResourceSchema,
    ) -> Vec<Detail> {
        let is_as_planned = |plan: &Plan| {
            let model = settled(&plan.planned, schema);
            let planned = self.planned.as_ref();
            planned.is_none_or(|planned| is_as_planned(planned, &model))
        };
        let is_step = step == self.step || step == PlannedStep::Update && self.is_open();
        if step == PlannedStep::Nothing || is_step && plan.is_none_or(is_as_planned) {
            return Vec::new();
        }
        let message = "Another change would be made than the one that was planned.";
        self.placed(vec![Detail {
            code: ErrorCode::PlanMismatch.into(),
            message: message.to_owned(),
            target: None,
        }])
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
}

fn refusal(differences: Vec<Detail>) -> Result<(), Failure> {
    if differences.is_empty() {
        Ok(())
    } else {
        Err(stale(differences))
    }
}
