use serde_json::{Map, Value};
use ucp_model::{ErrorCode, Failure, Identifier, Scope, json};
use ucp_schema::{IdentifierOutcome, ResourceSchema};

use crate::Rejection;

/// How a request names a reference.
#[derive(Clone, Debug)]
pub struct TrackedBy {
    /// The id of the reference, or of its group.
    pub id: String,
    /// The alias. It is required with the id of a group; otherwise the id of the reference takes precedence.
    pub alias: Option<String>,
}

/// What a put does if it has an alias but no `trackedBy`, and AWS assigns the identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UntrackedAlias {
    /// Refuse: each such put would create another resource.
    #[default]
    Refuse,
    /// Create a resource and ignore the alias.
    Ignore,
}

/// How a request identifies an AWS resource.
#[derive(Clone)]
pub enum Selector {
    /// By its name in the URL.
    Name(String),
    /// By the reference that stands for it.
    Reference(TrackedBy),
    /// By the properties that make up its identifier; others are ignored.
    Parts(Map<String, Value>),
}

/// Returns the identifier that a name in a URL means. If its parts cannot be told, AWS says what is wrong with it.
pub(crate) fn named(schema: &ResourceSchema, name: &str) -> Result<Identifier, Rejection> {
    let given = Identifier::parse(name)?;
    Ok(schema.canonical(&given).unwrap_or(given))
}

/// Returns the identifier in the properties, or a rejection that names the missing ones.
pub(crate) fn told_by(
    schema: &ResourceSchema,
    properties: Map<String, Value>,
) -> Result<Identifier, Rejection> {
    let mut properties = Value::Object(properties);
    json::drop_nulls(&mut properties);
    if let IdentifierOutcome::Known(identifier) = schema.identifier(&properties) {
        return Ok(Identifier::parse(identifier.as_str())?);
    }
    let parts = schema.primary_identifier().iter();
    let missing: Vec<String> = parts
        .filter(|part| {
            part.get(&properties)
                .is_none_or(|value| value.is_object() || value.is_array() || value == "")
        })
        .map(|part| format!("/properties{}", part.pointer()))
        .collect();
    Err(Rejection::bad_request(format!(
        "A resource of type {} is identified by {}. Give it, or the alias with its trackedBy.",
        schema.type_name().arm(),
        missing.join(" and ")
    )))
}

/// The rejection if AWS has no resource with that identifier.
pub(crate) fn not_found(
    schema: &ResourceSchema,
    scope: &Scope,
    identifier: &Identifier,
) -> Rejection {
    let type_name = schema.type_name();
    let message = format!(
        "There is no {} with {} in account {}, region {}.",
        type_name.arm(),
        schema.identifier_in_words(identifier),
        scope.account,
        scope.region
    );
    let failure = Failure::new(ErrorCode::NotFound, message);
    Rejection::Missing(failure.with_target(scope.resource(type_name, identifier)))
}

/// Returns the identifier, given as a whole, in parts, or both.
pub(crate) fn identifier(
    schema: &ResourceSchema,
    whole: Option<&str>,
    properties: Map<String, Value>,
) -> Result<Identifier, Rejection> {
    let mut properties = Value::Object(properties);
    json::drop_nulls(&mut properties);
    let Some(whole) = whole else {
        return match schema.identifier(&properties) {
            IdentifierOutcome::Known(identifier) => Ok(Identifier::parse(identifier.as_str())?),
            IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => {
                Err(Rejection::bad_request(format!(
                    "/primaryIdentifier: a resource of type {} is identified by {}. Give it as primaryIdentifier, or its parts as properties.",
                    schema.type_name().arm(),
                    parts(schema)
                )))
            }
        };
    };
    let identifier = named(schema, whole)?;
    let Some(parts_named) = schema.properties_of_identifier(&identifier) else {
        return Err(Rejection::bad_request(format!(
            "/primaryIdentifier: '{identifier}' does not identify a resource of type {}, which is identified by {}.",
            schema.type_name().arm(),
            parts(schema)
        )));
    };
    let contradicted = schema.primary_identifier().iter().find(|part| {
        let (given, named) = (part.get(&properties), part.get(&parts_named));
        given.is_some() && given != named
    });
    match contradicted {
        None => Ok(identifier),
        Some(part) => Err(Rejection::bad_request(format!(
            "/properties{}: contradicts the primaryIdentifier '{identifier}'. Give one of the two.",
            part.pointer()
        ))),
    }
}

fn parts(schema: &ResourceSchema) -> String {
    let parts = schema.primary_identifier().iter();
    let parts: Vec<String> = parts
        .map(|part| format!("/properties{}", part.pointer()))
        .collect();
    match &parts[..] {
        [only] => only.clone(),
        several => format!(
            "{}, joined by '|' or as a JSON object",
            several.join(" and ")
        ),
    }
}
