//! Which platforms have signed in lately, and from where: they still can while others try passwords from their address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::time::Instant;

/// For how long a sign-in counts.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// How many are remembered. Beyond that the oldest goes.
const MOST: usize = 1_000;

type Sum = [u8; 32];

/// The sign-ins of the last hour.
#[derive(Default)]
pub(crate) struct Lately(Mutex<HashMap<(IpAddr, Sum), SignIn>>);

struct SignIn {
    at: Instant,
    password: Sum,
}

impl Lately {
    /// Notes that somebody has signed in.
    pub(crate) fn note(&self, peer: IpAddr, username: &str, password: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, at) = ((peer, sum(username)), Instant::now());
        if known.len() >= MOST && !known.contains_key(&key) {
            let oldest = known.iter().min_by_key(|(_, signed_in)| signed_in.at);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                known.remove(&oldest);
            }
        }
        let password = sum(password);
        known.insert(key, SignIn { at, password });
    }

    /// Returns whether somebody has signed in so within the hour.
    pub(crate) fn has(&self, peer: IpAddr, username: &str, password: &str) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let signed_in = known.get(&(peer, sum(username)));
        signed_in.is_some_and(|it| {
            let is_same = it.password.ct_eq(&sum(password));
            bool::from(is_same) && it.at.elapsed() < KEPT
        })
    }
}

fn sum(text: &str) -> Sum {
    Sha256::digest(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u16) -> IpAddr {
        let [high, low] = last.to_be_bytes();
        IpAddr::from([10, 0, high, low])
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_in_counts_for_an_hour_from_its_address_with_its_password() {
        let lately = Lately::default();
        lately.note(ip(1), "cf", "one");
        assert!(lately.has(ip(1), "cf", "one"));
        for (peer, username, password) in [
            (ip(1), "cf", "two"),
            (ip(1), "k8s", "one"),
            (ip(2), "cf", "one"),
        ] {
            assert!(
                !lately.has(peer, username, password),
                "{peer} {username} {password}"
            );
        }
        tokio::time::advance(KEPT).await;
        assert!(!lately.has(ip(1), "cf", "one"));
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_are_remembered() {
        let lately = Lately::default();
        for last in 0..=u16::try_from(MOST).unwrap() {
            lately.note(ip(last), "cf", "one");
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert!(!lately.has(ip(0), "cf", "one"));
        assert!(lately.has(ip(1), "cf", "one"));
        assert_eq!(lately.0.lock().unwrap().len(), MOST);
    }
}
