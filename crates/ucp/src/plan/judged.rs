//! A plan as a put would judge it.

use std::collections::BTreeSet;

use serde_json::Value;
use ucp_model::operation::{Options, ReplacementOrder, ReplacementPolicy};
use ucp_model::{ErrorCode, Failure, Identifier, Scope};
use ucp_plan::{Action, Judgement, Live, Plan, Subject, Verdict, judge};
use ucp_schema::{Declaration, IdentifierOutcome, Known, ResourceSchema, Violation};

use super::objection::Objection;
use super::question::{Question, declared};

/// A plan with its outcome.
pub(super) struct Judged {
    pub(super) plan: Plan,
    pub(super) outcome: Outcome,
}

/// What comes of a put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing is sent.
    Nothing,
    Create,
    Update,
    /// The resource is replaced, in this order.
    Replace(ReplacementOrder),
    /// The resource would have to be replaced, which the put does not ask for.
    NeedsReplacement {
        /// Whether the new resource would have the identifier of the old one.
        same_identifier: bool,
    },
    /// The put is refused, for these reasons.
    Refused(Vec<Objection>),
}

/// Judges the put of a declaration under an alias that owns its resource.
pub(super) fn judged(
    question: Question,
    schema: &ResourceSchema,
    policy: ReplacementPolicy,
) -> Judged {
    let Question {
        desired,
        default_tags,
        current,
        last_applied,
        mode,
    } = question;
    let (declaration, violations) = Declaration::draft(desired, schema, &default_tags, None);
    let last_applied =
        last_applied.map(|last| declared(Declaration::unjudged(last), schema).baseline);
    let known = match &current {
        Some(_) => Known::Perhaps {
            last: last_applied.as_ref(),
            named: None,
        },
        None => Known::Absent,
    };
    let violations = schema.all_wrong(&declaration, known, violations);
    let desired = declared(declaration, schema);
    // It only appears in messages about resources that are named, and here none is.
    let scope = Scope {
        plane: String::new(),
        account: String::new(),
        region: String::new(),
    };
    let identifier = current.as_ref().map(|live| identifier(live, schema));
    let Judgement { plan, verdict } = judge(&ucp_plan::Question {
        desired: &desired,
        last_applied: last_applied.as_ref(),
        live: match (&identifier, &current) {
            (Some(identifier), Some(live)) => Live::Present(identifier, live),
            (None, _) | (_, None) => Live::Absent,
        },
        subject: Subject {
            identifier: identifier.as_ref(),
            was_ours: true,
            was_owned: true,
            has_reference: true,
            ..Subject::new(&scope, schema.type_name())
        },
        schema,
        options: Options {
            update_mode: mode,
            replacement_policy: policy,
            ..Options::default()
        },
    });
    let outcome = match verdict {
        _ if !violations.is_empty() => Outcome::Refused(reasons(&violations, &plan)),
        Ok(Verdict::Nothing) => Outcome::Nothing,
        Ok(Verdict::Create { .. }) => Outcome::Create,
        Ok(Verdict::Update { .. }) => Outcome::Update,
        Ok(Verdict::Replace { order, .. }) => Outcome::Replace(order),
        Err(_) if plan.action == Action::Replace && policy == ReplacementPolicy::Refuse => {
            let new = schema.identifier(desired.declaration.properties());
            Outcome::NeedsReplacement {
                same_identifier: matches!(new, IdentifierOutcome::Known(new) if Some(&new) == identifier.as_ref()),
            }
        }
        Err(failure) => Outcome::Refused(told(failure)),
    };
    Judged { plan, outcome }
}

/// The identifier of a live resource. Only a replacement compares it.
fn identifier(live: &Value, schema: &ResourceSchema) -> Identifier {
    match schema.identifier(live) {
        IdentifierOutcome::Known(identifier) => identifier,
        IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => Identifier::new(""),
    }
}

/// The violations of a declaration, and the errors of its plan that are not among them.
fn reasons(violations: &[Violation], plan: &Plan) -> Vec<Objection> {
    let mut told = BTreeSet::new();
    let all = violations.iter().chain(&plan.errors);
    all.filter(|violation| told.insert((&violation.pointer, violation.code)))
        .cloned()
        .map(Objection::from)
        .collect()
}

/// The reasons in a failure.
fn told(failure: Failure) -> Vec<Objection> {
    // Its details name only the properties; its message says what to do.
    if failure.code == ErrorCode::RequiresReplacement.as_str() {
        vec![Objection::whole(failure)]
    } else {
        Objection::of(failure)
    }
}
