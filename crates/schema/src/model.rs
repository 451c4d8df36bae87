//! Validation of a whole model: required properties, enumerations, patterns, ranges and alternatives.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::{Map, Value};
use ucp_model::pointer;

use crate::pattern::{MAX_MATCHED_CHARS, Patterns};
use crate::{Classes, ResourceSchema, Violation, ViolationCode, draft7, unknown_pointers};

/// The maximum number of allowed values in a message.
const MAX_LISTED: usize = 12;

impl ResourceSchema {
    /// Compiles what is otherwise compiled on first use, so that nothing else has to wait for it.
    pub fn compile(&self) {
        self.root();
        self.validator();
    }

    /// Returns all violations in the model of a resource: those of [`ResourceSchema::validate_declaration`], and those
    /// of required properties, enumerations, patterns, ranges and alternatives.
    ///
    /// The check is lenient, since AWS validates again: required properties that are read-only may be missing, formats
    /// are ignored, and a pattern that our dialect cannot express accepts everything, as does a schema that cannot be
    /// compiled.
    pub fn validate_model(&self, properties: &Value) -> Vec<Violation> {
        if let Some(violation) = self.takes_too_long(properties) {
            return vec![violation];
        }
        let mut declared = self.names_and_types(properties);
        let found = self.violations_in_model(properties, |_| true);
        let told: HashSet<(&str, ViolationCode)> = declared
            .iter()
            .map(|told| (told.pointer.as_str(), told.code))
            .collect();
        let is_told = |found: &Violation| told.contains(&(found.pointer.as_str(), found.code));
        let new: Vec<Violation> = found.into_iter().filter(|it| !is_told(it)).collect();
        declared.extend(new);
        declared
    }

    /// Returns what the validator finds of those errors that no unknown value can mend, each once.
    pub(crate) fn violations_in_model(
        &self,
        properties: &Value,
        is_wanted: impl Fn(&ValidationError<'_>) -> bool,
    ) -> Vec<Violation> {
        let errors = self
            .validator()
            .iter()
            .flat_map(|validator| validator.iter_errors(properties));
        let unknown: BTreeSet<String> = unknown_pointers(properties).into_iter().collect();
        let errors = errors.filter(|error| is_wanted(error) && !depends_on_any(error, &unknown));
        let found: Vec<Violation> = errors.flat_map(|error| self.describe(&error)).collect();
        let mut seen = HashSet::with_capacity(found.len());
        let is_first: Vec<bool> = found.iter().map(|it| seen.insert(it)).collect();
        let found = found.into_iter().zip(is_first);
        found
            .filter_map(|(it, is_first)| is_first.then_some(it))
            .collect()
    }

    pub(crate) fn validator(&self) -> &Option<Validator> {
        self.validator.get_or_init(|| compile(self))
    }

    /// Converts an error of the validator to violations.
    fn describe(&self, error: &ValidationError<'_>) -> Vec<Violation> {
        let pointer = error.instance_path().as_str();
        let invalid = |what: &str| {
            vec![Violation::expected(
                pointer,
                ViolationCode::InvalidValue,
                what,
            )]
        };
        let combination = |what: &str| {
            vec![Violation::expected(
                pointer,
                ViolationCode::InvalidCombination,
                what,
            )]
        };
        match error.kind() {
            Kind::Type { kind } => {
                let expected: Vec<&str> = match kind {
                    TypeKind::Single(one) => vec![one.as_str()],
                    TypeKind::Multiple(several) => several.iter().map(|one| one.as_str()).collect(),
                };
                vec![Violation::wrong_type(pointer, &expected, error.instance())]
            }
            Kind::AdditionalProperties { unexpected } => unexpected
                .iter()
                .map(|name| self.unknown_property(pointer, name, std::iter::empty()))
                .collect(),
            Kind::Required { property } => self.missing(pointer, property),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.no_alternative(pointer, context)
            }
            Kind::OneOfMultipleValid { .. } => {
                combination("fits several alternatives of which only one may be chosen")
            }
            Kind::Not { .. } | Kind::FalseSchema => {
                combination("is not allowed in this combination")
            }
            Kind::Enum { options } => invalid(&format!("must be {}", one_of(options))),
            Kind::Constant { expected_value } => {
                invalid(&format!("must be {}", quoted(expected_value)))
            }
            Kind::Custom { message, .. } => invalid(message),
            Kind::MinLength { limit } => invalid(&format!("must have at least {limit} characters")),
            Kind::MaxLength { limit } => invalid(&format!("must have at most {limit} characters")),
            Kind::MinItems { limit } => invalid(&format!("must have at least {limit} items")),
            Kind::MaxItems { limit } => invalid(&format!("must have at most {limit} items")),
            Kind::MinProperties { limit } => {
                invalid(&format!("must have at least {limit} properties"))
            }
            Kind::MaxProperties { limit } => {
                invalid(&format!("must have at most {limit} properties"))
            }
            Kind::Minimum { limit } => invalid(&format!("must be at least {limit}")),
            Kind::Maximum { limit } => invalid(&format!("must be at most {limit}")),
            Kind::ExclusiveMinimum { limit } => invalid(&format!("must be more than {limit}")),
            Kind::ExclusiveMaximum { limit } => invalid(&format!("must be less than {limit}")),
            Kind::MultipleOf { multiple_of } => {
                invalid(&format!("must be a multiple of {multiple_of}"))
            }
            Kind::UniqueItems => invalid("must not have the same item twice"),
            other => invalid(&format!("does not satisfy `{}`", other.keyword())),
        }
    }

