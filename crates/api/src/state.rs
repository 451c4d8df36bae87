//! State shared by all handlers.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::runtime::Handle;
use ucp_app::{App, InFlight};
use ucp_audit::Auditor;
use ucp_authentication::Authenticator;
use ucp_listen::AllowedHosts;
use ucp_metrics::Metrics;
use ucp_rates::{Limits, Rates};
use utoipa::ToSchema;

use crate::large_bodies::LargeBodies;
use crate::path_base::PathBase;

/// Settings of the API.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a request may look at AWS. If it learns nothing from that, it is accepted, and waits for the rest of
    /// this time for the verdict of its operation before the reply is 201 or 202.
    pub verdict_wait: Duration,
    /// How long a DELETE waits for the group to be deleted before the reply is 202.
    pub group_delete_wait: Duration,
    /// The time in which a request must be answered, besides the time that it may wait for its operation.
    pub request_timeout: Duration,
    /// The `Retry-After` of running operations.
    pub retry_after: Duration,
    /// How often callers may send requests.
    pub rates: Rates,
    /// The accepted values of `Host`.
    pub allowed_hosts: AllowedHosts,
    /// The path under which planes are served.
    pub path_base: PathBase,
    /// Whether tokens and passwords travel to the server in clear, as far as it knows.
    pub in_clear: bool,
    /// The version of the server.
    pub version: Version,
}

/// The version of the server.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Version {
    /// The release.
    #[schema(example = "0.1.0")]
    pub version: String,
    /// The commit it was built from, or `unknown` if it was built without git.
    #[schema(example = "6c6151e0d1f4f0a5c0f9c0d1b2a3948576fedcba")]
    pub commit: String,
}

impl Settings {
    /// The time in which every request must be answered.
    pub(crate) fn deadline(&self) -> Duration {
        let waits = self.verdict_wait.max(self.group_delete_wait);
        self.request_timeout.saturating_add(waits)
    }

    /// The `Retry-After` in whole seconds, at least 1.
    pub(crate) fn retry_after_seconds(&self) -> u64 {
        self.retry_after.as_secs().max(1)
    }
}

/// The use cases, the audit, who calls, what is counted, and the settings.
pub(crate) struct Api {
    pub(crate) app: Arc<App>,
    pub(crate) auditor: Auditor,
    pub(crate) authenticator: Authenticator,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) settings: Settings,
    /// The runtime of the API. What calls the store is run there: its connections belong to it.
    pub(crate) runtime: Handle,
    /// The bodies that are in memory until they are read.
    pub(crate) bodies: Arc<InFlight>,
    /// The memory that requests work with.
    pub(crate) work: Arc<InFlight>,
    /// The places of large bodies.
    pub(crate) large_bodies: LargeBodies,
}
