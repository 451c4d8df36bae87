//! The judge of a declaration: what is to be done so that a resource is as declared, or why that cannot be.
//!
//! A plan says what would change. The judge also says whether that may be done: the model that it leads to must be valid,
//! a replacement must be asked for, and nobody can choose a name that AWS assigns.

use serde_json::Value;
use ucp_model::operation::{Options, ReplacementOrder, ReplacementPolicy};
use ucp_model::{Baseline, Detail, ErrorCode, Failure, Identifier, Scope, TypeName};
use ucp_schema::{IdentifierOutcome, PropertyPath, ResourceSchema, Violation};

use crate::{Action, Desired, Plan, plan};

const INVALID: &str = "The declaration does not lead to a valid resource, and nothing was sent to AWS. Correct what the details name.";

const UNSATISFIABLE: &str = "The declaration can never be satisfied, and nothing was sent to AWS. Correct what the details name.";

/// What is judged.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// What is declared.
    pub desired: &'a Desired,
    /// What the last successful put declared, where that is known.
    pub last_applied: Option<&'a Baseline>,
    /// What AWS has.
    pub live: Live<'a>,
    /// The resource that it is declared of.
    pub subject: Subject<'a>,
    /// What its type says.
    pub schema: &'a ResourceSchema,
    /// What the caller chose.
    pub options: Options,
}

/// What AWS has, as far as known.
#[derive(Clone, Copy)]
pub enum Live<'a> {
    /// No such resource, or none that could be asked for.
    Absent,
    /// This model, under this name.
    Present(&'a Identifier, &'a Value),
    /// Looking told nothing.
    Unknown,
}

/// What is known of the resource that a declaration is about, whatever AWS has of it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Where it is.
    pub scope: &'a Scope,
    /// Its type.
    pub type_name: &'a TypeName,
    /// AWS's name of it, as far as known.
    pub identifier: Option<&'a Identifier>,
    /// Whether it was referenced or created by us. One that is gone then is created anew, under whatever name.
    pub was_ours: bool,
    /// Whether its reference owns it.
    pub was_owned: bool,
    /// Whether it has a reference.
    pub has_reference: bool,
}

/// What came of a [`Question`].
pub struct Judgement {
    /// What would change.
    pub plan: Plan,
    /// What to do, or why nothing can be done.
    pub verdict: Result<Verdict, Failure>,
}

/// What to do so that a resource is as declared.
#[derive(Clone, PartialEq)]
pub enum Verdict {
    /// Nothing: it is.
    Nothing,
    /// Create it.
    Create {
        /// The desired state to send.
        document: String,
        /// Its identifier, where the declaration determines it.
        identifier: Option<Identifier>,
    },
    /// Update it.
    Update {
        /// What is updated.
        identifier: Identifier,
        /// The JSON Patch to send.
        document: String,
    },
    /// Create another in its place.
    Replace {
        /// What is replaced.
        old: Identifier,
        /// In which order.
        order: ReplacementOrder,
        /// The desired state to send first. There is none where the old resource goes first: what to create is judged
        /// anew once there is room.
        document: Option<String>,
        /// The new one's identifier, where the declaration determines it.
        identifier: Option<Identifier>,
    },
}

/// Judges a declaration.
pub fn judge(question: &Question<'_>) -> Judgement {
    let plan = question.plan();
    let verdict = question.verdict(&plan);
    Judgement { plan, verdict }
}

impl<'a> Question<'a> {
    fn plan(&self) -> Plan {
        let mode = self.options.update_mode;
        plan(
            self.desired,
            self.last_applied,
            self.live.model(),
            self.schema,
            mode,
        )
    }

    fn verdict(&self, plan: &Plan) -> Result<Verdict, Failure> {
        if matches!(self.live, Live::Absent) {
            self.refuse_assigned_name()?;
        }
        let Live::Present(identifier, live) = self.live else {
            return self.create(plan);
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

    /// Where nothing is live, what is declared is the whole model.
    fn create(&self, plan: &Plan) -> Result<Verdict, Failure> {
        self.refuse_invalid()?;
        refuse(UNSATISFIABLE, plan.errors.clone())?;
        Ok(Verdict::Create {
            document: plan.desired_state().to_string(),
            identifier: self.declared_identifier(),
        })
    }

    /// A change that AWS makes only by replacing the resource.
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
        let document = match order {
            ReplacementOrder::CreateBeforeDelete if identifier.as_ref() == Some(old) => {
                return Err(self.same_identifier(changed));
            }
            ReplacementOrder::CreateBeforeDelete => Some(new.desired_state().to_string()),
            ReplacementOrder::DeleteBeforeCreate => None,
        };
        self.refuse_invalid()?;
        Ok(Verdict::Replace {
            old: old.clone(),
            order,
            document,
            identifier,
        })
    }

    /// In which order the caller has the resource replaced; none when it is not to be. What is not owned is not deleted,
    /// so it makes no room either.
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

    fn refuse_invalid(&self) -> Result<(), Failure> {
        let violations = self
            .schema
            .validate_model(self.desired.declaration.properties());
        refuse(INVALID, violations)
    }

    /// Refuses to create a resource under a name that only AWS can give.
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

    fn requires_replacement(&self, plan: &Plan) -> Failure {
        let advice = if self.subject.has_reference {
            "Declare the live values, or send \"replacementPolicy\": \"createBeforeDelete\" or \"deleteBeforeCreate\" to have it replaced."
        } else {
            "Declare the live values, or delete the resource and put it anew."
        };
        self.replacement_refused(plan, advice)
    }

    /// Two resources cannot have one identifier at the same time.
    fn same_identifier(&self, plan: &Plan) -> Failure {
        let advice = if self.subject.was_owned {
            "The new one would have the same identifier, so it cannot be created before the old one is deleted: send \"replacementPolicy\": \"deleteBeforeCreate\"."
        } else {
            "The new one would have the same identifier, and the old one is not owned, so it is not deleted: declare another identifier, or make the reference own it."
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

impl<'a> Live<'a> {
    fn model(self) -> Option<&'a Value> {
        match self {
            Live::Present(_, model) => Some(model),
            Live::Absent | Live::Unknown => None,
        }
    }
}

impl<'a> Subject<'a> {
    /// A resource that nothing is known of.
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

    /// The failure of a replacement by `new`, an identifier that somebody else's resource has: neither is anything deleted
    /// to make room for it, nor is it adopted.
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
    match violations.is_empty() {
        true => Ok(()),
        false => Err(Violation::refusal(message, violations)),
    }
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
