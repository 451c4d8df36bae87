//! `UCP_PAUSE_AT=<crash point>`: announces the point and blocks there, so that a test can kill the process.

use std::sync::Arc;

use anyhow::anyhow;
use ucp_model::{Checkpoints, CrashPoint, Crashed, Unattended};

struct PauseAt(CrashPoint);

impl Checkpoints for PauseAt {
    fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        if point == self.0 {
            tracing::warn!(crash.point = %point, "paused");
            loop {
                std::thread::park();
            }
        }
        Ok(())
    }
}

/// The checkpoints that the environment asks for.
pub(crate) fn checkpoints() -> anyhow::Result<Arc<dyn Checkpoints>> {
    match std::env::var("UCP_PAUSE_AT") {
        Ok(point) => {
            Ok(Arc::new(PauseAt(point.parse().map_err(
                |error: String| anyhow!("UCP_PAUSE_AT: {error}"),
            )?)))
        }
        Err(_) => Ok(Arc::new(Unattended)),
    }
}
