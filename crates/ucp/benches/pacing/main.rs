//! Measures how fast AWS is called where it refuses calls that come too early: `cargo bench -p ucp --bench pacing`. Results
//! are in `docs/benchmarks.md`.
//!
//! Postgres, the simulated AWS and each `ucp` are processes of their own on this machine.

#[path = "../requests/client.rs"]
#[expect(dead_code, reason = "another benchmark needs the rest")]
mod client;
#[path = "../requests/process.rs"]
#[expect(dead_code, reason = "another benchmark needs the rest")]
mod process;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use clap::Parser;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep};
use ucp_store_sql::testing::{MeasuredDatabase, measured_database};

use crate::client::{Connection, request};
use crate::process::{ACCOUNT, Process, cpu_seconds};

const GROUP: &str = "/planes/radius/local/resourceGroups/rg";
/// How many connections send changes.
const CONNECTIONS: usize = 16;
/// The changes of which as many as AWS likes may be refused.
const FIRST: f64 = 20.0;
/// What AWS takes in a second.
const MUTATIONS: u32 = 5;

/// Measures how fast AWS is called.
#[derive(Debug, Parser)]
struct Options {
    /// Measure only these: `creates-1`, `creates-3`, `reads`, `waiting`.
    names: Vec<String>,
    /// How many changes wait while reads are measured.
    #[arg(long, default_value_t = 10_000)]
    queued: usize,
    /// How many reads AWS takes in a second while they are measured.
    #[arg(long, default_value_t = 25)]
    reads: u32,
    /// How many changes are in flight while nothing else happens.
    #[arg(long, default_value_t = 5_000)]
    waiting: usize,
    /// How long reads and waiting are measured.
    #[arg(long, default_value = "60s", value_parser = humantime::parse_duration)]
    time: Duration,
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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(run(&options));
}

async fn run(options: &Options) {
    let names = &options.names;
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|it| it == name);
    for processes in [1, 3] {
        if is_wanted(&format!("creates-{processes}")) {
            creates(&options.ucp, processes).await;
        }
    }
    if is_wanted("reads") {
        reads(options).await;
    }
    if is_wanted("waiting") {
        waiting(options).await;
    }
}

/// A simulated AWS, a database and some servers.
struct Site {
    servers: Vec<Process>,
    database: MeasuredDatabase,
    _aws: Process,
}

impl Site {
    async fn start(binary: &Path, processes: usize, latency: &str, faults: &[Value]) -> Self {
        let mut arguments = vec![
            format!("--simulator-latency-min={latency}"),
            format!("--simulator-latency-max={latency}"),
        ];
        let faults = faults.iter().map(|effect| {
            let fault = json!({"match": {}, "probability": 1.0, "effect": effect});
            format!("--simulator-fault={fault}")
        });
        arguments.extend(faults);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let aws = Process::start(binary, "simulator", &arguments);
        let database = measured_database().await;
        let database = database.expect("Postgres is installed (initdb and pg_ctl)");
        let endpoint = format!("http://{}", aws.address);
        let mut servers = Vec::new();
        for _ in 0..processes {
            let (binary, url) = (binary.to_owned(), database.url().to_owned());
            let endpoint = endpoint.clone();
            let starting = tokio::task::spawn_blocking(move || {
                let arguments = [
                    "--database-url",
                    &url,
                    "--aws-endpoint-url",
                    &endpoint,
                    "--quota-group-operations=100000",
                    "--quota-caller-operations=100000",
                    "--quota-operations=100000",
                ];
                Process::start(&binary, "serve", &arguments)
            });
            servers.push(starting.await.expect("it starts"));
        }
        let site = Self {
            servers,
            database,
            _aws: aws,
        };
        let group = format!("{GROUP}?api-version=2023-10-01-preview");
        let server = site.server(0);
        let group = request(server, Method::PUT, &group, r#"{"location":"global"}"#);
        let made = Connection::open(server).await.send(group).await;
        assert!(made.status.is_success(), "{:?}", made.body);
        site
    }

    fn server(&self, number: usize) -> SocketAddr {
        self.servers[number % self.servers.len()].address
    }

    /// Puts so many log groups, and waits for none. Returns the paths of their operations.
    async fn put(&self, count: usize) -> Vec<String> {
        let mut senders = JoinSet::new();
        for connection in 0..CONNECTIONS {
            let server = self.server(connection);
            senders.spawn(async move {
                let mut sender = Connection::open(server).await;
                let mut paths = Vec::new();
                for number in (connection..count).step_by(CONNECTIONS) {
                    let mut put = to_log_group(server, "put", &format!("log-{number}"));
                    let wait = "respond-async".parse().expect("a value");
                    put.headers_mut().insert("prefer", wait);
                    let reply = sender.send(put).await;
                    let path = reply.status_path;
                    paths.push(path.unwrap_or_else(|| panic!("refused: {:?}", reply.body)));
                }
                paths
            });
        }
        senders.join_all().await.into_iter().flatten().collect()
    }

    /// Returns how often a call was made and refused, as the servers count.
    async fn calls(&self, call: &str) -> (f64, f64) {
        let (mut made, mut refused) = (0.0, 0.0);
        for server in &self.servers {
            let metrics = request(server.address, Method::GET, "/metrics", "");
            let metrics = Connection::open(server.address).await.send(metrics).await;
            let text = String::from_utf8(metrics.body.to_vec()).expect("text");
            let of = format!("ucp_aws_calls_total{{call=\"{call}\",outcome=\"");
            for line in text.lines().filter_map(|line| line.strip_prefix(&of)) {
                let count: f64 = line
                    .rsplit(' ')
                    .next()
                    .expect("a count")
                    .parse()
                    .expect("it");
                made += count;
                if line.starts_with("throttled") {
                    refused += count;
                }
            }
        }
        (made, refused)
    }
}

fn to_log_group(
    server: SocketAddr,
    action: &str,
    alias: &str,
) -> axum::http::Request<http_body_util::Full<axum::body::Bytes>> {
    let path = format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2/providers/AWS.Logs/LogGroup/:{action}"
    );
    let tracked_by = format!("{GROUP}/providers/AWS.Logs/LogGroup:reference/{alias}");
    let mut body = json!({"alias": alias, "trackedBy": tracked_by});
    if action == "put" {
        body["properties"] = json!({"LogGroupName": alias});
    }
    request(server, Method::POST, &path, &body.to_string())
}

