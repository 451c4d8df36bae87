//! One process of the control plane: API, workers, or both, over one store.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::watch;
use ucp_api::{AllowedHosts, PathBase};
use ucp_app::{App, Wake};
use ucp_cloud::CloudControl;
use ucp_cloud_aws::Aws;
use ucp_engine::{Engine, Nudges, Sweeper, Workers};
use ucp_live::ReadOnly;
use ucp_model::{Clock, DefaultTags, Entropy};
use ucp_registry::Registry;
use ucp_schema::{Catalogue, ResourceTypes};
use ucp_seal::Keyring;
use ucp_store::{LeaseTerm, Store};

use crate::accounts::{OfAws, StoredCredentials};
use crate::ambient::{OsEntropy, SystemClock};
use crate::cli::Work;
use crate::{connections, keys, pause, shutdown};

/// How often old operations are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(600);

/// What a node is started with.
pub(crate) struct Node {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) aws: ucp_cloud_aws::Settings,
    pub(crate) default_tags: DefaultTags,
    pub(crate) catalogue: Catalogue,
    pub(crate) sealing: Keyring,
    pub(crate) work: Work,
    pub(crate) retry_after: Duration,
    pub(crate) allowed_hosts: AllowedHosts,
    pub(crate) path_base: PathBase,
    /// Where the API listens; none when this process has no such role.
    pub(crate) listener: Option<TcpListener>,
    /// Whether this process carries operations out.
    pub(crate) works: bool,
}

struct WakeWorkers(Nudges);

impl Wake for WakeWorkers {
    fn wake(&self) {
        self.0.due();
    }
}

impl Node {
    /// Runs until `shutdown` turns true, then winds down within ten seconds.
    pub(crate) async fn run(self, shutdown: watch::Receiver<bool>) -> anyhow::Result<()> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy);
        let checkpoints = pause::checkpoints()?;
        let keys = keys::of_store(
            self.sealing,
            self.store.as_ref(),
            clock.as_ref(),
            entropy.as_ref(),
        )
        .await?;
        let keys = Arc::new(keys);
        let credentials = StoredCredentials {
            store: self.store.clone(),
            keys: Arc::clone(&keys),
        };
        let aws = Arc::new(Aws::connect(self.aws, Arc::new(credentials)).await);
        let nudges = Nudges::default();
        let cloud: Arc<dyn CloudControl> = Arc::clone(&aws) as _;
        let call_timeout = self.work.call_timeout()?;

        let types: Arc<dyn ResourceTypes> = Arc::new(Registry::new(
            ucp_registry::Parts {
                catalogue: self.catalogue,
                store: self.store.clone(),
                types: aws.clone(),
                clock: Arc::clone(&clock),
            },
            ucp_registry::Settings {
                ttl: self.work.schema_ttl,
                timeout: self.work.read_timeout,
            },
        ));

        let app = App::new(ucp_app::Parts {
            store: Arc::clone(&self.store),
            live: Arc::new(ReadOnly {
                cloud: Arc::clone(&cloud),
                timeout: self.work.read_timeout,
            }),
            types: Arc::clone(&types),
            default_tags: self.default_tags,
            accounts: Arc::new(OfAws(Arc::clone(&aws))),
            keys: Arc::clone(&keys),
            clock: Arc::clone(&clock),
            entropy: Arc::clone(&entropy),
            checkpoints: Arc::clone(&checkpoints),
            workers: Arc::new(WakeWorkers(nudges.clone())),
            moved: nudges.moved(),
        });
        app.ensure_planes()
            .await
            .context("cannot write the planes")?;
        let settings = ucp_api::Settings {
            verdict_wait: self.work.verdict_wait,
            group_delete_wait: self.work.group_delete_wait,
            retry_after: self.retry_after,
            allowed_hosts: self.allowed_hosts,
            path_base: self.path_base,
        };
        let router = ucp_api::router(app, settings);
        let api = self
            .listener
            .map(|listener| tokio::spawn(connections::serve(listener, router, shutdown.clone())));

        if self.works {
            let sweeper = Sweeper {
                store: self.store.clone(),
                clock: Arc::clone(&clock),
                retention: self.work.operation_retention,
                interval: SWEEP_INTERVAL,
            };
            let sweeping = tokio::spawn(sweeper.run(shutdown.clone()));
            let parts = ucp_engine::Parts {
                store: self.store,
                cloud,
                types,
                keys,
                clock,
                entropy: Arc::clone(&entropy),
                checkpoints,
            };
            let settings = ucp_engine::Settings {
                owner: format!("{}/{}", std::process::id(), entropy.uuid("lease-owner")),
                lease: LeaseTerm(self.work.lease),
                call_timeout,
            };
            let workers = Workers {
                engine: Arc::new(Engine::new(parts, settings)),
                nudges,
                concurrency: self.work.workers,
                poll_interval: self.work.poll_interval,
                grace: shutdown::STEP_GRACE,
            };
            workers.run(shutdown.clone()).await;
            sweeping.await?;
        }
        match api {
            Some(api) => Ok(api.await?),
            None => {
                shutdown::requested(shutdown).await;
                Ok(())
            }
        }
    }
}

/// Listens at `address`, or says what to do instead.
pub(crate) async fn listen(
    address: std::net::SocketAddr,
    flag: &str,
) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}; choose another address with {flag} (port 0 picks a free port)")
    })
}
