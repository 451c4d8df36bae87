//! Tests of the SQL engines that the conformance suite cannot express.

mod at_rest;
mod global_services;
mod old_plans;
mod old_waits;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{
    AssertSqlSafe, Decode, Executor as _, PgPool, Postgres, Row as _, SqlSafeStr as _, Sqlite,
    SqlitePool, Type,
};
use tempfile::TempDir;
use tokio::time::timeout;
use ucp_model::operation::Kind;
use ucp_model::operation::group::Task;
use ucp_model::{
    CorrelationId, CredentialId, CredentialKind, GroupBody, GroupId, Identifier, NewCredential,
    NewResourceGroup, OperationId, PlaneId, PlaneKind, ReferenceId, Scope, Target, Timestamp,
    TypeName,
};
use ucp_store::{
    Credentials, Error, Groups, LeaseTerm, Leases, NewOperation, NewResourceWork, NewWork,
    OperationPage, Operations, Planes, Precondition, Reachable, References, Sealed,
};

use crate::database::{Database, Statement};
use crate::testing::{self, Failover, TestDatabase};
use crate::{
    OpenError, Sql, audit_events, busy, credentials, events, groups, held_groups, kept_plans,
    leases, leftover_row, migrations, moves, operation_row, operations, planes, rates,
    refactor_row, reference_row, references, role_assignments, sealed, service_row, store, tokens,
    track_records, type_schemas, watches,
};

pub(crate) async fn sqlite() -> (Sql, TempDir) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("ucp.db");
    let store = Sql::open_sqlite(file).await.unwrap();
    let store = store.sealed_with(testing::cipher());
    (store, folder)
}

pub(crate) async fn postgres() -> Option<(Sql, TestDatabase)> {
    let database = testing::database().await?;
    let store = Sql::connect_postgres(&database.url()).await.unwrap();
    let store = store.sealed_with(testing::cipher());
    Some((store, database))
}

/// Runs `sql` on the connection that the store writes with.
async fn tamper(store: &Sql, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned()).into_sql_str();
    match &store.database {
        Database::Postgres { writers, .. } => {
            let query = sqlx::query(sql);
            writers.execute(query).await.map(drop).unwrap();
        }
        Database::Sqlite { writer, .. } => writer.execute(sql).await.map(drop).unwrap(),
    }
}

/// Far more than a reload of its settings takes a server.
const A_WHILE: Duration = Duration::from_secs(30);

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn group() -> GroupId {
    GroupId::new("local", "rg").unwrap()
}

fn operation_id() -> OperationId {
    "6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d".parse().unwrap()
}

fn reference_id() -> ReferenceId {
    let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    ReferenceId::new(group(), type_name, "a").unwrap()
}

/// A put under the alias `a`.
fn put() -> NewOperation {
    let reference = reference_id();
    NewOperation {
        id: operation_id(),
        parent: None,
        correlation_id: CorrelationId::new("deployment"),
        caller: "caller".to_owned(),
        keeps_plan_policy: false,
        accepted_at: NOW,
        work: NewWork::Resource(Box::new(NewResourceWork {
            reference: Some(reference.clone()),
            compared_with: usize::MAX,
            desired: Some(Sealed(b"desired".to_vec())),
            ..NewResourceWork::new(
                Kind::Put,
                Scope::new("aws", "1234", "us-west-2").unwrap(),
                reference.type_name,
            )
        })),
    }
}

async fn accept(store: &Sql) {
    let put_group = NewResourceGroup {
        id: group(),
        location: "global".to_owned(),
        tags: BTreeMap::new(),
        body: GroupBody::default(),
    };
    let put_group = store.put_resource_group(put_group, &Precondition::NONE, NOW);
    put_group.await.unwrap();
    store.accept_operation(put()).await.unwrap();
}

