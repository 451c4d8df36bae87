//! The effects of operations on groups: survey the group and start children.

use std::collections::BTreeMap;

use tracing::debug;
use ucp_model::operation::group::{
    Application, ApplyMember, Child, ChildGoal, Refusal, Survey, Task,
};
use ucp_model::operation::{
    GroupWork, Kind, OnShared, Options, WhenShared, owned_elsewhere, policy_elsewhere,
    shared_elsewhere,
};
use ucp_model::{
    ChangeKind, ErrorCode, Failure, GroupId, MAX_TAGS, OperationId, Order, PlanUse, ReferenceId,
    Register,
};
use ucp_schema::{ResourceSchema, UnknownType};
use ucp_store::{Error, Limit, NewOperation, NewResourceWork, NewWork};

use crate::abandoned::Abandoned;
use crate::engine::Parts;
use crate::stepper::Stepper;

impl Stepper<'_> {
    /// Returns the references of the group and the children so far.
    pub(crate) async fn survey(&mut self) -> Result<Survey, Abandoned> {
        let Parts { store, .. } = self.engine.parts();
        let operation = &self.claimed.operation;
        let Some(work) = operation.work.group() else {
            return Ok(Survey::default());
        };
        let group = &work.group;
        let leftovers = match work.task {
            Task::Delete | Task::DeleteUnshared => {
                let register = Register::Group(group.clone());
                store.list_leftovers(&register, None, usize::MAX).await?
            }
            Task::Import(_) | Task::Apply(_) => Vec::new(),
        };
        let references = match (work.task.needs_references(), work.order()) {
            (false, _) => Vec::new(),
            (true, None) => {
                store
                    .list_references(group, None, None, Limit::items(usize::MAX))
                    .await?
                    .items
            }
            (true, Some(order)) => {
                store
                    .list_service_references(group, &order.instance)
                    .await?
            }
        };
        let children = store.list_children(operation.header.id).await?;
        let has_to_wait = self.has_to_wait(work).await?;
        let works = children.iter().filter_map(|child| child.work.resource());
        self.referred_bytes = works.map(|work| work.referred_bytes).sum();
        Ok(Survey {
            references,
            leftovers,
            children,
            refused: self.refused.clone(),
            outputs: None,
            there: None,
            has_to_wait,
            taken_back: None,
        })
    }

    /// Returns whether the operation that an order comes after has not ended yet.
    async fn has_to_wait(&self, work: &GroupWork) -> Result<bool, Abandoned> {
        let Some(before) = work.order().and_then(|order| order.after) else {
            return Ok(false);
        };
        let before = self.engine.parts().store.get_operation(before).await?;
        Ok(before.is_some_and(|before| !before.is_terminal()))
    }

    /// Starts children, then surveys the group again.
    pub(crate) async fn start(&mut self, children: Vec<Child>) -> Result<Survey, Abandoned> {
        for child in children {
            let key = child.reference.key();
            if let Some(refusal) = self.start_child(child).await? {
                self.refused.insert(key, refusal);
            }
        }
        self.survey().await
    }

    /// Starts a child. Returns the refusal, if it could not be started.
    async fn start_child(&mut self, child: Child) -> Result<Option<Refusal>, Abandoned> {
        let Parts {
            store,
            types,
            clock,
            entropy,
            ..
        } = self.engine.parts();
        let schema = types.get(&child.scope, &child.reference.type_name);
        let lease = &mut self.claimed.lease;
        let schema = self.turn.call_armed(lease, schema).await?;
        let group = child.reference.group.clone();
        let id = OperationId(entropy.uuid("operation"));
        let work = match &child.goal {
            ChildGoal::Put { member, options } => {
                let schema = match &schema {
                    Ok(schema) => schema,
                    Err(unknown) => return Ok(Some(unknown_type(unknown))),
                };
                let work = self.put_work(&child, (*member, *options), schema, id);
                match work.await? {
                    Ok(work) => work,
                    Err(refusal) => return Ok(Some(refusal)),
                }
            }
            ChildGoal::Delete | ChildGoal::DeleteOwned(_) | ChildGoal::Forget => {
                work_on(&child, Kind::Delete, schema.as_deref().ok())
            }
            ChildGoal::Import { .. } => work_on(&child, Kind::Import, schema.as_deref().ok()),
        };
        let work = NewResourceWork {
            when_shared: self.when_shared(&child),
            heir: self.heir_of(&child),
            forgets_unowned: self.order().is_some() || child.goal == ChildGoal::Forget,
            forgets: self
                .member_of(&child)
                .is_some_and(|member| member.is_declared),
            of_instance: self.order().map(|order| order.instance.clone()),
            plan: self.plan_of(&child),
            reference_tags: self.tags_of(work.kind),
            ..work
        };
        let kind = work.kind;
        let header = &self.claimed.operation.header;
        let new = NewOperation {
            id,
            parent: Some(header.id),
            correlation_id: header.correlation_id.clone(),
            caller: header.caller.clone(),
            keeps_plan_policy: false,
            accepted_at: clock.now(),
            work: NewWork::Resource(Box::new(work)),
        };
        match store.accept_child(&self.claimed.lease, new).await {
            Ok(accepted) => {
                debug!(child.id = %accepted.operation.header.id, %kind, "child started");
                Ok(None)
            }
            Err(error) => Ok(Some(refusal(error, &group)?)),
        }
    }
}

