/// Why a question has no plan.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// No such resource type is known.
    #[error("{0}")]
    UnknownType(String),
    /// The schema that it brings along cannot be used.
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
