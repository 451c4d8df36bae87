//! Processes behind PgBouncer, which hands out connections by transaction.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;
use ucp_store_sql::testing::{Pooler, TestDatabase, database};

use super::client::Client;
use super::process::Process;

const ACCOUNT: &str = "123456789012";
const CREATES: usize = 60;

async fn pooled() -> Option<(TestDatabase, Pooler)> {
    let database = database().await?;
    let pooler = Pooler::before(&database).await?;
    Some((database, pooler))
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_share_a_pooler() {
    let Some((_database, pooler)) = pooled().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("100ms").await;
    let url = pooler.url();
    // Both migrate, and at once.
    let ((left, left_url), (right, right_url)) = tokio::join!(
        Process::serve(&url, &aws, ACCOUNT, None),
        Process::serve(&url, &aws, ACCOUNT, None),
    );
    let clients = [
        Client::new(&left_url, ACCOUNT),
        Client::new(&right_url, ACCOUNT),
    ];
    clients[0].put_group().await;
    let mut puts = JoinSet::new();
    for index in 0..CREATES {
        let client = clients[index % 2].clone();
        puts.spawn(async move {
            let (name, body) = (
                format!("vpc-{index}"),
                json!({"CidrBlock": format!("10.{index}.0.0/16")}),
            );
            client.insist("put", "AWS.EC2/VPC", &name, &body).await
        });
    }
    while let Some(put) = puts.join_next().await {
        assert_eq!(put.expect("the put ends")["status"], "Succeeded");
    }
    assert_eq!(clients[0].live(&aws).await.len(), CREATES);
    assert_eq!(clients[1].references().await.len(), CREATES);
    for process in [&left, &right] {
        let output = process.output();
        assert!(
            output.contains("the database is behind a pooler"),
            "{output}"
        );
        // On a busy machine a transaction waits for one of the few connections.
        let bad = output.lines().find(|line| {
            let is_bad = line.contains("\"WARN\"") || line.contains("\"ERROR\"");
            is_bad && !line.contains("slow statement") && !line.contains("not authenticated")
        });
        assert!(bad.is_none(), "{bad:?}; the pooler says {}", pooler.log());
    }
}

/// Workers poll once an hour, and hear of operations over a direct connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_behind_a_pooler_listens_over_a_direct_connection() {
    let Some((database, pooler)) = pooled().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("20ms").await;
    let direct = database.url();
    let arguments = ["--poll-interval=1h", "--database-listen-url", &direct];
    let here = ["--roles=api"];
    let (_there, _) = Process::serve_with(&arguments, &pooler.url(), &aws, ACCOUNT).await;
    let (_here, url) = Process::serve_with(&here, &pooler.url(), &aws, ACCOUNT).await;
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    let began = Instant::now();
    let body = json!({"CidrBlock": "10.0.0.0/16"});
    let put = client.insist("put", "AWS.EC2/VPC", "main", &body).await;
    assert_eq!(put["status"], "Succeeded");
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_is_not_listened_through() {
    let Some((_database, pooler)) = pooled().await else {
        return;
    };
    let mut server =
        Process::serve_unheard_with(&pooler.url(), &["--database-listen-url", &pooler.url()]);
    let status = server.ended().await;
    assert!(!status.success());
    let output = server.output();
    assert!(
        output.contains("a pooler cannot be listened through"),
        "{output}"
    );
}
