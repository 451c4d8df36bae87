mod end;

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use ucp_testkit::{Reply, World, tracked_by};

use super::act::{self, ALIASES, Act, Alias, LOG_GROUP, Request, SECRET, Subject, VPC, Way};
use super::faults::Faults;

/// How often workers step before the clock moves to when something is due, while a client waits.
const STEPS: usize = 30;

/// What happens in a world, and the invariants that hold meanwhile.
pub(super) struct Story<'a> {
    world: &'a World,
    told: Told,
    accepted: Vec<Accepted>,
    declared: BTreeMap<Alias, Value>,
    put_statuses: BTreeMap<u16, usize>,
    /// How many requests have met an alias whose create has an unknown outcome.
    unknown: usize,
}

/// An accepted operation.
struct Accepted {
    reply: Reply,
    subject: Subject,
    /// The resource that it deletes, if AWS assigned its identifier, which no other one gets.
    deletes: Option<String>,
    /// Whether it is known to have ended.
    has_ended: Cell<bool>,
}

/// The acts so far, which are printed when the test fails.
struct Told {
    seed: u64,
    lines: Vec<String>,
}

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let seed = self.seed;
            println!("the world of seed {seed}; UCP_SEEDS={seed}..{}", seed + 1);
            for line in &self.lines {
                println!("  {line}");
            }
        }
    }
}

impl<'a> Story<'a> {
    pub(super) fn new(seed: u64, world: &'a World, faults: &Faults) -> Self {
        world.tolerate_log("the call did not succeed");
        faults.set(world);
        let lines = vec![format!("{faults:?}")];
        Self {
            world,
            told: Told { seed, lines },
            accepted: Vec::new(),
            declared: BTreeMap::new(),
            put_statuses: BTreeMap::new(),
            unknown: 0,
        }
    }

    /// Lets the keeper try what is due.
    pub(super) async fn keep(&mut self) {
        self.world.tolerate_log("could not look after");
        self.world.keep().await;
    }

    pub(super) fn unknown(&self) -> usize {
        self.unknown
    }

    /// Whether a request would decide by force what came of a create. Then nobody looks any more.
    async fn is_unknown(&mut self, act: &Act) -> bool {
        let (Act::Delete(Subject::Alias(alias)) | Act::Forget(alias)) = act else {
            return false;
        };
        let path = tracked_by(alias.resource_type, alias.name);
        let reference = self.world.get(&path).await.body;
        reference["provisioningState"] == "Unknown"
    }

    fn tell(&mut self, line: String) {
        self.told.lines.push(line);
    }

    /// Carries out an act, and checks the invariants that always hold.
    pub(super) async fn carry_out(&mut self, act: Act, way: Way) {
        let now = ucp_model::Clock::now(self.world.clock.as_ref());
        let live = self.world.live("AWS::EC2::VPC");
        let request = act::request(&act, &live);
        self.tell(match &request {
            Some((method, path, body)) => format!("{now} {way:?} {method} {path} {body}"),
            None => format!("{now} {act:?}"),
        });
        if self.is_unknown(&act).await {
            self.unknown += 1;
            return;
        }
        match request {
            Some(request) => self.send(&act, &request, way).await,
            None => self.intervene(&act).await,
        }
        self.check_references().await;
    }

    async fn intervene(&mut self, act: &Act) {
        let world = self.world;
        let resources = json_of(&world.aws.resources());
        let resources = resources.as_array().expect("a list");
        let at = |place: usize| {
            let resource = resources.get(place % resources.len().max(1))?;
            let text = |member: &str| resource[member].as_str().expect("text");
            Some((text("typeName"), text("identifier")))
        };
        match act {
            Act::Change(place) => {
                if let Some(resource @ (type_name, _)) = at(*place) {
                    let patch = match type_name {
                        "AWS::EC2::VPC" => json!({"EnableDnsSupport": false, "Tags": []}),
                        "AWS::Logs::LogGroup" => json!({"RetentionInDays": 30}),
                        _ => json!({"Description": "changed outside"}),
                    };
                    let changed = world.aws.patch_out_of_band(None, None, resource, &patch);
                    changed.expect("it exists");
                }
            }
            Act::Vanish(place) => {
                if let Some(resource) = at(*place) {
                    let deleted = world.aws.delete_out_of_band(None, None, resource);
                    deleted.expect("it exists");
                }
            }
            Act::Pass(duration) => world.clock.advance(*duration),
            Act::Step => world.step().await,
            Act::Settle => world.settle().await,
            Act::Put { .. } | Act::Delete(_) | Act::Import { .. } | Act::Forget(_) => {
                unreachable!("requests are sent")
            }
        }
    }

