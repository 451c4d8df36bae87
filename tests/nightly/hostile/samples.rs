//! What is measured: the memory and the descriptors of the server, and how long its probes take.

use std::fmt;
use std::fs;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{ACCOUNT, Over, is_over_within};
use crate::client::{Client, PATIENCE};

/// The interval between samples, and between probes.
const EVERY: Duration = Duration::from_millis(500);
/// How many samples are printed.
const PRINTED: usize = 10;
/// What is flat may grow by this share, and by this much besides.
const SHARE: f64 = 1.1;
const MEGABYTES: u64 = 24;
const DESCRIPTORS: u64 = 40;

#[derive(Clone, Copy)]
struct Sample {
    at: Instant,
    megabytes: u64,
    descriptors: u64,
}

fn sample(process: u32) -> Sample {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let resident = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = resident.and_then(|line| line.split_whitespace().nth(1));
    let kilobytes: u64 = kilobytes
        .and_then(|number| number.parse().ok())
        .expect("a number");
    let open = fs::read_dir(format!("/proc/{process}/fd")).expect("it runs");
    Sample {
        at: Instant::now(),
        megabytes: kilobytes / 1_024,
        descriptors: open.count() as u64,
    }
}

/// A measurement under way.
pub(super) struct Measuring<T>(JoinHandle<T>);

impl<T> Measuring<T> {
    /// Returns the result, once it is over.
    pub(super) async fn end(self) -> T {
        self.0.await.expect("it does not panic")
    }
}

/// The samples of a process.
#[derive(Default)]
pub(super) struct Samples(Vec<Sample>);

impl Samples {
    /// Samples a process until it is over.
    pub(super) fn of(process: u32, over: &Over) -> Measuring<Self> {
        let mut over = over.clone();
        Measuring(tokio::spawn(async move {
            let mut samples = vec![sample(process)];
            while !is_over_within(&mut over, EVERY).await {
                samples.push(sample(process));
            }
            Self(samples)
        }))
    }

    /// Returns those of these times.
    pub(super) fn within(self, times: &[(Instant, Instant)]) -> Self {
        let is_within = |sample: &Sample| {
            let mut times = times.iter();
            times.any(|(began, ended)| (began..=ended).contains(&&sample.at))
        };
        Self(self.0.into_iter().filter(is_within).collect())
    }

    pub(super) fn add(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Returns what has grown in the second half, from its first to its second half.
    pub(super) fn growth(&self) -> Vec<String> {
        let (_, second) = self.0.split_at(self.0.len() / 2);
        let (earlier, later) = second.split_at(second.len() / 2);
        let mut grown = Vec::new();
        for (what, of, besides) in [
            (
                "MB",
                (|sample| sample.megabytes) as fn(&Sample) -> u64,
                MEGABYTES,
            ),
            ("descriptors", |sample| sample.descriptors, DESCRIPTORS),
        ] {
            let (earlier, later) = (median(earlier, of), median(later, of));
            if later as f64 > earlier as f64 * SHARE && later > earlier + besides {
                grown.push(format!("it grew from {earlier} to {later} {what}"));
            }
        }
        grown
    }
}

fn median(samples: &[Sample], of: impl Fn(&Sample) -> u64) -> u64 {
    let mut values: Vec<u64> = samples.iter().map(of).collect();
    values.sort_unstable();
    values[values.len() / 2]
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} {:>6} {:>12}", "seconds", "MB", "descriptors")?;
        let step = self.0.len().div_ceil(PRINTED).max(1);
        let began = self.0.first().map(|sample| sample.at);
        for sample in self.0.iter().step_by(step) {
            let seconds = began.map_or(0, |began| sample.at.duration_since(began).as_secs());
            let Sample {
                megabytes,
                descriptors,
                ..
            } = sample;
            write!(f, "\n{seconds:>8} {megabytes:>6} {descriptors:>12}")?;
        }
        Ok(())
    }
}

/// Keeps this thread on the last processor that it may run on.
fn stay_on_one_processor() {
    let may_run_on = sched_getaffinity(None).expect("the processors of this thread");
    let last = (0..CpuSet::MAX_CPU).rfind(|processor| may_run_on.is_set(*processor));
    let mut one = CpuSet::new();
    one.set(last.expect("a processor"));
    sched_setaffinity(None, &one).expect("this thread may stay there");
}

/// How long probes took. One that was not answered took as long as it was waited for.
#[derive(Default)]
pub(super) struct Probes(Vec<Duration>);

impl Probes {
    /// Probes until it is over, by a thread that does nothing else and stays on one processor: what it measures is not how long it
    /// waits for those who attack.
    pub(super) fn of(url: &str, over: &Over) -> Measuring<Self> {
        let client = Client::new(url, ACCOUNT);
        let mut over = over.clone();
        let probing = async move {
            let mut took = Vec::new();
            while !is_over_within(&mut over, EVERY).await {
                for path in ["/healthz", "/readyz"] {
                    let asked = Instant::now();
                    let answer = client.try_call("GET", path, "").await;
                    let is_well = answer.is_ok_and(|answer| answer.status == 200);
                    took.push(if is_well { asked.elapsed() } else { PATIENCE });
                }
            }
            Self(took)
        };
        Measuring(tokio::task::spawn_blocking(|| {
            stay_on_one_processor();
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().expect("a runtime");
            runtime.block_on(probing)
        }))
    }

    pub(super) fn add(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The time within which this many of 100 were answered.
    fn within(&self, percent: usize) -> Duration {
        let mut took = self.0.clone();
        took.sort_unstable();
        took[(took.len() * percent / 100).min(took.len() - 1)]
    }

    /// The time within which 99 of 100 were answered.
    pub(super) fn most_within(&self) -> Duration {
        self.within(99)
    }
}

impl fmt::Display for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        let (median, most, longest) = (self.within(50), self.most_within(), self.within(100));
        write!(
            f,
            "{count} probes: median {median:.1?}, 99 of 100 within {most:.1?}, longest {longest:.1?}"
        )
    }
}
