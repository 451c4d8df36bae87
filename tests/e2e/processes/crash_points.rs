//! SIGKILL at each crash point of a create, an update, a delete and a replacement in either order, then a restart: the
//! operation ends with the correct result, nothing was created twice or left behind, and the reference is correct.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use ucp_observe::{CrashPoint, CrashTurn, Moment};

use super::client::Client;
use super::process::Process;

const VPC: &str = "AWS.EC2/VPC";
/// How many processes are killed at once.
const AT_ONCE: usize = 4;

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

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_anywhere_costs_only_time_on_sqlite() {
    kill_everywhere(async |_| {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = format!("sqlite://{}", directory.path().join("ucp.db").display());
        Some((url, Box::new(directory) as Box<dyn Send>))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_anywhere_costs_only_time_on_postgres() {
    kill_everywhere(async |_| {
        let database = ucp_store_sql::testing::database().await?;
        Some((database.url(), Box::new(database) as Box<dyn Send>))
    })
    .await;
}

async fn kill_everywhere(database: impl AsyncFn(CrashTurn) -> Option<(String, Box<dyn Send>)>) {
    let (_simulator, aws) = Process::simulator("60ms").await;
    let at_once = Arc::new(Semaphore::new(AT_ONCE));
    let mut cases = JoinSet::new();
    let changes = [
        Change::Create,
        Change::Update,
        Change::Delete,
        Change::CreateBeforeDelete,
        Change::DeleteBeforeCreate,
    ];
    let all = changes
        .into_iter()
        .flat_map(|change| change.turns().map(move |turn| (change, turn)));
    for (index, (change, point)) in all.enumerate() {
        let Some((url, guard)) = database(point).await else {
            return;
        };
        let (aws, at_once) = (aws.clone(), Arc::clone(&at_once));
        cases.spawn(async move {
            let _permit = at_once
                .acquire_owned()
                .await
                .expect("the semaphore is open");
            // A separate account isolates the AWS of each case.
            let account = format!("{:012}", 100_000_000_000 + index);
            kill_once(change, point, &url, &aws, &account).await;
            drop(guard);
        });
    }
    let mut seen = 0;
    while let Some(case) = cases.join_next().await {
        case.expect("the case holds");
        seen += 1;
    }
    assert_eq!(
        seen,
        18 + 20 + 16 + 36 + 34,
        "every moment of every change, on both edges"
    );
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
