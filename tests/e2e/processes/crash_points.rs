//! SIGKILL at each crash point of a create, an update, a delete and a replacement in either order, then a restart: the
//! operation ends with the correct result, nothing was created twice or left behind, and the reference is correct.

use serde_json::{Value, json};
use ucp_choice::{note, part};
use ucp_observe::{CrashPoint, CrashTurn, Moment};

use super::client::Client;
use super::engine::{Engine, TENTHS, tenths};
use super::process::Process;

const VPC: &str = "AWS.EC2/VPC";

/// A change, and the crash points that its operation passes.
#[derive(Clone, Copy, Debug)]
enum Change {
    Create,
    Update,
    Delete,
    CreateBeforeDelete,
    DeleteBeforeCreate,
}

impl Change {
    /// The minimum number of times that it passes a moment of [`Moment::ALL`].
    fn passes(self, moment: Moment) -> u32 {
        use Change::{Create, CreateBeforeDelete, Delete, DeleteBeforeCreate, Update};
        match (moment, self) {
            (Moment::Accept | Moment::Finish, _) => 1,
            (Moment::Claim | Moment::RecordProgress, DeleteBeforeCreate) => 3,
            (Moment::Claim, CreateBeforeDelete) => 3,
            (
                Moment::RecordIntent | Moment::Poll | Moment::RecordProgress,
                CreateBeforeDelete | DeleteBeforeCreate,
            ) => 2,
            (Moment::RecordVerdict, CreateBeforeDelete) => 2,
            (
                Moment::Claim | Moment::RecordIntent | Moment::RecordProgress | Moment::Poll,
                Create | Update | Delete,
            ) => 1,
            // Before the first decision, except for a create of a server-named type; and after each verdict.
            (Moment::Look, Create | Delete) => 1,
            (Moment::Look, Update | DeleteBeforeCreate) => 2,
            (Moment::Look, CreateBeforeDelete) => 3,
            (Moment::Create, Create | CreateBeforeDelete | DeleteBeforeCreate) => 1,
            (Moment::Create, Update | Delete) => 0,
            (Moment::Update, Update) => 1,
            (Moment::Update, Create | Delete | CreateBeforeDelete | DeleteBeforeCreate) => 0,
            (Moment::Delete, Delete | CreateBeforeDelete | DeleteBeforeCreate) => 1,
            (Moment::Delete, Create | Update) => 0,
            (Moment::RecordVerdict, Create | Update | DeleteBeforeCreate) => 1,
            (Moment::RecordVerdict, Delete) => 0,
            // Only operations on groups have children; `crashes` covers these.
            (Moment::Cancel | Moment::StartChild, _) => 0,
            // Only requests that need no operation remember and adopt; `crashes` covers these.
            (Moment::Remember | Moment::Adopt | Moment::Move, _) => 0,
        }
    }

    fn turns(self) -> impl Iterator<Item = CrashTurn> {
        CrashPoint::all().flat_map(move |point| {
            (1..=self.passes(point.moment)).map(move |turn| CrashTurn { point, turn })
        })
    }

    fn action(self) -> &'static str {
        match self {
            Change::Create
            | Change::Update
            | Change::CreateBeforeDelete
            | Change::DeleteBeforeCreate => "put",
            Change::Delete => "delete",
        }
    }

    fn replacement_policy(self) -> Option<&'static str> {
        match self {
            Change::Create | Change::Update | Change::Delete => None,
            Change::CreateBeforeDelete => Some("createBeforeDelete"),
            Change::DeleteBeforeCreate => Some("deleteBeforeCreate"),
        }
    }

    /// The number of resources created from the first put to the last.
    fn creates(self) -> usize {
        match self {
            Change::Create | Change::Update | Change::Delete => 1,
            Change::CreateBeforeDelete | Change::DeleteBeforeCreate => 2,
        }
    }

    fn properties(self) -> Value {
        match self {
            Change::Create | Change::Delete => json!({"CidrBlock": "10.0.0.0/16"}),
            Change::Update => json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false}),
            Change::CreateBeforeDelete | Change::DeleteBeforeCreate => {
                json!({"CidrBlock": "10.1.0.0/16"})
            }
        }
    }
}

