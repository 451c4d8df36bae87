//! The clock and the entropy of the machine. No other module may use them directly.

use std::time::{SystemTime, UNIX_EPOCH};

use ucp_model::{Clock, Entropy, Timestamp};

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Clock that everything else uses"
    )]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The operating system's entropy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Entropy that everything else uses"
    )]
    fn draw(&self, _: &'static str) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system has entropy");
        bytes
    }
}
