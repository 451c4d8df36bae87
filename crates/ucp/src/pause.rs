//! `UCP_PAUSE_AT=<crash point>`, or `<crash point>#2` for its second occurrence: logs that the point is reached and
//! stays there, and so does whatever reaches a crash point later, so that a test can look at what is there and kill the process.
//! Debug builds have it, and those with the feature `pause`: whoever sets the environment of a server must not be able to stop it in
//! the middle.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::anyhow;
use async_trait::async_trait;
use ucp_observe::{CrashPoint, CrashTurn, Crashed, Observer, Process};

/// The point to pause at.
enum PauseAt {
    /// It comes, after so many other ones.
    Ahead(CrashTurn),
    /// It is reached.
    Here,
}

struct Pause(Mutex<PauseAt>);

impl Pause {
    /// Returns whether the process stays at a point, and whether that is the first one.
    fn stays(&self, point: CrashPoint) -> Option<bool> {
        let mut at = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let PauseAt::Ahead(turn) = &*at else {
            return Some(false);
        };
        match turn.reached(point) {
            Some(turn) => {
                *at = PauseAt::Ahead(turn);
                None
            }
            None => {
                *at = PauseAt::Here;
                Some(true)
            }
        }
    }
}

#[async_trait]
impl Observer for Pause {
    async fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        let Some(is_first) = self.stays(point) else {
            return Ok(());
        };
        if is_first {
            tracing::warn!(crash.point = %point, "paused");
        }
        // Another worker of the process would go on otherwise, once the lease has expired.
        std::future::pending().await
    }
}

/// Returns a process that pauses, if `UCP_PAUSE_AT` is set.
pub(crate) fn asked_for() -> anyhow::Result<Option<Arc<Process>>> {
    let has_it = cfg!(any(debug_assertions, feature = "pause"));
    let Some(point) = std::env::var("UCP_PAUSE_AT").ok().filter(|_| has_it) else {
        return Ok(None);
    };
    let turn: CrashTurn = point
        .parse()
        .map_err(|error: String| anyhow!("UCP_PAUSE_AT: {error}"))?;
    let pause = Pause(Mutex::new(PauseAt::Ahead(turn)));
    Ok(Some(Process::observed_by(Arc::new(pause))))
}
