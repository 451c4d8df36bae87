/// Why a question has no plan.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    /// The question cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The resource type is not known.
    #[error("{0}")]
    UnknownType(String),
    /// The given schema is invalid.
    #[error("{0}")]
    InvalidSchema(String),
}

impl Problem {
    /// The `code` of an error.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Problem::Unreadable(_) => "InvalidLine",
            Problem::UnknownType(_) => "UnknownType",
            Problem::InvalidSchema(_) => "InvalidSchema",
        }
    }
}
