use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_access::Right;
use ucp_model::operation::{Kind, ReplacementPolicy, Verdict, Work};
use ucp_model::{
    ErrorCode, Identifier, Operation, Reference, ReferenceId, Scope, Target, TypeName, Warning,
    excerpt, json,
};
use ucp_plan::Plan;
use ucp_schema::{Declaration, ResourceSchema};
use ucp_seal::AssociatedData;
use ucp_store::{NewLook, NewOperation, NewWork, RecordedAlias, Sealed};
use zeroize::Zeroizing;

use crate::declaring::{
    LastApplied, Purpose, create_judge, judge_for_type, names_it, parse, parts, unsupported,
};
use crate::identifier::named;
use crate::looks::looking::{Outlook, View};
use crate::looks::settling::{TRIES, changes_too_fast, is_same};
use crate::operations::intake::{Accepted, Subject, verdict_of};
use crate::plans::plan_to_apply::MemberToApply;
use crate::{Caller, PutResource, Rejection, ResourceCases, UntrackedAlias};

/// The result of a put so far.
#[derive(Debug)]
pub struct PutOutcome {
    /// The type of the resource, in its canonical spelling.
    pub type_name: TypeName,
    /// The scope of the resource.
    pub scope: Scope,
    /// Its identifier, if known.
    pub identifier: Option<Identifier>,
    /// The operation; `None` if the resource already was as declared.
    pub operation: Option<Operation>,
    /// Whether there was nothing to do: no operation, and no alias that stands for something else than before.
    pub is_unchanged: bool,
    /// The live properties, if known, overlaid with the declared ones and without write-only values.
    pub properties: Map<String, Value>,
    /// What the caller should know about the plan.
    pub warnings: Vec<Warning>,
}

/// Returns the resource of a put if a look has shown that AWS spells it otherwise, and a reference stands for it under that.
fn as_aws_spells(new: &NewOperation) -> Option<Target<'_>> {
    match &new.work {
        NewWork::Resource(work) if work.spelled.is_some() && work.is_referenced => Some(Target {
            scope: &work.scope,
            type_name: &work.type_name,
            identifier: work.identifier.as_ref()?,
        }),
        NewWork::Resource(_) | NewWork::Group { .. } => None,
    }
}

/// Adds to the refusal of a change without a plan that nobody has seen whether there is one.
fn unseen(refused: Rejection) -> Rejection {
    match refused {
        Rejection::Conflict(mut failure) if failure.code == ErrorCode::PlanRequired.as_str() => {
            failure.message.push_str(
                " AWS has not shown whether there is anything to change. If there is not, no plan is needed: try again, or ask for a plan.",
            );
            Rejection::Conflict(failure)
        }
        other => other,
    }
}

/// A put that has passed the checks that need no live properties.
struct Declared {
    schema: Arc<ResourceSchema>,
    reference: Option<ReferenceId>,
    /// What is recorded of the reference.
    alias: Option<RecordedAlias>,
    /// The identifier in its URL or its properties, if any.
    identifier: Option<Identifier>,
    declaration: Declaration,
    default_tags: BTreeMap<String, String>,
    /// Whether it can be judged at once.
    is_quick: bool,
    /// The declaration as JSON.
    text: Zeroizing<String>,
}

/// What is foreseen of a put.
pub(crate) struct Foreseen {
    pub(crate) schema: Arc<ResourceSchema>,
    pub(crate) reference: Option<ReferenceId>,
    pub(crate) declaration: Declaration,
    /// The tags that it has besides those declared.
    pub(crate) default_tags: BTreeMap<String, String>,
    text: Zeroizing<String>,
    new: NewOperation,
    pub(crate) prospect: Prospect,
}

/// What a put would do.
pub(crate) enum Prospect {
    /// It is certainly a create, with this plan.
    Create(Box<Plan>),
    /// What a look has shown.
    Seen(Outlook),
}

