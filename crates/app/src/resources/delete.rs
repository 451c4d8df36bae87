use std::sync::Arc;

use tokio::time::Instant;
use ucp_access::Right;
use ucp_model::operation::{Kind, OnShared, Options, Verdict, WhenShared};
use ucp_model::{Operation, PlanId, Reference, ReferenceId, Scope, Target, TypeName};
use ucp_schema::ResourceSchema;
use ucp_store::{Forgotten, NewOperation, NewWork, RecordedAlias};

use crate::declaring::{Purpose, unsupported};
use crate::ground::refusal::policy_lowered;
use crate::identifier::{named, told_by};
use crate::looks::looking::{Outlook, View};
use crate::operations::intake::{Subject, verdict_of};
use crate::plans::plan_to_apply::MemberToApply;
use crate::resources::planned_delete::PlannedDelete;
use crate::{Caller, Rejection, ResourceCases, Selector, TrackedBy};

/// A delete of one resource.
#[derive(Clone)]
pub struct DeleteResource {
    /// The scope.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The resource.
    pub resource: Selector,
    /// The plan that it carries out, if any. If that deletes one such resource only, nothing else need be said of it.
    pub plan: Option<PlanId>,
}

/// The result of a delete so far.
#[derive(Debug)]
pub enum DeleteOutcome {
    /// The operation is, or may be, under way.
    Accepted(Box<Operation>),
    /// The reference was removed. The AWS resource was left alone.
    Forgotten,
    /// There was nothing to delete.
    AlreadyGone,
}

impl ResourceCases {
    /// Deletes the AWS resource, owned or not, since the caller named it.
    pub async fn delete_resource(
        &self,
        delete: DeleteResource,
        caller: &Caller,
    ) -> Result<DeleteOutcome, Rejection> {
        let schema = self.types.schema(&delete.scope, &delete.type_name).await?;
        if let Some(plan) = delete.plan {
            let planned = PlannedDelete {
                plan,
                scope: &delete.scope,
                type_name: &delete.type_name,
                resource: &delete.resource,
            };
            return Box::pin(self.carry_out_delete(planned, &schema, caller)).await;
        }
        let (reference, identifier) = match delete.resource {
            Selector::Name(name) => (None, Some(named(&schema, &name)?)),
            Selector::Reference(tracked_by) => {
                let judged = (caller, Right::Write);
                (
                    Some(self.types.reference_id(&tracked_by, &schema, judged)?),
                    None,
                )
            }
            Selector::Parts(properties) => (None, Some(told_by(&schema, properties)?)),
        };
        let subject = Subject {
            scope: delete.scope,
            reference,
            identifier,
        };
        let how = (WhenShared::Delete, None);
        let accepted = Box::pin(self.accept_delete(subject, how, &schema, caller)).await;
        accepted.map_err(|refused| refused.shown_to(caller))
    }

    /// Deletes the AWS resource of a reference, as it was planned. Whatever the request names, the plan says what becomes of what
    /// other references stand for: that was shown.
    async fn carry_out_delete(
        &self,
        planned: PlannedDelete<'_>,
        schema: &Arc<ResourceSchema>,
        caller: &Caller,
    ) -> Result<DeleteOutcome, Rejection> {
        let (reference, planned) = Box::pin(self.planned_delete(planned, caller)).await?;
        let subject = Subject {
            scope: planned.member.scope.clone(),
            reference: Some(reference),
            identifier: None,
        };
        let when_shared = match planned.member.on_shared {
            OnShared::Refuse => WhenShared::Refuse,
            OnShared::Release => WhenShared::Forget,
        };
        let how = (when_shared, Some(&planned));
        let accepted = Box::pin(self.accept_delete(subject, how, schema, caller));
        match accepted.await {
            Ok(accepted) => Ok(accepted),
            Err(refused) => {
                let refused = self.plans.refused_under(planned.used, refused).await;
                Err(refused.shown_to(caller))
            }
        }
    }

    /// Deletes a reference with its AWS resource, as it was planned.
    pub async fn delete_planned_reference(
        &self,
        id: &ReferenceId,
        plan: PlanId,
        caller: &Caller,
    ) -> Result<DeleteOutcome, Rejection> {
        let Some(Reference { id, scope, .. }) = self.ground.store.get_reference(id).await? else {
            return Ok(DeleteOutcome::AlreadyGone);
        };
        caller.judge_type(Right::Write, &scope, &id.type_name, "delete")?;
        let schema = self.types.recorded_schema(&scope, &id.type_name).await?;
        let resource = Selector::Reference(TrackedBy {
            id: id.to_string(),
            alias: None,
        });
        let planned = PlannedDelete {
            plan,
            scope: &scope,
            type_name: &id.type_name,
            resource: &resource,
        };
        Box::pin(self.carry_out_delete(planned, &schema, caller)).await
    }

