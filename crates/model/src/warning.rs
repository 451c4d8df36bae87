use serde::{Deserialize, Serialize};

use crate::Secrets;

/// Something that the caller should know about a declaration or a resource, and that prevents nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A machine-readable code.
    pub code: String,
    /// The JSON Pointer of the property, as `/properties/…`, or the id of the AWS resource.
    pub target: String,
    /// A message for people.
    pub message: String,
}

impl Warning {
    pub(crate) fn mask(&mut self, secrets: &Secrets) {
        secrets.mask_text(&mut self.message);
        secrets.mask_text(&mut self.target);
    }
}
