//! One process of the control plane: API, workers or both, over one store, with the machine's clock and the AWS SDK.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use ucp_api::{AllowedHosts, PathBase};
use ucp_app::{Access, Quotas, Regions, Roles};
use ucp_audit::auditing;
use ucp_authentication::IdentityProvider;
use ucp_cloud_aws::Aws;
use ucp_cpu_pool::CpuPool;
use ucp_engine::Pacing;
use ucp_listen::Tls;
use ucp_model::{Clock, DefaultTags, Entropy};
use ucp_node::{DatabaseClock, SchemaSource};
use ucp_oidc::Issuer;
use ucp_schema::Catalogue;
use ucp_seal::Keyring;
use ucp_store::{LeaseTerm, Store};

use crate::accounts::{OfAws, StoredCredentials, follow_changes};
use crate::ambient::{OsEntropy, SystemClock};
use crate::audit::Audit;
use crate::broker::Broker;
use crate::cli::{Clients, Work};
use crate::{connections, descriptors, pause, shutdown, version};

/// How often expired operations are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(600);
/// How often leftovers that are due are looked for.
const KEEP_INTERVAL: Duration = Duration::from_secs(15);

/// The parts of a process.
pub(crate) struct Node {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) aws: ucp_cloud_aws::Settings,
    pub(crate) default_tags: DefaultTags,
    /// The rates at which AWS is called, as the file says them.
    pub(crate) pacing: Pacing,
    /// The roles that credentials may name.
    pub(crate) roles: Roles,
    /// Who may do what, as far as that is not stored.
    pub(crate) access: Access,
    /// What the service broker is started with, if there is one.
    pub(crate) broker: Option<Broker>,
    pub(crate) catalogue: Catalogue,
    pub(crate) schema_source: SchemaSource,
    pub(crate) sealing: Keyring,
    pub(crate) clients: Clients,
    pub(crate) audit: Audit,
    pub(crate) work: Work,
    pub(crate) retry_after: Duration,
    pub(crate) authentication: ucp_authentication::Settings,
    /// The issuer whose tokens tell who calls.
    pub(crate) oidc: Option<ucp_oidc::Settings>,
    pub(crate) allowed_hosts: AllowedHosts,
    pub(crate) path_base: PathBase,
    /// The listener of the API; `None` when this process serves no requests.
    pub(crate) listener: Option<TcpListener>,
    /// What is spoken there, if not HTTP in clear.
    pub(crate) tls: Option<Tls>,
    /// Whether tokens and passwords travel to it in clear.
    pub(crate) in_clear: bool,
    /// The listener of the service broker, if it has one of its own.
    pub(crate) broker_listener: Option<TcpListener>,
    /// The listener of the probes, if they have one of their own.
    pub(crate) probe_listener: Option<TcpListener>,
    /// Whether this process carries out operations.
    pub(crate) works: bool,
}

