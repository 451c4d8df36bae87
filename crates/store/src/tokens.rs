//! Tokens by which callers are known.

use std::time::Duration;

use async_trait::async_trait;
use ucp_access::{Role, Scope};
use ucp_model::Timestamp;

use crate::Error;

/// How many tokens may be valid at a time.
pub const TOKENS_MAX: usize = 1_000;
/// How long a token is listed after its end.
pub const ENDED_TOKEN_RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// A token. Its secret is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The part of the token that tells it from others. It is no secret.
    pub id: String,
    /// The name of its callers, without the prefix. Tokens may have the same name, so that one can take the place of
    /// another.
    pub name: String,
    /// The SHA-256 digest of the secret.
    pub digest: [u8; 32],
    /// What its callers may do.
    pub role: Role,
    /// Over what they may do it.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires, if ever.
    pub expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

/// Whether a token is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenState {
    /// It is.
    Valid,
    /// It was, until it expired.
    Expired,
    /// It was, until somebody revoked it.
    Revoked,
}

impl Token {
    /// Returns whether it is valid at `now`.
    pub fn state(&self, now: Timestamp) -> TokenState {
        match (self.revoked_at, self.expires_at) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(expires_at)) if expires_at <= now => TokenState::Expired,
            (None, _) => TokenState::Valid,
        }
    }

    /// Returns since when, or from when on, it is not valid. `None` if it is valid for ever.
    pub fn ends_at(&self) -> Option<Timestamp> {
        let ends = [self.expires_at, self.revoked_at];
        ends.into_iter().flatten().min()
    }
}

/// Storage of tokens.
#[async_trait]
pub trait Tokens: Send + Sync {
    /// Stores a new token, and returns whether it did: not beside [`TOKENS_MAX`] that are valid when it is created. Some
    /// more may be stored by calls at the same time. Removes some tokens that ended [`ENDED_TOKEN_RETENTION`] before.
    async fn create_token(&self, token: Token) -> Result<bool, Error>;

    /// Returns the token, if it exists.
    async fn get_token(&self, id: &str) -> Result<Option<Token>, Error>;

    /// Returns up to `limit` tokens in the order of their ids, starting after `after`, which need not exist any more.
    async fn list_tokens(&self, after: Option<&str>, limit: usize) -> Result<Vec<Token>, Error>;

    /// Revokes a token. Returns whether it did: not if the token does not exist, or was revoked before.
    async fn revoke_token(&self, id: &str, now: Timestamp) -> Result<bool, Error>;

    /// Records that the token was used, unless a later use is recorded already.
    async fn note_token_use(&self, id: &str, at: Timestamp) -> Result<(), Error>;
}
