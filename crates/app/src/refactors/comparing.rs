//! What a refactor finds: what is deployed in the named groups, beside what is declared.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use ucp_access::Right;
use ucp_model::{
    Baseline, Detail, ErrorCode, Failure, GroupId, Identifier, Lineage, Reference, ReferenceId,
    ResourceGroup, Scope, TypeName, json,
};
use ucp_plan::digests;
use ucp_refactor::{
    Base, Body, Declared, Deployed, Group, RESOURCES_MAX, Refactor, State, each_outside,
};
use ucp_schema::{IdentifierOutcome, PROVISIONING_STATE, ResourceSchema};
use ucp_seal::Keys;
use ucp_set::OUTSIDE_MAX;
use ucp_store::REFACTORS_MAX;

use super::deployed::{DefaultTags, compared};
use super::found::{Found, FoundGroup, FoundPut, Tracked, as_made};
use super::{DeclaredRefactor, DeclaredResource, NamedGroup, RefactorMode};
use crate::ground::refusal::no_such_group;
use crate::identifier::named;
use crate::in_flight::recorded_by;
use crate::{Caller, PutResource, RefactorCases, Rejection, TrackedBy};

/// The maximum number of types whose resources are compared, as counted for each account and region.
pub(crate) const TYPES_MAX: usize = 1_000;

/// How many moves, events and words are read at once.
const QUICK: usize = 100;
/// The maximum number of groups that a refactor names.
pub(crate) const GROUPS_MAX: usize = 100;

const ACTION: &str = "System.Resources/resourceGroups/refactor/action";
const INVALID: &str =
    "The body is not one of a refactor. Nothing has moved. Correct what the details name.";

/// What is referred to in groups that the body does not name, by key. One more than may be, if there are so many.
type Outside = BTreeMap<String, ReferenceId>;

type Schemas = HashMap<(String, String), Result<Arc<ResourceSchema>, Failure>>;

impl RefactorCases {
    /// Compares what is deployed with what is declared. Reads the store alone.
    pub(super) async fn found(
        &self,
        declared: &mut DeclaredRefactor,
        caller: &Caller,
    ) -> Result<Found, Rejection> {
        let mut details = Vec::new();
        let named = kept(std::mem::take(&mut declared.groups), &mut details);
        let resources = kept(std::mem::take(&mut declared.resources), &mut details);
        let right = match declared.mode {
            RefactorMode::Plan => Right::Read,
            RefactorMode::Apply => Right::Write,
        };
        for NamedGroup { group, .. } in &named {
            caller.judge_group(right, &group.id, ACTION)?;
        }
        for resource in &resources {
            let put = &resource.put;
            caller.judge_type(Right::Read, &put.scope, &put.type_name, "read")?;
        }
        if named.len() > GROUPS_MAX {
            let message = format!(
                "{} groups are named, and {GROUPS_MAX} may be. Name fewer.",
                named.len()
            );
            return Err(invalid(vec![Detail::at("TooMany", message, "/groups")]));
        }
        let count = resources.len() + declared.deleted.len();
        if count > RESOURCES_MAX {
            let place = declared.place_of_all();
            let message = format!(
                "{count} resources are declared, and {RESOURCES_MAX} may be. Name fewer groups."
            );
            return Err(invalid(vec![Detail::at("TooMany", message, place)]));
        }
        let groups = self.named_groups(&named, &resources, caller).await?;
        if let (Base::Group(id), [FoundGroup { recorded: None, .. }]) =
            (&declared.base, &groups[..])
        {
            return Err(no_such_group(id));
        }
        let mut schemas = Schemas::new();
        let given = self.declared_resources(resources, &groups, &mut schemas, &mut details);
        let (given, outside) = given.await?;
        let mut with_secrets = given.iter().filter(|given| !given.write_only.is_empty());
        if with_secrets.clone().next().is_some() {
            // Whether a secret is the one that was put is told to those alone who may put another.
            with_secrets.try_for_each(|Given { resource, .. }| {
                let type_name = &resource.address.type_name;
                caller.judge_type(Right::Write, &resource.scope, type_name, "write")
            })?;
            for group in &groups {
                caller.judge_group(Right::Write, group.id(), ACTION)?;
            }
        }
        let recorded: Vec<&ResourceGroup> = groups.iter().flat_map(|it| &it.recorded).collect();
        let mut references = self.deployed(&recorded, &caller.room).await?;
        references.extend(self.referred_outside(outside, declared, caller).await?);
        let deployed = self
            .deployed_types(&references, &groups, &mut schemas)
            .await?;
        let ids: Vec<GroupId> = groups.iter().map(|group| group.id().clone()).collect();
        let history = self.moves.history(&ids).await?;
        if declared.history.is_some() && !history.is_whole {
            let message = format!(
                "The groups have had events of more than {REFACTORS_MAX} refactors, and no more are compared. Send no history."
            );
            return Err(invalid(vec![Detail::at("TooMany", message, "/history")]));
        }
        let body = Body {
            base: declared.base.clone(),
            groups: named
                .into_iter()
                .map(|named| Group {
                    place: named.place,
                    id: named.group.id,
                })
                .collect(),
            resources: Vec::new(),
            deleted: std::mem::take(&mut declared.deleted),
            moves: std::mem::take(&mut declared.moves),
            exclude: std::mem::take(&mut declared.exclude),
            history: declared.history.take(),
            on_ambiguity: declared.on_ambiguity,
            deploy: declared.deploy.is_some(),
        };
        let sides = Sides {
            references,
            deployed,
            given,
            details,
            events: history.events(),
            body,
            keys: Arc::clone(&self.ground.keys),
        };
        let is_quick = sides.is_quick();
        let compare = move || sides.compare();
        let compared = self.ground.pool.run_unless_quick(is_quick, compare);
        let Compared {
            mut refactor,
            references,
            history: given,
            puts,
        } = compared.await??;
        self.moves
            .keep_instances(&mut refactor, &references)
            .await?;
        declared.history = given;
        Ok(Found {
            refactor,
            groups,
            references,
            history,
            puts,
        })
    }

