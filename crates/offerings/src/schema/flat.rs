//! A type's own schema at a place, as one in draft-04 without references.
//!
//! Whatever draft-04 or a bound cannot express is left out. The result accepts at least what the type does, but for
//! read-only properties, which are taken out.

use serde_json::{Map, Value, json};
use ucp_schema::{Classes, Cursor, ResourceSchema, subschema};

use super::judge::is_schema;
use crate::limits::SCHEMA_MAX_BYTES;

/// How many schemas deep a result is at most, one in the other.
pub(crate) const DEPTH_MAX: usize = 24;

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Returns the schema at a path, with at most `depth` schemas one in the other. `None` if it is too large.
pub(crate) fn at<T: AsRef<str>>(
    schema: &ResourceSchema,
    path: &[T],
    depth: usize,
) -> Option<Value> {
    let document = schema.document();
    let mut found = Found {
        schemas: vec![document],
        is_any: false,
    };
    let mut cursor = schema.root();
    for name in path {
        found = found.member(schema, name.as_ref());
        cursor = cursor.member_or_anything(name.as_ref());
    }
    let mut flattening = Flattening {
        document,
        left: SCHEMA_MAX_BYTES,
        above: Vec::new(),
        is_exact: true,
    };
    let mut flat = match (found.schemas.as_slice(), found.is_any) {
        ([], _) => json!({}),
        ([one], _) => flattening.schema(one, cursor, depth)?,
        (several, is_any) => {
            let several = several.iter();
            let flat = several.map(|one| flattening.schema(one, cursor, depth));
            let flat = flat.collect::<Option<Vec<Value>>>()?;
            let keyword = if is_any { "anyOf" } else { "allOf" };
            json!({ keyword: flat })
        }
    };
    // Schemas that combine others often leave it to these to name the types.
    let types = cursor.shape().types.listed();
    if let Value::Object(members) = &mut flat
        && !members.contains_key("type")
        && !types.is_empty()
    {
        members.insert("type".to_owned(), json!(types));
    }
    Some(flat)
}

/// The schemas at a place.
struct Found<'a> {
    schemas: Vec<&'a Value>,
    /// Whether a value need not be valid by all of them.
    is_any: bool,
}

impl<'a> Found<'a> {
    fn member(&self, schema: &'a ResourceSchema, name: &str) -> Self {
        let document = schema.document();
        let (mut own, mut alternative): (Vec<&'a Value>, Vec<&'a Value>) = (Vec::new(), Vec::new());
        for value in &self.schemas {
            let Some(direct) = subschema::resolve(document, value) else {
                continue;
            };
            for combined in subschema::flatten(document, value) {
                let is_own = is_required_by(document, direct, combined);
                if let ucp_schema::Member::Schema(member) = schema.member(combined, name) {
                    let to = if is_own { &mut own } else { &mut alternative };
                    if !to.iter().any(|known| std::ptr::eq(*known, member)) {
                        to.push(member);
                    }
                }
            }
        }
        let is_own = !own.is_empty();
        Self {
            schemas: if is_own { own } else { alternative },
            is_any: self.is_any || !is_own,
        }
    }
}

/// Returns whether what is valid by `schema` is valid by `combined` too: it is the same, or in its `allOf`.
fn is_required_by(
    document: &Value,
    schema: &Map<String, Value>,
    combined: &Map<String, Value>,
) -> bool {
    std::ptr::eq(schema, combined)
        || subschema::branches(schema, "allOf")
            .filter_map(|branch| subschema::resolve(document, branch))
            .any(|branch| std::ptr::eq(branch, combined))
}

struct Flattening<'a> {
    document: &'a Value,
    /// How many bytes the result may still have.
    left: usize,
    /// The schemas that are being flattened. One in itself is cut off.
    above: Vec<*const Map<String, Value>>,
    /// Whether what was flattened accepts the same as before.
    is_exact: bool,
}

