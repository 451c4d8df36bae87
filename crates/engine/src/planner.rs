//! From a declaration and a look to the observation that the state machine decides on.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use ucp_model::operation::{Kind, Operation, PlanOutcome, Presence, ReplacementOrder};
use ucp_model::{Baseline, Detail, Digest, Failure, Identifier, json};
use ucp_plan::{Action, Desired, Plan};
use ucp_schema::{IdentifierOutcome, PropertyPath, ResourceSchema, Violation};
use ucp_seal::DigestKey;

const INVALID: &str = "The declaration does not lead to a valid resource, and nothing was sent to AWS. Correct what the details name.";

const UNSATISFIABLE: &str = "The declaration can never be satisfied, and nothing was sent to AWS. Correct what the details name.";

/// What was planned, and the document that carries it out.
pub(crate) struct Planned {
    pub(crate) outcome: PlanOutcome,
    pub(crate) document: Option<String>,
}

/// The digest of a live model that tells whether it is still the same.
pub(crate) fn live_digest(live: &Value) -> String {
    hex::encode(Sha256::digest(json::canonical(live)))
}

/// The declaration with its write-only values digested for `operation`'s alias. An untracked put keeps nothing to
/// compare with, so its digests are never compared.
pub(crate) fn declaration(
    operation: &Operation,
    properties: Value,
    schema: &ResourceSchema,
    key: &DigestKey,
) -> Desired {
    Desired::new(properties, schema, |pointer, value| {
        match &operation.reference {
            Some(reference) => key.digest(reference, pointer, value),
            None => Digest::default(),
        }
    })
}

/// Plans a delete.
pub(crate) fn plan_delete(presence: &Presence) -> Planned {
    let outcome = match presence {
        Presence::Absent | Presence::Unknown(_) => PlanOutcome::Nothing,
        Presence::Present { identifier, .. } | Presence::Unreadable(identifier) => {
            PlanOutcome::Delete(identifier.clone())
        }
    };
    Planned {
        outcome,
        document: None,
    }
}

/// An import asks nothing of AWS.
pub(crate) fn plan_import() -> Planned {
    Planned {
        outcome: PlanOutcome::Nothing,
        document: None,
    }
}

/// Plans a put of `desired`.
pub(crate) fn plan_put(
    operation: &Operation,
    desired: &Desired,
    baseline: Option<&Baseline>,
    presence: &Presence,
    schema: &ResourceSchema,
) -> Planned {
    debug_assert_eq!(
        operation.kind,
        Kind::Put,
        "deletes and imports are planned by functions of their own"
    );
    let found = match presence {
        Presence::Present {
            identifier, live, ..
        } => Some((identifier, live)),
        Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => None,
    };
    if *presence == Presence::Absent
        && let Some(failure) = names_what_aws_assigns(operation, schema)
    {
        return Planned {
            outcome: PlanOutcome::Impossible(failure),
            document: None,
        };
    }
    let plan = ucp_plan::plan(
        desired,
        baseline,
        found.map(|(_, live)| live),
        schema,
        operation.options.update_mode,
    );
    let (outcome, document) = match (plan.action, found) {
        (Action::Noop, _) => (PlanOutcome::Nothing, None),
        (Action::Error, _) => (
            PlanOutcome::Impossible(Violation::refusal(UNSATISFIABLE, plan.errors)),
            None,
        ),
        (Action::Replace, Some((old, _))) => replacement(operation, old, desired, &plan, schema),
        // What is not there can only be created.
        (Action::Create, _) | (Action::Update | Action::Replace, None) => {
            let outcome = PlanOutcome::Create {
                identifier: declared_identifier(desired, schema),
                changes: plan.history(),
            };
            judged(
                outcome,
                Some(plan.desired_state().to_string()),
                schema.validate_model(&desired.properties),
            )
        }
        (Action::Update, Some((identifier, live))) => {
            let introduced = introduced(
                schema.validate_model(live),
                schema.validate_model(&plan.planned),
            );
            let document = serde_json::to_string(&plan.patch).ok();
            judged(
                PlanOutcome::Update {
                    identifier: identifier.clone(),
                    changes: plan.history(),
                },
                document,
                introduced,
            )
        }
    };
    Planned { outcome, document }
}

/// A change that AWS makes only by replacing the resource.
fn replacement(
    operation: &Operation,
    old: &Identifier,
    desired: &Desired,
    plan: &Plan,
    schema: &ResourceSchema,
) -> (PlanOutcome, Option<String>) {
    let impossible = |failure| (PlanOutcome::Impossible(failure), None);
    let Some(order) = operation.replacement_order() else {
        return impossible(requires_replacement(operation, plan));
    };
    let create = ucp_plan::plan(desired, None, None, schema, operation.options.update_mode);
    if create.action == Action::Error {
        return impossible(Violation::refusal(UNSATISFIABLE, create.errors));
    }
    let identifier = declared_identifier(desired, schema);
    let document = match order {
        ReplacementOrder::CreateBeforeDelete if identifier.as_ref() == Some(old) => {
            return impossible(same_identifier(operation, plan));
        }
        ReplacementOrder::CreateBeforeDelete => Some(create.desired_state().to_string()),
        // Planned anew once there is room.
        ReplacementOrder::DeleteBeforeCreate => None,
    };
    let outcome = PlanOutcome::Replace {
        old: old.clone(),
        order,
        identifier,
        changes: plan.history(),
    };
    judged(
        outcome,
        document,
        schema.validate_model(&desired.properties),
    )
}

