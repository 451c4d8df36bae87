/// The `code` of a [`Detail`](ucp_model::Detail) about declarations that refer to each other, in a set or in a refactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailCode {
    /// Something cannot be read as an address or a type.
    InvalidAddress,
    /// Something cannot be read as a reference.
    InvalidReference,
    /// Nothing has the name.
    UnknownName,
    /// Several resources have the name.
    AmbiguousName,
    /// A name is given twice.
    DuplicateName,
    /// Resources refer to each other in a circle.
    Cycle,
    /// The type has no property there.
    UnknownPath,
    /// Nobody can read the property.
    WriteOnly,
    /// What is to be deleted is referred to.
    StillNeeded,
    /// A move is between two types.
    DifferentTypes,
    /// A move concerns a group that the body does not name.
    UnnamedGroup,
    /// A move leads to an address that nothing is declared at.
    Undeclared,
    /// There are too many of something.
    TooMany,
}

impl DetailCode {
    /// Returns the code as it is on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            DetailCode::InvalidAddress => "InvalidAddress",
            DetailCode::InvalidReference => "InvalidReference",
            DetailCode::UnknownName => "UnknownName",
            DetailCode::AmbiguousName => "AmbiguousName",
            DetailCode::DuplicateName => "DuplicateName",
            DetailCode::Cycle => "Cycle",
            DetailCode::UnknownPath => "UnknownPath",
            DetailCode::WriteOnly => "WriteOnly",
            DetailCode::StillNeeded => "StillNeeded",
            DetailCode::DifferentTypes => "DifferentTypes",
            DetailCode::UnnamedGroup => "UnnamedGroup",
            DetailCode::Undeclared => "Undeclared",
            DetailCode::TooMany => "TooMany",
        }
    }
}

impl From<DetailCode> for String {
    fn from(code: DetailCode) -> Self {
        code.as_str().to_owned()
    }
}
