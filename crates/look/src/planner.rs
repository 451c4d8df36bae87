//! Converts an operation to a question for `ucp_plan::judge`, and the verdict to an outcome for the state machine.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use ucp_model::operation::{PlanOutcome, Presence, Replacing, ResourceWork, Sent};
use ucp_model::{Baseline, Digest, Failure, Identifier, Lineage, Mark, Warning, json};
use ucp_plan::{Desired, Live, Plan, Question, Subject, Verdict, judge};
use ucp_schema::{Declaration, IdentifierOutcome, ResourceSchema};
use ucp_seal::DigestKey;

/// The longest planned model that is kept to compare with what AWS shows after an update, in bytes.
pub(crate) const PLANNED_MAX: usize = 64 << 10;

/// A plan, with the document to send.
pub struct Planned {
    /// The outcome for the state machine.
    pub outcome: PlanOutcome,
    /// The document to send, if any.
    pub document: Option<String>,
    /// Whether that is a create with the mark of the reference.
    pub marked: bool,
    /// The places that it changes.
    pub sent: Sent,
    /// The model that an update is to come to, settled. `None` if it is longer than 64 KiB.
    pub model: Option<Value>,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
    /// The plan of a put, for those who show it.
    pub plan: Option<Box<Plan>>,
}

impl From<PlanOutcome> for Planned {
    fn from(outcome: PlanOutcome) -> Self {
        Self {
            outcome,
            document: None,
            marked: false,
            sent: Sent::new(),
            model: None,
            warnings: Vec::new(),
            plan: None,
        }
    }
}

impl From<Failure> for Planned {
    fn from(failure: Failure) -> Self {
        PlanOutcome::Impossible(failure).into()
    }
}

/// Returns a digest of the live properties, to detect whether they have changed.
pub(crate) fn live_digest(live: &Value) -> String {
    hex::encode(Sha256::digest(json::canonical(live)))
}

/// Returns a declaration with its write-only values digested for the lineage of its reference. A put without a reference
/// stores no digests to compare with, so those here are never compared.
pub fn desired(
    declaration: Declaration,
    lineage: Option<&Lineage>,
    schema: &ResourceSchema,
    key: &DigestKey,
) -> Desired {
    Desired::new(declaration, schema, |pointer, value| match lineage {
        Some(lineage) => key.digest(lineage, pointer, value),
        None => Digest::default(),
    })
}

/// Returns the identifier that `properties` contain, if they contain all of it.
pub(crate) fn identifier_in(properties: &Value, schema: &ResourceSchema) -> Option<Identifier> {
    match schema.identifier(properties) {
        IdentifierOutcome::Known(identifier) => Some(identifier),
        IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
    }
}

/// Returns the declaration with its identifier as AWS spells it, so that the spelling is no difference.
pub(crate) fn respelled(
    desired: &Desired,
    identifier: &Identifier,
    schema: &ResourceSchema,
) -> Desired {
    let mut properties = desired.declaration.properties().clone();
    schema.spell_identifier(identifier, &mut properties);
    Desired {
        declaration: Declaration::stored(properties),
        baseline: desired.baseline.clone(),
    }
}

/// Plans a delete.
pub(crate) fn plan_delete(presence: &Presence) -> Planned {
    let outcome = match presence {
        Presence::Absent => PlanOutcome::Nothing,
        // An unreadable resource is not known to be absent.
        Presence::Unknown(fault) => PlanOutcome::Impossible(Failure::from(fault)),
        Presence::Present { identifier, .. } | Presence::Unreadable(identifier) => {
            PlanOutcome::Delete(identifier.clone())
        }
    };
    outcome.into()
}

/// Plans an import, which sends nothing to AWS.
pub(crate) fn plan_import(schema: Option<&ResourceSchema>) -> Planned {
    let warnings = schema.map(ucp_plan::imported).unwrap_or_default();
    Planned {
        warnings: warnings.iter().map(Warning::from).collect(),
        ..PlanOutcome::Nothing.into()
    }
}

