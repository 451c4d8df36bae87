use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_model::operation::{Action, Kind, Options, ReplacementPolicy, Verdict};
use ucp_model::{
    Digest, ErrorCode, Failure, Identifier, Operation, OperationId, Reference, ReferenceId, Scope,
    Target, TypeName, Warning, excerpt, json,
};
use ucp_plan::{Desired, Judgement, Live, Question, Subject, judge};
use ucp_schema::{Declaration, IdentifierOutcome, ResourceSchema, Violation};
use ucp_seal::AssociatedData;
use ucp_store::Sealed;

use crate::identifier::named;
use crate::intake::{Intake, no_such_group, verdict_of};
use crate::{App, Caller, Rejection, TrackedBy, UntrackedAlias};

/// The maximum length of the desired state that Cloud Control accepts, in characters.
const DESIRED_STATE_MAX_CHARS: usize = 262_144;

const NOT_VALID: &str = "The properties are not a valid declaration. Nothing was stored or sent. Correct what the details name.";

/// A put of one resource.
#[derive(Clone)]
pub struct PutResource {
    /// The scope.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The name in the URL. Without it, the properties contain the identifier, or AWS assigns one.
    pub name: Option<String>,
    /// The reference. Without it, the put has none.
    pub tracked_by: Option<TrackedBy>,
    /// The alias without a reference: only a label.
    pub label: Option<String>,
    /// The declared properties.
    pub properties: Map<String, Value>,
    /// The default tags of the request.
    pub default_tags: BTreeMap<String, String>,
    /// The ARM tags of the request. They are default tags that a type must support.
    pub tags: BTreeMap<String, String>,
    /// The options of the request.
    pub options: Options,
}

/// The result of a put so far.
#[derive(Debug)]
pub struct PutOutcome {
    /// The type of the resource, in its canonical spelling.
    pub type_name: TypeName,
    /// The operation.
    pub operation: Operation,
    /// The live properties, if known, overlaid with the declared ones and without write-only values.
    pub properties: Map<String, Value>,
    /// What the caller should know about the plan.
    pub warnings: Vec<Warning>,
}

impl PutOutcome {
    /// Returns whether the resource already was as declared.
    pub fn is_unchanged(&self) -> bool {
        verdict_of(&self.operation) == Verdict::NothingToDo
    }
}

/// A put that has passed the checks that need no live properties.
struct Declared {
    schema: Arc<ResourceSchema>,
    reference: Option<ReferenceId>,
    /// The identifier in its URL or its properties, if any.
    identifier: Option<Identifier>,
    declaration: Declaration,
}

impl App {
    /// Creates or updates a resource as declared: claims the alias, records the operation, and waits for the verdict,
    /// unless it is certainly a create.
    pub async fn put_resource(
        &self,
        put: PutResource,
        caller: &Caller,
    ) -> Result<PutOutcome, Rejection> {
        let Declared {
            schema,
            reference,
            identifier,
            declaration,
        } = self.declared(&put).await?;
        let known = match &reference {
            Some(reference) => self.parts.store.get_reference(reference).await?,
            None => None,
        };
        let surely_a_create = identifier.is_none() && known.is_none();
        let warnings = match surely_a_create {
            true => Some(judge_create(&declaration, &schema, &put)?),
            false => None,
        };
        let id = OperationId(self.parts.entropy.uuid("operation"));
        let intake = Intake {
            id,
            kind: Kind::Put,
            scope: put.scope,
            reference,
            identifier,
            options: put.options,
            desired: Some(self.sealed(id, &declaration)?),
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
        let properties = shown(&schema, live.as_ref(), &declaration);
        Ok(PutOutcome {
            type_name: schema.type_name().clone(),
            warnings: warnings.unwrap_or_else(|| operation.work.warnings().to_vec()),
            operation,
            properties,
        })
    }

    /// Parses and checks the declaration, as far as that does not depend on live properties.
    async fn declared(&self, put: &PutResource) -> Result<Declared, Rejection> {
        let schema = self.schema(&put.scope, &put.type_name).await?;
        let reference = match &put.tracked_by {
            Some(tracked_by) => Some(self.reference_id(tracked_by, &schema)?),
            None => None,
        };
        if !schema.is_provisionable() {
            return Err(unsupported(&schema, "created or updated"));
        }
        if reference.is_none() && put.options.replacement_policy != ReplacementPolicy::Refuse {
            return Err(Rejection::bad_request(
                "replacementPolicy: only a resource with an alias can be replaced, since its identifier changes. Add trackedBy, or leave replacementPolicy out.",
            ));
        }
        let name = match &put.name {
            Some(_) if !schema.handlers().read => return Err(unsupported(&schema, "put by name")),
            Some(name) => Some(named(&schema, name)?),
            None => None,
        };
        if !put.tags.is_empty() && !schema.takes_default_tags() {
            return Err(Rejection::bad_request(format!(
                "/tags: {} has no tags that can be changed. Omit them, or declare them in properties.",
                schema.type_name().arm()
            )));
        }
        let mut default_tags = self.default_tags(&put.scope, reference.as_ref()).await?;
        default_tags.extend(put.default_tags.clone());
        default_tags.extend(put.tags.clone());
        let named_parts = match &name {
            Some(name) => Some(parts(&schema, name)?),
            None => None,
        };
        let properties = put.properties.clone();
        let declaration =
            Declaration::parse(properties, &schema, &default_tags, named_parts.as_ref());
        let declaration = declaration
            .map_err(|violations| Rejection::Invalid(Violation::refusal(NOT_VALID, violations)))?;
        let identifier = match (name, schema.identifier(declaration.properties())) {
            (Some(name), _) => Some(name),
            (None, IdentifierOutcome::Known(identifier)) => {
                Some(Identifier::parse(identifier.as_str())?)
            }
            (None, IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_)) => None,
        };
        if reference.is_none() && identifier.is_none() {
            self.judge_label(put, &schema)?;
        }
        Ok(Declared {
            schema,
            reference,
            identifier,
            declaration,
        })
    }

