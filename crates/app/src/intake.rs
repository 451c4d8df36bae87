//! What puts, deletes and imports share: resolving types and reference ids, accepting an operation, waiting for its verdict.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use ucp_model::operation::{Kind, Options, Verdict, Work};
use ucp_model::{
    Detail, ErrorCode, Failure, GroupId, Identifier, Operation, OperationId, Reference,
    ReferenceId, Scope, TypeName,
};
use ucp_schema::ResourceSchema;
use ucp_store::{NewOperation, NewResourceWork, NewWork, Sealed};

use crate::{App, Caller, Rejection};

/// How often a waiting request looks for the verdict of another process's worker.
const VERDICT_POLL: Duration = Duration::from_millis(50);

/// What an operation is to be accepted with.
pub(crate) struct Intake {
    pub(crate) id: OperationId,
    pub(crate) kind: Kind,
    pub(crate) scope: Scope,
    pub(crate) reference: Option<ReferenceId>,
    pub(crate) identifier: Option<Identifier>,
    pub(crate) options: Options,
    pub(crate) desired: Option<Sealed>,
}

impl App {
    /// The schema of a type in any letter case.
    pub(crate) async fn schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, Rejection> {
        let schema = self.parts.types.get(scope, type_name).await;
        schema.map_err(|unknown| Rejection::unknown_type(type_name, unknown))
    }

    /// The reference that `trackedBy` names, with the canonical spelling of its type, which must be `schema`'s.
    pub(crate) fn reference_id(
        &self,
        tracked_by: &str,
        schema: &ResourceSchema,
    ) -> Result<ReferenceId, Rejection> {
        let id: ReferenceId = tracked_by
            .parse()
            .map_err(|error| Rejection::bad_request(format!("trackedBy: {error}")))?;
        if !id
            .type_name
            .as_str()
            .eq_ignore_ascii_case(schema.type_name().as_str())
        {
            return Err(Rejection::bad_request(format!(
                "trackedBy names an {}, but the URL an {}. Use the same type in both.",
                id.type_name.arm(),
                schema.type_name().arm()
            )));
        }
        Ok(ReferenceId {
            type_name: schema.type_name().clone(),
            ..id
        })
    }

    /// Claims the alias and records the operation, in one transaction, once it is sure that AWS calls land in the account
    /// that is named. `None` when it is a delete of what is not referenced.
    pub(crate) async fn accept(
        &self,
        intake: Intake,
        schema: &ResourceSchema,
        caller: &Caller,
    ) -> Result<Option<(Operation, Option<Reference>)>, Rejection> {
        let Intake {
            id,
            kind,
            scope,
            reference,
            identifier,
            options,
            desired,
        } = intake;
        self.parts.accounts.verify(&scope).await?;
        let work = NewWork::Resource(NewResourceWork {
            kind,
            scope,
            type_name: schema.type_name().clone(),
            reference: reference.clone(),
            identifier,
            options,
            desired,
            schema_fingerprint: schema.fingerprint().to_owned(),
        });
        let new = self.new_operation(id, work, caller);
        let accepted = match self.parts.store.accept_operation(new).await {
            Ok(accepted) => accepted,
            Err(ucp_store::Error::NoSuchReference) => return Ok(None),
            Err(error) => return Err(self.refusal(error, reference.as_ref()).await),
        };
        self.parts.workers.wake();
        tracing::info!(
            operation.id = %accepted.operation.header.id,
            reference.id = reference.as_ref().map(tracing::field::display),
            %kind,
            "operation accepted"
        );
        Ok(Some((accepted.operation, accepted.reference)))
    }

    /// What the store's refusal of an operation on `reference` means to the caller.
    pub(crate) async fn refusal(
        &self,
        error: ucp_store::Error,
        reference: Option<&ReferenceId>,
    ) -> Rejection {
        let alias = reference.map_or("The resource", |id| id.alias.as_str());
        match error {
            ucp_store::Error::NoSuchGroup => match reference {
                Some(reference) => no_such_group(&reference.group),
                None => error.into(),
            },
            ucp_store::Error::Busy(running) | ucp_store::Error::GroupDeleting(running) => {
                self.busy(running).await
            }
            ucp_store::Error::AlreadyReferenced => Rejection::Conflict(Failure::new(
                ErrorCode::Conflict,
                format!(
                    "'{alias}' stands for a resource already, and was left as it is. Use another alias, or delete the reference first."
                ),
            )),
            ucp_store::Error::ReferencedElsewhere(scope) => Rejection::Conflict(Failure::new(
                ErrorCode::Conflict,
                format!(
                    "'{alias}' already stands for a resource in {scope}. Use that account and region, or another alias."
                ),
            )),
            ucp_store::Error::OwnedElsewhere(owner) => Rejection::Conflict(
                Failure::new(
                    ErrorCode::Conflict,
                    format!("The resource is owned by {owner}, and only one reference can own it. Leave ownedResource out."),
                )
                .with_details(vec![Detail::at("OwnedElsewhere", "owns the resource", owner.to_string())]),
            ),
            ucp_store::Error::NoSuchReference
            | ucp_store::Error::PreconditionFailed
            | ucp_store::Error::LeaseLost
            | ucp_store::Error::Unavailable(_)
            | ucp_store::Error::Corrupt(_) => error.into(),
        }
    }

