//! Who waits for the reply to a request.

use std::future::pending;

use tokio::sync::watch;

/// Who waits for the reply to a request. By default it is somebody who does not leave.
#[derive(Clone, Debug, Default)]
pub struct Recipient(Option<watch::Receiver<()>>);

impl Recipient {
    /// Returns somebody who stays until the sender is dropped.
    pub fn new() -> (watch::Sender<()>, Self) {
        let (stay, staying) = watch::channel(());
        (stay, Self(Some(staying)))
    }

    /// Returns once nobody waits any more.
    pub(crate) async fn left(&self) {
        let Some(mut staying) = self.0.clone() else {
            return pending().await;
        };
        while staying.changed().await.is_ok() {}
    }
}