impl Node {
    /// Runs until `shutdown` turns true, then stops within ten seconds.
    pub(crate) async fn run(self, shutdown: watch::Receiver<bool>) -> anyhow::Result<()> {
        let regions = Regions::of(&self.work.allowed_regions).context("--allowed-region")?;
        descriptors::provide(
            self.listener
                .as_ref()
                .map_or(0, |_| self.clients.max_connections),
            if self.works { self.work.workers } else { 0 },
        );
        let shared = Arc::new(DatabaseClock::new(Arc::new(SystemClock)));
        let measured = shared.measure(self.store.as_ref()).await;
        measured.context("cannot read the time of the database")?;
        let clock: Arc<dyn Clock> = shared.clone();
        let entropy: Arc<dyn Entropy> = Arc::new(OsEntropy);
        let keys = ucp_node::open_keys(
            self.sealing,
            self.store.as_ref(),
            clock.as_ref(),
            entropy.as_ref(),
        );
        let keys = Arc::new(keys.await?);
        let credentials = StoredCredentials {
            store: self.store.clone(),
            keys: Arc::clone(&keys),
            roles: self.roles.clone(),
        };
        let identity_provider = match self.oidc.filter(|_| self.listener.is_some()) {
            Some(settings) => Some(identity_provider(settings, &clock)?),
            None => None,
        };
        let aws = Arc::new(Aws::connect(self.aws, Arc::new(credentials)).await);
        // They end with this function.
        let mut following = JoinSet::new();
        let store = self.store.clone();
        following.spawn(async move { shared.follow(store.as_ref()).await });
        following.spawn(follow_changes(self.store.clone(), Arc::clone(&aws)));
        let mut pacing = self.pacing;
        pacing.ceilings.extend(self.work.aws_rates);
        pacing.weights.extend(self.work.group_weights);
        let owner = format!("{}/{}", std::process::id(), entropy.uuid("lease-owner"));
        let settings = ucp_node::Settings {
            api: ucp_api::Settings {
                verdict_wait: self.work.verdict_wait,
                group_delete_wait: self.work.group_delete_wait,
                request_timeout: self.clients.request_timeout,
                retry_after: self.retry_after,
                rates: self.clients.rates(),
                allowed_hosts: self.allowed_hosts,
                path_base: self.path_base,
                in_clear: self.in_clear,
                version: version::of_this_build(),
            },
            broker: self.broker.map(|broker| ucp_broker::Settings {
                offerings: broker.offerings,
                platforms: broker.platforms,
                sync_wait: broker.sync_wait,
                retry_after: self.retry_after,
                request_timeout: self.clients.request_timeout,
            }),
            authentication: self.authentication,
            engine: ucp_engine::Settings {
                owner,
                lease: LeaseTerm(self.work.lease),
                ownership_tags: self.work.ownership_tags.into(),
                pacing: Some(pacing),
            },
            default_tags: self.default_tags,
            untracked_alias: self.work.untracked_alias.into(),
            regions,
            roles: self.roles,
            access: self.access,
            read_timeout: self.work.read_timeout,
            schema_source: self.schema_source,
            schema_ttl: self.work.schema_ttl,
            concurrency: self.work.workers,
            poll_interval: self.work.poll_interval,
            grace: shutdown::STEP_GRACE,
            operation_retention: self.work.operation_retention,
            history_retention: self.work.history_retention,
            audit_retention: self.audit.audit_retention,
            quotas: Quotas {
                planes: self.work.quota_planes,
                credentials: self.work.quota_credentials,
                role_assignments: self.work.quota_role_assignments,
                caller_role_assignments: self.work.quota_caller_role_assignments,
                groups: self.work.quota_groups,
                references: self.work.quota_references,
                leftovers: self.work.quota_leftovers,
                group_operations: self.work.quota_group_operations,
                caller_operations: self.work.quota_caller_operations,
                operations: self.work.quota_operations,
                caller_plan_bytes: self.work.quota_caller_plan_bytes,
                group_plan_bytes: self.work.quota_group_plan_bytes,
            },
            sweep_interval: SWEEP_INTERVAL,
            keep_interval: KEEP_INTERVAL,
        };
        let (lines, waiting) = (self.audit.lines()?, self.audit.waiting());
        let (auditor, recorder) = auditing(self.store.clone(), lines, waiting);
        following.spawn(recorder.run());
        let mut parts = ucp_node::Parts {
            store: self.store,
            auditor: auditor.clone(),
            cloud: aws.clone(),
            live: aws.clone(),
            identity_provider,
            registry: aws.clone(),
            accounts: Arc::new(OfAws(aws)),
            catalogue: self.catalogue,
            keys,
            clock,
            entropy,
            pool: CpuPool::new(),
            engine_pool: CpuPool::new(),
        };
        if let Some(process) = pause::asked_for()? {
            parts.store = process.store(parts.store);
            parts.cloud = process.cloud(parts.cloud);
        }
        let node = ucp_node::assemble(parts, settings)
            .await
            .context("cannot write the planes")?;

        let mut serving = JoinSet::new();
        let (api, apart) = match self.broker_listener {
            None => (ucp_node::beside(node.router, node.broker), None),
            Some(listener) => (node.router, node.broker.map(|broker| (listener, broker))),
        };
        if let Some((listener, broker)) = apart {
            let (clients, shutdown) = (self.clients, shutdown.clone());
            let witness = Arc::clone(&node.witness);
            let tls = self.tls.clone();
            serving.spawn(connections::serve(
                listener, broker, clients, tls, witness, shutdown,
            ));
        }
        if let Some(listener) = self.listener {
            if let Some(tls) = self.tls.clone() {
                following.spawn(async move { tls.follow().await });
            }
            let (clients, shutdown) = (self.clients, shutdown.clone());
            let witness = Arc::clone(&node.witness);
            let api = connections::serve(listener, api, clients, self.tls, witness, shutdown);
            serving.spawn(api);
        }
        if let Some(listener) = self.probe_listener {
            let (witness, shutdown) = (node.witness, shutdown.clone());
            let probes = connections::serve_probes(listener, node.probes, witness, shutdown);
            serving.spawn(probes);
        }
        if let Some(reads) = node.reads {
            serving.spawn(reads.run(shutdown.clone()));
        }
        if self.works {
            let sweeping = tokio::spawn(node.sweeper.run(shutdown.clone()));
            let keeping = tokio::spawn(node.keeper.run(shutdown.clone()));
            let watching = tokio::spawn(node.watcher.run(shutdown.clone()));
            let pacing = tokio::spawn(node.pacer.run(shutdown.clone()));
            node.workers.run(shutdown.clone()).await;
            sweeping.await?;
            keeping.await?;
            watching.await?;
            pacing.await?;
        }
        while let Some(served) = serving.join_next().await {
            served?;
        }
        shutdown::requested(shutdown).await;
        shutdown::drain(&auditor).await;
        Ok(())
    }
}

/// Trusts an issuer, and begins to read its keys.
fn identity_provider(
    settings: ucp_oidc::Settings,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn IdentityProvider>> {
    let issuer = Issuer::new(settings, Arc::clone(clock)).context("--oidc-issuer")?;
    issuer.prepare();
    Ok(Arc::new(issuer))
}

/// Listens on `address`. The error suggests `flag`.
pub(crate) async fn listen(
    address: std::net::SocketAddr,
    flag: &str,
) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}; choose another address with {flag} (port 0 picks a free port)")
    })
}
