//! Databases written by commits bbb7f07 and 7970f72 are migrated, replies stay the same, and their operations continue.
//!
//! `fixtures/bbb7f07.*.sql` are dumps of the same world on each engine, with operations in every state. `replies.json` has
//! what that commit answered about it, and `expected.json` what its operations came to there when they went on with an
//! AWS that has nothing. Both with what later decisions changed on the wire: page tokens, and members of statuses.

mod live_resources;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tempfile::TempDir;
use ucp_app::resealing::{IN_CLEAR, count_sealed, reseal};
use ucp_model::{SeededEntropy, Timestamp};
use ucp_seal::{Keyring, SealingKey};
use ucp_store::Store;
use ucp_store_sql::Sql;
use ucp_store_sql::testing::{TestDatabase, database, restore_sqlite};
use ucp_testkit::{World, cipher};

const SQLITE: &str = include_str!("fixtures/bbb7f07.sqlite.sql");
const POSTGRES: &str = include_str!("fixtures/bbb7f07.postgres.sql");

/// The data recorded with the dumps.
#[derive(Deserialize)]
struct Recorded {
    /// The time of the dumps, in milliseconds since the Unix epoch.
    moment: i64,
    /// The operations in progress.
    live: Vec<Live>,
    /// The server's replies, by path.
    replies: BTreeMap<String, Answer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Live {
    name: String,
    /// The path of its status.
    path: String,
    kind: String,
    state: String,
    action: Option<String>,
    /// The step of its replacement.
    replacing: Option<String>,
    has_reference: bool,
    is_to_be_cancelled: bool,
    is_child: bool,
}

#[derive(Deserialize)]
struct Answer {
    status: u16,
    body: String,
}

/// The final results.
#[derive(Debug, Deserialize, Serialize, PartialEq)]
pub(crate) struct Ends {
    /// The status of each operation that was in progress, by path.
    operations: BTreeMap<String, Value>,
    /// Each group with its references, by path.
    groups: BTreeMap<String, Value>,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("fixtures/replies.json")).expect("the recorded replies")
}

/// A database restored from a dump; it is removed with this value.
pub(crate) enum Restored {
    Sqlite(TempDir),
    Postgres(TestDatabase),
}

impl Restored {
    pub(crate) async fn sqlite(dump: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        restore_sqlite(&directory.path().join("ucp.db"), dump).await;
        Self::Sqlite(directory)
    }

    /// Returns `None` without Postgres.
    pub(crate) async fn postgres(dump: &str) -> Option<Self> {
        let database = database().await?;
        database.restore(dump).await;
        Some(Self::Postgres(database))
    }

    /// A world on the migrated database, at the time of the dump, in milliseconds since the Unix epoch. Its AWS is empty.
    pub(crate) async fn open(&self, moment: i64) -> World {
        let store: Arc<dyn Store> = match self {
            Self::Sqlite(directory) => {
                let store = Sql::open_sqlite(directory.path().join("ucp.db")).await;
                Arc::new(store.expect("SQLite is migrated").sealed_with(cipher()))
            }
            Self::Postgres(database) => {
                let store = Sql::connect_postgres(&database.url()).await;
                Arc::new(store.expect("Postgres is migrated").sealed_with(cipher()))
            }
        };
        let world = World::builder().over(&store).build().await;
        world.clock.move_to(Timestamp::from_millis(moment));
        world
    }

    async fn answers_as_before(&self) {
        let world = self.open(recorded().moment).await;
        answer_as_before(&world).await;
    }

    /// Earlier versions stored in clear what is sealed now.
    async fn is_sealed_by_a_rotation(&self) {
        let world = self.open(recorded().moment).await;
        let store = world.store.as_ref();
        let counts = count_sealed(store).await.expect("the store answers");
        let in_clear = counts[IN_CLEAR];
        assert!(in_clear > 0, "{counts:?}");
        let ring = Keyring::from(SealingKey::new([7; 32]));
        let resealed = reseal(store, &ring, &SeededEntropy::new(3)).await;
        assert_eq!(resealed.expect("the store answers"), in_clear);
        let after = count_sealed(store).await.expect("the store answers");
        assert_eq!(after, [(ring.current_id(), counts.values().sum())].into());
        answer_as_before(&world).await;
    }
    async fn goes_on_as_before(&self) {
        let expected: Ends = serde_json::from_str(include_str!("fixtures/expected.json"))
            .expect("the expected ends");
        let ends = ends(&self.open(recorded().moment).await).await;
        for (path, expected) in &expected.operations {
            assert_eq!(ends.operations.get(path), Some(expected), "{path}");
        }
        assert_eq!(ends, expected);
    }
}

