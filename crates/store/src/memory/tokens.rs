use std::ops::Bound;

use async_trait::async_trait;
use ucp_model::Timestamp;

use super::Memory;
use crate::{ENDED_TOKEN_RETENTION, Error, TOKENS_MAX, Token, TokenState, Tokens};

#[async_trait]
impl Tokens for Memory {
    async fn create_token(&self, token: Token) -> Result<bool, Error> {
        let mut tables = self.tables();
        let now = token.created_at;
        tables.tokens.retain(|_, token| {
            let end = token.ends_at();
            end.is_none_or(|end| end.after(ENDED_TOKEN_RETENTION) >= now)
        });
        let tokens = tables.tokens.values();
        let valid = tokens.filter(|token| token.state(now) == TokenState::Valid);
        if valid.count() >= TOKENS_MAX {
            return Ok(false);
        }
        tables.tokens.insert(token.id.clone(), token);
        Ok(true)
    }

    async fn get_token(&self, id: &str) -> Result<Option<Token>, Error> {
        Ok(self.tables().tokens.get(id).cloned())
    }

    async fn list_tokens(&self, after: Option<&str>, limit: usize) -> Result<Vec<Token>, Error> {
        let tables = self.tables();
        let after = Bound::Excluded(after.unwrap_or_default());
        let tokens = tables.tokens.range::<str, _>((after, Bound::Unbounded));
        Ok(tokens.take(limit).map(|(_, token)| token.clone()).collect())
    }

    async fn revoke_token(&self, id: &str, now: Timestamp) -> Result<bool, Error> {
        let mut tables = self.tables();
        let token = tables.tokens.get_mut(id);
        let Some(token) = token.filter(|token| token.revoked_at.is_none()) else {
            return Ok(false);
        };
        token.revoked_at = Some(now);
        Ok(true)
    }

    async fn note_token_use(&self, id: &str, at: Timestamp) -> Result<(), Error> {
        if let Some(token) = self.tables().tokens.get_mut(id) {
            token.last_used_at = token.last_used_at.max(Some(at));
        }
        Ok(())
    }
}
