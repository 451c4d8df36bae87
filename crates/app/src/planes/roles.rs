//! The roles that stored credentials may name. The process assumes them with its own web identity, so whoever stores a
//! credential chooses what it becomes.

use ucp_model::{CredentialKind, ErrorCode, Failure, excerpt};

use crate::wildcard::Wildcard;

/// The roles that credentials of the kind IRSA may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles(Vec<Wildcard>);

impl Roles {
    /// Returns the roles of these ARNs, in which `*` stands for any characters.
    pub fn of(arns: &[String]) -> Self {
        Self(arns.iter().map(Wildcard::new).collect())
    }

    /// Refuses a credential with a role that is not allowed.
    pub fn admit(&self, credential: &CredentialKind) -> Result<(), Failure> {
        let role = match credential {
            CredentialKind::Irsa { role_arn } => role_arn,
            CredentialKind::AccessKey { .. } => return Ok(()),
        };
        let Self(allowed) = self;
        if allowed.iter().any(|allowed| allowed.matches(role)) {
            return Ok(());
        }
        let message = format!(
            "ucp may not assume the role '{}' for a credential. Its operator can allow it with --allowed-role.",
            excerpt(role)
        );
        Err(Failure::new(ErrorCode::AuthorizationFailed, message)
            .with_target("/properties/roleARN"))
    }
}
