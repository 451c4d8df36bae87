use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use tower::ServiceExt;
use ucp_api::{AllowedHosts, PathBase};
use ucp_app::{Accounts, App, Rejection, Wake};
use ucp_engine::{Abandoned, Engine, Nudges, Sweeper};
use ucp_live::ReadOnly;
use ucp_model::{
    Checkpoints, Clock, CrashPoint, CrashTurn, Crashed, DefaultTags, GroupId, ReferenceId, Scope,
    SeededEntropy, Target,
};
use ucp_registry::Registry;
use ucp_schema::{Catalogue, ResourceTypes};
use ucp_seal::{DigestKey, Keyring, Keys, SealingKey};
use ucp_simulator::Simulator;
use ucp_store::{LeaseTerm, Memory, Sealed, SealedKey, Store};
use ucp_store_sql::Sql;

use crate::{ManualClock, Reply};

/// The account that scenarios use.
pub const ACCOUNT: &str = "123456789012";
/// The region that scenarios use.
pub const REGION: &str = "us-west-2";
/// The resource group that every world begins with.
pub const GROUP: &str = "/planes/radius/local/resourceGroups/rg";

/// How long a schema that the registry told is used before it is refreshed.
pub const SCHEMA_TTL: Duration = Duration::from_secs(24 * 60 * 60);

const API_VERSION: &str = "api-version=2023-10-01-preview";
const LEASE: LeaseTerm = LeaseTerm(Duration::from_secs(30));
/// How many steps a world may take to settle; real scenarios need a few dozen.
const STEPS_MAX: usize = 20_000;

/// The tracking id of `alias` for a type such as `AWS.EC2/VPC`.
pub fn tracked_by(resource_type: &str, alias: &str) -> String {
    format!("{GROUP}/providers/{resource_type}:reference/{alias}")
}

/// Everything but the network and the passing of time.
pub struct World {
    /// What `ucp` remembers.
    pub store: Arc<dyn Store>,
    /// Time.
    pub clock: Arc<ManualClock>,
    /// AWS.
    pub aws: Simulator,
    engine: Engine,
    router: Router,
    path_base: PathBase,
    nudges: Nudges,
    crashes: Arc<PlannedCrash>,
}

/// Runs `scenario` in a fresh world on each store, and checks afterwards that each world is in order.
pub async fn on_every_store(scenario: impl AsyncFn(&World)) {
    let world = World::new(Arc::new(Memory::new())).await;
    scenario(&world).await;
    world.assert_in_order().await;

    let directory = tempfile::tempdir().expect("a temporary directory");
    let sqlite = Sql::open_sqlite(directory.path().join("ucp.db"))
        .await
        .expect("SQLite opens");
    let world = World::new(Arc::new(sqlite)).await;
    scenario(&world).await;
    world.assert_in_order().await;

    if let Some(database) = ucp_store_sql::testing::database().await {
        let postgres = Sql::connect_postgres(&database.url())
            .await
            .expect("Postgres opens");
        let world = World::new(Arc::new(postgres)).await;
        scenario(&world).await;
        world.assert_in_order().await;
    }
}

impl World {
    /// A world over `store`, with one empty resource group.
    pub async fn new(store: Arc<dyn Store>) -> Self {
        Self::under(PathBase::default(), store).await
    }

    /// The same with planes served under a path base, which requests have to give.
    pub async fn under(path_base: PathBase, store: Arc<dyn Store>) -> Self {
        Self::configured(path_base, DefaultTags::default(), store).await
    }

    /// The same on a server that gives tags to resources.
    pub async fn tagging(default_tags: DefaultTags, store: Arc<dyn Store>) -> Self {
        Self::configured(PathBase::default(), default_tags, store).await
    }