    /// Reports a missing property, unless it is read-only: some schemas require read-only properties.
    fn missing(&self, pointer: &str, property: &Value) -> Vec<Violation> {
        let pointer = pointer::join(pointer, property.as_str().unwrap_or_default());
        let segments = pointer.split('/').skip(1).map(pointer::unescape);
        let segments: Vec<String> = segments.collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        if self.lists(Classes::READ_ONLY, &segments) {
            return Vec::new();
        }
        vec![Violation::missing(&pointer)]
    }

    /// Reports the violations of the alternative that has the fewest. If the alternatives differ only in required
    /// properties, reports these instead.
    fn no_alternative(
        &self,
        pointer: &str,
        alternatives: &[Vec<ValidationError<'_>>],
    ) -> Vec<Violation> {
        let found: Vec<Vec<Violation>> = alternatives
            .iter()
            .map(|errors| {
                errors
                    .iter()
                    .flat_map(|error| self.describe(error))
                    .collect()
            })
            .collect();
        if found.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        let is_missing = |violation: &Violation| violation.code == ViolationCode::MissingProperty;
        if found.len() > 1 && found.iter().flatten().all(is_missing) {
            let needed: Vec<String> = found.iter().map(|missing| all_of(missing)).collect();
            let what = format!("needs {}", needed.join(", or "));
            return vec![Violation::expected(
                pointer,
                ViolationCode::InvalidCombination,
                &what,
            )];
        }
        found.into_iter().min_by_key(Vec::len).unwrap_or_default()
    }
}

/// Returns whether an error may vanish once a value at one of the places `unknown` is known: it is about that value, or
/// about its combination with others.
fn depends_on_any(error: &ValidationError<'_>, unknown: &BTreeSet<String>) -> bool {
    if unknown.is_empty() {
        return false;
    }
    let pointer = error.instance_path().as_str();
    let is_about_all = !matches!(
        error.kind(),
        Kind::Required { .. } | Kind::AdditionalProperties { .. } | Kind::Type { .. }
    );
    let ends = pointer.match_indices('/').map(|(end, _)| end);
    let mut above = ends.chain([pointer.len()]).map(|end| &pointer[..end]);
    if above.any(|above| unknown.contains(above)) {
        return true;
    }
    let below = format!("{pointer}/");
    let first = unknown.range(below.clone()..).next();
    is_about_all && first.is_some_and(|first| first.starts_with(&below))
}

fn all_of(missing: &[Violation]) -> String {
    let pointers: Vec<String> = missing
        .iter()
        .map(|violation| format!("`{}`", violation.pointer))
        .collect();
    pointers.join(" and ")
}

fn one_of(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let listed: Vec<String> = options.iter().take(MAX_LISTED).map(quoted).collect();
    let more = match options.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" or {more} others"),
    };
    format!("one of {}{more}", listed.join(", "))
}

fn quoted(option: &Value) -> String {
    match option {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

fn compile(schema: &ResourceSchema) -> Option<Validator> {
    let patterns = Arc::clone(&schema.patterns);
    draft7::options()
        .offline()
        .should_validate_formats(false)
        // Compiling the patterns is most of the work, and most of them are never needed.
        .with_keyword(draft7::PATTERN, move |beside, pattern, _| {
            Ok(Box::new(PatternKeyword {
                pattern: pattern.as_str().unwrap_or_default().to_owned(),
                length: Length::of(beside),
                patterns: Arc::clone(&patterns),
            }))
        })
        .build(&draft7::of(schema.document()))
        .ok()
}

/// A pattern, with the lengths beside it. They are judged first: a string of another length is not matched.
struct PatternKeyword {
    pattern: String,
    length: Length,
    patterns: Arc<Patterns>,
}

/// The lengths that a schema allows, in characters.
struct Length {
    min: Option<u64>,
    max: Option<u64>,
}

impl Length {
    fn of(schema: &Map<String, Value>) -> Self {
        let length = |keyword| schema.get(keyword).and_then(Value::as_u64);
        Self {
            min: length("minLength"),
            max: length("maxLength"),
        }
    }

    fn allows(&self, length: u64) -> bool {
        self.min.is_none_or(|min| length >= min) && self.max.is_none_or(|max| length <= max)
    }
}

impl PatternKeyword {
    /// Returns what a string has to be and is not.
    fn expectation(&self, text: &str) -> Option<String> {
        let length = text.chars().count();
        if !self.length.allows(length.try_into().unwrap_or(u64::MAX)) {
            return None;
        }
        if self.length.max.is_none() && length > MAX_MATCHED_CHARS {
            return Some(format!(
                "must have at most {MAX_MATCHED_CHARS} characters, since it must match a pattern and its schema has no `maxLength`"
            ));
        }
        let matches = self.patterns.matches(&self.pattern, text);
        (!matches).then(|| format!("must match the pattern `{}`", self.pattern))
    }
}

impl<'i> Keyword<'i> for PatternKeyword {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match instance.as_str().and_then(|text| self.expectation(text)) {
            Some(expectation) => Err(ValidationError::custom(expectation)),
            None => Ok(()),
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let text = instance.as_str();
        text.is_none_or(|text| self.expectation(text).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    #[test]
    fn every_embedded_schema_compiles() {
        let catalogue = Catalogue::embedded();
        for name in catalogue.type_names() {
            let schema = catalogue.get(name).unwrap();
            assert!(compile(&schema).is_some(), "{name}");
        }
    }
}