impl ResourceCases {
    /// Creates or updates a resource as declared. Looks at the resource first, unless this is certainly a create. If
    /// nothing has to be done, there is no operation; otherwise claims the alias and records the operation.
    pub async fn put_resource(
        &self,
        put: PutResource,
        caller: &Caller,
    ) -> Result<PutOutcome, Rejection> {
        let deadline = Instant::now() + caller.verdict_wait;
        let (put, planned) = match &put.plan {
            Some(asked) => {
                let asked = asked.clone();
                let (put, planned) = Box::pin(self.planned_put(asked, put, caller)).await?;
                (put, Some(planned))
            }
            None => (put, None),
        };
        for _ in 0..TRIES {
            let tried = Box::pin(self.try_put(&put, planned.as_ref(), caller, deadline)).await;
            let refused = match (tried, &planned) {
                (Ok(Some(outcome)), _) => return Ok(outcome),
                (Ok(None), _) => continue,
                (Err(refused), Some(planned)) => {
                    self.plans.refused_under(planned.used, refused).await
                }
                (Err(refused), None) => refused,
            };
            return Err(refused.shown_to(caller));
        }
        Err(changes_too_fast())
    }

    /// Returns `None` if the reference has changed meanwhile.
    async fn try_put(
        &self,
        put: &PutResource,
        planned: Option<&MemberToApply>,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<Option<PutOutcome>, Rejection> {
        let mut view = planned.map(|_| Box::<View>::default());
        let Foreseen {
            schema,
            reference,
            declaration,
            default_tags: _,
            text,
            mut new,
            prospect,
        } = Box::pin(self.foresee(
            put,
            planned,
            caller,
            deadline,
            Purpose::Change,
            view.as_deref_mut(),
        ))
        .await?;
        if let (true, Some(id)) = (put.options.gives_up_shared(), &reference) {
            Box::pin(self.note_heir(&mut new, id, caller)).await?;
        }
        if let (Some(planned), Some(view)) = (planned, &view) {
            let create = match &prospect {
                Prospect::Create(plan) => Some(plan.as_ref()),
                Prospect::Seen(_) => None,
            };
            planned.judge(&schema, create, view)?;
        }
        let mut change = match prospect {
            Prospect::Create(plan) => {
                let warnings = plan.warnings.iter().map(Warning::from).collect();
                let Some(accepted) = Box::pin(self.accept_put(new, &text, None, caller)).await?
                else {
                    return Ok(None);
                };
                let properties = shown(&schema, None, &declaration);
                let operation = accepted.pending.operation;
                return accepted_outcome(&schema, operation, properties, warnings).map(Some);
            }
            Prospect::Seen(Outlook::Nothing(nothing)) => {
                let is_unchanged = match &reference {
                    None => true,
                    Some(_) => match self.looks.settle(&nothing, caller).await? {
                        None => return Ok(None),
                        Some(after) => {
                            let before = nothing.before.as_ref();
                            before.is_some_and(|before| is_same(before, &after))
                        }
                    },
                };
                let work = nothing.work();
                let live = work.resource().and_then(|work| work.result.as_ref());
                let mut properties = shown(&schema, live, &declaration);
                let id = work.reference();
                self.ground.veil_reply(id, &mut properties).await?;
                let warnings = nothing.warnings.clone();
                let outcome = outcome(&schema, work, properties, warnings)?;
                return Ok(Some(PutOutcome {
                    is_unchanged,
                    ..outcome
                }));
            }
            Prospect::Seen(Outlook::Stale) => return Ok(None),
            Prospect::Seen(Outlook::Refused(failure)) => return Err(Rejection::Refused(failure)),
            Prospect::Seen(Outlook::Change(change)) => {
                self.ground.refuse_taking(change.work.resource()).await?;
                Some(*change)
            }
            Prospect::Seen(Outlook::Open) => None,
        };
        let look = change.as_mut().and_then(|change| change.look.take());
        let look = look
            .map(|look| self.looks.sealed_look(&new, look))
            .transpose()?;
        let accepted = Box::pin(self.accept_put(new, &text, look, caller)).await;
        let accepted = match &change {
            Some(_) => accepted?,
            None => accepted.map_err(unseen)?,
        };
        let Some(Accepted {
            pending,
            reference,
            keeps_look,
        }) = accepted
        else {
            return Ok(None);
        };
        let (operation, live, warnings) = match change {
            Some(change) if keeps_look => {
                let operation = Operation {
                    work: change.work,
                    ..pending.operation
                };
                (operation, change.live, change.warnings)
            }
            change @ (Some(_) | None) => {
                let operation =
                    Box::pin(self.operations.verdict(pending, deadline, caller)).await?;
                let seen = change.and_then(|change| change.live);
                let live = live(&operation, reference).or(seen);
                let warnings = operation.work.warnings().to_vec();
                (operation, live, warnings)
            }
        };
        let mut properties = shown(&schema, live.as_ref(), &declaration);
        let id = operation.work.reference();
        self.ground.veil_reply(id, &mut properties).await?;
        accepted_outcome(&schema, operation, properties, warnings).map(Some)
    }

    /// Judges a put, and looks at its resource unless it is certainly a create. Nothing is written. What the look finds
    /// is copied to `view`.
    pub(crate) async fn foresee(
        &self,
        put: &PutResource,
        planned: Option<&MemberToApply>,
        caller: &Caller,
        deadline: Instant,
        purpose: Purpose,
        view: Option<&mut View>,
    ) -> Result<Foreseen, Rejection> {
        let Declared {
            schema,
            reference,
            alias,
            identifier,
            declaration,
            default_tags,
            is_quick,
            text,
        } = self.declared(put, planned, caller, purpose).await?;
        let resource = Subject {
            scope: put.scope.clone(),
            reference: reference.clone(),
            identifier: identifier.clone(),
        };
        let mut new = self.operations.new_resource_operation(
            Kind::Put,
            resource,
            put.options,
            &schema,
            caller,
        );
        if let NewWork::Resource(work) = &mut new.work {
            work.plan = planned.map(|planned| planned.used);
            work.has_name = schema.is_named_in(declaration.properties());
        }
        let is_create = is_surely_create(identifier.as_ref(), alias.as_ref());
        let deletion = alias.as_ref().and_then(|alias| alias.group.body.deletion);
        let prospect = if is_create {
            if let (Purpose::Preview, Some(deletion)) = (purpose, deletion) {
                return Err(self.ground.busy(deletion).await);
            }
            let judge = create_judge(&declaration, &schema, &put.scope, put.options);
            let plan = self.ground.pool.run_unless_quick(is_quick, judge).await??;
            Prospect::Create(Box::new(plan))
        } else {
            let target = identifier.as_ref().map(|identifier| Target {
                scope: &put.scope,
                type_name: schema.type_name(),
                identifier,
            });
            let lineage = alias.as_ref().zip(reference.as_ref());
            let lineage = lineage.map(|(alias, id)| alias.lineage(id, new.id));
            let recorded = self.looks.recorded(alias, target.as_ref()).await?;
            let is_second = recorded.makes_second();
            let new_alias = reference.as_ref().filter(|_| recorded.is_new_alias());
            let digest = {
                let (declaration, schema) = (declaration.clone(), Arc::clone(&schema));
                let keys = Arc::clone(&self.ground.keys);
                move || ucp_look::desired(declaration, lineage.as_ref(), &schema, &keys.digest)
            };
            let desired = self.ground.pool.run_unless_quick(is_quick, digest).await?;
            let outlook =
                self.looks
                    .viewed(&mut new, recorded, &schema, Some(&desired), deadline, view);
            let outlook = outlook.await?;
            let second = as_aws_spells(&new).or_else(|| target.filter(|_| is_second));
            if let (Some(own), Some(target)) = (new_alias, second) {
                let compared =
                    self.ground
                        .judge_second(own, &target, &declaration, &schema, caller);
                let compared = compared.await?;
                new.set_compared_with(compared);
            }
            Prospect::Seen(outlook)
        };
        Ok(Foreseen {
            schema,
            reference,
            declaration,
            default_tags,
            text,
            new,
            prospect,
        })
    }

    /// Judges a put without a call to AWS, as far as that is possible.
    pub async fn validate_put(&self, put: &PutResource, caller: &Caller) -> Result<(), Rejection> {
        let Declared {
            schema,
            alias,
            identifier,
            declaration,
            is_quick,
            ..
        } = self
            .declared(put, None, caller, Purpose::Validation)
            .await?;
        if is_surely_create(identifier.as_ref(), alias.as_ref()) {
            let judge = create_judge(&declaration, &schema, &put.scope, put.options);
            self.ground.pool.run_unless_quick(is_quick, judge).await??;
        }
        Ok(())
    }

    /// Notes who comes to own what a put replaces, or a delete leaves alone, if it gives that up to others.
    pub(crate) async fn note_heir(
        &self,
        new: &mut NewOperation,
        id: &ReferenceId,
        caller: &Caller,
    ) -> Result<(), Rejection> {
        let reference = self.ground.store.get_reference(id).await?;
        let own = BTreeSet::from([id.key()]);
        let heirs = self.ground.heirs(reference.iter(), &own, caller);
        new.set_heirs(heirs.await?);
        Ok(())
    }

    /// Returns `None` if the put has to start over: another reference to the resource has come meanwhile.
    async fn accept_put(
        &self,
        new: NewOperation,
        declaration: &str,
        look: Option<NewLook>,
        caller: &Caller,
    ) -> Result<Option<Accepted>, Rejection> {
        let place = AssociatedData::Desired(new.id);
        let entropy = self.ground.entropy.as_ref();
        let sealing = &self.ground.keys.sealing;
        let desired = Sealed(sealing.seal(place, declaration.as_bytes(), entropy));
        self.operations
            .accept(new, Some(desired), look, caller)
            .await
    }

    /// Parses and checks the declaration, as far as that does not depend on live properties.
    async fn declared(
        &self,
        put: &PutResource,
        planned: Option<&MemberToApply>,
        caller: &Caller,
        purpose: Purpose,
    ) -> Result<Declared, Rejection> {
        let schema = self.types.schema(&put.scope, &put.type_name).await?;
        let right = match purpose {
            Purpose::Change => Right::Write,
            Purpose::Preview | Purpose::Validation => Right::Read,
        };
        let reference = match &put.tracked_by {
            Some(tracked_by) => Some(self.types.reference_id(
                tracked_by,
                &schema,
                (caller, right),
            )?),
            None => None,
        };
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
        judge_for_type(&put.properties, &put.tags, &schema)?;
        let alias = self
            .looks
            .recorded_alias(reference.as_ref(), purpose)
            .await?;
        if purpose != Purpose::Validation {
            // Nothing takes long before the account and the group are known.
            self.ground.accounts.verify(&put.scope).await?;
        }
        let group = alias.as_ref().map(|alias| &alias.group);
        let default_tags = match planned {
            Some(planned) => planned.default_tags.clone(),
            None => self.types.default_tags(put, group),
        };
        let named_parts = match &name {
            Some(name) => Some(parts(&schema, name)?),
            None => None,
        };
        let properties = Value::Object(put.properties.clone());
        let is_quick = schema.is_quick_for([&properties]);
        let last = alias.as_ref().and_then(|alias| alias.reference.as_ref());
        let last = last.map(|reference| LastApplied::of(reference, &schema));
        let (declaration, text) = if is_quick {
            parse(
                properties,
                &schema,
                &default_tags,
                named_parts.as_ref(),
                last.as_ref(),
                purpose,
            )?
        } else {
            let (schema, default_tags) = (Arc::clone(&schema), default_tags.clone());
            let (last, room) = (last.map(LastApplied::owned), caller.room.clone());
            let parse = move || {
                let _judging = room.aside(schema.checks_of(&properties).bytes())?;
                parse(
                    properties,
                    &schema,
                    &default_tags,
                    named_parts.as_ref(),
                    last.as_ref(),
                    purpose,
                )
            };
            self.ground.pool.run(parse).await??
        };
        if let (Purpose::Preview, Some(tracked_by)) = (purpose, &put.tracked_by)
            && compares_secrets(&declaration, alias.as_ref(), &schema)
        {
            // Whether a secret is the one that was put is told to those alone who may put another.
            self.types
                .reference_id(tracked_by, &schema, (caller, Right::Write))?;
            caller.judge_type(Right::Write, &put.scope, schema.type_name(), "write")?;
        }
        let identifier = match (name, names_it(&declaration, &schema)) {
            (Some(name), _) => Some(name),
            (None, Some(identifier)) => Some(Identifier::parse(identifier.as_str())?),
            (None, None) => None,
        };
        if reference.is_none() && identifier.is_none() {
            self.judge_label(put, &schema)?;
        }
        Ok(Declared {
            schema,
            reference,
            alias,
            identifier,
            declaration,
            default_tags,
            is_quick,
            text,
        })
    }

    /// Refuses an alias that nobody would remember, of a resource that AWS names: each put would create another one.
    fn judge_label(&self, put: &PutResource, schema: &ResourceSchema) -> Result<(), Rejection> {
        match (&put.label, self.types.untracked_alias) {
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
}

/// Returns whether values that no read returns are declared, and would be compared with those that were put before.
fn compares_secrets(
    declaration: &Declaration,
    alias: Option<&RecordedAlias>,
    schema: &ResourceSchema,
) -> bool {
    let reference = alias.and_then(|alias| alias.reference.as_ref());
    let baseline = reference.and_then(Reference::last_put);
    let declared = declaration.properties();
    baseline.is_some_and(|baseline| !baseline.digests.is_empty())
        && schema.without_write_only(declared) != *declared
}

/// Returns whether a put is certainly a create: nothing says which resource it could be about.
fn is_surely_create(identifier: Option<&Identifier>, alias: Option<&RecordedAlias>) -> bool {
    let reference = alias.and_then(|alias| alias.reference.as_ref());
    identifier.is_none() && reference.is_none()
}

/// Returns the outcome of a put that was accepted. If the worker has found nothing to do, it has no operation.
fn accepted_outcome(
    schema: &ResourceSchema,
    operation: Operation,
    properties: Map<String, Value>,
    warnings: Vec<Warning>,
) -> Result<PutOutcome, Rejection> {
    let outcome = outcome(schema, &operation.work, properties, warnings)?;
    let is_under_way = verdict_of(&operation) != Verdict::NothingToDo;
    Ok(PutOutcome {
        operation: is_under_way.then_some(operation),
        ..outcome
    })
}

/// Returns the outcome of a put that changes nothing.
fn outcome(
    schema: &ResourceSchema,
    work: &Work,
    properties: Map<String, Value>,
    warnings: Vec<Warning>,
) -> Result<PutOutcome, Rejection> {
    let work = work
        .resource()
        .ok_or_else(|| Rejection::Internal("a put was taken for an operation on a group".into()))?;
    Ok(PutOutcome {
        type_name: schema.type_name().clone(),
        scope: work.scope.clone(),
        identifier: work.target().map(|target| target.identifier.clone()),
        operation: None,
        is_unchanged: false,
        properties,
        warnings,
    })
}

/// Returns the live properties that are stored with the operation or the reference.
fn live(operation: &Operation, reference: Option<Reference>) -> Option<Value> {
    let work = operation.work.resource()?;
    if work.result.is_some() {
        return work.result.clone();
    }
    // The properties observed of a resource that is gone do not describe its successor.
    let takes_its_place = work.created || work.replacing.is_some();
    reference.filter(|_| !takes_its_place)?.observed
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
