//! Two bodies of refactors, compared without a server.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use serde_json::{Map, Value, json};
use ucp_model::{Detail, GroupId, Identifier, ReferenceId, Scope, TypeName, json as model_json};
use ucp_refactor::{
    Base, Body, Declared, Deleted, Event, Group, Mapping, OnAmbiguity, Refactor, has_same_values,
    imagine, refactor,
};
use ucp_schema::{Catalogue, IdentifierOutcome};
use ucp_wire::{
    AmbiguityBody, ChangesBody, EnvironmentBody, GroupsBody, HistoryBody, MoveBody,
    RefactorFindings, RefusedBody,
};

use crate::document;

/// A body that was read from a file.
pub(crate) struct Given<'a> {
    pub(crate) file: &'a Path,
    pub(crate) members: &'a Map<String, Value>,
}

/// Tells what moves if `from` is deployed and `to` is what shall be, as the server tells it in a record.
pub(crate) fn compared(
    base: &Base,
    from: &Given<'_>,
    to: &Given<'_>,
) -> anyhow::Result<RefactorFindings> {
    let (old, new) = (from.body(base)?, to.body(base)?);
    let state = imagine(&old, &new).map_err(|problems| from.wrong(&problems))?;
    let found = refactor(&state, &new, has_same_values);
    let found = found.map_err(|problems| to.wrong(&problems))?;
    let scopes: HashMap<String, &Scope> = state
        .resources
        .iter()
        .map(|deployed| (deployed.address.key(), &deployed.scope))
        .collect();
    findings(found, &scopes, &old)
}

impl Given<'_> {
    fn wrong(&self, problems: &[Detail]) -> anyhow::Error {
        let lines = problems.iter().map(|problem| {
            let place = problem.target.as_deref().unwrap_or_default();
            format!("\n  {place}: {}", problem.message)
        });
        anyhow!(
            "{}: it is not the body of a refactor{}",
            document::name(self.file),
            lines.collect::<String>()
        )
    }

    fn body(&self, base: &Base) -> anyhow::Result<Body> {
        let read = || -> anyhow::Result<Body> {
            let members = self.members;
            let scope = members.get("scope").map(scope).transpose()?;
            let mut groups = Vec::new();
            let mut resources = Resources::default();
            match base {
                Base::Group(id) => {
                    groups.push(Group {
                        place: String::new(),
                        id: id.clone(),
                    });
                    let all = list(members, "resources")?;
                    resources.add(all, id, "", scope.as_ref())?;
                }
                Base::Plane(plane) => {
                    for (index, group) in list(members, "groups")?.iter().enumerate() {
                        let place = format!("/groups/{index}");
                        let group = object(group).context(place.clone())?;
                        let name = text(group, "name").context(place.clone())?;
                        let id = if name.starts_with('/') {
                            name.parse()
                        } else {
                            GroupId::new(plane, name)
                        };
                        let id = id.with_context(|| format!("{place}/name"))?;
                        let all = list(group, "resources").context(place.clone())?;
                        resources.add(all, &id, &place, scope.as_ref())?;
                        groups.push(Group {
                            place: format!("{place}/name"),
                            id,
                        });
                    }
                }
            }
            let history = match members.get("history") {
                None | Some(Value::Null) => None,
                Some(history) => Some(events(history)?),
            };
            Ok(Body {
                base: base.clone(),
                groups,
                resources: resources.declared,
                deleted: resources.deleted,
                moves: mappings(members)?,
                exclude: words(members, "exclude")?,
                history,
                on_ambiguity: match members.get("onAmbiguity").and_then(Value::as_str) {
                    Some("leave") => OnAmbiguity::Leave,
                    _ => OnAmbiguity::Refuse,
                },
                deploy: false,
            })
        };
        read().with_context(|| document::name(self.file))
    }
}

/// What groups shall hold.
#[derive(Default)]
struct Resources {
    declared: Vec<Declared>,
    deleted: Vec<Deleted>,
}

impl Resources {
    /// Reads what one group shall hold.
    fn add(
        &mut self,
        all: &[Value],
        group: &GroupId,
        above: &str,
        default: Option<&Place>,
    ) -> anyhow::Result<()> {
        for (index, resource) in all.iter().enumerate() {
            let place = format!("{above}/resources/{index}");
            self.read(resource, group, &place, default)
                .with_context(|| place.clone())?;
        }
        Ok(())
    }

