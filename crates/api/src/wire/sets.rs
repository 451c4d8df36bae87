//! Sets of declarations, and what becomes of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_app::{ApplySet, DeclaredSet, Rejection, SetGoal, SetMember};
use ucp_model::operation::group::Task;
use ucp_model::operation::{self, GroupWork};
use ucp_model::{Detail, Failure, GroupId, OperationId, PlanId, ReferenceId, TypeName, pointer};
use ucp_wire::ErrorBody;
use utoipa::ToSchema;

use super::import::{ArmType, ItemScope};
use super::progress::LastError;
use super::resources::{ActionRequest, OnShared};
use super::warning::WarningBody;
use crate::members::{self, COMMON, Misfit, parsed};
use crate::problem::Problem;

/// The body of `:apply` and `:validate` of a resource group: resources that may refer to each other.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetRequest {
    /// The account and region of resources that do not say it themselves.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>, example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: Option<ItemScope>,
    /// What becomes of resources that are not listed; `Incremental` by default.
    mode: Option<Mode>,
    /// What becomes of resources that the set deletes or replaces, if other references stand for them and the resource of the set
    /// does not say it. Without it, that is refused.
    #[serde(default, with = "OnShared")]
    #[schema(value_type = Option<OnShared>)]
    on_shared: operation::OnShared,
    /// The resources, at most 500. They may be left out of an `:apply` that carries out a plan.
    #[schema(value_type = Option<Vec<SetResource>>, max_items = 500)]
    resources: Option<Vec<Value>>,
    /// For `:apply`: the plan to carry out. What was planned is done, once, or nothing. The set may be left out; one that is
    /// declared must be what was planned.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = "uuid")]
    plan_id: Option<PlanId>,
    /// What to tell at the end, by name: values with references.
    #[serde(default)]
    #[schema(value_type = Option<Object>, example = json!({"vpc": {"$reference": "my-vpc#/VpcId"}}))]
    outputs: Map<String, Value>,
}

/// What becomes of the resources of a group that a set does not list.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
enum Mode {
    /// They stay as they are.
    Incremental,
    /// Those that the group owns are deleted, after everything else.
    Complete,
}

/// A resource of a set: the members of a `:put`, and these. Wherever a value may stand in its properties,
/// `{"$reference": "NAME#POINTER"}` stands for the live value at a JSON Pointer of another resource, without `#POINTER` for
/// its primary identifier, and `{"$concat": [...]}` for a text of texts and references.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is read in two parts")]
pub(super) struct SetResource {
    #[serde(flatten)]
    place: SetResourcePlace,
    #[serde(flatten)]
    put: ActionRequest,
}

/// Which resource of a set is meant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SetResourcePlace {
    /// The alias that stands for the resource in the group.
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// The reference id, which must be in this group; an alternative to `alias` and `type`.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>)]
    tracked_by: Option<ReferenceId>,
    /// The resource type; optional when `scope` or `trackedBy` names it.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>, example = "AWS.EC2/VPC")]
    r#type: Option<ArmType>,
    /// The account and region of the resource, if it is not that of the set.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>)]
    scope: Option<ItemScope>,
    /// The name by which other resources refer to it; the alias by default.
    symbolic_name: Option<String>,
    /// The names of resources of the set that come first. Those that it refers to do anyway.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>)]
    depends_on: Vec<String>,
    /// Delete the resource instead, after everything else.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    delete: bool,
}

/// The members of [`SetResourcePlace`].
const PLACE: [&str; 7] = [
    "alias",
    "delete",
    "dependsOn",
    "scope",
    "symbolicName",
    "trackedBy",
    "type",
];

const ON_SHARED: &str = "onShared";

/// What a set says of a resource to delete.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeleteRequest {
    #[serde(default, with = "OnShared")]
    on_shared: operation::OnShared,
}

impl SetRequest {
    /// Returns the number of resources.
    pub(crate) fn count(&self) -> usize {
        self.resources.as_ref().map_or(1, Vec::len)
    }

