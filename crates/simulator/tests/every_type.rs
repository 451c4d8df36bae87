//! Creates, reads, lists, updates and deletes a resource of every type that Cloud Control can provision.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod aws;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use ucp_model::Identifier;
use ucp_schema::{Catalogue, ResourceSchema};
use ucp_simulator::{ExceptionCode, ListResources, OperationStatus};

use aws::{Aws, create, delete, update};

/// The seeds of samples; the first that can be created is used. A sample may be invalid in ways that the schema does
/// not express, such as an empty name that is a part of the identifier.
const SEEDS: std::ops::Range<u64> = 1..6;

#[test]
fn a_resource_of_every_type_lives_and_dies() {
    let catalogue = Catalogue::embedded();
    let schemas: Vec<Arc<ResourceSchema>> = catalogue
        .type_names()
        .filter_map(|name| catalogue.get(name))
        .filter(|schema| schema.is_provisionable())
        .collect();
    assert_eq!(schemas.len(), 1_695);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let problems: Vec<String> = std::thread::scope(|scope| {
        let shares = schemas.chunks(schemas.len().div_ceil(threads));
        let workers: Vec<_> = shares
            .map(|share| {
                scope.spawn(|| {
                    let mut aws = Aws::new();
                    let lives = share.iter().map(|schema| (schema, live(&mut aws, schema)));
                    let failed = lives.filter_map(|(schema, life)| Some((schema, life.err()?)));
                    let told = failed
                        .map(|(schema, problem)| format!("{}: {problem}", schema.type_name()));
                    told.collect::<Vec<String>>()
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    assert!(
        problems.is_empty(),
        "{} of {}:\n{}",
        problems.len(),
        schemas.len(),
        problems.join("\n")
    );
}

/// Runs the lifecycle of one resource. Returns what went wrong.
fn live(aws: &mut Aws, schema: &ResourceSchema) -> Result<(), String> {
    let name = schema.type_name().as_str();
    let handlers = schema.handlers();
    let mut created = Err("no sample".to_owned());
    for seed in SEEDS {
        let declared = ucp_sample::declaration(schema, seed);
        created = finish(aws, "create", &create(name, &declared)).map(|id| (id, declared));
        if created.is_ok() {
            break;
        }
    }
    let (identifier, declared) = created?;

    if handlers.read {
        expect(aws, schema, &identifier, &declared)?;
    }
    if handlers.list {
        let list = ListResources {
            type_name: name.to_owned(),
            resource_model: Some(list_model(aws, schema, &identifier, &declared)),
            ..ListResources::default()
        };
        let (listed, _) = aws
            .list(&list)
            .map_err(|refusal| format!("list: {}", refusal.message))?;
        if !listed.contains(&identifier) {
            return Err(format!("list: {identifier} is not in {listed:?}"));
        }
    }
    if handlers.update
        && let Some(changed) = ucp_sample::changed(schema, &declared, 1)
    {
        let patch = patch(&declared, &changed);
        finish(aws, "update", &update(name, &identifier, &patch))?;
        if handlers.read {
            expect(aws, schema, &identifier, &changed)?;
        }
    }
    if handlers.delete {
        finish(aws, "delete", &delete(name, &identifier))?;
        if handlers.read {
            let gone = aws.get(name, &identifier).map_err(|refusal| refusal.code);
            if gone != Err(ExceptionCode::ResourceNotFound) {
                return Err(format!("after delete: {gone:?}"));
            }
        }
    }
    Ok(())
}

fn finish(aws: &mut Aws, what: &str, request: &ucp_simulator::Request) -> Result<String, String> {
    let accepted = aws
        .change(request)
        .map_err(|refusal| format!("{what}: {} {}", refusal.code, refusal.message))?;
    aws.pass(std::time::Duration::from_secs(1));
    let event = aws
        .status(&accepted.request_token)
        .map_err(|refusal| format!("{what}: {}", refusal.message))?;
    if event.operation_status != OperationStatus::Success {
        return Err(format!("{what}: {:?}", event.status_message));
    }
    event
        .identifier
        .ok_or_else(|| format!("{what}: no identifier"))
}

/// Checks that a read returns all declared properties, except for write-only ones.
fn expect(
    aws: &mut Aws,
    schema: &ResourceSchema,
    identifier: &str,
    declared: &Value,
) -> Result<(), String> {
    let live = aws
        .get(schema.type_name().as_str(), identifier)
        .map_err(|refusal| format!("get: {}", refusal.message))?;
    if schema.without_write_only(&live) != live {
        return Err("get: tells a write-only property".to_owned());
    }
    let mut declared = schema.without_write_only(declared);
    respell(schema, identifier, &mut declared);
    match lacking(&declared, &live) {
        None => Ok(()),
        Some(place) => Err(format!("get: not as declared at {place}")),
    }
}

/// Spells the declared parts of the identifier as AWS does, which need not keep their letter case.
fn respell(schema: &ResourceSchema, identifier: &str, declared: &mut Value) {
    let parts = schema.properties_of_identifier(&Identifier::new(identifier));
    let parts = parts.iter().filter_map(Value::as_object).flatten();
    for (name, part) in parts {
        if let (Some(Value::String(text)), Value::String(part)) = (declared.get_mut(name), part)
            && text.eq_ignore_ascii_case(part)
        {
            text.clone_from(part);
        }
    }
}

/// Returns the place where `live` lacks a declared value.
fn lacking(declared: &Value, live: &Value) -> Option<String> {
    match (declared, live) {
        (Value::Object(declared), Value::Object(live)) => {
            declared.iter().find_map(|(name, declared)| {
                let live = live.get(name).unwrap_or(&Value::Null);
                lacking(declared, live).map(|place| format!("/{name}{place}"))
            })
        }
        (Value::Array(declared), Value::Array(live)) if declared.len() == live.len() => {
            let pairs = declared.iter().zip(live).enumerate();
            let mut lacks = pairs.filter_map(|(index, (declared, live))| {
                lacking(declared, live).map(|place| format!("/{index}{place}"))
            });
            lacks.next()
        }
        (declared, live) => (declared != live).then(String::new),
    }
}

/// Takes the properties that the list handler requires from the resource.
fn list_model(
    aws: &mut Aws,
    schema: &ResourceSchema,
    identifier: &str,
    declared: &Value,
) -> String {
    let required = schema
        .document()
        .pointer("/handlers/list/handlerSchema/required");
    let names = required.and_then(Value::as_array).into_iter().flatten();
    let resources = aws.world.resources(aws.now, &aws.entropy);
    let type_name = schema.type_name().as_str();
    let live = resources
        .iter()
        .find(|live| live.type_name == type_name && live.identifier == identifier)
        .unwrap();
    let model = names.filter_map(Value::as_str).map(|name| {
        let value = declared.get(name).or_else(|| live.properties.get(name));
        (
            name.to_owned(),
            value.cloned().unwrap_or_else(|| json!("any")),
        )
    });
    Value::Object(model.collect::<Map<String, Value>>()).to_string()
}

/// The patch of whole top-level properties from one declaration to another.
fn patch(from: &Value, to: &Value) -> Value {
    let empty = Map::new();
    let from = from.as_object().unwrap_or(&empty);
    let to = to.as_object().unwrap_or(&empty);
    let escape = |name: &str| name.replace('~', "~0").replace('/', "~1");
    let removed = from
        .keys()
        .filter(|name| !to.contains_key(*name))
        .map(|name| json!({"op": "remove", "path": format!("/{}", escape(name))}));
    let added = to
        .iter()
        .filter(|(name, value)| from.get(*name) != Some(value))
        .map(|(name, value)| json!({"op": "add", "path": format!("/{}", escape(name)), "value": value}));
    Value::Array(removed.chain(added).collect())
}
