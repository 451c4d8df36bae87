//! Puts that carry out a plan: what was planned is done, once, or nothing.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_access::Right;
use ucp_look::PlannedMember;
use ucp_model::operation::{Options, Presence};
use ucp_model::{PlanUse, ReferenceId, json};
use ucp_schema::{ResourceSchema, reserved_member};
use ucp_set::{DeclaredMember, resolve};

use crate::kept_plans::{PlanInHand, is_same_declaration, mismatch};
use crate::looking::View;
use crate::put::{PlannedPut, Prospect};
use crate::{App, Caller, PutResource, Rejection, TrackedBy};

/// A member of a plan that a request carries out.
pub(crate) struct MemberInHand {
    pub(crate) used: PlanUse,
    pub(crate) member: PlannedMember,
    /// The tags that its put has besides those declared.
    pub(crate) default_tags: BTreeMap<String, String>,
}

impl MemberInHand {
    /// Refuses a look that finds another state than the one that was planned for, or another change to make.
    pub(crate) fn judge(
        &self,
        schema: &ResourceSchema,
        prospect: &Prospect,
        view: &View,
    ) -> Result<(), Rejection> {
        let judged = match (prospect, &view.presence) {
            (Prospect::Create(plan), _) => {
                let (member, absent) = (&self.member, &Presence::Absent);
                member.judge(None, schema, absent, Some(plan.as_ref()))
            }
            // One "not found" does not prove that it is gone. A worker looks again.
            (Prospect::Seen(_), Some(Presence::Absent)) if view.reference.is_some() => Ok(()),
            (Prospect::Seen(_), Some(presence)) => {
                let (reference, plan) = (view.reference.as_ref(), view.plan.as_deref());
                self.member.judge(reference, schema, presence, plan)
            }
            (Prospect::Seen(_), None) => Ok(()),
        };
        judged.map_err(Rejection::PreconditionFailed)
    }
}

impl MemberInHand {
    /// Refuses a look of a delete that finds another state. What is gone need not be deleted.
    pub(crate) fn judge_delete(
        &self,
        schema: &ResourceSchema,
        view: &View,
    ) -> Result<(), Rejection> {
        let judged = match &view.presence {
            None | Some(Presence::Absent) => Ok(()),
            Some(presence) => {
                let reference = view.reference.as_ref();
                self.member.judge(reference, schema, presence, None)
            }
        };
        judged.map_err(Rejection::PreconditionFailed)
    }
}

impl App {
    /// Returns a put as it was planned, with the member of the plan that it carries out. What it declares must be what was
    /// planned.
    pub(crate) async fn planned_put(
        &self,
        asked: PlannedPut,
        put: PutResource,
        caller: &Caller,
    ) -> Result<(PutResource, MemberInHand), Rejection> {
        let plan = self.plan_in_hand(asked.id, caller).await?;
        let schema = self.schema(&put.scope, &put.type_name).await?;
        let reference = match &put.tracked_by {
            Some(tracked_by) => {
                Some(self.reference_id(tracked_by, &schema, (caller, Right::Write))?)
            }
            None => None,
        };
        let is_meant = |member: &PlannedMember| {
            let is_put = member.put.is_some();
            is_put && member.is_about(&put, reference.as_ref(), schema.type_name().as_str())
        };
        let index = plan.the_only(is_meant)?;
        plan.judge_use(Some(index), self.now())?;
        let (used, member) = (plan.used(index), plan.members[index].clone());
        let Some(declared) = plan.declared_of(index).cloned() else {
            return Err(Rejection::Internal("an open plan declares nothing".into()));
        };
        let put = match asked.is_declared {
            true => {
                let group = match &reference {
                    Some(id) => Some(self.parts.store.get_resource_group(&id.group).await?),
                    None => None,
                };
                let default_tags = self.default_tags(&put, group.as_ref());
                judge_declared(&put, &default_tags, &member, &declared)?;
                put
            }
            false => {
                let has_tags = !put.default_tags.is_empty() || !put.tags.is_empty();
                if has_tags || put.options != Options::default() {
                    return Err(mismatch(
                        "The request has options or tags, and declares no properties. Leave all of the declaration out, or send all of it.",
                    ));
                }
                let properties = self.known_properties(&declared).await?;
                PutResource {
                    properties,
                    name: member.name.clone(),
                    options: member.put.unwrap_or_default(),
                    ..put
                }
            }
        };
        let tracked_by = member.reference.as_ref().map(|id| TrackedBy {
            id: id.to_string(),
            alias: None,
        });
        let put = PutResource { tracked_by, ..put };
        let member = MemberInHand {
            used,
            member,
            default_tags: declared.default_tags,
        };
        Ok((put, member))
    }

    /// Returns what was declared of a member with the values that it refers to.
    async fn known_properties(
        &self,
        declared: &DeclaredMember,
    ) -> Result<Map<String, Value>, Rejection> {
        let properties = Value::Object(declared.properties.clone());
        let deadline = Instant::now() + crate::what_if::LOOKING_TIME;
        let seen = self.referred(&properties, deadline).await?;
        let resolved = resolve(&properties, |link| crate::sets::value_of(&seen, link));
        match resolved {
            Ok(Value::Object(properties)) if !holds_stand_in(&properties) => Ok(properties),
            Ok(_) | Err(_) => Err(mismatch(
                "Not all values of the plan were known, or what it refers to is not there yet. Declare the resource in the request, with all values; or put first what it refers to.",
            )),
        }
    }
}

impl PlanInHand {
    /// Returns the index of the only member that is meant.
    pub(crate) fn the_only(
        &self,
        is_meant: impl Fn(&PlannedMember) -> bool,
    ) -> Result<usize, Rejection> {
        let members = self.members.iter().enumerate();
        let mut meant = members.filter(|(_, member)| is_meant(member));
        match (meant.next(), meant.next()) {
            (Some((index, _)), None) => Ok(index),
            (None, _) => Err(mismatch(
                "The plan does not show this for the resource that the request names. Use the type, account, region and trackedBy of what it shows, and a delete for what it deletes.",
            )),
            (Some(_), Some(_)) => Err(mismatch(
                "The plan shows several such resources. Say with trackedBy which one is meant.",
            )),
        }
    }
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
) -> Result<(), Rejection> {
    let what = if member.put != Some(put.options) {
        "options"
    } else if *default_tags != declared.default_tags {
        "default tags, which the group or the server may have changed since"
    } else if !is_same_declaration(&shape(&declared.properties), &shape(&put.properties)) {
        "properties"
    } else {
        return Ok(());
    };
    Err(mismatch(format!(
        "The request has other {what} than the plan. Nothing was stored or sent. Leave the declaration out, or ask for a new plan."
    )))
}

/// Returns properties without what is no part of a declaration.
fn shape(properties: &Map<String, Value>) -> Value {
    let mut properties = properties.clone();
    properties.shift_remove("provisioningState");
    let mut properties = Value::Object(properties);
    json::drop_nulls(&mut properties);
    properties
}

fn holds_stand_in(properties: &Map<String, Value>) -> bool {
    let mut found = reserved_member(properties).is_some();
    json::walk(&Value::Object(properties.clone()), |_, value| {
        found |= value.as_object().and_then(reserved_member).is_some();
    });
    found
}
