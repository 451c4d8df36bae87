//! `UCP_PAUSE_AT=<crash point>`, or `<crash point>#2` for its second occurrence: logs that the point is reached and
//! blocks, so that a test can kill the process. Debug builds have it, and those with the feature `pause`: whoever sets the environment of a
//! server must not be able to stop it in the middle.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::anyhow;
use async_trait::async_trait;
use ucp_observe::{CrashPoint, CrashTurn, Crashed, Observer, Process};

/// The point to pause at, until it is reached.
struct PauseAt(Mutex<Option<CrashTurn>>);

#[async_trait]
impl Observer for PauseAt {
    async fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        let is_now = {
            let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let before = planned.take();
            *planned = before.and_then(|turn| turn.reached(point));
            before.is_some() && planned.is_none()
        };
        if is_now {
            tracing::warn!(crash.point = %point, "paused");
            loop {
                std::thread::park();
            }
        }
        Ok(())
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
    let pause = PauseAt(Mutex::new(Some(turn)));
    Ok(Some(Process::observed_by(Arc::new(pause))))
}
