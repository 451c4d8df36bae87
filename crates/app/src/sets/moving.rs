//! References that a complete set moves: it lists a resource under another alias than the group.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use ucp_model::operation::group::MovedFrom;
use ucp_model::{
    ErrorCode, Failure, GroupId, Identifier, ProvisioningState, Reference, ReferenceId, Target,
};
use ucp_schema::{IdentifierOutcome, ResourceSchema};
use ucp_set::{Link, renamed, resolve};

use crate::declared::Given;
use crate::{Rejection, SetGoal};

/// Moves each reference that a complete set does not list to the alias that comes with the same resource, so that one reference stays
/// with what it remembers. Only an identifier that is declared tells that, with values of other members as the group has
/// them: one that AWS assigns is not in a set. Returns what moves, by the indexes of the members.
pub(super) fn moved(
    group: &GroupId,
    given: &BTreeMap<usize, Given>,
    recorded: &mut BTreeMap<String, Reference>,
) -> Result<BTreeMap<usize, MovedFrom>, Rejection> {
    let ids = given
        .iter()
        .filter_map(|(index, Given { schema, member })| {
            let type_name = schema.type_name().clone();
            let id = ReferenceId::new(group.clone(), type_name, &member.alias).ok()?;
            Some((*index, id))
        });
    let ids: BTreeMap<usize, ReferenceId> = ids.collect();
    let listed: BTreeSet<String> = ids.values().map(ReferenceId::key).collect();
    let leaving = leaving(given, &listed, recorded);
    let mut moved = BTreeMap::new();
    if leaving.is_empty() {
        return Ok(moved);
    }
    let names = names(given, &ids);
    let mut coming: Vec<usize> = ids
        .iter()
        .filter(|(_, id)| !recorded.contains_key(&id.key()))
        .map(|(index, _)| *index)
        .collect();
    // What moves tells the identifiers of what refers to it.
    loop {
        let mut moves: BTreeMap<String, (ReferenceId, Vec<usize>)> = BTreeMap::new();
        coming.retain(|index| {
            let Given { schema, member } = &given[index];
            let SetGoal::Put(put) = &member.goal else {
                return false;
            };
            let Some(identifier) = comes_as(&put.properties, schema, &names, recorded) else {
                return true;
            };
            let target = Target {
                scope: &member.scope,
                type_name: &ids[index].type_name,
                identifier: &identifier,
            };
            let left = leaving.get(&target.key());
            if let Some(from) = left.and_then(|it| the_one(it, recorded)) {
                let (_, to) = moves
                    .entry(from.key())
                    .or_insert_with(|| (from, Vec::new()));
                to.push(*index);
            }
            false
        });
        let before = moved.len();
        for (key, (from, to)) in moves {
            // Two that declare one resource are refused.
            let [to] = to[..] else {
                continue;
            };
            if let Some(reference) = recorded.remove(&key) {
                refuse_undecided(&reference)?;
                let id = ids[&to].clone();
                let from = MovedFrom {
                    reference: from,
                    lineage: reference.lineage.clone(),
                    identifier: reference.identifier.clone(),
                };
                recorded.insert(id.key(), Reference { id, ..reference });
                moved.insert(to, from);
            }
        }
        if moved.len() == before {
            return Ok(moved);
        }
    }
}

/// A reference that a set does not list.
struct Leaving {
    id: ReferenceId,
    is_owner: bool,
}

/// Returns the references that a set does not list, by the keys of their resources, as AWS and as the last put spell them.
fn leaving(
    given: &BTreeMap<usize, Given>,
    listed: &BTreeSet<String>,
    recorded: &BTreeMap<String, Reference>,
) -> BTreeMap<String, Vec<Leaving>> {
    let mut schemas: BTreeMap<&str, &ResourceSchema> = BTreeMap::new();
    for Given { schema, .. } in given.values() {
        schemas.insert(schema.type_name().as_str(), schema);
    }
    let mut leaving: BTreeMap<String, Vec<Leaving>> = BTreeMap::new();
    for (key, reference) in recorded {
        let Some(target) = reference.target().filter(|_| !listed.contains(key)) else {
            continue;
        };
        let schema = schemas.get(reference.id.type_name.as_str());
        let declared = schema.and_then(|schema| declared_by(reference, schema));
        let spelled = declared.as_ref().map(|identifier| {
            let target = Target {
                identifier,
                ..target
            };
            target.key()
        });
        let keys: BTreeSet<String> = spelled.into_iter().chain([target.key()]).collect();
        for key in keys {
            leaving.entry(key).or_default().push(Leaving {
                id: reference.id.clone(),
                is_owner: reference.owned,
            });
        }
    }
    leaving
}

