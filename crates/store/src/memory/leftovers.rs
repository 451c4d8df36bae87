use async_trait::async_trait;
use ucp_model::{
    CorrelationId, Leftover, LeftoverId, OperationId, ProvisioningState, ReferenceId, Register,
    Timestamp,
};

use super::Memory;
use super::tables::{Tables, page};
use crate::rules::{self, Attempt, Claimant};
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

impl Tables {
    /// Enters a leftover, unless a reference stands for its AWS resource.
    pub(super) fn enter(&mut self, new: Leftover) {
        let target = new.target().map(|target| target.key());
        let target = target.filter(|_| new.undecided().is_none());
        if target.is_some_and(|target| self.recorded(&target).is_referenced) {
            return;
        }
        if let Some(reference) = new.undecided() {
            self.abandon(reference);
        }
        let (register, subject) = (new.id.register.key(), new.subject_key());
        let known = self
            .leftovers
            .values_mut()
            .find(|known| known.id.register.key() == register && known.subject_key() == subject);
        match known {
            Some(known) => {
                *known = Leftover {
                    id: known.id.clone(),
                    since: known.since,
                    ..new
                }
            }
            None => {
                self.leftovers.insert(new.id.key(), new);
            }
        }
    }

    /// Removes every entry of an AWS resource, but for one that a reference waits for.
    pub(super) fn settle(&mut self, target: &str) {
        self.leftovers.retain(|_, leftover| {
            leftover.target().is_none_or(|own| own.key() != target)
                || leftover.undecided().is_some()
        });
    }

    /// Notes that a reference goes on without what its create of unknown outcome may have made. What another reference
    /// stands for is settled.
    pub(super) fn abandon(&mut self, reference: &ReferenceId) {
        let key = reference.key();
        let mut entries = self.leftovers.values_mut();
        let entry =
            entries.find(|leftover| leftover.undecided().is_some_and(|own| own.key() == key));
        let Some(entry) = entry else {
            return;
        };
        entry.abandoned = true;
        let target = entry.target().map(|target| target.key());
        if let Some(target) = target.filter(|target| self.recorded(target).is_referenced) {
            self.settle(&target);
        }
    }

    /// Removes the entry of a reference whose outcome was unknown.
    pub(super) fn decide(&mut self, reference: &ReferenceId) {
        let key = reference.key();
        self.leftovers
            .retain(|_, leftover| leftover.undecided().is_none_or(|own| own.key() != key));
    }

    /// Records a try to find out what came of the create of a reference.
    pub(super) fn note_look(&mut self, reference: &ReferenceId, now: Timestamp) {
        let key = reference.key();
        for leftover in self.leftovers.values_mut() {
            if leftover.undecided().is_some_and(|own| own.key() == key) {
                // What went wrong with the create stays known.
                let error = leftover.last_error.clone();
                *leftover = leftover.clone().tried(error, now);
            }
        }
    }

    /// Records a try of every entry of an AWS resource.
    pub(super) fn note_try(&mut self, attempt: &Attempt) {
        for leftover in self.leftovers.values_mut() {
            if leftover
                .target()
                .is_some_and(|own| own.key() == attempt.target)
            {
                *leftover = leftover
                    .clone()
                    .tried(Some(attempt.error.clone()), attempt.at);
            }
        }
    }

    /// Returns whether the register of a group has what is ours.
    pub(super) fn has_leftovers_of_ours(&self, group: &str) -> bool {
        let mut of_group = self.leftovers.values();
        of_group.any(|leftover| leftover.reason.is_ours() && leftover.id.register.key() == group)
    }

    pub(super) fn has_leftovers(&self, group: &str) -> bool {
        let mut of_group = self.leftovers.values();
        of_group.any(|leftover| leftover.id.register.key() == group)
    }

    /// Removes the register of a group.
    pub(super) fn remove_register(&mut self, group: &str) {
        self.leftovers
            .retain(|_, leftover| leftover.id.register.key() != group);
    }
}
