//! SIGKILL at each crash point of an apply, each time that the apply passes it, then a restart: the set is applied to its
//! end, nothing was created twice or left behind, and each reference stands for its resource. On SQLite the kill comes
//! before what the point names, on Postgres after it; with `UCP_MATRIX=all` on both sides.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use ucp_observe::{CrashPoint, CrashTurn, Edge};

use super::client::{Client, GROUP};
use super::process::Process;

/// How many processes are killed at once.
const AT_ONCE: usize = 6;
/// The fewest kills on one side: each commit and each call of two creates, and those of the apply.
const KILLS_MIN: usize = 20;

fn set(account: &str) -> Value {
    let name = json!({"$concat": ["of-", {"$reference": "net#/VpcId"}]});
    json!({
        "scope": format!("/planes/aws/aws/accounts/{account}/regions/us-west-2"),
        "resources": [
            {"alias": "logs", "type": "AWS.Logs/LogGroup", "properties": {"LogGroupName": name}},
            {"alias": "net", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": "10.0.0.0/16"}},
        ],
        "outputs": {"net": {"$reference": "net"}},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_anywhere_in_an_apply_costs_only_time_on_sqlite() {
    kill_everywhere(Edge::Before, async || {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = format!("sqlite://{}", directory.path().join("ucp.db").display());
        Some((url, Box::new(directory) as Guard))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_anywhere_in_an_apply_costs_only_time_on_postgres() {
    kill_everywhere(Edge::After, async || {
        let database = ucp_store_sql::testing::database().await?;
        Some((database.url(), Box::new(database) as Guard))
    })
    .await;
}

/// Keeps a database.
type Guard = Box<dyn Send>;

async fn kill_everywhere(edge: Edge, database: impl AsyncFn() -> Option<(String, Guard)>) {
    let is_all = std::env::var("UCP_MATRIX").is_ok_and(|which| which == "all");
    let (_simulator, aws) = Process::simulator("60ms").await;
    let at_once = Arc::new(Semaphore::new(AT_ONCE));
    let (mut kills, mut index) = (0, 0_u64);
    let points = CrashPoint::all().filter(|point| is_all || point.edge == edge);
    let mut points: Vec<CrashPoint> = points.collect();
    // Each round kills at the next pass of each point that the last one has reached.
    for turn in 1.. {
        let mut cases = JoinSet::new();
        for point in std::mem::take(&mut points) {
            let Some((url, guard)) = database().await else {
                return;
            };
            let (aws, at_once) = (aws.clone(), Arc::clone(&at_once));
            index += 1;
            // A separate account isolates the AWS of each case.
            let account = format!("{:012}", 200_000_000_000 + index);
            cases.spawn(async move {
                let _permit = at_once.acquire_owned().await;
                let at = CrashTurn { point, turn };
                let was_killed = kill_once(at, &url, &aws, &account).await;
                drop(guard);
                was_killed.then_some(point)
            });
        }
        while let Some(case) = cases.join_next().await {
            points.extend(case.expect("the case holds"));
        }
        kills += points.len();
        if points.is_empty() {
            break;
        }
    }
    assert!(kills >= KILLS_MIN, "{kills} kills");
}

/// Applies the set in a process that is killed at `at`, and goes on in another. Returns whether the first one got there.
async fn kill_once(at: CrashTurn, database: &str, aws: &str, account: &str) -> bool {
    let (doomed, url) = Process::serve(database, aws, account, Some(&at.to_string())).await;
    let client = Client::new(&url, account);
    client.put_group().await;
    let (path, body) = (format!("{GROUP}/:apply"), set(account).to_string());
    let applying = {
        let (client, path, body) = (client.clone(), path.clone(), body.clone());
        tokio::spawn(async move {
            let answer = client.try_call("POST", &path, &body).await.ok()?;
            Some(answer.status_url.expect("polling headers"))
        })
    };
    // Only an apply that is never held ends.
    let ending = async {
        match applying.await.expect("the request ends") {
            Some(status) => client.follow(&status).await,
            None => std::future::pending().await,
        }
    };
    let was_killed = tokio::select! {
        ended = ending => {
            assert_eq!(ended["status"], "Succeeded", "{at}: {ended}");
            false
        }
        _ = doomed.line("\"paused\"") => true,
    };
    doomed.kill();

    let (_heir, url) = Process::serve(database, aws, account, None).await;
    let client = Client::new(&url, account);
    let last = client.insist_on(&path, &body).await;
    let is_done = last.is_null() || last["status"] == "Succeeded";
    assert!(is_done, "{at}: {last}");
    // Nothing is left to do.
    let again = client.call("POST", &path, &body).await;
    assert_eq!(again.status, 200, "{at}: {again:?}");

    let calls = client.calls(aws).await;
    let creates = calls
        .iter()
        .filter(|call| call["operation"] == "CreateResource");
    let tokens: BTreeSet<&str> = creates
        .filter_map(|call| call["clientToken"].as_str())
        .collect();
    assert_eq!(tokens.len(), 2, "{at}: one create each: {tokens:?}");
    let (live, references) = (client.live(aws).await, client.references().await);
    let identifiers = |of: &[Value], pointer: &str| -> BTreeSet<String> {
        let name = |one: &Value| one.pointer(pointer)?.as_str().map(str::to_owned);
        of.iter().filter_map(name).collect()
    };
    let live = identifiers(&live, "/identifier");
    let referenced = identifiers(&references, "/mapsTo/primaryIdentifier");
    assert_eq!((live.len(), &live), (2, &referenced), "{at}");
    let net = live.iter().find(|name| name.starts_with("vpc-"));
    let net = net.unwrap_or_else(|| panic!("{at}: no VPC in {live:?}"));
    assert!(live.contains(&format!("of-{net}")), "{at}: {live:?}");
    was_killed
}
