//! Watches: which process follows the requests in flight of an AWS account and region, for all operations that wait there.

use async_trait::async_trait;
use ucp_model::{OperationId, RequestToken, Timestamp};

use crate::{Error, LeaseTerm};

/// The watch over the requests in flight of an AWS account and region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Who keeps it.
    pub owner: String,
    /// When others may take it, at the earliest.
    pub expires_at: Timestamp,
    /// Until when those who wait may rely on it: an end is seen, or the watch is found to have failed, by then.
    pub works_until: Timestamp,
}

/// An AWS account and region in which operations wait for requests in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingScope {
    /// Its [key](ucp_model::operation::Work::scope_key).
    pub scope: String,
    /// Whether at least as many operations wait as were asked for.
    pub is_crowded: bool,
    /// The watch over it, if somebody keeps one, or has not ended it.
    pub watch: Option<Watch>,
}

impl WaitingScope {
    /// Returns whether it is to be watched, or to be watched no longer.
    pub fn concerns(&self) -> bool {
        self.is_crowded || self.watch.is_some()
    }
}

/// An operation that waits for a request in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingOperation {
    /// The operation.
    pub id: OperationId,
    /// The request.
    pub request: RequestToken,
    /// When it asks after the request itself.
    pub due_at: Timestamp,
}

/// Storage of watches, and of what they see. An operation waits here if its request is
/// [in flight](ucp_model::operation::Work::request_in_flight) as far as its latest step knows.
#[async_trait]
pub trait Watches: Send + Sync {
    /// Returns the scopes in which `least` operations or more wait, and those that have a watch, in the order of their keys.
    async fn list_waiting_scopes(&self, least: usize) -> Result<Vec<WaitingScope>, Error>;

    /// Takes the watch over a scope, or prolongs it from `now`. Returns whether `owner` keeps it: another does as long as theirs has
    /// not expired. `works_until` counts if it is later than what was promised before.
    async fn keep_watch(
        &self,
        scope: &str,
        owner: &str,
        works_until: Option<Timestamp>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<bool, Error>;

    /// Ends the watch over a scope, if `owner` keeps it.
    async fn end_watch(&self, scope: &str, owner: &str) -> Result<(), Error>;

    /// Returns up to `limit` operations that wait in a scope, in the order of their requests, after `after`.
    async fn list_waiting_operations(
        &self,
        scope: &str,
        after: Option<&RequestToken>,
        limit: usize,
    ) -> Result<Vec<WaitingOperation>, Error>;

    /// Makes those of the operations that wait and are not due at `now` due at `due_at`, earlier or later than they were, but
    /// not later than [they ask themselves](ucp_model::operation::Work::asks_by). One that is to be cancelled never becomes due
    /// later. One that is being written at this moment may stay as it is. Returns how many were changed.
    async fn reschedule_waiting(
        &self,
        ids: &[OperationId],
        now: Timestamp,
        due_at: Timestamp,
    ) -> Result<u64, Error>;
}
