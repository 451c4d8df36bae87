use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use serde_json::{Value, json};
use tower::ServiceExt;
use ucp_access::Role;
use ucp_api::PathBase;
use ucp_audit::Auditor;
use ucp_audit::testing::Moody;
use ucp_authentication::NewToken;
use ucp_engine::{Abandoned, Nudges, Pulse, Sweeper, Swept, Watcher, Workers};
use ucp_listen::Witness;
use ucp_model::{Clock, Identifier, ReferenceId, SeededEntropy, Timestamp};
use ucp_node::Node;
use ucp_observe::{Crashed, Process};
use ucp_simulator::Simulator;
use ucp_store::{Error, LeaseTerm, Store, Token};

use crate::aws::{Hanging, Held, OtherNames};
use crate::callers::{Callers, ROOT};
use crate::crashes::{Crashes, Mishap, Passer};
use crate::log::Log;
use crate::notes::Notes;
use crate::place::{ACCOUNT, REGION};
use crate::record::Recorded;
use crate::{ManualClock, Reply, StoreKind, broker};

/// The initial resource group of every world.
pub const GROUP: &str = "/planes/radius/local/resourceGroups/rg";

/// How long a schema from the registry is used before it is refreshed.
pub const SCHEMA_TTL: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) const API_VERSION: &str = "api-version=2023-10-01-preview";
pub(crate) const LEASE: LeaseTerm = LeaseTerm(Duration::from_secs(30));
/// The maximum number of steps to settle. Real scenarios need a few dozen.
const STEPS_MAX: usize = 20_000;

/// Returns the reference id of `alias` for a type such as `AWS.EC2/VPC`.
pub fn tracked_by(resource_type: &str, alias: &str) -> String {
    format!("{GROUP}/providers/{resource_type}:reference/{alias}")
}

/// The step of a worker.
pub(crate) type Stepping = Pin<Box<dyn Future<Output = Result<usize, Abandoned>> + Send>>;

/// The whole product and a simulated AWS in one process, without a network and with a manual clock.
pub struct World {
    pub(crate) kind: StoreKind,
    /// The store. It is available even after the server has crashed.
    pub store: Arc<dyn Store>,
    /// The clock.
    pub clock: Arc<ManualClock>,
    /// The simulated AWS.
    pub aws: Simulator,
    pub(crate) held: Held,
    pub(crate) held_steps: Held,
    pub(crate) hanging: Hanging,
    pub(crate) names: OtherNames,
    pub(crate) node: Node,
    /// The API, with the service broker beside it.
    pub(crate) router: Mutex<Router>,
    pub(crate) path_base: PathBase,
    pub(crate) callers: Callers,
    pub(crate) crashes: Arc<Crashes>,
    /// What a stalled worker has not done yet.
    pub(crate) stalled: Mutex<Option<Stepping>>,
    pub(crate) process: Arc<Process>,
    pub(crate) auditor: Auditor,
    pub(crate) audit_store: Arc<Moody>,
    pub(crate) notes: Arc<Notes>,
    pub(crate) log: Arc<Log>,
    /// Keeps resources of the store alive.
    pub(crate) _guard: Box<dyn Any + Send>,
}

impl World {
    /// Returns all cases in memory, and every fourth over a database, unless `UCP_MATRIX=all`: what is decided does not
    /// depend on the store, and each case takes many statements there.
    pub fn sample<T>(&self, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let every = match self.kind {
            StoreKind::Memory => 1,
            StoreKind::Sqlite | StoreKind::Postgres if ucp_choice::is_matrix_whole() => 1,
            StoreKind::Sqlite | StoreKind::Postgres => 4,
        };
        cases.into_iter().step_by(every)
    }

    /// Returns who is told of what the server refuses before it is a request.
    pub fn witness(&self) -> &dyn Witness {
        self.node.witness.as_ref()
    }

    /// Creates a resource group.
    pub async fn put_group(&self, name: &str) {
        let base = &self.path_base;
        let path = format!("{base}/planes/radius/local/resourceGroups/{name}?{API_VERSION}");
        let body = json!({"location": "global"}).to_string();
        self.call_as(ROOT, "PUT", &path, &body).await.expect(200);
    }

