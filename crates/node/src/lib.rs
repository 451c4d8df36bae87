//! Assembles a process of the control plane from a store, an AWS client, a clock and keys.
//!
//! This crate depends on no adapter. The binary passes in those of the machine and of AWS; tests pass in the simulator
//! and a clock under their control. What [`assemble`] returns does nothing until its owner serves the router and runs
//! the workers.

mod clock;
mod keys;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::any_service;
use ucp_app::{
    Access, Accounts, App, Awaiting, InFlight, Quotas, Regions, Rejection, Roles, UntrackedAlias,
    Wake,
};
use ucp_audit::Auditor;
use ucp_authentication::{Authenticator, Failures, IdentityProvider};
use ucp_cloud::{CloudControl, TypeRegistry};
use ucp_cpu_pool::CpuPool;
use ucp_engine::{
    Engine, Keeper, Nudges, Pacer, ProgressListener, Pulse, Reads, Sweeper, Urgency, Watcher,
    Workers,
};
use ucp_listen::Witness;
use ucp_live::ReadOnly;
use ucp_metrics::Metrics;
use ucp_model::{Clock, DefaultTags, Entropy, Operation};
use ucp_rates::Limits;
use ucp_registry::Registry;
use ucp_schema::{Catalogue, ResourceTypes};
use ucp_seal::Keys;
use ucp_store::Store;

pub use clock::DatabaseClock;
pub use keys::{KeysError, open_keys};
pub use ucp_registry::SchemaSource;

/// The dependencies of a [`Node`].
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Takes the events of requests.
    pub auditor: Auditor,
    /// The AWS client for operations.
    pub cloud: Arc<dyn CloudControl>,
    /// The AWS client for reads by requests.
    pub live: Arc<dyn CloudControl>,
    /// Who vouches for users by tokens of its own.
    pub identity_provider: Option<Arc<dyn IdentityProvider>>,
    /// The CloudFormation registry.
    pub registry: Arc<dyn TypeRegistry>,
    /// Verifies AWS accounts.
    pub accounts: Arc<dyn Accounts>,
    /// The types of `--schema-dir` and the embedded ones.
    pub catalogue: Catalogue,
    /// The keys that seal documents; see [`open_keys`].
    pub keys: Arc<Keys>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Where declarations are judged and planned, and schemas are read.
    pub pool: CpuPool,
    /// Where operations are planned, so that requests do not take all the turns.
    pub engine_pool: CpuPool,
}

/// The settings of a [`Node`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// The settings of the API.
    pub api: ucp_api::Settings,
    /// The settings of the service broker, if there is one.
    pub broker: Option<ucp_broker::Settings>,
    /// How callers are known.
    pub authentication: ucp_authentication::Settings,
    /// The settings of the engine.
    pub engine: ucp_engine::Settings,
    /// The default tags of the configuration.
    pub default_tags: DefaultTags,
    /// What a put does with an alias without `trackedBy`.
    pub untracked_alias: UntrackedAlias,
    /// The regions that requests may name.
    pub regions: Regions,
    /// The roles that credentials may name.
    pub roles: Roles,
    /// Who may do what, as far as that is not stored.
    pub access: Access,
    /// Time-out of one read from AWS on behalf of a waiting request.
    pub read_timeout: Duration,
    /// Where the schemas of public types come from.
    pub schema_source: SchemaSource,
    /// How long a schema from the registry is used before it is refreshed.
    pub schema_ttl: Duration,
    /// The maximum number of concurrent steps.
    pub concurrency: usize,
    /// The interval at which workers poll for due operations.
    pub poll_interval: Duration,
    /// The time that running steps have to finish after a shutdown request.
    pub grace: Duration,
    /// The time for which an ended operation is kept.
    pub operation_retention: Duration,
    /// The time for which the history is kept.
    pub history_retention: Duration,
    /// The time for which an event of the audit is kept.
    pub audit_retention: Duration,
    /// How much there may be.
    pub quotas: Quotas,
    /// The interval between sweeps of ended operations.
    pub sweep_interval: Duration,
    /// The interval at which the keeper looks for leftovers to try again.
    pub keep_interval: Duration,
}

/// An assembled process of the control plane, not yet running.
pub struct Node {
    /// The API.
    pub router: Router,
    /// The service broker, if there is one.
    pub broker: Option<Router>,
    /// What a service broker is made of.
    pub broker_parts: ucp_broker::Parts,
    /// The health probes and the metrics, for a listener of their own.
    pub probes: Router,
    /// Is told of what clients are refused before they reach these.
    pub witness: Arc<dyn Witness>,
    /// The workers, which carry out operations.
    pub workers: Workers,
    /// The sweeper, which removes ended operations.
    pub sweeper: Sweeper,
    /// The keeper of the register of leftovers.
    pub keeper: Keeper,
    /// The watcher of the requests in flight.
    pub watcher: Watcher,
    /// Lets operations that wait for their turn to call AWS have it.
    pub pacer: Pacer,
    /// The reads of requests and workers, if they are paced.
    pub reads: Option<Arc<Reads>>,
}

struct WakeWorkers {
    nudges: Nudges,
    pulse: Pulse,
}

impl Wake for WakeWorkers {
    fn wake(&self) {
        self.nudges.due();
    }

