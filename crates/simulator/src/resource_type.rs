use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, JsonType, ValidationError, Validator};
use serde_json::{Map, Value};
use ucp_model::{Identifier, TypeName};
use ucp_schema::{Catalogue, Classes, IdentifierOutcome, ResourceSchema, SchemaError};

use crate::exception::{Exception, ExceptionCode};
use crate::{formats, identifiers};

/// The keywords of a resource schema that constrain a model. The others describe the type.
const CONSTRAINTS: [&str; 8] = [
    "definitions",
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "allOf",
    "anyOf",
    "oneOf",
];

/// The resource types of a simulated AWS.
pub(crate) struct Types {
    catalogue: Catalogue,
    used: BTreeMap<String, Arc<ResourceType>>,
}

/// A resource type, with data derived from its schema.
pub(crate) struct ResourceType {
    pub(crate) schema: Arc<ResourceSchema>,
    validator: OnceLock<Option<Validator>>,
}

/// The embedded types that any simulated AWS of this process has used. They never change.
static EMBEDDED: Mutex<BTreeMap<String, Arc<ResourceType>>> = Mutex::new(BTreeMap::new());

impl Types {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            used: BTreeMap::new(),
        }
    }

    /// Registers a type, or a new version of one.
    pub(crate) fn register(&mut self, schema: &str) -> Result<TypeName, SchemaError> {
        let name = self.catalogue.with_schema(schema)?;
        self.used.remove(name.as_str());
        Ok(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &TypeName> {
        self.catalogue.type_names()
    }

    /// Returns the type of exactly this name: in AWS, type names are case-sensitive.
    pub(crate) fn get(&mut self, name: &str) -> Result<Arc<ResourceType>, Exception> {
        if name.is_empty() {
            return Err(Exception::constraint(
                "null",
                "typeName",
                "Member must not be null",
            ));
        }
        if let Some(known) = self.used.get(name) {
            return Ok(known.clone());
        }
        let type_name = TypeName::from_cloudformation(name).ok();
        let schema = type_name
            .as_ref()
            .and_then(|name| self.catalogue.get(name))
            .filter(|schema| schema.type_name().as_str() == name)
            .ok_or_else(|| {
                Exception::new(
                    ExceptionCode::TypeNotFound,
                    format!("The type '{name}' cannot be found."),
                )
            })?;
        let is_added = type_name.is_some_and(|name| self.catalogue.added(&name).is_some());
        let new = || {
            Arc::new(ResourceType {
                schema,
                validator: OnceLock::new(),
            })
        };
        let found = if is_added {
            new()
        } else {
            let mut embedded = EMBEDDED.lock().unwrap_or_else(PoisonError::into_inner);
            embedded.entry(name.to_owned()).or_insert_with(new).clone()
        };
        self.used.insert(name.to_owned(), found.clone());
        Ok(found)
    }
}

impl ResourceType {
    pub(crate) fn name(&self) -> &str {
        self.schema.type_name().as_str()
    }

    /// Returns the key of the resource that `identifier` names in a call. A resource has one key, whatever letter case
    /// and which form of a compound identifier a call uses.
    pub(crate) fn key(&self, identifier: &str) -> String {
        let parts = Identifier::new(identifier);
        let parts = self.schema.properties_of_identifier(&parts);
        let key = parts.and_then(|mut parts| {
            identifiers::fold(self.name(), &mut parts);
            self.key_of(&parts)
        });
        key.unwrap_or_else(|| identifier.to_owned())
    }

    /// Returns the key of the resource with this model.
    pub(crate) fn key_of(&self, model: &Value) -> Option<String> {
        match self.schema.identifier(model) {
            IdentifierOutcome::Known(key) => Some(key.to_string()),
            IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
        }
    }

    /// Returns the identifier that AWS answers for the resource with this key: its parts joined by `|`, even if one of
    /// them contains it.
    pub(crate) fn answered(&self, key: &str) -> String {
        let parts = Identifier::new(key);
        let parts = self.schema.properties_of_identifier(&parts);
        let paths = self.schema.primary_identifier().iter();
        let texts = paths.map(|path| match path.get(parts.as_ref()?)? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        });
        let texts: Option<Vec<String>> = texts.collect();
        texts.map_or_else(|| key.to_owned(), |texts| texts.join("|"))
    }

    /// Returns the violations in `properties`, in AWS's words. They never repeat a value, which may be secret.
    /// Read-only properties are not validated.
    pub(crate) fn violations(&self, properties: &Value) -> Vec<String> {
        let mut judged = properties.clone();
        self.schema.remove_listed(Classes::READ_ONLY, &mut judged);
        let validator = self
            .validator
            .get_or_init(|| validator(self.schema.document()));
        let mut violations: Vec<String> = validator
            .iter()
            .flat_map(|validator| validator.iter_errors(&judged))
            .filter(|error| !self.asks_for_read_only(error))
            .map(|error| violation(&error))
            .collect();
        violations.sort();
        violations.dedup();
        violations
    }

    /// Whether the error is a missing read-only property: some schemas require these.
    fn asks_for_read_only(&self, error: &ValidationError<'_>) -> bool {
        let ValidationErrorKind::Required { property } = error.kind() else {
            return false;
        };
        let path = error.instance_path().to_string();
        let mut place: Vec<&str> = path.split('/').skip(1).collect();
        place.extend(property.as_str());
        self.schema.lists(Classes::READ_ONLY, &place)
    }

    /// Returns the subschema of a property of the model, with references resolved.
    pub(crate) fn subschema(&self, place: &[String]) -> Option<&Map<String, Value>> {
        let document = self.schema.document();
        place
            .iter()
            .try_fold(document.as_object()?, |schema, step| {
                let child = match schema.get("properties").and_then(|names| names.get(step)) {
                    Some(child) => child,
                    None if step.bytes().all(|byte| byte.is_ascii_digit()) => {
                        schema.get("items")?
                    }
                    None => schema
                        .get("patternProperties")?
                        .as_object()?
                        .values()
                        .next()?,
                };
                self.resolve(child)
            })
    }

    /// Resolves the references of `schema`.
    pub(crate) fn resolve<'a>(&'a self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        const MAX_HOPS: usize = 16;
        let mut schema = schema.as_object()?;
        for _ in 0..MAX_HOPS {
            let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
                return Some(schema);
            };
            let pointer = reference.strip_prefix('#')?;
            schema = self.schema.document().pointer(pointer)?.as_object()?;
        }
        None
    }
}

