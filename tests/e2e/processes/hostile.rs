//! Honest and hostile clients on one real server: what the honest ones get, and whether anything grows.
//! `tests/hostile/run` runs it. It is not part of a normal run.

mod attacks;
mod honest;
mod samples;

use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use ucp_store_sql::testing::database;

use super::client::Client;
use super::process::Process;
use attacks::Attackers;
use honest::Honest;
use samples::{Probes, Samples};

const ACCOUNT: &str = "123456789012";
/// The length of a run, unless UCP_HOSTILE_MINUTES says otherwise.
const MINUTES: u64 = 2;
/// Honest clients are served at least at this share of their rate alone.
const SHARE: f64 = 0.5;
/// 99 of 100 probes are answered within this time.
const PROBED: Duration = Duration::from_secs(1);
/// The server stops within this time.
const STOPPED: Duration = Duration::from_secs(10);

/// Whether something is over.
type Over = watch::Receiver<bool>;

/// Returns whether it is over before the time has passed.
async fn is_over_within(over: &mut Over, time: Duration) -> bool {
    let over = over.wait_for(|over| *over);
    tokio::time::timeout(time, over).await.is_ok()
}

fn length() -> Duration {
    let minutes = std::env::var("UCP_HOSTILE_MINUTES").ok();
    let minutes = minutes.map(|minutes| minutes.parse().expect("UCP_HOSTILE_MINUTES is a number"));
    Duration::from_secs(60 * minutes.unwrap_or(MINUTES))
}

/// Lets the time pass, and returns how many honest puts have ended in each second of it.
async fn rate(honest: &Honest, time: Duration) -> f64 {
    let (before, began) = (honest.ended(), Instant::now());
    sleep(time).await;
    let ended = honest.ended() - before;
    ended as f64 / began.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "tests/hostile/run runs it"]
async fn honest_clients_are_served_among_hostile_ones() {
    let database = database().await.expect("Postgres");
    let (_simulator, aws) = Process::simulator("20ms").await;
    let arguments = ["--probe-listen=127.0.0.1:0"];
    let (mut server, url) =
        Process::serve_quietly(&arguments, &database.url(), &aws, ACCOUNT).await;
    let line = server.line("listening for probes").await;
    let event: Value = serde_json::from_str(&line).expect("a JSON log");
    let probes = event["probe.address"].as_str().expect("an address");

    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    let (honest_over, until) = watch::channel(false);
    let honest = Honest::come(&client, &until);
    let probes = Probes::of(&format!("http://{probes}"), &until);
    let samples = Samples::of(server.id(), &until);

    let alone = (length() / 8).clamp(Duration::from_secs(10), Duration::from_secs(120));
    let among = length().saturating_sub(2 * alone);
    // What is new is created first.
    honest.have_begun().await;
    let before = rate(&honest, alone).await;
    println!("alone: {before:.1} honest puts a second");
    let (hostile_over, until) = watch::channel(false);
    let attackers = Attackers::come(&url, &until);
    let began = Instant::now();
    let disturbed = rate(&honest, among).await;
    let ended = Instant::now();
    println!("among hostile clients: {disturbed:.1} honest puts a second");
    hostile_over.send_replace(true);
    let attacks = attackers.leave().await;
    let after = rate(&honest, alone).await;
    println!("alone again: {after:.1} honest puts a second");
    honest_over.send_replace(true);
    let mut wrong = honest.leave().await;
    let probes = probes.end().await;
    let samples = samples.end().await.between(began, ended);
    let asked = Instant::now();
    server.terminate();
    let status = server.ended().await;
    if !status.success() || asked.elapsed() > STOPPED {
        wrong.push(format!(
            "it stopped after {:?} with {status}",
            asked.elapsed()
        ));
    }

    println!("{attacks}\n{probes}\n{samples}");
    let alone = f64::midpoint(before, after);
    if disturbed < SHARE * alone {
        wrong.push(format!(
            "{disturbed:.1} honest puts a second, alone {alone:.1}"
        ));
    }
    if probes.most_within() > PROBED {
        wrong.push(format!("probes took {:?}", probes.most_within()));
    }
    wrong.extend(samples.growth());
    let panics = server.output().matches("panicked").count();
    if panics > 0 {
        wrong.push(format!("{panics} panics"));
    }
    assert!(
        wrong.is_empty(),
        "{}\n{}",
        wrong.join("\n"),
        server.output()
    );
    println!(
        "Honest puts: {:.2} of the rate alone. Nothing grew.",
        disturbed / alone
    );
}
