//! A stack of forty resources of twenty-five types: applied, changed, renamed and deleted by somebody at a command line.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use ucp_model::Timestamp;

use super::client::Client;
use super::desk::{ACCOUNT, Desk};

const STACK: &str = include_str!("../../api/examples/stack.yaml");
const APPLY: [&str; 6] = ["apply", "--yes", "--mode", "complete", "-f", "stack.yaml"];

/// What is to move: AWS has assigned the identifiers, so a set alone does not tell that they are the same.
const MOVES: &str = r#"
groups:
  - name: daily
    resources:
      - alias: net
        type: AWS.EC2/VPC
        properties: {CidrBlock: 10.0.0.0/16, EnableDnsHostnames: true, Tags: [{Key: Name, Value: shop}]}
      - alias: inner-a
        type: AWS.EC2/Subnet
        properties: {VpcId: {$reference: AWS.EC2/VPC/net}, CidrBlock: 10.0.2.0/24, AvailabilityZone: us-west-2a}
      - alias: parcels
        type: AWS.SQS/Queue
        properties: {QueueName: shop-failed-jobs, MessageRetentionPeriod: 1209600}
moves:
  - {from: daily/AWS.EC2/Subnet/private-a, to: daily/AWS.EC2/Subnet/inner-a}
  - {from: daily/AWS.SQS/Queue/failed-jobs, to: daily/AWS.SQS/Queue/parcels}
"#;

/// Replaces each text, which must be there.
fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (before, after)| {
        assert!(text.contains(before), "no {before:?}");
        text.replace(before, after)
    })
}

/// How many looks at the stack take longer than AWS's reads lag.
const LOOKS_MAX: usize = 100;

async fn lives(profile: &str) {
    let desk = Desk::with(&["--profile", profile]).await;
    let apply = async |stack: &str, told: &[&str]| {
        desk.write("stack.yaml", stack);
        desk.ucp(&APPLY).await.prints(0, told)
    };
    let what_if = ["what-if", "--mode", "complete", "-f", "stack.yaml"];
    // Reads lag: until AWS shows the changes, a plan would take them back, or make again what was just made, and be stale a moment later.
    let until_shown = async || {
        for looks in 1.. {
            let told = desk.ucp(&what_if).await;
            if told.out.contains("40 as declared.") {
                break;
            }
            assert!(looks < LOOKS_MAX, "{}", told.out);
        }
    };
    desk.write("stack.yaml", STACK);
    desk.ucp(&what_if)
        .await
        .prints(0, &["Resources: 40 to create."]);
    let made = apply(STACK, &["Resources: 40 to create.", "url: \"http://"]).await;
    assert_eq!(
        made.out.matches(": Succeeded after ").count(),
        40,
        "{}",
        made.out
    );
    until_shown().await;
    apply(STACK, &["Nothing to do: 40 as declared."]).await;

    let changed = edited(
        STACK,
        &[
            ("DesiredCount: 2", "DesiredCount: 3"),
            ("VisibilityTimeout: 60", "VisibilityTimeout: 120"),
            ("maxReceiveCount: 5", "maxReceiveCount: 3"),
            ("HealthCheckPath: /health", "HealthCheckPath: /alive"),
        ],
    );
    apply(&changed, &["Resources: 3 to update, 37 as declared."]).await;
    until_shown().await;

    // What has a declared identifier is found by the apply.
    let renamed = edited(
        &changed,
        &[
            ("alias: orders\n", "alias: order-table\n"),
            ("{$reference: orders}", "{$reference: order-table}"),
            ("\"orders#/", "\"order-table#/"),
            ("worker-logs", "logs-of-worker"),
        ],
    );
    let moved = apply(&renamed, &["Resources: 2 to move, 38 as declared."]).await;
    assert!(!moved.out.contains("Succeeded after"), "{}", moved.out);
    desk.write("moves.yaml", MOVES);
    let refactor = ["refactor", "--yes", "-f", "moves.yaml"];
    desk.ucp(&refactor).await.prints(0, &["MOVED"]);
    let renamed = edited(
        &renamed,
        &[
            ("alias: private-a\n", "alias: inner-a\n"),
            ("{$reference: private-a}", "{$reference: inner-a}"),
            ("alias: failed-jobs\n", "alias: parcels\n"),
            ("\"failed-jobs#/", "\"parcels#/"),
        ],
    );
    apply(&renamed, &["Nothing to do: 40 as declared."]).await;
    let longest = Longest {
        after: referred(&renamed),
        resources: resources(&desk).await,
    };
    let group = "/planes/radius/local/resourceGroups/daily";
    let began = Instant::now();
    let deleted = desk.ucp(&["delete", "--yes", group]).await;
    let took = began.elapsed().as_secs_f64();
    deleted.prints(0, &["daily: deleted"]);
    let aws = desk.aws().await;
    let client = Client::new(&desk.url, ACCOUNT);
    assert_eq!(client.live(&aws).await, [Value::Null; 0]);
    let deletes = deletes(&client.calls(&aws).await, &aws);
    let (path, seconds) = longest.of(&deletes);
    println!("{profile}: deleted in {took:.1} s, {seconds:.1} s along {path:?}");
    // Where a delete takes no time, the polls and the reads of ucp do.
    if profile == "realistic" {
        let by_time = deletes.iter().map(|((_, name), it)| {
            let Delete { at, seconds, calls } = it;
            format!("{at:6.1} {seconds:6.1} {calls} {name}")
        });
        let by_time: BTreeSet<String> = by_time.collect();
        assert!(
            took <= 1.5 * seconds,
            "{took:.1} s, not {seconds:.1} s along {path:?}: {by_time:#?}"
        );
    }
}

