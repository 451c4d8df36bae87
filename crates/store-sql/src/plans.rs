//! What each statement reads. A plan must not depend on luck: with no statistics, with those of empty tables and with
//! those of the rows that are there, a statement reads no more rows than it is given a bound for. And what each waits for: only
//! that of new plans may be lost in a crash.

use serde_json::Value as Json;
use sqlx::{
    AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _, SqlSafeStr as _,
    SqliteConnection,
};

use crate::database::{Database, Statement, Value};
use crate::tests::{postgres, sqlite, statements};

mod samples;

use samples::{EVERYTHING, ROWS, SEALED, samples};

/// Every statement, with its values and its bound.
fn sampled() -> Vec<(String, Statement, Vec<Value>, u64)> {
    let mut samples = samples();
    let sampled = statements().map(|(module, name, statement)| {
        let name = format!("{module}::{name}");
        let (values, bound) = samples
            .remove(name.as_str())
            .unwrap_or_else(|| panic!("{name} has no sample"));
        (name, statement, values, bound)
    });
    let sampled = sampled.collect();
    assert!(samples.is_empty(), "{samples:?}");
    sampled
}

/// What the planner knows.
#[derive(Clone, Copy, Debug)]
enum Statistics {
    None,
    OfEmptyTables,
    Fresh,
}

async fn fill(connection: &mut PgConnection, statistics: Statistics) {
    let run = async |connection: &mut PgConnection, sql: String| {
        connection
            .execute(AssertSqlSafe(sql).into_sql_str())
            .await
            .unwrap();
    };
    for table in TABLES {
        // Otherwise it depends on the time of day.
        let off = format!("ALTER TABLE {table} SET (autovacuum_enabled = false)");
        run(connection, off).await;
    }
    if let Statistics::OfEmptyTables = statistics {
        run(connection, "ANALYZE".to_owned()).await;
    }
    for statement in ROWS.split(";\n").filter(|sql| !sql.trim().is_empty()) {
        run(connection, statement.to_owned()).await;
    }
    for (before, after) in SEALED {
        run(connection, format!("{before}'\\x00'::bytea{after}")).await;
    }
    match statistics {
        Statistics::None => {
            let forget = "DELETE FROM pg_statistic WHERE starelid >= 16384";
            run(connection, forget.to_owned()).await;
            let forget = "UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid >= 16384";
            run(connection, forget.to_owned()).await;
        }
        Statistics::OfEmptyTables => {}
        Statistics::Fresh => run(connection, "ANALYZE".to_owned()).await,
    }
}

/// The tables that grow with use.
const TABLES: [&str; 19] = [
    "audit_events",
    "operations",
    "resource_references",
    "resource_groups",
    "credentials",
    "role_assignments",
    "events",
    "type_schemas",
    "leftovers",
    "plans",
    "refactors",
    "refactor_groups",
    "held_groups",
    "tokens",
    "predictions",
    "track_records",
    "broker_instances",
    "broker_bindings",
    "aws_rates",
];

/// Returns what `statement` reads, according to Postgres, and undoes it.
async fn explain(
    connection: &mut PgConnection,
    mode: &str,
    statement: Statement,
    values: &[Value],
) -> Reads {
    let types: Vec<&str> = values
        .iter()
        .map(|value| match value {
            Value::Integer(_) => "bigint",
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytea",
        })
        .collect();
    let literals: Vec<String> = values
        .iter()
        .map(|value| match value {
            Value::Integer(Some(number)) => number.to_string(),
            Value::Text(Some(text)) => format!("'{text}'"),
            Value::Bytes(Some(_)) => "'\\x00'".to_owned(),
            Value::Integer(None) | Value::Text(None) | Value::Bytes(None) => "NULL".to_owned(),
        })
        .collect();
    let list = |items: String| {
        if items.is_empty() {
            String::new()
        } else {
            format!("({items})")
        }
    };
    let (types, literals) = (list(types.join(", ")), list(literals.join(", ")));
    let (mut plan, mut waits_for_log) = (String::new(), String::new());
    for sql in [
        "BEGIN".to_owned(),
        format!("SET LOCAL plan_cache_mode = {mode}"),
        format!("PREPARE statement{types} AS {}", statement.postgres),
        format!("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE statement{literals}"),
        "SHOW synchronous_commit".to_owned(),
        "DEALLOCATE statement".to_owned(),
        "ROLLBACK".to_owned(),
    ] {
        let rows = sqlx::raw_sql(AssertSqlSafe(sql.clone())).fetch_all(&mut *connection);
        let rows = rows.await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let text = || rows[0].try_get_raw(0).unwrap().as_str().unwrap().to_owned();
        if sql.starts_with("EXPLAIN") {
            plan = text();
        }
        if sql.starts_with("SHOW") {
            waits_for_log = text();
        }
    }
    let plan: Json = serde_json::from_str(&plan).unwrap();
    let mut reads = Reads {
        waits_for_log,
        ..Reads::default()
    };
    reads.add(&plan[0]["Plan"]);
    reads
}

#[derive(Debug, Default)]
struct Reads {
    rows: u64,
    /// The nodes that read a table, in words.
    scans: Vec<String>,
    /// `synchronous_commit` of the transaction.
    waits_for_log: String,
}