    /// Deletes a reference, and its AWS resource if it owns it.
    pub async fn delete_reference(
        &self,
        id: &ReferenceId,
        caller: &Caller,
    ) -> Result<DeleteOutcome, Rejection> {
        let store = &self.ground.store;
        let keeps_plan_policy = !caller.may_lower_policy(&id.group);
        let (name, correlation_id) = (&caller.name, &caller.correlation_id);
        match store
            .forget_reference(
                id,
                keeps_plan_policy,
                name,
                correlation_id,
                self.ground.now(),
            )
            .await
        {
            Ok(Forgotten::Forgotten) => Ok(DeleteOutcome::Forgotten),
            Ok(Forgotten::Owned(reference)) => {
                let Reference { id, scope, .. } = *reference;
                caller.judge_type(Right::Write, &scope, &id.type_name, "delete")?;
                let schema = self.types.recorded_schema(&scope, &id.type_name).await?;
                let subject = Subject {
                    scope,
                    reference: Some(id),
                    identifier: None,
                };
                let how = (WhenShared::Refuse, None);
                let accepted = Box::pin(self.accept_delete(subject, how, &schema, caller)).await;
                accepted.map_err(|refused| refused.shown_to(caller))
            }
            Err(ucp_store::Error::NoSuchReference) => Ok(DeleteOutcome::AlreadyGone),
            Err(ucp_store::Error::PolicyLowered) => Err(policy_lowered(&id.group, caller)),
            Err(error) => Err(self.ground.refusal(error, Some(id)).await.shown_to(caller)),
        }
    }

    async fn accept_delete(
        &self,
        subject: Subject,
        (when_shared, planned): (WhenShared, Option<&MemberToApply>),
        schema: &Arc<ResourceSchema>,
        caller: &Caller,
    ) -> Result<DeleteOutcome, Rejection> {
        if !schema.handlers().delete {
            return Err(unsupported(schema, "deleted"));
        }
        let deadline = Instant::now() + caller.verdict_wait;
        let target = subject.identifier.clone();
        let (scope, reference) = (subject.scope.clone(), subject.reference.clone());
        let mut new = self.operations.new_resource_operation(
            Kind::Delete,
            subject,
            Options::default(),
            schema,
            caller,
        );
        if let NewWork::Resource(work) = &mut new.work {
            work.plan = planned.map(|planned| planned.used);
            work.when_shared = when_shared;
            // It may have been given up since it was looked at.
            work.forgets_unowned = planned.is_none() && when_shared == WhenShared::Refuse;
        }
        if let (WhenShared::Forget, Some(id)) = (when_shared, &reference) {
            Box::pin(self.note_heir(&mut new, id, caller)).await?;
        }
        let target = target.as_ref().map(|identifier| Target {
            scope: &scope,
            type_name: schema.type_name(),
            identifier,
        });
        self.ground.accounts.verify(&scope).await?;
        let alias = self
            .looks
            .recorded_alias(reference.as_ref(), Purpose::Change)
            .await?;
        if let Some(RecordedAlias {
            group,
            reference: None,
            ..
        }) = &alias
            && group.body.deletion.is_none()
        {
            return Ok(DeleteOutcome::AlreadyGone);
        }
        let recorded = self.looks.recorded(alias, target.as_ref()).await?;
        let mut view = planned.map(|_| Box::<View>::default());
        let outlook = self.looks.viewed(
            &mut new,
            recorded,
            schema,
            None,
            deadline,
            view.as_deref_mut(),
        );
        let outlook = outlook.await?;
        if let (Some(planned), Some(view)) = (planned, &view) {
            planned.judge_delete(schema, view)?;
        }
        let change = match outlook {
            Outlook::Nothing(_) if self.is_untouched(&new).await? => {
                return Ok(DeleteOutcome::AlreadyGone);
            }
            Outlook::Refused(failure) => return Err(Rejection::Refused(failure)),
            Outlook::Change(change) => Some(change),
            Outlook::Nothing(_) | Outlook::Open | Outlook::Stale => None,
        };
        let look = change.and_then(|change| change.look);
        let look = look
            .map(|look| self.looks.sealed_look(&new, look))
            .transpose()?;
        let Some(accepted) = self.operations.accept(new, None, look, caller).await? else {
            return Ok(DeleteOutcome::AlreadyGone);
        };
        if accepted.keeps_look {
            let operation = accepted.pending.operation;
            return Ok(DeleteOutcome::Accepted(Box::new(operation)));
        }
        let operation = self
            .operations
            .verdict(accepted.pending, deadline, caller)
            .await?;
        if verdict_of(&operation) == Verdict::NothingToDo {
            return Ok(DeleteOutcome::AlreadyGone);
        }
        Ok(DeleteOutcome::Accepted(Box::new(operation)))
    }

    /// Returns whether nothing stands for the resource or works on it. A reference may have come to stand for it since it
    /// was looked up.
    async fn is_untouched(&self, new: &NewOperation) -> Result<bool, Rejection> {
        Ok(self
            .looks
            .recorded_of(new)
            .await?
            .is_idle_and_unreferenced())
    }
}
