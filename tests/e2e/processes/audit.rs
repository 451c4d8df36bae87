//! The audit of a server (docs/how-to/audit.md): its log, and what it does when it cannot write.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::client::{API_VERSION, Client, GROUP, eventually};
use super::process::Process;

const ACCOUNT: &str = "123456789012";
const EVENTS: &str = "/planes/radius/local/providers/System.Resources/auditEvents";

fn database(directory: &TempDir) -> String {
    format!("sqlite://{}", directory.path().join("ucp.db").display())
}

async fn put_group(client: &Client, name: &str) -> u16 {
    let path = format!("{GROUP}-{name}?{API_VERSION}");
    let answer = client.call("PUT", &path, r#"{"location":"global"}"#).await;
    answer.status
}

/// The last segments of the ids of events.
fn names<'a>(events: impl IntoIterator<Item = &'a Value>) -> Vec<String> {
    let name = |event: &Value| {
        let id = event["id"].as_str().expect("an id");
        id.rsplit('-').next().expect("a name").to_owned()
    };
    events.into_iter().map(name).collect()
}

fn logged(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON line"));
    lines.collect()
}

/// A server that stops writes what it has, and the next one goes on in the same file.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_has_recorded_everything() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let log = directory.path().join("audit.log");
    let flag = format!("--audit-log={}", log.display());
    for round in ["a", "b"] {
        let aws = "http://127.0.0.1:9";
        let (mut process, url) =
            Process::serve_with(&[&flag], &database(&directory), aws, ACCOUNT).await;
        let client = Client::new(&url, ACCOUNT);
        for number in 0..20 {
            assert_eq!(put_group(&client, &format!("{round}{number}")).await, 200);
        }
        process.terminate();
        assert!(process.ended().await.success());
    }
    let expected: Vec<String> = ["a", "b"]
        .iter()
        .flat_map(|round| (0..20).map(move |number| format!("{round}{number}")))
        .collect();
    let lines = logged(&log);
    assert_eq!(names(&lines), expected);
    let peers = lines.iter().all(|line| line["peer"] == "127.0.0.1");
    assert!(peers, "{lines:?}");
    let (_process, url) = Process::serve_with(
        &[&flag],
        &database(&directory),
        "http://127.0.0.1:9",
        ACCOUNT,
    )
    .await;
    let client = Client::new(&url, ACCOUNT);
    let listed = client
        .call("GET", &format!("{EVENTS}?{API_VERSION}&top=1000"), "")
        .await;
    let listed = listed.body["value"].as_array().expect("a list").iter();
    let mut listed = names(listed.map(|event| &event["properties"]));
    listed.reverse();
    assert_eq!(listed, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_place_for_the_audit_log_a_server_changes_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let arguments = ["--audit-required", "--audit-log=/dev/full"];
    let (process, url) = Process::serve_with(
        &arguments,
        &database(&directory),
        "http://127.0.0.1:9",
        ACCOUNT,
    )
    .await;
    let client = Client::new(&url, ACCOUNT);
    assert!(client.is_ready().await);
    assert_eq!(put_group(&client, "first").await, 503);
    process.line("audit events could not be recorded").await;
    let ready = eventually(async || (!client.is_ready().await).then_some(())).await;
    assert_eq!(ready, ());
    assert_eq!(put_group(&client, "second").await, 503);
    let second = client
        .call("GET", &format!("{GROUP}-second?{API_VERSION}"), "")
        .await;
    assert_eq!(second.status, 404, "nothing was done");
}

