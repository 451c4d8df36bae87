//! Grants: who has which role over what.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;
use crate::name::judge_name;
use crate::role::Role;
use crate::scope::Scope;

/// How many scopes a grant may have.
pub const SCOPES_MAX: usize = 20;

/// Gives a user or a group a role over scopes. One grant may name a resource group and the part of AWS for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Who gets the role.
    #[serde(flatten)]
    pub who: Subject,
    /// The role.
    pub role: Role,
    /// What the role is over.
    pub scopes: Vec<Scope>,
}

impl Grant {
    /// Creates a grant. It needs 1 to 20 scopes.
    pub fn new(who: Subject, role: Role, scopes: Vec<Scope>) -> Result<Self, Invalid> {
        match scopes.len() {
            1..=SCOPES_MAX => Ok(Self { who, role, scopes }),
            count => Err(Invalid(format!(
                "A grant has 1 to {SCOPES_MAX} scopes, and this one has {count}."
            ))),
        }
    }
}

/// Who a grant is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    /// The principal of this name.
    User(String),
    /// All members of the group of this name.
    Group(String),
}

impl Subject {
    /// Returns the name of the user or the group.
    pub fn name(&self) -> &str {
        match self {
            Subject::User(name) | Subject::Group(name) => name,
        }
    }
}

/// `NAME` for a user, `group:NAME` for a group.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::User(name) => f.write_str(name),
            Subject::Group(name) => write!(f, "group:{name}"),
        }
    }
}

/// Reads `NAME` as a user and `group:NAME` as a group.
impl FromStr for Subject {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (name, subject): (_, fn(String) -> Self) = match text.strip_prefix("group:") {
            Some(name) => (name, Subject::Group),
            None => (text, Subject::User),
        };
        judge_name(name)?;
        Ok(subject(name.to_owned()))
    }
}
