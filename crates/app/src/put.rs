use std::collections::BTreeMap;

use serde_json::{Map, Value};
use ucp_model::operation::{Action, Kind, Operation, Options, ReplacementPolicy, UpdateMode};
use ucp_model::{
    Digest, Failure, Identifier, OperationId, Reference, ReferenceId, Scope, Target, TypeName, json,
};
use ucp_plan::{Desired, Plan};
use ucp_schema::{IdentifierOutcome, ResourceSchema, Violation, ViolationCode, unknown_pointers};
use ucp_seal::Place;
use ucp_store::Sealed;

use crate::tracking::{Intake, no_such_group};
use crate::{App, Caller, Rejection};

/// The longest desired document that Cloud Control takes, in characters.
const DESIRED_STATE_MAX_CHARS: usize = 262_144;

/// A put of one resource.
#[derive(Clone)]
pub struct PutResource {
    /// Where.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The name in the URL; without it the properties tell the identifier, or AWS assigns one.
    pub name: Option<String>,
    /// The tracking id; without it the put is not tracked.
    pub tracked_by: Option<String>,
    /// What is declared.
    pub properties: Map<String, Value>,
    /// The tags that the request gives by default.
    pub default_tags: BTreeMap<String, String>,
    /// What the caller chose.
    pub options: Options,
}

/// What a put came to, as far as it is known.
#[derive(Debug)]
pub struct PutOutcome {
    /// The operation; [`Operation::verdict`] says whether there was anything to do.
    pub operation: Operation,
    /// The live properties, as far as known, with the declared ones laid over them and without write-only values.
    pub properties: Map<String, Value>,
}

impl App {
    /// Makes the resource what `put` declares: claims the alias, records the operation, and waits for the verdict
    /// unless it is surely a create.
    pub async fn put_resource(
        &self,
        put: PutResource,
        caller: &Caller,
    ) -> Result<PutOutcome, Rejection> {
        let schema = self.schema(&put.scope, &put.type_name).await?;
        let reference = match &put.tracked_by {
            Some(tracked_by) => Some(self.tracking_id(tracked_by, &schema)?),
            None => None,
        };
        if !schema.is_provisionable() {
            return Err(unsupported(&schema, "created or updated"));
        }
        if reference.is_none() && put.options.replacement_policy != ReplacementPolicy::Refuse {
            return Err(Rejection::bad_request(
                "replacementPolicy: only a resource behind an alias can be replaced, since its identifier changes. Add trackedBy, or leave it out.",
            ));
        }
        let name = match &put.name {
            Some(_) if !schema.handlers().read => return Err(unsupported(&schema, "put by name")),
            Some(name) => Some(Identifier::parse(name)?),
            None => None,
        };
        let mut properties = Value::Object(put.properties);
        normalise(&mut properties);
        let mut default_tags = self.default_tags(&put.scope, reference.as_ref()).await?;
        default_tags.extend(put.default_tags);
        schema.add_default_tags(&mut properties, &default_tags);
        let mut violations = match &name {
            Some(name) => named(&schema, name, &mut properties)?,
            None => Vec::new(),
        };
        violations.extend(schema.validate_declaration(&properties));
        violations.extend(control_characters(&properties));
        violations.extend(unknown_values(&properties));
        judged(violations)?;
        let identifier = match (name, schema.identifier(&properties)) {
            (Some(name), _) => Some(name),
            (None, IdentifierOutcome::Known(identifier)) => {
                Some(Identifier::parse(identifier.as_str())?)
            }
            (None, IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_)) => None,
        };
        let mapped = match &reference {
            Some(reference) => self.parts.store.get_reference(reference).await?,
            None => None,
        };
        let surely_a_create = identifier.is_none() && mapped.is_none();
        if surely_a_create {
            judged(schema.validate_model(&properties))?;
            judged(created(&schema, &properties).errors)?;
        }

        let id = OperationId(self.parts.entropy.uuid("operation"));
        let intake = Intake {
            id,
            kind: Kind::Put,
            scope: put.scope,
            reference,
            identifier,
            options: put.options,
            desired: Some(self.sealed(id, &properties)?),
        };
        let Some((operation, reference)) = self.accept(intake, &schema, caller).await? else {
            return Err(Rejection::Internal("a put was taken for a delete".into()));
        };
        let operation = if surely_a_create {
            operation
        } else {
            self.verdict(operation, caller).await?
        };
        let live = self.live(&operation, reference, &schema, caller).await;
        let properties = shown(&schema, live.as_ref(), &properties);
        Ok(PutOutcome {
            operation,
            properties,
        })
    }

    /// The tags that a resource gets without being declared: the server's, over them the account's, over them the group's.
    async fn default_tags(
        &self,
        scope: &Scope,
        reference: Option<&ReferenceId>,
    ) -> Result<BTreeMap<String, String>, Rejection> {
        let mut tags = self.parts.default_tags.in_account(&scope.account);
        let Some(ReferenceId { group, .. }) = reference else {
            return Ok(tags);
        };
        match self.parts.store.get_resource_group(group).await {
            Ok(group) => tags.extend(group.body.default_tags),
            Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
            Err(error) => return Err(error.into()),
        }
        Ok(tags)
    }

    /// What is known to be live: what the operation or the reference says, or else what AWS shows of the resource that is
    /// being updated. The reply does without it when AWS does not show it in time.
    async fn live(
        &self,
        operation: &Operation,
        reference: Option<Reference>,
        schema: &ResourceSchema,
        caller: &Caller,
    ) -> Option<Value> {
        if operation.result.is_some() {
            return operation.result.clone();
        }
        // What was observed of a resource that is gone says nothing about the one that takes its place.
        let takes_its_place = operation.created || operation.replacing.is_some();
        let reference = reference.filter(|_| !takes_its_place);
        let observed = reference.and_then(|reference| reference.observed);
        if observed.is_some() || operation.state.action() != Some(Action::Update) {
            return observed;
        }
        let Target {
            scope,
            type_name,
            identifier,
        } = operation.target()?;
        let read = self.parts.live.read(scope, type_name, identifier);
        let live = tokio::time::timeout(caller.verdict_wait, read).await;
        Some(schema.without_write_only(&live.ok()?.ok()?))
    }

    fn sealed(&self, id: OperationId, properties: &Value) -> Result<Sealed, Rejection> {
        let text = properties.to_string();
        let length = text.chars().count();
        if length > DESIRED_STATE_MAX_CHARS {
            return Err(Rejection::TooLarge(Failure::new(
                "RequestEntityTooLarge",
                format!(
                    "The properties are {length} characters of JSON, and Cloud Control takes {DESIRED_STATE_MAX_CHARS}. Declare less."
                ),
            )));
        }
        let entropy = self.parts.entropy.as_ref();
        Ok(Sealed(self.parts.keys.sealing.seal(
            Place::Desired(id),
            text.as_bytes(),
            entropy,
        )))
    }
}