/// Compiles the constraints of a resource schema. Invalid constraints, such as a pattern in another regex dialect, are
/// ignored, as in AWS's own validation.
fn validator(document: &Value) -> Option<Validator> {
    const MAX_REPAIRS: usize = 100;
    let constraints = CONSTRAINTS.iter().filter_map(|keyword| {
        let constraint = document.get(keyword)?.clone();
        Some(((*keyword).to_owned(), constraint))
    });
    let mut schema = Value::Object(constraints.collect());
    schema["type"] = Value::from("object");
    translate_anchors(&mut schema);
    let mut options = jsonschema::options()
        .with_draft(Draft::Draft7)
        .should_validate_formats(true);
    for (name, check) in formats::CHECKS {
        options = options.with_format(*name, *check);
    }
    for _ in 0..MAX_REPAIRS {
        let at = match options.build(&schema) {
            Ok(validator) => return Some(validator),
            Err(error) => error.instance_path().to_string(),
        };
        if !remove(&mut schema, &at) {
            tracing::warn!(schema.path = %at, "a resource schema cannot be compiled; its models are not validated");
            return None;
        }
    }
    None
}

/// Translates Java's anchors of the whole text, as used in AWS's patterns, to JavaScript, as prescribed by JSON Schema.
fn translate_anchors(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(pattern)) = members.get_mut("pattern") {
                *pattern = pattern.replace(r"\A", "^").replace(r"\Z", "$");
            }
            members.values_mut().for_each(translate_anchors);
        }
        Value::Array(items) => items.iter_mut().for_each(translate_anchors),
        _ => {}
    }
}

/// Removes the member at a JSON Pointer. Returns false if it does not exist.
fn remove(schema: &mut Value, pointer: &str) -> bool {
    // Without one of its patterns, `patternProperties` cannot decide on names, so all names are allowed.
    if let Some((owner, _)) = pointer.rsplit_once("/patternProperties")
        && let Some(Value::Object(owner)) = schema.pointer_mut(owner)
    {
        owner.shift_remove("additionalProperties");
    }
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return false;
    };
    let name = ucp_model::pointer::unescape(name);
    match schema.pointer_mut(parent) {
        Some(Value::Object(members)) => members.shift_remove(&name).is_some(),
        // For an element of an array, such as an `enum`, remove the whole keyword.
        Some(Value::Array(_)) => remove(schema, parent),
        _ => false,
    }
}

fn violation(error: &ValidationError<'_>) -> String {
    let at = error.instance_path();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!("#{at}: required key [{name}] not found")
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let names = unexpected.join(", ");
            format!("#{at}: extraneous key [{names}] is not permitted")
        }
        ValidationErrorKind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(expected) => java_name(*expected).to_owned(),
                TypeKind::Multiple(several) => {
                    let names: Vec<&str> = several.iter().map(java_name).collect();
                    names.join(" or ")
                }
            };
            let found = found_name(error.instance());
            format!("#{at}: expected type: {expected}, found: {found}")
        }
        kind => format!(
            "#{at}: failed validation constraint for keyword [{}]",
            kind.keyword()
        ),
    }
}

/// The names of types in AWS's validator, which is written in Java.
fn java_name(expected: JsonType) -> &'static str {
    match expected {
        JsonType::Array => "JSONArray",
        JsonType::Boolean => "Boolean",
        JsonType::Integer => "Integer",
        JsonType::Null => "Null",
        JsonType::Number => "Number",
        JsonType::Object => "JSONObject",
        JsonType::String => "String",
    }
}

fn found_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "Null",
        Value::Bool(_) => "Boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "Integer",
        Value::Number(_) => "Double",
        Value::String(_) => "String",
        Value::Array(_) => "JSONArray",
        Value::Object(_) => "JSONObject",
    }
}
