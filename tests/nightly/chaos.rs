//! Campaigns against real processes: three servers on one Postgres, which are killed, cut off and stalled while people
//! change aliases. `tests/chaos/run` runs them.

mod people;
mod replicas;
mod verdict;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use ucp_store_sql::testing::{Failover, Pooler, database};

use crate::process::Process;
use crate::proxy::{Proxy, Upstream};
use people::{Crowd, People};
use replicas::Replicas;
use ucp_testkit::Draw;

const ACCOUNT: &str = "123456789012";
/// Who meets a failing network.
const MANY: Crowd = Crowd {
    people: 200,
    aliases: 1_000,
};
/// Who meets another primary. Two campaigns run at the same time.
const SOME: Crowd = Crowd {
    people: 60,
    aliases: 300,
};
/// The time for which a campaign goes on at least.
const LENGTH: Duration = Duration::from_secs(30);
/// One process is killed in each.
const BETWEEN_KILLS: Duration = Duration::from_secs(1);
/// When the standby takes over.
const FAILOVER_AFTER: Duration = Duration::from_secs(10);
/// Workers go on within this time, whatever happened.
const WORKING: Duration = Duration::from_secs(15);

/// The draws of one of those who act at the same time. `who` is a number of its own for each.
fn draw(who: u64) -> Draw {
    let seed = std::env::var("UCP_CHAOS_SEED").unwrap_or_else(|_| "0".to_owned());
    let seed: u64 = seed.parse().expect("UCP_CHAOS_SEED is a number");
    Draw::new(seed.wrapping_mul(1_000_003).wrapping_add(who))
}

/// Draws a time of less than `most` milliseconds.
fn time(draw: &Draw, most: usize) -> Duration {
    Duration::from_millis(draw.below(most) as u64)
}

/// Whether a campaign is over.
type Over = watch::Receiver<bool>;

/// Returns whether the campaign is over before the time has passed.
async fn is_over_within(over: &mut Over, time: Duration) -> bool {
    let over = over.wait_for(|over| *over);
    tokio::time::timeout(time, over).await.is_ok()
}

/// Runs a campaign. `urls` are those of the database, one for each server. `cutting` goes on until the campaign is over,
/// and returns the number of cuts.
async fn campaign(
    name: &str,
    crowd: Crowd,
    urls: Vec<String>,
    cutting: impl AsyncFnOnce(Over) -> usize,
) {
    let (_simulator, aws) = Process::simulator_with(&[]).await;
    let replicas = Replicas::start(urls, &aws).await;
    replicas
        .any()
        .expect("a server has started")
        .put_group()
        .await;
    let (over, told) = watch::channel(false);
    let people = People::come(crowd, &replicas, told.clone());
    let ending = async {
        tokio::join!(people.all_aliases_are_begun(), sleep(LENGTH));
        over.send_replace(true);
    };
    let (kills, cuts, ()) = tokio::join!(killing(&replicas, told.clone()), cutting(told), ending);
    // The last kill, after which nothing disturbs.
    let kills = kills + replicas.kill(0);
    let calm = Instant::now();
    let story = people.leave().await;
    let afterwards = story.last_end().saturating_duration_since(calm);
    replicas.are_up().await;

    let verdict = verdict::reach(&replicas, &aws, &story).await;
    let pause = story.longest_pause();
    println!(
        "{name}: {} operations, {kills} kills, {cuts} cuts, longest pause {:.1} s, all done {:.1} s after the last kill, {} lost, {} doubled",
        story.operations(),
        pause.as_secs_f64(),
        afterwards.as_secs_f64(),
        verdict.lost.len(),
        verdict.doubled.len(),
    );
    let mut wrong: Vec<String> = [verdict.lost, verdict.doubled, replicas.panics()].concat();
    for (time, what) in [
        (pause, "nothing ended for"),
        (afterwards, "operations were open after"),
    ] {
        if time > WORKING {
            wrong.push(format!("{what} {time:?}"));
        }
    }
    if !wrong.is_empty() {
        let logs = replicas.keep_logs(name);
        panic!("{}\nThe logs are in {}.", wrong.join("\n"), logs.display());
    }
}

/// Kills a process again and again. Returns how often.
async fn killing(replicas: &Arc<Replicas>, mut over: Over) -> usize {
    let draw = draw(1);
    let mut kills = 0;
    while !is_over_within(&mut over, BETWEEN_KILLS).await {
        kills += replicas.kill(draw.below(replicas.count()));
    }
    kills
}

/// Cuts off or stalls a server, or all, again and again. Returns how often.
async fn cutting<T: Upstream>(mut proxies: Vec<Proxy<T>>, mut over: Over) -> usize {
    let draw = draw(2);
    let mut cuts = 0;
    while !is_over_within(&mut over, time(&draw, 3_000)).await {
        let which = draw.below(proxies.len() + 1);
        let kind = draw.below(3);
        let cut = proxies
            .iter_mut()
            .enumerate()
            // The last number means all.
            .filter(|(index, _)| which == *index || which == 3);
        let mut cut: Vec<_> = cut.map(|(_, proxy)| proxy).collect();
        for proxy in &mut cut {
            match kind {
                0 => proxy.stall(),
                1 => proxy.stall_open(),
                _ => proxy.refuse().await,
            }
        }
        sleep(time(&draw, 4_000)).await;
        for proxy in cut {
            proxy.resume().await;
        }
        cuts += 1;
    }
    cuts
}

/// Puts a proxy before each of three servers.
async fn proxies<T: Upstream>(database: T) -> (Vec<String>, Vec<Proxy<T>>) {
    let database = Arc::new(database);
    let mut proxies = Vec::new();
    for _ in 0..3 {
        proxies.push(Proxy::before(Arc::clone(&database)).await);
    }
    (proxies.iter().map(Proxy::url).collect(), proxies)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_network() {
    let Some(database) = database().await else {
        return;
    };
    let (urls, proxies) = proxies(database).await;
    campaign("a failing network", MANY, urls, async |over| {
        cutting(proxies, over).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_network_before_a_pooler() {
    let Some(database) = database().await else {
        return;
    };
    let Some(pooler) = Pooler::of_usual_size(&database).await else {
        return;
    };
    let (urls, proxies) = proxies(pooler).await;
    campaign(
        "a failing network before a pooler",
        MANY,
        urls,
        async |over| cutting(proxies, over).await,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_primary() {
    let Some(database) = Failover::start().await else {
        return;
    };
    campaign(
        "a killed primary",
        SOME,
        vec![database.url(); 3],
        async |_| {
            sleep(FAILOVER_AFTER).await;
            database.kill_primary();
            database.promote_standby();
            1
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_only_takes_reads() {
    let Some(database) = Failover::start().await else {
        return;
    };
    let name = "a primary that only takes reads";
    campaign(name, SOME, vec![database.url(); 3], async |_| {
        sleep(FAILOVER_AFTER).await;
        database.make_primary_read_only().await;
        database.promote_standby();
        1
    })
    .await;
}