fn quota(calls: &str, rate: u32) -> Value {
    json!({"kind": "quota", "calls": calls, "rate": rate, "burst": rate})
}

/// 200 creates at once, where AWS takes five in a second.
async fn creates(binary: &Path, processes: usize) {
    const COUNT: u32 = 200;
    let quotas = [quota("mutations", MUTATIONS)];
    let mut site = Site::start(binary, processes, "0ms", &quotas).await;
    let began = Instant::now();
    let paths = site.put(COUNT as usize).await;
    let (mut early, mut refused_early) = (0.0, 0.0);
    while !site.database.is_idle().await {
        let (made, refused) = site.calls("CreateResource").await;
        if early < FIRST {
            (early, refused_early) = (made, refused);
        }
        sleep(Duration::from_millis(50)).await;
    }
    let took = began.elapsed().as_secs_f64();
    let server = site.server(0);
    let mut connection = Connection::open(server).await;
    for path in paths {
        connection.follow(server, &path).await;
    }
    let (made, refused) = site.calls("CreateResource").await;
    let best = f64::from(COUNT / MUTATIONS);
    let (late, refused_late) = (made - early, refused - refused_early);
    println!(
        "| {COUNT} creates, {processes} processes | {took:.1} s, {:.2} times the best | {refused} of {made} calls refused | {refused_late} of {late} after the first {early} ({:.1} %) |",
        took / best,
        100.0 * refused_late / late
    );
}

/// Reads that a person waits for, while many changes wait.
async fn reads(options: &Options) {
    let quotas = [quota("mutations", MUTATIONS), quota("reads", options.reads)];
    let site = Site::start(&options.ucp, 1, "2s", &quotas).await;
    let server = site.server(0);
    let mut connection = Connection::open(server).await;
    let put = connection.send(to_log_group(server, "put", "read")).await;
    let path = put.status_path.expect("it is accepted");
    connection.follow(server, &path).await;
    site.put(options.queued).await;
    let mut took = Vec::new();
    let mut each_second = interval(Duration::from_secs(1));
    let end = Instant::now() + options.time;
    while Instant::now() < end {
        each_second.tick().await;
        let asked = Instant::now();
        let mut connection = Connection::open(server).await;
        let reply = connection.send(to_log_group(server, "get", "read")).await;
        assert_eq!(reply.status, StatusCode::OK, "{:?}", reply.body);
        took.push(asked.elapsed().as_secs_f64());
    }
    took.sort_unstable_by(f64::total_cmp);
    let (made, refused) = site.calls("GetResource").await;
    println!(
        "| a read each second, {} changes wait, {} reads a second | median {:.3} s, slowest {:.3} s | {refused} of {made} calls refused |",
        options.queued,
        options.reads,
        took[took.len() / 2],
        took[took.len() - 1]
    );
}

/// What it costs to wait.
async fn waiting(options: &Options) {
    let silent = json!({"kind": "noRetryAfter"});
    let mut site = Site::start(&options.ucp, 1, "1h", &[silent]).await;
    site.put(options.waiting).await;
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let wanted = options.waiting as f64;
    while site.calls("CreateResource").await.0 < wanted {
        sleep(Duration::from_secs(1)).await;
    }
    sleep(Duration::from_secs(30)).await;
    let of_postgres = site.database.processes().await;
    let ucp = [site.servers[0].id()];
    let before = (cpu_seconds(&ucp), cpu_seconds(&of_postgres));
    let (polls, lists) = (
        site.calls("GetResourceRequestStatus").await.0,
        site.calls("ListResourceRequests").await.0,
    );
    sleep(options.time).await;
    let after = (cpu_seconds(&ucp), cpu_seconds(&of_postgres));
    let share = |before: Option<f64>, after: Option<f64>| {
        let used = after.zip(before).map(|(after, before)| after - before);
        used.map_or(f64::NAN, |used| 100.0 * used / options.time.as_secs_f64())
    };
    println!(
        "| {} requests in flight | Postgres {:.1} %, ucp {:.1} % of a core | {} status calls, {} lists in {:?} |",
        options.waiting,
        share(before.1, after.1),
        share(before.0, after.0),
        site.calls("GetResourceRequestStatus").await.0 - polls,
        site.calls("ListResourceRequests").await.0 - lists,
        options.time
    );
}
