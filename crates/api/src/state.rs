//! What all handlers share.

use std::time::Duration;

use ucp_app::App;

use crate::guard::AllowedHosts;
use crate::path_base::PathBase;

/// How the API answers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a request waits for the verdict.
    pub verdict_wait: Duration,
    /// How long a request waits until a group is deleted.
    pub group_delete_wait: Duration,
    /// `Retry-After` of running operations.
    pub retry_after: Duration,
    /// Which hosts are ours.
    pub allowed_hosts: AllowedHosts,
    /// Under which path planes are served.
    pub path_base: PathBase,
}

impl Settings {
    /// `Retry-After`, in whole seconds.
    pub(crate) fn retry_after_seconds(&self) -> u64 {
        self.retry_after.as_secs().max(1)
    }
}

/// The use cases, and how their outcomes are answered.
pub(crate) struct Api {
    pub(crate) app: App,
    pub(crate) settings: Settings,
}
