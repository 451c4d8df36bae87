use std::fmt;

use crate::{Lineage, Timestamp};

/// An entity tag (RFC 9110, section 8.8.3) without its quotes. Opaque to clients. It changes with every write, and
/// since it contains the creation time, a resource that is deleted and created again gets another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ETag(String);

impl ETag {
    /// Returns the tag of a resource created at `created_at`, at `revision`.
    pub fn of_revision(created_at: Timestamp, revision: u64) -> Self {
        Self(format!("{:x}-{revision:x}", created_at.as_millis()))
    }

    /// Returns the tag of a reference of this lineage, which has come to an id where another one began. None of another
    /// lineage has it.
    pub(crate) fn of_lineage(lineage: &Lineage, created_at: Timestamp, revision: u64) -> Self {
        let Self(own) = Self::of_revision(created_at, revision);
        Self(format!("{own}-{lineage}"))
    }

    /// Wraps a tag as received from a client.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the tag without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