    fn are_working(&self) -> bool {
        self.pulse.is_regular()
    }
}

struct Noticed {
    awaiting: Awaiting,
    metrics: Metrics,
}

impl ProgressListener for Noticed {
    fn progressed(&self, operation: &Operation) {
        self.metrics.progressed(operation);
        self.awaiting.progressed(operation);
    }
}

/// Connects `parts`, and creates the planes that every store has.
pub async fn assemble(parts: Parts, settings: Settings) -> Result<Node, Rejection> {
    let Parts {
        store,
        auditor,
        cloud,
        live,
        identity_provider,
        registry,
        accounts,
        catalogue,
        keys,
        clock,
        entropy,
        pool,
        engine_pool,
    } = parts;
    let version = &settings.api.version;
    let metrics = Metrics::new(&version.version, &version.commit);
    let mut cloud = metrics.of_calls(cloud);
    let mut live = metrics.of_calls(live);
    let pacing = settings.engine.pacing.clone();
    let reads = pacing.map(|it| Reads::new(store.clone(), Arc::clone(&clock), it));
    if let Some(reads) = &reads {
        cloud = reads.of(cloud, Urgency::Background);
        live = reads.of(live, Urgency::Awaited);
    }
    let nudges = Nudges::default();
    let pulse = Pulse::default();
    let awaiting = Awaiting::new(store.clone());
    let types: Arc<dyn ResourceTypes> = Arc::new(Registry::new(
        ucp_registry::Parts {
            catalogue,
            store: store.clone(),
            types: registry,
            clock: Arc::clone(&clock),
            pool: pool.clone(),
        },
        ucp_registry::Settings {
            source: settings.schema_source,
            ttl: settings.schema_ttl,
            timeout: settings.read_timeout,
        },
    ));
    let failures = Arc::new(Failures::default());
    let authenticator = Authenticator::new(
        ucp_authentication::Parts {
            tokens: store.clone(),
            clock: Arc::clone(&clock),
            provider: identity_provider,
            failures: Arc::clone(&failures),
        },
        settings.authentication,
    );
    let app = Arc::new(App::new(ucp_app::Parts {
        store: Arc::clone(&store),
        live: Arc::new(ReadOnly {
            cloud: live,
            timeout: settings.read_timeout,
        }),
        types: Arc::clone(&types),
        default_tags: settings.default_tags,
        untracked_alias: settings.untracked_alias,
        regions: settings.regions,
        roles: settings.roles,
        access: settings.access,
        quotas: settings.quotas,
        accounts,
        keys: Arc::clone(&keys),
        clock: Arc::clone(&clock),
        entropy: Arc::clone(&entropy),
        pool,
        workers: Arc::new(WakeWorkers {
            nudges: nudges.clone(),
            pulse: pulse.clone(),
        }),
        awaiting: awaiting.clone(),
    }));
    app.planes.ensure_planes().await?;
    let sweeper = Sweeper {
        store: store.clone(),
        clock: Arc::clone(&clock),
        operation_retention: settings.operation_retention,
        history_retention: settings.history_retention,
        audit_retention: settings.audit_retention,
        interval: settings.sweep_interval,
    };
    let keeper = Keeper {
        store: store.clone(),
        types: Arc::clone(&types),
        clock: Arc::clone(&clock),
        entropy: Arc::clone(&entropy),
        nudges: nudges.clone(),
        interval: settings.keep_interval,
    };
    let engine = ucp_engine::Parts {
        store,
        cloud,
        types,
        keys,
        clock,
        entropy,
        pool: engine_pool,
        progress: Arc::new(Noticed {
            awaiting,
            metrics: metrics.clone(),
        }),
    };
    let engine = Arc::new(Engine::new(engine, settings.engine));
    let watcher = Watcher::new(Arc::clone(&engine), nudges.clone());
    let pacer = Pacer {
        engine: Arc::clone(&engine),
        nudges: nudges.clone(),
    };
    let workers = Workers {
        engine,
        nudges,
        pulse,
        concurrency: settings.concurrency,
        poll_interval: settings.poll_interval,
        grace: settings.grace,
    };
    let work = InFlight::work();
    let broker_parts = ucp_broker::Parts {
        app: Arc::clone(&app),
        auditor: auditor.clone(),
        metrics: metrics.clone(),
        failures,
        limits: Arc::new(Limits::new(settings.api.rates, &app.clock())),
        status_of: ucp_api::status_of,
        work: Arc::clone(&work),
    };
    let broker = settings.broker;
    let broker = broker.map(|of_broker| ucp_broker::router(broker_parts.clone(), of_broker));
    let routers = ucp_api::routers(app, auditor, authenticator, metrics, settings.api, work);
    Ok(Node {
        router: routers.api,
        broker,
        broker_parts,
        probes: routers.probes,
        witness: routers.witness,
        workers,
        sweeper,
        keeper,
        watcher,
        pacer,
        reads,
    })
}

/// Returns the routes of the API, and of a service broker below `/v2`.
pub fn beside(api: Router, broker: Option<Router>) -> Router {
    match broker {
        None => api,
        Some(broker) => Router::new()
            .route("/v2", any_service(broker.clone()))
            .route("/v2/{*path}", any_service(broker))
            .fallback_service(api),
    }
}