impl Stepper<'_> {
    /// Returns what becomes of a child's delete if other references stand for the resource. The deletion of a group takes along those
    /// of the same group.
    fn when_shared(&self, child: &Child) -> WhenShared {
        let work = self.claimed.operation.work.group();
        let order = work.and_then(GroupWork::order);
        match (work.map(|work| &work.task), order) {
            (Some(Task::Delete), _) => WhenShared::RefuseElsewhere,
            (Some(Task::DeleteUnshared), _) => WhenShared::ForgetElsewhere,
            // The platform wants the instance or the binding gone, whatever others have of it.
            (_, Some(order)) if order.kind == ChangeKind::Delete => WhenShared::Forget,
            (Some(Task::Apply(_)), _)
                if child.goal != ChildGoal::Forget
                    && (self.member_of(child))
                        .is_some_and(|member| member.on_shared == OnShared::Release) =>
            {
                WhenShared::Forget
            }
            (Some(Task::Import(_) | Task::Apply(_)) | None, _) => WhenShared::Refuse,
        }
    }

    /// Returns who comes to own what a child gives up to others.
    fn heir_of(&self, child: &Child) -> Option<ReferenceId> {
        let work = self.claimed.operation.work.group()?;
        work.heirs.get(&child.reference.key()).cloned()
    }

    /// Returns the order that the operation carries out.
    fn order(&self) -> Option<&Order> {
        let work = self.claimed.operation.work.group();
        work.and_then(GroupWork::order)
    }

    /// Returns the member of the plan that a child carries out, if its parent carries out a plan.
    fn plan_of(&self, child: &Child) -> Option<PlanUse> {
        let (application, index) = self.place_of(child)?;
        Some(PlanUse {
            plan: application.plan?,
            member: Some(index),
            is_compared: application.members[index].is_compared,
        })
    }

    /// Returns the member of a set that a child carries out.
    fn member_of(&self, child: &Child) -> Option<&ApplyMember> {
        let (application, index) = self.place_of(child)?;
        application.members.get(index)
    }

    /// The same, by its index.
    fn place_of(&self, child: &Child) -> Option<(&Application, usize)> {
        let Task::Apply(application) = &self.claimed.operation.work.group()?.task else {
            return None;
        };
        let key = child.reference.key();
        let mut members = application.members.iter();
        let index = members.position(|member| member.reference.key() == key)?;
        Some((application, index))
    }
}

impl Stepper<'_> {
    /// Returns the tags of what a child puts, if its parent carries out an order.
    fn tags_of(&self, kind: Kind) -> BTreeMap<String, String> {
        let order = self.order().filter(|_| kind == Kind::Put);
        order.map(|order| order.tags.clone()).unwrap_or_default()
    }
}