    /// Reads what is to be applied to `group`.
    pub(crate) fn apply(mut self, group: &GroupId) -> Result<ApplySet, Problem> {
        Ok(match (self.plan_id.take(), &self.resources) {
            (None, _) => ApplySet::Declared(self.set(group)?),
            (Some(plan), None) => {
                self.refuse_parts()?;
                ApplySet::Planned(plan, None)
            }
            (Some(plan), Some(_)) => ApplySet::Planned(plan, Some(self.set(group)?)),
        })
    }

    /// Refuses parts of a set without its resources: nobody could tell whether they are those that were planned.
    fn refuse_parts(&self) -> Result<(), Problem> {
        let is_whole = self.scope.is_none()
            && self.mode.is_none()
            && self.on_shared.refuses()
            && self.outputs.is_empty();
        if is_whole {
            Ok(())
        } else {
            Err(Rejection::plan_mismatch(
                "The request has scope, mode, onShared or outputs, and no resources. Leave all of the set out, or send all of it.",
            )
            .into())
        }
    }

    /// Reads the resources of a set for `group`, each with its own error.
    pub(crate) fn set(self, group: &GroupId) -> Result<DeclaredSet, Problem> {
        let Some(resources) = self.resources else {
            return Err(Problem::bad_request("/resources: is required."));
        };
        let of_set = OfSet {
            scope: self.scope.as_ref(),
            on_shared: self.on_shared,
        };
        let read = |(index, resource): (usize, Value)| {
            member(resource, &of_set, group).map_err(|(place, message)| {
                Detail::at("BadRequest", message, format!("/resources/{index}{place}"))
            })
        };
        let members = resources.into_iter().enumerate().map(read).collect();
        Ok(DeclaredSet {
            mode: match self.mode {
                Some(Mode::Complete) => ucp_app::Mode::Complete,
                Some(Mode::Incremental) | None => ucp_app::Mode::Incremental,
            },
            on_shared: self.on_shared,
            members,
            outputs: self.outputs,
        })
    }
}

/// What a set says for resources that do not say it themselves.
pub(super) struct OfSet<'a> {
    pub(super) scope: Option<&'a ItemScope>,
    pub(super) on_shared: operation::OnShared,
}

/// Reads a resource, or returns the place and the reason why it cannot be read.
pub(super) fn member(
    resource: Value,
    of_set: &OfSet<'_>,
    group: &GroupId,
) -> Result<SetMember, (String, String)> {
    let misfit = |misfit: Misfit| (misfit.place().to_owned(), misfit.message);
    let Value::Object(members) = resource else {
        let kind = members::kind(&resource);
        return Err((String::new(), format!("expected an object, got {kind}.")));
    };
    let (place, put): (Map<String, Value>, Map<String, Value>) = members
        .into_iter()
        .partition(|(name, _)| PLACE.contains(&name.as_str()));
    let says_on_shared = put.get(ON_SHARED).is_some_and(|value| !value.is_null());
    let place: SetResourcePlace = members::read(&Value::Object(place)).map_err(misfit)?;
    let alias = match &place.tracked_by {
        Some(id) if id.group.key() != group.key() => {
            let message = format!("/trackedBy: names a group other than {group}.");
            return Err(("/trackedBy".to_owned(), message));
        }
        Some(id) => id.alias.clone(),
        None => place.alias.ok_or_else(|| {
            let message = "/alias: is required unless trackedBy is given.";
            ("/alias".to_owned(), message.to_owned())
        })?,
    };
    let scope = place.scope.as_ref().or(of_set.scope).ok_or_else(|| {
        let message = "/scope: is required, here or in the body; it names the account and region.";
        ("/scope".to_owned(), message.to_owned())
    })?;
    let types = [
        place.tracked_by.map(|id| id.type_name),
        place.r#type.map(|ArmType(type_name)| type_name),
        scope.type_name.clone(),
    ];
    let type_name = one_of(types).map_err(|message| ("/type".to_owned(), message))?;
    let scope = scope.scope.clone();
    let goal = if place.delete {
        let says = |name: &str| name != ON_SHARED && !COMMON.contains(&name);
        let other = put
            .iter()
            .find(|(name, value)| !value.is_null() && says(name));
        if let Some((name, _)) = other {
            let place = pointer::join("", name);
            let message = format!("{place}: says nothing of a resource to delete. Leave it out.");
            return Err((place, message));
        }
        let delete: DeleteRequest =
            members::read(&Value::Object(only(put, ON_SHARED))).map_err(misfit)?;
        SetGoal::Delete(if says_on_shared {
            delete.on_shared
        } else {
            of_set.on_shared
        })
    } else {
        if members::names_plan(&put) {
            let message = "/planId: is no member of a resource. Leave it out.";
            return Err(("/planId".to_owned(), message.to_owned()));
        }
        let put: ActionRequest = members::read(&Value::Object(put)).map_err(misfit)?;
        let mut put = put.put(scope.clone(), type_name.clone(), None);
        if !says_on_shared {
            put.options.on_shared = of_set.on_shared;
        }
        SetGoal::Put(Box::new(put))
    };
    Ok(SetMember {
        scope,
        type_name,
        alias,
        symbolic_name: place.symbolic_name,
        depends_on: place.depends_on,
        goal,
    })
}

