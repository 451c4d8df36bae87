//! The judge decides how a resource becomes as declared, or why that is impossible.
//!
//! A plan says what would change. The judge also decides whether the change is permitted: the planned model must be
//! valid, a replacement must be requested, and an identifier that AWS assigns cannot be chosen.

use std::collections::HashMap;

use serde_json::Value;
use ucp_model::operation::{CreationPolicy, Options, ReplacementOrder, ReplacementPolicy};
use ucp_model::{Baseline, Detail, ErrorCode, Failure, Identifier, Scope, TypeName, pointer};
use ucp_schema::{IdentifierOutcome, PropertyPath, ResourceSchema, Violation, ViolationCode};

use crate::{Action, Desired, Plan, Warning, WarningCode, plan, unread};

const INVALID: &str = "The declaration does not lead to a valid resource, and nothing was sent to AWS. Correct what the details name.";

const UNSATISFIABLE: &str = "The declaration can never be satisfied, and nothing was sent to AWS. Correct what the details name.";

/// The input of the judge.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The declaration.
    pub desired: &'a Desired,
    /// The baseline of the last successful put, if known.
    pub last_applied: Option<&'a Baseline>,
    /// The live resource.
    pub live: Live<'a>,
    /// The resource that the declaration is about.
    pub subject: Subject<'a>,
    /// The schema of its type.
    pub schema: &'a ResourceSchema,
    /// The caller's options.
    pub options: Options,
}

/// The live resource, as far as known.
#[derive(Clone, Copy)]
pub enum Live<'a> {
    /// It does not exist, or has no identifier to read it by.
    Absent,
    /// Its identifier and live model.
    Present(&'a Identifier, &'a Value),
    /// Its identifier; its type has no read handler.
    Unread(&'a Identifier),
    /// It is unknown whether it exists.
    Unknown,
}

/// The resource that a declaration is about, apart from its live model.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Its account and region.
    pub scope: &'a Scope,
    /// Its type.
    pub type_name: &'a TypeName,
    /// Its primary identifier, if known.
    pub identifier: Option<&'a Identifier>,
    /// Whether it was referenced or created by us. If so and it no longer exists, it is created again, even if its new
    /// identifier will be another one.
    pub was_ours: bool,
    /// Whether its reference owns it.
    pub was_owned: bool,
    /// Whether it has a reference.
    pub has_reference: bool,
}

/// The output of the judge.
pub struct Judgement {
    /// The plan.
    pub plan: Plan,
    /// What to do, or why it is impossible.
    pub verdict: Result<Verdict, Failure>,
}

/// How a resource becomes as declared.
#[derive(Clone, PartialEq)]
pub enum Verdict {
    /// It is as declared already.
    Nothing,
    /// Create the resource.
    Create {
        /// The desired state to send.
        document: Value,
        /// The identifier, if the declaration determines it.
        identifier: Option<Identifier>,
    },
    /// Update the resource.
    Update {
        /// The resource to update.
        identifier: Identifier,
        /// The JSON Patch to send.
        document: String,
    },
    /// Replace the resource by a new one.
    Replace {
        /// The resource to replace.
        old: Identifier,
        /// The order of create and delete.
        order: ReplacementOrder,
        /// The plan of the create, if it is sent first. `None` if the old resource is deleted first: the create is judged
        /// again after that.
        create: Option<Box<Plan>>,
        /// The new resource's identifier, if the declaration determines it.
        identifier: Option<Identifier>,
    },
}

/// Judges a declaration.
pub fn judge(question: &Question<'_>) -> Judgement {
    let mut plan = question.plan();
    let verdict = question.verdict(&plan);
    if let Ok(Verdict::Replace {
        order: ReplacementOrder::CreateBeforeDelete,
        ..
    }) = &verdict
        && let Some(name) = question.kept_name()
    {
        let path = pointer::join("", name);
        plan.warnings
            .push(Warning::new(WarningCode::KeepsName, path));
    }
    Judgement { plan, verdict }
}

impl<'a> Question<'a> {
    fn plan(&self) -> Plan {
        let mode = self.options.update_mode;
        let live = match (self.live, self.last_applied) {
            (Live::Present(_, model), _) => Some(model),
            (Live::Unread(_), Some(last)) => Some(&last.declared),
            (Live::Unread(_), None) | (Live::Absent | Live::Unknown, _) => None,
        };
        let mut plan = plan(self.desired, self.last_applied, live, self.schema, mode);
        if let (Live::Unread(_), Some(last)) = (self.live, self.last_applied) {
            unread::send_unconfirmed(&mut plan, last, self.schema);
            if self.options.resend {
                let declared = self.desired.declaration.properties();
                unread::send_again(&mut plan, declared, self.schema);
            }
        }
        if plan.action == Action::Update && !self.subject.has_reference {
            plan.warn_of_secrets_sent();
        }
        plan
    }

