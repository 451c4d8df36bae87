//! Operations on groups.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_access::Right;
use ucp_model::operation::OnShared;
use ucp_model::operation::group::{ImportItem, Task};
use ucp_model::{
    Detail, Ended, ErrorCode, Failure, GroupId, Operation, ReferenceId, Scope, TypeName, Warning,
};
use ucp_store::{GroupDeletion, Precondition};

use crate::declaring::unsupported;
use crate::ground::refusal::no_such_group;
use crate::identifier::identifier;
use crate::operations::awaiting::Pending;
use crate::{Caller, GroupCases, Rejection};

/// The maximum number of resources in one request.
pub(crate) const ITEMS_MAX: usize = 1_000;

/// The maximum number of types in one request, of all accounts and regions. Each may have to be looked up in AWS.
pub(crate) const TYPES_MAX: usize = 100;

/// One resource to import into a group.
#[derive(Clone)]
pub struct ImportGroupItem {
    /// The scope.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The alias.
    pub alias: String,
    /// The identifier of the resource.
    pub primary_identifier: Option<String>,
    /// The parts of the identifier, if it is not given as a whole.
    pub properties: Map<String, Value>,
    /// Whether the reference shall own the resource.
    pub owned: bool,
}

/// The result of deleting a group so far.
#[derive(Debug)]
pub enum DeleteGroupOutcome {
    /// The group did not exist.
    AlreadyGone,
    /// The group has been removed. What it has given up to other groups.
    Deleted(Vec<Warning>),
    /// The operation is under way, or has ended without success.
    Accepted(Box<Operation>),
}

impl GroupCases {
    /// Deletes a group with the resources that it owns, and waits for a limited time until that is done. Does not wait
    /// if the group is already being deleted, or for a caller who has left.
    pub async fn delete_resource_group(
        &self,
        id: &GroupId,
        precondition: &Precondition,
        on_shared: OnShared,
        caller: &Caller,
    ) -> Result<DeleteGroupOutcome, Rejection> {
        let task = match on_shared {
            OnShared::Refuse => Task::Delete,
            OnShared::Release => Task::DeleteUnshared,
        };
        let mut new = self.operations.new_group_operation(id, task, caller);
        if on_shared == OnShared::Release {
            let references = match self.ground.store.list_outlines(id).await {
                Err(ucp_store::Error::NoSuchGroup) => Vec::new(),
                other => other?,
            };
            let going = references.iter().map(|reference| reference.id.key());
            let going: BTreeSet<String> = going.collect();
            let heirs = self
                .ground
                .heirs(references.iter().map(Deref::deref), &going, caller);
            new.set_heirs(heirs.await?);
        }
        let waiter = self.operations.awaiting.announce(new.id);
        // The store says what there is to be judged, and accepts the deletion only if it still owns no more than that.
        let mut deletable = if caller.rights.change_everything() {
            None
        } else {
            Some(BTreeSet::new())
        };
        let operation = loop {
            let store = &self.ground.store;
            // The roles over the group go with it.
            let _changing = self.permissions.assignments.changing();
            let deletion =
                store.delete_resource_group(new.clone(), precondition, deletable.as_ref());
            match deletion.await {
                Ok(GroupDeletion::Absent) => return Ok(DeleteGroupOutcome::AlreadyGone),
                Ok(GroupDeletion::Removed) => return Ok(DeleteGroupOutcome::Deleted(Vec::new())),
                Ok(GroupDeletion::Running(operation)) => {
                    return Ok(DeleteGroupOutcome::Accepted(operation));
                }
                Ok(GroupDeletion::Accepted(operation)) => break *operation,
                Ok(GroupDeletion::Owns(places)) => {
                    for (place, type_name) in &places {
                        caller.judge_type(Right::Write, place, type_name, "delete")?;
                    }
                    deletable = Some(places);
                }
                Err(ucp_store::Error::Busy(running)) => {
                    return Err(self.ground.busy(running).await.shown_to(caller));
                }
                Err(ucp_store::Error::PreconditionFailed) => {
                    return Err(Rejection::precondition_failed(id));
                }
                Err(ucp_store::Error::Shared(others)) => {
                    return Err(Rejection::Shared(others).shown_to(caller));
                }
                Err(error) => return Err(error.into()),
            }
        };
        self.operations.group_operation_accepted(&operation, id);
        let pending = Pending { operation, waiter };
        let deadline = Instant::now() + caller.group_delete_wait;
        let operation = pending.until(deadline, caller.recipient.left(), Operation::is_terminal);
        let operation = operation.await;
        Ok(match operation.ended() {
            Some(Ended::Succeeded) => {
                let given_up = operation.work.group().map(|work| work.given_up.clone());
                DeleteGroupOutcome::Deleted(given_up.unwrap_or_default())
            }
            Some(Ended::Failed(_) | Ended::Canceled(_)) | None => {
                DeleteGroupOutcome::Accepted(Box::new(operation))
            }
        })
    }

