//! References that a complete set moves: it lists a resource under another alias than the group.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use ucp_model::operation::group::MovedFrom;
use ucp_model::{
    ErrorCode, Failure, GroupId, Identifier, ProvisioningState, Reference, ReferenceId, Target,
};
use ucp_schema::{IdentifierOutcome, ResourceSchema};

use super::{Given, SetGoal};
use crate::Rejection;

/// Moves each reference that a complete set does not list to the alias that comes with the same resource, so that one reference stays
/// with what it remembers. Only an identifier that is declared tells that: one that AWS assigns is not in a set. Returns what
/// moves, by the indexes of the members.
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
    let mut schemas: BTreeMap<&str, &ResourceSchema> = BTreeMap::new();
    for Given { schema, .. } in given.values() {
        schemas.insert(schema.type_name().as_str(), schema);
    }
    let mut leaving: BTreeMap<String, Vec<&Reference>> = BTreeMap::new();
    for (key, reference) in recorded.iter() {
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
            leaving.entry(key).or_default().push(reference);
        }
    }
    if leaving.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut moves: BTreeMap<String, (ReferenceId, Vec<usize>)> = BTreeMap::new();
    for (index, id) in &ids {
        let Given { schema, member } = &given[index];
        let SetGoal::Put(put) = &member.goal else {
            continue;
        };
        if recorded.contains_key(&id.key()) {
            continue;
        }
        let properties = Value::Object(put.properties.clone());
        let IdentifierOutcome::Known(identifier) = schema.identifier(&properties) else {
            continue;
        };
        let target = Target {
            scope: &member.scope,
            type_name: &id.type_name,
            identifier: &identifier,
        };
        if let Some(from) = leaving.get(&target.key()).and_then(|it| the_one(it)) {
            let (_, to) = moves
                .entry(from.key())
                .or_insert_with(|| (from, Vec::new()));
            to.push(*index);
        }
    }
    let mut moved = BTreeMap::new();
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
    Ok(moved)
}

/// Returns the identifier as the last put has declared it: AWS does not keep the letter case of some.
fn declared_by(reference: &Reference, schema: &ResourceSchema) -> Option<Identifier> {
    let last = reference.baseline.as_ref()?;
    match schema.identifier(&last.declared) {
        IdentifierOutcome::Known(identifier) => Some(identifier),
        IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
    }
}

/// Returns which of the references to one resource that the set does not list moves: the owner, or the only one.
fn the_one(references: &[&Reference]) -> Option<ReferenceId> {
    let owner = references.iter().find(|reference| reference.owned);
    let only = match references {
        [only] => Some(only),
        _ => None,
    };
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
