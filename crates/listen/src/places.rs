//! What the requests of a connection take of the room of its peer, and of all.

use std::sync::Arc;

use crate::peers::Admitted;

/// In the extensions of every request: its place among those of its peer, and of all. It is free again when all clones are
/// dropped. Whoever goes on with a request after the client has left it keeps its place until that is done. Otherwise a
/// client could begin any number of requests, by leaving each.
#[derive(Clone, Debug)]
pub struct Place {
    _admitted: Arc<Admitted>,
}

/// The place of a connection, and those beside it.
#[derive(Debug)]
pub(crate) struct Places(Arc<Admitted>);

impl Places {
    pub(crate) fn new(admitted: Admitted) -> Self {
        Self(Arc::new(admitted))
    }

    /// Takes a place for a request: that of the connection, or one beside it while another request has that. `None` if its
    /// peer, or all, have as many as they may.
    pub(crate) fn take(&self) -> Option<Place> {
        let is_taken = Arc::strong_count(&self.0) > 1;
        let admitted = if is_taken {
            Arc::new(self.0.another()?)
        } else {
            Arc::clone(&self.0)
        };
        Some(Place {
            _admitted: admitted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Peers;

    #[tokio::test]
    async fn a_request_beside_another_takes_a_place() {
        let peers = Peers::new(2, None);
        let admitted = peers.admit([192, 0, 2, 1].into()).await;
        let places = Places::new(admitted.unwrap());
        let first = places.take().unwrap();
        let second = places.take();
        assert!(second.is_some());
        assert!(places.take().is_none());
        let kept = first.clone();
        drop(first);
        assert!(places.take().is_none(), "who goes on keeps the place");
        drop(kept);
        let first = places.take();
        assert!(first.is_some());
        assert!(places.take().is_none(), "the second has its own");
        drop(second);
        assert!(places.take().is_some());
    }

    /// The end of a connection does not free the place of a request that goes on.
    #[tokio::test]
    async fn a_place_outlives_its_connection() {
        let peers = Peers::new(9, Some(1));
        let peer = [192, 0, 2, 1].into();
        let places = Places::new(peers.admit(peer).await.unwrap());
        let place = places.take();
        drop(places);
        assert!(peers.admit(peer).await.is_none());
        drop(place);
        assert!(peers.admit(peer).await.is_some());
    }
}
