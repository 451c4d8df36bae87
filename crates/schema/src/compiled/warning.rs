use std::fmt;

/// A part of a schema that was ignored because it is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaWarning {
    /// The location, as a JSON Pointer into the schema.
    pub pointer: String,
    /// The message.
    pub message: String,
}

impl fmt::Display for SchemaWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.pointer, self.message)
    }
}