    async fn configured(
        path_base: PathBase,
        default_tags: DefaultTags,
        store: Arc<dyn Store>,
    ) -> Self {
        let clock = Arc::new(ManualClock::new());
        let entropy = Arc::new(SeededEntropy::new(7));
        let catalogue = Catalogue::embedded();
        let sealing = Keyring::from(SealingKey::new([7; 32]));
        let fresh = DigestKey::generate(entropy.as_ref());
        let candidate = SealedKey {
            id: fresh.id().to_owned(),
            key: Sealed(fresh.seal(&sealing, entropy.as_ref())),
        };
        store
            .ensure_digest_key(candidate, clock.now())
            .await
            .expect("the digest key is written");
        let keys = Arc::new(Keys {
            sealing,
            digest: fresh,
        });
        let aws = Simulator::new(
            catalogue.clone(),
            ucp_simulator::Settings::default(),
            Arc::clone(&clock) as Arc<dyn Clock>,
            Arc::new(SeededEntropy::new(8)),
        );
        let types: Arc<dyn ResourceTypes> = Arc::new(Registry::new(
            ucp_registry::Parts {
                catalogue,
                store: store.clone(),
                types: Arc::new(aws.clone()),
                clock: Arc::clone(&clock) as Arc<dyn Clock>,
            },
            ucp_registry::Settings {
                ttl: SCHEMA_TTL,
                timeout: Duration::from_secs(10),
            },
        ));
        let nudges = Nudges::default();
        let crashes = Arc::new(PlannedCrash::default());
        let engine = Engine::new(
            ucp_engine::Parts {
                store: Arc::clone(&store),
                cloud: Arc::new(aws.clone()),
                types: Arc::clone(&types),
                keys: Arc::clone(&keys),
                clock: Arc::clone(&clock) as Arc<dyn Clock>,
                entropy: Arc::clone(&entropy) as _,
                checkpoints: Arc::clone(&crashes) as _,
            },
            ucp_engine::Settings {
                owner: "world".to_owned(),
                lease: LEASE,
                call_timeout: Duration::from_secs(10),
            },
        );
        let app = App::new(ucp_app::Parts {
            store: Arc::clone(&store),
            live: Arc::new(ReadOnly {
                cloud: Arc::new(aws.clone()),
                timeout: Duration::from_secs(10),
            }),
            types,
            default_tags,
            accounts: Arc::new(AnyAccount),
            keys,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            entropy,
            checkpoints: Arc::new(ucp_model::Unattended),
            workers: Arc::new(NobodyToWake),
            moved: nudges.moved(),
        });
        app.ensure_planes().await.expect("the planes are written");
        let settings = ucp_api::Settings {
            verdict_wait: Duration::from_secs(20),
            group_delete_wait: Duration::from_secs(20),
            retry_after: Duration::from_secs(1),
            allowed_hosts: AllowedHosts::loopback_and([]),
            path_base: path_base.clone(),
        };
        let router = ucp_api::router(app, settings);
        let world = Self {
            store,
            clock,
            aws,
            engine,
            router,
            path_base,
            nudges,
            crashes,
        };
        world.put_group("rg").await;
        world
    }

    /// Creates a resource group.
    pub async fn put_group(&self, name: &str) {
        let base = &self.path_base;
        let path = format!("{base}/planes/radius/local/resourceGroups/{name}?{API_VERSION}");
        self.call("PUT", &path, &json!({"location": "global"}).to_string())
            .await
            .expect(200);
    }

    /// Sends one request while the engine stands still, as on a server whose workers are all busy.
    pub async fn send(&self, request: Request<Body>) -> Reply {
        let response = self
            .router
            .clone()
            .oneshot(request)
            .await
            .expect("the router answers");
        Reply::read(response).await
    }

