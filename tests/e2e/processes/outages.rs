//! Processes whose Postgres is away, or whose connections to it are lost without a word.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::Instant;
use ucp_store_sql::testing::TestDatabase;

use super::client::{API_VERSION, Client, GROUP, eventually};
use super::process::Process;
use super::proxy::Proxy;

const ACCOUNT: &str = "123456789012";
/// A request has its reply after two seconds. The rest is for a busy machine.
const SOON: Duration = Duration::from_secs(5);
/// Workers go on after this time.
const WORKING: Duration = Duration::from_secs(15);
/// A process stops within this time.
const STOPPED: Duration = Duration::from_secs(10);

async fn proxy() -> Option<Proxy<TestDatabase>> {
    let database = ucp_store_sql::testing::migrated_database().await?;
    Some(Proxy::before(Arc::new(database)).await)
}

async fn put(client: &Client, name: &str) {
    let cidr = json!({"CidrBlock": "10.0.0.0/16"});
    client.persist("put", "AWS.EC2/VPC", name, &cidr).await;
}

/// Expects that requests are told soon that the database is away.
async fn is_told(client: &Client) {
    let path = format!("{GROUP}?{API_VERSION}");
    for target in [&path, "/readyz", &path] {
        let asked = Instant::now();
        let answer = client.call("GET", target, "").await;
        let took = asked.elapsed();
        assert_eq!(answer.status, 503, "{target}: {}", answer.text);
        assert!(took < SOON, "{target} took {took:?}");
    }
    let (path, body) = client.action("put", "AWS.EC2/VPC", "refused", &json!({}));
    let asked = Instant::now();
    let answer = client.call("POST", &path, &body).await;
    assert_eq!(answer.status, 503, "{}", answer.text);
    assert!(answer.retry_after.is_some(), "{answer:?}");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_told_soon_that_the_database_is_away() {
    let Some(mut proxy) = proxy().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("20ms").await;
    let (_server, url) = Process::serve(&proxy.url(), &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    put(&client, "before").await;

    proxy.stall();
    is_told(&client).await;
    proxy.resume().await;
    let resumed = Instant::now();
    put(&client, "stalled").await;
    assert!(resumed.elapsed() < WORKING, "{:?}", resumed.elapsed());

    proxy.refuse().await;
    is_told(&client).await;
    proxy.resume().await;
    put(&client, "refused").await;
    eventually(async || client.is_ready().await.then_some(())).await;
    assert_eq!(client.live(&aws).await.len(), 3);
}

/// As after the loss of a firewall's table: what is open is dead, and nobody is told.
#[tokio::test(flavor = "multi_thread")]
async fn dead_connections_do_not_hang_the_workers() {
    let Some(proxy) = proxy().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("20ms").await;
    let (mut server, url) = Process::serve(&proxy.url(), &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    put(&client, "before").await;
    for name in ["one", "two", "three"] {
        proxy.stall_open();
        let stalled = Instant::now();
        put(&client, name).await;
        let took = stalled.elapsed();
        assert!(took < WORKING, "{took:?}: {}", server.output());
    }
    assert!(client.is_ready().await);
    assert_eq!(client.live(&aws).await.len(), 4);
    server.terminate();
    assert!(server.ended().await.success(), "{}", server.output());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_stops_in_time_while_its_database_hangs() {
    let Some(proxy) = proxy().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("20ms").await;
    let (mut server, url) = Process::serve(&proxy.url(), &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    // An operation is under way.
    let (path, body) = client.action(
        "put",
        "AWS.EC2/VPC",
        "main",
        &json!({"CidrBlock": "10.0.0.0/16"}),
    );
    assert_eq!(client.call("POST", &path, &body).await.status, 201);
    proxy.stall();
    eventually(async || (!client.is_ready().await).then_some(())).await;
    let asked = Instant::now();
    server.terminate();
    let status = server.ended().await;
    assert!(asked.elapsed() < STOPPED, "{:?}", asked.elapsed());
    assert!(status.success(), "{}", server.output());
}

/// A process that waits for its database when it starts stops too.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_waits_for_its_database_stops() {
    let Some(proxy) = proxy().await else {
        return;
    };
    let locked = {
        let (_simulator, aws) = Process::simulator("20ms").await;
        let (_server, _) = Process::serve(&proxy.url(), &aws, ACCOUNT, None).await;
        proxy.database().lock_table("_sqlx_migrations").await
    };
    let mut server = Process::serve_unheard(&proxy.url());
    eventually(async || proxy.database().is_anyone_waiting().await.then_some(())).await;
    let asked = Instant::now();
    server.terminate();
    assert!(server.ended().await.success(), "{}", server.output());
    assert!(asked.elapsed() < STOPPED, "{:?}", asked.elapsed());
    drop(locked);
}

/// The database answers, but nothing can be claimed.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_workers_do_not_turn_is_not_ready() {
    let Some(proxy) = proxy().await else {
        return;
    };
    let (_simulator, aws) = Process::simulator("20ms").await;
    let (_server, url) = Process::serve(&proxy.url(), &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    assert!(client.is_ready().await);
    let locked = proxy.database().lock_table("operations").await;
    eventually(async || (!client.is_ready().await).then_some(())).await;
    drop(locked);
    eventually(async || client.is_ready().await.then_some(())).await;
}

/// A server that starts while its database is away says so at once and at each try, and not with which password.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_says_what_it_waits_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent = listener.local_addr().expect("an address");
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        listener.local_addr().expect("an address")
    };
    for (address, told, cause) in [
        (closed, "waiting for the database", "refused"),
        (silent, "the database has not answered yet", ""),
    ] {
        let began = Instant::now();
        let url = format!("postgres://ucp:canary@{address}/ucp");
        let mut server = Process::serve_unheard(&url);
        let line = server.line(told).await;
        // One second, and the rest is for a busy machine.
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        let event: Value = serde_json::from_str(&line).expect("a JSON log");
        assert_eq!(
            event["database.servers"],
            json!(address.to_string()),
            "{line}"
        );
        assert!(line.contains(cause), "{line}");
        if address == closed {
            let times = || server.output().matches(told).count();
            eventually(async || (times() >= 3).then_some(())).await;
        }
        server.terminate();
        assert!(server.ended().await.success(), "{}", server.output());
        assert!(!server.output().contains("canary"), "{}", server.output());
    }
}
