use std::fmt;

/// One thing that is wrong with a document, in words for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where, as a JSON Pointer into the document.
    pub pointer: String,
    /// What. It names the place and what is expected there, and never repeats a value.
    pub message: String,
    /// Of which kind.
    pub code: ViolationCode,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The kind of a [`Violation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationCode {
    /// A value of another JSON type than the schema allows.
    WrongType,
    /// A property that the type does not have.
    UnknownProperty,
    /// A property that must be given and is not.
    MissingProperty,
    /// A value outside an enumeration, a pattern, a range or a length.
    InvalidValue,
    /// Properties that do not go together, such as two of which only one may be given.
    InvalidCombination,
}
