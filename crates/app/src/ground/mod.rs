//! What all rooms stand on, and what the store refuses in the words of a caller.

pub(crate) mod heirs;
pub(crate) mod policies;
pub(crate) mod refusal;
pub(crate) mod sharing;
pub(crate) mod veiling;

use std::sync::Arc;

use ucp_cpu_pool::CpuPool;
use ucp_model::{Clock, Entropy, Timestamp};
use ucp_seal::Keys;
use ucp_store::Store;

use crate::{Accounts, Rejection};

/// What all rooms stand on.
pub struct Ground {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// The keys that seal documents.
    pub(crate) keys: Arc<Keys>,
    /// Where declarations are judged.
    pub(crate) pool: CpuPool,
    /// Verifies AWS accounts.
    pub(crate) accounts: Arc<dyn Accounts>,
}

impl Ground {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Does work that takes CPU time where declarations are judged, unless it is quick.
    pub(crate) async fn judge_aside<T: Send + 'static>(
        &self,
        is_quick: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Rejection> {
        Ok(self.pool.run_unless_quick(is_quick, work).await?)
    }
}
