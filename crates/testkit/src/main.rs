//! Tells the stories of many seeded worlds: `cargo run -p testkit --release -- worlds --seeds 0..1000000`.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, Parser};
use ucp_testkit::StoreKind;
use ucp_testkit::worlds::{Coverage, Plant, Story, Violation, shrunk, tell, tell_on};

/// How often the progress is printed.
const PROGRESS: Duration = Duration::from_secs(10);
/// How many violations are shortened.
const SHRUNK_MAX: usize = 3;

/// Tests that take longer than a test may.
#[derive(Parser)]
#[command(name = "testkit")]
enum Command {
    /// Tell the stories of seeded worlds, in memory
    Worlds(Worlds),
}

#[derive(Args)]
struct Worlds {
    /// The seeds, as FROM..TO; with one seed only, what happens is printed
    #[arg(long, value_name = "FROM..TO", value_parser = seeds, default_value = "0..1000")]
    seeds: Range<u64>,
    /// Tell the story in this file instead, and print what happens
    #[arg(long, value_name = "FILE")]
    story: Option<PathBuf>,
    /// The number of threads; by default one for each core
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Plant a defect, and look for the first world that finds it, such as forgotten-lease; docs/reliability.md lists them
    #[arg(long)]
    plant: Option<Plant>,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let parsed = text
        .split_once("..")
        .and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    let seeds: Range<u64> = parsed.ok_or("seeds are given as FROM..TO")?;
    if seeds.is_empty() {
        Err("there is no seed from FROM up to TO".to_owned())
    } else {
        Ok(seeds)
    }
}

fn main() -> ExitCode {
    let Command::Worlds(worlds) = Command::parse();
    let story = match worlds.story.as_deref().map(read).transpose() {
        Ok(story) => story,
        Err(why) => {
            eprintln!("error: {why}");
            return ExitCode::from(2);
        }
    };
    // A violation is a panic, which is told with its seed.
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(story) = story {
        let told = tell_on(StoreKind::Memory, &story, worlds.plant, true);
        if let Err(violation) = &told {
            println!("{violation}");
        }
        // A planted defect is to be found.
        return if worlds.plant.is_some() == told.is_err() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let found = worlds.run();
    let is_as_expected = worlds.plant.is_some() != found.is_empty();
    for (seed, violation) in found.iter().take(SHRUNK_MAX) {
        let story = shrunk(&Story::drawn(*seed), worlds.plant);
        println!("\nThe world of seed {seed}: {violation}\n");
        match worlds.plant {
            None => println!("{}", story.test()),
            // A test would not plant it.
            Some(plant) => println!("With the planted defect {plant:?}:\n{}", story.text()),
        }
    }
    if is_as_expected {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn read(file: &Path) -> Result<Story, String> {
    let text = std::fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.display()))?;
    Story::read(&text).map_err(|why| format!("{} is no story: {why}", file.display()))
}

impl Worlds {
    /// Tells the stories of all seeds, or up to the first that finds a planted defect. Returns the violations, by seed.
    fn run(&self) -> Vec<(u64, Violation)> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or(cores, NonZeroUsize::get);
        let (next, told) = (AtomicU64::new(self.seeds.start), AtomicU64::new(0));
        let (coverage, found) = (Coverage::default(), Mutex::new(Vec::new()));
        let began = Instant::now();
        let speed = || {
            let told = told.load(Ordering::SeqCst);
            let rate = told as f64 / began.elapsed().as_secs_f64();
            format!("{told} worlds, {rate:.0} a second")
        };
        let is_over = || {
            let has_found = !found.lock().expect("no panic").is_empty();
            self.plant.is_some() && has_found
        };
        let work = || {
            let own = Coverage::default();
            while !is_over() {
                let seed = next.fetch_add(1, Ordering::SeqCst);
                if !self.seeds.contains(&seed) {
                    break;
                }
                match self.tell(seed) {
                    Ok(covered) => own.add(&covered),
                    Err(violation) => {
                        println!("seed {seed}: {violation}");
                        found.lock().expect("no panic").push((seed, violation));
                    }
                }
                told.fetch_add(1, Ordering::SeqCst);
            }
            coverage.add(&own);
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let mut printed = Instant::now();
            while workers.iter().any(|worker| !worker.is_finished()) {
                std::thread::sleep(Duration::from_millis(20));
                if printed.elapsed() > PROGRESS {
                    let found = found.lock().expect("no panic").len();
                    eprintln!("{}, {found} violations", speed());
                    printed = Instant::now();
                }
            }
        });
        let mut found = found.into_inner().expect("no panic");
        found.sort_by_key(|(seed, _)| *seed);
        println!("{}\n", coverage.table());
        println!("{}, {} violations", speed(), found.len());
        found
    }

    fn tell(&self, seed: u64) -> Result<Coverage, Violation> {
        let story = Story::drawn(seed);
        if self.seeds.end - self.seeds.start > 1 {
            return tell(&story, self.plant);
        }
        println!("{}", story.text());
        let told = tell_on(StoreKind::Memory, &story, self.plant, true);
        told.map(Option::unwrap_or_default)
    }
}
