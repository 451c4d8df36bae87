//! The end of a request that changes nothing: what its reference remembers.

use std::borrow::Cow;
use std::time::Duration;

use ucp_model::operation::{ReferenceChange, ResourceWork, Work};
use ucp_model::{ErrorCode, Failure, ProvisioningState, Reference, Timestamp, Warning};
use ucp_store::rules;
use ucp_store::{Adoption, Basis, FinishOperation};

use crate::{Caller, Looks, Rejection};

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

    /// Returns whether the reference remembers all of it already, but for what AWS has shown since.
    pub(crate) fn is_remembered(&self) -> bool {
        let Some((before, work)) = self.before.as_ref().zip(self.work().resource()) else {
            return false;
        };
        is_remembered(before, work, &self.finish)
    }
}

impl Looks {
    /// Writes what the reference remembers after a request that changed nothing, if that differs from what is recorded.
    /// Returns the reference; `None` if it has changed meanwhile, so that the request has to start over.
    pub(crate) async fn settle<'a>(
        &self,
        nothing: &'a Nothing,
        caller: &Caller,
    ) -> Result<Option<Cow<'a, Reference>>, Rejection> {
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
        if let Some(before) = before
            && is_as_before(before, work, finish, self.ground.now())
        {
            return Ok(Some(Cow::Borrowed(before)));
        }
        let recorded = match (before, claimed) {
            (Some(before), _) => before.clone(),
            // The first revision is yet to be written.
            (None, Some(claimed)) => Reference {
                revision: 0,
                ..claimed.clone()
            },
            (None, None) => return Ok(None),
        };
        let ended = |owned_elsewhere| rules::end(recorded.clone(), work, finish, owned_elsewhere);
        let Some(mut after) = ended(false) else {
            return Ok(None);
        };
        let store = &self.ground.store;
        let is_written = match before {
            Some(before) if is_same(before, &after) => {
                store.remember(&after, basis).await? || self.is_remembered(&after).await?
            }
            Some(_) | None => {
                if before.is_none() {
                    self.allowances.admit_reference(&after.id).await?;
                }
                let adoption = |reference: &Reference| Adoption {
                    basis: basis.clone(),
                    reference: reference.clone(),
                    event: rules::adopted(
                        work.kind,
                        reference,
                        &caller.name,
                        &caller.correlation_id,
                        self.ground.now(),
                    ),
                };
                let mut adopted = store.adopt(adoption(&after)).await;
                // By its mark alone it does not come to own what another reference has inherited.
                if let (Err(ucp_store::Error::OwnedElsewhere(_)), false, Some(unowned)) =
                    (&adopted, work.options.take_ownership, ended(true))
                {
                    after = unowned;
                    adopted = store.adopt(adoption(&after)).await;
                }
                match adopted {
                    Ok(is_written) => is_written,
                    Err(error) => {
                        return Err(self.ground.refusal(error, work.reference.as_ref()).await);
                    }
                }
            }
        };
        Ok(is_written.then_some(Cow::Owned(after)))
    }

    /// Returns whether another request that changed nothing has just written the same. What it has observed may be newer.
    async fn is_remembered(&self, after: &Reference) -> Result<bool, Rejection> {
        let recorded = self.ground.store.get_reference(&after.id).await?;
        Ok(recorded.is_some_and(|recorded| {
            recorded.operation.is_none()
                && recorded.revision >= after.revision
                && recorded.lineage == after.lineage
                && recorded.created_at == after.created_at
                && recorded.identifier == after.identifier
                && recorded.marked == after.marked
                && recorded.baseline == after.baseline
                && recorded.provisioning_state == after.provisioning_state
        }))
    }
}

/// Returns whether the reference stands for what it stood for before.
pub(crate) fn is_same(before: &Reference, after: &Reference) -> bool {
    before.identifier == after.identifier
        && before.owned == after.owned
        && before.provisioning_state != ProvisioningState::Unknown
}

/// Returns whether the reference remembers already what the end of an operation would write.
fn is_as_before(
    before: &Reference,
    work: &ResourceWork,
    finish: &FinishOperation,
    now: Timestamp,
) -> bool {
    is_observed(before, work, now) && is_remembered(before, work, finish)
}

/// Returns whether the reference has what AWS shows, since not too long ago.
fn is_observed(before: &Reference, work: &ResourceWork, now: Timestamp) -> bool {
    let Some(live) = &work.result else {
        return true;
    };
    let observed_at = before.observed_at;
    let is_recent = observed_at.is_some_and(|at| now.since(at) < OBSERVED_EVERY);
    is_recent && before.observed.as_ref() == Some(live)
}

/// The same without what AWS shows.
fn is_remembered(before: &Reference, work: &ResourceWork, finish: &FinishOperation) -> bool {
    let is_owned = match finish.reference {
        Some(ReferenceChange::Applied { owned }) => before.owned || !owned,
        Some(
            ReferenceChange::Untouched
            | ReferenceChange::Kept { .. }
            | ReferenceChange::Unknown
            | ReferenceChange::Made
            | ReferenceChange::Removed,
        )
        | None => false,
    };
    is_owned
        && before.identifier == work.identifier
        && (before.marked || !work.bears_mark)
        && before.baseline == finish.baseline
        && before.provisioning_state == ProvisioningState::Succeeded
}

/// The rejection of a request that was overtaken in each of its [tries](TRIES).
pub(crate) fn changes_too_fast() -> Rejection {
    Rejection::Conflict(Failure::new(
        ErrorCode::Conflict,
        "The resource, or its reference, changes faster than this request can be compared with it. Nothing was sent to AWS. Try again.",
    ))
}
