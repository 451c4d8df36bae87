//! The commands that a new user and an operator run.

use std::process::Command;

use serde_json::json;

use super::client::{Client, eventually};
use super::process::Process;

const ACCOUNT: &str = "123456789012";

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_tells_its_story() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (status, output) = Process::demo(&directory.path().join("data"), &[]).await;
    assert!(status.success(), "{output}");
    assert!(
        output.contains("two puts and an update made one VPC"),
        "{output}"
    );
}

/// The same under a path base (contract section 1): every polled URL contains it.
#[tokio::test(flavor = "multi_thread")]
async fn the_demo_tells_its_story_under_a_path_base() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let base = "/apis/api.ucp.dev/v1alpha3";
    let arguments = ["--path-base", base];
    let (status, output) = Process::demo(&directory.path().join("data"), &arguments).await;
    assert!(status.success(), "{output}");
    let requests = output.lines().filter(|line| line.contains("http://"));
    let requests = requests.filter(|line| line.starts_with("> "));
    let (under, elsewhere): (Vec<&str>, Vec<&str>) =
        requests.partition(|request| request.contains(&format!("{base}/planes/")));
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    assert!(
        under
            .iter()
            .any(|request| request.contains("operationStatuses")),
        "{under:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_asked_to_stop_does_and_another_goes_on() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let (_simulator, aws) = Process::simulator("500ms").await;
    let (mut first, url) = Process::serve(&database, &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    let (path, body) = client.action(
        "put",
        "AWS.EC2/VPC",
        "main",
        &json!({"CidrBlock": "10.0.0.0/16"}),
    );
    let status_url = client
        .call("POST", &path, &body)
        .await
        .status_url
        .expect("polling headers");
    eventually(async || (!client.calls(&aws).await.is_empty()).then_some(())).await;
    first.terminate();
    assert!(first.ended().await.success(), "{}", first.output());

    let (_second, url) = Process::serve(&database, &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    assert_eq!(client.follow(&status_url).await["status"], "Succeeded");
    assert_eq!(client.live(&aws).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_says_what_it_lacks() {
    let refused = |arguments: &[&str], key: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_ucp"))
            .args(arguments)
            .env_remove("UCP_ENCRYPTION_KEY")
            .envs((!key.is_empty()).then_some(("UCP_ENCRYPTION_KEY", key)))
            .output()
            .expect("the binary starts");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let serve = ["serve", "--database-url", "sqlite:///nonexistent/ucp.db"];
    assert!(refused(&serve, "").contains("openssl rand -hex 32"));
    assert!(refused(&serve, "short").contains("64 hexadecimal digits"));
    assert!(refused(&serve, &"07".repeat(32)).contains("/nonexistent/ucp.db"));
    assert!(
        refused(&["serve", "--database-url", "mysql://x"], &"07".repeat(32))
            .contains("postgres://")
    );
    let lease = ["serve", "--database-url", "sqlite://x", "--lease=900ms"];
    assert!(refused(&lease, &"07".repeat(32)).contains("at least 1s"));
}
