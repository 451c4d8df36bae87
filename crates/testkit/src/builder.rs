use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ucp_access::{DeniedType, Grant, Role};
use ucp_api::{AllowedHosts, PathBase, Rates};
use ucp_app::{Access, Quotas, Regions, Roles, UntrackedAlias};
use ucp_audit::testing::Moody;
use ucp_audit::{Lines, Waiting, auditing};
use ucp_cloud::CloudControl;
use ucp_cpu_pool::CpuPool;
use ucp_engine::{OwnershipTags, Pacing};
use ucp_model::{Clock, DefaultTags, SeededEntropy};
use ucp_node::{Parts, SchemaSource, Settings};
use ucp_observe::{CrashTurn, Observer, Process};
use ucp_schema::Catalogue;
use ucp_seal::Keyring;
use ucp_simulator::Simulator;
use ucp_store::{Memory, Store};

use crate::aws::{Hanging, Held, Ordered, OtherNames, OwnAccounts};
use crate::broker;
use crate::callers::{self, Callers, Names};
use crate::clock::Skewed;
use crate::crashes::{Crashes, Mishap};
use crate::log::Log;
use crate::notes::Notes;
use crate::stores::{Opened, encryption_key};
use crate::world::{LEASE, SCHEMA_TTL, World};
use crate::{ManualClock, StoreKind};

/// Builds a [`World`].
#[must_use]
pub struct Builder {
    kind: StoreKind,
    store: Arc<dyn Store>,
    guard: Box<dyn Any + Send>,
    path_base: PathBase,
    default_tags: DefaultTags,
    untracked_alias: UntrackedAlias,
    regions: Regions,
    roles: Roles,
    access: Access,
    callers: Callers,
    quotas: Quotas,
    ownership_tags: OwnershipTags,
    schema_source: SchemaSource,
    catalogue: Catalogue,
    verdict_wait: Duration,
    audit: Waiting,
    rates: Rates,
    audit_log: Option<Lines>,
    authentication: ucp_authentication::Settings,
    sync_wait: Duration,
    pacing: Option<Pacing>,
    mishap: Option<(Mishap, CrashTurn)>,
    pool: CpuPool,
    seed: u64,
    beside: Option<Beside>,
    ahead_ms: i64,
    owner: String,
    observer: Option<Arc<dyn Observer>>,
    through: Option<Through>,
}

/// What the processes of a world share beside its store.
type Beside = (Arc<ManualClock>, Simulator, Arc<Notes>);

/// Decorates Cloud Control.
pub(crate) type Through =
    Arc<dyn Fn(Arc<dyn CloudControl>, &Simulator) -> Arc<dyn CloudControl> + Send + Sync>;

impl World {
    /// A world over an in-memory store, with one empty resource group, `rg`.
    pub fn builder() -> Builder {
        Builder {
            kind: StoreKind::Memory,
            store: Arc::new(Memory::new()),
            guard: Box::new(()),
            path_base: PathBase::default(),
            default_tags: DefaultTags::default(),
            untracked_alias: UntrackedAlias::default(),
            regions: Regions::default(),
            roles: Roles::of(&["*".to_owned()]),
            access: Access::default(),
            callers: Callers::Anybody,
            quotas: Quotas::default(),
            ownership_tags: OwnershipTags::On,
            schema_source: SchemaSource::Embedded,
            catalogue: Catalogue::embedded(),
            verdict_wait: Duration::from_secs(20),
            audit: Waiting::No,
            rates: Rates::default(),
            audit_log: None,
            authentication: ucp_authentication::Settings::default(),
            sync_wait: broker::SYNC_WAIT,
            pacing: None,
            mishap: None,
            // How long work takes is real time, and depends on what else the machine does.
            pool: CpuPool::of_the_caller(),
            seed: 7,
            beside: None,
            ahead_ms: 0,
            owner: "world".to_owned(),
            observer: None,
            through: None,
        }
    }
}

impl Builder {
    /// Uses a new store of this kind. `None` if Postgres is not available.
    pub async fn on(self, kind: StoreKind) -> Option<Self> {
        let opened = kind.open().await?;
        Some(Self {
            kind,
            ..self.with(opened)
        })
    }

    /// Uses this store.
    pub(crate) fn with(self, (store, guard): Opened) -> Self {
        Self {
            store,
            guard,
            ..self
        }
    }

    /// Uses an existing store, like a server that restarts.
    pub fn over(self, store: &Arc<dyn Store>) -> Self {
        Self {
            store: Arc::clone(store),
            ..self
        }
    }

    /// Builds another process of `world`: it has the same store, the same AWS and the same time.
    pub fn beside(self, world: &World) -> Self {
        Self {
            beside: Some((
                Arc::clone(&world.clock),
                world.aws.clone(),
                Arc::clone(&world.notes),
            )),
            ..self.over(&world.store)
        }
    }

    /// The store.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Sets by how much the clock of the process is ahead of that of the world.
    pub fn ahead_by(self, ahead_ms: i64) -> Self {
        Self { ahead_ms, ..self }
    }

