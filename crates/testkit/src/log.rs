use std::cell::RefCell;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

thread_local! {
    static OF_THIS_THREAD: RefCell<Weak<Log>> = const { RefCell::new(Weak::new()) };
}

/// What the product logged as WARN and ERROR in the worlds of one thread, and which of it was expected. When the last of
/// these worlds ends, anything else fails the test, and so does what was expected in vain.
#[derive(Default)]
pub(crate) struct Log(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    logged: Vec<String>,
    expected: Vec<String>,
    tolerated: Vec<String>,
}

impl Log {
    /// The log of the worlds of this thread. Scenarios run on one thread each; one subscriber for all of them tells
    /// their lines apart by it, as a subscriber that comes and goes with each of them would disturb the others: whether
    /// anybody listens to an event is remembered for the whole process.
    pub(crate) fn of_this_thread() -> Arc<Self> {
        static SUBSCRIBER: Once = Once::new();
        SUBSCRIBER.call_once(|| {
            let subscriber = tracing_subscriber::registry().with(LevelFilter::WARN);
            subscriber.with(Capture).init();
        });
        OF_THIS_THREAD.with_borrow_mut(|current| {
            current.upgrade().unwrap_or_else(|| {
                let log = Arc::new(Self::default());
                *current = Arc::downgrade(&log);
                log
            })
        })
    }

    /// Some line has `text` in it, and may.
    pub(crate) fn expect(&self, text: &str) {
        self.lines().expected.push(text.to_owned());
    }

    /// A line may have `text` in it.
    pub(crate) fn tolerate(&self, text: &str) {
        self.lines().tolerated.push(text.to_owned());
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // The test has failed already.
        if std::thread::panicking() {
            return;
        }
        let lines = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let is_known = |line: &String| {
            let mut known = lines.expected.iter().chain(&lines.tolerated);
            known.any(|text| line.contains(text))
        };
        let unexpected: Vec<_> = lines.logged.iter().filter(|line| !is_known(line)).collect();
        assert!(
            unexpected.is_empty(),
            "logged unexpectedly: {unexpected:#?}"
        );
        for text in &lines.expected {
            let is_logged = lines.logged.iter().any(|line| line.contains(text));
            assert!(is_logged, "never logged: {text}");
        }
    }
}

/// Keeps the product's own lines; those of its dependencies tell of the machine (a slow disk, say).
struct Capture;

impl<S: Subscriber> Layer<S> for Capture {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let log = OF_THIS_THREAD.with_borrow(Weak::upgrade);
        if let Some(log) = log.filter(|_| metadata.target().starts_with("ucp")) {
            let mut line = Line(format!("{} {}:", metadata.level(), metadata.target()));
            event.record(&mut line);
            log.lines().logged.push(line.0);
        }
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let written = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
        written.expect("text is written to memory");
    }
}