    /// Returns the named groups, as they are recorded.
    async fn named_groups(
        &self,
        named: &[NamedGroup],
        resources: &[DeclaredResource],
        caller: &Caller,
    ) -> Result<Vec<FoundGroup>, Rejection> {
        let declared: BTreeSet<String> = resources.iter().map(|it| it.group.key()).collect();
        let mut found = Vec::with_capacity(named.len());
        for NamedGroup { group, .. } in named {
            let recorded = match self.ground.store.get_resource_group(&group.id).await {
                Err(ucp_store::Error::NoSuchGroup) => None,
                other => Some(other?),
            };
            let deletion = recorded
                .as_ref()
                .and_then(|recorded| recorded.body.deletion);
            if let Some(deletion) = deletion {
                return Err(self.ground.busy(deletion).await.shown_to(caller));
            }
            found.push(FoundGroup {
                is_declared: declared.contains(&group.id.key()),
                new: group.clone(),
                recorded,
            });
        }
        Ok(found)
    }

    /// Returns what is declared, with the schemas of its types. Notes what is wrong with it.
    async fn declared_resources(
        &self,
        resources: Vec<DeclaredResource>,
        groups: &[FoundGroup],
        schemas: &mut Schemas,
        details: &mut Vec<Detail>,
    ) -> Result<(Vec<Given>, Outside), Rejection> {
        let groups: HashMap<String, ResourceGroup> = groups
            .iter()
            .map(|group| {
                let recorded = group.recorded.clone();
                let group = recorded.unwrap_or_else(|| as_made(&group.new));
                (group.id.key(), group)
            })
            .collect();
        let mut looked_up = Vec::with_capacity(resources.len());
        for resource in resources {
            let put = &resource.put;
            let schema = self
                .schema_among(schemas, &put.scope, &put.type_name)
                .await?;
            match schema {
                Ok(schema) => {
                    let group = groups.get(&resource.group.key());
                    let tags = self.types.default_tags(put, group);
                    looked_up.push((resource, schema, tags));
                }
                Err(failure) => {
                    let place = format!("{}/type", resource.place);
                    details.push(Detail::at(failure.code, failure.message, place));
                }
            }
        }
        let is_quick = looked_up.len() <= 1;
        let named: HashSet<String> = groups.into_keys().collect();
        let prepare = move || -> (Vec<Result<Given, Detail>>, Outside) {
            let mut outside = Outside::new();
            let prepared = looked_up.into_iter().map(|(resource, schema, tags)| {
                let group = resource.group.clone();
                let given = given(resource, schema, tags)?;
                let properties = &given.resource.properties;
                each_outside(properties, &group, &named, |id| {
                    if outside.len() <= OUTSIDE_MAX {
                        outside.entry(id.key()).or_insert(id);
                    }
                });
                Ok(given)
            });
            let prepared = prepared.collect();
            (prepared, outside)
        };
        let prepared = self.ground.pool.run_unless_quick(is_quick, prepare).await?;
        let (prepared, outside) = prepared;
        Ok((kept(prepared, details), outside))
    }

