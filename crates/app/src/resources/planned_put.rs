//! Puts that carry out a plan: what was planned is done, once, or nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_access::Right;
use ucp_look::{PlannedMember, PlannedStep, stale};
use ucp_model::operation::Options;
use ucp_model::{Identifier, OperationId, ReferenceId, json};
use ucp_schema::holds_unknown;
use ucp_set::{DeclaredMember, links, resolve};

use crate::looks::looking::{LOOKING_TIME, members};
use crate::looks::values::{AllReferents, referred_changed, value_of};
use crate::plans::plan_to_apply::{
    MemberToApply, PlanToApply, first_other, is_same_declaration, known_by_now,
};
use crate::{Caller, PlannedPut, PutResource, Rejection, ResourceCases, Room, TrackedBy};

impl ResourceCases {
    /// Returns a put as it was planned, with the member of the plan that it carries out. What it declares must be what was
    /// planned.
    pub(crate) async fn planned_put(
        &self,
        asked: PlannedPut,
        put: PutResource,
        caller: &Caller,
    ) -> Result<(PutResource, MemberToApply), Rejection> {
        let plan = self.plans.plan_to_apply(asked.id, caller).await?;
        let schema = self.types.schema(&put.scope, &put.type_name).await?;
        let reference = match &put.tracked_by {
            Some(tracked_by) => Some(self.types.reference_id(
                tracked_by,
                &schema,
                (caller, Right::Write),
            )?),
            None => None,
        };
        let is_meant = |member: &PlannedMember| {
            let is_put = member.put.is_some();
            is_put && member.is_about(&put, reference.as_ref(), schema.type_name().as_str())
        };
        let index = plan.the_only(is_meant)?;
        plan.judge_use(Some(index), self.ground.now())?;
        let (used, member) = (plan.used(index), plan.members[index].clone());
        let Some(declared) = plan.declared_of(index)?.cloned() else {
            return Err(Rejection::Internal(
                "the plan of a put declares nothing".into(),
            ));
        };
        let put = if asked.is_declared {
            let group = match &reference {
                Some(id) => Some(self.ground.store.get_resource_group(&id.group).await?),
                None => None,
            };
            let default_tags = self.types.default_tags(&put, group.as_ref());
            let expected = self.expected(&declared, index, &plan, &caller.room).await?;
            judge_declared(&put, &default_tags, &member, &declared, expected)?;
            put
        } else {
            let has_tags = !put.default_tags.is_empty() || !put.tags.is_empty();
            if has_tags || put.options != Options::default() {
                return Err(Rejection::plan_mismatch(
                    "The request has options or tags, and declares no properties. Leave all of the declaration out, or send all of it.",
                ));
            }
            let properties = self
                .known_properties(&declared, &plan, &caller.room)
                .await?;
            judge_values(plan.resolved_of(index), &properties)?;
            PutResource {
                properties,
                name: member.name.clone(),
                options: member.put.unwrap_or_default(),
                ..put
            }
        };
        let tracked_by = member.reference.as_ref().map(|id| TrackedBy {
            id: id.to_string(),
            alias: None,
        });
        let put = PutResource { tracked_by, ..put };
        let member = MemberToApply {
            used,
            member,
            default_tags: declared.default_tags,
        };
        Ok((put, member))
    }

    /// Returns what a request must declare of a member: the values that were planned, and where these were not known, those
    /// that it refers to now.
    async fn expected(
        &self,
        declared: &DeclaredMember,
        index: usize,
        plan: &PlanToApply,
        room: &Room,
    ) -> Result<Map<String, Value>, Rejection> {
        let Some(resolved) = plan.resolved_of(index) else {
            return Ok(declared.properties.clone());
        };
        if !resolved.values().any(holds_unknown) {
            return Ok(resolved.clone());
        }
        let now = self.referred_now(declared, plan, room).await?;
        let planned = Value::Object(resolved.clone());
        let known = known_by_now(&planned, &now);
        // The author would choose what AWS does not show yet.
        if holds_unknown(&known) && self.is_pinned(plan).await? {
            Err(not_made())
        } else {
            Ok(members(known))
        }
    }

    /// Returns whether all values of the plan must be those that somebody approves: it is approved, or must be before it is used.
    async fn is_pinned(&self, plan: &PlanToApply) -> Result<bool, Rejection> {
        Ok(plan.plan.is_approved()
            || match &plan.plan.group {
                Some(group) => self.ground.policy_of(group).await?.needs_approval(),
                None => false,
            })
    }

    /// Returns what was declared of a member, all of which must be known by now.
    async fn known_properties(
        &self,
        declared: &DeclaredMember,
        plan: &PlanToApply,
        room: &Room,
    ) -> Result<Map<String, Value>, Rejection> {
        match self.referred_now(declared, plan, room).await? {
            Value::Object(properties) if !properties.values().any(holds_unknown) => Ok(properties),
            _ => Err(Rejection::plan_mismatch(
                "Not all values of the plan were known. Declare the resource in the request, with all values.",
            )),
        }
    }