    fn verdict(&self, plan: &Plan) -> Result<Verdict, Failure> {
        if matches!(self.live, Live::Absent) {
            self.refuse_assigned_name()?;
        }
        let (identifier, live) = match (self.live, self.last_applied) {
            (Live::Present(identifier, live), _) => (identifier, live),
            (Live::Unread(identifier), Some(last)) => (identifier, &last.declared),
            (Live::Unread(identifier), None) => return Err(self.nothing_to_compare(identifier)),
            (Live::Absent | Live::Unknown, _) => return self.create(plan),
        };
        match plan.action {
            Action::Noop => Ok(Verdict::Nothing),
            Action::Error => Err(Violation::refusal(UNSATISFIABLE, plan.errors.clone())),
            Action::Update => {
                let already = self.schema.validate_model(live);
                let planned = self.schema.validate_model(&plan.planned);
                refuse(INVALID, introduced(already, planned))?;
                Ok(Verdict::Update {
                    identifier: identifier.clone(),
                    document: plan.patch.to_string(),
                })
            }
            Action::Create => self.create(plan),
            Action::Replace => self.replace(identifier, plan),
        }
    }

    /// Judges a create. The declaration is then the whole model.
    fn create(&self, plan: &Plan) -> Result<Verdict, Failure> {
        if self.options.creation_policy == CreationPolicy::Fail {
            return Err(self.not_found());
        }
        self.refuse_invalid()?;
        refuse(UNSATISFIABLE, plan.errors.clone())?;
        Ok(Verdict::Create {
            document: plan.desired_state(),
            identifier: self.declared_identifier(),
        })
    }

    /// Judges a change that requires replacing the resource.
    fn replace(&self, old: &Identifier, changed: &Plan) -> Result<Verdict, Failure> {
        let order = self
            .replacement_order()
            .ok_or_else(|| self.requires_replacement(changed))?;
        let new = Question {
            last_applied: None,
            live: Live::Absent,
            ..*self
        };
        let new = new.plan();
        refuse(UNSATISFIABLE, new.errors.clone())?;
        let identifier = self.declared_identifier();
        let create = match order {
            ReplacementOrder::CreateBeforeDelete if identifier.as_ref() == Some(old) => {
                return Err(self.same_identifier(changed));
            }
            ReplacementOrder::CreateBeforeDelete => Some(Box::new(new)),
            ReplacementOrder::DeleteBeforeCreate => None,
        };
        self.refuse_invalid()?;
        Ok(Verdict::Replace {
            old: old.clone(),
            order,
            create,
            identifier,
        })
    }

    /// Returns the order of the replacement, or `None` if the caller has not asked for one. A resource that is not
    /// owned is not deleted, so it cannot be deleted first.
    fn replacement_order(&self) -> Option<ReplacementOrder> {
        match self.options.replacement_policy {
            ReplacementPolicy::Refuse => None,
            ReplacementPolicy::DeleteBeforeCreate if self.subject.was_owned => {
                Some(ReplacementOrder::DeleteBeforeCreate)
            }
            ReplacementPolicy::CreateBeforeDelete | ReplacementPolicy::DeleteBeforeCreate => {
                Some(ReplacementOrder::CreateBeforeDelete)
            }
        }
    }

    fn declared_identifier(&self) -> Option<Identifier> {
        match self
            .schema
            .identifier(self.desired.declaration.properties())
        {
            IdentifierOutcome::Known(identifier) => Some(identifier),
            IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
        }
    }

