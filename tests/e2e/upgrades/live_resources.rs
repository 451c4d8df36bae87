//! A database written by commit 7970f72 is taken over, and nothing that lives is deleted.
//!
//! `fixtures/7970f72.*.sql` are dumps of the same world on each engine. In it, replacements are under way whose creates AWS
//! has refused because the old resource has the name. That commit has taken the old resource for what the create has left,
//! and is about to delete it. `7970f72.json` has what AWS had.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use ucp_model::operation::Replacing;
use ucp_simulator::faults::{Effect, fault};
use ucp_simulator::{Action, Caller, CreateResource, Outcome, Request};
use ucp_testkit::{ACCOUNT, REGION, World, tracked_by};

use super::Restored;

const SQLITE: &str = include_str!("../fixtures/7970f72.sqlite.sql");
const POSTGRES: &str = include_str!("../fixtures/7970f72.postgres.sql");

const API_VERSION: &str = "api-version=2023-10-01-preview";
const TOPIC: &str = "AWS.SNS/Topic";
const QUEUE: &str = "AWS.SQS/Queue";
const MACHINE: &str = "AWS.StepFunctions/StateMachine";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const VPC: &str = "AWS.EC2/VPC";
const BUCKET: &str = "AWS.S3/Bucket";
const REPOSITORY: &str = "AWS.ECR/Repository";

/// The data recorded with the dumps.
#[derive(Deserialize)]
struct Recorded {
    /// The time of the dumps, in milliseconds since the Unix epoch.
    moment: i64,
    /// The paths of the statuses of the operations in progress, by alias.
    operations: BTreeMap<String, String>,
    /// What AWS had.
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(rename = "type")]
    type_name: String,
    identifier: String,
    /// The properties that can be declared, with the mark of the reference.
    properties: Value,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("../fixtures/7970f72.json")).expect("the recorded data")
}

/// A world on the migrated database, with the resources that AWS had.
async fn open(restored: &Restored) -> World {
    let Recorded {
        moment, resources, ..
    } = recorded();
    let world = restored.open(moment).await;
    for resource in &resources {
        let identifier = resource.identifier.clone();
        let named = fault(Effect::Rename { identifier }).on(Action::CreateResource);
        world.aws.add_fault(named.times(1));
        let request = Request::CreateResource(CreateResource {
            type_name: resource.type_name.clone(),
            desired_state: resource.properties.to_string(),
            ..CreateResource::default()
        });
        let outcome = world.aws.call(&Caller::new(ACCOUNT, REGION), &request);
        assert!(matches!(outcome, Outcome::Replied(_)), "{outcome:?}");
    }
    world.clock.advance(Duration::from_secs(10));
    let expected: BTreeSet<_> = resources.into_iter().map(|it| it.identifier).collect();
    assert_eq!(live(&world), expected);
    world
}

/// The identifiers of all resources.
fn live(world: &World) -> BTreeSet<String> {
    let resources = world.aws.resources().into_iter();
    resources.map(|resource| resource.identifier).collect()
}

/// The identifiers of what AWS was asked to delete.
fn deleted(world: &World) -> BTreeSet<String> {
    let log = world.aws.log().into_iter();
    let deletes = log.filter(|entry| entry.operation == Action::DeleteResource);
    deletes.filter_map(|entry| entry.identifier).collect()
}

async fn loses_nothing(restored: &Restored) {
    let world = open(restored).await;
    let before = live(&world);
    for (alias, expected) in [
        ("alerts", "salvaging newFirst"),
        ("orders", "submitting undoing"),
        ("flow", "accepted undoing"),
        ("audit", "submitting undoing"),
        ("net", "submitting undoing"),
    ] {
        assert_eq!(in_words(&world, alias).await, expected, "{alias}");
    }
    world.settle().await;

    let ends = ends(&world).await;
    for alias in ["alerts", "orders", "flow"] {
        let end = &ends[alias];
        assert_eq!(end["status"], "Failed", "{end}");
        assert_eq!(end["error"]["code"], "AlreadyExists", "{end}");
        let message = end["error"]["message"].as_str().expect("a message");
        for told in [
            "has the name",
            "another name",
            "deleteBeforeCreate",
            "left as it was",
        ] {
            assert!(message.contains(told), "{told}: {message}");
        }
    }
    // What their creates have made beside the old one bears the mark of that very create.
    for alias in ["audit", "net"] {
        let end = &ends[alias];
        assert_eq!(end["error"]["code"], "NotStabilized", "{end}");
    }
    assert_eq!(ends["set"]["status"], "Succeeded", "{}", ends["set"]);

    let half_made = ["audit-2", "vpc-74dd0515ecece526d"]
        .map(str::to_owned)
        .into();
    assert_eq!(deleted(&world), half_made);
    let made = ["dead", "work"].map(queue);
    let after: BTreeSet<_> = before.difference(&half_made).cloned().chain(made).collect();
    assert_eq!(live(&world), after);

    stand_as_before(&world, &before).await;
    can_be_put(&world).await;
    is_not_replaced(&world).await;
    is_not_taken_from_others(&world).await;
    assert_eq!(deleted(&world), half_made);
    world.finish().await;
}

