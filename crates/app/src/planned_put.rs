//! Puts that carry out a plan: what was planned is done, once, or nothing.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_access::Right;
use ucp_look::PlannedMember;
use ucp_model::operation::Options;
use ucp_model::{ReferenceId, json};
use ucp_schema::reserved_member;
use ucp_set::{DeclaredMember, resolve};

use crate::plan_in_hand::{MemberInHand, PlannedPut, is_same_declaration};
use crate::{App, Caller, PutResource, Rejection, TrackedBy};

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
                    return Err(Rejection::plan_mismatch(
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
            Ok(_) | Err(_) => Err(Rejection::plan_mismatch(
                "Not all values of the plan were known, or what it refers to is not there yet. Declare the resource in the request, with all values; or put first what it refers to.",
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
    Err(Rejection::plan_mismatch(format!(
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
