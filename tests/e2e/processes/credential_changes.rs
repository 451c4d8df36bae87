//! A process uses a credential that another one has changed (contract section 6, D32).

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

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_changed_by_one_process_is_used_by_the_other() {
    let Some(database) = ucp_store_sql::testing::database().await else {
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
    assert_eq!(list(&home).await, 200);
}