/// The state of a replacement, and its step.
async fn in_words(world: &World, alias: &str) -> String {
    let path = recorded().operations.remove(alias).expect("a path");
    let id = path
        .split('?')
        .next()
        .and_then(|path| path.rsplit('/').next());
    let id = id.and_then(|id| id.parse().ok()).expect("an id");
    let operation = world.store.get_operation(id).await;
    let operation = operation.expect("the store answers").expect("it is there");
    let work = operation.work.resource().expect("a put");
    let step = match &work.replacing {
        Some(Replacing::NewFirst { .. }) => "newFirst",
        Some(Replacing::Undoing { .. }) => "undoing",
        other => panic!("{alias}: {other:?}"),
    };
    format!("{} {step}", work.state.name())
}

fn queue(name: &str) -> String {
    format!("https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}")
}

/// The statuses of the operations that were in progress, by alias.
async fn ends(world: &World) -> BTreeMap<String, Value> {
    let mut ends = BTreeMap::new();
    for (alias, path) in recorded().operations {
        let status = world.get(&path).await.expect(200).body;
        assert!(status["endTime"].is_string(), "{alias}: {status}");
        ends.insert(alias, status);
    }
    ends
}

/// Each reference stands for what it stood for, and owns it unless it was imported.
async fn stand_as_before(world: &World, before: &BTreeSet<String>) {
    let references = world.references().await;
    let stands_for = |alias: &str| {
        let id = |it: &Value| it["id"].as_str().unwrap_or_default().to_owned();
        let reference = references
            .iter()
            .find(|it| id(it).ends_with(&format!("/{alias}")));
        let reference = reference.unwrap_or_else(|| panic!("no {alias}: {references:?}"));
        assert_eq!(reference["ownedResource"], true, "{alias}");
        let identifier = &reference["mapsTo"]["primaryIdentifier"];
        identifier.as_str().expect("an identifier").to_owned()
    };
    for alias in [
        "alerts", "orders", "flow", "audit", "net", "assets", "jobs", "images",
    ] {
        let identifier = stands_for(alias);
        assert!(before.contains(&identifier), "{alias}: {identifier}");
    }
    assert_eq!(references.len(), 10);
}

fn declared() -> [(&'static str, &'static str, Value); 7] {
    let role = format!("arn:aws:iam::{ACCOUNT}:role/flow");
    [
        (
            TOPIC,
            "alerts",
            json!({"TopicName": "alerts", "DisplayName": "Alerts"}),
        ),
        (
            QUEUE,
            "orders",
            json!({"QueueName": "orders", "DelaySeconds": 5}),
        ),
        (
            MACHINE,
            "flow",
            json!({"StateMachineName": "flow", "RoleArn": role, "DefinitionString": "{}"}),
        ),
        (
            LOG_GROUP,
            "audit",
            json!({"LogGroupName": "audit", "RetentionInDays": 7}),
        ),
        (VPC, "net", json!({"CidrBlock": "10.0.0.0/16"})),
        (BUCKET, "assets", json!({"BucketName": "assets"})),
        (QUEUE, "jobs", json!({"QueueName": "jobs"})),
    ]
}

/// What is declared as before is as it was, and a change is made.
async fn can_be_put(world: &World) {
    for (resource_type, alias, properties) in declared() {
        world
            .put(resource_type, alias, properties)
            .await
            .expect(200);
    }
    let changed = json!({"TopicName": "alerts", "DisplayName": "All alerts"});
    let status = world.put_and_settle(TOPIC, "alerts", changed).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
}

/// That commit did not note in which form AWS had shown the key after the put. The mark proves that it is the repository which was put.
async fn is_not_replaced(world: &World) {
    for policy in [Value::Null, json!("createBeforeDelete")] {
        let key = json!({"EncryptionType": "KMS", "KmsKey": "alias/images"});
        let body = json!({
            "trackedBy": tracked_by(REPOSITORY, "images"),
            "replacementPolicy": policy,
            "properties": {"RepositoryName": "images", "EncryptionConfiguration": key},
        });
        let reply = world.post(REPOSITORY, "put", &body).await;
        reply.expect(200);
    }
}

/// The queue that another group has imported.
async fn is_not_taken_from_others(world: &World) {
    let path = format!("{}?{API_VERSION}", tracked_by(QUEUE, "jobs"));
    let reply = world.call("DELETE", &path, "").await;
    let refused = reply.expect(409).body;
    let detail = &refused["error"]["details"][0];
    assert_eq!(detail["code"], "ResourceShared", "{refused}");
}

#[tokio::test]
async fn a_sqlite_database_loses_nothing() {
    loses_nothing(&Restored::sqlite(SQLITE).await).await;
}

#[tokio::test]
async fn a_postgres_database_loses_nothing() {
    if let Some(restored) = Restored::postgres(POSTGRES).await {
        loses_nothing(&restored).await;
    }
}
