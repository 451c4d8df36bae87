use serde_json::Value;

use super::chance::Chance;
use super::value::Maker;
use crate::path::PropertyPath;
use crate::schema::Member;
use crate::{ResourceSchema, subschema};

/// How often to make up another value for one leaf.
const ATTEMPTS: u64 = 8;

/// The same model with one difference that an update can make: another value for a leaf, or one more property. None
/// when there is nothing that an update could change.
pub fn changed(schema: &ResourceSchema, model: &Value, seed: u64) -> Option<Value> {
    if !schema.handlers().update {
        return None;
    }
    let mut leaves = Vec::new();
    Finder { schema }.leaves(&[schema.document()], model, &mut Vec::new(), &mut leaves);
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

struct Finder<'a> {
    schema: &'a ResourceSchema,
}

impl<'a> Finder<'a> {
    /// The updatable leaves of `value`, which fits one of `schemas`.
    fn leaves(
        &self,
        schemas: &[&'a Value],
        value: &Value,
        path: &mut Vec<String>,
        found: &mut Vec<Leaf<'a>>,
    ) {
        let segments: Vec<&str> = path.iter().map(String::as_str).collect();
        if is_fixed(self.schema, &segments) {
            return;
        }
        let mut flat = Vec::new();
        schemas
            .iter()
            .for_each(|schema| self.flatten(schema, &mut flat));
        let below: Vec<(String, &Value)> = match value {
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (name.clone(), member))
                .collect(),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| (index.to_string(), item))
                .collect(),
            _ => {
                let path = path.clone();
                found.extend(schemas.first().map(|schema| Leaf { path, schema }));
                return;
            }
        };
        for (name, member) in below {
            let schemas: Vec<&Value> = flat
                .iter()
                .filter_map(|schema| match value {
                    Value::Array(_) => {
                        subschema::resolve(self.schema.document(), schema)?.get("items")
                    }
                    _ => match self
                        .schema
                        .member(subschema::resolve(self.schema.document(), schema)?, &name)
                    {
                        Member::Schema(member) => Some(member),
                        Member::Anything | Member::Forbidden => None,
                    },
                })
                .collect();
            path.push(name);
            self.leaves(&schemas, member, path, found);
            path.pop();
        }
    }

    /// A schema and those that it combines.
    fn flatten(&self, schema: &'a Value, flat: &mut Vec<&'a Value>) {
        flat.push(schema);
        if let Some(members) = subschema::resolve(self.schema.document(), schema) {
            for keyword in ["allOf", "anyOf", "oneOf"] {
                subschema::branches(members, keyword).for_each(|branch| self.flatten(branch, flat));
            }
        }
    }
}

/// The optional properties that an update could add.
fn absent<'a>(schema: &'a ResourceSchema, model: &Value) -> impl Iterator<Item = Leaf<'a>> {
    let document = schema.document().as_object().into_iter();
    document
        .flat_map(|document| subschema::named(document, "properties"))
        .filter(|(name, _)| model.get(name.as_str()).is_none())
        .filter(|(name, _)| !is_fixed(schema, &[name.as_str()]))
        .filter(|(name, _)| {
            !unchangeable(schema).any(|path| path.property() == Some(name.as_str()))
        })
        .map(|(name, schema)| Leaf {
            path: vec![name.clone()],
            schema,
        })
}

/// The properties that an update cannot set to something new and see it.
fn unchangeable(schema: &ResourceSchema) -> impl Iterator<Item = &PropertyPath> {
    schema
        .create_only()
        .iter()
        .chain(schema.conditional_create_only().iter())
        .chain(schema.write_only().iter())
        .chain(schema.primary_identifier())
}

fn is_fixed(schema: &ResourceSchema, segments: &[&str]) -> bool {
    let classes = [
        schema.read_only(),
        schema.create_only(),
        schema.conditional_create_only(),
        schema.write_only(),
    ];
    classes.into_iter().any(|class| class.contains(segments))
        || schema
            .primary_identifier()
            .iter()
            .any(|path| path.names() == segments)
}

/// Puts `value` at `path`; tells whether that makes a difference, and nothing when there is no such place.
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
