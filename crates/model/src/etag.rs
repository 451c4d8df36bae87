use std::fmt;

use crate::Timestamp;

/// An entity tag (RFC 9110, section 8.8.3) without its quotes. Opaque to clients: another one after every write, and,
/// since it has the moment of the first write, another one for what was deleted and made anew later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ETag(String);

impl ETag {
    /// The tag of what was first written at `created_at` and whose writes `revision` counts.
    pub fn of_revision(created_at: Timestamp, revision: u64) -> Self {
        Self(format!("{:x}-{revision:x}", created_at.as_millis()))
    }

    /// A tag as a client gave it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