    /// Refuses an alias that nobody would remember, of a resource that AWS names: each put would create another one.
    fn judge_label(&self, put: &PutResource, schema: &ResourceSchema) -> Result<(), Rejection> {
        match (&put.label, self.parts.untracked_alias) {
            (None, _) | (Some(_), UntrackedAlias::Ignore) => Ok(()),
            (Some(alias), UntrackedAlias::Refuse) => {
                let alias = excerpt(alias);
                Err(Rejection::bad_request(format!(
                    "/trackedBy: is required with alias '{alias}', since AWS names each new {}, and every put would create another one. Send the id of a resource group, such as /planes/radius/local/resourceGroups/demo, or omit alias.",
                    schema.type_name().arm()
                )))
            }
        }
    }

    /// Returns the default tags: those of the server, overlaid with the account's, then with the group's.
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

    /// Returns the live properties, if known: those of the operation or of the reference, or else a read of the
    /// resource that is being updated. `None` if AWS does not return them in time.
    async fn live(
        &self,
        operation: &Operation,
        reference: Option<Reference>,
        schema: &ResourceSchema,
        caller: &Caller,
    ) -> Option<Value> {
        let work = operation.work.resource()?;
        if work.result.is_some() {
            return work.result.clone();
        }
        // The properties observed of a resource that is gone do not describe its successor.
        let takes_its_place = work.created || work.replacing.is_some();
        let reference = reference.filter(|_| !takes_its_place);
        let observed = reference.and_then(|reference| reference.observed);
        if observed.is_some() || work.state.action() != Some(Action::Update) {
            return observed;
        }
        let Target {
            scope,
            type_name,
            identifier,
        } = work.target()?;
        let read = self.parts.live.read(scope, type_name, identifier);
        let live = tokio::time::timeout(caller.verdict_wait, read).await;
        Some(schema.without_write_only(&live.ok()?.ok()?.properties))
    }

    fn sealed(&self, id: OperationId, declaration: &Declaration) -> Result<Sealed, Rejection> {
        let text = declaration.properties().to_string();
        let length = text.chars().count();
        if length > DESIRED_STATE_MAX_CHARS {
            return Err(Rejection::TooLarge(Failure::new(
                ErrorCode::RequestEntityTooLarge,
                format!(
                    "The properties are {length} characters of JSON, and Cloud Control accepts at most {DESIRED_STATE_MAX_CHARS}. Declare less."
                ),
            )));
        }
        let entropy = self.parts.entropy.as_ref();
        Ok(Sealed(self.parts.keys.sealing.seal(
            AssociatedData::Desired(id),
            text.as_bytes(),
            entropy,
        )))
    }
}

/// Returns the properties that the name in the URL consists of.
fn parts(schema: &ResourceSchema, name: &Identifier) -> Result<Value, Rejection> {
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

/// Validates a put that is certainly a create, before anything is stored. Returns its warnings.
fn judge_create(
    declaration: &Declaration,
    schema: &ResourceSchema,
    put: &PutResource,
) -> Result<Vec<Warning>, Rejection> {
    // Nothing is stored of it, so there are no digests to compare write-only values with.
    let desired = Desired::new(declaration.clone(), schema, |_, _| Digest::default());
    let question = Question {
        desired: &desired,
        last_applied: None,
        live: Live::Absent,
        subject: Subject::new(&put.scope, schema.type_name()),
        schema,
        options: put.options,
    };
    let Judgement { plan, verdict } = judge(&question);
    match verdict {
        Ok(_) => Ok(plan.warnings.iter().map(Warning::from).collect()),
        Err(failure) => Err(Rejection::Invalid(Failure {
            message: NOT_VALID.to_owned(),
            ..failure
        })),
    }
}

/// The rejection if the type lacks a handler for the request.
pub(crate) fn unsupported(schema: &ResourceSchema, what: &str) -> Rejection {
    let supported = schema.handlers().names();
    let supports = match supported.is_empty() {
        true => "AWS Cloud Control does not support it at all.".to_owned(),
        false => format!("AWS Cloud Control supports only: {}.", supported.join(", ")),
    };
    Rejection::Invalid(Failure::new(
        ErrorCode::UnsupportedActionException,
        format!("{} cannot be {what}. {supports}", schema.type_name().arm()),
    ))
}

/// Returns the properties for the reply: the live ones, overlaid with the declared ones.
fn shown(
    schema: &ResourceSchema,
    live: Option<&Value>,
    declaration: &Declaration,
) -> Map<String, Value> {
    let live = live.and_then(Value::as_object);
    let declared = schema.without_write_only(declaration.properties());
    match (live, declared.as_object()) {
        (Some(live), Some(declared)) => json::overlay(live, declared),
        (None, Some(declared)) => declared.clone(),
        (live, None) => live.cloned().unwrap_or_default(),
    }
}
