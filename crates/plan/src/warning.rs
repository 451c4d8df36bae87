use std::fmt;

use serde::Serialize;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum WarningCode {
    /// A read-only property is declared with its live value.
    #[serde(rename = "ReadOnlyProperty")]
    ReadOnly,
    /// The property is deprecated.
    #[serde(rename = "DeprecatedProperty")]
    Deprecated,
    /// The property is undocumented.
    #[serde(rename = "NonPublicProperty")]
    NonPublic,
    /// A create-only property depends on an unknown value.
    MayForceReplacement,
    /// A value that no read returns and that may not be sent again cannot be compared with its last declaration.
    NotComparable,
    /// A tag key is reserved by AWS.
    ReservedTag,
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
            WarningCode::NotComparable => {
                "is never returned by AWS and cannot be sent again, and its previous value is not known; it is assumed to be unchanged"
            }
            WarningCode::ReservedTag => {
                "contains tags that start with `aws:`, which only AWS sets; they are not sent"
            }
        };
        Self {
            code,
            message: format!("`{path}` {what}"),
            path,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