impl Flattening<'_> {
    fn schema(&mut self, schema: &Value, cursor: Cursor<'_>, depth: usize) -> Option<Value> {
        self.take(2)?;
        if let Value::Bool(accepts) = schema {
            return Some(if *accepts {
                json!({})
            } else {
                json!({"not": {}})
            });
        }
        let Some(members) = subschema::resolve(self.document, schema) else {
            self.is_exact = false;
            return Some(json!({}));
        };
        let address = std::ptr::from_ref(members);
        if depth == 0 || self.above.contains(&address) {
            self.is_exact = false;
            let cut = members.get("type").filter(|types| is_type(types));
            return Some(match cut {
                Some(types) => json!({ "type": types }),
                None => json!({}),
            });
        }
        self.above.push(address);
        let flat = self.keywords(members, cursor, depth - 1);
        self.above.pop();
        flat.map(Value::Object)
    }

    fn keywords(
        &mut self,
        members: &Map<String, Value>,
        cursor: Cursor<'_>,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let mut flat = Map::new();
        for (keyword, value) in members {
            if let Some((name, value)) = self.keyword(keyword, value, cursor, depth)? {
                self.take(name.len() + 4)?;
                flat.insert(name.to_owned(), value);
            }
        }
        // A member whose pattern is left out must not count as an additional one.
        if members.contains_key("patternProperties") && !flat.contains_key("patternProperties") {
            flat.shift_remove("additionalProperties");
        }
        if let Some(only) = members.get("const") {
            self.take(only.to_string().len() + 8)?;
            flat.insert("enum".to_owned(), json!([only]));
        }
        exclusive(
            members,
            &mut flat,
            "exclusiveMinimum",
            "minimum",
            |new, old| new >= old,
        );
        exclusive(
            members,
            &mut flat,
            "exclusiveMaximum",
            "maximum",
            |new, old| new <= old,
        );
        Some(flat)
    }

    /// Returns a keyword, `Some(None)` for one that is left out, and `None` once there is no room.
    fn keyword<'k>(
        &mut self,
        keyword: &'k str,
        value: &Value,
        cursor: Cursor<'_>,
        depth: usize,
    ) -> Option<Option<(&'k str, Value)>> {
        let kept = match keyword {
            "properties" => Some(self.properties(value, cursor, depth)?),
            "patternProperties" => match value.as_object() {
                Some(named) if named.keys().all(|name| is_portable(name)) => {
                    let below = cursor.member_or_anything("*");
                    let named = named.iter().map(|(pattern, schema)| {
                        self.take(pattern.len() + 4)?;
                        Some((pattern.clone(), self.schema(schema, below, depth)?))
                    });
                    Some(Value::Object(named.collect::<Option<_>>()?))
                }
                Some(_) | None => {
                    self.is_exact = false;
                    None
                }
            },
            "additionalProperties" | "additionalItems" => match value {
                Value::Bool(_) => Some(value.clone()),
                schema => {
                    let below = match keyword {
                        "additionalItems" => cursor.element(),
                        _ => cursor.member_or_anything("*"),
                    };
                    Some(self.schema(schema, below, depth)?)
                }
            },
            "items" => match value {
                Value::Array(tuple) => Some(self.listed(tuple, cursor.element(), depth)?),
                schema => Some(self.schema(schema, cursor.element(), depth)?),
            },
            "allOf" | "anyOf" | "oneOf" => {
                let Some(branches) = value.as_array().filter(|branches| !branches.is_empty())
                else {
                    return Some(None);
                };
                let before = std::mem::replace(&mut self.is_exact, true);
                let branches = self.listed(branches, cursor, depth)?;
                // Branches that accept more than before may not exclude each other any more.
                let name = match keyword {
                    "oneOf" if !self.is_exact => "anyOf",
                    _ => keyword,
                };
                self.is_exact &= before;
                let name = match name {
                    "allOf" => "allOf",
                    "oneOf" => "oneOf",
                    _ => "anyOf",
                };
                return Some(Some((name, branches)));
            }
            "not" => {
                let before = std::mem::replace(&mut self.is_exact, true);
                let schema = self.schema(value, cursor, depth)?;
                let is_exact = std::mem::replace(&mut self.is_exact, before);
                self.is_exact &= is_exact;
                is_exact.then_some(schema)
            }
            "dependencies" => Some(self.dependencies(value, cursor, depth)?),
            "required" => self.required(value, cursor),
            "type" => is_type(value).then(|| value.clone()),
            "enum" => value
                .as_array()
                .filter(|options| !options.is_empty())
                .map(|options| Value::Array(distinct(options))),
            "minimum" | "maximum" => value.is_number().then(|| value.clone()),
            "multipleOf" => value
                .as_f64()
                .filter(|step| *step > 0.0)
                .map(|_| value.clone()),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => value.as_u64().map(Value::from),
            "uniqueItems" => value.as_bool().map(Value::from),
            "title" | "description" => value.as_str().map(Value::from),
            "pattern" => {
                let kept = value.as_str().filter(|pattern| is_portable(pattern));
                self.is_exact &= kept.is_some();
                kept.map(Value::from)
            }
            "if" | "then" | "else" | "contains" | "propertyNames" => {
                self.is_exact = false;
                None
            }
            _ => None,
        };
        if let Some(Value::String(_) | Value::Array(_)) = &kept
            && !matches!(keyword, "items")
        {
            self.take(kept.as_ref().map_or(0, |kept| kept.to_string().len()))?;
        }
        Some(kept.map(|kept| (keyword, kept)))
    }

    fn properties(&mut self, value: &Value, cursor: Cursor<'_>, depth: usize) -> Option<Value> {
        let mut flat = Map::new();
        for (name, schema) in value.as_object().into_iter().flatten() {
            let below = cursor.member_or_anything(name);
            if below.is(Classes::READ_ONLY) {
                self.is_exact = false;
                continue;
            }
            self.take(name.len() + 4)?;
            flat.insert(name.clone(), self.schema(schema, below, depth)?);
        }
        Some(Value::Object(flat))
    }

    fn listed(&mut self, schemas: &[Value], cursor: Cursor<'_>, depth: usize) -> Option<Value> {
        let schemas = schemas.iter();
        let flat = schemas.map(|schema| self.schema(schema, cursor, depth));
        Some(Value::Array(flat.collect::<Option<_>>()?))
    }

    fn dependencies(&mut self, value: &Value, cursor: Cursor<'_>, depth: usize) -> Option<Value> {
        let mut flat = Map::new();
        for (name, needed) in value.as_object().into_iter().flatten() {
            let needed = match needed {
                Value::Array(_) => self.required(needed, cursor),
                schema => Some(self.schema(schema, cursor, depth)?),
            };
            if let Some(needed) = needed {
                self.take(needed.to_string().len() + name.len() + 4)?;
                flat.insert(name.clone(), needed);
            }
        }
        Some(Value::Object(flat))
    }

    /// Returns names without those of read-only properties, which nobody may give. `None` if none is left.
    fn required(&mut self, value: &Value, cursor: Cursor<'_>) -> Option<Value> {
        let names = value.as_array()?;
        let kept: Vec<Value> = names
            .iter()
            .filter(|name| {
                let name = name.as_str();
                name.is_some_and(|name| !cursor.member_or_anything(name).is(Classes::READ_ONLY))
            })
            .cloned()
            .collect();
        self.is_exact &= kept.len() == names.len();
        (!kept.is_empty()).then(|| Value::Array(distinct(&kept)))
    }

    fn take(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }
}

