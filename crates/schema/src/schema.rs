use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use ucp_model::{TypeName, json};

use crate::compiled::{Classes, Compiled, Cursor, SchemaWarning};
use crate::error::{MAX_BYTES, malformed};
use crate::path_set::PathSet;
use crate::pattern::Patterns;
use crate::subschema::MAX_APPLIED;
use crate::{PropertyPath, SchemaError, subschema};

/// The schema of one resource type, as CloudFormation publishes it.
#[derive(Debug)]
pub struct ResourceSchema {
    type_name: TypeName,
    document: Value,
    fingerprint: String,
    /// The length of its text.
    text_bytes: usize,
    primary_identifier: Vec<PropertyPath>,
    additional_identifiers: Vec<Vec<PropertyPath>>,
    /// The properties of each class as the schema lists them, in the order of [`Classes::LISTED`].
    listed: [PathSet; Classes::LISTED.len()],
    handlers: Handlers,
    /// Whether Cloud Control creates and updates resources of the type.
    is_provisioned: bool,
    pub(crate) patterns: Arc<Patterns>,
    /// Compiled on first use.
    compiled: OnceLock<Compiled>,
    /// Compiled on first use. `None` if the schema cannot be compiled.
    pub(crate) validator: OnceLock<Option<Validator>>,
    /// Whether parts of it hold only for resources that have other values.
    pub(crate) has_conditions: OnceLock<bool>,
}

/// The handlers of a resource type, and so the operations that Cloud Control supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handlers {
    /// `CreateResource`.
    pub create: bool,
    /// `GetResource`.
    pub read: bool,
    /// `UpdateResource`.
    pub update: bool,
    /// `DeleteResource`.
    pub delete: bool,
    /// `ListResources`.
    pub list: bool,
    /// `ListResources` without further input: not only the resources that some other one contains.
    pub list_all: bool,
}

/// The order of create and delete in a replacement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplacementStrategy {
    /// Create the new resource first, as CloudFormation does by default.
    #[default]
    CreateThenDelete,
    /// Delete the old resource first: both cannot exist at once.
    DeleteThenCreate,
}

