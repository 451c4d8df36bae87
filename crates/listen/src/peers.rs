//! How many connections each peer has open.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bits of an IPv6 address that name the network. A host has all addresses of it.
const NETWORK: u128 = u128::MAX << 64;

/// The numbers of open connections, by peer. A peer without any has no entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peers {
    open: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

/// An open connection of a peer. It counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    peers: Peers,
    peer: IpAddr,
}

impl Peers {
    /// Counts a connection, unless its peer has `most` already.
    pub(crate) fn admit(&self, from: IpAddr, most: usize) -> Option<Admitted> {
        let peer = peer(from);
        let mut open = self.open();
        let count = open.get(&peer).copied().unwrap_or_default();
        if count >= most {
            return None;
        }
        open.insert(peer, count + 1);
        let peers = self.clone();
        Some(Admitted { peers, peer })
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.peers.open();
        match open.get_mut(&self.peer) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => {
                open.remove(&self.peer);
            }
        }
    }
}

/// Returns the address that stands for all of the same peer.
fn peer(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_peer_has_as_many_connections_as_it_may() {
        let peers = Peers::default();
        let (one, two) = (address("192.0.2.1"), address("192.0.2.2"));
        let first = peers.admit(one, 2);
        let second = peers.admit(one, 2);
        assert!(first.is_some() && second.is_some());
        assert!(peers.admit(one, 2).is_none());
        assert!(peers.admit(two, 2).is_some(), "another peer");
        drop(first);
        let again = peers.admit(one, 2);
        assert!(again.is_some());
        assert!(peers.admit(one, 2).is_none());
        drop((second, again));
        assert!(peers.open().is_empty(), "nothing is kept of those who left");
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
                peer(address(one)) == peer(address(other)),
                same,
                "{one} {other}"
            );
        }
    }
}
