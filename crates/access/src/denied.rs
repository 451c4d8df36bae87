//! Resource types that nobody may change.

use std::fmt;
use std::str::FromStr;

use ucp_model::{TypeName, excerpt};

use crate::invalid::Invalid;
use crate::scope::Scope;

/// Types of which nobody may change a resource, whatever is granted: `AWS.IAM/Role`, or `AWS.IAM/*` for all of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedType {
    text: String,
    /// `aws.iam/` for all of a service, `aws.iam/role` for a type.
    key: String,
}

impl DeniedType {
    /// Returns whether the scope is that of one of the types.
    pub(crate) fn matches(&self, scope: &Scope) -> bool {
        let of_service = self.key.ends_with('/');
        scope.type_key().is_some_and(|given| match of_service {
            true => given.starts_with(&self.key),
            false => given == self.key,
        })
    }
}

impl fmt::Display for DeniedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for DeniedType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (namespace, resource) = text.split_once('/').unwrap_or((text, ""));
        let known = match resource {
            "*" => TypeName::from_segments(namespace, "Type"),
            resource => TypeName::from_segments(namespace, resource),
        };
        known.map_err(|_| {
            Invalid(format!(
                "'{}' does not name types. Name one, such as AWS.IAM/Role, or all of a service, such as AWS.IAM/*.",
                excerpt(text)
            ))
        })?;
        let key = text.trim_end_matches('*').to_ascii_lowercase();
        let text = text.to_owned();
        Ok(Self { text, key })
    }
}
