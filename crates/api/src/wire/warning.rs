use serde::Serialize;
use ucp_model::Warning;
use utoipa::ToSchema;

/// Something that the caller should know about a declaration or a resource, and that prevents nothing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WarningBody {
    /// The kind of warning.
    #[schema(example = "WriteOnlyProperty")]
    code: String,
    /// The JSON Pointer to the property, or the id of the AWS resource that is given up.
    #[schema(example = "/properties/MasterUserPassword")]
    target: String,
    /// A human-readable message.
    message: String,
}

impl From<Warning> for WarningBody {
    fn from(warning: Warning) -> Self {
        Self {
            code: warning.code,
            target: warning.target,
            message: warning.message,
        }
    }
}

impl WarningBody {
    /// Returns the bodies of warnings.
    pub(crate) fn all(warnings: &[Warning]) -> Vec<Self> {
        warnings.iter().cloned().map(Self::from).collect()
    }
}
