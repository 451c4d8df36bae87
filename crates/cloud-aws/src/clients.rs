//! The clients of all principals. Callers can name many accounts and regions, so only some are kept.

use std::collections::BTreeMap;

use crate::connections::REPLY_MAX_BYTES;
use tokio::time::Instant;
use ucp_model::{Beyond, Limit, Most};

/// The maximum number of kept clients of all principals together. Two hundred accounts in a region, or five in each,
/// are served without making one twice.
const MAX: usize = 256;

/// What is limited of the clients.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "aws-clients",
        what: "The clients of AWS that a process keeps: one for each identity and region",
        most: Most::Number(MAX),
        beyond: Beyond::Told(
            "The one that was used longest ago goes, if it can one without a session, and is made anew when it is needed.",
        ),
    },
    Limit {
        name: "aws-reply",
        what: "A reply of AWS",
        most: Most::Bytes(REPLY_MAX_BYTES),
        beyond: Beyond::Told(
            "It is read no further, and counts as a reply that has not come: a read is tried again, and what came of a change is found out.",
        ),
    },
];

/// The identity that clients call as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    /// The base credentials.
    Base,
    /// The role in this account.
    Role(String),
    /// The account itself, as emulators do it.
    Emulated(String),
}

impl Name {
    /// Returns whether the clients have a session, which has to start again without them.
    fn has_session(&self) -> bool {
        match self {
            Name::Base | Name::Emulated(_) => false,
            Name::Role(_) => true,
        }
    }
}

/// The clients for one identity and region.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    pub(crate) cloudcontrol: aws_sdk_cloudcontrol::Client,
    pub(crate) cloudformation: aws_sdk_cloudformation::Client,
}

/// The number of a principal, which no other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PrincipalNumber(u64);

/// A principal, an identity of it, and a region.
pub(crate) type Key = (PrincipalNumber, Name, String);

/// Clients by identity and region, `T` in tests.
#[derive(Debug)]
pub(crate) struct Kept<T = Clients> {
    by_key: BTreeMap<Key, Used<T>>,
    principals: u64,
}

#[derive(Debug)]
struct Used<T> {
    clients: T,
    last: Instant,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self {
            by_key: BTreeMap::new(),
            principals: 0,
        }
    }
}

impl<T: Clone> Kept<T> {
    /// Returns the number of a new principal.
    pub(crate) fn number(&mut self) -> PrincipalNumber {
        self.principals += 1;
        PrincipalNumber(self.principals)
    }

    pub(crate) fn get(&mut self, key: &Key) -> Option<T> {
        let used = self.by_key.get_mut(key)?;
        used.last = Instant::now();
        Some(used.clients.clone())
    }

    /// Keeps clients, and evicts others if there are too many: first those without a session, of these the one that was
    /// used longest ago.
    pub(crate) fn insert(&mut self, key: Key, clients: T) {
        if self.by_key.len() >= MAX && !self.by_key.contains_key(&key) {
            let candidates = self.by_key.iter();
            let least =
                candidates.min_by_key(|((_, name, _), used)| (name.has_session(), used.last));
            if let Some(key) = least.map(|(key, _)| key.clone()) {
                self.by_key.remove(&key);
            }
        }
        let last = Instant::now();
        self.by_key.insert(key, Used { clients, last });
    }

    pub(crate) fn remove(&mut self, key: &Key) {
        self.by_key.remove(key);
    }

    /// Removes all clients of a principal, whose credentials they hold.
    pub(crate) fn remove_all(&mut self, of: PrincipalNumber) {
        self.by_key.retain(|(number, _, _), _| *number != of);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn later() {
        tokio::time::advance(Duration::from_secs(1)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn clients_do_not_fill_the_memory_and_sessions_in_use_stay() {
        let mut kept = Kept::default();
        let (one, other) = (kept.number(), kept.number());
        let role = |account: usize| {
            let region = "eu-west-1".to_owned();
            (one, Name::Role(account.to_string()), region)
        };
        let base = |region: usize| (other, Name::Base, region.to_string());
        kept.insert(role(0), "in use");
        for region in 0..2 * MAX {
            kept.insert(base(region), "base");
            later().await;
        }
        assert_eq!(kept.by_key.len(), MAX);
        assert_eq!(kept.get(&base(2 * MAX - 1)), Some("base"));
        assert_eq!(kept.get(&base(0)), None);
        assert_eq!(kept.get(&role(0)), Some("in use"), "others go first");

        for account in 1..2 * MAX {
            kept.insert(role(account), "role");
            later().await;
            assert_eq!(kept.get(&role(0)), Some("in use"));
        }
        assert_eq!(kept.by_key.len(), MAX);
        assert_eq!(kept.get(&role(1)), None);

        kept.insert(base(0), "base");
        kept.remove_all(one);
        assert_eq!(kept.get(&role(0)), None);
        assert_eq!(
            kept.get(&base(0)),
            Some("base"),
            "that of another principal"
        );
    }
}
