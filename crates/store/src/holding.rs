//! Holds a transaction between two of its statements, so that another one can run there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

tokio::task_local! {
    static HOLD: Arc<Hold>;
}

/// The statement before which a writer is held.
#[derive(Debug)]
pub struct Hold {
    statement: usize,
    passed: AtomicUsize,
    reached: Notify,
    released: Notify,
}

impl Hold {
    /// Creates a hold before a statement, counted from 0. The commit counts as the last statement.
    pub fn before(statement: usize) -> Arc<Self> {
        Arc::new(Self {
            statement,
            passed: AtomicUsize::new(0),
            reached: Notify::new(),
            released: Notify::new(),
        })
    }

    /// Creates a hold that only counts.
    pub fn nowhere() -> Arc<Self> {
        Self::before(usize::MAX)
    }

    /// Returns how many statements the writer has arrived at, with the commits.
    pub fn passed(&self) -> usize {
        self.passed.load(Ordering::Relaxed)
    }

    /// Runs `writer` under this hold.
    pub async fn over<W: Future>(self: Arc<Self>, writer: W) -> W::Output {
        HOLD.scope(self, writer).await
    }

    /// Resolves when the writer has arrived at the statement.
    pub async fn reached(&self) {
        self.reached.notified().await;
    }

    /// Lets the writer go on.
    pub fn release(&self) {
        self.released.notify_one();
    }
}

/// Waits while a test holds the current task here. An engine whose transactions have several statements calls this
/// before each of them and before the commit.
pub async fn before_statement() {
    let Ok(hold) = HOLD.try_with(Arc::clone) else {
        return;
    };
    if hold.passed.fetch_add(1, Ordering::Relaxed) == hold.statement {
        hold.reached.notify_one();
        hold.released.notified().await;
    }
}