/// Every statement, with its module and its name.
pub(crate) fn statements() -> impl Iterator<Item = (&'static str, &'static str, Statement)> {
    [
        ("audit_events", audit_events::STATEMENTS),
        ("credentials", credentials::STATEMENTS),
        ("events", events::STATEMENTS),
        ("groups", groups::STATEMENTS),
        ("held_groups", held_groups::STATEMENTS),
        ("kept_plans", kept_plans::STATEMENTS),
        ("store", store::STATEMENTS),
        ("leases", leases::STATEMENTS),
        ("leftover_row", leftover_row::STATEMENTS),
        ("rates", rates::STATEMENTS),
        ("reference_row", reference_row::STATEMENTS),
        ("references", references::STATEMENTS),
        ("refactor_row", refactor_row::STATEMENTS),
        ("role_assignments", role_assignments::STATEMENTS),
        ("busy", busy::STATEMENTS),
        ("operation_row", operation_row::STATEMENTS),
        ("operations", operations::STATEMENTS),
        ("moves", moves::STATEMENTS),
        ("planes", planes::STATEMENTS),
        ("sealed", sealed::STATEMENTS),
        ("service_row", service_row::STATEMENTS),
        ("tokens", tokens::STATEMENTS),
        ("track_records", track_records::STATEMENTS),
        ("type_schemas", type_schemas::STATEMENTS),
        ("watches", watches::STATEMENTS),
    ]
    .into_iter()
    .flat_map(|(module, statements)| {
        let statements = statements.iter().copied();
        statements.map(move |(name, statement)| (module, name, statement))
    })
}

#[tokio::test]
async fn sqlite_takes_every_statement() {
    let (store, _folder) = sqlite().await;
    let Database::Sqlite { writer, .. } = &store.database else {
        panic!("not SQLite");
    };
    for (_, name, statement) in statements() {
        let prepared = writer.prepare(statement.sqlite.into_sql_str()).await;
        assert!(prepared.is_ok(), "{name}: {:?}", prepared.err());
    }
}

#[tokio::test]
async fn postgres_takes_every_statement() {
    let Some((_store, database)) = postgres().await else {
        return;
    };
    let pool = PgPool::connect(&database.url()).await.unwrap();
    for (_, name, statement) in statements() {
        let prepared = pool.prepare(statement.postgres.into_sql_str()).await;
        assert!(prepared.is_ok(), "{name}: {:?}", prepared.err());
    }
}

/// The sort order of a locale would differ from that of the other engines.
#[tokio::test]
async fn postgres_compares_and_orders_by_byte() {
    let Some((_store, database)) = postgres().await else {
        return;
    };
    let pool = PgPool::connect(&database.url()).await.unwrap();
    let localised = "SELECT table_name || '.' || column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name <> '_sqlx_migrations'
          AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'";
    let rows = pool.fetch_all(localised).await.unwrap();
    let columns: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert!(columns.is_empty(), "{columns:?}");
}

#[tokio::test]
async fn sqlite_is_set_up_for_safety() {
    let (store, _folder) = sqlite().await;
    let Database::Sqlite {
        writer, readers, ..
    } = &store.database
    else {
        panic!("not SQLite");
    };
    for (pragma, expected) in [
        ("PRAGMA synchronous", 2),
        ("PRAGMA secure_delete", 1),
        ("PRAGMA foreign_keys", 1),
    ] {
        let row = writer.fetch_one(pragma).await.unwrap();
        assert_eq!(row.get::<i64, _>(0), expected, "{pragma}");
    }
    let row = writer.fetch_one("PRAGMA journal_mode").await.unwrap();
    assert_eq!(row.get::<String, _>(0), "wal");
    assert!(readers.execute("DELETE FROM planes").await.is_err());
}

#[tokio::test]
async fn what_cannot_be_opened_says_so() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("missing").join("ucp.db");
    let error = Sql::open_sqlite(&path).await.unwrap_err();
    assert!(matches!(error, OpenError::Lock(..)), "{error:?}");

    let path = folder.path().join("ucp.db");
    std::fs::write(
        &path,
        "This is no database, and too long for an empty one.".repeat(99),
    )
    .unwrap();
    let error = Sql::open_sqlite(&path).await.unwrap_err();
    assert!(matches!(error, OpenError::Connect(_)), "{error:?}");

    let nowhere = format!("postgres:///ucp?host={}", folder.path().display());
    let error = Sql::connect_postgres(&nowhere).await.unwrap_err();
    assert!(matches!(error, OpenError::Connect(_)), "{error:?}");
}

