//! A plan that a request is to carry out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_look::PlannedMember;
use ucp_model::json::{self, Step};
use ucp_model::operation::Presence;
use ucp_model::operation::group::Application;
use ucp_model::pointer::PointerBuf;
use ucp_model::{KeptPlan, OperationId, PlanRefusal, PlanStatus, PlanUse, Timestamp, Use};
use ucp_plan::Plan;
use ucp_schema::{ResourceSchema, is_unknown};
use ucp_set::{Declarations, DeclaredMember};

use crate::Rejection;
use crate::looks::looking::View;

/// What was declared for a plan. It is sealed, and erased when the plan is over.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeclaredPlan {
    /// The set to apply; `None` for a single resource.
    pub(crate) application: Option<Application>,
    pub(crate) declarations: Declarations,
    /// The properties of the members that refer to others, with the values that were planned, by index.
    #[serde(default)]
    pub(crate) resolved: BTreeMap<usize, Map<String, Value>>,
}

/// A plan that a request is to carry out.
pub(crate) struct PlanToApply {
    pub(crate) plan: KeptPlan,
    pub(crate) members: Vec<PlannedMember>,
    /// What was declared; `None` once it is erased.
    pub(crate) declared: Option<DeclaredPlan>,
}

/// A member of a plan that a request carries out.
pub(crate) struct MemberToApply {
    pub(crate) used: PlanUse,
    pub(crate) member: PlannedMember,
    /// The tags that its put has besides those declared.
    pub(crate) default_tags: BTreeMap<String, String>,
}

impl MemberToApply {
    /// Refuses a look that finds another state than the one that was planned for, or another change to make. `create` is the
    /// plan of what is certainly a create.
    pub(crate) fn judge(
        &self,
        schema: &ResourceSchema,
        create: Option<&Plan>,
        view: &View,
    ) -> Result<(), Rejection> {
        let judged = match (create, &view.presence) {
            (Some(_), _) => self.member.judge(None, schema, &Presence::Absent, create),
            // One "not found" does not prove that it is gone. A worker looks again.
            (None, Some(Presence::Absent)) if view.reference.is_some() => {
                self.member.judge_recorded(view.reference.as_ref(), schema)
            }
            (None, Some(presence)) => {
                let (reference, plan) = (view.reference.as_ref(), view.plan.as_deref());
                self.member.judge(reference, schema, presence, plan)
            }
            (None, None) => Ok(()),
        };
        judged.map_err(Rejection::PreconditionFailed)
    }
}

impl MemberToApply {
    /// Refuses a look of a delete that finds another state. What is gone need not be deleted.
    pub(crate) fn judge_delete(
        &self,
        schema: &ResourceSchema,
        view: &View,
    ) -> Result<(), Rejection> {
        let reference = view.reference.as_ref();
        let judged = match &view.presence {
            None => Ok(()),
            Some(Presence::Absent) => self.member.judge_recorded(reference, schema),
            Some(presence) => self.member.judge(reference, schema, presence, None),
        };
        judged.map_err(Rejection::PreconditionFailed)
    }
}

impl PlanToApply {
    /// Refuses a plan that must not be used any more.
    pub(crate) fn judge_use(&self, member: Option<usize>, now: Timestamp) -> Result<(), Rejection> {
        let judged = self.plan.judge_use(member, now);
        judged.map_err(Rejection::plan_not_used)
    }

    /// Returns the use of a member. That of the only one is that of the plan.
    pub(crate) fn used(&self, member: usize) -> PlanUse {
        PlanUse {
            plan: self.plan.id,
            member: Some(member),
            is_compared: false,
        }
    }

    /// Returns the operation that has carried out a member, and succeeded.
    pub(crate) fn carried_out_by(&self, member: usize) -> Option<OperationId> {
        let mut uses = self.plan.course.uses.iter();
        let applied = |used: &&Use| {
            used.end
                .is_some_and(|end| end.status == PlanStatus::Applied)
        };
        let used = uses.find(|used| used.member == Some(member) && applied(used))?;
        Some(used.operation)
    }

    /// Returns what was declared. It is erased when the plan has expired, by a process whose clock may be ahead.
    pub(crate) fn declared(&self) -> Result<&DeclaredPlan, Rejection> {
        let expired = || Rejection::plan_not_used(PlanRefusal::Expired);
        self.declared.as_ref().ok_or_else(expired)
    }

