//! Honest and hostile clients on one real server: what the honest ones get, and whether anything grows.
//! `tests/hostile/run` runs it.

mod attacks;
mod honest;
mod readers;
mod samples;
mod turns;

use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use ucp_store_sql::testing::database;

use crate::client::Client;
use crate::process::Process;
use attacks::{Attackers, Attacks};
use honest::Honest;
use samples::{Probes, Samples};
use turns::Rates;

const ACCOUNT: &str = "123456789012";
/// The length of a run, unless UCP_HOSTILE_MINUTES says otherwise.
const MINUTES: u64 = 2;
/// Honest clients are alone for a turn, then among hostile ones for a turn, and so on. A turn is no longer than this.
const TURN_MAX: Duration = Duration::from_secs(30);
/// A run has this many rounds of two turns at least.
const ROUNDS_MIN: u32 = 6;
/// The beginning of a turn, which is not measured.
const SETTLING: Duration = Duration::from_secs(2);
/// Figures are printed as often.
const CHAPTER: Duration = Duration::from_mins(10);
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

/// Returns the length of a turn, and the number of rounds.
fn rounds() -> (Duration, u64) {
    let turn = (length() / (2 * ROUNDS_MIN)).min(TURN_MAX);
    (turn, length().as_secs() / (2 * turn).as_secs())
}

/// Lets a turn pass, and returns how many honest puts have ended in each second of it.
async fn rate(honest: &Honest, turn: Duration) -> f64 {
    sleep(SETTLING).await;
    let (before, began) = (honest.ended(), Instant::now());
    sleep(turn.saturating_sub(SETTLING)).await;
    let ended = honest.ended() - before;
    ended as f64 / began.elapsed().as_secs_f64()
}

/// Lets hostile clients have their turn.
async fn among(
    honest: &Honest,
    url: &str,
    round: u64,
    turn: Duration,
) -> (f64, Attacks, (Instant, Instant)) {
    let (over, until) = watch::channel(false);
    let attackers = Attackers::come(url, round, &until);
    let began = Instant::now();
    let rate = rate(honest, turn).await;
    let ended = Instant::now();
    over.send_replace(true);
    (rate, attackers.leave().await, (began, ended))
}

#[tokio::test(flavor = "multi_thread")]
async fn honest_clients_are_served_among_hostile_ones() {
    let database = database().await.expect("Postgres");
    let (_simulator, aws) = Process::simulator("20ms").await;
    let arguments = ["--probe-listen=127.0.0.1:0"];
    let (mut server, url) =
        Process::serve_quietly(&arguments, &database.url(), &aws, ACCOUNT).await;
    let line = server.line("listening for probes").await;
    let event: Value = serde_json::from_str(&line).expect("a JSON log");
    let probes = event["probe.address"].as_str().expect("an address");
    let probes = format!("http://{probes}");

    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    let (honest_over, until) = watch::channel(false);
    let honest = Honest::come(&client, &until);
    // What is new is created first.
    honest.have_begun().await;

    let (turn, rounds) = rounds();
    let mut rates = Rates::beginning(rate(&honest, turn).await);
    let (mut attacks, mut probed, mut sampled) =
        (Attacks::default(), Probes::default(), Samples::default());
    let began = Instant::now();
    let rounds_of_chapter = CHAPTER.as_secs() / (2 * turn).as_secs();
    for first in (0..rounds).step_by(usize::try_from(rounds_of_chapter).expect("a few")) {
        let chapter = first..rounds.min(first + rounds_of_chapter);
        let (chapter_over, until) = watch::channel(false);
        let probing = Probes::of(&probes, &until);
        let sampling = Samples::of(server.id(), &until);
        let mut hostile = Vec::new();
        for round in chapter.clone() {
            let (disturbed, attacked, time) = among(&honest, &url, round, turn).await;
            attacks.add(attacked);
            hostile.push(time);
            rates.add(disturbed, rate(&honest, turn).await);
        }
        chapter_over.send_replace(true);
        let probing = probing.end().await;
        let sampling = sampling.end().await.within(&hostile);
        let (minutes, count) = (began.elapsed().as_secs() / 60, chapter.count());
        let told = rates.last(count);
        println!("After {minutes} minutes: {told}\n{probing}\n{sampling}");
        probed.add(probing);
        sampled.add(sampling);
    }
    honest_over.send_replace(true);
    let mut wrong = honest.leave().await;
    let asked = Instant::now();
    server.terminate();
    let status = server.ended().await;
    if !status.success() || asked.elapsed() > STOPPED {
        wrong.push(format!(
            "it stopped after {:?} with {status}",
            asked.elapsed()
        ));
    }

    println!("All: {rates}\n{attacks}\n{probed}");
    if rates.share() < SHARE {
        wrong.push(format!("honest puts: {rates}"));
    }
    if probed.most_within() > PROBED {
        wrong.push(format!("probes took {:?}", probed.most_within()));
    }
    wrong.extend(sampled.growth());
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
    println!("Nothing grew.");
}