    async fn send(&mut self, act: &Act, request: &Request, way: Way) {
        let lost = self.lost_replies();
        let deletes = self.deleted_by(act, request).await;
        let replies = match way {
            Way::Waiting => vec![self.ask(request).await],
            Way::ToTheEnd => {
                let reply = self.ask(request).await;
                self.world.settle().await;
                vec![reply]
            }
            Way::Twice => self.ask_twice(request).await,
            Way::NotWaiting => vec![self.send_without_waiting(act, request).await],
        };
        let is_lost = self.lost_replies() > lost;
        for reply in &replies {
            let code = reply.body["error"]["code"].as_str().unwrap_or_default();
            self.tell(format!("  {} {code}", reply.status));
            self.unknown += usize::from(code == "OutcomeUnknown");
            assert!(reply.status < 500 || is_lost, "unexplained: {}", reply.text);
            if reply.header("azure-asyncoperation").is_some() {
                assert!(matches!(reply.status, 201 | 202), "{reply:?}");
                self.accepted.push(Accepted {
                    reply: reply.clone(),
                    subject: act.subject(),
                    deletes: deletes.clone(),
                    has_ended: Cell::new(false),
                });
            }
            if let Act::Put {
                subject,
                properties,
                ..
            } = act
            {
                *self.put_statuses.entry(reply.status).or_default() += 1;
                let is_known = matches!(reply.status, 200 | 201 | 409) || is_lost;
                assert!(is_known, "unexpected: {}", reply.text);
                for header in ["azure-asyncoperation", "location", "retry-after"] {
                    let is_polled = reply.header(header).is_some();
                    assert!(reply.status != 200 || !is_polled, "{reply:?}");
                }
                if let (Subject::Alias(alias), 200 | 201) = (subject, reply.status) {
                    self.declared.insert(*alias, properties.clone());
                }
            }
        }
        // The twin of a request may refuse it.
        if way != Way::Twice {
            self.check_conflict(&replies[0]).await;
        }
    }

    /// Returns the identifier that AWS assigned to what an act deletes.
    async fn deleted_by(&self, act: &Act, (_, path, _): &Request) -> Option<String> {
        match act {
            Act::Delete(Subject::Vpc(_)) => path.rsplit('/').next().map(str::to_owned),
            Act::Delete(Subject::Alias(alias)) | Act::Forget(alias)
                if alias.resource_type != LOG_GROUP =>
            {
                let path = tracked_by(alias.resource_type, alias.name);
                let reference = self.world.get(&path).await.body;
                let identifier = reference["mapsTo"]["primaryIdentifier"].as_str();
                identifier.map(str::to_owned)
            }
            _ => None,
        }
    }

    /// A conflict names the operation that is in the way.
    async fn check_conflict(&self, reply: &Reply) {
        let detail = &reply.body["error"]["details"][0];
        if reply.status == 409 && detail["code"] == "OperationInProgress" {
            // A reference and its resource each have a URL for it.
            let id = detail["target"]
                .as_str()
                .and_then(|url| url.rsplit('/').next());
            let mut accepted = self
                .accepted
                .iter()
                .map(|accepted| accepted.reply.status_url());
            let target = detail["target"].as_str().unwrap_or_default();
            let is_known = accepted.any(|url| url.rsplit('/').next() == id)
                || self.world.get(target).await.body["caller"] == "ucp";
            assert!(
                is_known,
                "an unknown operation is in the way: {}",
                reply.text
            );
        }
    }

    /// Sends a request while workers step, as a client that waits for the verdict. The clock moves when the verdict
    /// needs it, as after throttling.
    async fn ask(&self, (method, path, body): &Request) -> Reply {
        let request = Box::pin(self.world.send_with(&[], method, path, body));
        self.with_workers(request).await
    }

    async fn ask_twice(&self, (method, path, body): &Request) -> Vec<Reply> {
        let request = || Box::pin(self.world.send_with(&[], method, path, body));
        let both = async { tokio::join!(request(), request()) };
        let (one, other) = self.with_workers(both).await;
        vec![one, other]
    }

    async fn with_workers<R>(&self, request: impl Future<Output = R>) -> R {
        let answered = Cell::new(false);
        let replying = async {
            let reply = request.await;
            answered.set(true);
            reply
        };
        let stepping = async {
            let mut steps = 0;
            while !answered.get() {
                self.world.step().await;
                tokio::task::yield_now().await;
                steps += 1;
                if steps % STEPS == 0 {
                    let next = self.world.store.next_claimable_at().await;
                    let next = next.expect("the store answers");
                    next.inspect(|next| self.world.clock.move_to(*next));
                }
            }
        };
        tokio::join!(replying, stepping).0
    }

