use std::sync::Arc;
use std::time::Duration;

use ucp_cloud::CloudControl;
use ucp_cpu_pool::CpuPool;
use ucp_look::OwnershipTags;
use ucp_model::{Clock, Entropy};
use ucp_schema::ResourceTypes;
use ucp_seal::Keys;
use ucp_store::{LeaseTerm, Store};

use crate::forecasts::Forecasts;
use crate::governor::{Governor, Pacing};
use crate::known_plans::KnownPlans;
use crate::progress::ProgressListener;
use crate::turn::Turns;

/// How long an operation that is sealed under a key that one process does not have waits for another process.
pub(crate) const OTHER_KEY_PAUSE: Duration = Duration::from_secs(5);

/// The dependencies of an [`Engine`].
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The AWS client.
    pub cloud: Arc<dyn CloudControl>,
    /// The resource types.
    pub types: Arc<dyn ResourceTypes>,
    /// The keys that open and seal documents.
    pub keys: Arc<Keys>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Where operations are planned.
    pub pool: CpuPool,
    /// Told of each step.
    pub progress: Arc<dyn ProgressListener>,
}

/// The settings of an [`Engine`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name under which it holds leases.
    pub owner: String,
    /// The duration of a lease.
    pub lease: LeaseTerm,
    /// Whether what is created gets the mark of its reference.
    pub ownership_tags: OwnershipTags,
    /// How calls that change something are paced; `None` if they are not.
    pub pacing: Option<Pacing>,
}

/// Steps claimed operations.
pub struct Engine {
    pub(crate) parts: Parts,
    pub(crate) settings: Settings,
    pub(crate) turns: Turns,
    pub(crate) plans: KnownPlans,
    pub(crate) forecasts: Forecasts,
    pub(crate) governor: Option<Governor>,
}

impl Engine {
    /// Creates an engine.
    pub fn new(parts: Parts, settings: Settings) -> Self {
        let governor = settings.pacing.clone().map(Governor::new);
        Self {
            parts,
            settings,
            governor,
            turns: Turns::new(),
            plans: KnownPlans::new(),
            forecasts: Forecasts::new(),
        }
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.parts.store
    }

    /// Returns the current time of its clock.
    pub fn now(&self) -> ucp_model::Timestamp {
        self.parts.clock.now()
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }
}
