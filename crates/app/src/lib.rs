//! What a request may do, one function per use case.
//!
//! Handlers call these functions and nothing else. They validate, claim and record. Of AWS they see what [`LiveReader`]
//! shows: every mutation is an operation that the engine carries out.

mod accounts;
mod credentials;
mod delete;
mod delete_group;
mod identifier;
mod import;
mod import_group;
mod intake;
mod live;
mod operations;
mod planes;
mod put;
mod read;
mod references;
mod rejection;
pub mod resealing;
mod resource_groups;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use ucp_model::{Clock, CorrelationId, DefaultTags, Entropy, Timestamp};
use ucp_schema::ResourceTypes;
use ucp_seal::Keys;
use ucp_store::Store;

pub use accounts::Accounts;
pub use credentials::{CredentialPage, PutCredential};
pub use delete::{DeleteOutcome, DeleteResource};
pub use delete_group::DeleteGroupOutcome;
pub use identifier::Selector;
pub use import::{ImportOutcome, ImportResource, Warning};
pub use import_group::ImportGroupItem;
pub use live::LiveReader;
pub use operations::OperationQuery;
pub use put::{PutOutcome, PutResource};
pub use read::{LivePage, LiveResource, ReadResource};
pub use references::GroupView;
pub use rejection::Rejection;
pub use ucp_store::place;
pub use ucp_store::{Precondition, ReferenceUpdate, Status, Tags};

/// What an application is made of.
pub struct Parts {
    /// What `ucp` remembers.
    pub store: Arc<dyn Store>,
    /// What AWS shows.
    pub live: Arc<dyn LiveReader>,
    /// The resource types.
    pub types: Arc<dyn ResourceTypes>,
    /// The tags that the configuration gives to resources.
    pub default_tags: DefaultTags,
    /// Which AWS accounts can be reached.
    pub accounts: Arc<dyn Accounts>,
    /// The keys of the documents.
    pub keys: Arc<Keys>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// Woken when an operation was accepted.
    pub workers: Arc<dyn Wake>,
    /// Woken when an operation has moved on in this process.
    pub moved: Arc<Notify>,
}

/// Wakes those who carry operations out.
pub trait Wake: Send + Sync {
    /// There may be something to do.
    fn wake(&self);
}

/// The use cases.
pub struct App {
    parts: Parts,
}

/// Who asks, and as a part of what.
#[derive(Clone, Debug)]
pub struct Caller {
    /// For the history.
    pub name: String,
    /// Ties the calls of one deployment together.
    pub correlation_id: CorrelationId,
    /// How long the request may wait for the verdict.
    pub verdict_wait: Duration,
    /// How long the request may wait until a group is deleted.
    pub group_delete_wait: Duration,
}

impl App {
    /// An application of `parts`.
    pub fn new(parts: Parts) -> Self {
        Self { parts }
    }

    /// Whether the store answers.
    pub async fn is_ready(&self) -> Result<(), Rejection> {
        Ok(self.parts.store.ping().await?)
    }

    /// A fresh uuid for a request or a correlation.
    pub fn fresh_id(&self) -> String {
        self.parts.entropy.uuid("request-id").to_string()
    }

    fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }
}
