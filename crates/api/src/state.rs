//! State shared by all handlers.

use std::time::Duration;

use ucp_app::App;

use crate::guard::AllowedHosts;
use crate::path_base::PathBase;

/// Settings of the API.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a request waits for the verdict on its plan before the reply is 201 or 202.
    pub verdict_wait: Duration,
    /// How long a DELETE waits for the group to be deleted before the reply is 202.
    pub group_delete_wait: Duration,
    /// The `Retry-After` of running operations.
    pub retry_after: Duration,
    /// The accepted values of `Host`.
    pub allowed_hosts: AllowedHosts,
    /// The path under which planes are served.
    pub path_base: PathBase,
}

impl Settings {
    /// The `Retry-After` in whole seconds, at least 1.
    pub(crate) fn retry_after_seconds(&self) -> u64 {
        self.retry_after.as_secs().max(1)
    }
}

/// The use cases and the settings.
pub(crate) struct Api {
    pub(crate) app: App,
    pub(crate) settings: Settings,
}
