use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::Timestamp;

/// By how much the clock of a machine may differ from the time that its processes share.
pub const MAX_SKEW: Duration = Duration::from_secs(5);

/// The only source of time. Clock skew between replicas costs liveness, never safety: the lease generation is the
/// fencing token.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns by how much the machine's own clock differs from this one, as far as that is known.
    fn skew(&self) -> Duration {
        Duration::ZERO
    }
}

/// The only source of randomness. Draws are labelled, so that a seeded implementation can keep one stream per label:
/// a new draw in one place does not shift the draws in another.
pub trait Entropy: Send + Sync {
    /// Draws sixteen bytes for `label`.
    fn draw(&self, label: &'static str) -> [u8; 16];

    /// Draws a version 4 UUID for `label`.
    fn uuid(&self, label: &'static str) -> Uuid {
        uuid_v4(self.draw(label))
    }

    /// Draws a number in `[0, 1)` for `label`, for jitter.
    fn fraction(&self, label: &'static str) -> f64 {
        let [a, b, c, d, ..] = self.draw(label);
        f64::from(u32::from_be_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
    }
}

/// Makes a version 4 UUID of `bytes` (RFC 9562, section 5.4).
fn uuid_v4(mut bytes: [u8; 16]) -> Uuid {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    Uuid::from_bytes(bytes)
}

/// Deterministic [`Entropy`] from a seed, with a separate stream per label.
pub struct SeededEntropy {
    seed: u64,
    drawn: Mutex<BTreeMap<&'static str, u64>>,
}

impl SeededEntropy {
    /// Creates the streams of `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            drawn: Mutex::default(),
        }
    }
}

impl fmt::Debug for SeededEntropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeededEntropy({})", self.seed)
    }
}

impl Entropy for SeededEntropy {
    fn draw(&self, label: &'static str) -> [u8; 16] {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let count = drawn.entry(label).or_default();
        *count += 1;
        let stream = Sha256::new()
            .chain_update(self.seed.to_be_bytes())
            .chain_update(label);
        let hash = stream.chain_update(count.to_be_bytes()).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        bytes
    }
}