    /// Imports existing resources under aliases of a group. `items` may contain errors found by the caller; they are
    /// reported together with those found here.
    pub async fn import_into_group(
        &self,
        group: &GroupId,
        items: Vec<Result<ImportGroupItem, Detail>>,
        caller: &Caller,
    ) -> Result<Operation, Rejection> {
        if items.is_empty() || items.len() > ITEMS_MAX {
            let message = format!(
                "/resources: an import accepts 1 to {ITEMS_MAX} resources, not {}.",
                items.len()
            );
            return Err(Rejection::bad_request_at("/resources", message));
        }
        for item in items.iter().flatten() {
            caller.judge_type(Right::Write, &item.scope, &item.type_name, "import/action")?;
        }
        let items = self.checked(group, items).await?;
        let scopes: BTreeSet<&Scope> = items.iter().map(|item| &item.scope).collect();
        for scope in scopes {
            self.ground.accounts.verify(scope).await?;
        }
        self.allowances
            .admit_import(group, &caller.name, items.len())
            .await?;
        let new = self
            .operations
            .new_group_operation(group, Task::Import(items), caller);
        let operation = match self.ground.store.accept_operation(new).await {
            Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
            Err(ucp_store::Error::GroupDeleting(running)) => {
                return Err(self.ground.busy(running).await);
            }
            other => other?.operation,
        };
        self.operations.group_operation_accepted(&operation, group);
        Ok(operation)
    }

    /// Checks all items and returns them, or all errors.
    async fn checked(
        &self,
        group: &GroupId,
        items: Vec<Result<ImportGroupItem, Detail>>,
    ) -> Result<Vec<ImportItem>, Rejection> {
        let mut checked = Vec::with_capacity(items.len());
        let mut details = Vec::new();
        let mut first: BTreeMap<String, usize> = BTreeMap::new();
        refuse_too_many_types(&items)?;
        for (index, item) in items.into_iter().enumerate() {
            let item = match item {
                Ok(item) => match self.item(group, item).await {
                    Err(Rejection::Invalid(failure)) => Err(wrong(index, &failure)),
                    other => Ok(other?),
                },
                Err(detail) => Err(detail),
            };
            match item {
                Ok(item) => match first.insert(item.reference.key(), index) {
                    None => checked.push(item),
                    Some(other) => details.push(wrong(
                        index,
                        &Failure::new(
                            ErrorCode::BadRequest,
                            format!("/resources/{other} has the same alias."),
                        ),
                    )),
                },
                Err(detail) => details.push(detail),
            }
        }
        if details.is_empty() {
            Ok(checked)
        } else {
            Err(not_as_given(details))
        }
    }

    async fn item(&self, group: &GroupId, item: ImportGroupItem) -> Result<ImportItem, Rejection> {
        let schema = self.types.schema(&item.scope, &item.type_name).await?;
        if !schema.handlers().read {
            return Err(unsupported(&schema, "imported"));
        }
        let type_name = schema.type_name().clone();
        let whole = item.primary_identifier.as_deref();
        Ok(ImportItem {
            reference: ReferenceId::new(group.clone(), type_name, &item.alias)?,
            identifier: identifier(&schema, whole, item.properties)?,
            scope: item.scope,
            owned: item.owned,
        })
    }
}

/// Refuses resources of more types than may be looked up, before any is.
fn refuse_too_many_types(items: &[Result<ImportGroupItem, Detail>]) -> Result<(), Rejection> {
    let mut types: BTreeSet<(&Scope, &TypeName)> = BTreeSet::new();
    let mut details = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Ok(item) = item else { continue };
        let looked_up = (&item.scope, &item.type_name);
        if types.len() < TYPES_MAX || types.contains(&looked_up) {
            types.insert(looked_up);
        } else {
            details.push(wrong(index, &too_many_types()));
        }
    }
    if details.is_empty() {
        Ok(())
    } else {
        Err(not_as_given(details))
    }
}

fn not_as_given(details: Vec<Detail>) -> Rejection {
    let message = "Some of the resources cannot be imported as given. Nothing was stored. Correct what the details name.";
    Rejection::Invalid(Failure::new(ErrorCode::BadRequest, message).with_details(details))
}

fn too_many_types() -> Failure {
    let message = format!(
        "The resources before it are of {TYPES_MAX} types already, as counted for each account and region. Import it in \
         another request."
    );
    Failure::new(ErrorCode::BadRequest, message)
}

fn wrong(index: usize, failure: &Failure) -> Detail {
    Detail::at(
        failure.code.as_str(),
        failure.message.as_str(),
        format!("/resources/{index}"),
    )
}
