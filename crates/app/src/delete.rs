use ucp_model::operation::{Kind, Options, Verdict};
use ucp_model::{Identifier, Operation, OperationId, Reference, ReferenceId, Scope, TypeName};
use ucp_schema::ResourceSchema;
use ucp_store::Forgotten;

use crate::identifier::{named, told_by};
use crate::intake::{Intake, verdict_of};
use crate::put::unsupported;
use crate::{App, Caller, Rejection, Selector};

/// A delete of one resource.
#[derive(Clone)]
pub struct DeleteResource {
    /// The scope.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The resource.
    pub resource: Selector,
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

impl App {
    /// Deletes the AWS resource, owned or not, since the caller named it.
    pub async fn delete_resource(
        &self,
        delete: DeleteResource,
        caller: &Caller,
    ) -> Result<DeleteOutcome, Rejection> {
        let schema = self.schema(&delete.scope, &delete.type_name).await?;
        let (reference, identifier) = match delete.resource {
            Selector::Name(name) => (None, Some(named(&schema, &name)?)),
            Selector::Reference(tracked_by) => {
                (Some(self.reference_id(&tracked_by, &schema)?), None)
            }
            Selector::Parts(properties) => (None, Some(told_by(&schema, properties)?)),
        };
        self.accept_delete(delete.scope, reference, identifier, &schema, caller)
            .await
    }

    /// Deletes a reference, and its AWS resource if it owns it.
    pub async fn delete_reference(
        &self,
        id: &ReferenceId,
        caller: &Caller,
    ) -> Result<DeleteOutcome, Rejection> {
        let store = &self.parts.store;
        match store
            .forget_reference(id, &caller.name, &caller.correlation_id, self.now())
            .await
        {
            Ok(Forgotten::Forgotten) => Ok(DeleteOutcome::Forgotten),
            Ok(Forgotten::Owned(reference)) => {
                let Reference { id, scope, .. } = *reference;
                let schema = self.schema(&scope, &id.type_name).await?;
                self.accept_delete(scope, Some(id), None, &schema, caller)
                    .await
            }
            Err(ucp_store::Error::NoSuchReference) => Ok(DeleteOutcome::AlreadyGone),
            Err(error) => Err(self.refusal(error, Some(id)).await),
        }
    }

    async fn accept_delete(
        &self,
        scope: Scope,
        reference: Option<ReferenceId>,
        identifier: Option<Identifier>,
        schema: &ResourceSchema,
        caller: &Caller,
    ) -> Result<DeleteOutcome, Rejection> {
        if !schema.handlers().delete {
            return Err(unsupported(schema, "deleted"));
        }
        let intake = Intake {
            id: OperationId(self.parts.entropy.uuid("operation")),
            kind: Kind::Delete,
            scope,
            reference,
            identifier,
            options: Options::default(),
            desired: None,
        };
        let Some((operation, _)) = self.accept(intake, schema, caller).await? else {
            return Ok(DeleteOutcome::AlreadyGone);
        };
        let operation = self.verdict(operation, caller).await?;
        if verdict_of(&operation) == Verdict::NothingToDo {
            return Ok(DeleteOutcome::AlreadyGone);
        }
        Ok(DeleteOutcome::Accepted(Box::new(operation)))
    }
}