    /// Creates a resource group with a token.
    pub async fn put_group_as(&self, token: &str, name: &str) -> Reply {
        let base = &self.path_base;
        let path = format!("{base}/planes/radius/local/resourceGroups/{name}?{API_VERSION}");
        let bearer = format!("Bearer {token}");
        let body = json!({"location": "global"}).to_string();
        self.send_with(&[("authorization", &bearer)], "PUT", &path, &body)
            .await
    }

    /// Makes a token, whose callers are named `token:` and `name`.
    pub async fn token(
        &self,
        name: &str,
        role: Role,
        scopes: &[&str],
        lifetime: Option<Duration>,
    ) -> String {
        // Made by another process.
        let others = self.store.list_tokens(None, usize::MAX).await;
        let others = others.expect("the store answers").len();
        let seed = u64::try_from(others).expect("few tokens");
        let new = NewToken::draw(&SeededEntropy::new(seed));
        let scopes = scopes.iter().map(|scope| scope.parse().expect("a scope"));
        let now = self.clock.now();
        let token = Token {
            id: new.id.clone(),
            name: name.to_owned(),
            digest: new.digest,
            role,
            scopes: scopes.collect(),
            created_at: now,
            expires_at: lifetime.map(|lifetime| now.after(lifetime)),
            last_used_at: None,
            revoked_at: None,
        };
        let created = self.store.create_token(token).await;
        assert!(created.expect("the store answers"));
        (*new.text).clone()
    }

    /// Sends a request without stepping the engine, as on a server whose workers are all busy.
    pub async fn send(&self, request: Request<Body>) -> Reply {
        let (recorded, request) = Recorded::of(request).await;
        let response = self.answered(request).await;
        let reply = Reply::read(response).await;
        if let Some(recorded) = recorded {
            recorded.replied(&reply);
        }
        self.notes.note(&reply);
        // What a test counts does not depend on the time at which it is recorded.
        self.auditor.flush().await;
        reply
    }

    /// Sends a request, and does not read the body of the reply yet.
    pub async fn answered(&self, request: Request<Body>) -> Response {
        let router = self.router.lock();
        let router = router.expect("nobody panicked").clone();
        let response = router.oneshot(request).await;
        response.expect("the router answers")
    }

    /// Returns the room of a caller for what requests work with, as if another one of them were under way.
    pub fn room_of(&self, caller: &str) -> ucp_app::Room {
        self.node.broker_parts.work.room(&caller.into())
    }

    /// Starts the service broker anew after edits of its files: the name of a file, a text in it, and what stands there
    /// instead.
    pub fn offer(&self, edits: &[(&str, &str, &str)]) {
        self.offer_and_wait(edits, broker::SYNC_WAIT);
    }

    /// The same, with what a platform that does not poll waits for the end.
    pub fn offer_and_wait(&self, edits: &[(&str, &str, &str)], sync_wait: Duration) {
        let parts = self.node.broker_parts.clone();
        let broker = ucp_broker::router(parts, broker::settings_with(edits, sync_wait));
        let router = ucp_node::beside(self.node.router.clone(), Some(broker));
        *self.router.lock().expect("nobody panicked") = router;
    }