tenths! {
    a_kill_anywhere_costs_only_time_on_sqlite,
    a_kill_anywhere_costs_only_time_on_postgres
}

fn all() -> impl Iterator<Item = (Change, CrashTurn)> {
    let changes = [
        Change::Create,
        Change::Update,
        Change::Delete,
        Change::CreateBeforeDelete,
        Change::DeleteBeforeCreate,
    ];
    changes
        .into_iter()
        .flat_map(|change| change.turns().map(move |turn| (change, turn)))
}

#[test]
fn every_moment_of_every_change_is_killed_at_on_both_edges() {
    assert_eq!(all().count(), 18 + 20 + 16 + 36 + 34);
}

async fn kill_everywhere(engine: Engine, tenth: usize) {
    let (_simulator, aws) = Process::simulator("60ms").await;
    let name = |change: Change, point: CrashTurn| format!("{engine:?} {change:?} {point}");
    let tenth = all().enumerate().skip(tenth).step_by(TENTHS).collect();
    for (index, (change, point)) in part(2, tenth, |(_, (change, point))| name(*change, *point)) {
        note("kills", &name(change, point));
        let Some((url, _database)) = engine.fresh().await else {
            return;
        };
        // A separate account isolates the AWS of each case.
        let account = format!("{:012}", 100_000_000_000 + index);
        kill_once(change, point, &url, &aws, &account).await;
    }
}

async fn kill_once(change: Change, point: CrashTurn, database: &str, aws: &str, account: &str) {
    let what = format!("{change:?} {point}");
    if !matches!(change, Change::Create) {
        let (first, url) = Process::serve(database, aws, account, None).await;
        let client = Client::new(&url, account);
        client.put_group().await;
        let created = client
            .insist("put", VPC, "main", &Change::Create.properties())
            .await;
        assert_eq!(created["status"], "Succeeded", "{what}: {created}");
        first.kill();
    }

    let (doomed, url) = Process::serve(database, aws, account, Some(&point.to_string())).await;
    let client = Client::new(&url, account);
    client.put_group().await;
    let (path, body) = client.action_with_policy(
        change.action(),
        VPC,
        "main",
        &change.properties(),
        change.replacement_policy(),
    );
    let asking = {
        let client = client.clone();
        let (path, body) = (path.clone(), body.clone());
        // The request does not look, so that the worker does.
        tokio::spawn(async move {
            let preference = Some("respond-async");
            let call = client.try_call_preferring(preference, "POST", &path, &body);
            call.await
        })
    };
    doomed.line("\"paused\"").await;
    doomed.kill();
    let answer = asking.await.expect("the request ends").ok();

    let (_heir, url) = Process::serve(database, aws, account, None).await;
    let client = Client::new(&url, account);
    if let Some(status_url) = answer.and_then(|answer| answer.status_url) {
        let ended = client.follow(&status_url).await;
        assert_eq!(ended["status"], "Succeeded", "{what}: {ended}");
    }
    let last = client.insist_on(&path, &body).await;
    assert!(
        last.is_null() || last["status"] == "Succeeded",
        "{what}: {last}"
    );

    let creates = client.calls(aws).await;
    let mut tokens: Vec<&Value> = creates
        .iter()
        .filter(|call| call["operation"] == "CreateResource")
        .map(|call| &call["clientToken"])
        .collect();
    tokens.dedup();
    assert_eq!(
        tokens.len(),
        change.creates(),
        "{what}: one create each, however often it was sent: {tokens:?}"
    );
    let (live, references) = (client.live(aws).await, client.references().await);
    if matches!(change, Change::Delete) {
        assert!(
            live.is_empty() && references.is_empty(),
            "{what}: {live:?} {references:?}"
        );
        return;
    }
    let [vpc] = &live[..] else {
        panic!("{what}: expected one VPC, found {live:?}")
    };
    let [reference] = &references[..] else {
        panic!("{what}: expected one reference, found {references:?}")
    };
    assert_eq!(
        reference["mapsTo"]["primaryIdentifier"], vpc["identifier"],
        "{what}"
    );
    assert_eq!(reference["ownedResource"], true, "{what}");
    for (name, value) in change.properties().as_object().expect("an object") {
        assert_eq!(&vpc["properties"][name], value, "{what}");
    }
}