/// Plans a put of `desired`.
pub(crate) fn plan_put(
    work: &ResourceWork,
    desired: &Desired,
    baseline: Option<&Baseline>,
    presence: &Presence,
    schema: &ResourceSchema,
    mark: Option<&Mark>,
) -> Planned {
    let judgement = judge(&Question {
        desired,
        last_applied: baseline,
        live: match presence {
            Presence::Absent => Live::Absent,
            Presence::Present {
                identifier, live, ..
            } => Live::Present(identifier, live),
            Presence::Unreadable(identifier) if work.was_referenced => Live::Unread(identifier),
            Presence::Unreadable(_) | Presence::Unknown(_) => Live::Unknown,
        },
        subject: subject(work),
        schema,
        options: work.options,
    });
    let changes = judgement.plan.history(schema);
    let live = match presence {
        Presence::Present { live, .. } => Some(live),
        Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => None,
    };
    let mut sent = ucp_plan::sent(&judgement.plan, live, schema);
    let warnings = judgement.plan.warnings.iter().map(Warning::from).collect();
    let mut marked = false;
    let mut model = None;
    let mut marking = |document: Value| {
        let with_mark = mark.and_then(|mark| schema.with_mark(&document, mark));
        marked = with_mark.is_some();
        with_mark.unwrap_or(document).to_string()
    };
    let (outcome, document) = match judgement.verdict {
        Err(failure) => (PlanOutcome::Impossible(failure), None),
        Ok(Verdict::Nothing) => (PlanOutcome::Nothing, None),
        Ok(Verdict::Create {
            document,
            identifier,
        }) => {
            let outcome = PlanOutcome::Create {
                identifier,
                changes,
            };
            (outcome, Some(marking(document)))
        }
        Ok(Verdict::Update {
            identifier,
            document,
        }) => {
            model = kept(ucp_plan::settled(&judgement.plan.planned, schema));
            let outcome = PlanOutcome::Update {
                identifier,
                changes,
            };
            (outcome, Some(document))
        }
        Ok(Verdict::Replace {
            old,
            order,
            create,
            identifier,
        }) => {
            // A new resource is sent everything, also what the old one has.
            if let Some(create) = &create {
                sent = ucp_plan::sent(create, None, schema);
            }
            let outcome = PlanOutcome::Replace {
                old,
                order,
                identifier,
                changes,
            };
            (
                outcome,
                create.map(|create| marking(create.desired_state())),
            )
        }
    };
    Planned {
        outcome,
        document,
        marked,
        sent,
        model,
        warnings,
        plan: Some(Box::new(judgement.plan)),
    }
}

/// The plan if another resource already has the identifier that a replacement declares.
pub(crate) fn name_is_taken(work: &ResourceWork, new: &Identifier) -> Planned {
    subject(work).name_is_taken(new).into()
}

fn subject(work: &ResourceWork) -> Subject<'_> {
    let makes_room = work.replacing == Some(Replacing::OldFirst);
    Subject {
        scope: &work.scope,
        type_name: &work.type_name,
        identifier: work.identifier.as_ref(),
        was_ours: work.was_referenced || work.created || makes_room,
        was_owned: work.was_owned,
        has_reference: work.reference.is_some(),
    }
}

/// Returns a planned model, if it is not too long to be kept.
fn kept(model: Value) -> Option<Value> {
    (json::canonical(&model).len() <= PLANNED_MAX).then_some(model)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn so_long_a_model_is_kept_and_no_longer_one() {
        let longest = "x".repeat(PLANNED_MAX - r#"{"A":""}"#.len());
        for (more, is_kept) in [("", true), ("x", false)] {
            let model = json!({ "A": format!("{longest}{more}") });
            assert_eq!(kept(model).is_some(), is_kept);
        }
    }
}
