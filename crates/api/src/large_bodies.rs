//! The bodies that are so large that only one is worked on at a time.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use ucp_cpu_pool::Shares;
use ucp_model::{ErrorCode, Failure};

use crate::problem::Problem;

/// How many bodies beyond the usual size are worked on at once. Others wait.
pub(crate) const LARGE_BODIES: usize = 1;
/// How long others wait.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The places of large bodies. Each caller waits with one request for one, so that nobody waits for all that somebody else sends.
#[derive(Debug)]
pub(crate) struct LargeBodies {
    places: Arc<Semaphore>,
    callers: Shares,
}

/// The place of a large body.
#[derive(Debug)]
pub(crate) struct LargePlace {
    _place: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

impl LargeBodies {
    pub(crate) fn new() -> Self {
        Self {
            places: Arc::new(Semaphore::new(LARGE_BODIES)),
            callers: Shares::of(1),
        }
    }

    /// Waits for the place of a body of this caller.
    pub(crate) async fn place_of(&self, caller: &Arc<str>) -> Result<LargePlace, Problem> {
        let place = timeout(MAX_WAIT, async {
            let turn = self.callers.of_caller(caller).acquire_owned().await.ok()?;
            let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
            Some(LargePlace {
                _place: place,
                _turn: turn,
            })
        });
        place.await.ok().flatten().ok_or_else(|| {
            let message = "Too many large bodies are being read. Nothing was done. Try again, or declare less.";
            let failure = Failure::new(ErrorCode::ServiceUnavailable, message);
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, failure)
        })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_so_many_large_bodies_are_read_at_once() {
        let large = LargeBodies::new();
        let [ann, bob] = ["ann", "bob"].map(Arc::from);
        let mut held = Vec::new();
        for number in 0..LARGE_BODIES {
            let caller = Arc::from(number.to_string());
            held.push(large.place_of(&caller).await.expect("it is free"));
        }
        assert!(large.place_of(&ann).await.is_err());
        held.pop();
        assert!(large.place_of(&ann).await.is_ok());
        assert!(large.place_of(&bob).await.is_ok());
    }

    /// However many requests one caller has waiting, that of another caller waits for one of them.
    #[tokio::test(start_paused = true)]
    async fn a_caller_waits_with_one_large_body() {
        let large = LargeBodies::new();
        let [ann, bob] = ["ann", "bob"].map(Arc::from);
        let first = large.place_of(&ann).await.expect("it is free");
        let mut waiting = Vec::from_iter((0..9).map(|_| Box::pin(large.place_of(&ann))));
        for waits in &mut waiting {
            assert!(waits.now_or_never().is_none());
        }
        let mut other = Box::pin(large.place_of(&bob));
        assert!((&mut other).now_or_never().is_none());
        drop(first);
        assert!(other.now_or_never().is_some());
    }
}
