//! Requests for refactors.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use ucp_app::{
    DeclaredRefactor, DeclaredResource, Deleted, Mapping, NamedGroup, OnAmbiguity, RefactorBase,
    RefactorEvent, SetGoal, SetMember,
};
use ucp_model::operation::{self, group::OnFailure};
use ucp_model::{Detail, GroupId, ReferenceId};
use utoipa::ToSchema;

use super::groups::{PutResourceGroupRequest, ResourceGroupProperties};
use super::import::ItemScope;
use super::resources::OnShared;
use super::sets::{self, OfSet, SetResource};
use crate::members::{self, parsed};
use crate::problem::Problem;
use crate::validation::Violations;

/// The maximum number of events in a history.
pub(crate) const EVENTS_MAX: usize = 1_000;
/// The maximum number of their moves.
pub(crate) const EVENT_MOVES_MAX: usize = 10_000;
/// The maximum length of the name of an event.
pub(crate) const EVENT_ID_MAX_CHARS: usize = 256;
/// The location of a new group that names none.
const GLOBAL: &str = "global";

/// The body of `:refactor`: all that the named groups shall hold. Others are not looked at.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefactorRequest {
    /// `plan` tells what moves where; `apply` moves it.
    #[serde(default)]
    #[schema(value_type = RefactorMode, required)]
    mode: Option<RefactorMode>,
    /// The account and region of resources that do not say it themselves.
    #[serde(default, deserialize_with = "parsed")]
    #[schema(value_type = Option<String>, example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: Option<ItemScope>,
    /// On the route of a plane: the groups, with all that each shall hold.
    #[schema(value_type = Option<Vec<RefactorGroupRequest>>)]
    groups: Option<Vec<Value>>,
    /// On the route of a group: all that it shall hold.
    #[schema(value_type = Option<Vec<RefactorResource>>, max_items = 10000)]
    resources: Option<Vec<Value>>,
    /// Where resources move to, as far as you say so.
    #[serde(default)]
    #[schema(value_type = Option<Vec<RefactorMapping>>)]
    moves: Vec<RefactorMapping>,
    /// What stays: addresses, old or new, and types.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>, example = json!(["web/AWS.S3/Bucket/logs", "AWS.Lambda/Version"]))]
    exclude: Vec<String>,
    /// The events that the groups shall have had, in order. What they have not had precedes `moves`.
    #[schema(value_type = Option<Vec<RefactorEventBody>>)]
    history: Option<Vec<RefactorEventBody>>,
    /// What to do about resources that nothing tells apart; `refuse` by default.
    #[serde(default, with = "OnAmbiguityWord")]
    #[schema(value_type = Option<OnAmbiguityWord>)]
    on_ambiguity: OnAmbiguity,
    /// What becomes of groups that are empty then; `keep` by default.
    #[serde(default, with = "EmptiedGroupsWord")]
    #[schema(value_type = Option<EmptiedGroupsWord>)]
    emptied_groups: ucp_app::EmptiedGroups,
    /// Whether to put what changes, once everything has moved: what `changes` names as `create` and `update`.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    deploy: bool,
    /// With `deploy`: what becomes of the moves if a put fails; `undo` by default.
    #[serde(default, with = "OnFailureWord")]
    #[schema(value_type = Option<OnFailureWord>)]
    on_failure: OnFailure,
    /// With `deploy`, as in a set: what becomes of resources that a put replaces, if other references stand for them.
    #[serde(default, with = "OnShared")]
    #[schema(value_type = Option<OnShared>)]
    on_shared: operation::OnShared,
    /// What a set tells at the end. It changes nothing here.
    #[serde(default, rename = "outputs")]
    #[schema(value_type = Option<Object>)]
    _outputs: Map<String, Value>,
    /// The fingerprint of a plan that you have seen. If the refactor is another one by now, it is refused.
    fingerprint: Option<String>,
}

/// Whether anything moves.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum RefactorMode {
    /// It is only told.
    Plan,
    /// Everything moves at once.
    Apply,
}

/// What to do about resources that nothing tells apart.
#[derive(Deserialize, ToSchema)]
#[serde(remote = "OnAmbiguity", rename_all = "camelCase")]
#[schema(as = OnAmbiguity)]
enum OnAmbiguityWord {
    /// Nothing moves.
    Refuse,
    /// They stay, and the rest moves.
    Leave,
}

/// What becomes of the moves if a put fails.
#[derive(Deserialize, ToSchema)]
#[serde(remote = "OnFailure", rename_all = "camelCase")]
#[schema(as = OnFailure)]
enum OnFailureWord {
    /// They are taken back, once no put is under way.
    Undo,
    /// They stay.
    Keep,
}