    fn read(
        &mut self,
        resource: &Value,
        group: &GroupId,
        place: &str,
        default: Option<&Place>,
    ) -> anyhow::Result<()> {
        let members = object(resource)?;
        let tracked_by = optional_text(members, "trackedBy")?;
        let tracked_by: Option<ReferenceId> = tracked_by.map(str::parse).transpose()?;
        if let Some(id) = tracked_by.as_ref()
            && id.group.key() != group.key()
        {
            bail!("trackedBy names a group other than {group}");
        }
        let own = members.get("scope").map(scope).transpose()?;
        let own = own.as_ref().or(default);
        let own = own.context("scope is required, here or in the body")?;
        let given = members.get("type").and_then(Value::as_str);
        let given = given.map(TypeName::parse).transpose()?;
        let given = [
            given,
            tracked_by.as_ref().map(|id| id.type_name.clone()),
            own.type_name.clone(),
        ];
        let mut given = given.into_iter().flatten();
        let first = given
            .next()
            .context("type is required; use a type such as AWS.EC2/VPC")?;
        if let Some(other) = given.find(|it| !it.as_str().eq_ignore_ascii_case(first.as_str())) {
            bail!(
                "the types {} and {} contradict each other",
                first.arm(),
                other.arm()
            );
        }
        let given = first;
        let schema = Catalogue::embedded().get(&given);
        let type_name = schema.as_ref().map_or(&given, |schema| schema.type_name());
        let alias = match &tracked_by {
            Some(id) => &id.alias,
            None => text(members, "alias")?,
        };
        let address = ReferenceId::new(group.clone(), type_name.clone(), alias)?;
        let symbolic_name = optional_text(members, "symbolicName")?.map(str::to_owned);
        match members.get("delete") {
            None | Some(Value::Null | Value::Bool(false)) => {}
            Some(Value::Bool(true)) => {
                self.deleted.push(Deleted {
                    place: place.to_owned(),
                    address,
                    symbolic_name,
                });
                return Ok(());
            }
            Some(_) => bail!("delete is true or false"),
        }
        let mut properties = match members.get("properties") {
            None | Some(Value::Null) => json!({}),
            Some(properties) => Value::Object(object(properties)?.clone()),
        };
        model_json::drop_nulls(&mut properties);
        let identifier = match members.get("primaryIdentifier").and_then(Value::as_str) {
            Some(identifier) => Some(Identifier::parse(identifier)?),
            None => schema
                .as_ref()
                .and_then(|schema| match schema.identifier(&properties) {
                    IdentifierOutcome::Known(identifier) => Some(identifier),
                    IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
                }),
        };
        self.declared.push(Declared {
            place: place.to_owned(),
            address,
            symbolic_name,
            scope: own.scope.clone(),
            identifier,
            identified_by: schema
                .as_ref()
                .and_then(|schema| match schema.primary_identifier() {
                    [path] => Some(path.pointer()),
                    _ => None,
                }),
            default_tags: json!({}),
            write_only: match &schema {
                Some(schema) => schema.write_only_in(&properties),
                None => BTreeSet::new(),
            },
            properties,
        });
        Ok(())
    }
}

/// An account and region, and the type if the scope names it.
struct Place {
    scope: Scope,
    type_name: Option<TypeName>,
}

fn scope(given: &Value) -> anyhow::Result<Place> {
    const SHAPE: &str = "scope: expected /planes/aws/{plane}/accounts/{account}/regions/{region}";
    let given = given.as_str().context(SHAPE)?;
    let segments: Vec<&str> = given.split('/').collect();
    let [
        "",
        "planes",
        "aws",
        plane,
        "accounts",
        account,
        "regions",
        region,
        rest @ ..,
    ] = &segments[..]
    else {
        bail!(SHAPE);
    };
    Ok(Place {
        scope: Scope::new(plane, account, region)?,
        type_name: match rest {
            [] => None,
            ["providers", namespace, resource] => {
                Some(TypeName::from_segments(namespace, resource)?)
            }
            _ => bail!(SHAPE),
        },
    })
}

