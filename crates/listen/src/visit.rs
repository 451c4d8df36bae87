use std::sync::Arc;

use tokio::sync::watch;

use crate::peers::Peer;
use crate::places::Places;
use crate::replying::Traffic;
use crate::unserved::{Unserved, Witness};

/// A connection, beside what goes over it.
pub(crate) struct Visit {
    pub(crate) peer: Peer,
    pub(crate) places: Places,
    pub(crate) traffic: Traffic,
    pub(crate) witness: Arc<dyn Witness>,
}

impl Visit {
    /// Tells that something is refused.
    pub(crate) fn refused(&self, why: Unserved) {
        self.witness.refused(self.peer, why);
    }

    /// Tells that the certificate of the client is not accepted, and returns once the client may go, or the server closes.
    pub(crate) async fn login_failed(&self, reason: &str, mut closing: watch::Receiver<()>) {
        self.refused(Unserved::Certificate);
        let witnessed = self.witness.login_failed(self.peer, reason);
        tokio::select! {
            biased;
            () = witnessed => {}
            // Always an error: the sender never sends and is dropped at shutdown.
            _ = closing.changed() => {}
        }
    }
}