/// Returns only this one of the members.
fn only(members: Map<String, Value>, name: &str) -> Map<String, Value> {
    let members = members.into_iter();
    members.filter(|(member, _)| member == name).collect()
}

fn one_of(types: [Option<TypeName>; 3]) -> Result<TypeName, String> {
    let mut types = types.into_iter().flatten();
    let first = types
        .next()
        .ok_or("/type: is required; use a type such as AWS.EC2/VPC.")?;
    match types.find(|other| !other.as_str().eq_ignore_ascii_case(first.as_str())) {
        None => Ok(first),
        Some(other) => Err(format!(
            "/type: the types {} and {} contradict each other.",
            first.arm(),
            other.arm()
        )),
    }
}

/// The reply to a declaration with which nothing is wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Valid {
    /// `Succeeded`.
    status: &'static str,
}

impl Valid {
    pub(crate) const SUCCEEDED: Self = Self {
        status: "Succeeded",
    };
}

/// The reply to an `:apply` that changes nothing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppliedSet {
    /// `Succeeded`.
    status: &'static str,
    /// 100.
    percent_complete: u32,
    /// What has become of the set.
    properties: SetResult,
}

impl From<GroupWork> for AppliedSet {
    fn from(work: GroupWork) -> Self {
        Self {
            status: work.status(),
            percent_complete: work.percent_complete(),
            properties: SetResult::of(&work, &BTreeMap::new()).unwrap_or_default(),
        }
    }
}

/// What has become of a set so far.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetResult {
    /// The values of the outputs, once the set is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    outputs: Option<Value>,
    /// The resources, in the order in which they are applied.
    resources: Vec<SetResultResource>,
}

/// What has become of a resource of a set so far.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetResultResource {
    /// Its name in the set.
    #[schema(example = "my-vpc")]
    symbolic_name: String,
    /// The reference id.
    tracked_by: String,
    /// The reference id that it had before.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<String>,
    /// The UUID of its operation, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    operation_id: Option<String>,
    /// `Waiting`, `Running`, `Succeeded`, `Unchanged`, `Failed`, `Skipped` or `Canceled`.
    status: &'static str,
    /// AWS's latest error, as long as its operation goes on after it. Only the status of the operation on the set has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<LastError>,
    /// What it has given up to other references, and who owns that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
    /// Why it is not as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

impl SetResult {
    /// Returns what has become of a set; `None` for other operations. `setbacks` are the errors after which resources go on,
    /// by their operations.
    pub(crate) fn of(work: &GroupWork, setbacks: &BTreeMap<OperationId, Failure>) -> Option<Self> {
        let Task::Apply(application) = &work.task else {
            return None;
        };
        let members = application.members.iter().zip(&work.members);
        Some(Self {
            outputs: work.outputs.clone(),
            resources: members
                .map(|(member, status)| SetResultResource {
                    symbolic_name: member.symbolic_name.clone(),
                    tracked_by: member.reference.to_string(),
                    moved_from: (member.moved_from.as_ref()).map(|it| it.reference.to_string()),
                    operation_id: status.operation.map(|id| id.to_string()),
                    status: status.state.name(),
                    last_error: (status.operation.as_ref())
                        .and_then(|id| setbacks.get(id))
                        .map(LastError::from),
                    warnings: WarningBody::all(&status.given_up),
                    error: status.state.failure().cloned().map(ErrorBody::from),
                })
                .collect(),
        })
    }
}
