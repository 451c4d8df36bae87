//! What is wrong with a configuration file.

use std::ops::Range;

/// An error, and its byte offset.
#[derive(Debug, PartialEq)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) message: String,
}

pub(crate) fn wrong<T>(span: Range<usize>, message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong {
        at: span.start,
        message: message.into(),
    })
}
