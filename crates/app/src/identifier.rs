use serde_json::{Map, Value};
use ucp_model::{ErrorCode, Failure, Identifier, Scope, json};
use ucp_schema::{IdentifierOutcome, ResourceSchema};

use crate::Rejection;

/// How a request says which AWS resource it means.
#[derive(Clone)]
pub enum Selector {
    /// The one of this name, as in the URL.
    Name(String),
    /// The one that this reference id stands for.
    Reference(String),
    /// The one whose identifier these properties tell; others are ignored.
    Parts(Map<String, Value>),
}

/// The identifier that the properties tell, or a refusal that names what is missing.
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
        "An {} is named by {}. Give it, or the alias with its trackedBy.",
        schema.type_name().arm(),
        missing.join(" and ")
    )))
}

/// AWS has no resource of that name.
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