    /// Returns what is referred to in groups that the body does not name. What the caller may not read does not exist.
    async fn referred_outside(
        &self,
        outside: Outside,
        declared: &DeclaredRefactor,
        caller: &Caller,
    ) -> Result<Vec<Reference>, Rejection> {
        if outside.len() > OUTSIDE_MAX {
            let place = declared.place_of_all();
            let message = format!(
                "More than {OUTSIDE_MAX} resources in groups that the body does not name are referred to. Name these groups too, or fewer of the others."
            );
            return Err(invalid(vec![Detail::at("TooMany", message, place)]));
        }
        let mut found = Vec::new();
        for id in outside.into_values() {
            if !caller.reads_group(&id.group) {
                continue;
            }
            let Some(reference) = self.ground.store.get_reference(&id).await? else {
                continue;
            };
            let Reference { id, scope, .. } = &reference;
            let judged = caller.judge_type(Right::Read, scope, &id.type_name, "read");
            if judged.is_ok() {
                caller.room.take(recorded_by(&reference))?;
                found.push(reference);
            }
        }
        Ok(found)
    }

    /// Returns the schemas and the default tags of what is deployed. A type that is not known any more has no schema.
    async fn deployed_types(
        &self,
        references: &[Reference],
        groups: &[FoundGroup],
        schemas: &mut Schemas,
    ) -> Result<Vec<Typed>, Rejection> {
        let groups: HashMap<String, &ResourceGroup> = groups
            .iter()
            .flat_map(|group| &group.recorded)
            .map(|group| (group.id.key(), group))
            .collect();
        let mut typed = Vec::with_capacity(references.len());
        for Reference { id, scope, .. } in references {
            let schema = self.schema_among(schemas, scope, &id.type_name).await?.ok();
            let mut tags = self.types.default_tags.in_account(&scope.account);
            if let Some(group) = groups.get(&id.group.key()) {
                tags.extend(group.body.default_tags.clone());
            }
            typed.push(Typed { schema, tags });
        }
        Ok(typed)
    }

