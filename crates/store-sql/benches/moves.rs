//! Moving references to another group in one transaction, there and back again.

use std::collections::BTreeMap;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use tokio::runtime::Runtime;
use ucp_model::{
    CorrelationId, ETag, GroupBody, GroupId, NewResourceGroup, Refactor, RefactorContent,
    RefactorId, RefactorMove, RefactorStatus, ReferenceId, Scope, Timestamp, TypeName,
};
use ucp_store::{ApplyRefactor, Groups as _, Precondition, Refactors as _};
use ucp_store_sql::Sql;
use ucp_store_sql::testing::{cipher, measured_database};

/// References `q1` and so on in the group `one`. What is sealed of them has the size of a small declaration.
macro_rules! rows {
    ($blob:literal) => {
        concat!(
            "INSERT INTO resource_references (key, id, group_key, plane, account, region, identifier, target_key, revision,
                owned, provisioning_state, tags, baseline, observed, created_at, updated_at)
            WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 10000)
            SELECT '/planes/radius/local/resourcegroups/one/providers/aws.sqs/queue:reference/q' || i,
                '/planes/radius/local/resourceGroups/one/providers/AWS.SQS/Queue:reference/q' || i,
                '/planes/radius/local/resourcegroups/one', 'aws', '123456789012', 'us-east-1', 'q' || i, 'q' || i, 1,
                1, 'Succeeded', '{}', ",
            $blob,
            ", ",
            $blob,
            ", 1, 1 FROM numbers"
        )
    };
}

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    Runtime::new().expect("a runtime")
}

fn group(name: &str) -> GroupId {
    GroupId::new("local", name).expect("a group")
}

fn address(group_name: &str, index: usize) -> ReferenceId {
    let type_name = TypeName::from_cloudformation("AWS::SQS::Queue").expect("a type name");
    ReferenceId::new(group(group_name), type_name, &format!("q{index}")).expect("an alias")
}

fn refactor(number: u64, moves: Vec<RefactorMove>) -> ApplyRefactor {
    let now = Timestamp::from_millis(2);
    let id: RefactorId = format!("{number:032x}").parse().expect("an id");
    ApplyRefactor {
        record: Refactor {
            id,
            plane: "local".to_owned(),
            created_by: "ann".to_owned(),
            created_at: now,
            status: RefactorStatus::Applied,
            changed_at: now,
            fingerprint: String::new(),
            content: RefactorContent {
                named: vec![group("one"), group("two")],
                moves,
                ..RefactorContent::default()
            },
        },
        is_planned: false,
        deploy: None,
        taken_back_by: None,
        history: None,
        keeps_plan_policy: false,
        caller: "ann".to_owned(),
        correlation_id: CorrelationId::new("deployment"),
    }
}

async fn with_groups(store: &Sql) {
    for name in ["one", "two"] {
        let new = NewResourceGroup {
            id: group(name),
            location: "global".to_owned(),
            tags: BTreeMap::new(),
            body: GroupBody::default(),
        };
        let put = store.put_resource_group(new, &Precondition::NONE, Timestamp::from_millis(1));
        put.await.expect("a group");
    }
}

fn measure(bencher: divan::Bencher<'_, '_>, runtime: &Runtime, store: &Sql, count: usize) {
    let etag = ETag::of_revision(Timestamp::from_millis(1), 1);
    let moves = (1..=count).map(|index| RefactorMove {
        from: address("one", index),
        to: address("two", index),
        scope: Scope::new("aws", "123456789012", "us-east-1").expect("a scope"),
        identifier: None,
        reason: "Mapping".to_owned(),
        etag: Some(etag.as_str().to_owned()),
        lineage: None,
        written: None,
    });
    let mut moves: Vec<RefactorMove> = moves.collect();
    let mut number = 0;
    bencher.bench_local(|| {
        number += 1;
        let new = refactor(number, std::mem::take(&mut moves));
        let applied = runtime.block_on(store.apply_refactor(new)).expect("moves");
        let moved = applied.content.moves.into_iter();
        moves = moved
            .map(|it| RefactorMove {
                from: it.to,
                to: it.from,
                ..it
            })
            .collect();
    });
}

#[divan::bench(args = [1_000, 10_000], sample_count = 4, sample_size = 1)]
fn postgres(bencher: divan::Bencher<'_, '_>, count: usize) {
    let runtime = runtime();
    let Some(database) = runtime.block_on(measured_database()) else {
        return;
    };
    let store = runtime.block_on(async {
        let store = Sql::connect_postgres(database.url())
            .await
            .expect("a store");
        with_groups(&store).await;
        let mut connection = PgConnection::connect(database.url())
            .await
            .expect("a server");
        let fill = sqlx::raw_sql(rows!("repeat('x', 2000)"));
        fill.execute(&mut connection).await.expect("rows");
        store.sealed_with(cipher())
    });
    measure(bencher, &runtime, &store, count);
}

#[divan::bench(args = [1_000, 10_000], sample_count = 4, sample_size = 1)]
fn sqlite(bencher: divan::Bencher<'_, '_>, count: usize) {
    let runtime = runtime();
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("ucp.db");
    let store = runtime.block_on(async {
        let store = Sql::open_sqlite(&path).await.expect("a new store");
        with_groups(&store).await;
        store.close().await;
        drop(store);
        let options = SqliteConnectOptions::new().filename(&path);
        let mut connection = options.connect().await.expect("a database");
        let fill = sqlx::raw_sql(rows!("hex(zeroblob(1000))"));
        fill.execute(&mut connection).await.expect("rows");
        connection.close().await.expect("the end");
        Sql::open_sqlite(&path)
            .await
            .expect("a store")
            .sealed_with(cipher())
    });
    measure(bencher, &runtime, &store, count);
}