impl ResourceSchema {
    /// Parses a CloudFormation schema file. Its size and depth are bounded; unknown keywords are ignored.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        if text.len() > MAX_BYTES {
            return Err(SchemaError::TooLarge(text.len()));
        }
        let document: Value = serde_json::from_str(text).map_err(SchemaError::NotJson)?;
        let type_name = document
            .get("typeName")
            .and_then(Value::as_str)
            .ok_or_else(|| malformed("the schema has no `typeName`"))?;
        let type_name = TypeName::from_cloudformation(type_name)
            .map_err(|invalid| malformed(format!("`typeName`: {invalid}")))?;
        if !document.get("properties").is_some_and(Value::is_object) {
            return Err(malformed(format!(
                "the schema of {type_name} has no `properties`"
            )));
        }
        let primary_identifier = paths(&document, "primaryIdentifier")?;
        if primary_identifier.is_empty() {
            return Err(malformed(format!(
                "the schema of {type_name} has no `primaryIdentifier`"
            )));
        }
        if subschema::is_circular(&document) {
            return Err(malformed(format!(
                "the schema of {type_name} combines schemas without end"
            )));
        }
        if let Some(place) = subschema::applies_too_many(&document) {
            return Err(malformed(format!(
                "the schema of {type_name} combines more than {MAX_APPLIED} schemas at `{place}`"
            )));
        }
        let mut listed = <[PathSet; Classes::LISTED.len()]>::default();
        for (set, (_, keyword)) in listed.iter_mut().zip(Classes::LISTED) {
            *set = paths(&document, keyword)?.into_iter().collect();
        }
        Ok(Self {
            text_bytes: text.len(),
            fingerprint: hex::encode(&Sha256::digest(text)[..16]),
            listed,
            additional_identifiers: additional_identifiers(&document)?,
            handlers: Handlers::of(&document),
            is_provisioned: true,
            patterns: Arc::default(),
            compiled: OnceLock::new(),
            validator: OnceLock::new(),
            has_conditions: OnceLock::new(),
            type_name,
            primary_identifier,
            document,
        })
    }

    /// Returns the schema as one of a type that Cloud Control creates and updates resources of, or does not although it may
    /// list handlers: its `ProvisioningType` is `NON_PROVISIONABLE`.
    pub fn provisioned(self, is_provisioned: bool) -> Self {
        Self {
            is_provisioned,
            ..self
        }
    }

    /// Returns the schema without its `propertyTransform`s. They are programs, which must not be run from untrusted
    /// schemas.
    pub fn without_transforms(mut self) -> Self {
        if let Some(document) = self.document.as_object_mut() {
            document.shift_remove("propertyTransform");
        }
        self.compiled = OnceLock::new();
        self
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Returns the canonical name of the type.
    pub fn type_name(&self) -> &TypeName {
        &self.type_name
    }

    /// Returns the schema document as published.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Returns the fingerprint of this schema: the first half of the SHA-256 of its text, in hexadecimal.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the properties of the primary identifier, in order.
    pub fn primary_identifier(&self) -> &[PropertyPath] {
        &self.primary_identifier
    }

    /// Returns other lists of properties that identify a resource.
    pub fn additional_identifiers(&self) -> &[Vec<PropertyPath>] {
        &self.additional_identifiers
    }

    /// Returns the properties that the schema lists in one of `classes`. To resolve the paths, and for the values below
    /// them, use a [`Cursor`].
    pub fn listed(&self, classes: Classes) -> impl Iterator<Item = &PropertyPath> {
        self.sets(classes).flat_map(PathSet::iter)
    }

    /// Returns whether the value at `segments` of a model is, or is below, a property listed in one of `classes`. Array
    /// elements are named by their index.
    pub fn lists(&self, classes: Classes, segments: &[&str]) -> bool {
        self.sets(classes).any(|set| set.contains(segments))
    }

    /// Removes the properties that the schema lists in one of `classes` from `model`.
    pub fn remove_listed(&self, classes: Classes, model: &mut Value) {
        self.sets(classes).for_each(|set| set.remove_from(model));
    }

    fn sets(&self, classes: Classes) -> impl Iterator<Item = &PathSet> {
        let sets = Classes::LISTED.iter().zip(&self.listed);
        sets.filter(move |((class, _), _)| classes.has(*class))
            .map(|(_, set)| set)
    }

    /// Returns the property for tags, or `None` if the type has no tags.
    pub fn tag_property(&self) -> Option<PropertyPath> {
        let named = self.document.pointer("/tagging/tagProperty");
        let has_tags = || {
            self.document
                .pointer("/properties/Tags")
                .map(|_| "/properties/Tags")
        };
        let text = named.and_then(Value::as_str).or_else(has_tags)?;
        let Ok(path) = text.parse();
        Some(path)
    }

    /// Returns the order of create and delete in a replacement.
    pub fn replacement_strategy(&self) -> ReplacementStrategy {
        match self
            .document
            .get("replacementStrategy")
            .and_then(Value::as_str)
        {
            Some("delete_then_create") => ReplacementStrategy::DeleteThenCreate,
            _ => ReplacementStrategy::CreateThenDelete,
        }
    }

    /// Returns the required top-level properties.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        let names = self.document.get("required").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns the handlers of this type.
    pub fn handlers(&self) -> Handlers {
        self.handlers
    }

    /// Returns how many minutes a handler may take (`timeoutInMinutes`), if the schema says so.
    pub fn minutes_of_handler(&self, name: &str) -> Option<u32> {
        let handler = self.document.get("handlers")?.get(name)?;
        let minutes = handler.get("timeoutInMinutes")?.as_u64()?;
        u32::try_from(minutes).ok()
    }

    /// Returns whether Cloud Control can update resources of this type. True if the schema has no `handlers`.
    pub fn is_updatable(&self) -> bool {
        self.handlers.update || self.document.get("handlers").is_none()
    }

    /// Returns whether Cloud Control can create resources of this type.
    pub fn is_provisionable(&self) -> bool {
        self.handlers.create && self.is_provisioned
    }

    /// Returns the names of the operations that Cloud Control supports.
    pub fn operations(&self) -> Vec<&'static str> {
        let handlers = self.handlers;
        let supported = Handlers {
            create: self.is_provisionable(),
            update: handlers.update && self.is_provisioned,
            ..handlers
        };
        supported.names()
    }

    /// Returns `properties` without write-only values.
    pub fn without_write_only(&self, properties: &Value) -> Value {
        without_write_only(properties, self.root()).unwrap_or_default()
    }

    /// Returns whether it is [compiled](Self::compile).
    pub fn is_compiled(&self) -> bool {
        self.compiled.get().is_some() && self.validator.get().is_some()
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Compiled::of(&self.document))
    }

    /// Returns the cursor at which a walk through a model or a declaration starts. The first call compiles the schema.
    pub fn root(&self) -> Cursor<'_> {
        Cursor::root(self.compiled(), &self.patterns)
    }

    /// Returns warnings about the parts of this schema that were ignored because they are not valid.
    pub fn warnings(&self) -> &[SchemaWarning] {
        &self.compiled().warnings
    }

    /// Returns the compiled regular expressions of this document.
    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// Returns what an object schema of this document says about a member `name`.
    pub fn member<'a>(&self, schema: &'a Map<String, Value>, name: &str) -> Member<'a> {
        let property = schema
            .get("properties")
            .and_then(|members| members.get(name));
        let by_pattern = || {
            subschema::named(schema, "patternProperties")
                .find(|(pattern, _)| self.patterns.matches(pattern, name))
                .map(|(_, member)| member)
        };
        if let Some(member) = property.or_else(by_pattern) {
            return Member::Schema(member);
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => Member::Forbidden,
            Some(member @ Value::Object(_)) => Member::Schema(member),
            _ => Member::Anything,
        }
    }
}

