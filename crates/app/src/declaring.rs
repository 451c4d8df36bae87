//! What is wrong with a declaration, whatever the live resource is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_model::operation::Options;
use ucp_model::{Baseline, Digest, ErrorCode, Failure, Identifier, Reference, Scope};
use ucp_plan::{Desired, Judgement, Live, Plan, Question, Subject, judge};
use ucp_schema::{
    Declaration, IdentifierOutcome, Known, MAX_DECLARED_CHARS, ResourceSchema, Unknown, Violation,
};
use zeroize::Zeroizing;

use crate::Rejection;

pub(crate) const NOT_VALID: &str = "The properties are not a valid declaration. Nothing was stored or sent. Correct what the details name.";

/// Refuses a put that its type does not support, or that is too long.
pub(crate) fn judge_for_type(
    properties: &Map<String, Value>,
    tags: &BTreeMap<String, String>,
    schema: &ResourceSchema,
) -> Result<(), Rejection> {
    if !schema.is_provisionable() {
        return Err(unsupported(schema, "created or updated"));
    }
    if !tags.is_empty() && !schema.takes_default_tags() {
        return Err(Rejection::bad_request(format!(
            "/tags: {} has no tags that can be changed. Omit them, or declare them in properties.",
            schema.type_name().arm()
        )));
    }
    refuse_too_long(properties)
}

/// Judges a put that is certainly a create, wherever that is done. Returns its plan.
pub(crate) fn create_judge(
    declaration: &Declaration,
    schema: &Arc<ResourceSchema>,
    scope: &Scope,
    options: Options,
) -> impl FnOnce() -> Result<Plan, Rejection> + Send + 'static {
    let (declaration, schema) = (declaration.clone(), Arc::clone(schema));
    let scope = scope.clone();
    move || judge_create(declaration, &schema, &scope, options)
}

/// What a declaration is judged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To change the resource.
    Change,
    /// To tell what a change would do.
    Preview,
    /// To tell what is wrong, without a call to AWS.
    Validation,
}

/// What the alias of a declaration tells of its resource.
pub(crate) struct LastApplied<'a> {
    /// What was last applied to it. Whether that has made what there is does not matter here.
    declared: Option<Cow<'a, Baseline>>,
    /// The properties of its identifier.
    named: Option<Value>,
}

impl<'a> LastApplied<'a> {
    pub(crate) fn of(reference: &'a Reference, schema: &ResourceSchema) -> Self {
        let identifier = reference.identifier.as_ref();
        Self::new(reference.baseline.as_ref(), identifier, schema)
    }

    pub(crate) fn new(
        last: Option<&'a Baseline>,
        identifier: Option<&Identifier>,
        schema: &ResourceSchema,
    ) -> Self {
        Self {
            declared: last.map(Cow::Borrowed),
            named: identifier.and_then(|name| schema.properties_of_identifier(name)),
        }
    }

    /// Returns the same for another thread.
    pub(crate) fn owned(self) -> LastApplied<'static> {
        LastApplied {
            declared: self.declared.map(|last| Cow::Owned(last.into_owned())),
            named: self.named,
        }
    }
}

/// Returns what is known of the resource of a declaration, by its alias, and by its name, if it has one: in the URL, or in its properties.
pub(crate) fn known<'a>(
    last: Option<&'a LastApplied<'_>>,
    named_parts: Option<&'a Value>,
    identifier: Option<&Identifier>,
) -> Known<'a> {
    match (last, named_parts, identifier) {
        (None, None, None) => Known::Absent,
        (last, named_parts, _) => Known::Perhaps {
            last: last.and_then(|last| last.declared.as_deref()),
            named: named_parts.or_else(|| last.and_then(|last| last.named.as_ref())),
        },
    }
}