    /// The reply to a request, which does not depend on this world any more.
    pub(crate) fn answer_to(
        &self,
        request: Request<Body>,
    ) -> impl Future<Output = Reply> + Send + 'static {
        let answer = self
            .router
            .lock()
            .expect("nobody panicked")
            .clone()
            .oneshot(request);
        let notes = Arc::clone(&self.notes);
        async move {
            let reply = Reply::read(answer.await.expect("the router answers")).await;
            notes.note(&reply);
            reply
        }
    }

    /// Whether its process has died.
    pub(crate) fn has_died(&self) -> bool {
        self.process.has_crashed()
    }

    /// Deletes a resource outside of `ucp`.
    pub fn vanish(&self, type_name: &str, identifier: &str) {
        let resource = (type_name, identifier);
        let deleted = self.aws.delete_out_of_band(None, None, resource);
        deleted.expect("it exists");
        let vanished = identifier.to_owned();
        self.notes.noted().vanished.insert(vanished);
    }

    /// Sends a request with a JSON body (none when empty) while the engine steps what is due, so that the reply has the
    /// verdict. The clock does not move.
    pub async fn call(&self, method: &str, path: &str, body: &str) -> Reply {
        self.answer(request(method, path, body)).await
    }

    /// The same as `caller`, if callers are known here: `NAME`, or `NAME;GROUP,GROUP`.
    pub async fn call_as(&self, caller: &str, method: &str, path: &str, body: &str) -> Reply {
        let mut request = request(method, path, body);
        match self.callers {
            Callers::Anybody => {}
            Callers::Known => {
                let token = format!("Bearer {caller}").parse();
                let token = token.expect("the value of a header");
                request.headers_mut().insert("authorization", token);
            }
        }
        self.answer(request).await
    }

    async fn answer(&self, request: Request<Body>) -> Reply {
        let answered = Cell::new(false);
        let replying = async {
            let reply = self.send(request).await;
            answered.set(true);
            reply
        };
        let stepping = async {
            while !answered.get() {
                // How often this is asked depends on the threads of a store. A claim of nothing would be a crash point
                // that is not passed in each run.
                if self.is_due().await {
                    self.step().await;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(replying, stepping).0
    }

    /// Returns when an operation can be claimed next, or may have its turn.
    async fn next_at(&self) -> Result<Option<Timestamp>, Error> {
        let next = self.store.next_claimable_at().await?;
        let turn = self.node.workers.engine.next_turn_at();
        Ok(next.map(|next| turn.map_or(next, |turn| next.min(turn))))
    }

    /// Whether an operation can be claimed now.
    async fn is_due(&self) -> bool {
        match self.next_at().await {
            Ok(next) => next.is_some_and(|next| next <= self.clock.now()),
            // The step tells why.
            Err(_) => true,
        }
    }

    /// Sends a request that waits for the end of its operation, while the engine settles and the clock moves.
    pub async fn call_until_settled(&self, method: &str, path: &str, body: &str) -> Reply {
        self.send_until_settled(request(method, path, body)).await
    }

    /// The same with any request.
    pub async fn send_until_settled(&self, request: Request<Body>) -> Reply {
        let answered = Cell::new(false);
        let replying = async {
            let reply = self.send(request).await;
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

    /// Removes operations and events from more than `retention` ago.
    pub async fn sweep(&self, retention: Duration) -> Swept {
        self.notes.noted().is_swept = true;
        let sweeper = Sweeper {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            operation_retention: retention,
            history_retention: retention,
            audit_retention: retention,
            interval: retention,
        };
        sweeper.sweep().await.expect("the store answers")
    }

    /// Tries the leftovers that are due. Returns how many operations were accepted. A planned crash ends it.
    pub async fn keep(&self) -> usize {
        match self.node.keeper.keep().await {
            Err(Error::Unavailable(_)) if self.process.revive() => 0,
            kept => kept.expect("the store answers"),
        }
    }

    /// Sends a request with `Prefer: respond-async`.
    pub async fn send_without_waiting(&self, method: &str, path: &str, body: &str) -> Reply {
        let mut request = request(method, path, body);
        request.headers_mut().insert(
            "prefer",
            axum::http::HeaderValue::from_static("respond-async"),
        );
        self.send(request).await
    }

    /// Sends a request with a JSON body and additional headers.
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

    /// Sends a GET.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(request("GET", path, "")).await
    }

    /// Returns the resource group `rg` with its references.
    pub async fn group(&self) -> Value {
        let base = &self.path_base;
        self.get(&format!("{base}{GROUP}?{API_VERSION}"))
            .await
            .expect(200)
            .body
    }

    /// Returns the references of the resource group `rg`.
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

    /// Puts `properties` under `alias`, waits for the outcome, and returns the final status body.
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

    /// Deletes the resource that `alias` stands for.
    pub async fn delete(&self, resource_type: &str, alias: &str) -> Reply {
        let body = json!({"alias": alias, "trackedBy": tracked_by(resource_type, alias)});
        self.post(resource_type, "delete", &body).await
    }

    /// Returns the status of the operation that `reply` started.
    pub async fn status(&self, reply: &Reply) -> Value {
        self.get(path_of(reply.status_url())).await.expect(200).body
    }

    /// Returns workers with this number of slots, for a test that runs them.
    pub fn workers(&self, slots: usize) -> Workers {
        Workers {
            engine: Arc::clone(&self.node.workers.engine),
            nudges: Nudges::default(),
            pulse: Pulse::default(),
            concurrency: slots,
            poll_interval: Duration::from_millis(20),
            grace: Duration::from_secs(60),
        }
    }

    /// Returns the watcher of another process of this name, for a test that runs it.
    pub fn watcher(&self, name: &str) -> Watcher {
        let engine = Arc::clone(&self.node.workers.engine);
        Watcher::new(engine, Nudges::default()).named(name)
    }

    /// Lets the creates of an account hang from here on, or none.
    pub fn hang(&self, account: Option<&str>) {
        self.hanging.set(account);
    }

    /// Steps everything that is due now. A planned crash ends it like the death of a process; the next step is that of
    /// another process. A step that stalls as planned is left to [`settle`](Self::settle).
    pub async fn step(&self) {
        let engine = Arc::clone(&self.node.workers.engine);
        let mut stepping: Stepping = Box::pin(async move { engine.run_due().await });
        self.crashes.passing(Passer::Worker);
        let stepped = tokio::select! {
            biased;
            stepped = &mut stepping => Some(stepped),
            () = self.crashes.stalled() => None,
        };
        self.crashes.passing(Passer::Request);
        match stepped {
            Some(stepped) => self.expect_stepped(stepped),
            None => *self.stalled() = Some(stepping),
        }
    }

    fn expect_stepped(&self, stepped: Result<usize, Abandoned>) {
        match stepped {
            Ok(_) => {}
            Err(Abandoned::Store(Error::Unavailable(_))) if self.process.revive() => {}
            // Workers report it and go on.
            Err(error @ (Abandoned::Keys(_) | Abandoned::Unplanned(_))) => {
                tracing::warn!(error = %ucp_model::chain(&error), "step not finished");
            }
            Err(error) => panic!("the engine gave up: {error:?}"),
        }
    }

    fn stalled(&self) -> MutexGuard<'_, Option<Stepping>> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Steps and moves the clock until nothing is in flight. Then a stalled worker goes on, if there is one.
    pub async fn settle(&self) {
        for _ in 0..STEPS_MAX {
            self.step().await;
            let next = self.next_at().await;
            match next.expect("the store answers") {
                Some(next) => self.clock.move_to(next),
                None => {
                    let Some(stalled) = self.stalled().take() else {
                        return;
                    };
                    self.crashes.release();
                    match stalled.await {
                        // Another worker has carried the deletion through.
                        Err(Abandoned::Store(Error::NoSuchGroup)) => {}
                        stepped => self.expect_stepped(stepped),
                    }
                }
            }
        }
        panic!("the world does not settle");
    }

    /// From here on, [`crash_everywhere`](crate::crash_everywhere) and [`disturb_everywhere`](crate::disturb_everywhere)
    /// record crash points and bring about their mishaps.
    pub fn may_crash(&self) {
        self.crashes.arm();
    }

    /// Whether the planned crash has happened.
    pub fn has_crashed(&self) -> bool {
        self.crashes.has_happened(Mishap::Crash)
    }

    /// Whether the planned mishap has happened.
    pub fn is_disturbed(&self) -> bool {
        let mut mishaps = [Mishap::Crash, Mishap::Stall].into_iter();
        mishaps.any(|mishap| self.crashes.has_happened(mishap))
    }

    /// Sends a change and waits for its end. If the server crashes during the request, sends it again, as a client
    /// would. Returns the final status; `None` if the repeated request found the change already made, or its plan used.
    pub async fn see_through(&self, method: &str, path: &str, body: &str) -> Option<Value> {
        // After a crash, the remaining tasks of the server log why they stop.
        self.log.tolerate(&Crashed.to_string());
        let had_crashed = self.has_crashed();
        let mut reply = self.send_without_waiting(method, path, body).await;
        if self.has_crashed() && !had_crashed {
            reply.expect(503);
            self.settle().await;
            reply = self.send_without_waiting(method, path, body).await;
            if matches!(reply.status, 200 | 204 | 412) {
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

    /// Expects a WARN or ERROR line that contains `text`. Unexpected lines fail the test.
    pub fn expect_log(&self, text: &str) {
        self.log.expect(text);
    }

    /// Allows WARN and ERROR lines that contain `text`.
    pub fn tolerate_log(&self, text: &str) {
        self.log.tolerate(text);
    }

    /// Counts the calls of the server to a method of the store, such as `get_operation`.
    pub fn asked_store(&self, method: &str) -> usize {
        self.crashes.asked(method)
    }

    /// Returns how often the server has called each method of the store that it has called.
    pub fn asked_of_store(&self) -> BTreeMap<&'static str, usize> {
        let mut counted = BTreeMap::new();
        for method in self.crashes.asked_all() {
            *counted.entry(method).or_default() += 1;
        }
        counted
    }

    /// Returns the methods of the store that the server has called, in order.
    pub fn asked_of_store_in_order(&self) -> Vec<&'static str> {
        self.crashes.asked_all()
    }

    /// Holds the reply to the next read of a request until [`release_reads`](Self::release_reads).
    pub fn hold_next_read(&self) {
        self.held.hold_next();
    }

    /// Holds the reply to the next read of a worker, whose step does not end.
    pub fn hold_next_step(&self) {
        self.held_steps.hold_next();
    }

    /// Returns once so many steps are held at the same time.
    pub async fn are_steps_held(&self, count: usize) {
        self.held_steps.are_held(count).await;
    }

    /// Holds the next write of a worker, whose step has nothing else left to do.
    pub fn hold_next_write(&self) {
        self.crashes.writes.hold_next();
    }

    /// Returns once a write is held.
    pub async fn is_write_held(&self) {
        self.crashes.writes.is_held().await;
    }

    /// Holds the next request or worker just before the transaction that accepts its operation or child, or moves references.
    pub fn hold_next_accept(&self) {
        self.crashes.accepts.hold_next();
    }

    /// Returns once such a request is held.
    pub async fn is_accept_held(&self) {
        self.crashes.accepts.is_held().await;
    }

    /// Lets the requests go that are held so.
    pub fn release_accepts(&self) {
        self.crashes.accepts.release();
    }

    /// Lets the steps go that are held, or forgets them, if they are no more.
    pub fn release_steps(&self) {
        self.held_steps.release();
        self.crashes.writes.release();
    }

    /// Returns once a reply to a read is held.
    pub async fn is_read_held(&self) {
        self.held.is_held().await;
    }

    /// Lets the replies go that are held.
    pub fn release_reads(&self) {
        self.held.release();
    }

    /// Makes reads find the resource `identifier` under another name too, as AWS does for some types.
    pub fn also_name(&self, identifier: &str, name: &str) {
        let parse = |text| Identifier::parse(text).expect("an identifier");
        self.names.add(parse(name), parse(identifier));
    }

    /// Returns the history of `alias`.
    pub async fn events(&self, resource_type: &str, alias: &str) -> Vec<ucp_store::Event> {
        let id: ReferenceId = tracked_by(resource_type, alias)
            .parse()
            .expect("a reference id");
        self.store
            .list_events(&id)
            .await
            .expect("the store answers")
    }
}

pub(crate) fn request(method: &str, path: &str, body: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost:8787")
        .header("content-type", "application/json")
        .body(Body::from(body.to_owned()))
        .expect("a request")
}

/// Returns the path of an absolute URL.
pub(crate) fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}
