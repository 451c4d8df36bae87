use serde::{Deserialize, Serialize};

/// Something that the caller should know about a declaration or a resource, and that prevents nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A machine-readable code.
    pub code: String,
    /// The JSON Pointer of the property, as `/properties/…`.
    pub target: String,
    /// A message for people.
    pub message: String,
}