async fn answer_as_before(world: &World) {
    for (path, before) in recorded().replies {
        let now = world.get(&path).await;
        assert_eq!(now.text, before.body, "GET {path}");
        assert_eq!(now.status, before.status, "GET {path}");
    }
}

/// Runs all operations to their end. Omits values that depend on time and randomness: retry waits are not specified,
/// and the order of creates determines the names that AWS assigns.
pub(crate) async fn ends(world: &World) -> Ends {
    world.settle().await;
    let Recorded { live, replies, .. } = recorded();
    let mut operations = BTreeMap::new();
    for Live { name, path, .. } in live {
        let mut status = world.get(&path).await.expect(200).body;
        let ended_at = members(&mut status).shift_remove("endTime");
        assert!(ended_at.is_some(), "{name} has not ended: {status}");
        // That commit predicted nothing.
        members(&mut status).shift_remove("prediction");
        if path.starts_with("/planes/aws/") {
            keep_declared(&mut status);
        }
        operations.insert(path, status);
    }
    let mut groups = BTreeMap::new();
    for path in replies.into_keys().filter(|path| is_group(path)) {
        let mut group = world.get(&path).await.body;
        for reference in group["resources"].as_array_mut().into_iter().flatten() {
            members(reference).shift_remove("observedAt");
            keep_declared(reference);
        }
        groups.insert(path, group);
    }
    let ends = Ends { operations, groups };
    let mut text = serde_json::to_string(&ends).expect("JSON");
    for vpc in world.live("AWS::EC2::VPC") {
        text = text.replace(&vpc, "vpc-new");
    }
    serde_json::from_str(&text).expect("the same")
}

fn members(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().expect("an object")
}

/// Keeps only the properties that AWS does not generate randomly.
fn keep_declared(body: &mut Value) {
    const DECLARED: [&str; 10] = [
        "Anything",
        "CidrBlock",
        "Copies",
        "DBInstanceIdentifier",
        "Engine",
        "LogGroupName",
        "Name",
        "Ratio",
        "RetentionInDays",
        "Tags",
    ];
    if let Some(properties) = body.get_mut("properties") {
        members(properties).retain(|name, _| DECLARED.contains(&name.as_str()));
    }
}

/// Whether this is the path of one resource group.
fn is_group(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    path.split('/').count() == 6 && path.contains("/resourcegroups/")
}

#[tokio::test]
async fn a_sqlite_database_answers_as_before() {
    Restored::sqlite(SQLITE).await.answers_as_before().await;
}

#[tokio::test]
async fn a_postgres_database_answers_as_before() {
    if let Some(restored) = Restored::postgres(POSTGRES).await {
        restored.answers_as_before().await;
    }
}

#[tokio::test]
async fn a_sqlite_database_is_sealed_by_a_rotation() {
    Restored::sqlite(SQLITE)
        .await
        .is_sealed_by_a_rotation()
        .await;
}

#[tokio::test]
async fn a_postgres_database_is_sealed_by_a_rotation() {
    if let Some(restored) = Restored::postgres(POSTGRES).await {
        restored.is_sealed_by_a_rotation().await;
    }
}

#[tokio::test]
async fn what_was_under_way_in_a_sqlite_database_goes_on() {
    Restored::sqlite(SQLITE).await.goes_on_as_before().await;
}

#[tokio::test]
async fn what_was_under_way_in_a_postgres_database_goes_on() {
    if let Some(restored) = Restored::postgres(POSTGRES).await {
        restored.goes_on_as_before().await;
    }
}

