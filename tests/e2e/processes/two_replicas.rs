//! Two processes on one Postgres share the work.

use std::collections::BTreeSet;

use serde_json::json;
use tokio::task::JoinSet;

use super::client::Client;
use super::process::Process;

const ACCOUNT: &str = "123456789012";
const CREATES: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_share_two_hundred_creates() {
    let Some(database) = ucp_store_sql::testing::migrated_database().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("200ms").await;
    let (left, left_url) = Process::serve(&database.url(), &aws, ACCOUNT, None).await;
    let (right, right_url) = Process::serve(&database.url(), &aws, ACCOUNT, None).await;
    let clients = [
        Client::new(&left_url, ACCOUNT),
        Client::new(&right_url, ACCOUNT),
    ];
    clients[0].put_group().await;

    let mut puts = JoinSet::new();
    for index in 0..CREATES {
        let client = clients[index % 2].clone();
        puts.spawn(async move {
            let cidr = format!("10.{index}.0.0/16");
            client
                .insist(
                    "put",
                    "AWS.EC2/VPC",
                    &format!("vpc-{index}"),
                    &json!({"CidrBlock": cidr}),
                )
                .await
        });
    }
    while let Some(put) = puts.join_next().await {
        let ended = put.expect("the put ends");
        assert_eq!(ended["status"], "Succeeded", "{ended}");
    }

    assert_eq!(clients[0].live(&aws).await.len(), CREATES);
    // If a worker's lease expires on a busy machine, the other worker sends the create again with the same token.
    let calls = clients[0].calls(&aws).await;
    let creates = calls
        .iter()
        .filter(|call| call["operation"] == "CreateResource");
    let tokens: BTreeSet<&str> = creates
        .filter_map(|call| call["clientToken"].as_str())
        .collect();
    assert_eq!(tokens.len(), CREATES, "each was created once");
    assert_eq!(clients[1].references().await.len(), CREATES);
    let ended = |process: &Process| process.output().matches("\"operation ended\"").count();
    assert!(
        ended(&left) > 0 && ended(&right) > 0,
        "both did work: {} and {}",
        ended(&left),
        ended(&right)
    );
}