/// What becomes of groups that are empty then.
#[derive(Deserialize, ToSchema)]
#[serde(remote = "ucp_app::EmptiedGroups", rename_all = "camelCase")]
#[schema(as = EmptiedGroups)]
enum EmptiedGroupsWord {
    /// They stay.
    Keep,
    /// They are removed, if nothing is lost with them.
    Remove,
}

/// A move, by addresses: `{group}/{type}/{alias}`, on the route of a group also `{type}/{alias}`, or a reference id.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub(crate) struct RefactorMapping {
    /// The old address.
    #[schema(example = "my-stack/AWS.SQS/Queue/a")]
    from: String,
    /// The new address.
    #[schema(example = "web/AWS.SQS/Queue/b")]
    to: String,
}

/// Moves that belong together, in a history.
#[derive(Debug, Deserialize, ToSchema)]
struct RefactorEventBody {
    /// The name of the event, unique in its history.
    id: String,
    /// Its moves. They are made at once.
    #[serde(default)]
    #[schema(value_type = Option<Vec<RefactorMapping>>)]
    moves: Vec<RefactorMapping>,
}

/// A group of a refactor: its name, what it shall hold, and the members of a PUT, with which it is made if it does not exist.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is read in two parts")]
struct RefactorGroupRequest {
    /// The name of the group, or its id, which may be on another radius plane.
    #[schema(example = "web")]
    name: String,
    /// All that it shall hold.
    resources: Vec<RefactorResource>,
    /// For a group that does not exist: its location, `global` by default.
    location: Option<String>,
    /// The same: tags of the group itself.
    tags: Option<BTreeMap<String, String>>,
    /// The same: its settings.
    properties: Option<ResourceGroupProperties>,
}

/// A resource of a refactor: as a set has it, and its identifier. So a set can be sent as it is. `dependsOn` changes nothing. What is
/// to be deleted is not declared, and never moves.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read in two parts")]
struct RefactorResource {
    #[serde(flatten)]
    resource: SetResource,
    /// The primary identifier, if you know it. It tells which deployed resource this is.
    primary_identifier: Option<String>,
}

/// The member that only a resource of a refactor has.
const IDENTIFIER: &str = "primaryIdentifier";

/// The members without which the others cannot be judged.
const NEEDED: [&str; 3] = ["groups", "resources", "scope"];

/// The words for the `mode` of a set.
const MODES_OF_SETS: [&str; 2] = ["incremental", "complete"];

impl RefactorRequest {
    /// Returns how many groups the body names.
    pub(crate) fn count(body: &Map<String, Value>) -> usize {
        let groups = body.get("groups").and_then(Value::as_array);
        groups.map_or(1, Vec::len)
    }

    /// Reads what is to be refactored at `base`. What is wrong with a member, a group or a resource is noted in its place.
    pub(crate) fn read(
        body: Map<String, Value>,
        base: RefactorBase,
    ) -> Result<DeclaredRefactor, Problem> {
        members::without_plan(&body)?;
        judge_mode(&body)?;
        let (request, wrong) = Self::members(body)?;
        let first = wrong.first().map(|detail| {
            let problem = Problem::bad_request(detail.message.clone());
            problem.at(detail.target.clone().unwrap_or_default())
        });
        let declared = request.declared(wrong, base);
        declared.map_err(|problem| first.unwrap_or(problem))
    }