    /// An operation to accept from a request.
    pub(crate) fn new_operation(
        &self,
        id: OperationId,
        work: NewWork,
        caller: &Caller,
    ) -> NewOperation {
        NewOperation {
            id,
            parent: None,
            correlation_id: caller.correlation_id.clone(),
            caller: caller.name.clone(),
            accepted_at: self.now(),
            work,
        }
    }

    /// The refusal of whoever comes while the operation `running` is under way.
    pub(crate) async fn busy(&self, running: OperationId) -> Rejection {
        match self.operation(running).await {
            Ok(operation) => Rejection::Busy(Box::new(operation)),
            Err(rejection) => rejection,
        }
    }

    /// The operation once the engine has decided what to do, or as it is when the caller's patience ends. What has ended
    /// by then without anything sent to AWS is refused. A caller that goes away meanwhile changes nothing.
    pub(crate) async fn verdict(
        &self,
        operation: Operation,
        caller: &Caller,
    ) -> Result<Operation, Rejection> {
        let deadline = Instant::now() + caller.verdict_wait;
        let mut operation = operation;
        while verdict_of(&operation) == Verdict::Undecided && Instant::now() < deadline {
            self.something_moves(deadline).await;
            operation = self.operation(operation.header.id).await?;
        }
        match verdict_of(&operation) {
            Verdict::Refused(failure) => Err(Rejection::Refused(failure.clone())),
            Verdict::Undecided | Verdict::NothingToDo | Verdict::Underway => Ok(operation),
        }
    }

    /// AWS's name for what `trackedBy` stands for, in `scope`.
    pub(crate) async fn identifier_of(
        &self,
        tracked_by: &str,
        schema: &ResourceSchema,
        scope: &Scope,
    ) -> Result<Identifier, Rejection> {
        let id = self.reference_id(tracked_by, schema)?;
        let store = &self.parts.store;
        if let Err(error) = store.get_resource_group(&id.group).await {
            return Err(self.refusal(error, Some(&id)).await);
        }
        let reference = self.get_reference(&id).await?;
        if !reference.scope.is_same_place(scope) {
            let error = ucp_store::Error::ReferencedElsewhere(reference.scope);
            return Err(self.refusal(error, Some(&id)).await);
        }
        reference.identifier.ok_or_else(|| {
            let message = format!(
                "'{}' stands for no AWS resource yet: its creation is under way. Wait until the operation is terminal.",
                id.alias
            );
            Rejection::Missing(Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()))
        })
    }

    /// The operation on a group once it has ended, or as it is when the caller's patience ends.
    pub(crate) async fn group_deletion(
        &self,
        operation: Operation,
        caller: &Caller,
    ) -> Result<Operation, Rejection> {
        let deadline = Instant::now() + caller.group_delete_wait;
        let mut operation = operation;
        while !operation.is_terminal() && Instant::now() < deadline {
            self.something_moves(deadline).await;
            operation = self.operation(operation.header.id).await?;
        }
        Ok(operation)
    }

    /// Until some operation may have moved on, in this process or another one.
    async fn something_moves(&self, deadline: Instant) {
        let wake_up = deadline.min(Instant::now() + VERDICT_POLL);
        tokio::select! {
            () = self.parts.moved.notified() => {}
            () = tokio::time::sleep_until(wake_up) => {}
        }
    }
}

/// What has been decided about a change of one resource.
pub(crate) fn verdict_of(operation: &Operation) -> Verdict<'_> {
    match &operation.work {
        Work::Resource(work) => work.verdict(),
        Work::Group(_) => Verdict::Underway,
    }
}

pub(crate) fn no_such_group(group: &GroupId) -> Rejection {
    Rejection::Missing(
        Failure::new(
            ErrorCode::ResourceGroupNotFound,
            format!(
                "The resource group '{}' does not exist. Create it with a PUT on {group}.",
                group.name
            ),
        )
        .with_target(group.to_string()),
    )
}