/// Of what comes at once, nothing is answered before it is known whether it can be recorded.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_well_that_the_audit_log_does_not_take() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let arguments = ["--audit-required", "--audit-log=/dev/full"];
    let aws = "http://127.0.0.1:9";
    let (_process, url) =
        Process::serve_with(&arguments, &database(&directory), aws, ACCOUNT).await;
    let group = format!("{GROUP}?{API_VERSION}");
    let role = EVENTS.replace("auditEvents", "roleAssignments/bob");
    let role = format!("{role}?{API_VERSION}");
    let scopes = r#"{"properties":{"user":"bob","role":"reader","scopes":["/"]}}"#;
    let logs = format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2/providers/AWS.Logs/LogGroup/a"
    );
    let mut asked = JoinSet::new();
    for number in 0..32 {
        let (method, path, body) = match number % 4 {
            0 => ("PUT", &group, r#"{"location":"global"}"#),
            1 => ("PUT", &role, scopes),
            2 => ("PUT", &logs, r#"{"properties":{}}"#),
            _ => ("DELETE", &group, ""),
        };
        let (client, path) = (Client::new(&url, ACCOUNT), path.clone());
        asked.spawn(async move { client.call(method, &path, body).await });
    }
    for answer in asked.join_all().await {
        assert_eq!(answer.status, 503, "{}", answer.text);
    }
}

/// While the folder of the audit log comes and goes, each request that is done well has its line.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_well_is_in_the_audit_log() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [folder, away] = ["logs", "away"].map(|name| directory.path().join(name));
    fs::create_dir(&folder).expect("a folder");
    let log = folder.join("audit.log");
    let flag = format!("--audit-log={}", log.display());
    let arguments = ["--audit-required", &flag];
    let aws = "http://127.0.0.1:9";
    let (_process, url) =
        Process::serve_with(&arguments, &database(&directory), aws, ACCOUNT).await;
    let client = Client::new(&url, ACCOUNT);
    let mut done = Vec::new();
    for turn in 0..3 {
        for number in 0..5 {
            let name = format!("{turn}x{number}");
            assert_eq!(put_group(&client, &name).await, 200);
            done.push(name);
        }
        fs::rename(&folder, &away).expect("it goes");
        for number in 0..5 {
            let status = put_group(&client, &format!("{turn}y{number}")).await;
            assert_eq!(status, 503);
        }
        fs::rename(&away, &folder).expect("it comes back");
        eventually(async || client.is_ready().await.then_some(())).await;
    }
    let lines = logged(&log);
    let allowed = lines.iter().filter(|line| line["outcome"] == "Allowed");
    let allowed = names(allowed);
    for name in &done {
        assert!(allowed.contains(name), "{name}: {allowed:?}");
    }
}

/// The database has what nobody reads from the pipe.
#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_that_nobody_reads_does_not_hold_up_the_audit_in_the_database() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let pipe = directory.path().join("audit.pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("it works").success());
    let held = fs::File::options().read(true).write(true).open(&pipe);
    let flag = format!("--audit-log={}", pipe.display());
    let aws = "http://127.0.0.1:9";
    let (_process, url) = Process::serve_with(&[&flag], &database(&directory), aws, ACCOUNT).await;
    let client = Client::new(&url, ACCOUNT);
    // More than a pipe takes.
    const MANY: usize = 400;
    for number in 0..MANY {
        assert_eq!(put_group(&client, &number.to_string()).await, 200);
    }
    let readyz = async || client.call("GET", "/readyz", "").await;
    eventually(async || (readyz().await.body["auditTrouble"] == "Hanging").then_some(())).await;
    assert_eq!(readyz().await.status, 200, "it is not required");
    assert_eq!(put_group(&client, "last").await, 200);
    let list = format!("{EVENTS}?{API_VERSION}&top=1000");
    let listed = client.call("GET", &list, "").await;
    let listed = listed.body["value"].as_array().expect("a list").iter();
    let listed = names(listed.map(|event| &event["properties"]));
    assert_eq!(listed.len(), MANY + 1);
    assert_eq!(listed[0], "last");
    drop(held.expect("a pipe"));
}

/// Audit lines are beside those of the log.
#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_may_be_standard_output() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (process, url) = Process::serve_with(
        &["--audit-log=-"],
        &database(&directory),
        "http://127.0.0.1:9",
        ACCOUNT,
    )
    .await;
    put_group(&Client::new(&url, ACCOUNT), "seen").await;
    let line = process.line("\"outcome\":\"Allowed\"").await;
    let event: Value = serde_json::from_str(&line).expect("a JSON line");
    assert_eq!(names([&event]), ["seen"]);
}

#[test]
fn a_file_that_cannot_be_written_is_told_at_the_start() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let process =
        Process::serve_unheard_with(&database(&directory), &["--audit-log=/nowhere/audit.log"]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let line = runtime.block_on(process.line("--audit-log"));
    assert!(line.contains("cannot write /nowhere/audit.log"), "{line}");
}
