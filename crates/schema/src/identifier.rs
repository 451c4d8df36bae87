//! The primary identifier: its properties, and what they say about a resource that may not exist yet.

use serde_json::{Map, Value};
use ucp_model::Identifier;

use crate::path::{PropertyPath, Segment};
use crate::{Classes, ResourceSchema, subschema};

/// The primary identifier as far as declared properties determine it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentifierOutcome {
    /// Every part is declared, so the identifier is known before the resource exists.
    Known(Identifier),
    /// AWS assigns a part that is not declared.
    AssignedByAws,
    /// JSON Pointers to the required parts that are missing.
    Missing(Vec<String>),
}

impl ResourceSchema {
    /// Returns the identifier of the resource that `properties` declare.
    ///
    /// AWS assigns a missing part if it is read-only or optional (such as the name of a log group). The others are
    /// [`IdentifierOutcome::Missing`].
    pub fn identifier(&self, properties: &Value) -> IdentifierOutcome {
        let mut given = Vec::new();
        let mut missing = Vec::new();
        for path in self.primary_identifier() {
            match path.get(properties).and_then(part) {
                Some(text) => given.push(text),
                None => missing.push(path),
            }
        }
        if missing.is_empty() {
            return IdentifierOutcome::Known(Identifier::new(given.join("|")));
        }
        if missing
            .iter()
            .any(|path| self.lists(Classes::READ_ONLY, &path.names()))
        {
            return IdentifierOutcome::AssignedByAws;
        }
        let missing: Vec<String> = missing
            .into_iter()
            .filter(|path| self.required().any(|name| path.property() == Some(name)))
            .map(PropertyPath::pointer)
            .collect();
        if missing.is_empty() {
            IdentifierOutcome::AssignedByAws
        } else {
            IdentifierOutcome::Missing(missing)
        }
    }

    /// Returns the properties in an identifier, for example `{"LogGroupName": "a"}`, or `None` if the number of parts
    /// is wrong or a part does not have its property's type.
    pub fn properties_of_identifier(&self, identifier: &Identifier) -> Option<Value> {
        let paths = self.primary_identifier();
        let parts: Vec<&str> = match paths {
            [_] => vec![identifier.as_str()],
            _ => identifier.as_str().split('|').collect(),
        };
        if parts.len() != paths.len() || parts.contains(&"") {
            return None;
        }
        let mut properties = Map::new();
        for (path, part) in paths.iter().zip(parts) {
            let value = self.typed(path, part)?;
            insert(&mut properties, path.segments(), value)?;
        }
        Some(Value::Object(properties))
    }

    /// Adds the [properties of an identifier](Self::properties_of_identifier) in `parts` to `properties`, except for
    /// read-only ones. Returns pointers to those that are declared with another value.
    pub fn declare_identifier(&self, parts: &Value, properties: &mut Value) -> Vec<String> {
        let mut contradictions = Vec::new();
        for path in self.primary_identifier() {
            let Some(named) = path.get(parts) else {
                continue;
            };
            match path.get(properties) {
                Some(declared) if part(declared) != part(named) => {
                    contradictions.push(path.pointer());
                }
                None if !self.lists(Classes::READ_ONLY, &path.names()) => {
                    let members = properties.as_object_mut();
                    members.and_then(|members| insert(members, path.segments(), named.clone()));
                }
                Some(_) | None => {}
            }
        }
        contradictions
    }

    /// Returns the read-only parts of the primary identifier. Without them, the resource cannot be read.
    pub fn assigned_parts(&self) -> impl Iterator<Item = &PropertyPath> {
        let paths = self.primary_identifier().iter();
        paths.filter(|path| self.lists(Classes::READ_ONLY, &path.names()))
    }

    /// Returns the identifier for display, for example `RestApiId 'r1' and StageName 'prod'`.
    pub fn identifier_in_words(&self, identifier: &Identifier) -> String {
        let Some(parts) = self.properties_of_identifier(identifier) else {
            return format!("the name '{identifier}'");
        };
        let named = self.primary_identifier().iter().filter_map(|path| {
            let text = path.get(&parts).and_then(part)?;
            Some(format!("{} '{text}'", path.in_words()))
        });
        named.collect::<Vec<String>>().join(" and ")
    }

    /// Converts the text of a part to the property's type.
    fn typed(&self, path: &PropertyPath, part: &str) -> Option<Value> {
        let document = self.document();
        let mut schema = document.as_object()?;
        for segment in path.segments() {
            let member = schema.get("properties").and_then(|members| match segment {
                Segment::Key(name) => members.get(name),
                Segment::Any => None,
            });
            match member.and_then(|member| subschema::resolve(document, member)) {
                Some(member) => schema = member,
                None => return Some(Value::from(part)),
            }
        }
        let types = subschema::types(schema);
        let is_text = types.is_empty() || types.contains(&"string") || types.contains(&"object");
        if is_text {
            return Some(Value::from(part));
        }
        let value: Value = serde_json::from_str(part).ok()?;
        matches!(value, Value::Number(_) | Value::Bool(_)).then_some(value)
    }
}

/// Returns a value as a part of an identifier. An empty string is not valid.
fn part(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Inserts `value` at `path` and creates the objects in between. Returns `None` if the path is not that of a property.
fn insert(members: &mut Map<String, Value>, path: &[Segment], value: Value) -> Option<()> {
    match path {
        [Segment::Key(name)] => {
            members.insert(name.clone(), value);
            Some(())
        }
        [Segment::Key(name), rest @ ..] => {
            let member = members
                .entry(name)
                .or_insert_with(|| Value::Object(Map::new()));
            insert(member.as_object_mut()?, rest, value)
        }
        _ => None,
    }
}
