use async_trait::async_trait;
use ucp_model::Scope;

use crate::Rejection;

/// Verifies that AWS calls reach the right account.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Rejects a scope whose account is not the one that its AWS calls would reach.
    async fn verify(&self, scope: &Scope) -> Result<(), Rejection>;

    /// Called when a credential of an aws plane has been written or removed, before the reply: whatever is cached of it
    /// no longer holds.
    fn credential_changed(&self, _plane: &str) {}
}
