use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing::warn;

use crate::{Engine, Nudges};

/// How often it looks while nobody is known to wait.
const IDLE: Duration = Duration::from_millis(500);
/// The least pause.
const SHORTEST: Duration = Duration::from_millis(10);
/// The pause after an error.
const PAUSE: Duration = Duration::from_secs(1);

/// Lets operations that wait for their turn have it. Each process with workers has one.
pub struct Pacer {
    /// The engine whose governor it drives.
    pub engine: Arc<Engine>,
    /// Wakes the workers.
    pub nudges: Nudges,
}

impl Pacer {
    /// Paces until `shutdown` turns true.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        while !*shutdown.borrow() {
            let pause = match self.engine.release_turns().await {
                Ok(released) => {
                    if released > 0 {
                        self.nudges.due();
                    }
                    let next = self.engine.next_turn_at();
                    let until = next.map_or(IDLE, |next| next.since(self.engine.now()));
                    until.clamp(SHORTEST, IDLE)
                }
                Err(error) => {
                    warn!(
                        error = %ucp_model::chain(&error),
                        "operations that wait for their turn are not released"
                    );
                    PAUSE
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = shutdown.changed() => {}
            }
        }
    }
}