/// Parses a declaration. Returns it also as JSON, if that is not too long with what was added to it.
pub(crate) fn parse(
    properties: Value,
    schema: &ResourceSchema,
    default_tags: &BTreeMap<String, String>,
    named_parts: Option<&Value>,
    last: Option<&LastApplied<'_>>,
    purpose: Purpose,
) -> Result<(Declaration, Zeroizing<String>), Rejection> {
    let Value::Object(properties) = properties else {
        return Err(Rejection::Internal("properties are not an object".into()));
    };
    let (declaration, violations) =
        Declaration::draft(properties, schema, default_tags, named_parts);
    let identifier = names_it(&declaration, schema);
    let known = known(last, named_parts, identifier.as_ref());
    let violations = schema.all_wrong(&declaration, known, violations);
    let unknown = match purpose {
        Purpose::Change | Purpose::Validation => Unknown::Refused,
        Purpose::Preview => Unknown::Allowed,
    };
    let declaration = declaration
        .judged(violations, unknown)
        .map_err(|violations| Rejection::Invalid(Violation::refusal(NOT_VALID, violations)))?;
    let text = Zeroizing::new(declaration.properties().to_string());
    judge_length(&text)?;
    Ok((declaration, text))
}

/// Returns the identifier that a declaration tells.
pub(crate) fn names_it(declaration: &Declaration, schema: &ResourceSchema) -> Option<Identifier> {
    match schema.identifier(declaration.properties()) {
        IdentifierOutcome::Known(identifier) => Some(identifier),
        IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
    }
}

/// Refuses properties that are too long before anything else is done with them. Default tags come on top.
fn refuse_too_long(properties: &Map<String, Value>) -> Result<(), Rejection> {
    match serde_json::to_string(properties) {
        Ok(text) => judge_length(&Zeroizing::new(text)),
        Err(error) => Err(Rejection::Internal(error.into())),
    }
}

fn judge_length(text: &str) -> Result<(), Rejection> {
    let length = text.chars().count();
    if length > MAX_DECLARED_CHARS {
        let message = format!(
            "The properties are {length} characters of JSON, and Cloud Control accepts at most {MAX_DECLARED_CHARS}. Declare less."
        );
        let failure = Failure::new(ErrorCode::RequestEntityTooLarge, message);
        return Err(Rejection::TooLarge(failure.with_target("/properties")));
    }
    Ok(())
}

/// Returns the properties that the name in the URL consists of.
pub(crate) fn parts(schema: &ResourceSchema, name: &Identifier) -> Result<Value, Rejection> {
    schema.properties_of_identifier(name).ok_or_else(|| {
        let paths = schema.primary_identifier().iter();
        let parts: Vec<String> = paths.map(|path| path.in_words()).collect();
        let or_json = match &parts[..] {
            [_] => "",
            _ => ", or a JSON object of these if one of them contains '|'",
        };
        Rejection::bad_request(format!(
            "'{name}' does not name an {}, which is identified by {}{or_json}.",
            schema.type_name().arm(),
            parts.join("|")
        ))
    })
}

/// Validates a put that is certainly a create, before anything is stored.
fn judge_create(
    declaration: Declaration,
    schema: &ResourceSchema,
    scope: &Scope,
    options: Options,
) -> Result<Plan, Rejection> {
    // Nothing is stored of it, so there are no digests to compare write-only values with.
    let desired = Desired::new(declaration, schema, |_, _| Digest::default());
    let question = Question {
        desired: &desired,
        last_applied: None,
        live: Live::Absent,
        subject: Subject::new(scope, schema.type_name()),
        schema,
        options,
    };
    let Judgement { plan, verdict } = judge(&question);
    match verdict {
        Ok(_) => Ok(plan),
        Err(failure) => Err(Rejection::Invalid(Failure {
            message: NOT_VALID.to_owned(),
            ..failure
        })),
    }
}

/// The rejection if the type lacks a handler for the request.
pub(crate) fn unsupported(schema: &ResourceSchema, what: &str) -> Rejection {
    let supported = schema.operations();
    let supports = if supported.is_empty() {
        "AWS Cloud Control does not support it at all.".to_owned()
    } else {
        format!("AWS Cloud Control supports only: {}.", supported.join(", "))
    };
    Rejection::Invalid(Failure::new(
        ErrorCode::UnsupportedActionException,
        format!("{} cannot be {what}. {supports}", schema.type_name().arm()),
    ))
}
