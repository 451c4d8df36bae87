//! `ucp token`, beside servers of the real binary: what it prints, what is stored, and how soon a token is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::client::eventually;
use super::process::Process;

const ACCOUNT: &str = "123456789012";
const NOWHERE: &str = "http://127.0.0.1:9";
const PLANES: &str = "/planes?api-version=2023-10-01-preview";
const AUDIT: &str =
    "/planes/radius/local/providers/System.Resources/auditEvents?caller=ucp%20token";

/// Runs `ucp token`, which succeeds. Returns its standard output.
async fn succeed(arguments: &[&str]) -> String {
    let output = Process::token(arguments).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the status and the body of a reply to curl.
pub(super) async fn ask(url: &str, token: &str) -> (u16, Value) {
    ask_at(url, PLANES, token).await
}

async fn ask_at(url: &str, path: &str, token: &str) -> (u16, Value) {
    send(url, "GET", path, token).await
}

/// The same with a method.
pub(super) async fn send(url: &str, method: &str, path: &str, token: &str) -> (u16, Value) {
    let mut command = Command::new("curl");
    command
        .args([
            "--silent",
            "--max-time",
            "60",
            "--write-out",
            "\n%{http_code}",
        ])
        .args(["--request", method, "--oauth2-bearer", token])
        .arg(format!("{url}{path}"));
    let run = tokio::task::spawn_blocking(move || command.output()).await;
    let output = run.expect("it ends").expect("curl runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (body, status) = text.rsplit_once('\n').expect("a status");
    let body = serde_json::from_str(body).unwrap_or(Value::Null);
    (status.parse().expect("a number"), body)
}

fn assert_nowhere(secret: &str, place: &str, bytes: &[u8]) {
    let mut windows = bytes.windows(secret.len());
    let found = windows.any(|window| window == secret.as_bytes());
    assert!(!found, "a secret is in {place}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_stored_without_its_secret_and_can_be_revoked() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = format!("sqlite://{}", folder.path().join("ucp.db").display());
    let required = ["--require-authentication"];
    let (mut server, url) = Process::serve_with(&required, &database, NOWHERE, ACCOUNT).await;
    let first = Process::create_token(&database, &["--name", "ci"]).await;
    let second = Process::create_token(&database, &["--name", "ci", "--expires", "never"]).await;
    assert_eq!(ask(&url, &first).await.0, 200);
    assert_eq!(ask(&url, &second).await.0, 200);
    let mut wrong = first.clone();
    wrong.replace_range(50..60, "wrong_wron");
    assert_eq!(ask(&url, &wrong).await.0, 401);

    let (id, list) = (&first[4..16], ["list", "--database-url", &database]);
    let listed = eventually(async || {
        let listed = succeed(&list).await;
        let used = listed.lines().filter(|line| !line.contains("never  valid"));
        (used.count() == 3).then_some(listed)
    })
    .await;
    let line = listed.lines().find(|line| line.starts_with(id));
    let line = line.unwrap_or_else(|| panic!("{id} is not in {listed}"));
    for part in ["ci", "owner", "/", "valid"] {
        assert!(line.split_whitespace().any(|word| word == part), "{line}");
    }

    // The one by its id, the other by its name.
    let revoked = succeed(&["revoke", "--database-url", &database, id]).await;
    assert!(revoked.contains(id), "{revoked}");
    eventually(async || (ask(&url, &first).await.0 == 401).then_some(())).await;
    let (_, body) = ask(&url, &first).await;
    assert_eq!(body["error"]["code"], "AuthenticationFailed");
    assert_eq!(ask(&url, &second).await.0, 200);
    // What the command has done is in the audit.
    let (status, audit) = ask_at(&url, AUDIT, &second).await;
    assert_eq!(status, 200, "{audit}");
    let events = audit["value"].as_array().expect("a list");
    let of_first = events.iter().map(|event| &event["properties"]);
    let of_first = of_first.filter(|event| event["id"] == format!("/tokens/{id}"));
    let of_first: Vec<_> = of_first.map(|event| event["action"].clone()).collect();
    assert_eq!(
        of_first,
        [
            "System.Resources/tokens/delete",
            "System.Resources/tokens/write"
        ]
    );
    succeed(&["revoke", "--database-url", &database, "ci"]).await;
    eventually(async || (ask(&url, &second).await.0 == 401).then_some(())).await;
    let again = Process::token(&["revoke", "--database-url", &database, "ci"]).await;
    assert!(!again.status.success());

    let listed = succeed(&list).await;
    assert_eq!(listed.matches("  revoked").count(), 2, "{listed}");
    let at_rest = |when: &str| {
        for entry in fs::read_dir(folder.path()).expect("the folder is there") {
            let bytes = fs::read(entry.expect("an entry").path()).expect("a file");
            for token in [&first, &second] {
                assert_nowhere(&token[17..], when, &bytes);
            }
        }
    };
    at_rest("the database");
    server.terminate();
    assert!(server.ended().await.success(), "{}", server.output());
    at_rest("the database, after a stop");
    for token in [&first, &second, &wrong] {
        let secret = &token[17..];
        assert_nowhere(secret, "the log", server.output().as_bytes());
        assert_nowhere(secret, "the list", listed.as_bytes());
    }
    let failed = server.output().matches("a login failed").count();
    assert!(failed >= 3, "{}", server.output());
    assert!(server.output().contains(r#""caller.name":"token:ci""#));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_server_refuses_a_revoked_token_within_five_seconds() {
    let Some(database) = ucp_store_sql::testing::migrated_database().await else {
        return;
    };
    let database = database.url();
    let required = ["--require-authentication", "--roles=api"];
    let (_one, one) = Process::serve_with(&required, &database, NOWHERE, ACCOUNT).await;
    let (_other, other) = Process::serve_with(&required, &database, NOWHERE, ACCOUNT).await;
    let token = Process::create_token(&database, &["--name", "ci", "--expires", "1h"]).await;
    for url in [&one, &other] {
        assert_eq!(ask(url, &token).await.0, 200);
    }
    succeed(&["revoke", "--database-url", &database, "ci"]).await;
    let revoked = tokio::time::Instant::now();
    for url in [&one, &other] {
        let mut last = revoked;
        loop {
            let asked = tokio::time::Instant::now();
            if ask(url, &token).await.0 == 401 {
                break;
            }
            last = asked;
        }
        // It was still accepted then.
        let accepted = last - revoked;
        assert!(accepted.as_secs() < 5, "{accepted:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_token_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = format!("sqlite://{}", folder.path().join("none.db").display());
    let create = ["create", "--name=ci", "--role=owner", "--scope=/"];
    let create = |more: &[&'static str]| [&create[..], more].concat();
    for (arguments, hint) in [
        (create(&[]), "--database-url"),
        (create(&["--data-dir=x", "--database-url=y"]), "--data-dir"),
        (create(&["--data-dir=x", "--role=admin"]), "--role"),
        (create(&["--data-dir=x", "--expires=0s"]), "never be valid"),
        (
            create(&["--data-dir=x", "--scope=/planes/x"]),
            "'/planes/x'",
        ),
        (create(&["--data-dir=/nowhere"]), "/nowhere/ucp.db"),
    ] {
        let output = Process::token(&arguments).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{arguments:?}");
        assert!(said.contains(hint), "{arguments:?}: {said}");
    }
    let output = Process::token(&["list", "--database-url", &missing]).await;
    assert!(!output.status.success());
    assert!(!Path::new(missing.trim_start_matches("sqlite://")).exists());
}

/// Commands on the same machine find it, and others cannot read it.
#[tokio::test(flavor = "multi_thread")]
async fn dev_makes_a_token_and_keeps_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let path = data.join("token");
    let read = || fs::read_to_string(&path).expect("a token");
    let (dev, url) = Process::dev(&data, &[]).await;
    let limits = fs::read_to_string(format!("/proc/{}/limits", dev.id()));
    if let Ok(limits) = limits {
        let core = limits.lines().find(|line| line.starts_with("Max core"));
        let words = core.expect("a limit").split_whitespace();
        assert_eq!(words.skip(4).collect::<Vec<_>>(), ["0", "0", "bytes"]);
    }
    let mode = fs::metadata(&path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = read();
    assert_eq!(ask(&url, first.trim()).await.0, 200);
    assert_eq!(ask(&url, "ucp_wrong").await.0, 401);
    dev.kill();

    let (dev, _) = Process::dev(&data, &[]).await;
    assert_eq!(read(), first, "it is kept");
    let data_dir = format!("--data-dir={}", data.display());
    succeed(&["revoke", &data_dir, "dev"]).await;
    dev.kill();

    // Beyond loopback it is needed.
    let (_dev, url) = Process::dev(&data, &["--listen=0.0.0.0:0"]).await;
    let url = url.replace("0.0.0.0", "127.0.0.1");
    assert_ne!(read(), first, "it is replaced");
    assert_eq!(ask(&url, read().trim()).await.0, 200);
    assert_eq!(ask(&url, first.trim()).await.0, 401);
}
