//! The references.

use async_trait::async_trait;
use ucp_model::{CorrelationId, GroupId, Reference, ReferenceId, Timestamp, TypeName};
use ucp_store::{Error, Event, Forgotten, ReferenceUpdate, References, reference_keys, rules};

use crate::database::{Abort, Transaction, transaction};
use crate::reference_row::{self, delete, lock, other_owner, put};
use crate::{Sql, busy, events, groups};

#[async_trait]
impl References for Sql {
    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error> {
        reference_row::get(&self.database, id).await
    }

    async fn list_references(
        &self,
        group: &GroupId,
        type_name: Option<&TypeName>,
        after: Option<&ReferenceId>,
        limit: usize,
    ) -> Result<Vec<Reference>, Error> {
        groups::get(&self.database, group).await?;
        let keys = reference_keys(group, type_name, after);
        reference_row::list(&self.database, keys, limit).await
    }

    async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Reference, Error> {
        transaction!(self, |tx| async {
            let reference = idle(&mut tx, id).await?;
            if let Some(target) = reference.target().map(|target| target.key()) {
                if let Some(busy) = busy::holder(&mut tx, &target).await? {
                    return Err(Error::Busy(busy).into());
                }
                if update.owned == Some(true)
                    && let Some(owner) = other_owner(&mut tx, &target, id).await?
                {
                    return Err(Error::OwnedElsewhere(owner).into());
                }
            }
            let updated = rules::update(reference, update.clone(), now);
            put(&mut tx, &updated).await?;
            let event = rules::updated(&updated, caller, correlation_id, now);
            events::append(&mut tx, &event, Some(id)).await?;
            Ok(updated)
        })
    }

    async fn forget_reference(
        &self,
        id: &ReferenceId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error> {
        transaction!(self, |tx| async {
            let reference = idle(&mut tx, id).await?;
            if reference.owned {
                return Ok(Forgotten::Owned(Box::new(reference)));
            }
            delete(&mut tx, id).await?;
            let event = rules::forgot(&reference, caller, correlation_id, now);
            events::append(&mut tx, &event, Some(id)).await?;
            Ok(Forgotten::Forgotten)
        })
    }

    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error> {
        events::list(&self.database, reference).await
    }
}

/// Returns a reference without a live operation, and locks it and its group until the transaction ends.
async fn idle(transaction: &mut Transaction, id: &ReferenceId) -> Result<Reference, Abort> {
    // The group first, as everywhere: otherwise two transactions could wait for each other.
    let group = groups::share(transaction, &id.group).await?;
    let reference = lock(transaction, id).await?.ok_or(Error::NoSuchReference)?;
    groups::open(group)?;
    rules::refuse_busy(&reference)?;
    Ok(reference)
}