    /// Returns the schema of a type, which is looked up once.
    async fn schema_among(
        &self,
        schemas: &mut Schemas,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Result<Arc<ResourceSchema>, Failure>, Rejection> {
        let key = (scope.key(), type_name.as_str().to_ascii_lowercase());
        if let Some(known) = schemas.get(&key) {
            return Ok(known.clone());
        }
        if schemas.len() >= TYPES_MAX {
            return Err(invalid(vec![Detail {
                code: "TooMany".to_owned(),
                message: format!(
                    "The resources are of more than {TYPES_MAX} types, as counted for each account and region. Name fewer groups."
                ),
                target: None,
            }]));
        }
        let schema = match self.types.recorded_schema(scope, type_name).await {
            Ok(schema) => Ok(schema),
            Err(Rejection::Invalid(failure)) => Err(failure),
            Err(rejection) => return Err(rejection),
        };
        schemas.insert(key, schema.clone());
        Ok(schema)
    }
}

/// What is declared, with what it takes to compare it.
struct Given {
    resource: Declared,
    schema: Arc<ResourceSchema>,
    tags: BTreeMap<String, String>,
    write_only: BTreeSet<String>,
    /// Its identifier, if the caller gives one that the properties do not tell.
    given: Option<Identifier>,
    /// The put of it, without its properties.
    put: Box<PutResource>,
}

/// Prepares a declaration for the comparison, or returns what is wrong with it.
fn given(
    mut resource: DeclaredResource,
    schema: Arc<ResourceSchema>,
    tags: BTreeMap<String, String>,
) -> Result<Given, Detail> {
    let wrong = |below: &str, message: String| {
        let place = format!("{}/{below}", resource.place);
        Detail::at(ErrorCode::BadRequest, message, place)
    };
    let type_name = schema.type_name().clone();
    let address = ReferenceId::new(resource.group.clone(), type_name, &resource.alias);
    let address = address.map_err(|error| wrong("alias", format!("{error}.")))?;
    let identifier = resource.identifier.as_ref();
    let identifier = identifier.map(|identifier| self::named(&schema, identifier));
    let identifier = identifier.transpose();
    let identifier =
        identifier.map_err(|rejection| wrong("primaryIdentifier", rejection.to_string()))?;
    let mut properties = Value::Object(std::mem::take(&mut resource.put.properties));
    json::drop_nulls(&mut properties);
    if let Some(members) = properties.as_object_mut() {
        members.shift_remove(PROVISIONING_STATE);
    }
    let told = told(&schema, &properties);
    Ok(Given {
        write_only: schema.write_only_in(&properties),
        tags,
        given: identifier.clone().filter(|_| identifier != told),
        resource: Declared {
            place: resource.place,
            address,
            symbolic_name: resource.symbolic_name,
            scope: resource.put.scope.clone(),
            identifier: identifier.or(told),
            identified_by: None,
            properties,
            default_tags: Value::Null,
            write_only: BTreeSet::new(),
        },
        schema,
        put: resource.put,
    })
}

/// What it takes to compare what is deployed.
struct Typed {
    schema: Option<Arc<ResourceSchema>>,
    tags: BTreeMap<String, String>,
}

/// What is compared.
struct Sides {
    references: Vec<Reference>,
    /// For each reference.
    deployed: Vec<Typed>,
    given: Vec<Given>,
    /// What is wrong with the body.
    details: Vec<Detail>,
    events: Vec<ucp_refactor::Event>,
    body: Body,
    keys: Arc<Keys>,
}

/// What came of a comparison.
struct Compared {
    refactor: Refactor,
    /// What is deployed, by key.
    references: HashMap<String, Reference>,
    /// The history of the body.
    history: Option<Vec<ucp_refactor::Event>>,
    puts: Vec<FoundPut>,
}

impl Sides {
    /// Returns whether there is next to nothing to compare.
    fn is_quick(&self) -> bool {
        let history = self.body.history.iter().flatten();
        let moves = history.map(|event| event.moves.len() + 1).sum::<usize>();
        let Body {
            moves: own,
            exclude,
            ..
        } = &self.body;
        self.references.len() + self.given.len() <= 1
            && moves + own.len() + exclude.len() + self.events.len() <= QUICK
    }

