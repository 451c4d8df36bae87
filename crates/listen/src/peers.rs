//! How many connections and requests there are, of each peer and of all.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The bits of an IPv6 address that name the network (RFC 4291, section 2.5.4).
const NETWORK: u128 = u128::MAX << 64;

/// In the extensions of every request: the address at the other end of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// Counts the open connections of each peer, and of all. What is under way beside another request of a connection counts as
/// one.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    most: usize,
    most_of_each: usize,
    open: Arc<Mutex<Open>>,
    /// Told when one leaves.
    left: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    /// A peer without any has no entry.
    of_each: BTreeMap<IpAddr, usize>,
}

/// An open connection of a peer. It counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    peers: Peers,
    peer: IpAddr,
}

/// Why there is no room.
enum Full {
    OfPeer,
    OfAll,
}

impl Peers {
    pub(crate) fn new(most: usize, most_of_each: Option<usize>) -> Self {
        Self {
            most,
            most_of_each: most_of_each.unwrap_or(usize::MAX),
            open: Arc::default(),
            left: Arc::default(),
        }
    }

    /// Counts a connection once there is room for it among all. `None` if its peer has as many as it may. Only one waits at a
    /// time.
    pub(crate) async fn admit(&self, from: IpAddr) -> Option<Admitted> {
        loop {
            match self.count(network(from)) {
                Ok(admitted) => return Some(admitted),
                Err(Full::OfPeer) => return None,
                Err(Full::OfAll) => self.left.notified().await,
            }
        }
    }

    /// Waits until all have left.
    pub(crate) async fn emptied(&self) {
        while self.open().all > 0 {
            self.left.notified().await;
        }
    }

    fn count(&self, peer: IpAddr) -> Result<Admitted, Full> {
        let mut open = self.open();
        let count = open.of_each.get(&peer).copied().unwrap_or_default();
        if count >= self.most_of_each {
            return Err(Full::OfPeer);
        }
        if open.all >= self.most {
            return Err(Full::OfAll);
        }
        open.all += 1;
        open.of_each.insert(peer, count + 1);
        let peers = self.clone();
        Ok(Admitted { peers, peer })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admitted {
    /// Counts what its peer does beside this, unless there is as much as there may be, of the peer or of all.
    pub(crate) fn another(&self) -> Option<Self> {
        self.peers.count(self.peer).ok()
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.peers.open();
        open.all -= 1;
        match open.of_each.get_mut(&self.peer) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => {
                open.of_each.remove(&self.peer);
            }
        }
        drop(open);
        self.peers.left.notify_one();
    }
}

/// Returns the address that stands for all of the same peer: a host has all IPv6 addresses of its network.
pub fn network(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK)),
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, timeout};

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[tokio::test]
    async fn a_peer_has_as_many_connections_as_it_may() {
        let peers = Peers::new(9, Some(2));
        let (one, two) = (address("192.0.2.1"), address("192.0.2.2"));
        let first = peers.admit(one).await;
        let second = peers.admit(one).await;
        assert!(first.is_some() && second.is_some());
        assert!(peers.admit(one).await.is_none());
        assert!(peers.admit(two).await.is_some(), "another peer");
        drop(first);
        let again = peers.admit(one).await;
        assert!(again.is_some());
        assert!(peers.admit(one).await.is_none());
        drop((second, again));
        let open = peers.open();
        assert!(open.of_each.is_empty(), "nothing is kept of those who left");
        assert_eq!(open.all, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_under_way_beside_another_request_counts_as_a_connection() {
        let of_each = Peers::new(9, Some(2));
        let first = of_each.admit(address("192.0.2.1")).await.expect("room");
        let second = first.another();
        assert!(second.is_some());
        assert!(first.another().is_none());
        assert!(of_each.admit(address("192.0.2.1")).await.is_none());
        drop(second);
        assert!(first.another().is_some());

        let of_all = Peers::new(3, None);
        let first = of_all.admit(address("192.0.2.1")).await.expect("room");
        let (second, third) = (of_all.admit(address("192.0.2.2")).await, first.another());
        assert!(second.is_some() && third.is_some());
        assert!(first.another().is_none());
        // Nor is there room for a connection.
        let mut fourth = std::pin::pin!(of_all.admit(address("192.0.2.3")));
        let waited = timeout(Duration::from_secs(9), fourth.as_mut()).await;
        assert!(waited.is_err());
        drop(third);
        assert!(fourth.await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn all_have_left_when_the_last_one_has() {
        let peers = Peers::new(9, None);
        peers.emptied().await;
        let first = peers.admit(address("192.0.2.1")).await.expect("room");
        let beside = first.another();
        drop(first);
        let mut emptied = std::pin::pin!(peers.emptied());
        let waited = timeout(Duration::from_secs(9), emptied.as_mut()).await;
        assert!(waited.is_err());
        drop(beside);
        emptied.await;
    }

    #[test]
    fn a_peer_is_one_however_it_writes_its_address() {
        for (one, other, same) in [
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("2001:db8::1", "2001:db8::ffff:1", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
            ("192.0.2.1", "192.0.2.2", false),
        ] {
            assert_eq!(
                network(address(one)) == network(address(other)),
                same,
                "{one} {other}"
            );
        }
    }
}
