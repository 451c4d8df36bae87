use std::collections::BTreeMap;

use ucp_model::operation::ResourceWork;
use ucp_model::operation::group::MemberState;
use ucp_model::{ErrorCode, Failure, GroupId, Operation, OperationId, Timestamp};
use ucp_store::{OperationPage, Status};

use crate::ground::refusal::{no_such_group, no_such_operation, operation_not_found};
use crate::listed::{Filling, USUAL, measured};
use crate::{Caller, Listed, OperationCases, Rejection};

/// A query for the operations of a group.
#[derive(Clone, Copy, Debug)]
pub struct OperationQuery {
    /// Only operations with this status; all if `None`.
    pub status: Option<Status>,
    /// The last operation of the previous page; `None` on the first page.
    pub after: Option<(Timestamp, OperationId)>,
    /// The maximum number of operations.
    pub top: usize,
}

/// How many operations are looked at for a page, about.
const LOOKED_AT: usize = 2_000;
/// The maximum number of operations in one statement.
const PAGE: usize = 100;

impl OperationCases {
    /// Returns an operation that the caller may read, from the store alone.
    pub async fn operation_for(
        &self,
        id: OperationId,
        caller: &Caller,
    ) -> Result<Operation, Rejection> {
        match self.operation(id).await {
            Ok(operation) if caller.reads_operation(&operation) => {
                self.ground.veiled(operation).await
            }
            // The audit, too, does not tell them apart: in the time that it takes.
            Ok(_) | Err(Rejection::Missing(_)) if !caller.rights.are_unlimited() => {
                Err(Rejection::Hidden(operation_not_found(id)))
            }
            Ok(_) => Err(no_such_operation(id)),
            Err(rejection) => Err(rejection),
        }
    }

    /// Returns an operation, from the store alone.
    pub(crate) async fn operation(&self, id: OperationId) -> Result<Operation, Rejection> {
        let operation = self.ground.store.get_operation(id).await?;
        operation.ok_or_else(|| no_such_operation(id))
    }

    /// Returns the latest errors of AWS after which resources of a set go on, by the operations on these resources.
    pub async fn setbacks_of(
        &self,
        operation: &Operation,
    ) -> Result<BTreeMap<OperationId, Failure>, Rejection> {
        let members = operation.work.group().into_iter();
        let running = members
            .flat_map(|work| &work.members)
            .filter(|member| member.state == MemberState::Running)
            .filter_map(|member| member.operation);
        let running: Vec<OperationId> = running.collect();
        let mut setbacks = BTreeMap::new();
        for page in running.chunks(PAGE) {
            for child in self.ground.store.get_operations(page).await? {
                let work = child.work.resource();
                if let Some(failure) = work.and_then(ResourceWork::setback_so_far) {
                    setbacks.insert(child.header.id, failure.clone());
                }
            }
        }
        Ok(setbacks)
    }

    /// Requests the cancellation of a live operation. One on a resource ends `Canceled` only if AWS confirms it; if the
    /// request came too late, it ends as it would have otherwise. One on a group starts no more children and cancels
    /// those that it has started.
    pub async fn cancel_operation(
        &self,
        operation: &Operation,
        caller: &Caller,
    ) -> Result<Operation, Rejection> {
        caller.judge_cancel(operation)?;
        let id = operation.header.id;
        let operation = self
            .ground
            .store
            .request_cancel(id, self.ground.now())
            .await?;
        let operation = operation.ok_or_else(|| no_such_operation(id))?;
        if operation.is_terminal() {
            return Err(Rejection::Conflict(Failure::new(
                ErrorCode::Conflict,
                format!(
                    "Operation {id} has already ended: {}. There is nothing to cancel.",
                    operation.status()
                ),
            )));
        }
        self.workers.wake();
        tracing::info!(operation.id = %id, "cancel requested");
        Ok(operation)
    }

    /// Returns a page of the operations on a group and on its references, latest first, and where the next one starts. A page
    /// has only those that the caller may read: the deployment of a refactor tells of other groups too.
    pub async fn list_operations(
        &self,
        group: &GroupId,
        query: OperationQuery,
        caller: &Caller,
    ) -> Result<(Listed<Operation>, Option<(Timestamp, OperationId)>), Rejection> {
        let mut shown = Filling::up_to(query.top, USUAL, &caller.room);
        let (mut after, mut looked) = (query.after, 0);
        shown.enter().await?;
        loop {
            let limit = shown.to_read();
            let page = OperationPage {
                status: query.status,
                after,
                limit,
            };
            let page = match self.ground.store.list_operations(group, page).await {
                Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
                other => other?,
            };
            // A row that cannot be read is left out.
            let is_end = page.is_empty();
            looked += page.len();
            after = page.last().map(ucp_store::place).or(after);
            for operation in page.into_iter().filter(|it| caller.reads_operation(it)) {
                let operation = self.ground.veiled(operation).await?;
                let work = operation.work.resource();
                let result = work.and_then(|work| work.result.as_ref());
                let bytes = measured(&operation.work, result);
                if !shown.add(operation, bytes) {
                    let next = shown.last().map(ucp_store::place);
                    return Ok((shown.listed(), next));
                }
            }
            if is_end {
                return Ok((shown.listed(), None));
            }
            if looked >= LOOKED_AT {
                return Ok((shown.listed(), after));
            }
        }
    }
}
