/// The maximum length of a schema, several times the longest that AWS publishes.
pub(crate) const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Why a text is not a valid schema of a resource type.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The text is too long.
    #[error("the schema has {0} bytes; at most {max} are accepted", max = MAX_BYTES)]
    TooLarge(usize),
    /// The text is not JSON, or is nested too deeply.
    #[error("the schema is not JSON that can be read")]
    NotJson(#[source] serde_json::Error),
    /// The JSON does not describe a resource type.
    #[error("{0}")]
    Malformed(String),
}

pub(crate) fn malformed(message: impl Into<String>) -> SchemaError {
    SchemaError::Malformed(message.into())
}