    /// Compares both sides.
    fn compare(self) -> Result<Compared, Rejection> {
        let Self {
            references,
            deployed,
            given,
            mut details,
            events,
            mut body,
            keys,
        } = self;
        let mut default_tags = DefaultTags::default();
        for Given { schema, tags, .. } in &given {
            default_tags.add(schema, tags.clone());
        }
        for Typed { schema, tags } in &deployed {
            if let Some(schema) = schema {
                default_tags.add(schema, tags.clone());
            }
        }
        let compared: Vec<Deployed> = references
            .iter()
            .zip(&deployed)
            .map(|(reference, typed)| {
                let schema = typed.schema.as_ref();
                compared(reference, schema, &default_tags, keys.digest.id())
            })
            .collect();
        let mut schemas = HashMap::new();
        let mut declared = Vec::with_capacity(given.len());
        body.resources = given
            .into_iter()
            .map(
                |Given {
                     resource,
                     schema,
                     write_only,
                     given,
                     put,
                     ..
                 }| {
                    let default_tags = default_tags.among(&resource.properties, &schema);
                    declared.push((put, given, Arc::clone(&schema)));
                    schemas.insert(resource.address.key(), schema);
                    Declared {
                        default_tags,
                        write_only,
                        ..resource
                    }
                },
            )
            .collect();
        let mut references: HashMap<String, Reference> = references
            .into_iter()
            .map(|reference| (reference.id.key(), reference))
            .collect();
        let state = State {
            resources: compared,
            events,
        };
        let has_same_secrets = |deployed: &Deployed, declared: &Declared, properties: &Value| {
            let schema = schemas.get(&declared.address.key());
            let reference = references.get(&deployed.address.key());
            match (schema, reference) {
                (Some(schema), Some(reference)) => {
                    has_same_secrets(reference, properties, schema, &keys)
                }
                _ => false,
            }
        };
        let refactor = ucp_refactor::refactor(&state, &body, has_same_secrets);
        let mut refactor = match refactor {
            Ok(refactor) if details.is_empty() => refactor,
            Ok(_) => return Err(invalid(details)),
            Err(problems) => {
                details.extend(problems);
                return Err(invalid(details));
            }
        };
        // What is deployed, by the address that it will have.
        let mut moved: HashMap<String, &Reference> = references
            .values()
            .map(|reference| (reference.id.key(), reference))
            .collect();
        for it in &refactor.moves {
            moved.remove(&it.from.key());
        }
        for it in &refactor.moves {
            if let Some(reference) = references.get(&it.from.key()) {
                moved.insert(it.to.key(), reference);
            }
        }
        let there = |id: &ReferenceId| moved.get(&id.key()).map(|it| Tracked::of(it));
        let puts = std::mem::take(&mut refactor.puts).into_iter();
        let puts = puts.filter_map(|it| {
            let Declared { place, address, .. } = body.resources.get(it.resource)?;
            let (put, given, schema) = declared.get(it.resource)?;
            let Value::Object(properties) = it.properties else {
                return None;
            };
            Some(FoundPut {
                updates: there(address),
                last: None,
                stays: it.stays.iter().filter_map(there).collect(),
                given: given.clone(),
                place: place.clone(),
                reference: address.clone(),
                put: Box::new(PutResource {
                    type_name: schema.type_name().clone(),
                    tracked_by: Some(TrackedBy {
                        id: address.to_string(),
                        alias: None,
                    }),
                    properties,
                    ..(**put).clone()
                }),
                schema: Arc::clone(schema),
                needs: it.needs,
                unmet: it.unmet,
            })
        });
        let mut puts: Vec<FoundPut> = puts.collect();
        drop(moved);
        for put in &mut puts {
            let updates = put.updates.as_ref().map(|it| it.id.key());
            let updates = updates.and_then(|key| references.get_mut(&key));
            // Nobody compares with it any more.
            put.last = updates.and_then(|reference| reference.baseline.take());
        }
        Ok(Compared {
            refactor,
            references,
            history: body.history,
            puts,
        })
    }
}

/// Returns whether the write-only values of a declaration are those that were last put.
fn has_same_secrets(
    reference: &Reference,
    properties: &Value,
    schema: &ResourceSchema,
    keys: &Keys,
) -> bool {
    let none = Baseline::default();
    let last = reference.last_put().unwrap_or(&none);
    let lineage: &Lineage = &reference.lineage;
    let declared = digests(properties, schema, |pattern, value| {
        keys.digest.digest(lineage, pattern, value)
    });
    declared == last.digests
}

/// Returns the identifier that the properties tell.
fn told(schema: &ResourceSchema, properties: &Value) -> Option<Identifier> {
    match schema.identifier(properties) {
        IdentifierOutcome::Known(identifier) => Identifier::parse(identifier.as_str()).ok(),
        IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
    }
}

/// Returns what could be read, and notes what is wrong with the rest.
fn kept<T>(given: Vec<Result<T, Detail>>, details: &mut Vec<Detail>) -> Vec<T> {
    let mut kept = Vec::with_capacity(given.len());
    for one in given {
        match one {
            Ok(one) => kept.push(one),
            Err(detail) => details.push(detail),
        }
    }
    kept
}

/// Refuses a body for what the details say.
fn invalid(details: Vec<Detail>) -> Rejection {
    Rejection::Invalid(Failure::new(ErrorCode::BadRequest, INVALID).with_details(details))
}
