//! Shared by puts, deletes and imports: resolves types and reference ids, accepts operations, waits for their verdicts.

use std::sync::Arc;

use tokio::time::Instant;
use ucp_access::Right;
use ucp_model::operation::{Kind, Options, Verdict, Work};
use ucp_model::{
    GroupId, Identifier, Operation, OperationId, Reference, ReferenceId, Scope, TypeName,
};
use ucp_schema::ResourceSchema;
use ucp_store::{NewLook, NewOperation, NewResourceWork, NewWork, Sealed};

use crate::awaiting::Pending;
use crate::refusal::policy_lowered;
use crate::{App, Caller, Rejection, TrackedBy};

impl App {
    /// Returns the schema of a type that a request names, in a region that it may name. The name of the type compares
    /// case-insensitively.
    pub(crate) async fn schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, Rejection> {
        self.admit_region(scope)?;
        self.recorded_schema(scope, type_name).await
    }

    /// Returns the schema of the type of a reference. What there is can be deleted, in any region.
    pub(crate) async fn recorded_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, Rejection> {
        let schema = self.parts.types.get(scope, type_name).await;
        schema.map_err(|unknown| Rejection::unknown_type(type_name, unknown))
    }

    /// Parses `trackedBy`: the id of a reference, or of a group in which `alias` names one. The type must be that of
    /// `schema`, whose canonical spelling it gets. The caller needs the right over its group.
    pub(crate) fn reference_id(
        &self,
        tracked_by: &TrackedBy,
        schema: &ResourceSchema,
        (caller, right): (&Caller, Right),
    ) -> Result<ReferenceId, Rejection> {
        let id = parsed(tracked_by, schema)?;
        let verb = match right {
            Right::Read => "read",
            Right::Write | Right::Approve | Right::ManageCredentials | Right::ManageAccess => {
                "write"
            }
        };
        let action = format!("{}/{verb}", id.arm_type());
        caller.judge_group(right, &id.group, &action)?;
        Ok(id)
    }

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
        self.admit_operation(kind, &new.caller, &work.scope, reference.as_ref())
            .await?;
        let waiter = self.parts.awaiting.announce(new.id);
        let accepted = match self.parts.store.accept_operation(new).await {
            Ok(accepted) => accepted,
            Err(ucp_store::Error::NoSuchReference) => return Ok(None),
            Err(ucp_store::Error::PreconditionFailed) if kind == Kind::Put => return Ok(None),
            Err(error) => {
                return Err(match (error, &reference) {
                    (ucp_store::Error::PolicyLowered, Some(id)) => {
                        policy_lowered(&id.group, caller)
                    }
                    (error, _) => self.refusal(error, reference.as_ref()).await,
                });
            }
        };
        self.parts.workers.wake();
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
        let id = OperationId(self.parts.entropy.uuid("operation"));
        self.new_operation(id, work, caller)
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
            accepted_at: self.now(),
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

fn parsed(tracked_by: &TrackedBy, schema: &ResourceSchema) -> Result<ReferenceId, Rejection> {
    let TrackedBy { id, alias } = tracked_by;
    if let Ok(group) = id.parse::<GroupId>() {
        let alias = alias.as_deref().ok_or_else(|| {
            Rejection::bad_request(
                "/alias: is required, since trackedBy is the id of a resource group. Add it, or use the id of the reference.",
            )
        })?;
        let id = ReferenceId::new(group, schema.type_name().clone(), alias);
        return id
            .map_err(|error| Rejection::bad_request_at("/alias", format!("/alias: {error}.")));
    }
    let id: ReferenceId = id.parse().map_err(|error| {
        Rejection::bad_request_at("/trackedBy", format!("/trackedBy: {error}."))
    })?;
    if !id
        .type_name
        .as_str()
        .eq_ignore_ascii_case(schema.type_name().as_str())
    {
        return Err(Rejection::bad_request(format!(
            "/trackedBy: the type is {}, but that of the URL is {}. Use the same type in both.",
            id.type_name.arm(),
            schema.type_name().arm()
        )));
    }
    Ok(ReferenceId {
        type_name: schema.type_name().clone(),
        ..id
    })
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