#[tokio::test]
async fn rows_that_nobody_wrote_are_corrupt() {
    let (sqlite, _folder) = sqlite().await;
    corrupt(sqlite).await;
    if let Some((postgres, _database)) = postgres().await {
        corrupt(postgres).await;
    }
}

async fn corrupt(store: Sql) {
    accept(&store).await;
    at_rest::uncover(&store).await;
    let id = reference_id();
    for (written, damage) in [
        ("\"version\":1", "\"version\":4"),
        ("\"kind\":\"put\"", "\"kind\":\"x\""),
        ("\"attempt\":0", "\"attempt\":-1"),
        ("\"changes\":[]", "\"changes\":["),
        ("\"accepted\"", "\"waiting\""),
    ] {
        let replace = |from: &str, to: &str| {
            format!("UPDATE operations SET body = replace(body, '{from}', '{to}')")
        };
        store.get_operation(operation_id()).await.unwrap();
        tamper(&store, &replace(written, damage)).await;
        let answer = store.get_operation(operation_id()).await;
        assert!(
            matches!(answer, Err(Error::Corrupt(_))),
            "{damage}: {answer:?}"
        );
        tamper(&store, &replace(damage, written)).await;
    }
    for damage in ["provisioning_state = 'x'", "id = 'x'", "revision = -1"] {
        store.get_reference(&id).await.unwrap();
        tamper(&store, &format!("UPDATE resource_references SET {damage}")).await;
        let answer = store.get_reference(&id).await;
        assert!(
            matches!(answer, Err(Error::Corrupt(_))),
            "{damage}: {answer:?}"
        );
        let restored = format!("id = '{id}', provisioning_state = 'Provisioning', revision = 1");
        tamper(
            &store,
            &format!("UPDATE resource_references SET {restored}"),
        )
        .await;
    }
}

#[tokio::test]
async fn without_its_database_a_store_is_unavailable() {
    let (sqlite, _folder) = sqlite().await;
    unavailable(sqlite).await;
    if let Some((postgres, _database)) = postgres().await {
        unavailable(postgres).await;
    }
}

async fn unavailable(store: Sql) {
    store.ping().await.unwrap();
    tamper(&store, "ALTER TABLE planes RENAME TO elsewhere").await;
    let answer = store.ping().await;
    assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
    let plane = PlaneId::new(PlaneKind::Aws, "aws").unwrap();
    let answer = store.delete_plane(&plane, &Precondition::NONE).await;
    assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
}

/// No write tells a process without work that its server takes none any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_only_reads_finds_the_server_that_takes_writes() {
    let Some(database) = Failover::start().await else {
        return;
    };
    let store = Sql::connect_postgres(&database.url()).await.unwrap();
    store.ping().await.unwrap();
    database.make_primary_read_only().await;
    let refused = async { while store.ping().await.is_ok() {} };
    timeout(A_WHILE, refused).await.expect("it is told");
    database.promote_standby();
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_row_of_a_later_version_is_left_to_others() {
    let (sqlite, _folder) = sqlite().await;
    left_to_others(sqlite).await;
    if let Some((postgres, _database)) = postgres().await {
        left_to_others(postgres).await;
    }
}

async fn left_to_others(store: Sql) {
    const TERM: LeaseTerm = LeaseTerm(Duration::from_secs(3_600));
    accept(&store).await;
    at_rest::uncover(&store).await;
    let (from, to) = ("\"version\":1", "\"version\":4");
    let upgrade = format!("UPDATE operations SET body = replace(body, '{from}', '{to}')");
    let downgrade = format!("UPDATE operations SET body = replace(body, '{to}', '{from}')");
    tamper(&store, &upgrade).await;
    let claim = async |seconds| {
        let now = NOW.after(Duration::from_secs(seconds));
        let claimed = store.claim_due_operations("worker", now, TERM, 9).await;
        claimed.unwrap().len()
    };
    assert_eq!(claim(0).await, 0);
    let soon = NOW.after(Duration::from_secs(5));
    assert_eq!(store.next_claimable_at().await.unwrap(), Some(soon));
    // The group can be used, and whoever waits for other operations is answered.
    let another = NewOperation {
        id: "00000000-0000-0000-0000-000000000002".parse().unwrap(),
        ..of_alias("b")
    };
    let another = store.accept_operation(another).await.unwrap().operation;
    let page = OperationPage {
        after: None,
        status: None,
        limit: 9,
    };
    let listed = store.list_operations(&group(), page).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&another));
    let ids = [operation_id(), another.header.id];
    assert_eq!(store.get_operations(&ids).await.unwrap(), [another]);
    assert_eq!(claim(1).await, 1);
    assert_eq!(claim(5).await, 0);
    tamper(&store, &downgrade).await;
    assert_eq!(claim(9).await, 0);
    assert_eq!(claim(10).await, 1, "a process of that version takes it");
}

