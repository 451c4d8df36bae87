//! Platforms of a real server. Canaries in what they order: in parameters of an instance and of a binding, in random values, and in credentials. The
//! API of the broker hands them out, and they are in no database, dump, log or audit, whatever the log says.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::AGAIN;
use super::process::Process;
use super::secrets::{assert_hidden, dumped, files, holds};

const ACCOUNT: &str = "123456789012";
const PARAMETER: &str = "parameter-canary-5d1e";
const UPDATED: &str = "updated-canary-77b2";
const OF_BINDING: &str = "binding-canary-90ac";
const CREDENTIAL: &str = "credential-canary-c4f8";
const PASSWORD: &str = "password-canary-1b6d";

const OFFERING: &str = r#"
name = "secret"
id = "secret-service"
description = "A secret"
update_with_bindings = "merge"

[resources.secret]
type = "AWS::SecretsManager::Secret"
properties.Name = "osb-((instance_id))"
properties.SecretString = "((random/first)) ((parameters/word))"
[parameters.word]
type = "string"
updatable = true
[parameters.note]
at = "secret/Description"

[binding]
credentials = { word = "((parameters/word))", first = "((random/first))", own = "((random/own))", said = "CREDENTIAL ((parameters/said))" }
[binding.resources.topic]
type = "AWS::SNS::Topic"
properties.DisplayName = "((random/own))"
[binding.parameters.said]
type = "string"

[[plans]]
id = "secret-plan"
name = "only"
description = "The only one"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_ordered_is_nowhere_on_sqlite() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().to_owned();
    let url = format!("sqlite://{}", path.join("ucp.db").display());
    keep_secrets(&url, || files(&path)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_ordered_is_nowhere_on_postgres() {
    let Some(database) = ucp_store_sql::testing::database().await else {
        return;
    };
    let url = database.url();
    keep_secrets(&url, || dumped(&url)).await;
}

/// Writes the configuration of the broker.
fn configured() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text);
    let config = format!(
        "[broker]\nofferings = \"offerings\"\n[broker.platforms.cf]\nusername = \"cf\"\n\
         password_file = \"password\"\naccount = \"{ACCOUNT}\"\nregion = \"us-west-2\"\n"
    );
    fs::create_dir(folder.path().join("offerings")).expect("a folder");
    let offering = OFFERING.replace("CREDENTIAL", CREDENTIAL);
    for (name, text) in [
        ("ucp.toml", config.as_str()),
        ("password", PASSWORD),
        ("offerings/secret.toml", &offering),
    ] {
        write(name, text).expect("a file");
    }
    folder
}

/// A platform.
struct Platform<'a> {
    base: &'a str,
    /// All that it was told.
    told: String,
}

/// The body of a request that has these members too.
fn body(more: Value) -> Value {
    let mut body = json!({"service_id": "secret-service", "plan_id": "secret-plan"});
    let more = more.as_object().expect("members").clone();
    body.as_object_mut().expect("members").extend(more);
    body
}

/// An order of an instance.
fn put() -> Value {
    body(json!({"organization_guid": "org", "space_guid": "space",
        "parameters": {"word": PARAMETER, "note": format!("{PARAMETER} noted")}}))
}

impl<'a> Platform<'a> {
    fn new(base: &'a str) -> Self {
        Self {
            base,
            told: String::new(),
        }
    }

