use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ucp_model::{Entropy, Timestamp};

use super::change::Change;
use super::resource::ResourceKey;
use super::resources::Resources;
use crate::faults::Lags;
use crate::request::Caller;

/// How long requests are kept.
const REQUEST_LIFE: Duration = Duration::from_hours(7 * 24);
/// How long a client token identifies its request.
const CLIENT_TOKEN_LIFE: Duration = Duration::from_hours(36);

/// The state of an account in a region.
#[derive(Default)]
pub(super) struct Region {
    pub(super) resources: Resources,
    /// The requests, in the order of their acceptance.
    changes: BTreeMap<u64, Change>,
    /// When the status of each change in flight changes next.
    due: BTreeSet<(Timestamp, u64)>,
    request_tokens: BTreeMap<String, u64>,
    client_tokens: BTreeMap<String, u64>,
}

impl Region {
    /// Does everything that is due, in order, and removes expired requests.
    pub(super) fn settle(
        &mut self,
        caller: &Caller,
        now: Timestamp,
        lags: Option<Lags>,
        entropy: &dyn Entropy,
    ) {
        self.resources.past.keep(lags, now);
        while let Some((at, number)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, number));
            let Some(mut change) = self.changes.remove(&number) else {
                continue;
            };
            change.advance(&mut self.resources, caller, at, entropy);
            self.keep(number, change);
        }
        while let Some(oldest) = self.changes.first_entry() {
            if now.since(oldest.get().accepted_at) < REQUEST_LIFE {
                break;
            }
            let number = *oldest.key();
            let change = oldest.remove();
            self.release(number, &change);
            self.request_tokens.remove(&change.request_token);
            if let Some(token) = &change.client_token
                && self.client_tokens.get(token) == Some(&number)
            {
                self.client_tokens.remove(token);
            }
        }
    }

    /// Adds a new request. Its number is larger than those before.
    pub(super) fn accept(&mut self, number: u64, change: Change) {
        self.request_tokens
            .insert(change.request_token.clone(), number);
        if let Some(token) = &change.client_token {
            self.client_tokens.insert(token.clone(), number);
        }
        self.keep(number, change);
    }

    fn keep(&mut self, number: u64, change: Change) {
        self.release(number, &change);
        if let Some(at) = change.due {
            self.due.insert((at, number));
        }
        if change.holds_resource()
            && let Some(key) = change.key()
        {
            self.resources.hold(key, number, change.lock());
        }
        self.changes.insert(number, change);
    }

    fn release(&mut self, number: u64, change: &Change) {
        if let Some(at) = change.due {
            self.due.remove(&(at, number));
        }
        if let Some(key) = change.key() {
            self.resources.release(&key, number);
        }
    }

    /// Returns the request with this token.
    pub(super) fn change(&self, request_token: &str) -> Option<&Change> {
        self.changes.get(self.request_tokens.get(request_token)?)
    }

    /// Modifies the request with this token.
    pub(super) fn revise(
        &mut self,
        request_token: &str,
        revise: impl FnOnce(&mut Change),
    ) -> Option<&Change> {
        let number = *self.request_tokens.get(request_token)?;
        let mut change = self.changes.remove(&number)?;
        self.release(number, &change);
        revise(&mut change);
        self.keep(number, change);
        self.changes.get(&number)
    }

    /// Returns the request made with this client token, unless the token has expired.
    pub(super) fn change_of_client(&self, token: &str, now: Timestamp) -> Option<&Change> {
        let change = self.changes.get(self.client_tokens.get(token)?)?;
        (now.since(change.accepted_at) < CLIENT_TOKEN_LIFE).then_some(change)
    }

    /// Returns the change in flight that locks a resource.
    pub(super) fn change_in_flight(&self, key: &ResourceKey) -> Option<&Change> {
        self.changes.get(&self.resources.holder(key)?)
    }

    /// Returns the requests with their numbers, newest first, starting below `before`.
    pub(super) fn changes_before(&self, before: u64) -> impl Iterator<Item = (u64, &Change)> {
        let earlier = self.changes.range(..before).rev();
        earlier.map(|(number, change)| (*number, change))
    }
}