fn object(value: &Value) -> anyhow::Result<&Map<String, Value>> {
    value.as_object().context("it is not an object")
}

fn list<'a>(members: &'a Map<String, Value>, name: &str) -> anyhow::Result<&'a [Value]> {
    let list = members.get(name).and_then(Value::as_array);
    let list = list.with_context(|| format!("{name} is required, a list"))?;
    Ok(list)
}

fn text<'a>(members: &'a Map<String, Value>, name: &str) -> anyhow::Result<&'a str> {
    let text = members.get(name).and_then(Value::as_str);
    text.with_context(|| format!("{name} is required, a text"))
}

fn optional_text<'a>(
    members: &'a Map<String, Value>,
    name: &str,
) -> anyhow::Result<Option<&'a str>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => text(members, name).map(Some),
    }
}

fn words(members: &Map<String, Value>, name: &str) -> anyhow::Result<Vec<String>> {
    let words = members.get(name).and_then(Value::as_array);
    let words = words.into_iter().flatten().map(|word| {
        let word = word.as_str();
        let word = word.with_context(|| format!("{name} is a list of texts"))?;
        Ok(word.to_owned())
    });
    words.collect()
}

fn mappings(members: &Map<String, Value>) -> anyhow::Result<Vec<Mapping>> {
    let moves = members.get("moves").and_then(Value::as_array);
    let moves = moves.into_iter().flatten().map(|it| {
        let it = object(it).context("moves")?;
        Ok(Mapping {
            from: text(it, "from")?.to_owned(),
            to: text(it, "to")?.to_owned(),
        })
    });
    moves.collect()
}

fn events(history: &Value) -> anyhow::Result<Vec<Event>> {
    let events = history.as_array().context("history is a list")?;
    let events = events.iter().map(|event| {
        let event = object(event).context("history")?;
        Ok(Event {
            id: text(event, "id")?.to_owned(),
            moves: mappings(event)?,
        })
    });
    events.collect()
}

/// Returns what was found, as far as files tell.
fn findings(
    found: Refactor,
    scopes: &HashMap<String, &Scope>,
    old: &Body,
) -> anyhow::Result<RefactorFindings> {
    let ids =
        |ids: &[ReferenceId]| -> Vec<String> { ids.iter().map(ToString::to_string).collect() };
    let existing: HashSet<String> = old.groups.iter().map(|group| group.id.key()).collect();
    let mut create = Vec::new();
    for it in &found.moves {
        let group = it.to.group.to_string();
        if !existing.contains(&it.to.group.key()) && !create.contains(&group) {
            create.push(group);
        }
    }
    let moves = found.moves.iter().map(|it| {
        let scope = scopes.get(&it.from.key());
        Ok(MoveBody {
            from: it.from.to_string(),
            to: it.to.to_string(),
            r#type: it.to.type_name.arm(),
            scope: scope
                .context("something moves that is not there")?
                .to_string(),
            primary_identifier: None,
            reason: it.reason.as_str().to_owned(),
        })
    });
    let ambiguities = found.ambiguities.iter().map(|it| AmbiguityBody {
        scope: Some(it.scope.to_string()),
        from: ids(&it.from),
        to: ids(&it.to),
        reason: it.reason.as_str().to_owned(),
    });
    let refused = found.refused.iter().map(|it| RefusedBody {
        scope: it.scope.as_ref().map(ToString::to_string),
        from: ids(&it.from),
        to: ids(&it.to),
        code: it.code.as_str().to_owned(),
        message: it.message.clone(),
    });
    let environments = found.environments.iter().map(|it| EnvironmentBody {
        scope: it.scope.to_string(),
        moves: it.moves,
        ambiguities: it.ambiguities,
        refused: it.refused,
    });
    Ok(RefactorFindings {
        moves: moves.collect::<anyhow::Result<_>>()?,
        ambiguities: ambiguities.collect(),
        refused: refused.collect(),
        changes: ChangesBody {
            create: ids(&found.changes.create),
            update: ids(&found.changes.update),
            undeclared: ids(&found.changes.undeclared),
        },
        groups: GroupsBody {
            create,
            remove: Vec::new(),
        },
        environments: environments.collect(),
        history: HistoryBody {
            environment: found.history.environment,
            common: found.history.common,
            pending: found.history.pending,
        },
    })
}
