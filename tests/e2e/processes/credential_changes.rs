//! A process uses a credential that another one has changed (contract section 6, D32).

use std::process::Command;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::client::{Client, eventually};
use super::process::Process;

/// The account of the credentials in the environment.
const HOME: &str = "111111111111";
const GUEST: &str = "222222222222";
const CREDENTIAL: &str =
    "/planes/aws/aws/providers/System.AWS/credentials/default?api-version=2023-10-01-preview";
/// A credential that nobody tells of is used for 30 seconds.
const SOONER: Duration = Duration::from_secs(20);

/// The status of a list of the VPCs in the client's account.
async fn list(client: &Client) -> u16 {
    let account = &client.account;
    let path =
        format!("/planes/aws/aws/accounts/{account}/regions/us-west-2/providers/AWS.EC2/VPC");
    client.call("GET", &path, "").await.status
}

/// Expects that the process soon has no credentials of the client's account any more.
async fn loses_access(client: &Client) {
    let began = Instant::now();
    eventually(async || (list(client).await == 403).then_some(())).await;
    let took = began.elapsed();
    assert!(took < SOONER, "it was told, and took {took:?}");
}

/// Runs commands as they are printed, each of which has to succeed.
fn run(commands: &str, server: &str) {
    let commands = commands.replace("curl ", "curl --fail-with-body --silent --show-error ");
    let run = Command::new("sh")
        .args(["-c", &commands])
        .env("UCP_SERVER", server)
        .env_remove("UCP_TOKEN")
        .output();
    let ended = run.expect("a shell");
    assert!(ended.status.success(), "{commands}: {ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_changed_by_one_process_is_used_by_the_other() {
    let Some(database) = ucp_store_sql::testing::migrated_database().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("20ms").await;
    let (_here, here) = Process::serve(&database.url(), &aws, HOME, None).await;
    let (_there, there) = Process::serve(&database.url(), &aws, HOME, None).await;
    let here = Client::new(&here, HOME);
    let (home, guest) = (Client::new(&there, HOME), Client::new(&there, GUEST));
    assert_eq!((list(&home).await, list(&guest).await), (200, 403));

    let key = json!({"location": "global", "properties": {"kind": "AccessKey",
        "accessKeyId": format!("AKIA{GUEST}"), "secretAccessKey": "secret",
        "storage": {"kind": "Internal"}}});
    let put = here.call("PUT", CREDENTIAL, &key.to_string()).await;
    assert_eq!(put.status, 200, "{}", put.text);
    loses_access(&home).await;
    assert_eq!(list(&guest).await, 200);

    let removed = here.call("DELETE", CREDENTIAL, "").await;
    assert_eq!(removed.status, 200, "{}", removed.text);
    loses_access(&guest).await;
    assert_eq!(list(&home).await, 403, "nothing takes its place");
}

/// The identity of the process signs for a plane that says so, and for no other name. A stored credential ends that, and
/// nothing takes its place. One that AWS does not accept replaces none.
#[tokio::test(flavor = "multi_thread")]
async fn the_identity_of_the_process_signs_only_where_it_may() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let (_simulator, aws) = Process::simulator("20ms").await;
    let (_server, url) = Process::serve(&database, &aws, HOME, None).await;
    let client = Client::new(&url, HOME);
    let version = "api-version=2023-10-01-preview";
    let list = async |plane: &str, account: &str| {
        let types = "regions/us-west-2/providers/AWS.EC2/VPC";
        let path = format!("/planes/aws/{plane}/accounts/{account}/{types}");
        let answer = client.call("GET", &path, "").await;
        let code = answer.body["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        (answer.status, code)
    };
    let told = |status: u16, code: &str| (status, code.to_owned());
    assert_eq!(list("aws", HOME).await, told(200, ""));
    assert_eq!(list("ghost", HOME).await, told(404, "NotFound"));
    let put =
        format!("/planes/aws/ghost/accounts/{HOME}/regions/us-west-2/providers/AWS.EC2/VPC/:put");
    let body = r#"{"properties":{"CidrBlock":"10.0.0.0/16"}}"#;
    let refused = client.call("POST", &put, body).await;
    assert_eq!(refused.status, 404, "{}", refused.text);
    assert!(
        refused.text.contains("The plane 'ghost' does not exist."),
        "{}",
        refused.text
    );

    let plane = format!("/planes/aws/mine?{version}");
    let put_plane = async |settings: &str| {
        let body = format!(r#"{{"location":"global","properties":{settings}}}"#);
        assert_eq!(client.call("PUT", &plane, &body).await.status, 200);
    };
    put_plane("{}").await;
    assert_eq!(list("mine", HOME).await, told(403, "InvalidCredentials"));

    let credential = format!("/planes/aws/mine/providers/System.AWS/credentials/default?{version}");
    let put_key = async |id: &str| {
        let key = json!({"location": "global", "properties": {"kind": "AccessKey", "accessKeyId": id,
            "secretAccessKey": "secret", "storage": {"kind": "Internal"}}});
        client.call("PUT", &credential, &key.to_string()).await
    };
    // It takes the place of nothing that works.
    let unaccepted = put_key("AKIAnobody").await;
    assert_eq!(unaccepted.status, 200, "{}", unaccepted.text);
    let warning = &unaccepted.body["warnings"][0];
    assert_eq!(
        warning["code"], "CredentialNotAccepted",
        "{}",
        unaccepted.text
    );
    let shown = client.call("GET", &credential, "").await;
    assert_eq!(shown.body["warnings"], json!(null), "{}", shown.text);
    // It says how the identity of the process signs after all.
    let message = warning["message"].as_str().expect("a text");
    let (_, commands) = message.split_once("sign: ").expect("commands");
    run(commands, &url);
    assert_eq!(client.call("GET", &credential, "").await.status, 404);
    assert_eq!(list("mine", HOME).await, told(200, ""));
    let wrong = put_key("AKIAnobody").await;
    assert_eq!(wrong.status, 403, "{}", wrong.text);
    assert!(wrong.text.contains("goes on signing"), "{}", wrong.text);
    assert_eq!(list("mine", HOME).await, told(200, ""));
    let accepted = put_key(GUEST).await;
    assert_eq!(accepted.status, 200, "{}", accepted.text);
    assert_eq!(accepted.body["warnings"], json!(null), "{}", accepted.text);
    assert_eq!(list("mine", HOME).await, told(403, "AccountMismatch"));
    assert_eq!(list("mine", GUEST).await, told(200, ""));
    let shown = client.call("GET", &plane, "").await;
    assert_eq!(
        shown.body["properties"]["credentials"], "stored",
        "{}",
        shown.text
    );

    let wrong = put_key("AKIAnobody").await;
    assert_eq!(wrong.status, 403, "{}", wrong.text);
    assert_eq!(
        wrong.body["error"]["code"], "InvalidCredentials",
        "{}",
        wrong.text
    );
    assert_eq!(
        list("mine", GUEST).await,
        told(200, ""),
        "the stored one was kept"
    );

    assert_eq!(client.call("DELETE", &credential, "").await.status, 200);
    for account in [HOME, GUEST] {
        assert_eq!(list("mine", account).await, told(403, "InvalidCredentials"));
    }
    // The error says how the identity of the process signs again.
    let types = format!("/planes/aws/mine/accounts/{HOME}/regions/us-west-2/providers/AWS.EC2/VPC");
    let refused = client.call("GET", &types, "").await;
    let message = refused.body["error"]["message"].as_str().expect("a text");
    let (_, command) = message.split_once("curl").expect("a command");
    run(&format!("curl{command}"), &url);
    assert_eq!(list("mine", HOME).await, told(200, ""));
    assert_eq!(list("aws", HOME).await, told(200, ""));
}
