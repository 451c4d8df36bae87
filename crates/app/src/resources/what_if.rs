//! What a put would do. Nothing is written, and AWS is only read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_look::{LiveBasis, PlanBasis, PlannedMember, PlannedStep};
use ucp_model::operation::{Kind, OnShared, Options, Presence};
use ucp_model::{Failure, Fault, Identifier, Reference, Scope, Warning};
use ucp_plan::{Action, Known, Plan, deltas, settled};
use ucp_schema::{IdentifierOutcome, ResourceSchema, unknown_pointers};

use ucp_set::{Declarations, DeclaredMember, left_open};

use crate::changes::{ChangeKind, ResourceChange, WhatIf};
use crate::declaring::Purpose;
use crate::looks::looking::{LOOKING_TIME, Outlook, View, members};
use crate::looks::settling::{TRIES, changes_too_fast};
use crate::plans::kept_plans::{Prepared, READ_COPIES, shown_by};
use crate::plans::plan_to_apply::DeclaredPlan;
use crate::resources::put::{Foreseen, Prospect};
use crate::{Caller, PutResource, Rejection, ResourceCases};

const NOT_IN_TIME: &str =
    "AWS was not asked in time. Ask again, or ask for fewer resources at once.";

const NO_READ_HANDLER: &str = "Its type has no read handler, so it cannot be compared. A put compares with what was declared last.";

/// What is foreseen of a put.
pub(crate) struct Foresight {
    pub(crate) change: ResourceChange,
    /// Why the put would fail.
    pub(crate) error: Option<Failure>,
    /// The identifier afterwards, if it is certain.
    pub(crate) identifier: Option<Identifier>,
    /// What is planned, unless that is not known.
    pub(crate) planned: Option<PlannedMember>,
    /// What was declared.
    pub(crate) declared: Option<DeclaredMember>,
    /// The schema of its type, if it was looked at.
    pub(crate) schema: Option<Arc<ResourceSchema>>,
}

impl ResourceCases {
    /// Returns what a put would do, and keeps the plan for so long. What the put refuses at once is refused alike.
    pub async fn what_if_put(
        &self,
        put: PutResource,
        lifetime: Duration,
        caller: &Caller,
    ) -> Result<WhatIf, Rejection> {
        let deadline = Instant::now() + LOOKING_TIME;
        let foresight = self.foresight(&put, caller, deadline).await;
        let Foresight {
            mut change,
            mut error,
            planned,
            declared,
            ..
        } = foresight.map_err(|refused| refused.shown_to(caller))?;
        let prepared = planned.map(|planned| Prepared {
            group: planned.reference.as_ref().map(|id| id.group.clone()),
            members: vec![planned],
            reads: Vec::new(),
            declared: DeclaredPlan {
                application: None,
                declarations: Declarations {
                    members: vec![declared],
                    outputs: Map::new(),
                    pinned: BTreeMap::new(),
                },
                resolved: BTreeMap::new(),
            },
        });
        change.withhold(left_open(&Value::Object(put.properties.clone()), |_| false));
        if let (None, Some(failure), Some(id)) = (&error, change.unapprovable(), &change.tracked_by)
            && self.ground.policy_of(&id.group).await?.needs_approval()
        {
            error = Some(failure);
        }
        let mut changes = vec![change];
        self.plans.tell_track_records(&mut changes).await?;
        self.ground.tell_shared(&mut changes, caller).await?;
        let mut what_if = WhatIf {
            changes,
            error,
            plan: None,
        };
        self.ground.veil_what_if(&mut what_if).await?;
        caller.room.take(shown_by(&what_if) * READ_COPIES)?;
        self.plans.keep(what_if, prepared, lifetime, caller).await
    }