/// Returns the work of a delete or an import.
fn work_on(child: &Child, kind: Kind, schema: Option<&ResourceSchema>) -> NewResourceWork {
    let (identifier, take_ownership) = match &child.goal {
        ChildGoal::Import {
            identifier,
            take_ownership,
        } => (Some(identifier.clone()), *take_ownership),
        ChildGoal::Delete
        | ChildGoal::DeleteOwned(_)
        | ChildGoal::Forget
        | ChildGoal::Put { .. } => (None, false),
    };
    let owned_since = match &child.goal {
        ChildGoal::DeleteOwned(created_at) => Some(*created_at),
        ChildGoal::Delete
        | ChildGoal::Forget
        | ChildGoal::Import { .. }
        | ChildGoal::Put { .. } => None,
    };
    let is_named_by_aws = schema.is_some_and(ResourceSchema::is_named_by_aws);
    let fingerprint = schema.map(ResourceSchema::fingerprint).unwrap_or_default();
    NewResourceWork {
        // Another resource may have its name by now.
        marked_for: Some(child.reference.clone()).filter(|_| !is_named_by_aws),
        reference: Some(child.reference.clone()),
        identifier,
        owned_since,
        options: Options {
            take_ownership,
            parent_retries: kind == Kind::Delete,
            ..Options::default()
        },
        schema_fingerprint: fingerprint.to_owned(),
        ..NewResourceWork::new(kind, child.scope.clone(), child.reference.type_name.clone())
    }
}

/// Refuses a put of a type whose schema is not there.
fn unknown_type(unknown: &UnknownType) -> Refusal {
    let failure = |code, message: String| Failure::new(code, message);
    match unknown {
        UnknownType::Unreachable(_) | UnknownType::Busy | UnknownType::Store(_) => {
            Refusal::Later(failure(
                ErrorCode::ServiceUnavailable,
                format!("The schema of the type cannot be read: {unknown}. Try again."),
            ))
        }
        UnknownType::Missing { .. } | UnknownType::Refused(_) | UnknownType::Unusable(_) => {
            Refusal::Lasting(failure(
                ErrorCode::TypeNotFoundException,
                format!("The schema of the type cannot be used: {unknown}."),
            ))
        }
    }
}

/// Translates the store's refusal of a child, or returns the error that ends the step.
fn refusal(error: Error, group: &GroupId) -> Result<Refusal, Error> {
    let failure = match error {
        // The next survey sees that it is released, or the next try the other reference that has come meanwhile.
        Error::Busy(_) | Error::NotOwned | Error::PreconditionFailed => return Ok(Refusal::Busy),
        Error::OwnedElsewhere(owner) => {
            let (owner, detail) = owned_elsewhere(&owner, Some(group));
            let message = format!(
                "The resource is owned by {owner}, and only one reference can own it. Leave ownedResource out."
            );
            Failure::new(ErrorCode::Conflict, message).with_details(vec![detail])
        }
        Error::PolicyElsewhere(policy) => policy_elsewhere(policy),
        Error::Shared(others) => {
            shared_elsewhere(&others, |other| other.group.key() == group.key())
        }
        error @ Error::NotOfInstance => {
            let message = format!("Not started: {error}. Give it up with :release, or move it, then try again.");
            Failure::new(ErrorCode::Conflict, message)
        }
        Error::TooManyTags => {
            let message = format!(
                "The reference would have more than {MAX_TAGS} tags. Remove some of it, then try again."
            );
            Failure::new(ErrorCode::Conflict, message)
        }
        // The group has changed since the survey. The next survey will see the change.
        error @ (Error::NoSuchReference
        | Error::AlreadyReferenced
        | Error::OutcomeUnknown
        | Error::ReferencedElsewhere(_)) => {
            Failure::new(ErrorCode::Conflict, format!("Not started: {error}."))
        }
        error @ (Error::NoSuchGroup
        | Error::GroupDeleting(_)
        | Error::PolicyLowered
        | Error::TooManyBindings
        | Error::LeaseLost
        | Error::Unavailable(_)
        // The plan and the policy of the group were judged with the operation that it belongs to.
        | Error::NoSuchPlan
        | Error::NoSuchRefactor
        | Error::RefactorStatus(_)
        | Error::PlanRefused(_)
        | Error::PlanRequired
        | Error::ApprovalRequired
        | Error::OtherKey { .. }
        | Error::Corrupt(_)) => return Err(error),
    };
    Ok(Refusal::Lasting(failure))
}