/// A put under another alias.
fn of_alias(name: &str) -> NewOperation {
    let new = put();
    let NewWork::Resource(mut work) = new.work else {
        panic!("a put works on a resource");
    };
    work.reference = Some(ReferenceId::new(group(), work.type_name.clone(), name).unwrap());
    NewOperation {
        work: NewWork::Resource(work),
        ..new
    }
}

#[tokio::test]
async fn processes_that_share_a_database_have_its_time() {
    let (sqlite, _folder) = sqlite().await;
    assert_eq!(sqlite.time().await.unwrap(), None);
    if let Some((postgres, _database)) = postgres().await {
        let (one, two) = (
            postgres.time().await.unwrap(),
            postgres.time().await.unwrap(),
        );
        assert!(NOW < one.unwrap() && one <= two, "{one:?}, {two:?}");
        assert!(two.unwrap().since(one.unwrap()) < Duration::from_secs(60));
    }
}

/// Opens the database anew. A process that another test begins has a copy of the lock until it runs its program.
async fn reopened(folder: &std::path::Path) -> Sql {
    loop {
        match Sql::open_sqlite(folder.join("ucp.db")).await {
            Err(OpenError::Locked(_)) => tokio::task::yield_now().await,
            other => return other.unwrap(),
        }
    }
}

