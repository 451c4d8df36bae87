//! SIGKILL at each crash point of an apply, each time that the apply passes it, then a restart: the set is applied to its
//! end, nothing was created twice or left behind, and each reference stands for its resource. On SQLite the kill comes
//! before what the point names, on Postgres after it; with `UCP_MISHAPS=all` on both sides.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use ucp_choice::{note, part};
use ucp_observe::{CrashPoint, CrashTurn, Edge, Moment};

use super::client::{Client, GROUP};
use super::engine::{Engine, TENTHS, tenths};
use super::process::Process;

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

tenths! {
    a_kill_anywhere_in_an_apply_costs_only_time_on_sqlite,
    a_kill_anywhere_in_an_apply_costs_only_time_on_postgres
}

/// How often an apply of two creates passes a moment at least, on either side: those of the apply, and of each create.
fn passes(moment: Moment) -> u32 {
    match moment {
        Moment::Accept => 1,
        Moment::StartChild => 2,
        Moment::Claim | Moment::Finish => 3,
        Moment::RecordIntent | Moment::Create | Moment::RecordProgress | Moment::Poll => 2,
        Moment::Look | Moment::RecordVerdict => 2,
        Moment::Update | Moment::Delete | Moment::Cancel => 0,
        Moment::Remember | Moment::Adopt | Moment::Move => 0,
    }
}

async fn kill_everywhere(engine: Engine, tenth: usize) {
    let edge = match engine {
        Engine::Sqlite => Edge::Before,
        Engine::Postgres => Edge::After,
    };
    let (_simulator, aws) = Process::simulator("60ms").await;
    let points = CrashPoint::all().filter(|point| ucp_choice::has_all() || point.edge == edge);
    let name = |point: CrashPoint| format!("{engine:?} apply {point}");
    let tenth = points.enumerate().skip(tenth).step_by(TENTHS).collect();
    for (index, point) in part(2, tenth, |(_, point)| name(*point)) {
        note("kills", &name(point));
        // Until it is not passed once more.
        for turn in 1.. {
            let Some((url, _database)) = engine.fresh().await else {
                return;
            };
            // A separate account isolates the AWS of each case.
            let account = format!("2{index:05}{turn:06}");
            let at = CrashTurn { point, turn };
            if !kill_once(at, &url, &aws, &account).await {
                assert!(turn > passes(point.moment), "{at} was not reached");
                break;
            }
        }
    }
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
