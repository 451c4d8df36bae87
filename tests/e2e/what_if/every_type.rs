//! What is told of a resource of each type, after it was put.

use serde_json::{Value, json};
use ucp_model::{Identifier, TypeName};
use ucp_schema::{Catalogue, Classes, ResourceSchema};
use ucp_testkit::{World, tracked_by};

use super::what_if;

/// One of so many types is looked at in a normal run; with `UCP_TYPES=all` all are.
const SHARE: usize = 47;
/// How many declarations of a type are looked through for another value of a property.
const SEEDS: u64 = 6;

/// What was told of the types.
#[derive(Default)]
struct Told {
    /// How many can be created and read.
    offered: usize,
    /// Those that could not be put.
    refused: Vec<String>,
    /// How many could be put and read.
    put: usize,
    /// Those for which the same declaration is a change.
    changed: Vec<String>,
    /// How many were declared otherwise, and those for which that is no change.
    declared: usize,
    missed: Vec<String>,
    /// How many had an undeclared property changed, and those for which that is planned.
    undeclared: usize,
    planned: Vec<String>,
}

async fn kind(world: &World, name: &TypeName, declared: &Value) -> Value {
    let result = what_if(world, &name.arm(), "a", declared.clone()).await;
    result["properties"]["changes"][0]["changeType"].clone()
}

/// The declared properties that may be changed, and that a read shows.
fn changeable(schema: &ResourceSchema, declared: &Value) -> Vec<String> {
    let hidden = [
        Classes::WRITE_ONLY,
        Classes::READ_ONLY,
        Classes::FIXED,
        Classes::TAGS,
    ];
    let names = declared.as_object().into_iter().flat_map(|it| it.keys());
    names
        .filter(|name| {
            let cursor = schema.root().member(name);
            let hides = |class: &Classes| cursor.is_none_or(|it| it.is(*class) || it.holds(*class));
            !hidden.iter().any(hides)
        })
        .cloned()
        .collect()
}

/// A text that is the same for lists in another order, and without objects that say nothing.
fn unordered(value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            let mut elements: Vec<String> = elements.iter().map(unordered).collect();
            elements.sort_unstable();
            elements.dedup();
            format!("{elements:?}")
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name, unordered(value)));
            let members = members.filter(|(_, value)| value != "[]");
            let mut members: Vec<(&String, String)> = members.collect();
            members.sort_unstable();
            format!("{members:?}")
        }
        other => other.to_string(),
    }
}

/// Declares another value of a property. Returns its name too.
fn changed(schema: &ResourceSchema, declared: &Value) -> Option<(String, Value)> {
    changeable(schema, declared).into_iter().find_map(|name| {
        (2..SEEDS).find_map(|seed| {
            let other = ucp_sample::declaration(schema, seed);
            let value = other.get(&name)?;
            if unordered(value) == unordered(&declared[&name]) {
                return None;
            }
            let mut next = declared.clone();
            next[&name] = value.clone();
            let is_valid = schema.validate_model(&next).is_empty();
            is_valid.then(|| (name.clone(), next))
        })
    })
}

/// Takes a property out of a declaration. Returns it.
fn take_one(schema: &ResourceSchema, declared: &mut Value) -> Option<Value> {
    changeable(schema, declared).into_iter().find_map(|name| {
        let mut without = declared.clone();
        let value = without.as_object_mut()?.shift_remove(&name)?;
        if !schema.validate_model(&without).is_empty() {
            return None;
        }
        *declared = without;
        Some(json!({ name: value }))
    })
}

/// Puts a declaration that can be put, if there is one. Returns it, with a property that it could have besides.
async fn put(world: &World, arm: &str, schema: &ResourceSchema) -> Option<(Value, Option<Value>)> {
    // A sample may be invalid in ways that the schema does not express.
    for seed in 1..SEEDS {
        let mut declared = ucp_sample::declaration(schema, seed);
        let undeclared = take_one(schema, &mut declared);
        let reply = world.put(arm, "a", declared.clone()).await;
        if reply.status != 201 {
            continue;
        }
        world.settle().await;
        if world.status(&reply).await["status"] == "Succeeded" {
            return Some((declared, undeclared));
        }
    }
    None
}

async fn tell(name: &TypeName, schema: &ResourceSchema, told: &mut Told) {
    let world = World::builder().build().await;
    let arm = name.arm();
    told.offered += 1;
    let Some((declared, undeclared)) = put(&world, &arm, schema).await else {
        told.refused.push(arm);
        return;
    };
    told.put += 1;
    if kind(&world, name, &declared).await != "NoChange" {
        told.changed.push(arm.clone());
        return;
    }
    if let Some((name, next)) = changed(schema, &declared) {
        told.declared += 1;
        let result = what_if(&world, &arm, "a", next).await;
        let change = &result["properties"]["changes"][0];
        let deltas = change["delta"].as_array();
        let pointer = format!("/{name}");
        let mut deltas = deltas.into_iter().flatten();
        let is_there = deltas.any(|delta| {
            let place = delta["pointer"].as_str().unwrap_or_default();
            place.starts_with(&pointer) && delta.to_string().contains(r#""cause":"Declaration""#)
        });
        if change["changeType"] != "Modify" || !is_there {
            told.missed.push(format!("{arm}{pointer}"));
        }
    }
    let Some(patch) = undeclared else {
        return;
    };
    let reference = world.get(&tracked_by(&arm, "a")).await.expect(200).body;
    let identifier = reference["mapsTo"]["primaryIdentifier"].as_str();
    let identifier = Identifier::new(identifier.unwrap_or_default());
    let target = (name.as_str(), identifier.as_str());
    if world
        .aws
        .patch_out_of_band(None, None, target, &patch)
        .is_ok()
    {
        told.undeclared += 1;
        if kind(&world, name, &declared).await != "NoChange" {
            told.planned.push(arm);
        }
    }
}

#[tokio::test]
async fn what_was_put_is_no_change_and_only_what_is_declared_is_one() {
    let all = std::env::var("UCP_TYPES").is_ok_and(|types| types == "all");
    let share = if all { 1 } else { SHARE };
    let catalogue = Catalogue::embedded();
    let mut told = Told::default();
    for name in catalogue.type_names().step_by(share) {
        let schema = catalogue.get(name).expect("a schema");
        if schema.is_provisionable() && schema.handlers().read {
            tell(name, &schema, &mut told).await;
        }
    }
    let Told {
        offered,
        refused,
        put,
        changed,
        declared,
        missed,
        undeclared,
        planned,
    } = told;
    println!("{offered} types offered; not put: {refused:?}");
    println!("{put} types put; a change without one: {changed:?}");
    println!("{declared} declared otherwise; not seen: {missed:?}");
    println!("{undeclared} changed where nothing is declared; planned: {planned:?}");
    assert!(offered * share > 20 * SHARE, "only {offered} are offered");
    assert!(refused.len() * 100 <= offered, "not put: {refused:?}");
    assert!(changed.len() * 100 <= put, "{changed:?}");
    assert!(declared > 0 && missed.is_empty(), "{missed:?}");
    assert!(undeclared > 0 && planned.is_empty(), "{planned:?}");
}
