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

/// The WARN and ERROR lines that the product logged in the worlds of one thread, and those that were expected. When the
/// last of these worlds ends, unexpected lines fail the test, and so do expected lines that were not logged.
#[derive(Default)]
pub(crate) struct Log(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    logged: Vec<String>,
    expected: Vec<String>,
    tolerated: Vec<String>,
}

impl Log {
    /// Returns the log of the worlds of this thread. Each scenario runs on one thread, and a single subscriber
    /// separates lines by thread. A subscriber per scenario would disturb the others, since `tracing` caches for the
    /// whole process whether a callsite is enabled.
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

    /// Requires a line that contains `text`.
    pub(crate) fn expect(&self, text: &str) {
        self.lines().expected.push(text.to_owned());
    }

    /// Allows lines that contain `text`.
    pub(crate) fn tolerate(&self, text: &str) {
        self.lines().tolerated.push(text.to_owned());
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // The test has already failed.
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

/// Captures the lines of the product only. Those of its dependencies depend on the machine, such as a slow disk.
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