/// The plan where somebody else has the identifier that a replacement declares: neither is anything deleted to make room
/// for it, nor is it adopted.
pub(crate) fn name_is_taken(operation: &Operation, new: &Identifier) -> Planned {
    let message = format!(
        "AWS already has the {} '{new}', so it cannot take the place of '{}'; nothing was sent to AWS. Choose another name, or delete or import what has it.",
        operation.type_name,
        operation.identifier.as_ref().map_or("", Identifier::as_str),
    );
    let taken = operation.scope.resource(&operation.type_name, new);
    let detail = Detail::at("AlreadyExists", "exists in AWS", taken);
    Planned {
        outcome: PlanOutcome::Impossible(
            Failure::new("Conflict", message).with_details(vec![detail]),
        ),
        document: None,
    }
}

fn declared_identifier(desired: &Desired, schema: &ResourceSchema) -> Option<Identifier> {
    match schema.identifier(&desired.properties) {
        IdentifierOutcome::Known(identifier) => Some(identifier),
        IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
    }
}

/// The failure of a put that asks for a name which only AWS can give: what is not there cannot be created under it. A
/// resource that was mapped or created here and is gone is created anew, under another name.
fn names_what_aws_assigns(operation: &Operation, schema: &ResourceSchema) -> Option<Failure> {
    let target = operation.target()?;
    let assigned: Vec<String> = schema
        .assigned_parts()
        .map(PropertyPath::in_words)
        .collect();
    if assigned.is_empty() || operation.was_mapped || operation.created {
        return None;
    }
    let type_name = target.type_name.arm();
    let message = format!(
        "There is no {type_name} with {}, and none can be created under that name: AWS assigns {}. To create one, leave it out of a :put with an alias.",
        schema.identifier_in_words(target.identifier),
        assigned.join(" and "),
    );
    let id = target.scope.resource(target.type_name, target.identifier);
    Some(Failure::new("NotFound", message).with_target(id))
}

/// The violations that are not there already. Elements of lists may move, and take theirs with them.
fn introduced(mut already: Vec<Violation>, mut planned: Vec<Violation>) -> Vec<Violation> {
    let place = |violation: &Violation| -> String {
        let is_index = |token: &str| token.bytes().all(|byte| byte.is_ascii_digit());
        let tokens = violation.pointer.split('/');
        let tokens = tokens.map(|token| if is_index(token) { "*" } else { token });
        tokens.collect::<Vec<&str>>().join("/")
    };
    planned.retain(|violation| {
        let same = |old: &Violation| old.code == violation.code && place(old) == place(violation);
        match already.iter().position(same) {
            Some(old) => {
                already.swap_remove(old);
                false
            }
            None => true,
        }
    });
    planned
}

/// `outcome`, unless the model it leads to breaks the type's schema.
fn judged(
    outcome: PlanOutcome,
    document: Option<String>,
    violations: Vec<Violation>,
) -> (PlanOutcome, Option<String>) {
    if violations.is_empty() {
        return (outcome, document);
    }
    (
        PlanOutcome::Impossible(Violation::refusal(INVALID, violations)),
        None,
    )
}

fn requires_replacement(operation: &Operation, plan: &Plan) -> Failure {
    let advice = if operation.reference.is_some() {
        "Declare the live values, or send \"replacementPolicy\": \"createBeforeDelete\" or \"deleteBeforeCreate\" to have it replaced."
    } else {
        "Declare the live values, or delete the resource and put it anew."
    };
    replacement_refused(operation, plan, advice)
}

/// Two resources cannot have one identifier at the same time.
fn same_identifier(operation: &Operation, plan: &Plan) -> Failure {
    let advice = if operation.was_owned {
        "The new one would have the same identifier, so it cannot be created before the old one is deleted: send \"replacementPolicy\": \"deleteBeforeCreate\"."
    } else {
        "The new one would have the same identifier, and the old one is not owned, so it is not deleted: declare another identifier, or make the reference own it."
    };
    replacement_refused(operation, plan, advice)
}

fn replacement_refused(operation: &Operation, plan: &Plan, advice: &str) -> Failure {
    let detail = |path: &String| {
        Detail::at(
            "RequiresReplacement",
            format!("{path} can only be set when the resource is created"),
            path,
        )
    };
    Failure::new(
        "RequiresReplacement",
        format!(
            "{} of this {} would have to be replaced to change {}; nothing was sent to AWS. {advice}",
            operation.identifier.as_ref().map_or_else(|| "The resource".to_owned(), |name| format!("'{name}'")),
            operation.type_name,
            plan.replace_paths.join(", "),
        ),
    )
    .with_details(plan.replace_paths.iter().map(detail).collect())
}
