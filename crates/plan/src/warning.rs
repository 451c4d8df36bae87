use std::fmt;

use serde::Serialize;

/// Something about a declaration that does not stop its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What kind of thing.
    pub code: WarningCode,
    /// Where, as a JSON Pointer into the declared properties.
    pub path: String,
    /// In words.
    pub message: String,
}

/// The kind of a [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum WarningCode {
    /// A property that AWS alone sets is declared with the value that it has.
    #[serde(rename = "ReadOnlyProperty")]
    ReadOnly,
    /// A property that AWS advises against.
    #[serde(rename = "DeprecatedProperty")]
    Deprecated,
    /// A property that AWS does not document.
    #[serde(rename = "NonPublicProperty")]
    NonPublic,
    /// A create-only property depends on a value that is not known yet.
    MayForceReplacement,
    /// A value that no read returns and that may not be sent again has nothing to be compared with.
    NotComparable,
    /// A tag that AWS reserves for itself.
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
                "can only be set when the resource is created; the resource is replaced if its value turns out to be another one"
            }
            WarningCode::NotComparable => {
                "is never returned by AWS and cannot be sent again, and what was applied before is not known; it is taken to be unchanged"
            }
            WarningCode::ReservedTag => {
                "holds tags that start with `aws:`, which only AWS sets; they are not sent"
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