    /// Reads what the members say, beside what is wrong with others.
    fn declared(self, wrong: Vec<Detail>, base: RefactorBase) -> Result<DeclaredRefactor, Problem> {
        let required = |name: &str| Problem::bad_request(format!("/{name}: is required."));
        let is_noted = |name: &str| wrong.iter().any(|it| it.target.as_deref() == Some(name));
        let mode = match self.mode {
            Some(RefactorMode::Apply) => ucp_app::RefactorMode::Apply,
            Some(RefactorMode::Plan) => ucp_app::RefactorMode::Plan,
            None if is_noted("/mode") => ucp_app::RefactorMode::Plan,
            None => return Err(required("mode")),
        };
        judge_history(self.history.as_deref().unwrap_or_default())?;
        let mut reading = Reading {
            scope: self.scope,
            groups: wrong.into_iter().map(Err).collect(),
            on_shared: self.on_shared,
            resources: Vec::new(),
            deleted: Vec::new(),
        };
        match (&base, self.groups, self.resources) {
            (RefactorBase::Plane(_), Some(groups), None) if groups.is_empty() => {
                return Err(Problem::bad_request(
                    "/groups: is empty. Name at least one group, with all that it shall hold.",
                ));
            }
            (RefactorBase::Plane(plane), Some(groups), None) => {
                for (index, group) in groups.into_iter().enumerate() {
                    let place = format!("/groups/{index}");
                    if let Err(detail) = reading.group(plane, group, &place) {
                        reading.groups.push(Err(detail));
                    }
                }
            }
            (RefactorBase::Group(id), None, Some(resources)) => {
                let mut violations = Violations::default();
                let new = made(id.clone(), Map::new(), &mut violations);
                reading.groups.extend(new.map(|group| {
                    Ok(NamedGroup {
                        place: "/resources".to_owned(),
                        group,
                    })
                }));
                reading.all(id, resources, "");
            }
            (RefactorBase::Plane(_), None, None) => return Err(required("groups")),
            (RefactorBase::Group(_), None, None) => return Err(required("resources")),
            (RefactorBase::Plane(_), _, Some(_)) => {
                return Err(Problem::bad_request(
                    "/resources: belongs into a group of /groups; or send it to the route of a group.",
                ));
            }
            (RefactorBase::Group(_), Some(_), _) => {
                return Err(Problem::bad_request(
                    "/groups: belongs to the route of a plane. Send /resources, with all that this group shall hold.",
                ));
            }
        }
        Ok(DeclaredRefactor {
            base,
            mode,
            groups: reading.groups,
            resources: reading.resources,
            deleted: reading.deleted,
            moves: mappings(self.moves),
            exclude: self.exclude,
            history: self.history.map(|events| {
                let event = |event: RefactorEventBody| RefactorEvent {
                    id: event.id,
                    moves: mappings(event.moves),
                };
                events.into_iter().map(event).collect()
            }),
            on_ambiguity: self.on_ambiguity,
            emptied_groups: self.emptied_groups,
            deploy: self.deploy.then_some(self.on_failure),
            fingerprint: self.fingerprint,
        })
    }
}

impl RefactorRequest {
    /// Reads the members. What is wrong with one is noted in its place, and the member is left out. Without those that are
    /// [needed](NEEDED), nothing can be said of the rest. They may be large, and are
    /// read once: each other one that is wrong takes a reading of the rest.
    fn members(mut body: Map<String, Value>) -> Result<(Self, Vec<Detail>), Problem> {
        let needed = NEEDED.map(|name| (name, body.shift_remove(name)));
        let (mut rest, mut wrong) = (Value::Object(body), Vec::new());
        while let Err(misfit) = members::read::<Self>(&rest) {
            let name = misfit.place().split('/').nth(1).unwrap_or_default();
            let removed = rest.as_object_mut().and_then(|it| it.shift_remove(name));
            if removed.is_none() {
                return Err(misfit.into());
            }
            let place = misfit.place().to_owned();
            wrong.push(Detail::at("BadRequest", misfit.message, place));
        }
        let mut large = [None, None];
        if let Value::Object(rest) = &mut rest {
            let given = needed.into_iter();
            rest.extend(given.filter_map(|(name, value)| Some((name.to_owned(), value?))));
            // What is large is not copied.
            large = ["groups", "resources"].map(|name| match rest.get_mut(name) {
                Some(Value::Array(items)) => Some(std::mem::take(items)),
                Some(_) | None => None,
            });
        }
        let mut request: Self = members::read(&rest)?;
        let [groups, resources] = large;
        request.groups = groups.or(request.groups);
        request.resources = resources.or(request.resources);
        Ok((request, wrong))
    }
}

/// Refuses the mode of a set: what is not declared is never deleted.
fn judge_mode(body: &Map<String, Value>) -> Result<(), Problem> {
    let mode = body.get("mode").and_then(Value::as_str).unwrap_or_default();
    if MODES_OF_SETS.contains(&mode.to_lowercase().as_str()) {
        let message = "/mode: is that of a set here, and a refactor deletes nothing. Send `plan` to be told what moves where, or `apply` to move it.";
        Err(Problem::bad_request(message).at("/mode"))
    } else {
        Ok(())
    }
}

/// Refuses a history that is too long to be remembered.
fn judge_history(history: &[RefactorEventBody]) -> Result<(), Problem> {
    let moves: usize = history.iter().map(|event| event.moves.len()).sum();
    if history.len() > EVENTS_MAX || moves > EVENT_MOVES_MAX {
        let message = format!(
            "/history: may have {EVENTS_MAX} events, with {EVENT_MOVES_MAX} moves in all. Take out those that every group has had."
        );
        return Err(Problem::bad_request(message).at("/history"));
    }
    let mut ids = history.iter().map(|event| event.id.chars().count());
    if let Some(index) = ids.position(|length| !(1..=EVENT_ID_MAX_CHARS).contains(&length)) {
        let place = format!("/history/{index}/id");
        let message = format!("{place}: has 1 to {EVENT_ID_MAX_CHARS} characters.");
        return Err(Problem::bad_request(message).at(place));
    }
    Ok(())
}

