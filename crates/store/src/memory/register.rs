//! What operations write into the register of what they have left.

use ucp_model::{Leftover, ReferenceId, Timestamp};

use super::tables::Tables;
use crate::rules::Attempt;

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
