//! Canaries in write-only properties: none is found in a database, a dump, a reply or a log.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::client::{Client, eventually};
use super::process::Process;

const ACCOUNT: &str = "123456789012";
const CANARY: &str = "canary-3f9c";

/// Declarations with a canary in a write-only property, as a first put and as a changed second one.
fn declarations(round: &str) -> Vec<(&'static str, &'static str, Value)> {
    let canary = format!("{CANARY}-{round}");
    vec![
        (
            "AWS.SecretsManager/Secret",
            "secret",
            json!({"Name": "s", "SecretString": canary}),
        ),
        (
            "AWS.RDS/DBInstance",
            "database",
            json!({"DBInstanceIdentifier": "db", "DBInstanceClass": "db.t3.micro", "Engine": "postgres",
                "AllocatedStorage": "20", "MasterUsername": "root", "MasterUserPassword": canary}),
        ),
        // AWS refuses this one: it is refused with a message, and the message must not repeat the value.
        (
            "AWS.RDS/DBInstance",
            "refused",
            json!({"MasterUserPassword": {"nested": canary}}),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_nowhere_on_sqlite() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().to_owned();
    let url = format!("sqlite://{}", path.join("ucp.db").display());
    keep_secrets(&url, || files(&path)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_nowhere_on_postgres() {
    let Some(database) = ucp_store_sql::testing::database().await else {
        return;
    };
    let url = database.url();
    keep_secrets(&url, || {
        let dump = Command::new(postgres_program("pg_dump"))
            .arg(&url)
            .output()
            .expect("pg_dump runs");
        assert!(
            dump.status.success(),
            "{}",
            String::from_utf8_lossy(&dump.stderr)
        );
        assert!(!dump.stdout.is_empty());
        dump.stdout
    })
    .await;
}

/// `at_rest` is all that the database keeps.
async fn keep_secrets(url: &str, at_rest: impl Fn() -> Vec<u8>) {
    let (_simulator, aws) = Process::simulator("700ms").await;
    let (server, base) = Process::serve(url, &aws, ACCOUNT, None).await;
    let client = Client::new(&base, ACCOUNT);
    client.put_group().await;
    let mut replies = String::new();
    for round in ["one", "two"] {
        let mut followed = Vec::new();
        for (resource_type, alias, properties) in declarations(round) {
            let (path, body) = client.action("put", resource_type, alias, &properties);
            let answer = client.call("POST", &path, &body).await;
            replies.push_str(&answer.text);
            followed.extend(answer.status_url);
        }
        assert_eq!(
            followed.len(),
            2,
            "two are accepted, one is refused: {replies}"
        );
        // While AWS works on it, the document waits in the database.
        eventually(async || (!client.calls(&aws).await.is_empty()).then_some(())).await;
        assert_hidden("the database, with operations in flight", &at_rest());
        for url in followed {
            let ended = client.follow(&url).await;
            assert_eq!(ended["status"], "Succeeded", "{ended}");
            replies.push_str(&ended.to_string());
        }
    }
    let updates = client
        .calls(&aws)
        .await
        .into_iter()
        .filter(|call| call["operation"] == "UpdateResource")
        .count();
    assert_eq!(updates, 2, "a changed secret is an update");
    for reference in client.references().await {
        replies.push_str(&reference.to_string());
    }
    assert_hidden("the replies", replies.as_bytes());
    assert_hidden("the database", &at_rest());
    server.terminate();
    assert_hidden("the logs", server.output().as_bytes());
}

fn assert_hidden(place: &str, bytes: &[u8]) {
    let found = bytes
        .windows(CANARY.len())
        .any(|window| window == CANARY.as_bytes());
    assert!(!found, "a secret is readable in {place}");
}

/// Every byte of every file in a folder: the database, its log and its lock.
fn files(directory: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(directory).expect("the folder is there") {
        bytes.extend(fs::read(entry.expect("an entry").path()).expect("a file"));
    }
    assert!(!bytes.is_empty());
    bytes
}

/// A program of the Postgres that the test cluster runs on.
fn postgres_program(name: &str) -> PathBuf {
    let directory = Command::new("pg_config").arg("--bindir").output().ok();
    let directory = directory.filter(|output| output.status.success());
    let found = directory
        .map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).join(name));
    found
        .filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from(name))
}
