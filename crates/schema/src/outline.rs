//! What a type has, for those who read about it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{Classes, Cursor, PropertyPath, ResourceSchema, Segment, Types, subschema};

/// A property of a resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property<'s> {
    /// Its place in the model.
    pub path: PropertyPath,
    /// Its JSON types. Empty if any is allowed.
    pub types: Vec<&'s str>,
    /// The classes that the schema assigns to it, such as `readOnly`, or to a property that it is in.
    pub classes: Vec<&'static str>,
    /// Whether it is a top-level property that every resource must have.
    pub is_required: bool,
    /// What it means. The embedded schemas do not say.
    pub description: Option<&'s str>,
}

impl ResourceSchema {
    /// Lists the top-level properties, and the properties in them that the schema assigns a class to, in the order of
    /// their paths.
    pub fn outline(&self) -> impl Iterator<Item = Property<'_>> {
        let members = self.document().get("properties").and_then(Value::as_object);
        let names = members.into_iter().flat_map(Map::keys);
        let top = names.map(|name| PropertyPath::of(name));
        let listed = self.listed(Classes::ALL_LISTED).cloned();
        let paths: BTreeMap<String, PropertyPath> = top
            .chain(listed)
            .map(|path| (path.pointer(), path))
            .collect();
        paths.into_values().filter_map(|path| self.property(path))
    }

    /// Lists the members of what is at a place, or of the elements of a list there. `None` if there is no such place.
    pub fn members_at(&self, place: &[&str]) -> Option<Vec<Property<'_>>> {
        let mut cursor = self.root();
        let mut above: Vec<Segment> = Vec::new();
        for name in place {
            cursor = cursor.member(name)?;
            above.push(Segment::Key((*name).to_owned()));
            if cursor.shape().types == Types::ARRAY {
                cursor = cursor.element();
                above.push(Segment::Any);
            }
        }
        let shape = cursor.shape();
        let members = shape.member_names().filter_map(|name| {
            let property = self.property(PropertyPath::below(&above, name))?;
            Some(Property {
                is_required: shape.requires(name),
                ..property
            })
        });
        Some(members.collect())
    }

    fn property(&self, path: PropertyPath) -> Option<Property<'_>> {
        let mut cursor = self.root();
        let mut schema = Some(self.document());
        for segment in path.segments() {
            cursor = below(cursor, segment)?;
            schema = schema.and_then(|schema| step(self.document(), schema, segment));
        }
        let resolved = schema.and_then(|schema| subschema::resolve(self.document(), schema));
        let stated = resolved.map(subschema::types).unwrap_or_default();
        let classes = Classes::LISTED.into_iter();
        let described = |schema: &'_ Map<String, Value>| schema.contains_key("description");
        let own = schema
            .and_then(Value::as_object)
            .filter(|own| described(own));
        Some(Property {
            types: if stated.is_empty() {
                cursor.shape().types.listed()
            } else {
                stated
            },
            classes: classes
                .filter(|(class, _)| cursor.is(*class))
                .map(|(_, keyword)| keyword.trim_end_matches("Properties"))
                .collect(),
            is_required: match path.segments() {
                [Segment::Key(name)] => self.required().any(|required| required == name),
                _ => false,
            },
            description: own
                .or(resolved)
                .and_then(|schema| schema.get("description")?.as_str()),
            path,
        })
    }
}

fn below<'s>(cursor: Cursor<'s>, segment: &Segment) -> Option<Cursor<'s>> {
    match segment {
        Segment::Key(name) => cursor.member(name),
        Segment::Any => Some(cursor.element()),
    }
}

/// Returns the schema of a member or of the elements, if it is in the schema itself and not in one of its alternatives.
fn step<'s>(document: &'s Value, schema: &'s Value, segment: &Segment) -> Option<&'s Value> {
    let schema = subschema::resolve(document, schema)?;
    match segment {
        Segment::Key(name) => schema.get("properties")?.get(name),
        Segment::Any => schema.get("items"),
    }
}
