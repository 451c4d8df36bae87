//! The judge of a value by the schema of a parameter.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{Draft, Keyword, PatternOptions, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value, json as value};
use ucp_model::{excerpt, json, pointer};
use ucp_schema::{Patterns, in_our_dialect};

/// The name of `pattern` for the validator, which is given a schema in which our own keyword checks patterns: in linear
/// time, and those that it cannot check match everything.
const PATTERN: &str = "lenientPattern";

/// The maximum number of allowed values in a message.
const LISTED_MAX: usize = 12;

/// What is wrong with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The place, as a JSON Pointer into the parameters.
    pub pointer: String,
    /// What is expected there. It never repeats the value.
    pub message: String,
}

impl Objection {
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.pointer, self.message)
    }
}

/// How many values are told of by how many schemas at most, multiplied. Each may be wrong in each way.
const TOLD_MAX: usize = 1_000_000;

/// Judges values by a schema.
pub(crate) struct Judge {
    validator: Validator,
    /// The number of schemas, in each other.
    schemas: usize,
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judge")
    }
}

impl Judge {
    /// Returns the judge by a schema in draft-04. `None` if it is none.
    pub(crate) fn of(schema: &Value, patterns: &Arc<Patterns>) -> Option<Self> {
        each_pattern(schema, &mut |pattern| {
            // Compiled now, and not for the first request.
            patterns.checks(pattern);
        });
        let patterns = Arc::clone(patterns);
        options()
            .with_keyword(PATTERN, move |_, pattern, _| {
                Ok(Box::new(PatternKeyword {
                    pattern: pattern.as_str().unwrap_or_default().to_owned(),
                    patterns: Arc::clone(&patterns),
                }))
            })
            .build(&for_validator(schema))
            .ok()
            .map(|validator| Self {
                validator,
                schemas: count(schema),
            })
    }

    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Returns up to `room` objections to the value at `above`.
    pub(crate) fn objections(&self, value: &Value, above: &str, room: usize) -> Vec<Objection> {
        if self.accepts(value) || room == 0 {
            return Vec::new();
        }
        if self.schemas.saturating_mul(count(value)) > TOLD_MAX {
            let message = "does not fit its schema in the catalog, and is too large to say where";
            return vec![Objection::new(above, message)];
        }
        let mut told = BTreeSet::new();
        let errors = self.validator.iter_errors(value);
        errors
            .flat_map(|error| describe(&error, above))
            .filter(|objection| told.insert((objection.pointer.clone(), objection.message.clone())))
            .take(room)
            .collect()
    }
}

/// Returns how many values there are in a value, with itself.
fn count(value: &Value) -> usize {
    json::children(value)
        .map(|(_, child)| count(child))
        .sum::<usize>()
        + 1
}

fn options() -> ValidationOptions<'static> {
    jsonschema::options()
        .offline()
        .with_draft(Draft::Draft4)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(false)
}

/// Returns whether a value is a schema in draft-04.
pub(crate) fn is_schema(value: &Value) -> bool {
    jsonschema::draft4::meta::is_valid(value)
}

struct PatternKeyword {
    pattern: String,
    patterns: Arc<Patterns>,
}

impl<'i> Keyword<'i> for PatternKeyword {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            Ok(())
        } else {
            Err(ValidationError::custom(format!(
                "must match the pattern `{}`",
                excerpt(&self.pattern)
            )))
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let text = instance.as_str();
        text.is_none_or(|text| self.patterns.matches(&self.pattern, text))
    }
}

/// Returns a schema for the validator: with our keyword for patterns, and without names that it cannot match in linear
/// time.
fn for_validator(schema: &Value) -> Value {
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    let mut kept = Map::new();
    for (keyword, value) in members {
        let (name, value) = match (keyword.as_str(), value) {
            ("pattern", value) => (PATTERN, value.clone()),
            ("patternProperties", Value::Object(named)) => {
                let names = named.keys().map(|name| linear(name));
                let Some(names) = names.collect::<Option<Vec<_>>>() else {
                    continue;
                };
                let schemas = named.values().map(for_validator);
                (
                    keyword.as_str(),
                    Value::Object(names.into_iter().zip(schemas).collect()),
                )
            }
            ("properties" | "dependencies", Value::Object(named)) => {
                let named = named.iter();
                let named = named.map(|(name, schema)| (name.clone(), for_validator(schema)));
                (keyword.as_str(), Value::Object(named.collect()))
            }
            ("items" | "allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => (
                keyword.as_str(),
                schemas.iter().map(for_validator).collect(),
            ),
            ("items" | "additionalItems" | "additionalProperties" | "not", schema) => {
                (keyword.as_str(), for_validator(schema))
            }
            (keyword, value) => (keyword, value.clone()),
        };
        kept.insert(name.to_owned(), value);
    }
    // A member whose pattern is left out must not count as an additional one.
    if members.contains_key("patternProperties") && !kept.contains_key("patternProperties") {
        kept.shift_remove("additionalProperties");
    }
    Value::Object(kept)
}

