use std::fmt;

use serde_json::Value;

use crate::spelling;

/// A violation of the schema in a document, described for its author.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// The location, as a JSON Pointer into the document.
    pub pointer: String,
    /// The message. It has the location and what is expected there, and never repeats a value.
    pub message: String,
    /// The kind of the violation.
    pub code: ViolationCode,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The kind of a [`Violation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationCode {
    /// A value has a JSON type that the schema does not allow.
    WrongType,
    /// A property does not exist.
    UnknownProperty,
    /// A required property is missing.
    MissingProperty,
    /// A value violates an enumeration, a pattern, a range or a length.
    InvalidValue,
    /// Properties cannot be combined, such as two that exclude each other.
    InvalidCombination,
    /// A read-only property has another value than the live one.
    ReadOnlyProperty,
}

/// The words of the values that a set may have in the place of others.
const EXPRESSIONS: [&str; 3] = ["$reference", "$concat", "$unknown"];
/// CloudFormation's words for values of other resources.
const INTRINSICS: [&str; 5] = [
    "Ref",
    "Fn::GetAtt",
    "Fn::Sub",
    "Fn::Join",
    "Fn::ImportValue",
];

/// Returns what an object in the place of another value was probably meant to be.
fn meant_by(got: &Value) -> Option<String> {
    let members = got.as_object().filter(|members| members.len() == 1)?;
    let name = members.keys().next()?;
    if EXPRESSIONS.contains(&name.as_str()) {
        return None;
    }
    if INTRINSICS.contains(&name.as_str()) {
        return Some(format!(
            "; `{name}` is CloudFormation's: a set refers to another resource with {{\"$reference\": \"NAME#/Property\"}}, and joins texts with $concat"
        ));
    }
    let meant = spelling::nearest(name, EXPRESSIONS.into_iter())?;
    Some(format!("; did you mean `{meant}`?"))
}

impl Violation {
    /// Creates the violation of a value `got` whose JSON type is none of `expected`.
    pub fn wrong_type(pointer: &str, expected: &[&str], got: &Value) -> Self {
        let expected: Vec<&str> = expected.iter().map(|name| with_article(name)).collect();
        let message = format!(
            "{}: expected {}, got {}{}",
            place(pointer),
            expected.join(" or "),
            with_article(type_of(got)),
            meant_by(got).unwrap_or_default()
        );
        Self::new(pointer, ViolationCode::WrongType, message)
    }

    /// Creates the violation of a property that `owner`, an object with the properties `known`, does not have.
    pub(crate) fn unknown_property<'a>(
        pointer: String,
        name: &str,
        owner: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let mut message = format!("`{pointer}` is not a property of {owner}");
        if let Some(meant) = spelling::nearest(name, known) {
            message.push_str(&format!("; did you mean `{meant}`?"));
        }
        Self::new(&pointer, ViolationCode::UnknownProperty, message)
    }

    /// Creates the violation of a declared member `name` at `pointer`, whose object has only the members `known`.
    pub fn not_a_property<'a>(
        type_name: &str,
        pointer: &str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let owner = match pointer.rsplit_once('/') {
            Some(("", _)) | None => type_name.to_owned(),
            Some((owner, _)) => format!("`{owner}`"),
        };
        Self::unknown_property(pointer.to_owned(), name, &owner, known)
    }

    /// Creates the violation of a declared read-only property. `is_live` says whether it has a live value.
    pub fn read_only(pointer: &str, is_live: bool) -> Self {
        let why = if is_live {
            "it has another value than the declared one"
        } else {
            "it has no value yet"
        };
        let message =
            format!("`{pointer}` is set by AWS alone, and {why}; take it out of the declaration");
        Self::new(pointer, ViolationCode::ReadOnlyProperty, message)
    }

    /// Creates a violation with an expectation, for example "`/Name`: must have at least 3 characters".
    pub(crate) fn expected(pointer: &str, code: ViolationCode, what: &str) -> Self {
        Self::new(pointer, code, format!("{}: {what}", place(pointer)))
    }

    /// Creates the violation of a missing property.
    pub(crate) fn missing(pointer: &str) -> Self {
        Self::new(
            pointer,
            ViolationCode::MissingProperty,
            format!("`{pointer}` is required"),
        )
    }

    fn new(pointer: &str, code: ViolationCode, message: String) -> Self {
        Self {
            pointer: pointer.to_owned(),
            message,
            code,
        }
    }
}

fn place(pointer: &str) -> String {
    match pointer {
        "" => "the properties".to_owned(),
        _ => format!("`{pointer}`"),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn with_article(json_type: &str) -> &str {
    match json_type {
        "boolean" => "a boolean",
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "array" => "an array",
        "object" => "an object",
        other => other,
    }
}