    /// Returns what is foreseen of a put, by a look at its resource until `deadline`.
    pub(crate) async fn foresight(
        &self,
        put: &PutResource,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<Foresight, Rejection> {
        for _ in 0..TRIES {
            let mut view = View::default();
            let view_of = Some(&mut view);
            let foreseen = self.foresee(put, None, caller, deadline, Purpose::Preview, view_of);
            let foreseen = Box::pin(foreseen).await?;
            match &foreseen.prospect {
                Prospect::Seen(Outlook::Stale) => continue,
                Prospect::Create(_) | Prospect::Seen(Outlook::Change(_)) => {
                    let reference = foreseen.reference.as_ref();
                    self.operations
                        .allowances
                        .admit_operation(Kind::Put, &caller.name, &put.scope, reference)
                        .await?;
                }
                Prospect::Seen(Outlook::Nothing(_) | Outlook::Refused(_) | Outlook::Open) => {}
            }
            let asked = Asked {
                scope: put.scope.clone(),
                name: put.name.clone(),
                options: put.options,
            };
            let declared = DeclaredMember {
                properties: put.properties.clone(),
                default_tags: foreseen.default_tags.clone(),
            };
            let values = [foreseen.declaration.properties()].into_iter();
            let live = match &view.presence {
                Some(Presence::Present { live, .. }) => Some(live),
                Some(Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_)) | None => {
                    None
                }
            };
            let is_quick = foreseen.schema.is_quick_for(values.chain(live));
            let tell = move || told(asked, foreseen, view);
            let mut foresight = self.ground.pool.run_unless_quick(is_quick, tell).await?;
            if foresight.error.is_none() {
                foresight.error = self.unapprovable(foresight.planned.as_ref()).await?;
            }
            return Ok(Foresight {
                declared: Some(declared),
                ..foresight
            });
        }
        Err(changes_too_fast())
    }

    /// Returns why a plan could not be carried out, whoever approves it: the policy of another group does not take it.
    pub(crate) async fn unapprovable(
        &self,
        planned: Option<&PlannedMember>,
    ) -> Result<Option<Failure>, Rejection> {
        let Some((planned, target)) = planned.and_then(|it| Some((it, it.changed()?))) else {
            return Ok(None);
        };
        let own = planned.reference.as_ref().map(|id| &id.group);
        self.ground.refused_elsewhere(&target, own, true).await
    }
}

/// What is told of a put beside what was found.
struct Asked {
    scope: Scope,
    name: Option<String>,
    options: Options,
}