/// `null` means not declared, and what a client sends back of our own replies is not a declaration.
fn normalise(properties: &mut Value) {
    json::drop_nulls(properties);
    if let Some(members) = properties.as_object_mut() {
        members.shift_remove("provisioningState");
    }
}

/// Declares the parts of the name in the URL that are not declared and that a caller may set. What is declared must not
/// contradict it.
fn named(
    schema: &ResourceSchema,
    name: &Identifier,
    properties: &mut Value,
) -> Result<Vec<Violation>, Rejection> {
    let Some(parts) = schema.properties_of_identifier(name) else {
        let paths = schema.primary_identifier().iter();
        let parts: Vec<String> = paths.map(|path| path.in_words()).collect();
        return Err(Rejection::bad_request(format!(
            "'{name}' does not name an {}: its name is {}.",
            schema.type_name().arm(),
            parts.join("|")
        )));
    };
    let contradictions = schema.declare_identifier(&parts, properties);
    let violation = |pointer: String| Violation {
        message: format!("`{pointer}`: contradicts the name in the URL; leave it out"),
        code: ViolationCode::InvalidValue,
        pointer,
    };
    Ok(contradictions.into_iter().map(violation).collect())
}

/// The plan of a create.
fn created(schema: &ResourceSchema, properties: &Value) -> Plan {
    // Nothing is kept of it, so there is nothing to compare write-only values with.
    let desired = Desired::new(properties.clone(), schema, |_, _| Digest::default());
    ucp_plan::plan(&desired, None, None, schema, UpdateMode::Merge)
}

/// What is declared to be known only later cannot be applied now.
fn unknown_values(properties: &Value) -> Vec<Violation> {
    let violation = |pointer: String| Violation {
        message: format!("`{pointer}`: is not known yet; put it once it is, or ask for a plan"),
        code: ViolationCode::InvalidValue,
        pointer,
    };
    unknown_pointers(properties)
        .into_iter()
        .map(violation)
        .collect()
}

/// No AWS property holds control characters other than line breaks and tabs; NUL above all breaks what reads it later.
fn control_characters(properties: &Value) -> Vec<Violation> {
    let is_control = |letter: char| letter < ' ' && !matches!(letter, '\t' | '\n' | '\r');
    let mut violations = Vec::new();
    json::walk(properties, |place, value| {
        let mut refuse = |message: String| {
            violations.push(Violation {
                pointer: place.to_string(),
                message,
                code: ViolationCode::InvalidValue,
            });
        };
        if (place.back()).is_some_and(|name| name.decoded().contains(is_control)) {
            refuse("a member's name holds a control character".to_owned());
        }
        if (value.as_str()).is_some_and(|text| text.contains(is_control)) {
            refuse(format!("`{place}`: holds a control character"));
        }
    });
    violations
}

fn judged(violations: Vec<Violation>) -> Result<(), Rejection> {
    if violations.is_empty() {
        return Ok(());
    }
    const MESSAGE: &str = "The properties are not a valid declaration; nothing was stored or sent. Correct what the details name.";
    Err(Rejection::Invalid(Violation::refusal(MESSAGE, violations)))
}

/// The type has no handler for what is asked.
pub(crate) fn unsupported(schema: &ResourceSchema, what: &str) -> Rejection {
    let handlers = schema.handlers();
    let supported: Vec<&str> = [
        (handlers.create, "create"),
        (handlers.read, "read"),
        (handlers.update, "update"),
        (handlers.delete, "delete"),
        (handlers.list, "list"),
    ]
    .into_iter()
    .filter_map(|(has, name)| has.then_some(name))
    .collect();
    let supports = match supported.is_empty() {
        true => "AWS Cloud Control does not support it at all.".to_owned(),
        false => format!("AWS Cloud Control supports only: {}.", supported.join(", ")),
    };
    Rejection::Invalid(Failure::new(
        "UnsupportedActionException",
        format!("{} cannot be {what}. {supports}", schema.type_name().arm()),
    ))
}

/// What the reply shows: what is known to be live, with what was declared laid over it.
fn shown(schema: &ResourceSchema, live: Option<&Value>, declared: &Value) -> Map<String, Value> {
    let live = live.and_then(Value::as_object);
    let declared = schema.without_write_only(declared);
    match (live, declared.as_object()) {
        (Some(live), Some(declared)) => json::overlay(live, declared),
        (None, Some(declared)) => declared.clone(),
        (live, None) => live.cloned().unwrap_or_default(),
    }
}