    /// Sets the name under which the process holds leases.
    pub fn named(self, owner: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            ..self
        }
    }

    /// Sets who observes the process, in place of what brings about mishaps.
    pub(crate) fn observed_by(self, observer: Arc<dyn Observer>) -> Self {
        Self {
            observer: Some(observer),
            ..self
        }
    }

    /// Lets all calls to AWS pass through a decorator.
    pub(crate) fn through(self, through: Through) -> Self {
        Self {
            through: Some(through),
            ..self
        }
    }

    /// Serves planes under `path_base`, which request paths must include.
    pub fn path_base(self, path_base: PathBase) -> Self {
        Self { path_base, ..self }
    }

    /// Paces the calls that change something.
    pub fn paced(self, pacing: Pacing) -> Self {
        Self {
            pacing: Some(pacing),
            ..self
        }
    }

    /// Sets how long a platform waits that does not poll.
    pub fn sync_wait(self, sync_wait: Duration) -> Self {
        Self { sync_wait, ..self }
    }

    /// Sets the default tags of the server.
    pub fn default_tags(self, default_tags: DefaultTags) -> Self {
        Self {
            default_tags,
            ..self
        }
    }

    /// Ignores an alias without `trackedBy`.
    pub fn ignoring_untracked_aliases(self) -> Self {
        Self {
            untracked_alias: UntrackedAlias::Ignore,
            ..self
        }
    }

    /// Sets the regions that requests may name; all known ones by default.
    pub fn regions(self, regions: Regions) -> Self {
        Self { regions, ..self }
    }

    /// Sets the roles that credentials may name; all by default.
    pub fn roles(self, roles: Roles) -> Self {
        Self { roles, ..self }
    }

    /// Lets in only who says who they are, as [`World::call_as`] does, and gives rights.
    pub fn granting(mut self, grants: Vec<Grant>) -> Self {
        self.access.grants = grants.into_iter().collect();
        self.callers = Callers::Known;
        self
    }

    /// Denies changes of resources of these types.
    pub fn denying(mut self, denied: &[DeniedType]) -> Self {
        self.access.denied = denied.into();
        self
    }

    /// Sets the quotas.
    pub fn quotas(self, quotas: Quotas) -> Self {
        Self { quotas, ..self }
    }

    /// Creates without the marks of references.
    pub fn without_ownership_tags(self) -> Self {
        Self {
            ownership_tags: OwnershipTags::Off,
            ..self
        }
    }

    /// Adds a type of this schema to the embedded ones.
    pub fn knowing(mut self, schema: &str) -> Self {
        let added = self.catalogue.with_schema(schema);
        added.expect("a valid schema");
        self
    }

    /// Sets where the schemas of public types come from; the embedded set by default.
    pub fn schema_source(self, schema_source: SchemaSource) -> Self {
        Self {
            schema_source,
            ..self
        }
    }

    /// Sets the seed of all randomness, of the simulated AWS too.
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets where declarations are judged, if not on the threads of those who ask.
    pub fn judged_in(self, pool: CpuPool) -> Self {
        Self { pool, ..self }
    }

    /// Sets how long a request waits for its look and its verdict.
    pub fn verdict_wait(self, verdict_wait: Duration) -> Self {
        Self {
            verdict_wait,
            ..self
        }
    }

    /// Refuses callers that are not known.
    pub fn requiring_authentication(mut self) -> Self {
        self.authentication.required = true;
        self
    }

    /// Writes the audit to a log, too.
    pub fn logging_audit(self, lines: Lines) -> Self {
        Self {
            audit_log: Some(lines),
            ..self
        }
    }

    /// Sets how often callers may send requests.
    pub fn rates(self, rates: Rates) -> Self {
        Self { rates, ..self }
    }

    /// Answers nothing that could not be recorded in the audit.
    pub fn requiring_audit(self) -> Self {
        Self {
            audit: Waiting::Required,
            ..self
        }
    }

    /// Brings about a mishap at this occurrence of a crash point, counted from [`World::may_crash`].
    pub(crate) fn with_mishap(self, mishap: Mishap, turn: CrashTurn) -> Self {
        Self {
            mishap: Some((mishap, turn)),
            ..self
        }
    }

    /// Builds the world.
    pub async fn build(self) -> World {
        let log = Log::of_this_thread();
        let is_first = self.beside.is_none();
        let entropy = Arc::new(SeededEntropy::new(self.seed));
        let catalogue = self.catalogue;
        let crashes = Arc::new(Crashes::at(self.mishap));
        let observer = self.observer.unwrap_or_else(|| Arc::clone(&crashes) as _);
        let (clock, aws, notes) = self.beside.unwrap_or_else(|| {
            let clock = Arc::new(ManualClock::new());
            let aws = Simulator::new(
                catalogue.clone(),
                ucp_simulator::Settings::default(),
                Arc::clone(&clock) as Arc<dyn Clock>,
                Arc::new(SeededEntropy::new(self.seed.wrapping_add(1))),
            );
            (clock, aws, Arc::<Notes>::default())
        });
        let process = Process::observed_by(notes.beside(observer));
        let own_clock: Arc<dyn Clock> = match self.ahead_ms {
            0 => Arc::clone(&clock) as _,
            ahead_ms => Arc::new(Skewed {
                clock: Arc::clone(&clock),
                ahead_ms,
            }),
        };
        let pool = self.pool;
        let through = self.through.unwrap_or_else(|| Arc::new(|calls, _| calls));
        let (held, hanging, names) = (Held::default(), Hanging::default(), OtherNames::default());
        let held_steps = Held::default();
        let sealing = Keyring::from(encryption_key());
        let store = self.store.as_ref();
        let keys = ucp_node::open_keys(sealing, store, own_clock.as_ref(), entropy.as_ref());
        let audit_store = Arc::new(Moody::new(process.store(Arc::clone(&self.store))));
        let (auditor, recorder) = auditing(audit_store.clone(), self.audit_log, self.audit);
        tokio::spawn(recorder.run());
        let parts = Parts {
            store: process.store(Arc::clone(&self.store)),
            auditor: auditor.clone(),
            cloud: process.cloud(through(
                Arc::new(Ordered {
                    aws: aws.clone(),
                    hanging: hanging.clone(),
                    held: held_steps.clone(),
                    names: names.clone(),
                }),
                &aws,
            )),
            live: through(
                Arc::new(Ordered {
                    aws: aws.clone(),
                    hanging: hanging.clone(),
                    held: held.clone(),
                    names: names.clone(),
                }),
                &aws,
            ),
            identity_provider: match self.callers {
                Callers::Anybody => None,
                Callers::Known => Some(Arc::new(Names)),
            },
            registry: Arc::new(aws.clone()),
            accounts: Arc::new(OwnAccounts),
            catalogue,
            keys: Arc::new(keys.await.expect("the keys are opened")),
            clock: own_clock,
            entropy,
            pool: pool.clone(),
            engine_pool: pool,
        };
        let mut settings = Settings {
            untracked_alias: self.untracked_alias,
            regions: self.regions,
            roles: self.roles,
            access: self.access,
            quotas: self.quotas,
            schema_source: self.schema_source,
            authentication: self.authentication,
            ..settings(self.path_base.clone(), self.default_tags, self.verdict_wait)
        };
        settings.engine.owner = self.owner;
        settings.engine.ownership_tags = self.ownership_tags;
        settings.engine.pacing = self.pacing;
        settings.api.rates = self.rates;
        settings.broker = Some(broker::settings(self.sync_wait));
        let is_required = settings.authentication.required;
        match self.callers {
            Callers::Anybody => {}
            Callers::Known => {
                settings.authentication.required = true;
                settings.access.grants.extend([callers::root()]);
            }
        }
        let node = ucp_node::assemble(parts, settings).await;
        let mut node = node.expect("the node is assembled");
        let router = ucp_node::beside(node.router.clone(), node.broker.take());
        let world = World {
            kind: self.kind,
            store: self.store,
            clock,
            aws,
            held,
            held_steps,
            hanging,
            names,
            node,
            router: Mutex::new(router),
            path_base: self.path_base,
            callers: self.callers,
            crashes,
            stalled: Mutex::default(),
            process,
            auditor,
            audit_store,
            notes,
            log,
            _guard: self.guard,
        };
        if is_required {
            let owner = world.token("world", Role::Owner, &["/"], None).await;
            let group = world.put_group_as(&owner, "rg").await;
            group.expect(200);
        } else if is_first {
            world.put_group("rg").await;
        }
        world
    }
}

