use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;
use tracing::{debug, info, warn};
use ucp_model::{Clock, MAX_SKEW, Timestamp};
use ucp_store::{Error, Reachable};

/// How often the time of the database is read.
const INTERVAL: Duration = Duration::from_secs(5);

/// By how much whole milliseconds of the database and of the machine may differ at one instant.
const ROUNDING: Duration = Duration::from_millis(2);

/// The clock of the database, which all processes share. Between two measurements it goes on by the machine's monotonic
/// clock. The machine's time of day is used only if the store has no clock of its own.
pub struct DatabaseClock {
    machine: Arc<dyn Clock>,
    measured: RwLock<Option<Measured>>,
}

#[derive(Clone, Copy)]
struct Measured {
    /// The time of the database.
    time: Timestamp,
    /// When that was.
    at: Instant,
    /// By how much the machine's clock differs, at least.
    skew: Duration,
}

impl Measured {
    fn now(&self) -> Timestamp {
        self.time.after(self.at.elapsed())
    }
}

impl DatabaseClock {
    /// Creates a clock that shows the time of `machine` until it has been measured.
    pub fn new(machine: Arc<dyn Clock>) -> Self {
        Self {
            machine,
            measured: RwLock::default(),
        }
    }

    /// Measures the clock again and again.
    pub async fn follow(&self, store: &dyn Reachable) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            // Whoever needs the store reports that it cannot be reached.
            if let Err(error) = self.measure(store).await {
                debug!(error = %ucp_model::chain(&error), "could not read the time of the database");
            }
        }
    }

    /// Sets the clock to the time of the database.
    pub async fn measure(&self, store: &dyn Reachable) -> Result<(), Error> {
        let began = Instant::now();
        let Some(time) = store.time().await? else {
            return Ok(());
        };
        let at = Instant::now();
        // The database has read its clock at some time in between.
        let uncertain = (at - began) / 2;
        let time = time.after(uncertain);
        let machine = self.machine.now();
        let skew = difference(machine, time).saturating_sub(uncertain);

        let mut measured = self
            .measured
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let before = measured.unwrap_or(Measured {
            time: machine,
            at,
            skew: Duration::ZERO,
        });
        // Small differences are those of the measurements.
        let (time, at) = if difference(before.now(), time) <= uncertain + ROUNDING {
            (before.time, before.at)
        } else {
            (time, at)
        };
        *measured = Some(Measured { time, at, skew });
        let skew_ms = i64::try_from(skew.as_millis()).unwrap_or(i64::MAX);
        match (before.skew > MAX_SKEW, skew > MAX_SKEW) {
            (false, true) => warn!(
                clock.skew_ms = skew_ms,
                "the clock of this machine differs from that of the database; correct it"
            ),
            (true, false) => info!(
                clock.skew_ms = skew_ms,
                "the clock of this machine agrees with that of the database again"
            ),
            (false, false) | (true, true) => {}
        }
        Ok(())
    }

    fn measured(&self) -> Option<Measured> {
        *self.measured.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for DatabaseClock {
    fn now(&self) -> Timestamp {
        match self.measured() {
            Some(measured) => measured.now(),
            None => self.machine.now(),
        }
    }

    fn skew(&self) -> Duration {
        self.measured()
            .map_or(Duration::ZERO, |measured| measured.skew)
    }
}

fn difference(one: Timestamp, other: Timestamp) -> Duration {
    one.since(other).max(other.since(one))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use async_trait::async_trait;

    use super::*;

    const DAY: i64 = 86_400_000;

    struct Machine(AtomicI64);

    impl Clock for Machine {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.0.load(Ordering::SeqCst))
        }
    }

    /// Answers after 10 ms.
    struct Store(Option<Timestamp>);

    #[async_trait]
    impl Reachable for Store {
        async fn ping(&self) -> Result<(), Error> {
            Ok(())
        }

        async fn time(&self) -> Result<Option<Timestamp>, Error> {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok(self.0)
        }
    }

    const DATABASE: Timestamp = Timestamp::from_millis(100 * DAY);

    fn machine(at: i64) -> (Arc<Machine>, DatabaseClock) {
        let machine = Arc::new(Machine(AtomicI64::new(at)));
        (machine.clone(), DatabaseClock::new(machine))
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_is_ahead_follows_the_database() {
        let (machine, clock) = machine(102 * DAY);
        assert_eq!(clock.now(), machine.now());
        clock.measure(&Store(Some(DATABASE))).await.unwrap();
        let shown = DATABASE.after(Duration::from_millis(5));
        assert_eq!(clock.now(), shown);
        assert!(clock.skew() > Duration::from_secs(2 * 86_400 - 1));

        // It does not matter what the machine says meanwhile.
        machine.0.store(DAY, Ordering::SeqCst);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(clock.now(), shown.after(Duration::from_secs(60)));

        // The database is another one now, and the machine agrees with it.
        machine.0.store(200 * DAY, Ordering::SeqCst);
        let other = Timestamp::from_millis(200 * DAY);
        clock.measure(&Store(Some(other))).await.unwrap();
        assert_eq!(clock.now(), other.after(Duration::from_millis(5)));
        assert_eq!(clock.skew(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_round_trip_does_not_move_the_clock() {
        let (_, clock) = machine(100 * DAY);
        clock.measure(&Store(Some(DATABASE))).await.unwrap();
        let before = clock.now();
        // Ten milliseconds later, the database has gone on by eight or twelve.
        for drift in [8, 12] {
            let time = clock.now().after(Duration::from_millis(drift - 5));
            clock.measure(&Store(Some(time))).await.unwrap();
        }
        assert_eq!(clock.now(), before.after(Duration::from_millis(20)));
    }

    /// A busy store reads its clock at the end of a long round trip, and rounds.
    #[tokio::test(start_paused = true)]
    async fn a_long_round_trip_does_not_move_the_clock() {
        let (_, clock) = machine(100 * DAY);
        clock.measure(&Store(Some(DATABASE))).await.unwrap();
        let before = clock.now();
        let late = clock.now().after(Duration::from_millis(11));
        clock.measure(&Store(Some(late))).await.unwrap();
        assert_eq!(clock.now(), before.after(Duration::from_millis(10)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_without_a_clock_leaves_the_machines() {
        let (machine, clock) = machine(3);
        clock.measure(&Store(None)).await.unwrap();
        machine.0.store(7, Ordering::SeqCst);
        assert_eq!(clock.now(), Timestamp::from_millis(7));
        assert_eq!(clock.skew(), Duration::ZERO);
    }
}
