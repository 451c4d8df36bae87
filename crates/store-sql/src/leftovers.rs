//! The register of leftovers.

use async_trait::async_trait;
use ucp_model::{
    CorrelationId, Leftover, LeftoverId, OperationId, ProvisioningState, Reference, ReferenceId,
    Register, Timestamp,
};
use ucp_store::rules::{self, Claimant};
use ucp_store::{Error, KeyRange, Leftovers, NewOperation, Retried};

use crate::database::{Abort, Transaction, transaction};
use crate::{Sql, accept, busy, events, groups, leftover_row};

#[async_trait]
impl Leftovers for Sql {
    async fn list_leftovers(
        &self,
        register: &Register,
        after: Option<OperationId>,
        limit: usize,
    ) -> Result<Vec<Leftover>, Error> {
        if let Register::Group(group) = register {
            groups::get(&self.database, group).await?;
        }
        let keys = KeyRange::below_register(register, after);
        leftover_row::list(&self.database, keys, limit).await
    }

    async fn count_leftovers(&self, limit: usize) -> Result<usize, Error> {
        leftover_row::count(&self.database, limit).await
    }

    async fn get_leftover(&self, id: &LeftoverId) -> Result<Option<Leftover>, Error> {
        leftover_row::get(&self.database, id).await
    }

    async fn forget_leftover(
        &self,
        id: &LeftoverId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<bool, Error> {
        transaction!(self, |tx| async {
            let Some(leftover) = leftover_row::delete(&mut tx, id).await? else {
                return Ok(false);
            };
            let event = rules::forgot_leftover(&leftover, caller, correlation_id, now);
            events::append(&mut tx, &event, leftover.reference.as_ref()).await?;
            Ok(true)
        })
    }

    async fn claim_due_leftovers(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Leftover>, Error> {
        transaction!(self, |tx| leftover_row::claim(&mut tx, now, until, limit))
    }

    async fn retry_leftover(&self, id: &LeftoverId, new: NewOperation) -> Result<Retried, Error> {
        transaction!(self, |tx| retry(&mut tx, id, &new))
    }
}

/// Accepts an operation that finds out what came of a create. The reference is locked first, so that nobody decides
/// meanwhile, and what the register knows of the create is read then.
async fn resolve(
    transaction: &mut Transaction,
    id: &LeftoverId,
    reference: &ReferenceId,
    new: &NewOperation,
) -> Result<Retried, Abort> {
    let alias = accept::alias(transaction, reference, Claimant::Anyone).await?;
    let Some(leftover) = leftover_row::find(transaction, id).await? else {
        return Ok(Retried::Gone);
    };
    if leftover.abandoned {
        return Ok(Retried::Abandoned);
    }
    let known = alias.reference.as_ref();
    known.map(rules::refuse_busy).transpose()?;
    let is_undecided = |known: &Reference| known.provisioning_state == ProvisioningState::Unknown;
    if !known.is_some_and(is_undecided) {
        leftover_row::abandon(transaction, reference).await?;
        return Ok(Retried::Abandoned);
    }
    let new = rules::resolving(&leftover, new.clone());
    let accepted = accept::accept(transaction, &new, Claimant::Anyone).await?;
    Ok(Retried::Accepted(Box::new(accepted.operation)))
}

/// Accepts an operation on a leftover. The AWS resource is locked first, so that no reference comes to stand for it
/// meanwhile.
async fn retry(
    transaction: &mut Transaction,
    id: &LeftoverId,
    new: &NewOperation,
) -> Result<Retried, Abort> {
    let Some(leftover) = leftover_row::find(transaction, id).await? else {
        return Ok(Retried::Gone);
    };
    if leftover.abandoned {
        return Ok(Retried::Abandoned);
    }
    if let Some(reference) = leftover.undecided() {
        return resolve(transaction, id, reference, new).await;
    }
    if let Some(target) = leftover.target().map(|target| target.key()) {
        busy::lock(transaction, &target).await?;
        // What was forgotten or settled meanwhile is not deleted.
        if leftover_row::find(transaction, id).await?.is_none() {
            return Ok(Retried::Gone);
        }
        let recorded = busy::find(transaction, &target).await?;
        if let Some(busy) = recorded.holder {
            return Err(Error::Busy(busy).into());
        }
        if recorded.is_referenced {
            leftover_row::settle(transaction, &target).await?;
            return Ok(Retried::Referenced);
        }
    }
    let accepted = accept::accept(transaction, new, Claimant::Anyone).await?;
    Ok(Retried::Accepted(Box::new(accepted.operation)))
}