fn mappings(moves: Vec<RefactorMapping>) -> Vec<Mapping> {
    let moves = moves.into_iter();
    moves
        .map(|RefactorMapping { from, to }| Mapping { from, to })
        .collect()
}

struct Reading {
    scope: Option<ItemScope>,
    groups: Vec<Result<NamedGroup, Detail>>,
    on_shared: operation::OnShared,
    resources: Vec<Result<DeclaredResource, Detail>>,
    deleted: Vec<Deleted>,
}

impl Reading {
    fn group(&mut self, plane: &str, group: Value, place: &str) -> Result<(), Detail> {
        let wrong = |below: &str, message: String| {
            Detail::at("BadRequest", message, format!("{place}{below}"))
        };
        let mut members = match group {
            Value::Object(members) => members,
            other => {
                let kind = members::kind(&other);
                return Err(wrong("", format!("expected an object, got {kind}.")));
            }
        };
        let name = match members.shift_remove("name") {
            Some(Value::String(name)) => name,
            None | Some(_) => {
                let message = "/name: is required; it is the name of the group, or its id.";
                return Err(wrong("/name", message.to_owned()));
            }
        };
        let id = if name.starts_with('/') {
            name.parse::<GroupId>()
        } else {
            GroupId::new(plane, &name)
        };
        let id = id.map_err(|error| wrong("/name", format!("/name: {error}.")))?;
        let resources = match members.shift_remove("resources") {
            Some(Value::Array(resources)) => resources,
            None | Some(_) => {
                let message = "/resources: is required, with all that the group shall hold.";
                return Err(wrong("/resources", message.to_owned()));
            }
        };
        let mut violations = Violations::default();
        let group = made(id.clone(), members, &mut violations);
        let violations = violations.within(place);
        match group {
            Some(group) if violations.is_empty() => self.groups.push(Ok(NamedGroup {
                place: format!("{place}/name"),
                group,
            })),
            Some(_) | None => self.groups.extend(violations.into_iter().map(Err)),
        }
        self.all(&id, resources, place);
        Ok(())
    }

    fn all(&mut self, group: &GroupId, resources: Vec<Value>, above: &str) {
        for (index, resource) in resources.into_iter().enumerate() {
            let place = format!("{above}/resources/{index}");
            if let Err((below, message)) = self.resource(group, resource, &place) {
                let detail = Detail::at("BadRequest", message, format!("{place}{below}"));
                self.resources.push(Err(detail));
            }
        }
    }

    /// Reads a resource, or returns the place and the reason why it cannot be read.
    fn resource(
        &mut self,
        group: &GroupId,
        mut resource: Value,
        place: &str,
    ) -> Result<(), (String, String)> {
        let members = resource.as_object_mut();
        let identifier = match members.and_then(|it| it.shift_remove(IDENTIFIER)) {
            None | Some(Value::Null) => None,
            Some(Value::String(identifier)) => Some(identifier),
            Some(other) => {
                let message = format!(
                    "/{IDENTIFIER}: expected a string, got {}.",
                    members::kind(&other)
                );
                return Err((format!("/{IDENTIFIER}"), message));
            }
        };
        let of_body = OfSet {
            scope: self.scope.as_ref(),
            on_shared: self.on_shared,
        };
        let SetMember {
            scope: _,
            type_name,
            alias,
            symbolic_name,
            depends_on: _,
            goal,
        } = sets::member(resource, &of_body, group)?;
        match goal {
            SetGoal::Put(put) => self.resources.push(Ok(DeclaredResource {
                place: place.to_owned(),
                group: group.clone(),
                alias,
                symbolic_name,
                identifier,
                put,
            })),
            SetGoal::Delete(_) => {
                if identifier.is_some() {
                    let message = format!(
                        "/{IDENTIFIER}: says nothing of a resource to delete. Leave it out."
                    );
                    return Err((format!("/{IDENTIFIER}"), message));
                }
                let address = ReferenceId::new(group.clone(), type_name, &alias);
                self.deleted.push(Deleted {
                    place: place.to_owned(),
                    symbolic_name,
                    address: address
                        .map_err(|error| ("/alias".to_owned(), format!("/alias: {error}.")))?,
                });
            }
        }
        Ok(())
    }
}

/// Reads the group that is made if it does not exist.
fn made(
    id: GroupId,
    mut members: Map<String, Value>,
    violations: &mut Violations,
) -> Option<ucp_model::NewResourceGroup> {
    members
        .entry("location")
        .or_insert_with(|| Value::from(GLOBAL));
    let group = PutResourceGroupRequest::read(&members, violations);
    group.map(|group| group.put(id))
}

/// The body of `:apply` and `:undo` of a refactor.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SeenRefactor {
    /// The fingerprint of the refactor that you have seen.
    pub(crate) fingerprint: Option<String>,
}
