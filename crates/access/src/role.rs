//! Roles, and the rights that they consist of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use ucp_model::excerpt;

use crate::invalid::Invalid;

/// What a grant gives over its scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// May read.
    Reader,
    /// May read and change resources.
    Contributor,
    /// May read, and approve and reject plans.
    Approver,
    /// May read, and change the credentials for AWS.
    CredentialsAdmin,
    /// May do everything, and give rights to others.
    Owner,
}

/// What a request needs over a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    /// To read.
    Read,
    /// To change resources.
    Write,
    /// To approve and reject plans.
    Approve,
    /// To change the credentials for AWS.
    ManageCredentials,
    /// To give rights and to take them away.
    ManageAccess,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [
        Role::Reader,
        Role::Contributor,
        Role::Approver,
        Role::CredentialsAdmin,
        Role::Owner,
    ];

    /// Returns whether the role contains a right.
    pub fn contains(self, right: Right) -> bool {
        match (self, right) {
            (_, Right::Read) | (Role::Owner, _) => true,
            (Role::Contributor, Right::Write)
            | (Role::Approver, Right::Approve)
            | (Role::CredentialsAdmin, Right::ManageCredentials) => true,
            (Role::Reader | Role::Approver | Role::CredentialsAdmin, Right::Write)
            | (Role::Reader | Role::Contributor | Role::CredentialsAdmin, Right::Approve)
            | (Role::Reader | Role::Contributor | Role::Approver, Right::ManageCredentials)
            | (
                Role::Reader | Role::Contributor | Role::Approver | Role::CredentialsAdmin,
                Right::ManageAccess,
            ) => false,
        }
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Reader => "reader",
            Role::Contributor => "contributor",
            Role::Approver => "approver",
            Role::CredentialsAdmin => "credentialsAdmin",
            Role::Owner => "owner",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let role = Role::ALL
            .into_iter()
            .find(|role| role.as_str().eq_ignore_ascii_case(text));
        role.ok_or_else(|| {
            let known = Role::ALL.map(Role::as_str).join(", ");
            Invalid(format!(
                "'{}' is not a role. The roles are {known}.",
                excerpt(text)
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_exactly_its_rights() {
        let all = [
            Right::Read,
            Right::Write,
            Right::Approve,
            Right::ManageCredentials,
            Right::ManageAccess,
        ];
        let rights = |role: Role| all.map(|right| role.contains(right));
        assert_eq!(rights(Role::Reader), [true, false, false, false, false]);
        assert_eq!(rights(Role::Contributor), [true, true, false, false, false]);
        assert_eq!(rights(Role::Approver), [true, false, true, false, false]);
        assert_eq!(
            rights(Role::CredentialsAdmin),
            [true, false, false, true, false]
        );
        assert_eq!(rights(Role::Owner), [true, true, true, true, true]);
    }

    #[test]
    fn roles_are_read_as_they_are_written() {
        for role in Role::ALL {
            assert_eq!(role.to_string().parse(), Ok(role));
            let json = serde_json::to_string(&role).unwrap();
            assert_eq!(json, format!("\"{role}\""));
        }
        let error = "admin".parse::<Role>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "'admin' is not a role. The roles are reader, contributor, approver, credentialsAdmin, owner."
        );
    }
}
