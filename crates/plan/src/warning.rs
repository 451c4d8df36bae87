use std::fmt;

use serde::{Serialize, Serializer};

/// A remark about a declaration that does not prevent its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The kind of the warning.
    pub code: WarningCode,
    /// The location, as a JSON Pointer into the declared properties.
    pub path: String,
    /// The message.
    pub message: String,
}

/// The kind of a [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningCode {
    /// A read-only property is declared with its live value.
    ReadOnly,
    /// The property is deprecated.
    Deprecated,
    /// The property is undocumented.
    NonPublic,
    /// A create-only property depends on an unknown value.
    MayForceReplacement,
    /// No read returns the value, and no put has declared it yet.
    WriteOnly,
    /// A put without a reference sends the value again, since nothing is kept to compare it with.
    AlwaysSent,
    /// A value that no read returns and that may not be sent again cannot be compared with its last declaration.
    NotComparable,
    /// A tag key is reserved by AWS.
    ReservedTag,
    /// AWS reports success, and the property is as it was before.
    Dropped,
    /// AWS reports success, and the property is neither as it was sent nor as it was before.
    Different,
    /// A replacement that creates first declares the custom name that the old resource has.
    KeepsName,
}

impl Warning {
    pub(crate) fn new(code: WarningCode, path: String) -> Self {
        let what = match code {
            WarningCode::ReadOnly => {
                "is set by AWS alone; the declared value is the one it has and is not sent"
            }
            WarningCode::Deprecated => "is deprecated by AWS",
            WarningCode::NonPublic => "is not documented by AWS",
            WarningCode::MayForceReplacement => {
                "can only be set when the resource is created; the resource is replaced if its value turns out to be different"
            }
            WarningCode::WriteOnly => {
                "is never returned by AWS, so its value is not known; a put that declares it sends it"
            }
            WarningCode::AlwaysSent => {
                "is never returned by AWS, and for a resource without an alias nothing is kept to compare it with, so every put sends it"
            }
            WarningCode::NotComparable => {
                "is never returned by AWS and cannot be sent again, and its previous value is not known; it is assumed to be unchanged"
            }
            WarningCode::ReservedTag => {
                "contains tags that start with `aws:`, which only AWS sets; they are not sent"
            }
            WarningCode::Dropped => {
                "is as it was before, although AWS reports that the change succeeded; as long as that is so, each put that declares it sends it again, and AWS may drop it each time. Declare what AWS shows, or find out in AWS why it does not take the value"
            }
            WarningCode::KeepsName => {
                "stays as it is, and AWS has a name only once: it refuses a new resource while the old one has the name. Declare another name, or replace with deleteBeforeCreate"
            }
            WarningCode::Different => {
                "is neither as it was sent nor as it was before, although AWS reports that the change succeeded; as long as that is so, each put that declares it sends it again. Declare what AWS shows if that is meant"
            }
        };
        Self {
            code,
            message: format!("`{path}` {what}"),
            path,
        }
    }
}

impl WarningCode {
    /// Returns the code as replies spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            WarningCode::ReadOnly => "ReadOnlyProperty",
            WarningCode::Deprecated => "DeprecatedProperty",
            WarningCode::NonPublic => "NonPublicProperty",
            WarningCode::MayForceReplacement => "MayForceReplacement",
            WarningCode::WriteOnly => "WriteOnlyProperty",
            WarningCode::AlwaysSent => "AlwaysSent",
            WarningCode::NotComparable => "NotComparable",
            WarningCode::ReservedTag => "ReservedTag",
            WarningCode::Dropped => "DroppedProperty",
            WarningCode::Different => "DifferentProperty",
            WarningCode::KeepsName => "KeepsName",
        }
    }
}

impl Serialize for WarningCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl From<&Warning> for ucp_model::Warning {
    fn from(warning: &Warning) -> Self {
        Self {
            code: warning.code.as_str().to_owned(),
            target: format!("/properties{}", warning.path),
            message: format!("{}.", warning.message),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
