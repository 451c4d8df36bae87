use uuid::Uuid;

use crate::Timestamp;

/// The only source of time. Skew between replicas costs liveness, never safety: the lease generation fences writers.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The only source of chance. Draws are labelled so that a seeded implementation can keep one stream per label:
/// a new draw in one place then does not shift the draws of another.
pub trait Entropy: Send + Sync {
    /// Sixteen fresh bytes for `label`.
    fn draw(&self, label: &'static str) -> [u8; 16];

    /// A fresh version 4 uuid for `label`.
    fn uuid(&self, label: &'static str) -> Uuid {
        uuid_v4(self.draw(label))
    }

    /// A number in `[0, 1)` for `label`, for jitter.
    fn fraction(&self, label: &'static str) -> f64 {
        let [a, b, c, d, ..] = self.draw(label);
        f64::from(u32::from_be_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
    }
}

/// The version 4 uuid made of `bytes` (RFC 9562, section 5.4).
fn uuid_v4(mut bytes: [u8; 16]) -> Uuid {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    Uuid::from_bytes(bytes)
}