fn without_write_only(value: &Value, cursor: Cursor<'_>) -> Option<Value> {
    if cursor.is(Classes::WRITE_ONLY) {
        return None;
    }
    if !cursor.holds(Classes::WRITE_ONLY) {
        return Some(value.clone());
    }
    Some(json::map_children(value, |step, child| {
        without_write_only(child, cursor.below_or_anything(step))
    }))
}

/// What a schema says about a member of an object.
pub enum Member<'a> {
    /// It must match this schema.
    Schema(&'a Value),
    /// Any value is allowed.
    Anything,
    /// It is not allowed.
    Forbidden,
}

impl Handlers {
    /// Returns the names of the handlers that the type has.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.create, "create"),
            (self.read, "read"),
            (self.update, "update"),
            (self.delete, "delete"),
            (self.list, "list"),
        ];
        let has = all.into_iter().filter(|(has, _)| *has);
        has.map(|(_, name)| name).collect()
    }

    fn of(document: &Value) -> Self {
        let handlers = document.get("handlers");
        let has = |name| handlers.is_some_and(|handlers| handlers.get(name).is_some());
        Self {
            create: has("create"),
            read: has("read"),
            update: has("update"),
            delete: has("delete"),
            list: has("list"),
            list_all: has("list") && !list_needs_input(document),
        }
    }
}

/// Returns whether the list handler requires properties of what contains the resources.
fn list_needs_input(document: &Value) -> bool {
    let input = document.pointer("/handlers/list/handlerSchema");
    let mut keywords = ["required", "oneOf", "anyOf", "allOf"].iter();
    input.is_some_and(|input| {
        keywords.any(|keyword| {
            let needed = input.get(keyword).and_then(Value::as_array);
            needed.is_some_and(|needed| !needed.is_empty())
        })
    })
}

/// Returns the paths in a keyword. Empty if it is absent.
fn paths(document: &Value, keyword: &str) -> Result<Vec<PropertyPath>, SchemaError> {
    match document.get(keyword) {
        Some(listed) => list_of_paths(listed, keyword),
        None => Ok(Vec::new()),
    }
}

/// Parses `additionalIdentifiers`: lists of paths, or in some schemas a path in place of a list.
fn additional_identifiers(document: &Value) -> Result<Vec<Vec<PropertyPath>>, SchemaError> {
    const KEYWORD: &str = "additionalIdentifiers";
    let Some(listed) = document.get(KEYWORD) else {
        return Ok(Vec::new());
    };
    let wrong = || {
        malformed(format!(
            "`{KEYWORD}` is not a list of lists of property paths"
        ))
    };
    let identifiers = listed.as_array().ok_or_else(wrong)?.iter();
    identifiers
        .map(|identifier| match identifier {
            Value::String(_) => list_of_paths(&Value::Array(vec![identifier.clone()]), KEYWORD),
            listed => list_of_paths(listed, KEYWORD),
        })
        .collect()
}

fn list_of_paths(listed: &Value, keyword: &str) -> Result<Vec<PropertyPath>, SchemaError> {
    let wrong = || malformed(format!("`{keyword}` is not a list of property paths"));
    let paths = listed.as_array().ok_or_else(wrong)?.iter();
    paths
        .map(|path| {
            let Ok(path) = path.as_str().ok_or_else(wrong)?.parse();
            Ok(path)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalogue, Segment};

    /// Returns whether a path leads from one of `schemas` to a property.
    fn leads_on(document: &Value, schemas: &[&Value], path: &[Segment]) -> bool {
        let Some((step, rest)) = path.split_first() else {
            return !schemas.is_empty();
        };
        let flat = schemas
            .iter()
            .flat_map(|schema| subschema::flatten(document, schema));
        let next: Vec<&Value> = flat
            .flat_map(|schema| -> Vec<&Value> {
                match step {
                    Segment::Key(name) => subschema::named(schema, "properties")
                        .filter(|(known, _)| *known == name)
                        .map(|(_, member)| member)
                        .collect(),
                    Segment::Any => subschema::named(schema, "patternProperties")
                        .map(|(_, member)| member)
                        .chain(schema.get("items"))
                        .chain(schema.get("additionalProperties"))
                        .collect(),
                }
            })
            .collect();
        leads_on(document, &next, rest)
    }

    #[test]
    fn every_path_of_every_embedded_schema_leads_to_a_property() {
        let catalogue = Catalogue::embedded();
        let mut paths = 0;
        for name in catalogue.type_names() {
            let schema = catalogue.get(name).unwrap();
            let classes = Classes::FIXED | Classes::READ_ONLY | Classes::WRITE_ONLY;
            for path in schema.listed(classes).chain(schema.primary_identifier()) {
                let document = schema.document();
                assert!(
                    leads_on(document, &[document], path.segments()),
                    "{name}: {path}"
                );
                assert_eq!(path.to_string().parse(), Ok(path.clone()));
                paths += 1;
            }
        }
        assert!(paths > 10_000, "{paths}");
    }
}