/// A later release has added a migration while this one runs or before it starts again.
#[tokio::test]
async fn a_database_of_a_later_release_is_opened() {
    let later =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
        VALUES (9999, 'later', TRUE, ";
    let (sqlite, folder) = sqlite().await;
    tamper(&sqlite, &format!("{later}x'00', 1)")).await;
    drop(sqlite);
    reopened(folder.path()).await.ping().await.unwrap();
    if let Some((postgres, database)) = postgres().await {
        tamper(&postgres, &format!("{later}'\\x00', 1)")).await;
        let postgres = Sql::connect_postgres(&database.url()).await;
        postgres.unwrap().ping().await.unwrap();
    }
}

/// Rows as written under the first schema.
const OLD_ROWS: &str = "INSERT INTO planes (key, kind, name, created_at) VALUES
        ('/planes/aws/aws', 'aws', 'aws', 7), ('/planes/radius/local', 'radius', 'Local', 8);
    INSERT INTO resource_groups (key, plane_key, plane, name, location, tags, created_at, updated_at, revision)
    VALUES ('/planes/radius/local/resourcegroups/rg', 'local', 'local', 'rg', 'west', '{\"a\":\"b\"}', 7, 9, 3)";

fn up_to(version: i64, migrations: &Migrator) -> Migrator {
    let first = migrations
        .iter()
        .filter(|migration| migration.version <= version);
    Migrator::with_migrations(first.cloned().collect())
}

/// Returns stores over databases that had `rows` when their schema had this version. `NO_BYTES` stands for an empty binary.
async fn upgraded(version: i64, rows: &str) -> (Sql, TempDir, Option<(Sql, TestDatabase)>) {
    let rows = |no_bytes: &str| AssertSqlSafe(rows.replace("NO_BYTES", no_bytes)).into_sql_str();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ucp.db");
    let options = SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await.unwrap();
    let first = up_to(version, &migrations::sqlite());
    first.run(&pool).await.unwrap();
    pool.execute(rows("x''")).await.unwrap();
    pool.close().await;
    let sqlite = Sql::open_sqlite(&path).await.unwrap();

    let Some(database) = testing::database().await else {
        return (sqlite, folder, None);
    };
    let pool = PgPool::connect(&database.url()).await.unwrap();
    let first = up_to(version, &migrations::postgres());
    first.run(&pool).await.unwrap();
    pool.execute(rows("''")).await.unwrap();
    pool.close().await;
    let postgres = Sql::connect_postgres(&database.url()).await.unwrap();
    (sqlite, folder, Some((postgres, database)))
}

#[tokio::test]
async fn rows_of_the_first_schema_are_kept() {
    let (sqlite, _folder, postgres) = upgraded(1, OLD_ROWS).await;
    old_rows_are_kept(sqlite).await;
    if let Some((postgres, _database)) = postgres {
        old_rows_are_kept(postgres).await;
    }
}

async fn old_rows_are_kept(store: Sql) {
    let planes = store.list_planes(None, None, usize::MAX).await.unwrap();
    let [aws, radius] = &planes[..] else {
        panic!("{planes:?}");
    };
    assert_eq!(aws.id, PlaneId::new(PlaneKind::Aws, "aws").unwrap());
    assert_eq!((aws.location.as_str(), aws.revision), ("global", 1));
    assert_eq!(aws.updated_at, Timestamp::from_millis(7));
    assert!(aws.tags.is_empty(), "{:?}", aws.tags);
    // Without a stored credential, the identity of the process went on to sign.
    let ambient = serde_json::json!({"credentials": "ambient"});
    assert_eq!(Some(&aws.body), ambient.as_object());
    assert_eq!(radius.id.name, "Local");
    let providers = serde_json::json!({"resourceProviders": {}});
    assert_eq!(Some(&radius.body), providers.as_object());
    let group = store.get_resource_group(&group()).await.unwrap();
    assert_eq!((group.location.as_str(), group.revision), ("west", 3));
    assert_eq!(group.tags["a"], "b");
    assert!(group.body.default_tags.is_empty());
}

/// A live operation with an ended child, as in version 9.
const LIVE_ROWS: &str = "INSERT INTO resource_groups (key, id, location, tags, body, created_at, updated_at, revision, parent_key)
    VALUES ('/planes/radius/local/resourcegroups/rg', '/planes/radius/local/resourcegroups/rg', 'global', '{}',
        '{\"defaultTags\":{}}', 1, 1, 1, '/planes/radius/local');
    INSERT INTO resource_references (key, id, group_key, plane, account, region, owned, provisioning_state, created_at,
        updated_at, revision, tags)
    VALUES ('REFERENCE', 'REFERENCE_ID', '/planes/radius/local/resourcegroups/rg', 'aws', '1234', 'us-west-2', 0,
        'Provisioning', 1, 1, 1, '{}');
    INSERT INTO operations (id, kind, status, parent, reference_key, target_key, group_key, schema_fingerprint, accepted_at,
        due_at, ended_at, body, generation)
    VALUES ('6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d', 'put', 'Accepted', NULL, 'REFERENCE', 'TARGET',
            '/planes/radius/local/resourcegroups/rg', '', 1, 1, NULL, '{}', 0),
        ('child', 'delete', 'Succeeded', '6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d', NULL, 'TARGET', NULL, '', 1, 1, 1, '{}', 0)";

#[tokio::test]
async fn live_operations_of_earlier_versions_keep_others_off() {
    let id = reference_id();
    let scope = Scope::new("aws", "1234", "us-west-2").unwrap();
    let identifier = Identifier::new("x");
    let target = Target {
        scope: &scope,
        type_name: &id.type_name,
        identifier: &identifier,
    };
    let rows = LIVE_ROWS
        .replace("REFERENCE_ID", &id.to_string())
        .replace("REFERENCE", &id.key())
        .replace("TARGET", &target.key());
    let (sqlite, _folder, postgres) = upgraded(9, &rows).await;
    keeps_others_off(sqlite).await;
    if let Some((postgres, _database)) = postgres {
        keeps_others_off(postgres).await;
    }
}

async fn keeps_others_off(store: Sql) {
    let another = |reference: Option<ReferenceId>| {
        let new = put();
        let NewWork::Resource(mut work) = new.work else {
            panic!("a put works on a resource");
        };
        work.identifier = reference.is_none().then(|| Identifier::new("x"));
        work.reference = reference;
        NewOperation {
            id: "00000000-0000-0000-0000-000000000002".parse().unwrap(),
            work: NewWork::Resource(work),
            ..new
        }
    };
    for new in [another(Some(reference_id())), another(None)] {
        let refused = store.accept_operation(new).await;
        assert!(
            matches!(refused, Err(Error::Busy(id)) if id == operation_id()),
            "{refused:?}"
        );
    }
    let deletion = NewOperation {
        work: NewWork::Group {
            group: group(),
            task: Task::Delete,
            declared: None,
            heirs: BTreeMap::new(),
        },
        ..another(None)
    };
    let refused = store.delete_resource_group(deletion, &Precondition::NONE, None);
    let refused = refused.await;
    assert!(
        matches!(refused, Err(Error::Busy(id)) if id == operation_id()),
        "{refused:?}"
    );
    let counted = "SELECT ended_children FROM operations ORDER BY id";
    assert_eq!(column::<i64>(&store, counted).await, [1, 0]);
}

/// Returns the one column that a statement selects, of either engine.
async fn column<T>(store: &Sql, sql: &str) -> Vec<T>
where
    T: for<'r> Decode<'r, Postgres> + Type<Postgres> + for<'r> Decode<'r, Sqlite> + Type<Sqlite>,
{
    let sql = AssertSqlSafe(sql.to_owned()).into_sql_str();
    match &store.database {
        Database::Postgres { readers, .. } => {
            let rows = readers.fetch(sqlx::query(sql)).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        }
        Database::Sqlite { readers, .. } => {
            let rows = readers.fetch_all(sql).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        }
    }
}

#[tokio::test]
async fn replicas_may_start_at_once() {
    let Some(database) = testing::database().await else {
        return;
    };
    let url = database.url();
    let (one, two, three) = tokio::join!(
        Sql::connect_postgres(&url),
        Sql::connect_postgres(&url),
        Sql::connect_postgres(&url),
    );
    for store in [one, two, three] {
        store.unwrap().ping().await.unwrap();
    }
}

#[tokio::test]
async fn an_accepted_operation_nudges_other_processes() {
    let Some((here, database)) = postgres().await else {
        return;
    };
    let there = Arc::new(Sql::connect_postgres(&database.url()).await.unwrap());
    accept(&here).await;
    there.nudged().await;
    assert_eq!(there.next_claimable_at().await.unwrap(), Some(NOW));
}

/// A credential is written and removed, and others are told each time; an operation has a channel of its own.
#[tokio::test]
async fn a_changed_credential_nudges_other_processes() {
    let Some((here, database)) = postgres().await else {
        return;
    };
    let there = Sql::connect_postgres(&database.url()).await.unwrap();
    let id = CredentialId::new("aws", "default").unwrap();
    let new = NewCredential {
        id: id.clone(),
        location: "global".to_owned(),
        tags: BTreeMap::new(),
        body: CredentialKind::Irsa {
            role_arn: String::new(),
        },
    };
    let put = here.put_credential(new, None, &Precondition::NONE, NOW);
    put.await.unwrap();
    there.credentials_changed().await;
    let deleted = here.delete_credential(&id, &Precondition::NONE).await;
    assert!(deleted.unwrap());
    there.credentials_changed().await;

    accept(&here).await;
    there.nudged().await;
    let told = tokio::time::timeout(Duration::ZERO, there.credentials_changed()).await;
    assert!(told.is_err(), "no credential has changed");
}

#[tokio::test]
async fn a_lost_listener_counts_as_a_nudge() {
    let Some((store, _database)) = postgres().await else {
        return;
    };
    tamper(
        &store,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE 'LISTEN%'",
    )
    .await;
    store.nudged().await;
    store.credentials_changed().await;
    // It listens again.
    accept(&store).await;
    store.nudged().await;
}
