//! Why a request is refused.

use std::fmt;

use crate::denied::DeniedType;
use crate::scope::Scope;

/// Why a right over a scope is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No grant gives it.
    NotGranted,
    /// It is denied to everybody.
    Denied(DeniedType),
}

/// The refusal of an action, as the client reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// The name of the caller.
    pub client: String,
    /// What it wanted to do, such as `System.Resources/resourceGroups/write`.
    pub action: String,
    /// Over what.
    pub scope: Scope,
    /// Why that is refused.
    pub reason: Reason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            client,
            action,
            scope,
            reason,
        } = self;
        write!(
            f,
            "The client '{client}' does not have authorization to perform action '{action}' over scope '{scope}'. "
        )?;
        match reason {
            Reason::NotGranted => f.write_str(
                "Nothing was changed. Ask an owner of the scope, or of one above it, for a role; the operator of this server can give one too.",
            ),
            Reason::Denied(types) => write!(
                f,
                "Nothing was changed. The operator of this server denies changes of {types} to everybody."
            ),
        }
    }
}
