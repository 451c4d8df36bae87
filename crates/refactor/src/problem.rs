use ucp_model::Detail;

/// Something that is wrong with a body.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemCode {
    /// Something cannot be read as an address or a type.
    InvalidAddress,
    /// Something cannot be read as a reference.
    InvalidReference,
    /// A reference names nothing.
    UnknownName,
    /// A name is given twice.
    DuplicateName,
    /// A move is between two types.
    DifferentTypes,
    /// A move concerns a group that the body does not name.
    UnnamedGroup,
    /// A move leads to an address that nothing is declared at.
    Undeclared,
    /// Resources refer to each other in a circle.
    Cycle,
    /// There are too many of something.
    TooMany,
}

impl ProblemCode {
    /// Returns the `code` of an error detail.
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemCode::InvalidAddress => "InvalidAddress",
            ProblemCode::InvalidReference => "InvalidReference",
            ProblemCode::UnknownName => "UnknownName",
            ProblemCode::DuplicateName => "DuplicateName",
            ProblemCode::DifferentTypes => "DifferentTypes",
            ProblemCode::UnnamedGroup => "UnnamedGroup",
            ProblemCode::Undeclared => "Undeclared",
            ProblemCode::Cycle => "Cycle",
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
