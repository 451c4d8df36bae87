//! Accepts operations, and waits for their verdicts.

use std::collections::BTreeMap;

use tokio::time::Instant;
use ucp_model::operation::group::Task;
use ucp_model::operation::{Kind, Options, Verdict, Work};
use ucp_model::{GroupId, Identifier, Operation, OperationId, Reference, ReferenceId, Scope};
use ucp_schema::ResourceSchema;
use ucp_store::{NewLook, NewOperation, NewResourceWork, NewWork, Sealed};

use crate::ground::refusal::policy_lowered;
use crate::operations::awaiting::Pending;
use crate::{Caller, OperationCases, Rejection};

impl OperationCases {
    /// Claims the alias and records the operation in one transaction. `None` for a delete of an alias that has no reference, and
    /// for a put that has to be compared with more references.
    pub(crate) async fn accept(
        &self,
        mut new: NewOperation,
        desired: Option<Sealed>,
        look: Option<NewLook>,
        caller: &Caller,
    ) -> Result<Option<Accepted>, Rejection> {
        let NewWork::Resource(work) = &mut new.work else {
            return Err(Rejection::Internal("not an operation on a resource".into()));
        };
        work.desired = desired;
        work.look = look;
        // The request has not seen that the resource is gone. Its create may be under way, and a reference come to stand for it.
        work.is_referenced = true;
        let (kind, reference) = (work.kind, work.reference.clone());
        self.allowances
            .admit_operation(kind, &new.caller, &work.scope, reference.as_ref())
            .await?;
        let waiter = self.awaiting.announce(new.id);
        let accepted = match self.ground.store.accept_operation(new).await {
            Ok(accepted) => accepted,
            Err(ucp_store::Error::NoSuchReference) => return Ok(None),
            Err(ucp_store::Error::PreconditionFailed) if kind == Kind::Put => return Ok(None),
            Err(error) => {
                return Err(match (error, &reference) {
                    (ucp_store::Error::PolicyLowered, Some(id)) => {
                        policy_lowered(&id.group, caller)
                    }
                    (error, _) => self.ground.refusal(error, reference.as_ref()).await,
                });
            }
        };
        self.workers.wake();
        tracing::info!(
            operation.id = %accepted.operation.header.id,
            reference.id = reference.as_ref().map(tracing::field::display),
            %kind,
            "operation accepted"
        );
        let ucp_store::Accepted {
            operation,
            reference,
            keeps_look,
        } = accepted;
        Ok(Some(Accepted {
            pending: Pending { operation, waiter },
            reference,
            keeps_look,
        }))
    }

    /// Makes the operation on a resource that a request asks for. Its documents are added when it is accepted.
    pub(crate) fn new_resource_operation(
        &self,
        kind: Kind,
        resource: Subject,
        options: Options,
        schema: &ResourceSchema,
        caller: &Caller,
    ) -> NewOperation {
        let Subject {
            scope,
            reference,
            identifier,
        } = resource;
        let work = NewWork::Resource(Box::new(NewResourceWork {
            marked_for: reference.clone().filter(|_| !schema.is_named_by_aws()),
            reference,
            identifier,
            options,
            schema_fingerprint: schema.fingerprint().to_owned(),
            ..NewResourceWork::new(kind, scope, schema.type_name().clone())
        }));
        let id = OperationId(self.ground.entropy.uuid("operation"));
        self.new_operation(id, work, caller)
    }

    pub(crate) fn new_group_operation(
        &self,
        group: &GroupId,
        task: Task,
        caller: &Caller,
    ) -> NewOperation {
        let id = OperationId(self.ground.entropy.uuid("operation"));
        let group = group.clone();
        let work = NewWork::Group {
            group,
            task,
            declared: None,
            heirs: BTreeMap::new(),
        };
        self.new_operation(id, work, caller)
    }

    pub(crate) fn group_operation_accepted(&self, operation: &Operation, group: &GroupId) {
        self.workers.wake();
        tracing::info!(
            operation.id = %operation.header.id,
            group.id = %group,
            kind = operation.work.kind(),
            "operation accepted"
        );
    }

    /// Makes the operation to accept from a request.
    pub(crate) fn new_operation(
        &self,
        id: OperationId,
        work: NewWork,
        caller: &Caller,
    ) -> NewOperation {
        let group = match &work {
            NewWork::Resource(work) => work.reference.as_ref().map(|reference| &reference.group),
            NewWork::Group { group, .. } => Some(group),
        };
        NewOperation {
            id,
            parent: None,
            correlation_id: caller.correlation_id.clone(),
            caller: caller.name.clone(),
            keeps_plan_policy: group.is_some_and(|group| !caller.may_lower_policy(group)),
            accepted_at: self.ground.now(),
            work,
        }
    }

    /// Waits until the engine has decided what to do, until `deadline`, or until the caller has left, and returns the operation,
    /// which goes on in any case. If it has ended without a call to AWS, its failure is returned instead.
    pub(crate) async fn verdict(
        &self,
        pending: Pending,
        deadline: Instant,
        caller: &Caller,
    ) -> Result<Operation, Rejection> {
        let is_decided = |operation: &Operation| verdict_of(operation) != Verdict::Undecided;
        // What was declared is stored by now.
        caller.room.settle(0)?;
        let operation = pending
            .until(deadline, caller.recipient.left(), is_decided)
            .await;
        match verdict_of(&operation) {
            Verdict::Refused(failure) => Err(Rejection::Refused(failure.clone())),
            Verdict::Undecided | Verdict::NothingToDo | Verdict::Underway => Ok(operation),
        }
    }
}

/// An operation that has been accepted.
pub(crate) struct Accepted {
    pub(crate) pending: Pending,
    /// The reference it works on, as recorded.
    pub(crate) reference: Option<Reference>,
    /// Whether the look that it was accepted with was recorded.
    pub(crate) keeps_look: bool,
}

/// What an operation that a request asks for is about.
pub(crate) struct Subject {
    pub(crate) scope: Scope,
    pub(crate) reference: Option<ReferenceId>,
    /// The identifier, if the request determines it.
    pub(crate) identifier: Option<Identifier>,
}

/// Returns the verdict on an operation.
pub(crate) fn verdict_of(operation: &Operation) -> Verdict<'_> {
    match &operation.work {
        Work::Resource(work) => work.verdict(),
        Work::Group(_) => Verdict::Underway,
    }
}
