//! Requests that look at AWS before they decide (contract D52): what a look costs, what it stores, and when it is not
//! enough.

mod costs;
mod doubts;
mod races;
mod writes;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use ucp_model::ids::encode_segment;
use ucp_simulator::faults::{fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::{ACCOUNT, GROUP, REGION, Reply, World, tracked_by};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

/// The path of an action on a type, or of a resource of it.
fn path(resource_type: &str, last: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/{last}")
}

/// A request with a JSON body (none when empty).
#[derive(Clone)]
struct Request {
    method: &'static str,
    path: String,
    body: String,
}

impl Request {
    fn new(method: &'static str, resource_type: &str, last: &str, body: &Value) -> Self {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let path = path(resource_type, last);
        Self { method, path, body }
    }

    /// A put under an alias, with more members.
    fn put_with(resource_type: &str, alias: &str, properties: &Value, more: Value) -> Self {
        let mut body = more;
        body["trackedBy"] = json!(tracked_by(resource_type, alias));
        body["properties"] = properties.clone();
        Self::new("POST", resource_type, ":put", &body)
    }

    fn put(resource_type: &str, alias: &str, properties: &Value) -> Self {
        Self::put_with(resource_type, alias, properties, json!({}))
    }

    fn put_by_name(resource_type: &str, name: &str, properties: &Value) -> Self {
        let body = json!({ "properties": properties });
        Self::new("PUT", resource_type, &encode_segment(name), &body)
    }

    fn patch(resource_type: &str, name: &str, properties: &Value) -> Self {
        Self {
            method: "PATCH",
            ..Self::put_by_name(resource_type, name, properties)
        }
    }

    fn delete(resource_type: &str, alias: &str) -> Self {
        let body = json!({"trackedBy": tracked_by(resource_type, alias)});
        Self::new("POST", resource_type, ":delete", &body)
    }

    fn delete_by_name(resource_type: &str, name: &str) -> Self {
        Self::new("DELETE", resource_type, &encode_segment(name), &Value::Null)
    }

    fn import(resource_type: &str, alias: &str, name: &str) -> Self {
        let body =
            json!({"trackedBy": tracked_by(resource_type, alias), "primaryIdentifier": name});
        Self::new("POST", resource_type, ":import", &body)
    }

    /// Sends it while no worker works.
    async fn alone(&self, world: &World) -> Reply {
        let Self { method, path, body } = self;
        world.send_with(&[], method, path, body).await
    }

    /// Sends it while a worker works.
    async fn attended(&self, world: &World) -> Reply {
        world.call(self.method, &self.path, &self.body).await
    }

    /// Sends it with `Prefer: respond-async`.
    async fn unwaited(&self, world: &World) -> Reply {
        let Self { method, path, body } = self;
        world.send_without_waiting(method, path, body).await
    }

    /// Sends it while no worker works, and expects a reply with this status at this cost: the reads from AWS, and the
    /// calls to the store.
    async fn costs(
        &self,
        world: &World,
        status: u16,
        gets: usize,
        calls: &[(&str, usize)],
    ) -> Reply {
        let (before, seen) = (world.asked_of_store(), world.calls_on_resources().len());
        let reads = reads(world);
        let reply = self.alone(world).await.expect(status);
        let mut asked = world.asked_of_store();
        asked.retain(|method, count| {
            *count -= before.get(method).copied().unwrap_or_default();
            *count > 0
        });
        // A change is recorded in the audit, beside the request.
        let audited = asked.remove("append_audit_events").unwrap_or_default();
        assert!(audited <= 1, "{self:?}");
        assert_eq!(
            asked,
            BTreeMap::from_iter(calls.iter().copied()),
            "{self:?}"
        );
        assert_eq!(reads_since(world, reads), gets, "{self:?}");
        let called = world.calls_on_resources().len() - seen;
        assert_eq!(called, gets, "nothing but reads: {self:?}");
        reply
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.method, self.path, self.body)
    }
}

/// The number of reads from AWS.
fn reads(world: &World) -> usize {
    world.calls("GetResource")
}

fn reads_since(world: &World, before: usize) -> usize {
    reads(world) - before
}

/// The number of operations accepted.
fn accepted(world: &World) -> usize {
    world.asked_store("accept_operation")
}

/// The number of mutations that AWS received.
fn changes(world: &World) -> [usize; 3] {
    ["CreateResource", "UpdateResource", "DeleteResource"].map(|call| world.calls(call))
}

/// What is stored that a request could change: the group with its references, its operations, and the history of an
/// alias.
#[derive(Debug, PartialEq)]
struct Stored {
    group: Value,
    operations: Value,
    history: Vec<ucp_store::Event>,
}

async fn stored(world: &World, resource_type: &str, alias: &str) -> Stored {
    let operations = world.get(&format!("{GROUP}/operations")).await.expect(200);
    let claimable = world.store.next_claimable_at().await;
    assert_eq!(claimable.expect("the store answers"), None);
    Stored {
        group: world.group().await,
        operations: operations.body,
        history: world.events(resource_type, alias).await,
    }
}

/// Creates a log group that no reference stands for.
async fn stray(world: &World, name: &str) {
    let declared = json!({"RetentionInDays": 7});
    let created = Request::put_by_name(LOG_GROUP, name, &declared);
    created.attended(world).await.expect(201);
    world.settle().await;
}

fn logs(days: u32) -> Value {
    json!({"LogGroupName": "logs", "RetentionInDays": days})
}

/// Changes a resource without `ucp`.
fn change_outside(world: &World, type_name: &str, identifier: &str, patch: &Value) {
    let resource = (type_name, identifier);
    let patched = world.aws.patch_out_of_band(None, None, resource, patch);
    patched.expect("it is there");
}

/// Refuses the next reads.
fn refuse_reads(world: &World, exception: ExceptionCode, times: u32) {
    let refused = fault(refuse(exception).saying("as ordered"));
    let refused = refused.on(Action::GetResource).times(times);
    world.aws.add_fault(refused);
}

/// Waits until `is_so`, while the tasks of the server go on.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    for _ in 0..100_000 {
        if is_so().await {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("{what}: it did not come to that");
}