/// Describes each live operation of the fixture: kind, state, action, step of the replacement, and other special
/// features. The rows of both dumps must give the same description.
fn live_in_words() -> Vec<String> {
    let in_words = |live: Live| {
        let id = live.path.rsplit('/').next().expect("an id");
        for dump in [SQLITE, POSTGRES] {
            let row = rows(dump).find(|row| row.contains(&format!("('{id}'")));
            let row = row.unwrap_or_else(|| panic!("no row of {}", live.name));
            let step = live
                .replacing
                .iter()
                .map(|step| format!("{{\"step\":\"{step}\""));
            let words = [Some(&live.kind), Some(&live.state), live.action.as_ref()];
            let words = words.into_iter().flatten().map(|word| format!("'{word}'"));
            for word in words
                .filter(|word| word != "'create'" || live.state != "adopting")
                .chain(step)
            {
                assert!(row.contains(&word), "{}: no {word} in {row}", live.name);
            }
        }
        let special = [
            (!live.has_reference, "untracked"),
            (live.is_child, "child"),
            (live.is_to_be_cancelled, "cancelling"),
        ];
        let special = special
            .into_iter()
            .filter_map(|(is_so, word)| is_so.then_some(word));
        let words = [
            Some(live.kind.as_str()),
            Some(live.state.as_str()),
            live.action.as_deref(),
            live.replacing.as_deref(),
        ];
        let words: Vec<&str> = words.into_iter().flatten().chain(special).collect();
        words.join(" ")
    };
    recorded().live.into_iter().map(in_words).collect()
}

/// The rows of operations in a dump.
fn rows(dump: &str) -> impl Iterator<Item = &str> {
    let is_row = |line: &&str| {
        line.starts_with("INSERT INTO \"operations\"")
            || line.starts_with("INSERT INTO public.operations ")
    };
    dump.lines().filter(is_row)
}

#[test]
fn the_fixture_has_operations_in_every_state() {
    let live = live_in_words();
    for words in [
        "put accepted",
        "put accepted cancelling",
        "put accepted untracked",
        "put submitting create",
        "put submitting create newFirst",
        "put submitting delete oldFirst",
        "put submitting delete undoing",
        "put submitting update",
        "put waiting create",
        "put waiting create newFirst",
        "put waiting create oldGone",
        "put waiting create untracked",
        "put waiting delete oldFirst",
        "put waiting delete oldLast",
        "put waiting delete undoing",
        "put waiting update",
        "put waiting update cancelling",
        "put observing create",
        "put observing create oldGone",
        "put observing create oldLeft",
        "put observing update",
        "put salvaging create",
        "put salvaging update cancelling",
        "put adopting create",
        "delete accepted",
        "delete submitting delete",
        "delete waiting delete",
        "delete waiting delete child",
        "delete waiting delete child cancelling",
        "delete salvaging delete cancelling",
        "import accepted",
        "import accepted child",
        "deleteGroup accepted",
        "deleteGroup accepted cancelling",
        "importGroup accepted",
    ] {
        assert!(
            live.iter().any(|found| found == words),
            "{words}: {live:#?}"
        );
    }
    for (kind, ends) in [
        ("put", &["succeeded", "failed", "canceled"][..]),
        ("delete", &["succeeded", "failed", "canceled"]),
        ("import", &["succeeded", "failed"]),
        ("deleteGroup", &["succeeded", "failed", "canceled"]),
        ("importGroup", &["succeeded", "canceled"]),
    ] {
        for (end, dump) in ends.iter().flat_map(|end| [(end, SQLITE), (end, POSTGRES)]) {
            let is_one =
                |row: &str| row.contains(&format!("'{kind}'")) && row.contains(&format!("'{end}'"));
            assert!(rows(dump).any(is_one), "{kind} {end}");
        }
    }
    // These values break code that reads numbers as floats, unescapes strings, or stores JSON in the database's own
    // type.
    for dump in [SQLITE, POSTGRES] {
        for text in [
            "12345678901234567890123",
            "[1,1.0,1.00,-0,-0.0,1e+2",
            "a\\u0000b",
            "☃ 漢字 🦀",
            "CloudFormationHook",
            "ResourceGroupDeletionBlocked",
        ] {
            assert!(rows(dump).any(|row| row.contains(text)), "{text}");
        }
    }
}