/// Tells what is foreseen of a put.
fn told(put: Asked, foreseen: Foreseen, view: View) -> Foresight {
    let Foreseen {
        schema,
        reference,
        declaration,
        prospect,
        ..
    } = foreseen;
    let recorded = view.reference.as_ref();
    let mut member = PlannedMember {
        scope: put.scope.clone(),
        type_name: schema.type_name().clone(),
        reference: reference.clone(),
        moved_from: None,
        name: put.name.clone(),
        identifier: None,
        put: Some(put.options),
        on_shared: OnShared::default(),
        step: PlannedStep::Nothing,
        is_remembered: match &prospect {
            Prospect::Seen(Outlook::Nothing(nothing)) => nothing.is_remembered(),
            Prospect::Seen(
                Outlook::Refused(_) | Outlook::Change(_) | Outlook::Open | Outlook::Stale,
            )
            | Prospect::Create(_) => false,
        },
        basis: PlanBasis::of(recorded, schema.fingerprint(), LiveBasis::Absent),
        planned: None,
    };
    let named = match schema.identifier(declaration.properties()) {
        IdentifierOutcome::Known(identifier) => Some(identifier),
        IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => None,
    };
    let named = named.or_else(|| put.name.as_deref().map(Identifier::new));
    let known = recorded.and_then(|reference| reference.identifier.clone());
    let mut change = ResourceChange {
        identifier: known.or_else(|| named.clone()),
        ..ResourceChange::new(
            schema.type_name().clone(),
            put.scope,
            reference,
            ChangeKind::NoChange,
        )
    };
    let (plan, error) = match prospect {
        Prospect::Create(plan) => (Some(plan), None),
        Prospect::Seen(Outlook::Refused(failure)) => (view.plan, Some(failure)),
        Prospect::Seen(
            Outlook::Nothing(_) | Outlook::Change(_) | Outlook::Open | Outlook::Stale,
        ) => (view.plan, None),
    };
    if let Some(plan) = &plan {
        change.warnings = plan.warnings.iter().map(Warning::from).collect();
    }
    let presence = match (&plan, view.presence) {
        (Some(_), None) => Some(Presence::Absent),
        (_, presence) => presence,
    };
    let (live, plan) = match (presence, plan) {
        (Some(Presence::Absent), Some(plan)) => {
            if let Some(reference) = recorded.filter(|reference| reference.identifier.is_some()) {
                change.warnings.push(seems_gone(reference));
            }
            (None, plan)
        }
        (
            Some(Presence::Present {
                identifier, live, ..
            }),
            Some(plan),
        ) => {
            change.identifier = Some(identifier);
            (Some(live), plan)
        }
        (Some(Presence::Unreadable(_)), Some(plan))
            if let Some(last) = recorded.and_then(Reference::last_put) =>
        {
            change.unreadable = true;
            member.basis.live = LiveBasis::Unreadable;
            (Some(last.declared.clone()), plan)
        }
        (presence, _) => {
            let identifier = change.identifier.clone();
            change.kind = ChangeKind::Unsupported(match (&error, presence) {
                (Some(error), _) => error.message.clone(),
                (None, Some(Presence::Unreadable(_))) => NO_READ_HANDLER.to_owned(),
                (None, Some(Presence::Unknown(fault))) => unreadable(&fault),
                (None, _) => NOT_IN_TIME.to_owned(),
            });
            return Foresight {
                change,
                error,
                identifier,
                planned: None,
                declared: None,
                schema: None,
            };
        }
    };
    member.identifier = change.identifier.clone();
    if let (Some(live), false) = (&live, change.unreadable) {
        member.basis.live = LiveBasis::Model(settled(live, &schema));
    }
    member.planned = Some(settled(&plan.planned, &schema));
    let step = PlannedStep::of(plan.action);
    let identifier = match plan.action {
        Action::Noop | Action::Update | Action::Error => change.identifier.clone(),
        Action::Create | Action::Replace => named,
    };
    let known = live.as_ref().zip(view.declared.as_ref());
    let known = known.map(|(live, declared)| Known {
        live,
        declared,
        last_applied: recorded.and_then(Reference::last_put),
        observed: recorded.and_then(|reference| reference.observed.as_ref()),
    });
    if plan.action == Action::Replace {
        change.replacement = Some(put.options.replacement_policy);
    }
    describe(&mut change, *plan, known.as_ref(), &schema);
    if let (Some(error), ChangeKind::NoChange) = (&error, &change.kind) {
        change.kind = ChangeKind::Unsupported(error.message.clone());
    }
    Foresight {
        change,
        error,
        identifier,
        planned: step.map(|step| PlannedMember { step, ..member }),
        declared: None,
        schema: Some(schema),
    }
}

/// Describes a change by its plan.
fn describe(
    change: &mut ResourceChange,
    plan: Plan,
    known: Option<&Known<'_>>,
    schema: &ResourceSchema,
) {
    change.kind = match (plan.action, known) {
        (Action::Create, _) | (_, None) => ChangeKind::Create,
        (Action::Update | Action::Replace, Some(_)) => ChangeKind::Modify,
        (Action::Noop | Action::Error, Some(_)) => ChangeKind::NoChange,
    };
    change.before = known.map(|known| members(schema.shown(known.live)));
    let after = schema.shown(&plan.planned);
    change.unknown = unknown_pointers(&after);
    change.after = Some(members(after));
    if let Some(known) = known {
        change.deltas = deltas(&plan, known, schema);
    }
    change.replace_paths = plan.replace_paths;
}

/// Warns that AWS does not find what a reference stands for.
pub(crate) fn seems_gone(reference: &Reference) -> Warning {
    let name = reference.identifier.as_ref().map_or("", Identifier::as_str);
    Warning {
        code: "SeemsGone".to_owned(),
        target: String::new(),
        message: format!(
            "AWS does not find '{name}'. One such answer does not prove that it is gone: it is looked for again before anything is done."
        ),
    }
}

/// Tells why a resource cannot be read.
pub(crate) fn unreadable(fault: &Fault) -> String {
    format!(
        "AWS cannot be asked for it: {}: {}",
        fault.code, fault.message
    )
}
