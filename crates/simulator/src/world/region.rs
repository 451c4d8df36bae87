use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use ucp_model::{Entropy, Timestamp};

use super::change::Change;
use crate::exception::{Exception, ExceptionCode};
use crate::request::{Caller, ResourceDescription};
use crate::resource_type::ResourceType;

/// How long a request is remembered.
const REQUEST_LIFE: Duration = Duration::from_hours(7 * 24);
/// How long a client token stands for its request.
const CLIENT_TOKEN_LIFE: Duration = Duration::from_hours(36);

/// Type name and identifier.
pub(super) type ResourceKey = (String, String);

/// What an account has in a region.
#[derive(Default)]
pub(super) struct Region {
    pub(super) resources: BTreeMap<ResourceKey, Resource>,
    /// The requests, by the order of their acceptance.
    changes: BTreeMap<u64, Change>,
    /// When each change in flight moves next.
    due: BTreeSet<(Timestamp, u64)>,
    /// The resources that a change in flight holds.
    busy: BTreeMap<ResourceKey, u64>,
    request_tokens: BTreeMap<String, u64>,
    client_tokens: BTreeMap<String, u64>,
    next: u64,
}

/// A resource that exists.
#[derive(Clone)]
pub(super) struct Resource {
    pub(super) resource_type: Arc<ResourceType>,
    /// All properties, the write-only ones included.
    pub(super) model: Value,
}

impl Resource {
    /// The properties that AWS tells.
    pub(super) fn visible(&self) -> Value {
        self.resource_type.schema.without_write_only(&self.model)
    }

    pub(super) fn description(&self, identifier: &str) -> ResourceDescription {
        ResourceDescription {
            identifier: identifier.to_owned(),
            properties: self.visible().to_string(),
        }
    }
}

impl Region {
    /// Does everything that is due, in order, and forgets old requests.
    pub(super) fn settle(&mut self, caller: &Caller, now: Timestamp, entropy: &dyn Entropy) {
        while let Some((at, number)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, number));
            let Some(mut change) = self.changes.remove(&number) else {
                continue;
            };
            change.advance(self, caller, at, entropy);
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

    /// Takes in a new request.
    pub(super) fn accept(&mut self, change: Change) {
        let number = self.next;
        self.next += 1;
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
            self.busy.entry(key).or_insert(number);
        }
        self.changes.insert(number, change);
    }

    fn release(&mut self, number: u64, change: &Change) {
        if let Some(at) = change.due {
            self.due.remove(&(at, number));
        }
        if let Some(key) = change.key()
            && self.busy.get(&key) == Some(&number)
        {
            self.busy.remove(&key);
        }
    }

    /// Another resource that names this one as a whole value somewhere in its model.
    pub(super) fn user_of(&self, key: &ResourceKey) -> Option<&ResourceKey> {
        let mut others = self.resources.iter().filter(|(other, _)| *other != key);
        let user = others.find(|(_, resource)| names(&resource.model, &key.1));
        user.map(|(user, _)| user)
    }

    /// The request of this token.
    pub(super) fn change(&self, request_token: &str) -> Result<&Change, Exception> {
        let number = self.request_tokens.get(request_token);
        number
            .and_then(|number| self.changes.get(number))
            .ok_or_else(|| {
                Exception::new(
                    ExceptionCode::RequestTokenNotFound,
                    format!("Request with token {request_token} was not found"),
                )
            })
    }

    /// Changes the request of this token.
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

    /// The request that was made with this client token, as long as AWS remembers.
    pub(super) fn change_of_client(&self, token: &str, now: Timestamp) -> Option<&Change> {
        let change = self.changes.get(self.client_tokens.get(token)?)?;
        (now.since(change.accepted_at) < CLIENT_TOKEN_LIFE).then_some(change)
    }

    /// The change in flight that holds a resource.
    pub(super) fn change_in_flight(&self, key: &ResourceKey) -> Option<&Change> {
        self.changes.get(self.busy.get(key)?)
    }

    /// Whether an identifier is taken, or about to be.
    pub(super) fn is_taken(&self, key: &ResourceKey) -> bool {
        self.resources.contains_key(key) || self.busy.contains_key(key)
    }

    /// The requests with their numbers, the latest first, starting below `before`.
    pub(super) fn changes_before(&self, before: u64) -> impl Iterator<Item = (u64, &Change)> {
        let earlier = self.changes.range(..before).rev();
        earlier.map(|(number, change)| (*number, change))
    }
}

fn names(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(elements) => elements.iter().any(|element| names(element, name)),
        Value::Object(members) => members.values().any(|member| names(member, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
