//! Processes whose Postgres fails over to its standby.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;
use ucp_store_sql::testing::Failover;

use crate::client::{Client, eventually};
use crate::process::Process;

const ACCOUNT: &str = "123456789012";
const PUTS: usize = 30;
/// Workers go on after 15 seconds. The rest is for a busy machine.
const WORKING: Duration = Duration::from_secs(30);

/// Puts while `failing` goes on, through two processes, and expects that each put has one resource in the end.
async fn survives(database: &Failover, failing: impl Future<Output = ()>) {
    let (_simulator, aws) = Process::simulator("100ms").await;
    let (_left, left) = Process::serve(&database.url(), &aws, ACCOUNT, None).await;
    let (right_process, right) = Process::serve(&database.url(), &aws, ACCOUNT, None).await;
    let clients = [Client::new(&left, ACCOUNT), Client::new(&right, ACCOUNT)];
    clients[0].put_group().await;
    let mut puts = JoinSet::new();
    for index in 0..PUTS {
        let client = clients[index % 2].clone();
        puts.spawn(async move {
            let (name, body) = (
                format!("vpc-{index}"),
                json!({"CidrBlock": format!("10.{index}.0.0/16")}),
            );
            client.persist("put", "AWS.EC2/VPC", &name, &body).await;
        });
    }
    eventually(async || (!clients[0].live(&aws).await.is_empty()).then_some(())).await;
    failing.await;
    let failed = Instant::now();
    let after = json!({"CidrBlock": "10.255.0.0/16"});
    clients[1]
        .persist("put", "AWS.EC2/VPC", "after", &after)
        .await;
    let took = failed.elapsed();
    assert!(took < WORKING, "{took:?}: {}", right_process.output());
    while let Some(put) = puts.join_next().await {
        put.expect("the put is done");
    }
    assert_eq!(clients[0].live(&aws).await.len(), PUTS + 1);
    assert_eq!(clients[1].references().await.len(), PUTS + 1);
    for client in &clients {
        assert!(client.is_ready().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_from_a_killed_primary() {
    let Some(database) = Failover::start().await else {
        return;
    };
    let failing = async {
        database.kill_primary();
        database.promote_standby();
    };
    survives(&database, failing).await;
}

/// As managed failovers do: the old primary keeps its connections, and refuses writes.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_from_a_primary_that_only_takes_reads() {
    let Some(database) = Failover::start().await else {
        return;
    };
    let failing = async {
        database.make_primary_read_only().await;
        database.promote_standby();
    };
    survives(&database, failing).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_goes_on_when_its_only_server_takes_writes_again() {
    let Some(database) = Failover::start().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("20ms").await;
    let (_server, url) = Process::serve(&database.primary_url(), &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    database.make_primary_read_only().await;
    eventually(async || (!client.is_ready().await).then_some(())).await;
    database.make_primary_writable().await;
    let back = Instant::now();
    let body = json!({"CidrBlock": "10.0.0.0/16"});
    client.persist("put", "AWS.EC2/VPC", "main", &body).await;
    assert!(back.elapsed() < WORKING, "{:?}", back.elapsed());
    assert!(client.is_ready().await);
}
