use std::collections::VecDeque;

use serde::Serialize;
use ucp_model::Timestamp;

use crate::faults::Effect;
use crate::request::Action;

/// The maximum number of entries.
const CAPACITY: usize = 100_000;

/// A call that the simulator received, including refused calls and those with dropped replies.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// The name of the call.
    pub operation: Action,
    /// The resource type of the call.
    pub type_name: Option<String>,
    /// The primary identifier in the call.
    pub identifier: Option<String>,
    /// The caller's idempotency key.
    pub client_token: Option<String>,
    /// The token of the resource request that the call named or started.
    pub request_token: Option<String>,
    /// The role that Cloud Control was asked to use, or that was assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_arn: Option<String>,
    /// The external id that the role was assumed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// When the call was received.
    #[serde(serialize_with = "rfc3339")]
    pub time: Timestamp,
    /// The caller's account.
    pub account: String,
    /// The caller's region.
    pub region: String,
    /// `replied`, `dropped`, `hung`, or the name of the exception.
    pub outcome: &'static str,
    /// The effects of faults on the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Effect>,
}

fn rfc3339<S: serde::Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}

/// The latest calls, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Log(VecDeque<LogEntry>);

impl Log {
    pub(crate) fn record(&mut self, entry: LogEntry) {
        if self.0.len() == CAPACITY {
            self.0.pop_front();
        }
        self.0.push_back(entry);
    }

    pub(crate) fn entries(&self) -> impl DoubleEndedIterator<Item = &LogEntry> {
        self.0.iter()
    }
}