impl Reads {
    fn add(&mut self, node: &Json) {
        let number = |name: &str| node[name].as_f64().unwrap_or_default();
        let kind = node["Node Type"].as_str().unwrap_or_default();
        if kind.ends_with("Scan") && node.get("Relation Name").is_some() {
            let rows = number("Actual Rows")
                + number("Rows Removed by Filter")
                + number("Rows Removed by Index Recheck");
            let rows = rows * number("Actual Loops");
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count of rows"
            )]
            let rows = rows.ceil() as u64;
            self.rows += rows;
            let (table, index) = (&node["Relation Name"], &node["Index Name"]);
            if rows > 0 {
                self.scans
                    .push(format!("{kind} on {table} by {index}: {rows}"));
            }
        }
        for child in node["Plans"].as_array().into_iter().flatten() {
            self.add(child);
        }
    }
}

async fn postgres_reads_no_more_than_it_needs(statistics: Statistics) {
    let Some((_store, database)) = postgres().await else {
        return;
    };
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    fill(&mut connection, statistics).await;
    let mut wrong = Vec::new();
    for (name, statement, values, bound) in sampled() {
        for mode in ["force_custom_plan", "force_generic_plan"] {
            let reads = explain(&mut connection, mode, statement, &values).await;
            let scans_all = reads.scans.iter().any(|scan| {
                let mut tables = TABLES.iter();
                tables.any(|table| scan.starts_with(&format!("Seq Scan on \"{table}\"")))
            });
            let waits_for_log = if name.starts_with("kept_plans::INSERT") {
                "off"
            } else {
                "on"
            };
            assert_eq!(reads.waits_for_log, waits_for_log, "{name}");
            if reads.rows > bound || (scans_all && bound != EVERYTHING) {
                wrong.push(format!("{name} ({mode}): {reads:?}, not {bound}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{statistics:?}: {wrong:#?}");
}

#[tokio::test]
async fn postgres_reads_no_more_than_it_needs_without_statistics() {
    postgres_reads_no_more_than_it_needs(Statistics::None).await;
}

#[tokio::test]
async fn postgres_reads_no_more_than_it_needs_with_stale_statistics() {
    postgres_reads_no_more_than_it_needs(Statistics::OfEmptyTables).await;
}

#[tokio::test]
async fn postgres_reads_no_more_than_it_needs_with_fresh_statistics() {
    postgres_reads_no_more_than_it_needs(Statistics::Fresh).await;
}

/// Returns SQLite's plan in words.
async fn sqlite_plan(connection: &mut SqliteConnection, statement: Statement) -> Vec<String> {
    let sql = format!("EXPLAIN QUERY PLAN {}", statement.sqlite);
    let rows = connection.fetch_all(AssertSqlSafe(sql).into_sql_str());
    let rows = rows.await.unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}

#[tokio::test]
async fn sqlite_has_an_index_for_every_statement() {
    let (store, _folder) = sqlite().await;
    let Database::Sqlite { writer, .. } = &store.database else {
        panic!("not SQLite");
    };
    let mut connection = writer.acquire().await.unwrap();
    let mut wrong = Vec::new();
    for statistics in [Statistics::None, Statistics::Fresh] {
        if let Statistics::Fresh = statistics {
            connection.execute(ROWS).await.unwrap();
            for (before, after) in SEALED {
                let sql = format!("{before}x'00'{after}");
                let sql = AssertSqlSafe(sql).into_sql_str();
                connection.execute(sql).await.unwrap();
            }
            connection.execute("ANALYZE").await.unwrap();
        }
        for (name, statement, _, bound) in sampled() {
            let plan = sqlite_plan(&mut connection, statement).await;
            let reads_all = |step: &String| {
                let scans = step.starts_with("SCAN") && !step.contains(" USING ");
                let small = [
                    "planes",
                    "digest_keys",
                    "due",
                    "scopes",
                    "turns",
                    "share",
                    // A list of what a search has found.
                    "(subquery",
                    "CONSTANT",
                    "json_each",
                    // What a limit without a condition leaves.
                    "bounded",
                    "counted",
                    "noted",
                ];
                scans && !small.iter().any(|table| step.contains(table))
            };
            // A type has few schemas, few operations end at the same time or have their turn at once, live operations are in few accounts and
            // regions, a page of track records comes from two, and few operations are live in a group.
            let sorts = plan
                .iter()
                .any(|step| step.starts_with("USE TEMP B-TREE") && step.ends_with("ORDER BY"))
                && statement.sqlite.contains("LIMIT")
                && ![
                    "type_schemas::CURRENT",
                    "operations::REMOVE_ENDED",
                    "leases::CLAIM_ELSEWHERE",
                    "leases::NEXT_ELSEWHERE",
                    "track_records::LIST",
                    "moves::BUSY_TARGETS",
                    "moves::BUSY_GROUPS",
                    "reference_row::LIST_TO",
                    "rates::LONGEST",
                ]
                .contains(&name.as_str());
            if bound != EVERYTHING && (plan.iter().any(reads_all) || sorts) {
                wrong.push(format!("{name}, {statistics:?}: {plan:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
