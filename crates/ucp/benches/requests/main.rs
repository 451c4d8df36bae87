//! Measures requests to `ucp serve` over HTTP: `cargo bench -p ucp --bench requests`. Results are in
//! `docs/benchmarks.md`.
//!
//! Postgres, the simulated AWS and `ucp` are processes of their own on this machine. Every round measures every row
//! once, so that a change of the machine's speed affects all rows alike.

mod client;
mod delay;
mod process;
mod site;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::client::{Connection, Period, load};
use crate::process::{cpu_seconds, machine_seconds};
use crate::site::{Kind, Site, Surroundings};
use crate::table::{Cpu, Round, Row};

/// Measures requests to `ucp serve`.
#[derive(Debug, Parser)]
struct Options {
    /// Measure only these rows, by name or part of the name, such as `postgres put-again-by-alias 32`.
    rows: Vec<String>,
    /// Print the names of the rows.
    #[arg(long)]
    list: bool,
    /// How often to measure each row.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long to measure a row in each round.
    #[arg(long, default_value = "3s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// How long to send requests before that.
    #[arg(long, default_value = "1s", value_parser = humantime::parse_duration)]
    warm_up: Duration,
    /// Another binary to measure.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_ucp"))]
    ucp: PathBuf,
    /// Given by `cargo bench`.
    #[arg(long = "bench", hide = true)]
    _bench: bool,
}

fn main() {
    // `cargo test --all-targets` starts benchmarks too, with the arguments of tests.
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("Nothing is measured without `cargo bench`.");
        return;
    }
    let options = Options::parse();
    let rows = chosen(&options.rows);
    if options.list {
        for row in rows {
            println!("{}", row.name());
        }
        return;
    }
    // A single thread, so that the client takes no more of the machine than it needs.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(run(&options, &rows));
}

/// All rows.
fn rows() -> Vec<Row> {
    let several = |surroundings, kinds: &[Kind], connections: &[usize]| -> Vec<Row> {
        let of = |kind: &Kind| {
            let kind = *kind;
            connections.iter().map(move |connections| Row {
                surroundings,
                kind,
                connections: *connections,
            })
        };
        kinds.iter().flat_map(of).collect()
    };
    let all = [
        Kind::GetByName,
        Kind::Status,
        Kind::PutAgainByName,
        Kind::PutAgainByAlias,
    ];
    let flat = [Kind::GetByName, Kind::PutAgainByAlias];
    [
        several(Surroundings::Postgres, &all, &[32, 1]),
        several(Surroundings::Postgres, &[Kind::PutAgainWithToken], &[32, 1]),
        several(Surroundings::Postgres, &[Kind::CreateByName], &[32]),
        several(Surroundings::Postgres, &[Kind::GetByAlias], &[32, 1, 16]),
        several(Surroundings::Postgres, &[Kind::WhatIfByAlias], &[32, 1]),
        several(Surroundings::Postgres, &[Kind::WhatIfSet], &[1]),
        several(Surroundings::Postgres, &flat, &[8, 128, 512]),
        several(Surroundings::PostgresFarFromAws, &[Kind::WhatIfSet], &[1]),
        several(
            Surroundings::PostgresFarFromAws,
            &[Kind::GetByAlias],
            &[1, 16],
        ),
        several(Surroundings::PostgresFarFromAws, &flat, &[1, 32, 128]),
        several(Surroundings::Sqlite, &all, &[32, 1]),
        several(Surroundings::Sqlite, &[Kind::PutAgainWithToken], &[32, 1]),
    ]
    .concat()
}

/// The rows that `texts` name in whole or in part, all without `texts`, and what they are compared with.
fn chosen(texts: &[String]) -> Vec<Row> {
    let is_whole = |text: &String| rows().iter().any(|row| row.name() == *text);
    let is_meant = |row: &Row, text: &String| {
        row.name() == *text || !is_whole(text) && row.name().contains(text.as_str())
    };
    let is_named = |row: &Row| texts.is_empty() || texts.iter().any(|text| is_meant(row, text));
    let named: Vec<Row> = rows().into_iter().filter(is_named).collect();
    let is_needed = |row: &Row| {
        named
            .iter()
            .any(|named| named == row || named.base() == *row)
    };
    rows().into_iter().filter(is_needed).collect()
}

async fn run(options: &Options, rows: &[Row]) {
    let mut needs: BTreeMap<Surroundings, BTreeMap<Kind, usize>> = BTreeMap::new();
    for row in rows {
        let kinds = needs.entry(row.surroundings).or_default();
        let most = kinds.entry(row.kind).or_default();
        *most = row.connections.max(*most);
    }
    let mut sites = BTreeMap::new();
    for (surroundings, kinds) in &needs {
        eprintln!("starting {surroundings:?}");
        let site = Site::start(&options.ucp, *surroundings, kinds).await;
        sites.insert(*surroundings, site);
    }
    let mut measured: Vec<Vec<Round>> = vec![Vec::new(); rows.len()];
    for number in 1..=options.rounds {
        for (row, rounds) in rows.iter().zip(&mut measured) {
            let site = sites.get_mut(&row.surroundings).expect("it was started");
            let round = measure(options, site, *row).await;
            eprintln!(
                "round {number}: {}: {:.0}/s; others used {:.2} of the CPU",
                row.name(),
                round.rate,
                round.others.unwrap_or_default()
            );
            rounds.push(round);
        }
    }
    for site in sites.values_mut() {
        if let Some(postgres) = &mut site.postgres {
            println!("{}.", postgres.version().await);
            break;
        }
    }
    println!("{}\n", table::disturbance(&measured));
    print!("{}", table::table(rows, &measured));
}

async fn measure(options: &Options, site: &mut Site, row: Row) -> Round {
    let period = Period {
        warm_up: options.warm_up,
        measured: options.time,
    };
    let before = spent(site).await;
    let script = site.script(row.kind);
    let outcome = load(
        site.server,
        row.connections,
        script,
        row.kind.expected(),
        period,
    )
    .await;
    site.settle().await;
    let after = spent(site).await;
    let mut connection = Connection::open(site.server).await;
    for path in &outcome.operations {
        connection.follow(site.server, path).await;
    }
    Round::new(&outcome, options.time, &before, &after)
}

/// What a site has used so far.
async fn spent(site: &mut Site) -> table::Spent {
    let (mut backends, mut statements) = (Vec::new(), None);
    if let Some(postgres) = &mut site.postgres {
        backends = postgres.processes().await;
        statements = Some(postgres.statements().await);
    }
    let cpu = Cpu {
        ucp: cpu_seconds(&[site.ucp.id()]),
        postgres: cpu_seconds(&backends),
        aws: cpu_seconds(&[site.aws.id()]),
        client: cpu_seconds(&[std::process::id()]),
        machine: machine_seconds(),
    };
    table::Spent { statements, cpu }
}