/// Returns the members by their names, in lower case. What several have is none.
fn names<'a>(
    given: &BTreeMap<usize, Given>,
    ids: &'a BTreeMap<usize, ReferenceId>,
) -> BTreeMap<String, Option<&'a ReferenceId>> {
    let mut names: BTreeMap<String, Option<&ReferenceId>> = BTreeMap::new();
    for (index, id) in ids {
        let symbolic = given[index].member.symbolic_name.as_deref();
        let own: BTreeSet<String> = [Some(id.alias.as_str()), symbolic]
            .into_iter()
            .flatten()
            .map(str::to_lowercase)
            .collect();
        for name in own {
            let is_taken = names.contains_key(&name);
            names.insert(name, Some(id).filter(|_| !is_taken));
        }
    }
    names
}

/// Returns the identifier that a put declares, with the values of other members as they are recorded.
fn comes_as(
    properties: &Map<String, Value>,
    schema: &ResourceSchema,
    names: &BTreeMap<String, Option<&ReferenceId>>,
    recorded: &BTreeMap<String, Reference>,
) -> Option<Identifier> {
    let paths = schema.primary_identifier().iter();
    let parts: BTreeSet<&str> = paths.filter_map(|path| path.property()).collect();
    let parts = properties
        .iter()
        .filter(|(name, _)| parts.contains(name.as_str()));
    let parts = Value::Object(parts.map(|(name, it)| (name.clone(), it.clone())).collect());
    let linked = renamed(&parts, |address| {
        let member = names.get(&address.name.to_lowercase()).copied().flatten();
        member.map_or_else(|| address.name.clone(), ReferenceId::to_string)
    });
    let value_of = |link: &Link| {
        let reference = recorded.get(&link.reference.key())?;
        link.value_in(reference.identifier.as_ref()?, reference.observed.as_ref())
    };
    identifier_in(&resolve(&linked, value_of).ok()?, schema)
}

/// Returns the identifier as the last put has declared it: AWS does not keep the letter case of some.
fn declared_by(reference: &Reference, schema: &ResourceSchema) -> Option<Identifier> {
    identifier_in(&reference.last_put()?.declared, schema)
}

fn identifier_in(properties: &Value, schema: &ResourceSchema) -> Option<Identifier> {
    match schema.identifier(properties) {
        IdentifierOutcome::Known(identifier) => Some(identifier),
        IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
    }
}

/// Returns which of the references to one resource that the set does not list moves: the owner, or the only one.
fn the_one(references: &[Leaving], recorded: &BTreeMap<String, Reference>) -> Option<ReferenceId> {
    let left = references.iter();
    let left = left.filter(|reference| recorded.contains_key(&reference.id.key()));
    let left: Vec<&Leaving> = left.collect();
    let owner = left.iter().find(|reference| reference.is_owner);
    let only = left.first().filter(|_| left.len() == 1);
    owner.or(only).map(|reference| reference.id.clone())
}

/// The register of leftovers knows what is undecided by its id.
fn refuse_undecided(reference: &Reference) -> Result<(), Rejection> {
    if reference.provisioning_state != ProvisioningState::Unknown {
        return Ok(());
    }
    let message = format!(
        "'{}' would get another alias, and may not exist: the outcome of its create is unknown. Nothing was stored or sent. Let that be decided first: see the leftovers of the group.",
        reference.id.alias
    );
    let failure = Failure::new(ErrorCode::Conflict, message);
    Err(Rejection::Conflict(
        failure.with_target(reference.id.to_string()),
    ))
}