    /// Returns what was declared of a member with the values that it refers to. Who has approved the plan has approved those of what
    /// the plan makes, and of nothing else that stands there by now.
    async fn referred_now(
        &self,
        declared: &DeclaredMember,
        plan: &PlanToApply,
        room: &Room,
    ) -> Result<Value, Rejection> {
        let properties = Value::Object(declared.properties.clone());
        let deadline = Instant::now() + LOOKING_TIME;
        let seen = self.looks.referred(&properties, deadline, room).await?;
        if self.is_pinned(plan).await? {
            self.judge_made(&properties, &seen, plan).await?;
        }
        if let Some(place) = plan.first_changed(&properties, &seen)? {
            let detail = referred_changed(&place);
            return Err(Rejection::PreconditionFailed(stale(vec![detail])));
        }
        let declarations = &plan.declared()?.declarations;
        let resolved = resolve(&properties, |link| match declarations.pinned(link) {
            Some(planned) => Some(planned.clone()),
            None => value_of(&seen, link),
        });
        resolved.map_err(|_| {
            Rejection::plan_mismatch(
                "What the planned resource refers to is not there yet, or cannot be read. Put that first.",
            )
        })
    }
}

impl ResourceCases {
    /// Refuses values of what stands where a member of the plan is to be, and is another resource than that.
    async fn judge_made(
        &self,
        properties: &Value,
        seen: &AllReferents,
        plan: &PlanToApply,
    ) -> Result<(), Rejection> {
        let referred: BTreeSet<String> = links(properties)
            .iter()
            .map(|link| link.reference.key())
            .collect();
        let mut makers = BTreeMap::new();
        for (index, member) in plan.members.iter().enumerate() {
            let key = member.reference.as_ref().map(ReferenceId::key);
            let Some(key) = key.filter(|key| referred.contains(key)) else {
                continue;
            };
            let stands = seen.get(&key).map(|seen| &seen.identifier);
            // An update may have AWS assign values anew.
            let is_made = match &member.step {
                PlannedStep::Create | PlannedStep::Replace => true,
                PlannedStep::Update => member.planned.as_ref().is_some_and(holds_unknown),
                PlannedStep::Nothing | PlannedStep::Delete => false,
            };
            if is_made {
                let maker = plan.carried_out_by(index).ok_or_else(not_made)?;
                makers.insert(maker, stands);
            } else if stands != member.identifier.as_ref() {
                return Err(not_made());
            }
        }
        let ids: Vec<OperationId> = makers.keys().copied().collect();
        let made = self.ground.store.get_operations(&ids).await?;
        let identifiers = made.iter().filter_map(|operation| {
            let work = operation.work.resource()?;
            Some((operation.header.id, work.identifier.as_ref()?))
        });
        let made: BTreeMap<OperationId, &Identifier> = identifiers.collect();
        let is_made = |(maker, stands): (&OperationId, &Option<&Identifier>)| {
            stands.is_some() && made.get(maker) == stands.as_ref()
        };
        if makers.iter().all(is_made) {
            Ok(())
        } else {
            Err(not_made())
        }
    }
}

fn not_made() -> Rejection {
    Rejection::plan_mismatch(
        "The planned resource refers to one that the plan makes, and another one stands there, or none. Carry out that part of the plan first.",
    )
}

/// Refuses values that are referred to and are not those any more that were planned.
fn judge_values(
    resolved: Option<&Map<String, Value>>,
    now: &Map<String, Value>,
) -> Result<(), Rejection> {
    let other = resolved.and_then(|resolved| {
        let [planned, now] = [resolved, now].map(|it| Value::Object(it.clone()));
        first_other(&planned, &now)
    });
    let Some(place) = other else {
        return Ok(());
    };
    let detail = referred_changed(&place);
    Err(Rejection::PreconditionFailed(stale(vec![detail])))
}

/// What a request says of the resource that it is about.
trait About {
    fn is_about(&self, put: &PutResource, reference: Option<&ReferenceId>, type_name: &str)
    -> bool;
}

impl About for PlannedMember {
    fn is_about(
        &self,
        put: &PutResource,
        reference: Option<&ReferenceId>,
        type_name: &str,
    ) -> bool {
        let is_named = match (&put.name, reference, &self.reference) {
            (_, Some(id), Some(own)) => id.key() == own.key(),
            (_, Some(_), None) => false,
            (Some(name), None, None) => self.name.as_ref() == Some(name),
            (Some(_), None, Some(_)) => false,
            // It does not say which.
            (None, None, _) => self.name.is_none(),
        };
        is_named
            && self.scope.is_same_place(&put.scope)
            && self.type_name.as_str().eq_ignore_ascii_case(type_name)
    }
}

/// Refuses a put that declares something else than what was planned.
fn judge_declared(
    put: &PutResource,
    default_tags: &BTreeMap<String, String>,
    member: &PlannedMember,
    declared: &DeclaredMember,
    expected: Map<String, Value>,
) -> Result<(), Rejection> {
    let what = if member.put != Some(put.options) {
        "options"
    } else if *default_tags != declared.default_tags {
        "default tags, which the group or the server may have changed since"
    } else if !is_same_declaration(&shape(expected), &shape(put.properties.clone())) {
        "properties"
    } else {
        return Ok(());
    };
    Err(Rejection::plan_mismatch(format!(
        "The request has other {what} than the plan. Nothing was stored or sent. Leave the declaration out, or ask for a new plan."
    )))
}

/// Returns properties without what is no part of a declaration.
fn shape(mut properties: Map<String, Value>) -> Value {
    properties.shift_remove("provisioningState");
    let mut properties = Value::Object(properties);
    json::drop_nulls(&mut properties);
    properties
}