    /// Sends a request while no worker steps. What is busy refuses it, and nothing changes.
    async fn send_without_waiting(&self, act: &Act, (method, path, body): &Request) -> Reply {
        let is_busy = self.is_busy(act).await;
        let before = self.snapshot().await;
        let reply = self.world.send_without_waiting(method, path, body).await;
        if is_busy {
            // An alias without a reference has nothing to delete, even if it declares what is busy.
            let is_refused = match act {
                Act::Delete(_) | Act::Forget(_) => matches!(reply.status, 204 | 409),
                _ => reply.status == 409,
            };
            assert!(is_refused, "it is busy: {} {}", reply.status, reply.text);
            assert_eq!(self.snapshot().await, before, "it is busy, and was changed");
        }
        reply
    }

    /// Whether an operation that has not ended is on what the act is about. A reference may be forgotten while another
    /// alias of its resource is busy.
    async fn is_busy(&self, act: &Act) -> bool {
        let subject = act.subject();
        for accepted in self.accepted.iter().rev() {
            let is_same = match act {
                Act::Forget(_) => accepted.subject == subject,
                _ => accepted.subject.is_same(subject),
            };
            if is_same && !accepted.has_ended.get() {
                let status = self.world.status(&accepted.reply).await;
                if !is_terminal(&status) {
                    return true;
                }
                accepted.has_ended.set(true);
            }
        }
        false
    }

    /// What `ucp` and AWS have.
    async fn snapshot(&self) -> (Value, Value) {
        (
            self.world.group().await,
            json_of(&self.world.aws.resources()),
        )
    }

    fn lost_replies(&self) -> usize {
        let log = self.world.aws.log();
        log.iter()
            .filter(|entry| entry.outcome == "dropped")
            .count()
    }

    /// A resource has at most one owner, and an alias at most one resource that was created for it.
    async fn check_references(&self) {
        let mut owners = BTreeMap::<String, Vec<String>>::new();
        for reference in self.world.references().await {
            if reference["ownedResource"] == true {
                let target = reference["mapsTo"].to_string();
                let owner = reference["name"].to_string();
                owners.entry(target).or_default().push(owner);
            }
        }
        owners.retain(|target, _| target.contains("primaryIdentifier"));
        let is_owned_once = owners.values().all(|owners| owners.len() == 1);
        assert!(is_owned_once, "a resource has two owners: {owners:?}");
        let resources = self.resources();
        for alias in ALIASES
            .iter()
            .filter(|alias| alias.resource_type != LOG_GROUP)
        {
            let of_type = resources.iter().filter(|resource| alias.is_of(resource));
            let made: Vec<_> = of_type
                .filter(|resource| resource["properties"][alias.marked()] == json!(alias.mark))
                .collect();
            assert!(made.len() <= 1, "{alias:?} has several: {made:?}");
        }
    }

    fn resources(&self) -> Vec<Value> {
        let resources = json_of(&self.world.aws.resources());
        resources.as_array().cloned().unwrap_or_default()
    }
}

impl Act {
    fn subject(&self) -> Subject {
        match self {
            Act::Put { subject, .. } | Act::Delete(subject) => *subject,
            Act::Import { alias, .. } | Act::Forget(alias) => Subject::Alias(*alias),
            Act::Change(place) | Act::Vanish(place) => Subject::Vpc(*place),
            Act::Pass(_) | Act::Step | Act::Settle => unreachable!("it is no request"),
        }
    }
}

impl Subject {
    /// Whether an operation on one keeps the other busy.
    fn is_same(self, other: Self) -> bool {
        let log_group = |subject| match subject {
            Subject::Alias(alias) if alias.resource_type == LOG_GROUP => alias.mark,
            Subject::LogGroup(name) => Some(name),
            Subject::Alias(_) | Subject::Vpc(_) => None,
        };
        match (self, other) {
            (Subject::Alias(one), Subject::Alias(other)) if one == other => true,
            _ => log_group(self).is_some() && log_group(self) == log_group(other),
        }
    }
}

impl Alias {
    fn is_of(&self, resource: &Value) -> bool {
        let type_name = self.resource_type.replace(['.', '/'], "::");
        resource["typeName"] == type_name
    }

    /// The property that has its mark.
    fn marked(&self) -> &'static str {
        match self.resource_type {
            VPC => "CidrBlock",
            SECRET => "Name",
            _ => "LogGroupName",
        }
    }
}

fn is_terminal(status: &Value) -> bool {
    let status = status["status"].as_str().expect("a status");
    matches!(status, "Succeeded" | "Failed" | "Canceled")
}

fn json_of(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("it is JSON")
}
