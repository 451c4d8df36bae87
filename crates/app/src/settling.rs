//! The end of a request that changes nothing: what its reference remembers.

use std::time::Duration;

use ucp_model::operation::Work;
use ucp_model::{ErrorCode, Failure, Reference, Timestamp, Warning};
use ucp_store::rules;
use ucp_store::{Adoption, Basis, FinishOperation};

use crate::{App, Caller, Rejection};

/// How often a request that changes nothing renews `observedAt`.
const OBSERVED_EVERY: Duration = Duration::from_secs(60);

/// How often a request that changes nothing starts over because its reference has changed meanwhile.
pub(crate) const TRIES: u32 = 3;

/// The end of an operation that was never accepted, because nothing had to be done.
pub(crate) struct Nothing {
    /// What the caller should know.
    pub(crate) warnings: Vec<Warning>,
    /// The end that the operation would have had.
    pub(crate) finish: FinishOperation,
    /// The reference as it was recorded, if there was one.
    pub(crate) before: Option<Reference>,
    /// The reference as the operation would have claimed it.
    pub(crate) claimed: Option<Reference>,
    /// What the look was judged with.
    pub(crate) basis: Basis,
}

impl Nothing {
    /// Returns the work of the operation, ended.
    pub(crate) fn work(&self) -> &Work {
        &self.finish.operation.work
    }
}

impl App {
    /// Writes what the reference remembers after a request that changed nothing, if that differs from what is recorded.
    /// Returns the reference; `None` if it has changed meanwhile, so that the request has to start over.
    pub(crate) async fn settle(
        &self,
        nothing: &Nothing,
        caller: &Caller,
    ) -> Result<Option<Reference>, Rejection> {
        let Nothing {
            finish,
            before,
            claimed,
            basis,
            ..
        } = nothing;
        let Work::Resource(work) = nothing.work() else {
            return Ok(None);
        };
        let recorded = match (before, claimed) {
            (Some(before), _) => before.clone(),
            // The first revision is yet to be written.
            (None, Some(claimed)) => Reference {
                revision: 0,
                ..claimed.clone()
            },
            (None, None) => return Ok(None),
        };
        let Some(after) = rules::end(recorded, work, finish, false) else {
            return Ok(None);
        };
        let store = &self.parts.store;
        let is_written = match before {
            Some(before)
                if before.identifier == after.identifier && before.owned == after.owned =>
            {
                if !is_news(before, &after) {
                    return Ok(Some(before.clone()));
                }
                store.remember(&after, basis).await? || self.is_remembered(&after).await?
            }
            Some(_) | None => {
                let event = rules::adopted(
                    work.kind,
                    &after,
                    &caller.name,
                    &caller.correlation_id,
                    self.now(),
                );
                let adoption = Adoption {
                    basis: basis.clone(),
                    reference: after.clone(),
                    event,
                };
                match store.adopt(adoption).await {
                    Ok(is_written) => is_written,
                    Err(error) => return Err(self.refusal(error, work.reference.as_ref()).await),
                }
            }
        };
        Ok(is_written.then_some(after))
    }
}

impl App {
    /// Returns whether another request that changed nothing has just written the same. What it has observed may be newer.
    async fn is_remembered(&self, after: &Reference) -> Result<bool, Rejection> {
        let recorded = self.parts.store.get_reference(&after.id).await?;
        Ok(recorded.is_some_and(|recorded| {
            recorded.operation.is_none()
                && recorded.revision >= after.revision
                && recorded.created_at == after.created_at
                && recorded.identifier == after.identifier
                && recorded.baseline == after.baseline
                && recorded.provisioning_state == after.provisioning_state
        }))
    }
}

/// Returns whether there is something to write about a reference that stands for the same resource as before.
fn is_news(before: &Reference, after: &Reference) -> bool {
    let is_old = |at: Timestamp| after.updated_at.since(at) >= OBSERVED_EVERY;
    before.baseline != after.baseline
        || before.observed != after.observed
        || before.provisioning_state != after.provisioning_state
        || before.observed_at.is_some_and(is_old)
}

/// The rejection of a request that was overtaken in each of its [tries](TRIES).
pub(crate) fn changes_too_fast() -> Rejection {
    Rejection::Conflict(Failure::new(
        ErrorCode::Conflict,
        "The resource, or its reference, changes faster than this request can be compared with it. Nothing was sent to AWS. Try again.",
    ))
}