/// Visits the patterns of texts in a schema.
pub(crate) fn each_pattern(schema: &Value, visit: &mut impl FnMut(&str)) {
    let Value::Object(members) = schema else {
        return;
    };
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("pattern", Value::String(pattern)) => visit(pattern),
            ("properties" | "patternProperties" | "dependencies", Value::Object(named)) => {
                named
                    .values()
                    .for_each(|schema| each_pattern(schema, visit));
            }
            ("items" | "allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas
                    .iter()
                    .for_each(|schema| each_pattern(schema, visit));
            }
            ("items" | "additionalItems" | "additionalProperties" | "not", schema) => {
                each_pattern(schema, visit);
            }
            _ => {}
        }
    }
}

/// Returns a pattern of names as the validator takes it, if it does.
fn linear(pattern: &str) -> Option<String> {
    let pattern = in_our_dialect(pattern);
    let schema = value!({"patternProperties": {pattern.as_str(): {}}});
    options().build(&schema).is_ok().then_some(pattern)
}

/// Converts an error of the validator.
fn describe(error: &ValidationError<'_>, above: &str) -> Vec<Objection> {
    let place = format!("{above}{}", error.instance_path().as_str());
    let one = |message: String| vec![Objection::new(place.as_str(), message)];
    match error.kind() {
        Kind::Type { kind } => one(format!("must be {}", types(kind))),
        Kind::AdditionalProperties { unexpected } => {
            let unexpected = unexpected.iter();
            unexpected
                .map(|name| Objection::new(pointer::join(&place, name), "is unknown; leave it out"))
                .collect()
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![Objection::new(pointer::join(&place, name), "is required")]
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let described = context.iter().map(|errors| {
                let errors = errors.iter();
                errors
                    .flat_map(|error| describe(error, above))
                    .collect::<Vec<_>>()
            });
            let least = described.min_by_key(Vec::len).unwrap_or_default();
            if least.is_empty() {
                one("fits none of the alternatives".to_owned())
            } else {
                least
            }
        }
        Kind::OneOfMultipleValid { .. } => {
            one("fits several alternatives of which only one may be chosen".to_owned())
        }
        Kind::Not { .. } | Kind::FalseSchema => one("is not allowed like this".to_owned()),
        Kind::Enum { options } => one(format!("must be {}", one_of(options))),
        Kind::Custom { message, .. } => one(message.clone()),
        Kind::MinLength { limit } => one(format!("must have at least {limit} characters")),
        Kind::MaxLength { limit } => one(format!("must have at most {limit} characters")),
        Kind::MinItems { limit } => one(format!("must have at least {limit} items")),
        Kind::MaxItems { limit } => one(format!("must have at most {limit} items")),
        Kind::MinProperties { limit } => one(format!("must have at least {limit} members")),
        Kind::MaxProperties { limit } => one(format!("must have at most {limit} members")),
        Kind::Minimum { limit } => one(format!("must be at least {limit}")),
        Kind::Maximum { limit } => one(format!("must be at most {limit}")),
        Kind::ExclusiveMinimum { limit } => one(format!("must be more than {limit}")),
        Kind::ExclusiveMaximum { limit } => one(format!("must be less than {limit}")),
        Kind::MultipleOf { multiple_of } => one(format!("must be a multiple of {multiple_of}")),
        Kind::UniqueItems => one("must not have the same item twice".to_owned()),
        other => one(format!("does not satisfy `{}`", other.keyword())),
    }
}

fn types(kind: &TypeKind) -> String {
    let with_article = |name: &str| match name {
        "array" | "integer" | "object" => format!("an {name}"),
        "null" => name.to_owned(),
        _ => format!("a {name}"),
    };
    match kind {
        TypeKind::Single(one) => with_article(one.as_str()),
        TypeKind::Multiple(several) => {
            let several = several.iter().map(|one| with_article(one.as_str()));
            several.collect::<Vec<_>>().join(" or ")
        }
    }
}

fn one_of(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let listed = options.iter().take(LISTED_MAX).map(|option| match option {
        Value::String(text) => format!("`{}`", excerpt(text)),
        other => format!("`{}`", excerpt(&other.to_string())),
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    match options.len().saturating_sub(LISTED_MAX) {
        0 if options.len() == 1 => listed,
        0 => format!("one of {listed}"),
        more => format!("one of {listed} or {more} others"),
    }
}
