//! How much there may be of what requests leave behind, so that nobody can fill the database.
//!
//! Counting costs as much as there is to count, so it is not done for every request. An estimate is kept for each group
//! and plane: what was counted last, and all that was admitted since. It is too high if something has gone in the
//! meantime, so it is counted again before anything is refused. It is too low by what other processes have admitted, so
//! it is counted again after a tenth of the quota, or a minute.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ucp_model::operation::Kind;
use ucp_model::{ErrorCode, Failure, GroupId, ReferenceId, Timestamp};

use crate::{App, Rejection};

/// How long an estimate is good.
const TERM: Duration = Duration::from_secs(60);
/// The number of estimates that are kept. Beyond it all are made anew.
const ESTIMATES_MAX: usize = 10_000;

/// How much there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// The resource groups of a plane.
    pub groups: usize,
    /// The references of a group.
    pub references: usize,
    /// The operations under way in a group.
    pub group_operations: usize,
    /// All operations under way.
    pub operations: usize,
}

impl Default for Quotas {
    /// Far more than a deployment needs, and little enough for the database.
    fn default() -> Self {
        Self {
            groups: 20_000,
            references: 20_000,
            group_operations: 5_000,
            operations: 50_000,
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
enum Counted<'a> {
    /// The groups of the plane of that name.
    Groups(&'a str),
    /// The references of a group.
    References(&'a GroupId),
    /// The operations under way in a group.
    GroupOperations(&'a GroupId),
    /// The operations under way.
    Operations,
}

impl Counted<'_> {
    /// Returns a text that no other has.
    fn key(self) -> String {
        match self {
            Self::Groups(plane) => format!("groups {}", plane.to_lowercase()),
            Self::References(group) => format!("references {}", group.key()),
            Self::GroupOperations(group) => format!("operations {}", group.key()),
            Self::Operations => "operations".to_owned(),
        }
    }
}

/// At least as many as there are, unless other processes have admitted some.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    counted: usize,
    admitted: usize,
    at: Timestamp,
}

impl Estimate {
    /// Returns whether `more` certainly fit, and then counts them in.
    fn admit(&mut self, more: usize, quota: usize, now: Timestamp) -> bool {
        let is_good = now.since(self.at) < TERM && self.admitted <= quota / 10;
        let fits = self.counted + self.admitted + more <= quota;
        if is_good && fits {
            self.admitted += more;
        }
        is_good && fits
    }
}

/// The estimates of this process.
#[derive(Debug, Default)]
pub(crate) struct Estimates(Mutex<HashMap<String, Estimate>>);

impl Estimates {
    /// Returns whether `more` certainly fit.
    fn admit(&self, of: &str, more: usize, quota: usize, now: Timestamp) -> bool {
        let mut estimates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let estimate = estimates.get_mut(of);
        estimate.is_some_and(|estimate| estimate.admit(more, quota, now))
    }

    /// Notes what was counted, and what is admitted now.
    fn note(&self, of: String, counted: usize, admitted: usize, at: Timestamp) {
        let mut estimates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if estimates.len() >= ESTIMATES_MAX {
            estimates.clear();
        }
        let estimate = Estimate {
            counted,
            admitted,
            at,
        };
        estimates.insert(of, estimate);
    }
}

impl App {
    /// Refuses a new group beyond the quota of its plane.
    pub(crate) async fn admit_group(&self, id: &GroupId) -> Result<(), Rejection> {
        let quota = self.parts.quotas.groups;
        if self.admit(Counted::Groups(&id.plane), 1, quota).await? {
            return Ok(());
        }
        match self.parts.store.get_resource_group(id).await {
            Ok(_) => Ok(()),
            Err(ucp_store::Error::NoSuchGroup) => {
                let message = format!(
                    "The plane '{}' has {quota} resource groups, which is its quota. Delete one, or raise --quota-groups.",
                    id.plane
                );
                Err(Rejection::QuotaExceeded(exceeded(message, id.plane_id())))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses an operation that is one too many under way, or that would make a reference beyond the quota of its group.
    pub(crate) async fn admit_operation(
        &self,
        kind: Kind,
        reference: Option<&ReferenceId>,
    ) -> Result<(), Rejection> {
        self.admit_under_way(reference.map(|id| &id.group)).await?;
        match (kind, reference) {
            (Kind::Put | Kind::Import, Some(id)) => self.admit_reference(id).await,
            (Kind::Put | Kind::Import, None) | (Kind::Delete | Kind::Resolve, _) => Ok(()),
        }
    }

    /// Refuses a new reference beyond the quota of its group.
    pub(crate) async fn admit_reference(&self, id: &ReferenceId) -> Result<(), Rejection> {
        let store = &self.parts.store;
        if self.admit_references(&id.group, 1).await? || store.get_reference(id).await?.is_some() {
            return Ok(());
        }
        Err(self.too_many_references(&id.group))
    }

    /// Refuses an import of `more` resources that does not fit into the group.
    pub(crate) async fn admit_import(&self, group: &GroupId, more: usize) -> Result<(), Rejection> {
        self.admit_under_way(Some(group)).await?;
        match self.admit_references(group, more).await? {
            true => Ok(()),
            false => Err(self.too_many_references(group)),
        }
    }

    async fn admit_references(&self, group: &GroupId, more: usize) -> Result<bool, Rejection> {
        let quota = self.parts.quotas.references;
        self.admit(Counted::References(group), more, quota).await
    }

    fn too_many_references(&self, group: &GroupId) -> Rejection {
        let message = format!(
            "The resource group '{}' may have {} references, which is its quota, and would have more. Use another group, delete references, or raise --quota-references.",
            group.name, self.parts.quotas.references
        );
        Rejection::QuotaExceeded(exceeded(message, group))
    }

    async fn admit_under_way(&self, group: Option<&GroupId>) -> Result<(), Rejection> {
        if let Some(group) = group {
            let quota = self.parts.quotas.group_operations;
            if !self
                .admit(Counted::GroupOperations(group), 1, quota)
                .await?
            {
                let message = format!(
                    "{quota} operations are under way in the resource group '{}', which is its quota. Try again when some have ended, or raise --quota-group-operations.",
                    group.name
                );
                return Err(Rejection::TooMany(exceeded(message, group)));
            }
        }
        let quota = self.parts.quotas.operations;
        if self.admit(Counted::Operations, 1, quota).await? {
            return Ok(());
        }
        let message = format!(
            "{quota} operations are under way, which is the quota. Try again when some have ended, or raise --quota-operations."
        );
        Err(Rejection::TooMany(Failure::new(
            ErrorCode::QuotaExceeded,
            message,
        )))
    }

    /// Returns whether `more` fit into the quota.
    async fn admit(&self, of: Counted<'_>, more: usize, quota: usize) -> Result<bool, Rejection> {
        let (key, now) = (of.key(), self.now());
        if self.estimates.admit(&key, more, quota, now) {
            return Ok(true);
        }
        let store = &self.parts.store;
        let counted = match of {
            Counted::Groups(plane) => store.count_resource_groups(plane, quota).await,
            Counted::References(group) => store.count_references(group, quota).await,
            Counted::GroupOperations(group) => {
                store.count_live_operations(Some(group), quota).await
            }
            Counted::Operations => store.count_live_operations(None, quota).await,
        }?;
        let fits = counted + more <= quota;
        let admitted = if fits { more } else { 0 };
        self.estimates.note(key, counted, admitted, now);
        Ok(fits)
    }
}

fn exceeded(message: String, what: impl ToString) -> Failure {
    Failure::new(ErrorCode::QuotaExceeded, message).with_target(what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn estimate(counted: usize) -> Estimate {
        Estimate {
            counted,
            admitted: 0,
            at: NOW,
        }
    }

    #[test]
    fn the_last_one_fits() {
        let mut nearly_full = estimate(98);
        assert!(!nearly_full.admit(3, 100, NOW));
        assert!(nearly_full.admit(1, 100, NOW));
        assert!(nearly_full.admit(1, 100, NOW));
        assert!(!nearly_full.admit(1, 100, NOW));
    }

    #[test]
    fn an_estimate_is_good_for_a_minute_and_a_tenth_of_the_quota() {
        let late = NOW.after(TERM);
        assert!(!estimate(0).admit(1, 100, late));
        let mut used = estimate(0);
        for _ in 0..11 {
            assert!(used.admit(1, 100, NOW));
        }
        assert!(!used.admit(1, 100, NOW));
    }

    #[test]
    fn there_are_not_more_estimates_than_are_kept() {
        let estimates = Estimates::default();
        for number in 0..2 * ESTIMATES_MAX {
            estimates.note(number.to_string(), 0, 0, NOW);
        }
        let kept = estimates.0.lock().unwrap().len();
        assert!(kept <= ESTIMATES_MAX, "{kept}");
    }
}
