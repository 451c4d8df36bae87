use ucp_model::Detail;

/// Something that is wrong with a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The place, as a JSON Pointer into the body.
    pub pointer: String,
    /// What kind of problem it is.
    pub code: ProblemCode,
    /// What is wrong, and what to do.
    pub message: String,
}

/// The kind of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemCode {
    /// Something cannot be read as a reference.
    InvalidReference,
    /// Nothing has the name.
    UnknownName,
    /// Several resources have the name.
    AmbiguousName,
    /// Two resources of the set have the same name.
    DuplicateName,
    /// Resources refer to each other in a circle.
    Cycle,
    /// The type has no property there.
    UnknownPath,
    /// Nobody can read the property.
    WriteOnly,
    /// What is to be deleted is referred to.
    StillNeeded,
    /// There are too many of something.
    TooMany,
}

impl ProblemCode {
    /// Returns the `code` of an error detail.
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemCode::InvalidReference => "InvalidReference",
            ProblemCode::UnknownName => "UnknownName",
            ProblemCode::AmbiguousName => "AmbiguousName",
            ProblemCode::DuplicateName => "DuplicateName",
            ProblemCode::Cycle => "Cycle",
            ProblemCode::UnknownPath => "UnknownPath",
            ProblemCode::WriteOnly => "WriteOnly",
            ProblemCode::StillNeeded => "StillNeeded",
            ProblemCode::TooMany => "TooMany",
        }
    }
}

impl Problem {
    pub(crate) fn new(
        pointer: impl Into<String>,
        code: ProblemCode,
        message: impl Into<String>,
    ) -> Self {
        Self {
            pointer: pointer.into(),
            code,
            message: message.into(),
        }
    }
}

impl From<Problem> for Detail {
    fn from(problem: Problem) -> Self {
        Detail::at(problem.code.as_str(), problem.message, problem.pointer)
    }
}