    /// Sends one request with a JSON body (none when empty) while the engine steps what is due, so that the reply has
    /// the verdict. Time stands still meanwhile.
    pub async fn call(&self, method: &str, path: &str, body: &str) -> Reply {
        let answered = Cell::new(false);
        let replying = async {
            let reply = self.send(request(method, path, body)).await;
            answered.set(true);
            reply
        };
        let stepping = async {
            while !answered.get() {
                self.step().await;
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(replying, stepping).0
    }

    /// Sends one request that waits for the end of its operation while the engine works and time passes.
    pub async fn call_until_settled(&self, method: &str, path: &str, body: &str) -> Reply {
        let answered = Cell::new(false);
        let replying = async {
            let reply = self.send(request(method, path, body)).await;
            answered.set(true);
            reply
        };
        let settling = async {
            while !answered.get() {
                self.settle().await;
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(replying, settling).0
    }

    /// Removes the operations that ended longer than `retention` ago.
    pub async fn sweep(&self, retention: Duration) -> u64 {
        let sweeper = Sweeper {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            retention,
            interval: retention,
        };
        sweeper.sweep().await.expect("the store answers")
    }

    /// Sends one request that prefers not to wait for the verdict.
    pub async fn send_without_waiting(&self, method: &str, path: &str, body: &str) -> Reply {
        let mut request = request(method, path, body);
        request.headers_mut().insert(
            "prefer",
            axum::http::HeaderValue::from_static("respond-async"),
        );
        self.send(request).await
    }

    /// Sends one request with a JSON body and these headers besides.
    pub async fn send_with(
        &self,
        headers: &[(&'static str, &str)],
        method: &str,
        path: &str,
        body: &str,
    ) -> Reply {
        let mut request = request(method, path, body);
        for (name, value) in headers {
            let value = value.parse().expect("a header's value");
            request.headers_mut().insert(*name, value);
        }
        self.send(request).await
    }

    /// Reads `path`.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(request("GET", path, "")).await
    }

    /// The resource group `rg` with what it tracks.
    pub async fn group(&self) -> Value {
        let base = &self.path_base;
        self.get(&format!("{base}{GROUP}?{API_VERSION}"))
            .await
            .expect(200)
            .body
    }

    /// The references of the resource group `rg`.
    pub async fn references(&self) -> Vec<Value> {
        self.group().await["resources"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// Posts an action (`put`, `delete` or `import`) on a type such as `AWS.EC2/VPC`.
    pub async fn post(&self, resource_type: &str, action: &str, body: &Value) -> Reply {
        let base = &self.path_base;
        let path = format!(
            "{base}/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/:{action}"
        );
        self.call("POST", &path, &body.to_string()).await
    }

    /// Puts `properties` under `alias`.
    pub async fn put(&self, resource_type: &str, alias: &str, properties: Value) -> Reply {
        let tracked_by = tracked_by(resource_type, alias);
        let body = json!({"alias": alias, "trackedBy": tracked_by, "properties": properties});
        self.post(resource_type, "put", &body).await
    }

    /// Puts `properties` under `alias` and waits for the outcome: the final status body.
    pub async fn put_and_settle(
        &self,
        resource_type: &str,
        alias: &str,
        properties: Value,
    ) -> Value {
        let reply = self.put(resource_type, alias, properties).await;
        assert!(
            reply.status == 200 || reply.status == 201,
            "unexpected reply: {}",
            reply.text
        );
        if reply.status == 200 {
            return json!({"status": "Succeeded", "unchanged": true});
        }
        self.settle().await;
        self.status(&reply).await
    }

    /// Deletes what `alias` stands for.
    pub async fn delete(&self, resource_type: &str, alias: &str) -> Reply {
        let body = json!({"alias": alias, "trackedBy": tracked_by(resource_type, alias)});
        self.post(resource_type, "delete", &body).await
    }

    /// The status of the operation that `reply` began.
    pub async fn status(&self, reply: &Reply) -> Value {
        self.get(path_of(reply.status_url())).await.expect(200).body
    }

    /// Steps everything that is due now. A planned crash ends it as it would end a process.
    pub async fn step(&self) {
        match self.engine.run_due().await {
            Ok(_) | Err(Abandoned::Crashed(_)) => self.nudges.moved().notify_waiters(),
            Err(error) => panic!("the engine gave up: {error:?}"),
        }
    }

    /// Steps and moves the clock until nothing is in flight.
    pub async fn settle(&self) {
        for _ in 0..STEPS_MAX {
            self.step().await;
            match self
                .store
                .live_operations()
                .await
                .expect("the store answers")
            {
                (0, _) => return,
                (_, Some(due_at)) => self.clock.move_to(due_at),
                (_, None) => self.clock.advance(LEASE.0),
            }
        }
        panic!("the world does not come to rest");
    }

    /// Crashes the engine when it reaches `point`, or the turn of it that is meant. Whether that happened is told by
    /// [`World::has_crashed`].
    pub fn crash_at(&self, point: impl Into<CrashTurn>) {
        *self.crashes.0.lock().expect("no panic holds the lock") = Some(point.into());
    }

    /// Whether the planned crash has happened.
    pub fn has_crashed(&self) -> bool {
        self.crashes
            .0
            .lock()
            .expect("no panic holds the lock")
            .is_none()
    }

    /// How often AWS was called for `operation` (such as `CreateResource`).
    pub fn calls(&self, operation: &str) -> usize {
        let log = serde_json::to_value(self.aws.log()).expect("the log is JSON");
        let entries = log.as_array().map(Vec::as_slice).unwrap_or_default();
        entries
            .iter()
            .filter(|entry| entry["operation"] == operation)
            .count()
    }

    /// The calls but those that only describe types.
    pub fn calls_on_resources(&self) -> Vec<Value> {
        let log = serde_json::to_value(self.aws.log()).expect("the log is JSON");
        let mut entries = log.as_array().cloned().unwrap_or_default();
        entries.retain(|entry| entry["operation"] != "DescribeType");
        entries
    }

    /// How many creates AWS was asked for, however often each was sent.
    pub fn creates(&self) -> usize {
        let log = serde_json::to_value(self.aws.log()).expect("the log is JSON");
        let entries = log.as_array().map(Vec::as_slice).unwrap_or_default();
        let creates = entries
            .iter()
            .filter(|entry| entry["operation"] == "CreateResource");
        let tokens: BTreeSet<&str> = creates
            .filter_map(|entry| entry["clientToken"].as_str())
            .collect();
        tokens.len()
    }

    /// The identifiers of the live AWS resources of a type such as `AWS::EC2::VPC`.
    pub fn live(&self, type_name: &str) -> Vec<String> {
        let resources = serde_json::to_value(self.aws.resources()).expect("the resources are JSON");
        let resources = resources.as_array().cloned().unwrap_or_default();
        let of_type = resources
            .iter()
            .filter(|resource| resource["typeName"] == type_name);
        of_type
            .filter_map(|resource| resource["identifier"].as_str().map(str::to_owned))
            .collect()
    }

    /// The history of `alias`.
    pub async fn events(&self, resource_type: &str, alias: &str) -> Vec<ucp_store::Event> {
        let id: ReferenceId = tracked_by(resource_type, alias)
            .parse()
            .expect("a tracking id");
        self.store
            .list_events(&id)
            .await
            .expect("the store answers")
    }

    /// Whatever the scenario did: nothing is in flight, and no AWS resource is owned twice.
    async fn assert_in_order(&self) {
        let (live, _) = self
            .store
            .live_operations()
            .await
            .expect("the store answers");
        assert_eq!(live, 0, "operations are still in flight");
        let group = GroupId::new("local", "rg").expect("a group id");
        let references = match self.store.list_references(&group).await {
            Err(ucp_store::Error::NoSuchGroup) => return,
            other => other.expect("the store answers"),
        };
        let mut owners: BTreeMap<String, u32> = BTreeMap::new();
        for reference in &references {
            let target = reference.target().as_ref().map(Target::key);
            let target = target.unwrap_or_else(|| panic!("{} maps nothing at rest", reference.id));
            if reference.owned {
                *owners.entry(target).or_default() += 1;
            }
        }
        assert!(
            owners.values().all(|count| *count == 1),
            "a resource has two owners: {owners:?}"
        );
    }
}

fn request(method: &str, path: &str, body: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost:8787")
        .header("content-type", "application/json")
        .body(Body::from(body.to_owned()))
        .expect("a request")
}

/// The path of an absolute URL.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}

/// The simulator takes every account.
struct AnyAccount;

#[async_trait]
impl Accounts for AnyAccount {
    async fn verify(&self, _: &Scope) -> Result<(), Rejection> {
        Ok(())
    }
}

struct NobodyToWake;

impl Wake for NobodyToWake {
    fn wake(&self) {}
}

/// At most one crash to come.
#[derive(Default)]
struct PlannedCrash(Mutex<Option<CrashTurn>>);

impl Checkpoints for PlannedCrash {
    fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        let mut planned = self.0.lock().expect("no panic holds the lock");
        let before = planned.take();
        *planned = before.and_then(|turn| turn.reached(point));
        if before.is_some() && planned.is_none() {
            return Err(Crashed);
        }
        Ok(())
    }
}
