use std::fmt;

use async_trait::async_trait;
use ucp_model::Fault;
use zeroize::Zeroizing;

/// A credential that somebody stored, and that everything else is derived from.
#[derive(Clone, PartialEq, Eq)]
pub enum BaseCredential {
    /// An access key of a user.
    AccessKey {
        /// Its public half.
        access_key_id: String,
        /// Its secret half.
        secret_access_key: Zeroizing<String>,
    },
    /// A role that the web identity of this process may assume.
    WebIdentity {
        /// The role's ARN.
        role_arn: String,
    },
}

impl fmt::Debug for BaseCredential {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AccessKey { access_key_id, .. } => write!(f, "AccessKey({access_key_id})"),
            Self::WebIdentity { role_arn } => write!(f, "WebIdentity({role_arn})"),
        }
    }
}

/// Where credentials are stored.
#[async_trait]
pub trait CredentialSource: Send + Sync {
    /// The credential of an aws plane; none leaves it to the SDK's default chain. Asked again and again, so that a changed
    /// credential is picked up.
    async fn base_credential(&self, plane: &str) -> Result<Option<BaseCredential>, Fault>;
}
