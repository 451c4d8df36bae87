use serde_json::{Map, Value};
use ucp_schema::{Classes, Member, PropertyPath, ResourceSchema, subschema};

use crate::chance::Chance;
use crate::choice::Choice;
use crate::value::{ANYTHING, Maker};

/// The number of attempts to generate another value for a leaf.
const ATTEMPTS: u64 = 8;

/// Returns the model with one difference that an update can make: another value for a leaf, or one more property.
/// `None` if an update cannot change anything.
pub fn changed(schema: &ResourceSchema, model: &Value, seed: u64) -> Option<Value> {
    if !schema.handlers().update {
        return None;
    }
    let mut leaves = leaves(schema, &[schema.document()], model, &[]);
    leaves.extend(absent(schema, model));
    let first = Chance::new(seed, 0).below(leaves.len());
    leaves.rotate_left(first);
    leaves.iter().find_map(|leaf| {
        (0..ATTEMPTS).find_map(|attempt| {
            let value =
                Maker::new(schema, Chance::new(seed, attempt)).value_at(&leaf.path, leaf.schema)?;
            let mut model = model.clone();
            let is_new = replace(&mut model, &leaf.path, value)?;
            (is_new && schema.validate_model(&model).is_empty()).then_some(model)
        })
    })
}

/// A place of a model whose value may change.
struct Leaf<'a> {
    path: Vec<String>,
    schema: &'a Value,
}

/// Collects the updatable leaves of `value`, which is at `path` and fits one of `schemas`.
fn leaves<'a>(
    schema: &'a ResourceSchema,
    schemas: &[&'a Value],
    value: &Value,
    path: &[String],
) -> Vec<Leaf<'a>> {
    let segments: Vec<&str> = path.iter().map(String::as_str).collect();
    if is_fixed(schema, &segments) {
        return Vec::new();
    }
    let flat: Vec<&Map<String, Value>> = schemas
        .iter()
        .flat_map(|one| subschema::flatten(schema.document(), one))
        .collect();
    let below = |name: String, value: &Value, schemas: Vec<&'a Value>| {
        leaves(schema, &schemas, value, &[path, &[name]].concat())
    };
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, member)| {
                let schemas = flat
                    .iter()
                    .filter_map(|one| match schema.member(one, name) {
                        Member::Schema(schema) => Some(schema),
                        Member::Anything | Member::Forbidden => None,
                    });
                below(name.clone(), member, schemas.collect())
            })
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, item)| {
                let schemas = flat.iter().filter_map(|one| one.get("items"));
                below(index.to_string(), item, schemas.collect())
            })
            .collect(),
        _ => vec![Leaf {
            path: path.to_vec(),
            schema: schemas.first().copied().unwrap_or(&ANYTHING),
        }],
    }
}

/// Returns the optional properties that an update could add.
fn absent<'a>(schema: &'a ResourceSchema, model: &Value) -> Vec<Leaf<'a>> {
    let document = schema.document();
    let choice = Choice::choose(document, document, &mut Chance::new(0, 0));
    let properties = document.as_object().into_iter();
    properties
        .flat_map(|document| subschema::named(document, "properties"))
        .filter(|(name, _)| model.get(name.as_str()).is_none() && !choice.is_entangled(name))
        .filter(|(name, _)| !is_fixed(schema, &[name.as_str()]))
        .filter(|(name, _)| !unchangeable(schema).any(|path| path.property() == Some(name)))
        .map(|(name, schema)| Leaf {
            path: vec![name.clone()],
            schema,
        })
        .collect()
}

/// The properties whose change by an update is impossible or not visible in a read.
fn unchangeable(schema: &ResourceSchema) -> impl Iterator<Item = &PropertyPath> {
    let classes = Classes::FIXED | Classes::WRITE_ONLY;
    schema.listed(classes).chain(schema.primary_identifier())
}

fn is_fixed(schema: &ResourceSchema, segments: &[&str]) -> bool {
    let classes = Classes::FIXED | Classes::READ_ONLY | Classes::WRITE_ONLY;
    schema.lists(classes, segments)
        || schema
            .primary_identifier()
            .iter()
            .any(|path| path.names() == segments)
}

/// Sets the value at `path`, and returns whether it differs from the old one. `None` if the place does not exist.
fn replace(model: &mut Value, path: &[String], value: Value) -> Option<bool> {
    let (last, above) = path.split_last()?;
    let holder = above.iter().try_fold(model, |model, segment| match model {
        Value::Array(items) => items.get_mut(segment.parse::<usize>().ok()?),
        _ => model.get_mut(segment),
    })?;
    match holder {
        Value::Object(members) => Some(members.insert(last.clone(), value.clone()) != Some(value)),
        Value::Array(items) => {
            let item = items.get_mut(last.parse::<usize>().ok()?)?;
            let is_new = *item != value;
            *item = value;
            Some(is_new)
        }
        _ => None,
    }
}
