//! How a lease is kept while a step runs, and given back.

use std::time::Duration;

use tokio::sync::SemaphorePermit;
use tracing::{debug, warn};
use ucp_store::{Lease, LeaseTerm};

use crate::abandoned::Abandoned;
use crate::engine::Engine;

/// The duration of the lease of a suspect that is stepped alone. Far more than a busy store or a slow machine delays a
/// renewal, so that the lease runs out only if its holder hangs or is gone.
const ALONE: LeaseTerm = LeaseTerm(Duration::from_secs(60));

/// The duration of the lease of a suspect, where others last for `term`.
fn alone(term: LeaseTerm) -> LeaseTerm {
    LeaseTerm(ALONE.0.max(term.0))
}

impl Engine {
    /// Renews a lease again and again while a step runs, which may wait for AWS or for its turn at the store. Returns when
    /// the lease is lost.
    pub(crate) async fn keep(&self, lease: Lease, is_suspect: bool) -> Abandoned {
        let term = self.settings.lease;
        let renewed_for = if is_suspect { alone(term) } else { term };
        loop {
            tokio::time::sleep(term.0 / 3).await;
            let renewed = self
                .parts
                .store
                .renew_lease(&lease, self.now(), renewed_for);
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

    /// Waits until no other suspect is stepped in this process, and notes that this one is. A process that ends in a step
    /// takes all its steps along, and only the note tells which of them ended it.
    pub(crate) async fn alone(&self, lease: &mut Lease) -> Result<SemaphorePermit<'_>, Abandoned> {
        let term = alone(self.settings.lease);
        let turn = tokio::time::timeout(term.0, self.suspect.acquire()).await;
        let Ok(Ok(turn)) = turn else {
            return Err(Abandoned::NoTurn);
        };
        let store = &self.parts.store;
        *lease = store.try_alone(lease, self.now(), term).await?;
        Ok(turn)
    }

    /// Gives the lease of a step that ended without a result back, for a later try. What was given up stays so.
    pub(crate) async fn postpone(&self, lease: &Lease, pause: Duration, is_given_up: bool) {
        let (store, not_before) = (&self.parts.store, self.now().after(pause));
        let postponed = match is_given_up {
            true => store.hand_back(lease, not_before).await,
            false => store.postpone(lease, not_before).await,
        };
        if let Err(error) = postponed {
            debug!(error = %ucp_model::chain(&error), "could not give a lease back; it will expire");
        }
    }
}
