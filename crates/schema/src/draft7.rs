//! The well-formed JSON Schema (draft 7) part of a CloudFormation schema.

use std::cell::RefCell;

use jsonschema::{Draft, PatternOptions, ValidationOptions};
use serde_json::{Map, Value, json};

use crate::pattern::{Budget, at_least};
use crate::subschema;

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// The name of `pattern` in the result. The validator would refuse a schema for a single pattern that it cannot
/// compile, so a keyword of our own checks patterns.
pub(crate) const PATTERN: &str = "lenientPattern";

/// Returns `document` without the parts that a validator would reject: CloudFormation's own keywords, formats, dangling
/// references and malformed keywords. Each omission makes the schema accept more.
pub(crate) fn of(document: &Value) -> Value {
    let reading = Reading {
        document,
        left: RefCell::default(),
    };
    let Value::Object(members) = document else {
        return Value::Bool(true);
    };
    Value::Object(reading.keywords(members))
}

struct Reading<'a> {
    document: &'a Value,
    /// For the patterns of names.
    left: RefCell<Budget>,
}

impl Reading<'_> {
    fn schema(&self, schema: &Value) -> Value {
        match schema {
            Value::Bool(_) => schema.clone(),
            Value::Object(members) => Value::Object(match members.get("$ref") {
                // Draft 7 ignores siblings of a reference.
                Some(reference) if subschema::resolve(self.document, schema).is_some() => {
                    Map::from_iter([("$ref".to_owned(), reference.clone())])
                }
                Some(_) => Map::new(),
                None => self.keywords(members),
            }),
            _ => Value::Bool(true),
        }
    }

    fn keywords(&self, members: &Map<String, Value>) -> Map<String, Value> {
        let mut kept: Map<String, Value> = members
            .iter()
            .filter_map(|(keyword, value)| {
                let name = if keyword == "pattern" {
                    PATTERN
                } else {
                    keyword
                };
                Some((name.to_owned(), self.keyword(keyword, value)?))
            })
            .collect();
        // A property whose pattern is dropped must not count as an additional one.
        if members.contains_key("patternProperties") && !kept.contains_key("patternProperties") {
            kept.shift_remove("additionalProperties");
        }
        kept
    }

    fn keyword(&self, keyword: &str, value: &Value) -> Option<Value> {
        match keyword {
            "properties" | "definitions" => Some(self.named(value.as_object()?)),
            "patternProperties" => {
                let members = value.as_object()?;
                let mut kept = Map::new();
                for (name, schema) in members {
                    let name = name_pattern(name, &mut self.left.borrow_mut())?;
                    kept.insert(name, self.schema(schema));
                }
                (kept.len() == members.len()).then(|| Value::Object(kept))
            }
            "items" => match value {
                Value::Array(_) => self.listed(value),
                _ => Some(self.schema(value)),
            },
            "additionalProperties"
            | "additionalItems"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else" => Some(self.schema(value)),
            "allOf" | "anyOf" | "oneOf" => self.listed(value),
            "dependencies" => Some(self.dependencies(value.as_object()?)),
            "type" => is_type(value).then(|| value.clone()),
            "required" => Some(names(value)?),
            "enum" => value
                .as_array()
                .filter(|listed| !listed.is_empty())
                .map(|_| value.clone()),
            "const" => Some(value.clone()),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                value.is_number().then(|| value.clone())
            }
            "multipleOf" => value
                .as_f64()
                .filter(|step| *step > 0.0)
                .map(|_| value.clone()),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => value.as_u64().map(Value::from),
            "uniqueItems" => value.as_bool().map(Value::from),
            "pattern" => value.as_str().map(Value::from),
            _ => None,
        }
    }

    fn named(&self, members: &Map<String, Value>) -> Value {
        let schema = |(name, schema): (&String, &Value)| (name.clone(), self.schema(schema));
        members.iter().map(schema).collect()
    }

    fn listed(&self, value: &Value) -> Option<Value> {
        let listed = value.as_array().filter(|listed| !listed.is_empty())?;
        Some(listed.iter().map(|schema| self.schema(schema)).collect())
    }

    fn dependencies(&self, members: &Map<String, Value>) -> Value {
        let dependency = |(name, needed): (&String, &Value)| {
            let needed = names(needed).unwrap_or_else(|| self.schema(needed));
            (name.clone(), needed)
        };
        members.iter().map(dependency).collect()
    }
}

/// Returns a list of names without duplicates.
fn names(value: &Value) -> Option<Value> {
    let mut names: Vec<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
    names.sort_unstable();
    names.dedup();
    Some(Value::from(names))
}

/// Returns the options of a validator. It matches names in linear time.
pub(crate) fn options() -> ValidationOptions<'static> {
    jsonschema::options()
        .with_draft(Draft::Draft7)
        .with_pattern_options(PatternOptions::regex())
}

/// Returns a name of `patternProperties` without look-around, which is checked with the names of the declaration. `None`
/// for a name that the validator cannot compile. It would refuse the schema.
fn name_pattern(pattern: &str, budget: &mut Budget) -> Option<String> {
    let pattern = at_least(pattern, budget)?;
    let schema = json!({"patternProperties": {pattern.as_str(): true}});
    options().build(&schema).is_ok().then_some(pattern)
}

fn is_type(value: &Value) -> bool {
    let is_name = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(names) => !names.is_empty() && names.iter().all(is_name),
        name => is_name(name),
    }
}
