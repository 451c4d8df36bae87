use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

/// What each caller has of something that all share.
#[derive(Debug)]
pub struct Shares {
    each: usize,
    callers: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
}

impl Shares {
    /// Gives each caller so many permits.
    pub fn of(each: usize) -> Self {
        Self {
            each,
            callers: Mutex::default(),
        }
    }

    /// Returns the permits of a caller. They are remembered as long as somebody has them.
    pub fn of_caller(&self, caller: &Arc<str>) -> Arc<Semaphore> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = callers.get(caller).and_then(Weak::upgrade) {
            return share;
        }
        // Each of those that stay has a request under way.
        callers.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.each));
        callers.insert(Arc::clone(caller), Arc::downgrade(&share));
        share
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.callers.lock().unwrap().len()
    }
}
