//! The one wiring: a process of the control plane, assembled from a store, an AWS, a clock and keys.
//!
//! It names no adapter. The binary brings those of the machine and of AWS; tests bring the simulator and a clock that
//! they move. What [`assemble`] returns stands still until its owner serves the router and runs the workers.

mod keys;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use ucp_app::{Accounts, App, Rejection, Wake};
use ucp_cloud::{CloudControl, TypeRegistry};
use ucp_engine::{Engine, Nudges, Sweeper, Workers};
use ucp_live::ReadOnly;
use ucp_model::{Clock, DefaultTags, Entropy};
use ucp_registry::Registry;
use ucp_schema::{Catalogue, ResourceTypes};
use ucp_seal::Keys;
use ucp_store::Store;

pub use keys::{KeysError, open_keys};

/// What a node is made of.
pub struct Parts {
    /// What `ucp` remembers.
    pub store: Arc<dyn Store>,
    /// The door to AWS, for what operations do.
    pub cloud: Arc<dyn CloudControl>,
    /// The same door, for what requests read.
    pub live: Arc<dyn CloudControl>,
    /// The CloudFormation registry.
    pub registry: Arc<dyn TypeRegistry>,
    /// Which AWS accounts can be reached.
    pub accounts: Arc<dyn Accounts>,
    /// The types that are known without asking the registry.
    pub catalogue: Catalogue,
    /// The keys of the documents; see [`open_keys`].
    pub keys: Arc<Keys>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
}

/// How a node works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the API answers.
    pub api: ucp_api::Settings,
    /// How operations are carried out.
    pub engine: ucp_engine::Settings,
    /// The tags that the configuration gives to resources.
    pub default_tags: DefaultTags,
    /// How long one read of AWS may take while a request waits.
    pub read_timeout: Duration,
    /// How long a schema from the registry is used before it is refreshed.
    pub schema_ttl: Duration,
    /// How many operations are stepped at once.
    pub concurrency: usize,
    /// How often workers look for work that nobody told them of.
    pub poll_interval: Duration,
    /// How long running steps may go on after shutdown was asked for.
    pub grace: Duration,
    /// How long an ended operation is kept.
    pub operation_retention: Duration,
    /// How often old operations are looked for.
    pub sweep_interval: Duration,
}

/// A process of the control plane that nobody runs yet.
pub struct Node {
    /// The API.
    pub router: Router,
    /// What carries operations out.
    pub workers: Workers,
    /// What removes old operations.
    pub sweeper: Sweeper,
}

struct WakeWorkers(Nudges);

impl Wake for WakeWorkers {
    fn wake(&self) {
        self.0.due();
    }
}

/// Connects `parts`, and writes the planes that every store has.
pub async fn assemble(parts: Parts, settings: Settings) -> Result<Node, Rejection> {
    let Parts {
        store,
        cloud,
        live,
        registry,
        accounts,
        catalogue,
        keys,
        clock,
        entropy,
    } = parts;
    let nudges = Nudges::default();
    let types: Arc<dyn ResourceTypes> = Arc::new(Registry::new(
        ucp_registry::Parts {
            catalogue,
            store: store.clone(),
            types: registry,
            clock: Arc::clone(&clock),
        },
        ucp_registry::Settings {
            ttl: settings.schema_ttl,
            timeout: settings.read_timeout,
        },
    ));
    let app = App::new(ucp_app::Parts {
        store: Arc::clone(&store),
        live: Arc::new(ReadOnly {
            cloud: live,
            timeout: settings.read_timeout,
        }),
        types: Arc::clone(&types),
        default_tags: settings.default_tags,
        accounts,
        keys: Arc::clone(&keys),
        clock: Arc::clone(&clock),
        entropy: Arc::clone(&entropy),
        workers: Arc::new(WakeWorkers(nudges.clone())),
        moved: nudges.moved(),
    });
    app.ensure_planes().await?;
    let sweeper = Sweeper {
        store: store.clone(),
        clock: Arc::clone(&clock),
        retention: settings.operation_retention,
        interval: settings.sweep_interval,
    };
    let engine = ucp_engine::Parts {
        store,
        cloud,
        types,
        keys,
        clock,
        entropy,
    };
    let workers = Workers {
        engine: Arc::new(Engine::new(engine, settings.engine)),
        nudges,
        concurrency: settings.concurrency,
        poll_interval: settings.poll_interval,
        grace: settings.grace,
    };
    Ok(Node {
        router: ucp_api::router(app, settings.api),
        workers,
        sweeper,
    })
}
