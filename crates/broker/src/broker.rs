use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::http::StatusCode;
use ucp_app::{App, InFlight, Platform};
use ucp_audit::Auditor;
use ucp_authentication::Failures;
use ucp_metrics::Metrics;
use ucp_offerings::Offerings;
use ucp_rates::Limits;

use crate::catalog::Catalog;
use crate::lately::Lately;
use crate::platforms::Platforms;

/// What the broker is made of.
#[derive(Clone)]
pub struct Parts {
    /// The use cases.
    pub app: Arc<App>,
    /// Takes the events of requests.
    pub auditor: Auditor,
    /// What is counted.
    pub metrics: Metrics,
    /// Counts failed logins, those of others too.
    pub failures: Arc<Failures>,
    /// Counts the changes that platforms send.
    pub limits: Arc<Limits>,
    /// Returns the status of an ARM error code.
    pub status_of: fn(&str) -> StatusCode,
    /// The memory that requests work with, those of others too.
    pub work: Arc<InFlight>,
}

/// The settings of the broker.
#[derive(Clone)]
pub struct Settings {
    /// What is on offer.
    pub offerings: Arc<Offerings>,
    /// Who orders.
    pub platforms: Arc<Platforms>,
    /// How long a platform that does not poll waits for the end of a change.
    pub sync_wait: Duration,
    /// The `Retry-After` of running operations.
    pub retry_after: Duration,
    /// The time in which a request must be answered, besides the time that a platform may wait for the end of a change.
    pub request_timeout: Duration,
}

impl Settings {
    /// The time in which every request must be answered.
    pub(crate) fn deadline(&self) -> Duration {
        self.request_timeout.saturating_add(self.sync_wait)
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("platforms", &self.platforms)
            .field("sync_wait", &self.sync_wait)
            .finish_non_exhaustive()
    }
}

/// State shared by all handlers.
pub(crate) struct Broker {
    pub(crate) parts: Parts,
    pub(crate) settings: Settings,
    /// Who has signed in lately.
    pub(crate) lately: Lately,
    /// The catalog of each platform, by its name, once it was asked for.
    catalogs: BTreeMap<String, OnceLock<Catalog>>,
}

impl Broker {
    pub(crate) fn new(parts: Parts, settings: Settings) -> Self {
        let platforms = settings.platforms.iter();
        let catalogs = platforms.map(|it| (it.platform.name.clone(), OnceLock::new()));
        Self {
            catalogs: catalogs.collect(),
            parts,
            settings,
            lately: Lately::default(),
        }
    }

    /// Returns what a platform may order.
    pub(crate) fn catalog(&self, platform: &Platform) -> Option<&Catalog> {
        let catalog = self.catalogs.get(&platform.name)?;
        let offerings = &self.settings.offerings;
        let catalog = catalog.get_or_init(|| {
            Catalog::of(&offerings.catalog(|offering| platform.may_order(offering)))
        });
        Some(catalog)
    }

    /// Returns the seconds after which a running operation should be asked about again.
    pub(crate) fn retry_after(&self) -> u64 {
        self.settings.retry_after.as_secs().max(1)
    }
}
