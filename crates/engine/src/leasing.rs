//! How a lease is kept while a step runs, and given back.

use std::time::Duration;

use tracing::{debug, warn};
use ucp_store::Lease;

use crate::abandoned::Abandoned;
use crate::engine::Engine;

impl Engine {
    /// Renews a lease again and again while a step runs, which may wait for AWS or for its turn at the store. Returns when
    /// the lease is lost.
    pub(crate) async fn keep(&self, lease: Lease) -> Abandoned {
        let term = self.settings.lease;
        loop {
            tokio::time::sleep(term.0 / 3).await;
            let renewed = self.parts.store.renew_lease(&lease, self.now(), term);
            match renewed.await {
                Ok(_) => {}
                // The step itself may have given the lease up with its last write, whose reply is on its way.
                Err(error @ ucp_store::Error::LeaseLost) => {
                    tokio::time::sleep(term.0 / 3).await;
                    return error.into();
                }
                // The step is still of use: nobody else may have claimed the operation by then.
                Err(error) => warn!(error = %ucp_model::chain(&error), "could not renew a lease"),
            }
        }
    }

    /// Gives the lease of a step that ended without a result back, for a later try.
    pub(crate) async fn postpone(&self, lease: &Lease, pause: Duration) {
        let not_before = self.now().after(pause);
        if let Err(error) = self.parts.store.hand_back(lease, not_before).await {
            debug!(error = %ucp_model::chain(&error), "could not give a lease back; it will expire");
        }
    }
}
