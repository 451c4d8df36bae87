use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_access::Right;
use ucp_model::operation::{Kind, Options, Verdict};
use ucp_model::{Operation, Reference, Scope, Target, TypeName, Warning};
use ucp_store::NewOperation;

use crate::declaring::{Purpose, unsupported};
use crate::identifier::identifier;
use crate::looks::looking::Outlook;
use crate::looks::settling::{TRIES, changes_too_fast};
use crate::operations::intake::{Subject, verdict_of};
use crate::{Caller, Rejection, ResourceCases, TrackedBy};

/// An import of one resource.
#[derive(Clone)]
pub struct ImportResource {
    /// The scope.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The reference.
    pub tracked_by: Option<TrackedBy>,
    /// The identifier of the resource.
    pub primary_identifier: Option<String>,
    /// The parts of the identifier, if it is not given as a whole; other properties are ignored.
    pub properties: Map<String, Value>,
    /// Whether the reference shall own the resource.
    pub owned: bool,
}

/// The result of an import so far.
#[derive(Debug)]
pub enum ImportOutcome {
    /// The alias stands for the resource.
    Imported(Box<Reference>, Vec<Warning>),
    /// The operation is under way, or has ended without success.
    Accepted(Box<Operation>),
}

impl ResourceCases {
    /// Imports an existing resource under an alias: looks at it, and records the reference. If the look takes too long, an
    /// operation does it.
    pub async fn import_resource(
        &self,
        import: ImportResource,
        caller: &Caller,
    ) -> Result<ImportOutcome, Rejection> {
        let imported = Box::pin(self.try_import(import, caller)).await;
        imported.map_err(|refused| refused.shown_to(caller))
    }

    async fn try_import(
        &self,
        import: ImportResource,
        caller: &Caller,
    ) -> Result<ImportOutcome, Rejection> {
        let schema = self.types.schema(&import.scope, &import.type_name).await?;
        let Some(tracked_by) = &import.tracked_by else {
            return Err(Rejection::bad_request(
                "/trackedBy: an import requires the id of the reference to create.",
            ));
        };
        let reference = self
            .types
            .reference_id(tracked_by, &schema, (caller, Right::Write))?;
        let identifier = identifier(
            &schema,
            import.primary_identifier.as_deref(),
            import.properties,
        )?;
        if !schema.handlers().read {
            return Err(unsupported(&schema, "imported"));
        }
        self.ground.accounts.verify(&import.scope).await?;
        let options = Options {
            take_ownership: import.owned,
            ..Options::default()
        };
        let target = Target {
            scope: &import.scope,
            type_name: schema.type_name(),
            identifier: &identifier,
        };
        let deadline = Instant::now() + caller.verdict_wait;
        for _ in 0..TRIES {
            let subject = Subject {
                scope: import.scope.clone(),
                reference: Some(reference.clone()),
                identifier: Some(identifier.clone()),
            };
            let mut new = self.operations.new_resource_operation(
                Kind::Import,
                subject,
                options,
                &schema,
                caller,
            );
            let alias = self
                .looks
                .recorded_alias(Some(&reference), Purpose::Change)
                .await?;
            let recorded = self.looks.recorded(alias, Some(&target)).await?;
            match self
                .looks
                .outlook(&mut new, recorded, &schema, None, deadline)
                .await?
            {
                Outlook::Nothing(nothing) => {
                    if let Some(reference) = self.looks.settle(&nothing, caller).await? {
                        let warnings = nothing.warnings.clone();
                        let reference = Box::new(reference.into_owned());
                        return Ok(ImportOutcome::Imported(reference, warnings));
                    }
                }
                Outlook::Stale => {}
                Outlook::Refused(failure) => return Err(Rejection::Refused(failure)),
                Outlook::Change(_) | Outlook::Open => {
                    return self.accept_import(new, deadline, caller).await;
                }
            }
        }
        Err(changes_too_fast())
    }

    async fn accept_import(
        &self,
        new: NewOperation,
        deadline: Instant,
        caller: &Caller,
    ) -> Result<ImportOutcome, Rejection> {
        let Some(accepted) = self.operations.accept(new, None, None, caller).await? else {
            return Err(Rejection::Internal(
                "an import was taken for a delete".into(),
            ));
        };
        let operation = self
            .operations
            .verdict(accepted.pending, deadline, caller)
            .await?;
        match self.imported(&operation).await? {
            Some(reference) => Ok(ImportOutcome::Imported(
                Box::new(reference),
                operation.work.warnings().to_vec(),
            )),
            None => Ok(ImportOutcome::Accepted(Box::new(operation))),
        }
    }

    /// Returns the reference that a successful import created, unless it has been removed since.
    pub async fn imported(&self, operation: &Operation) -> Result<Option<Reference>, Rejection> {
        match operation.work.reference() {
            Some(id) if verdict_of(operation) == Verdict::NothingToDo => {
                Ok(self.ground.store.get_reference(id).await?)
            }
            Some(_) | None => Ok(None),
        }
    }
}
