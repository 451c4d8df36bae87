use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::retry_class::Class;
use crate::{Action, Failure, Timestamp};

/// A change that failed and is made again, with what its tries have come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retrying {
    /// The change.
    pub action: Action,
    /// What the latest failure calls for.
    pub class: Class,
    /// How many tries have failed in that class.
    pub tries: u32,
    /// When the first of them failed.
    pub since: Timestamp,
    /// The tries that failed in other classes: each class is put up with within a bound of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<Class, Tries>,
    /// Why the latest failed.
    pub failure: Failure,
    /// Whether AWS named the resource of the latest try, a create.
    #[serde(default)]
    pub is_named: bool,
}

/// The tries of a change that failed in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tries {
    /// How many there were.
    pub count: u32,
    /// When the first failed.
    pub since: Timestamp,
}

impl Retrying {
    /// Returns the tries that failed in each class.
    pub(super) fn by_class(&self) -> BTreeMap<Class, Tries> {
        let latest = Tries {
            count: self.tries,
            since: self.since,
        };
        let mut all = self.others.clone();
        all.insert(self.class, latest);
        all
    }

    /// Returns how many tries have failed in all.
    pub fn tries_in_all(&self) -> u32 {
        let others = self.others.values().map(|tries| tries.count);
        others.fold(self.tries, u32::saturating_add)
    }

    /// Returns when the first try failed.
    pub fn first_failed_at(&self) -> Timestamp {
        let others = self.others.values().map(|tries| tries.since);
        others.fold(self.since, Ord::min)
    }
}
