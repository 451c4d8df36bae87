//! Tokens that have been verified lately, so that each is not verified for each request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::time::Instant;
use ucp_access::Principal;
use ucp_model::Timestamp;

use crate::token::Verified;

/// How long a token is believed without being verified again.
const KEPT: Duration = Duration::from_secs(60);
/// The most tokens that are kept.
const MOST: usize = 4_096;

/// Tokens that have been verified, by their digest. The tokens themselves are not kept.
#[derive(Debug, Default)]
pub(crate) struct VerifiedTokens {
    by_digest: Mutex<HashMap<TokenDigest, Kept>>,
}

/// The SHA-256 of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TokenDigest([u8; 32]);

#[derive(Debug)]
struct Kept {
    verified: Verified,
    since: Instant,
}

impl TokenDigest {
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }
}

impl VerifiedTokens {
    /// Returns whose a token is, if it has been verified lately and is still good.
    pub(crate) fn find(&self, token: TokenDigest, now: Timestamp) -> Option<Principal> {
        let tokens = self.tokens();
        let kept = tokens.get(&token).filter(|kept| kept.is_good(now))?;
        Some(kept.verified.principal.clone())
    }

    /// Keeps a token that has been verified.
    pub(crate) fn keep(&self, token: TokenDigest, verified: Verified, now: Timestamp) {
        let mut tokens = self.tokens();
        if tokens.len() >= MOST {
            tokens.retain(|_, kept| kept.is_good(now));
        }
        // Verifying a token again costs less than finding out which one is not needed any more.
        if tokens.len() >= MOST {
            tokens.clear();
        }
        let since = Instant::now();
        tokens.insert(token, Kept { verified, since });
    }

    fn tokens(&self) -> MutexGuard<'_, HashMap<TokenDigest, Kept>> {
        self.by_digest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn is_good(&self, now: Timestamp) -> bool {
        self.since.elapsed() < KEPT && now < self.verified.ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: Timestamp = Timestamp::from_millis(1_000);

    fn verified() -> Verified {
        let principal = Principal::anonymous();
        Verified {
            principal,
            ends: END,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_believed_for_a_while_and_until_its_end() {
        let tokens = VerifiedTokens::default();
        let token = TokenDigest::of("a");
        let early = Timestamp::from_millis(0);
        tokens.keep(token, verified(), early);
        assert!(tokens.find(token, early).is_some());
        assert!(tokens.find(TokenDigest::of("b"), early).is_none());
        assert!(tokens.find(token, Timestamp::from_millis(999)).is_some());
        assert!(tokens.find(token, END).is_none());
        tokio::time::advance(KEPT - Duration::from_millis(1)).await;
        assert!(tokens.find(token, early).is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(tokens.find(token, early).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_tokens_are_kept() {
        let tokens = VerifiedTokens::default();
        let early = Timestamp::from_millis(0);
        for number in 0..3 * MOST {
            let token = TokenDigest::of(&number.to_string());
            tokens.keep(token, verified(), early);
            assert!(tokens.find(token, early).is_some());
            assert!(tokens.tokens().len() <= MOST);
        }
        tokio::time::advance(KEPT).await;
        tokens.keep(TokenDigest::of("x"), verified(), early);
        tokens.keep(TokenDigest::of("y"), verified(), early);
        assert!(tokens.find(TokenDigest::of("x"), early).is_some());
    }
}