    /// Returns the property with the custom name that both the live resource and the declared one have.
    fn kept_name(&self) -> Option<&'a str> {
        let (name, declared) = (self.schema).custom_name(self.desired.declaration.properties())?;
        let has_it = |model: &Value| model.get(name).and_then(Value::as_str) == Some(declared);
        let live = match self.live {
            Live::Present(_, live) => Some(live),
            Live::Absent | Live::Unread(_) | Live::Unknown => None,
        };
        let last = self.last_applied.map(|last| &last.declared);
        let mut known = live.into_iter().chain(last);
        known.any(has_it).then_some(name)
    }

    fn refuse_invalid(&self) -> Result<(), Failure> {
        let violations = self
            .schema
            .validate_model(self.desired.declaration.properties());
        refuse(INVALID, violations)
    }

    /// The failure of a change of a resource that does not exist.
    fn not_found(&self) -> Failure {
        let Subject {
            scope,
            type_name,
            identifier,
            ..
        } = self.subject;
        let what = type_name.arm();
        let Some(identifier) = identifier else {
            let message = format!("The {what} does not exist. Create it with a PUT.");
            return Failure::new(ErrorCode::NotFound, message);
        };
        let name = self.schema.identifier_in_words(identifier);
        let message = format!("There is no {what} with {name}. Create it with a PUT.");
        Failure::new(ErrorCode::NotFound, message)
            .with_target(scope.resource(type_name, identifier))
    }

    /// Refuses to create a resource with an identifier that AWS assigns.
    fn refuse_assigned_name(&self) -> Result<(), Failure> {
        let Some(identifier) = self.subject.identifier else {
            return Ok(());
        };
        let assigned = self.schema.assigned_parts().map(PropertyPath::in_words);
        let assigned: Vec<String> = assigned.collect();
        if assigned.is_empty() || self.subject.was_ours {
            return Ok(());
        }
        let type_name = self.subject.type_name;
        let message = format!(
            "There is no {} with {}, and none can be created under that name: AWS assigns {}. To create one, leave it out of a :put with an alias.",
            type_name.arm(),
            self.schema.identifier_in_words(identifier),
            assigned.join(" and "),
        );
        let target = self.subject.scope.resource(type_name, identifier);
        Err(Failure::new(ErrorCode::NotFound, message).with_target(target))
    }

    /// The failure of a change to a resource that cannot be read, and that no put has succeeded on.
    fn nothing_to_compare(&self, identifier: &Identifier) -> Failure {
        let type_name = self.subject.type_name;
        let message = format!(
            "{type_name} has no read handler, and no put of '{identifier}' has succeeded, so there is nothing to compare the declaration with; nothing was sent to AWS. Delete the resource and put it again."
        );
        Failure::new(ErrorCode::UnsupportedActionException, message)
    }

    fn requires_replacement(&self, plan: &Plan) -> Failure {
        let advice = if self.subject.has_reference {
            "Declare the live values, or send \"replacementPolicy\": \"createBeforeDelete\" or \"deleteBeforeCreate\" to have it replaced."
        } else {
            "Declare the live values, or delete the resource and put it again."
        };
        self.replacement_refused(plan, advice)
    }

    /// The failure of a replacement whose new resource would have the old one's identifier.
    fn same_identifier(&self, plan: &Plan) -> Failure {
        let advice = if self.subject.was_owned {
            "The new one would have the same identifier, so it cannot be created before the old one is deleted: send \"replacementPolicy\": \"deleteBeforeCreate\"."
        } else {
            "The new one would have the same identifier, and the old one is not deleted, since the reference does not own it or gives it up to others: declare another identifier, or make the reference own it and leave onShared out."
        };
        self.replacement_refused(plan, advice)
    }

    fn replacement_refused(&self, plan: &Plan, advice: &str) -> Failure {
        let detail = |path: &String| {
            Detail::at(
                "RequiresReplacement",
                format!("{path} can only be set when the resource is created"),
                path,
            )
        };
        let name = match self.subject.identifier {
            Some(identifier) => format!("'{identifier}'"),
            None => "The resource".to_owned(),
        };
        let message = format!(
            "{name} of this {} would have to be replaced to change {}; nothing was sent to AWS. {advice}",
            self.subject.type_name,
            plan.replace_paths.join(", "),
        );
        Failure::new(ErrorCode::RequiresReplacement, message)
            .with_details(plan.replace_paths.iter().map(detail).collect())
    }
}

impl<'a> Subject<'a> {
    /// Creates the subject of a resource without a known identifier or reference.
    pub fn new(scope: &'a Scope, type_name: &'a TypeName) -> Self {
        Self {
            scope,
            type_name,
            identifier: None,
            was_ours: false,
            was_owned: false,
            has_reference: false,
        }
    }

    /// Returns the failure of a replacement whose new identifier `new` belongs to an existing resource. That resource
    /// is neither deleted nor adopted.
    pub fn name_is_taken(&self, new: &Identifier) -> Failure {
        let type_name = self.type_name;
        let message = format!(
            "AWS already has the {type_name} '{new}', so it cannot take the place of '{}'; nothing was sent to AWS. Choose another name, or delete or import what has it.",
            self.identifier.map_or("", Identifier::as_str),
        );
        let taken = self.scope.resource(type_name, new);
        let detail = Detail::at("AlreadyExists", "exists in AWS", taken);
        Failure::new(ErrorCode::Conflict, message).with_details(vec![detail])
    }
}

fn refuse(message: &str, violations: Vec<Violation>) -> Result<(), Failure> {
    if violations.is_empty() {
        Ok(())
    } else {
        Err(Violation::refusal(message, violations))
    }
}

/// Returns the violations that the live model does not have already. Indexes of list elements are ignored, since
/// elements may move.
fn introduced(already: Vec<Violation>, mut planned: Vec<Violation>) -> Vec<Violation> {
    let place = |violation: &Violation| pointer::without_indexes(&violation.pointer);
    let mut left: HashMap<(ViolationCode, String), usize> = HashMap::new();
    for old in &already {
        *left.entry((old.code, place(old))).or_default() += 1;
    }
    planned.retain(
        |violation| match left.get_mut(&(violation.code, place(violation))) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            Some(_) | None => true,
        },
    );
    planned
}
