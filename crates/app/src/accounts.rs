use async_trait::async_trait;
use ucp_model::{CredentialKind, Scope};

use crate::Rejection;

/// Verifies that AWS calls reach the right account.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Rejects a scope whose account is not the one that its AWS calls would reach.
    async fn verify(&self, scope: &Scope) -> Result<(), Rejection>;

    /// Rejects a credential that AWS does not accept.
    async fn identify(
        &self,
        _credential: &CredentialKind,
        _secret: Option<&str>,
    ) -> Result<(), Rejection> {
        Ok(())
    }

    /// Returns whether AWS may accept the identity of the process, with which a plane is signed for that has no credential: it is not
    /// known to refuse it.
    async fn may_accept_ambient(&self) -> bool {
        true
    }

    /// Called when a credential of an aws plane, or the plane itself, has been written or removed, before the reply: whatever is cached of it
    /// no longer holds.
    fn credential_changed(&self, _plane: &str) {}
}