/// Translates a bound that is exclusive: a number in draft-07, in draft-04 a truth value beside the bound.
fn exclusive(
    members: &Map<String, Value>,
    flat: &mut Map<String, Value>,
    keyword: &str,
    inclusive: &str,
    is_stricter: fn(f64, f64) -> bool,
) {
    match members.get(keyword) {
        Some(Value::Number(bound)) => {
            let known = flat.get(inclusive).and_then(Value::as_f64);
            let is_kept = bound
                .as_f64()
                .is_some_and(|bound| known.is_none_or(|known| is_stricter(bound, known)));
            if is_kept {
                flat.insert(inclusive.to_owned(), Value::Number(bound.clone()));
                flat.insert(keyword.to_owned(), Value::Bool(true));
            }
        }
        Some(Value::Bool(true)) if flat.contains_key(inclusive) => {
            flat.insert(keyword.to_owned(), Value::Bool(true));
        }
        _ => {}
    }
}

/// Returns whether platforms can read a pattern. Some types have patterns in the dialect of Java.
fn is_portable(pattern: &str) -> bool {
    is_schema(&json!({ "pattern": pattern }))
}

/// Returns values without repetitions, which draft-04 does not allow.
fn distinct(values: &[Value]) -> Vec<Value> {
    let mut known = std::collections::BTreeSet::new();
    let values = values.iter();
    values
        .filter(|value| known.insert(ucp_model::json::canonical(value)))
        .cloned()
        .collect()
}

fn is_type(value: &Value) -> bool {
    let is_name = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(names) => {
            !names.is_empty() && names.iter().all(is_name) && distinct(names).len() == names.len()
        }
        name => is_name(name),
    }
}
