use std::fmt;

/// Something in a schema that could not be understood and was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaWarning {
    /// Where, as a JSON Pointer into the schema.
    pub pointer: String,
    /// What.
    pub message: String,
}

impl fmt::Display for SchemaWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.pointer, self.message)
    }
}