fn settings(path_base: PathBase, default_tags: DefaultTags, verdict_wait: Duration) -> Settings {
    Settings {
        api: ucp_api::Settings {
            verdict_wait,
            group_delete_wait: Duration::from_secs(20),
            request_timeout: Duration::from_secs(60),
            retry_after: Duration::from_secs(1),
            rates: Rates::default(),
            allowed_hosts: AllowedHosts::loopback_and(["front.example".to_owned()]),
            path_base,
            in_clear: false,
            version: ucp_api::Version {
                version: "0.0.0".to_owned(),
                commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            },
        },
        authentication: ucp_authentication::Settings::default(),
        broker: None,
        engine: ucp_engine::Settings {
            owner: "world".to_owned(),
            lease: LEASE,
            ownership_tags: OwnershipTags::default(),
            pacing: None,
        },
        default_tags,
        untracked_alias: UntrackedAlias::default(),
        regions: Regions::default(),
        roles: Roles::default(),
        access: Access::default(),
        read_timeout: Duration::from_secs(10),
        schema_source: SchemaSource::Embedded,
        schema_ttl: SCHEMA_TTL,
        // A world steps its engine itself, and sweeps on request.
        concurrency: 0,
        poll_interval: Duration::ZERO,
        grace: Duration::ZERO,
        operation_retention: Duration::ZERO,
        history_retention: Duration::ZERO,
        audit_retention: Duration::ZERO,
        quotas: Quotas::default(),
        sweep_interval: Duration::ZERO,
        keep_interval: Duration::ZERO,
    }
}
