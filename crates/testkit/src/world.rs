use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use tower::ServiceExt;
use ucp_api::PathBase;
use ucp_engine::{Abandoned, Sweeper, Workers};
use ucp_model::{Clock, GroupId, ReferenceId, Target};
use ucp_node::Node;
use ucp_observe::{Crashed, Process};
use ucp_simulator::Simulator;
use ucp_store::{Error, LeaseTerm, Store};

use crate::crashes::Crashes;
use crate::log::Log;
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
pub(crate) const LEASE: LeaseTerm = LeaseTerm(Duration::from_secs(30));
/// How many steps a world may take to settle; real scenarios need a few dozen.
const STEPS_MAX: usize = 20_000;

/// The reference id of `alias` for a type such as `AWS.EC2/VPC`.
pub fn tracked_by(resource_type: &str, alias: &str) -> String {
    format!("{GROUP}/providers/{resource_type}:reference/{alias}")
}

/// Everything but the network and the passing of time.
pub struct World {
    /// What `ucp` remembers. It answers even when the server has died.
    pub store: Arc<dyn Store>,
    /// Time.
    pub clock: Arc<ManualClock>,
    /// AWS.
    pub aws: Simulator,
    pub(crate) node: Node,
    pub(crate) path_base: PathBase,
    pub(crate) crashes: Arc<Crashes>,
    pub(crate) process: Arc<Process>,
    pub(crate) log: Arc<Log>,
    /// Whatever has to live as long as the store.
    pub(crate) _guard: Box<dyn Any + Send>,
}

impl World {
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
            .node
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

    /// The resource group `rg` with its references.
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

    /// Steps everything that is due now. A planned crash ends it as it would end a process, and the next step is that of
    /// another one.
    pub async fn step(&self) {
        let Workers { engine, nudges, .. } = &self.node.workers;
        match engine.run_due().await {
            Ok(_) => {}
            Err(Abandoned::Store(Error::Unavailable(_))) if self.process.revive() => {}
            Err(error) => panic!("the engine gave up: {error:?}"),
        }
        nudges.moved().notify_waiters();
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

    /// From here on, [`crash_everywhere`](crate::crash_everywhere) takes note of crash points and crashes at them.
    pub fn may_crash(&self) {
        self.crashes.arm();
    }

    /// Whether the crash has happened that this world was made for.
    pub fn has_crashed(&self) -> bool {
        self.crashes.has_crashed()
    }

    /// Sends a change and sees it through. When the server dies of the request, sends it again, as a client does. The
    /// final status; none when the request that was sent again found the change made.
    pub async fn see_through(&self, method: &str, path: &str, body: &str) -> Option<Value> {
        // What is left of a server that dies logs why it cannot go on.
        self.log.tolerate(&Crashed.to_string());
        let had_crashed = self.has_crashed();
        let mut reply = self.send_without_waiting(method, path, body).await;
        if self.has_crashed() && !had_crashed {
            reply.expect(503);
            self.settle().await;
            reply = self.send_without_waiting(method, path, body).await;
            if matches!(reply.status, 200 | 204) {
                return None;
            }
        }
        assert!(
            matches!(reply.status, 201 | 202),
            "unexpected reply: {}",
            reply.text
        );
        self.settle().await;
        Some(self.status(&reply).await)
    }

    /// Expects that something is logged as WARN or ERROR with `text` in it. What is not expected fails the test.
    pub fn expect_log(&self, text: &str) {
        self.log.expect(text);
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
            .expect("a reference id");
        self.store
            .list_events(&id)
            .await
            .expect("the store answers")
    }

    /// Ends the world. Whatever the scenario did: nothing is in flight, and no AWS resource is owned twice.
    pub async fn finish(self) {
        let (live, _) = self
            .store
            .live_operations()
            .await
            .expect("the store answers");
        assert_eq!(live, 0, "operations are still in flight");
        let group = GroupId::new("local", "rg").expect("a group id");
        let references = match self.store.list_references(&group).await {
            Err(Error::NoSuchGroup) => return,
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