/// The AWS resources of the group, by their aliases: types and identifiers.
async fn resources(desk: &Desk) -> BTreeMap<String, (String, String)> {
    let listed = desk.ucp(&["get", "-g", "daily", "-o", "json"]).await.json();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let resource = |reference: &Value| {
        let maps_to = &reference["mapsTo"];
        let scope = text(&maps_to["scope"]);
        let (_, type_name) = scope.split_once("/providers/").expect("a type");
        let identifier = text(&maps_to["primaryIdentifier"]);
        let type_name = type_name.replace(['.', '/'], "::");
        (text(&reference["name"]), (type_name, identifier))
    };
    let listed = listed.as_array().expect("a list");
    listed.iter().map(resource).collect()
}

/// What each resource of a file refers to, by their aliases.
fn referred(file: &str) -> BTreeMap<String, Vec<String>> {
    let is_end = |letter: char| "\"#},\n".contains(letter);
    let blocks = file.split("- alias: ").skip(1);
    let block = |block: &str| {
        let alias = block.lines().next().expect("an alias").to_owned();
        let names = block.split("$reference: ").skip(1);
        let name = |text: &str| {
            let text = text.trim_start_matches('"');
            text.split(is_end).next().expect("a name").to_owned()
        };
        (alias, names.map(name).collect())
    };
    blocks.map(block).collect()
}

/// The last delete of a resource, from its call to the end that AWS tells.
#[derive(Debug)]
struct Delete {
    /// When it was called, in seconds since the first delete of all.
    at: f64,
    /// How long it took, in seconds.
    seconds: f64,
    /// How many have been called.
    calls: usize,
}

/// The deletes in the log of the simulated AWS, by types and identifiers.
fn deletes(calls: &[Value], aws: &str) -> BTreeMap<(String, String), Delete> {
    let mut deletes: BTreeMap<(String, String), Delete> = BTreeMap::new();
    let mut first = None;
    let sent = calls
        .iter()
        .filter(|call| call["operation"] == "DeleteResource" && call["requestToken"].is_string());
    for call in sent {
        let text = |name: &str| call[name].as_str().expect("a text").to_owned();
        let at: Timestamp = text("time").parse().expect("a time");
        let at = at.since(Timestamp::from_millis(0)).as_secs_f64();
        let began = *first.get_or_insert(at);
        let resource = (text("typeName"), text("identifier"));
        let calls = deletes
            .get(&resource)
            .map_or(1, |earlier| earlier.calls + 1);
        let seconds = ended_at(aws, &text("requestToken")) - at;
        let at = at - began;
        deletes.insert(resource, Delete { at, seconds, calls });
    }
    deletes
}

/// When a request ended, in seconds.
fn ended_at(aws: &str, token: &str) -> f64 {
    for _ in 0..100 {
        let credential = format!(
            "AWS4-HMAC-SHA256 Credential={ACCOUNT}/20260101/us-west-2/cloudcontrolapi/aws4_request, "
        );
        let output = Command::new("curl")
            .args([
                "--silent",
                "--header",
                "Content-Type: application/x-amz-json-1.0",
            ])
            .args([
                "--header",
                "X-Amz-Target: CloudApiService.GetResourceRequestStatus",
            ])
            .args([
                "--header",
                &format!("Authorization: {credential}SignedHeaders=host, Signature=0"),
            ])
            .args(["--data", &json!({"RequestToken": token}).to_string(), aws])
            .output()
            .expect("curl runs");
        // It may be throttled.
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        if let Some(at) = told["ProgressEvent"]["EventTime"].as_f64() {
            return at;
        }
    }
    panic!("{token} has no end");
}

/// The longest path of deletes: what refers to another resource goes before it.
struct Longest {
    /// What each resource refers to.
    after: BTreeMap<String, Vec<String>>,
    resources: BTreeMap<String, (String, String)>,
}

impl Longest {
    fn of(&self, deletes: &BTreeMap<(String, String), Delete>) -> (Vec<&str>, f64) {
        assert_eq!((self.resources.len(), deletes.len()), (40, 40));
        let paths = self.after.keys().map(|alias| self.from(alias, deletes));
        let longest = paths.max_by(|one, other| one.1.total_cmp(&other.1));
        longest.expect("resources")
    }

    fn from<'a>(
        &'a self,
        alias: &'a str,
        deletes: &BTreeMap<(String, String), Delete>,
    ) -> (Vec<&'a str>, f64) {
        let next = self.after[alias].iter();
        let next = next.map(|next| self.from(next, deletes));
        let longest = next.max_by(|one, other| one.1.total_cmp(&other.1));
        let (mut path, seconds) = longest.unwrap_or_default();
        path.insert(0, alias);
        (path, seconds + deletes[&self.resources[alias]].seconds)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_applied_changed_renamed_and_deleted_where_aws_is_honest() {
    lives("honest").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_applied_changed_renamed_and_deleted_where_aws_is_realistic() {
    lives("realistic").await;
}
