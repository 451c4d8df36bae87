use async_trait::async_trait;
use ucp_model::{
    CorrelationId, Leftover, LeftoverId, OperationId, ProvisioningState, Register, Timestamp,
};

use super::Memory;
use super::tables::page;
use crate::rules::{self, Claimant};
use crate::{Error, KeyRange, Leftovers, NewOperation, Retried};

#[async_trait]
impl Leftovers for Memory {
    async fn list_leftovers(
        &self,
        register: &Register,
        after: Option<OperationId>,
        limit: usize,
    ) -> Result<Vec<Leftover>, Error> {
        let tables = self.tables();
        if let Register::Group(group) = register {
            tables.group(group)?;
        }
        let keys = KeyRange::below_register(register, after);
        Ok(page(&tables.leftovers, keys, limit))
    }

    async fn count_leftovers(&self, limit: usize) -> Result<usize, Error> {
        Ok(self.tables().leftovers.len().min(limit))
    }

    async fn get_leftover(&self, id: &LeftoverId) -> Result<Option<Leftover>, Error> {
        Ok(self.tables().leftovers.get(&id.key()).cloned())
    }

    async fn forget_leftover(
        &self,
        id: &LeftoverId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let mut tables = self.tables();
        let Some(leftover) = tables.leftovers.remove(&id.key()) else {
            return Ok(false);
        };
        let event = rules::forgot_leftover(&leftover, caller, correlation_id, now);
        tables.events.push(event);
        Ok(true)
    }

    async fn claim_due_leftovers(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Leftover>, Error> {
        let mut tables = self.tables();
        let rows = tables.leftovers.iter();
        let mut due: Vec<(Timestamp, String)> = rows
            .filter(|(_, leftover)| leftover.is_tried() && leftover.next_try_at <= now)
            .map(|(key, leftover)| (leftover.next_try_at, key.clone()))
            .collect();
        due.sort_unstable();
        due.truncate(limit);
        let mut claimed = Vec::new();
        for (_, key) in due {
            if let Some(leftover) = tables.leftovers.get_mut(&key) {
                leftover.next_try_at = until;
                claimed.push(leftover.clone());
            }
        }
        claimed.sort_unstable_by(|one: &Leftover, other| one.id.cmp(&other.id));
        Ok(claimed)
    }

    async fn retry_leftover(&self, id: &LeftoverId, new: NewOperation) -> Result<Retried, Error> {
        let mut tables = self.tables();
        let Some(leftover) = tables.leftovers.get(&id.key()) else {
            return Ok(Retried::Gone);
        };
        if leftover.abandoned {
            return Ok(Retried::Abandoned);
        }
        if let Some(reference) = leftover.undecided() {
            tables.refuse_deletion(&reference.group)?;
            let known = tables.references.get(&reference.key());
            known.map(rules::refuse_busy).transpose()?;
            let is_undecided =
                known.is_some_and(|known| known.provisioning_state == ProvisioningState::Unknown);
            if !is_undecided {
                let reference = reference.clone();
                tables.abandon(&reference);
                return Ok(Retried::Abandoned);
            }
            let new = rules::resolving(leftover, new);
            let accepted = tables.accept(new, Claimant::Anyone)?;
            return Ok(Retried::Accepted(Box::new(accepted.operation)));
        }
        let target = leftover.target().map(|target| target.key());
        if let Some(target) = &target {
            let recorded = tables.recorded(target);
            if let Some(busy) = recorded.holder {
                return Err(Error::Busy(busy));
            }
            if recorded.is_referenced {
                tables.settle(target);
                return Ok(Retried::Referenced);
            }
        }
        let accepted = tables.accept(new, Claimant::Anyone)?;
        Ok(Retried::Accepted(Box::new(accepted.operation)))
    }
}