    /// Returns what was declared of a member.
    pub(crate) fn declared_of(&self, member: usize) -> Result<Option<&DeclaredMember>, Rejection> {
        let members = &self.declared()?.declarations.members;
        Ok(members.get(member).and_then(Option::as_ref))
    }

    /// Returns the planned properties of a member that refers to others.
    pub(crate) fn resolved_of(&self, member: usize) -> Option<&Map<String, Value>> {
        self.declared.as_ref()?.resolved.get(&member)
    }
}

impl PlanToApply {
    /// Returns the index of the only member that is meant.
    pub(crate) fn the_only(
        &self,
        is_meant: impl Fn(&PlannedMember) -> bool,
    ) -> Result<usize, Rejection> {
        let members = self.members.iter().enumerate();
        let mut meant = members.filter(|(_, member)| is_meant(member));
        match (meant.next(), meant.next()) {
            (Some((index, _)), None) => Ok(index),
            (None, _) => Err(Rejection::plan_mismatch(
                "The plan does not show this for the resource that the request names. Use the type, account, region and trackedBy of what it shows, and a delete for what it deletes.",
            )),
            (Some(_), Some(_)) => Err(Rejection::plan_mismatch(
                "The plan shows several such resources. Say with trackedBy which one is meant.",
            )),
        }
    }
}

/// Returns planned properties with the values that are known by now in place of unknown ones.
pub(crate) fn known_by_now(planned: &Value, now: &Value) -> Value {
    match (planned, now) {
        (planned, now) if is_unknown(planned) => now.clone(),
        (Value::Object(members), Value::Object(others)) => {
            let known = members.iter().map(|(name, member)| {
                let now = others.get(name).unwrap_or(member);
                (name.clone(), known_by_now(member, now))
            });
            Value::Object(known.collect())
        }
        (Value::Array(elements), Value::Array(others)) if elements.len() == others.len() => {
            let pairs = elements.iter().zip(others);
            pairs.map(|(one, other)| known_by_now(one, other)).collect()
        }
        _ => planned.clone(),
    }
}

/// Returns whether properties are those that were declared, as far as these are known.
pub(crate) fn is_same_declaration(planned: &Value, given: &Value) -> bool {
    first_other(planned, given).is_none()
}

/// Returns the place of the first of the properties that are not those that were declared, as far as these are known.
pub(crate) fn first_other(planned: &Value, given: &Value) -> Option<String> {
    let mut place = PointerBuf::root();
    differs(planned, given, &mut place).then(|| place.as_str().to_owned())
}

/// Returns whether a value is another one than was declared, and leaves the place in `place`.
fn differs(planned: &Value, given: &Value, place: &mut PointerBuf) -> bool {
    match (planned, given) {
        (planned, _) if is_unknown(planned) => false,
        (Value::Object(members), Value::Object(others)) => {
            for (name, member) in members {
                place.push_back(Step::Member(name));
                match others.get(name) {
                    Some(other) if !differs(member, other, place) => {}
                    Some(_) | None => return true,
                }
                place.pop_back();
            }
            let more = others.keys().find(|name| !members.contains_key(*name));
            if let Some(more) = more {
                place.push_back(Step::Member(more));
            }
            more.is_some()
        }
        (Value::Array(elements), Value::Array(others)) if elements.len() == others.len() => {
            for (index, (element, other)) in elements.iter().zip(others).enumerate() {
                place.push_back(Step::Element(index));
                if differs(element, other, place) {
                    return true;
                }
                place.pop_back();
            }
            false
        }
        _ => !json::equal(planned, given),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_other_property_is_named() {
        let planned = json!({"A": [{"B": 1}, {"B": 2}], "C": {"$unknown": true}, "D": "x"});
        for (given, place) in [
            (json!({"A": [{"B": 1}, {"B": 2.0}], "C": 5, "D": "x"}), None),
            (
                json!({"A": [{"B": 1}, {"B": 3}], "C": 5, "D": "x"}),
                Some("/A/1/B"),
            ),
            (json!({"A": [{"B": 1}], "C": 5, "D": "x"}), Some("/A")),
            (json!({"A": [{"B": 1}, {"B": 2}], "C": 5}), Some("/D")),
            (
                json!({"A": [{"B": 1}, {"B": 2}], "C": 5, "D": "x", "E/F": 1}),
                Some("/E~1F"),
            ),
            (json!([]), Some("")),
        ] {
            assert_eq!(first_other(&planned, &given).as_deref(), place, "{given}");
        }
    }
}
