use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use ucp_model::{Identifier, ReferenceId, Scope};

use crate::body::Event;

/// What the named groups hold.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The resources in the groups, no address twice.
    pub resources: Vec<Deployed>,
    /// The events that applied refactors of any of the groups brought, in order.
    pub events: Vec<Event>,
}

/// A resource that an alias stands for.
#[derive(Clone, Debug)]
pub struct Deployed {
    /// Its address.
    pub address: ReferenceId,
    /// Its environment: the account and region.
    pub scope: Scope,
    /// Its primary identifier; `None` while it is being created.
    pub identifier: Option<Identifier>,
    /// The declaration of its last put, with AWS's values for references to other resources. `None` if it was imported
    /// and never put.
    pub declared: Option<Value>,
    /// The values of its read-only properties, by JSON Pointer.
    pub attributes: BTreeMap<String, Value>,
    /// The properties that its default tags are, in the form of its type: `{"Tags": [{"Key": "team", "Value": "x"}]}`.
    pub default_tags: Value,
    /// The places of write-only values in the declaration, as JSON Pointers.
    pub write_only: BTreeSet<String>,
    /// Which write-only values were last put.
    pub secrets: LastSecrets,
}

/// What is known of the write-only values that were last put of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastSecrets {
    /// There were none.
    #[default]
    None,
    /// They can be compared with others.
    Known,
    /// Nothing can be said of them: a later put may have sent others, or their digests have another key.
    Unknown,
}
