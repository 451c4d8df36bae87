use async_trait::async_trait;
use ucp_model::Scope;

use crate::Rejection;

/// Tells whether AWS accounts can be reached.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Refuses a scope whose account is not the one that calls about it would land in.
    async fn verify(&self, scope: &Scope) -> Result<(), Rejection>;
}