    async fn get(&mut self, path: &str) -> Value {
        let (status, body) = self.call("GET", path, &Value::Null).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    async fn call(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut command = Command::new("curl");
        command
            .args([
                "--silent",
                "--max-time",
                "60",
                "--write-out",
                "\n%{http_code}",
            ])
            .args(["--request", method, "--user", &format!("cf:{PASSWORD}")])
            .args(["--header", "X-Broker-API-Version: 2.17"])
            .args(["--header", "Content-Type: application/json"]);
        if !body.is_null() {
            command.args(["--data", &body.to_string()]);
        }
        command.arg(format!("{}/v2/service_instances/{path}", self.base));
        let run = tokio::task::spawn_blocking(move || command.output()).await;
        let output = run.expect("it ends").expect("curl runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (body, status) = text.rsplit_once('\n').expect("a status");
        self.told.push_str(body);
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        (status.parse().expect("a number"), body)
    }

    async fn begin(&mut self, method: &str, path: &str, body: &Value) {
        let mark = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{mark}accepts_incomplete=true");
        let (status, reply) = self.call(method, &path, body).await;
        assert_eq!(status, 202, "{reply}");
    }

    /// Waits for the end of the latest change.
    async fn succeeds(&mut self, path: &str) {
        let path = format!("{path}/last_operation");
        for _ in 0..600 {
            let (status, last) = self.call("GET", &path, &Value::Null).await;
            assert_eq!(status, 200, "{last}");
            match last["state"].as_str() {
                Some("in progress") => tokio::time::sleep(AGAIN).await,
                state => return assert_eq!(state, Some("succeeded"), "{last}"),
            }
        }
        panic!("{path} does not end");
    }
}

/// `at_rest` returns everything that the database stores.
async fn keep_secrets(url: &str, at_rest: impl Fn() -> Vec<u8>) {
    let (_simulator, aws) = Process::simulator("300ms").await;
    let folder = configured();
    let config = format!("--config={}", folder.path().join("ucp.toml").display());
    let audit_log = folder.path().join("audit.log");
    let logging = format!("--audit-log={}", audit_log.display());
    let arguments = [config.as_str(), &logging];
    let (mut server, base) = Process::serve_tracing(&arguments, url, &aws, ACCOUNT).await;
    let mut platform = Platform::new(&base);
    platform.begin("PUT", "one", &put()).await;
    let canaries = [PARAMETER, UPDATED, OF_BINDING, CREDENTIAL, PASSWORD];
    let mut hidden: Vec<String> = canaries.map(str::to_owned).into();
    let nowhere = |hidden: &[String], place: &str, bytes: &[u8]| {
        for canary in hidden {
            assert_hidden(canary, place, bytes);
        }
    };
    nowhere(&hidden, "the database, with an order under way", &at_rest());
    platform.succeeds("one").await;
    let binding = "one/service_bindings/b";
    let bind = body(json!({"parameters": {"said": OF_BINDING}}));
    platform.begin("PUT", binding, &bind).await;
    platform.succeeds(binding).await;
    let update = body(json!({"parameters": {"word": UPDATED}}));
    platform.begin("PATCH", "one", &update).await;
    platform.succeeds("one").await;
    platform.get("one").await;
    let bound = platform.get(binding).await;
    // What is looked for is there to be found.
    let credentials = &bound["credentials"];
    for random in ["first", "own"] {
        let random = credentials[random].as_str().expect("a random value");
        assert_eq!(random.len(), 40);
        hidden.push(random.to_owned());
    }
    assert_eq!(credentials["word"], UPDATED);
    assert_eq!(credentials["said"], format!("{CREDENTIAL} {OF_BINDING}"));
    for canary in hidden.iter().filter(|it| *it != PASSWORD) {
        let is_told = holds(platform.told.as_bytes(), canary);
        assert!(is_told, "{canary} was not handed out: {}", platform.told);
    }
    nowhere(&hidden, "the database", &at_rest());
    let wrong = body(json!({"parameters": {"word": [PARAMETER]}}));
    let (status, _) = platform
        .call("PATCH", "one?accepts_incomplete=true", &wrong)
        .await;
    assert_eq!(status, 400);
    let gone = "one?service_id=secret-service&plan_id=secret-plan";
    platform.begin("DELETE", gone, &Value::Null).await;
    platform.succeeds("one").await;
    nowhere(&hidden, "the database, after a deletion", &at_rest());
    server.terminate();
    assert!(server.ended().await.success(), "{}", server.output());
    let logs = server.output();
    assert!(logs.contains(r#""level":"TRACE""#), "it logs all");
    nowhere(&hidden, "the logs", logs.as_bytes());
    let audited = read(&audit_log);
    assert!(holds(&audited, "broker:cf"), "it has the requests");
    nowhere(&hidden, "the audit log", &audited);
    nowhere(&hidden, "the database, after a stop", &at_rest());
}

/// Bindings are evaluated when they are made, and when an update of their instance does it anew.
#[tokio::test(flavor = "multi_thread")]
async fn old_bindings_stay_as_they_were_under_new_files() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let url = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let (_simulator, aws) = Process::simulator("0ms").await;
    let folder = configured();
    let config = format!("--config={}", folder.path().join("ucp.toml").display());
    let serve = async || Process::serve_with(&[&config], &url, &aws, ACCOUNT).await;
    let (mut server, base) = serve().await;
    let mut platform = Platform::new(&base);
    platform.begin("PUT", "one", &put()).await;
    platform.succeeds("one").await;
    let bind = body(json!({"parameters": {"said": OF_BINDING}}));
    let [old, new] = ["old", "new"].map(|name| format!("one/service_bindings/{name}"));
    platform.begin("PUT", &old, &bind).await;
    platform.succeeds(&old).await;
    let before = platform.get(&old).await;
    let instance = platform.get("one").await;
    server.terminate();
    assert!(server.ended().await.success(), "{}", server.output());

    let changed = OFFERING
        .replace(
            "said = \"CREDENTIAL",
            "more = \"((random/more))\", said = \"other",
        )
        .replace(
            "[binding.parameters.said]",
            "[binding.parameters.said]\ndefault = \"x\"",
        );
    fs::write(folder.path().join("offerings/secret.toml"), changed).expect("a file");
    let (_server, base) = serve().await;
    let mut platform = Platform::new(&base);
    assert_eq!(platform.get(&old).await, before);
    assert_eq!(platform.get("one").await, instance);
    platform.begin("PUT", &new, &bind).await;
    platform.succeeds(&new).await;
    let credentials = platform.get(&new).await["credentials"].clone();
    assert_eq!(credentials["said"], format!("other {OF_BINDING}"));
    assert!(credentials["more"].is_string(), "{credentials}");
    assert_eq!(platform.get(&old).await, before);
    // An update lays what the files say now over it.
    let update = body(json!({"parameters": {"word": UPDATED}}));
    platform.begin("PATCH", "one", &update).await;
    platform.succeeds("one").await;
    let after = platform.get(&old).await["credentials"].clone();
    assert_eq!(after["own"], before["credentials"]["own"]);
    assert_eq!(after["word"], UPDATED);
    assert_eq!(after["said"], format!("other {OF_BINDING}"));
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("a file")
}
