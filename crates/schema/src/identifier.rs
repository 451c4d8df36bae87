//! The primary identifier: its properties, and what they say about a resource that may not exist yet.
//!
//! Cloud Control takes a compound identifier in two forms: its parts joined by `|` in the order of the schema, or a JSON
//! object of its parts. Here the first form is used unless it is ambiguous, which it is if a part contains `|`. So each
//! resource has one identifier, from which its parts can be told.

use std::borrow::Cow;

use serde_json::{Map, Value};
use ucp_model::{Identifier, json};

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

/// Types whose create makes a new revision of what has its name. The API references of `RegisterTaskDefinition` (ECS),
/// `RegisterJobDefinition` (Batch) and `PublishLayerVersion` (Lambda).
const REVISED: [&str; 3] = [
    "AWS::Batch::JobDefinition",
    "AWS::ECS::TaskDefinition",
    "AWS::Lambda::LayerVersion",
];

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
            return IdentifierOutcome::Known(self.composed(&given));
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

    /// Returns whether AWS assigns a part of every identifier. Such identifiers are not used again for another resource.
    pub fn is_named_by_aws(&self) -> bool {
        let mut parts = self.primary_identifier().iter();
        parts.any(|path| self.lists(Classes::READ_ONLY, &path.names()))
    }

    /// Returns the property of `properties` that names the resource so that AWS has the name only once in an account and
    /// region, although the identifier is another: the `QueueName` of a queue, whose identifier is its URL. `None` if none
    /// is declared, or if the identifier itself consists of what is declared.
    ///
    /// CloudFormation calls it a custom name. Schemas do not list it. It is create-only, and called after the type: `Name`,
    /// or the end of the type's name with `Name`.
    /// See <https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html>.
    pub fn custom_name<'v>(&self, properties: &'v Value) -> Option<(&'v str, &'v str)> {
        if self.makes_revisions() || !self.is_named_by_aws() {
            return None;
        }
        let resource = self.type_name().resource().to_ascii_lowercase();
        let is_called_after_type = |name: &str| {
            let noun = name.strip_suffix("Name");
            noun.is_some_and(|noun| resource.ends_with(&noun.to_ascii_lowercase()))
        };
        let is_fixed = |name: &str| {
            self.lists(Classes::CREATE_ONLY, &[name]) && !self.lists(Classes::READ_ONLY, &[name])
        };
        let mut members = properties.as_object()?.iter();
        members.find_map(|(name, value)| {
            let text = value.as_str()?;
            (is_called_after_type(name) && is_fixed(name)).then_some((name.as_str(), text))
        })
    }

    /// Returns whether AWS makes a new revision when a resource of the type is created under a name that is there already,
    /// and so refuses none.
    pub fn makes_revisions(&self) -> bool {
        REVISED.contains(&self.type_name().as_str())
    }

    /// Returns whether `properties` name the resource, so that another one of that name can only stand after it.
    pub fn is_named_in(&self, properties: &Value) -> bool {
        let identifier = self.identifier(properties);
        matches!(identifier, IdentifierOutcome::Known(_)) || self.custom_name(properties).is_some()
    }

    /// Returns the properties in an identifier, for example `{"LogGroupName": "a"}`, or `None` if the number of parts
    /// is wrong or a part does not have its property's type.
    pub fn properties_of_identifier(&self, identifier: &Identifier) -> Option<Value> {
        let mut properties = Map::new();
        let parts = self.parts(identifier)?;
        for (path, part) in self.primary_identifier().iter().zip(parts) {
            let value = self.typed(path, &part)?;
            insert(&mut properties, path.segments(), value)?;
        }
        Some(Value::Object(properties))
    }

    /// Returns the identifier in the one form that is stored and compared, or `None` if its parts cannot be told.
    pub fn canonical(&self, identifier: &Identifier) -> Option<Identifier> {
        let parts = self.parts(identifier)?;
        Some(self.composed(&parts))
    }

    /// Returns the identifier that AWS means by `answered`, of a resource with `properties`, as far as they are known.
    ///
    /// AWS joins the parts by `|`, also if a part contains `|`. Then the properties tell where the parts begin.
    pub fn answered(&self, answered: &Identifier, properties: &Value) -> Identifier {
        let canonical = self.canonical(answered);
        let resolved = || self.resolved(answered.as_str(), properties);
        (canonical.or_else(resolved)).unwrap_or_else(|| answered.clone())
    }

    /// Splits a joined identifier by the parts that `properties` contain. At most one may be missing.
    fn resolved(&self, joined: &str, properties: &Value) -> Option<Identifier> {
        let paths = self.primary_identifier().iter();
        let known: Vec<Option<String>> = paths
            .map(|path| path.get(properties).and_then(part))
            .collect();
        let missing = known.iter().position(Option::is_none);
        let (before, after) = known.split_at(missing.unwrap_or(known.len()));
        let mut rest = joined;
        for part in before.iter().flatten() {
            rest = rest.strip_prefix(part.as_str())?;
            rest = rest.strip_prefix('|').unwrap_or(rest);
        }
        for part in after.iter().skip(1).rev() {
            rest = rest.strip_suffix(part.as_deref()?)?.strip_suffix('|')?;
        }
        let parts: Vec<&str> = known
            .iter()
            .map(|part| part.as_deref().unwrap_or(rest))
            .collect();
        let is_whole = parts.join("|") == joined && !parts.contains(&"");
        is_whole.then(|| self.composed(&parts))
    }

    /// Returns the parts of an identifier in either form.
    fn parts<'a>(&self, identifier: &'a Identifier) -> Option<Vec<Cow<'a, str>>> {
        let text = identifier.as_str();
        let paths = self.primary_identifier();
        if let [_] = paths {
            return (!text.is_empty()).then(|| vec![Cow::Borrowed(text)]);
        }
        if let Some(parts) = self.parts_in_json(text) {
            return Some(parts.into_iter().map(Cow::Owned).collect());
        }
        let parts: Vec<Cow<'a, str>> = text.split('|').map(Cow::Borrowed).collect();
        (parts.len() == paths.len() && parts.iter().all(|part| !part.is_empty())).then_some(parts)
    }

    fn parts_in_json(&self, text: &str) -> Option<Vec<String>> {
        if !text.starts_with('{') {
            return None;
        }
        let Value::Object(members) = json::parse(text)? else {
            return None;
        };
        let paths = self.primary_identifier();
        let parts = paths
            .iter()
            .map(|path| part(members.get(&path.in_words())?));
        (members.len() == paths.len()).then(|| parts.collect())?
    }

    /// Returns the identifier of these parts: joined, unless the parts could not be told from that.
    fn composed(&self, parts: &[impl AsRef<str>]) -> Identifier {
        let texts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        let joined = texts.join("|");
        let is_compound = texts.len() > 1;
        let is_ambiguous =
            || texts.iter().any(|text| text.contains('|')) || self.parts_in_json(&joined).is_some();
        if !is_compound || !is_ambiguous() {
            return Identifier::new(joined);
        }
        let paths = self.primary_identifier().iter();
        let members: Map<String, Value> = paths
            .zip(texts)
            .map(|(path, text)| (path.in_words(), Value::from(text)))
            .collect();
        Identifier::new(Value::Object(members).to_string())
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

    /// Replaces the parts of the identifier that `properties` declare by those of `identifier`.
    pub fn spell_identifier(&self, identifier: &Identifier, properties: &mut Value) {
        let Some(parts) = self.properties_of_identifier(identifier) else {
            return;
        };
        for path in self.primary_identifier() {
            if let (Some(_), Some(part)) = (path.get(properties), path.get(&parts)) {
                let members = properties.as_object_mut();
                members.and_then(|members| insert(members, path.segments(), part.clone()));
            }
        }
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
        let value = json::parse(part)?;
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
