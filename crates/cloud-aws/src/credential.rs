use std::fmt;

use async_trait::async_trait;
use ucp_model::Fault;
use zeroize::Zeroizing;

/// A stored credential, from which all others are derived.
#[derive(Clone, PartialEq, Eq)]
pub enum BaseCredential {
    /// The access key of a user.
    AccessKey {
        /// The access key id.
        access_key_id: String,
        /// The secret access key.
        secret_access_key: Zeroizing<String>,
    },
    /// A role that the web identity of this process may assume.
    WebIdentity {
        /// The role's ARN.
        role_arn: String,
    },
}

impl fmt::Debug for BaseCredential {
    /// Omits the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AccessKey { access_key_id, .. } => write!(f, "AccessKey({access_key_id})"),
            Self::WebIdentity { role_arn } => write!(f, "WebIdentity({role_arn})"),
        }
    }
}

/// A source of stored credentials.
#[async_trait]
pub trait CredentialSource: Send + Sync {
    /// Returns the credential of an aws plane; `None` means the SDK's default chain. Called repeatedly, so that a
    /// changed credential is picked up.
    async fn base_credential(&self, plane: &str) -> Result<Option<BaseCredential>, Fault>;
}
