//! Waiting for what was ordered.

use tokio::time::Instant;
use ucp_model::operation::GroupWork;
use ucp_model::{Change, ChangeKind, Operation, Reason};

use super::refused::first_cause;
use super::{Ordered, ServiceRejection, ServiceRequest};
use crate::ServiceCases;
use crate::operations::awaiting::Pending;

/// What becomes of an operation that is not done in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Impatience {
    /// It is cancelled.
    Cancels,
    /// It goes on: another request polls it.
    Leaves,
}

impl ServiceCases {
    /// Waits for the end of an order. What is not done in time is cancelled, if this request has placed it.
    pub(super) async fn wait_for(
        &self,
        request: &ServiceRequest<'_>,
        pending: Pending,
        impatience: Impatience,
    ) -> Result<Ordered, ServiceRejection> {
        let deadline = Instant::now() + request.sync_wait;
        let left = request.caller.recipient.left();
        let operation = pending.until(deadline, left, Operation::is_terminal).await;
        if operation.is_terminal() {
            return self.outcome(&operation).await;
        }
        let id = operation.header.id;
        let now = match impatience {
            Impatience::Cancels => {
                let cancelling = self.ground.store.request_cancel(id, self.ground.now());
                cancelling.await.map_err(ServiceRejection::of_store)?
            }
            Impatience::Leaves => self.get_operation(id).await?,
        };
        match now {
            // It has ended at the last moment.
            Some(ended) if ended.is_terminal() => self.outcome(&ended).await,
            now => {
                self.operations.workers.wake();
                // What AWS has answered is told if it can be read.
                let setback = match (impatience, &now) {
                    (Impatience::Cancels, Some(now)) => self.setback_of(now).await.ok().flatten(),
                    (Impatience::Cancels, None) | (Impatience::Leaves, _) => None,
                };
                let setback = setback.filter(|failure| failure.reason() != Reason::Passing);
                let order = operation.work.group().and_then(GroupWork::order);
                let seconds = request.sync_wait.as_secs();
                Err(match (impatience, setback) {
                    // It would go on after this error, and is cancelled instead.
                    (Impatience::Cancels, Some(failure)) => ServiceRejection::Failed {
                        failure: Box::new(failure),
                        instance_usable: None,
                        is_update: order.is_some_and(|order| {
                            order.binding.is_none() && order.kind == ChangeKind::Update
                        }),
                    },
                    (Impatience::Cancels, None) => ServiceRejection::Timeout(seconds),
                    (Impatience::Leaves, _) => ServiceRejection::StillRuns(seconds),
                })
            }
        }
    }

    /// Returns what has come of an operation that has ended.
    async fn outcome(&self, operation: &Operation) -> Result<Ordered, ServiceRejection> {
        let Some(failure) = operation.failure() else {
            return Ok(Ordered::Done(self.left_to_others(operation).await?));
        };
        let order = operation.work.group().and_then(GroupWork::order);
        let kind = order
            .filter(|order| order.binding.is_none())
            .map(|order| order.kind);
        Err(ServiceRejection::Failed {
            failure: Box::new(first_cause(failure)),
            instance_usable: match kind {
                Some(ChangeKind::Update | ChangeKind::Delete) => self.is_usable(operation).await?,
                Some(ChangeKind::Create) | None => None,
            },
            is_update: kind == Some(ChangeKind::Update),
        })
    }

    /// Answers the same request again, while its operation is under way.
    pub(super) async fn again(
        &self,
        request: &ServiceRequest<'_>,
        change: &Change,
        is_sync: bool,
    ) -> Result<Ordered, ServiceRejection> {
        let Some(id) = change.operation else {
            return Err(ServiceRejection::Changed);
        };
        if request.accepts_incomplete {
            return Ok(Ordered::UnderWay(id));
        }
        if !is_sync {
            return Err(ServiceRejection::AsyncRequired);
        }
        let waiter = self.operations.awaiting.announce(id);
        match self.get_operation(id).await? {
            Some(operation) => {
                let pending = Pending { operation, waiter };
                self.wait_for(request, pending, Impatience::Leaves).await
            }
            None => Err(ServiceRejection::Changed),
        }
    }
}
