//! The tokens by which callers are known.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use ucp_model::Timestamp;
use ucp_store::{ENDED_TOKEN_RETENTION, Error, TOKENS_MAX, Token, Tokens};

use crate::Sql;
use crate::database::{Row, statements, transaction, values};
use crate::json::{corrupt, from_json, to_json};

/// How many tokens that ended long ago one call removes.
const REMOVED_MAX: i64 = 100;
/// The end of a token that has none.
const NEVER: i64 = i64::MAX;

/// The columns of a [`Token`].
macro_rules! columns {
    () => {
        "id, name, digest, role, scopes, created_at, expires_at, last_used_at, revoked_at"
    };
}

statements! {
    INSERT = ["INSERT INTO tokens (id, name, digest, role, scopes, created_at, expires_at, ends_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"];
    COUNT_VALID = ["SELECT COUNT(*) AS counted FROM (
            SELECT id FROM tokens WHERE ends_at > $1 ORDER BY ends_at, id LIMIT $2
        ) AS bounded"];
    REMOVE_ENDED = ["DELETE FROM tokens WHERE id "]
        postgres "= ANY(ARRAY(" sqlite "IN (" ["SELECT id FROM tokens
            WHERE ends_at < $1 ORDER BY ends_at, id LIMIT $2"] postgres "))" sqlite ")";
    GET = ["SELECT ", columns!(), " FROM tokens WHERE id = $1"];
    LIST = ["SELECT ", columns!(), " FROM tokens WHERE id > $1 ORDER BY id LIMIT $2"];
    REVOKE = ["UPDATE tokens SET revoked_at = $2, ends_at = CASE WHEN ends_at < $2 THEN ends_at ELSE $2 END
        WHERE id = $1 AND revoked_at IS NULL"];
    NOTE_USE = ["UPDATE tokens SET last_used_at = $2
        WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)"];
}

#[async_trait]
impl Tokens for Sql {
    async fn create_token(&self, token: Token) -> Result<bool, Error> {
        let now = token.created_at;
        let most = i64::try_from(TOKENS_MAX).unwrap_or(i64::MAX);
        let forgotten = now.before(ENDED_TOKEN_RETENTION);
        transaction!(self, |tx| async {
            let ended = values![forgotten.as_millis(), REMOVED_MAX];
            tx.execute(REMOVE_ENDED, ended).await?;
            let valid = tx.fetch_optional(COUNT_VALID, values![now.as_millis(), most]);
            let valid = valid.await?.map(|row| row.count::<i64>("counted"));
            if valid.transpose()?.unwrap_or_default() >= most {
                return Ok(false);
            }
            let scopes = to_json(&token.scopes)?;
            let values = values![
                token.id.as_str(),
                token.name.as_str(),
                BASE64.encode(token.digest),
                token.role.as_str(),
                scopes,
                now.as_millis(),
                token.expires_at.map(Timestamp::as_millis),
                token.ends_at().map_or(NEVER, Timestamp::as_millis),
            ];
            tx.execute(INSERT, values).await?;
            Ok(true)
        })
    }

    async fn get_token(&self, id: &str) -> Result<Option<Token>, Error> {
        let rows = self.database.read(GET, values![id]).await?;
        rows.first().map(read).transpose()
    }

    async fn list_tokens(&self, after: Option<&str>, limit: usize) -> Result<Vec<Token>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = values![after.unwrap_or_default(), limit];
        let rows = self.database.read(LIST, values).await?;
        rows.iter().map(read).collect()
    }

    async fn revoke_token(&self, id: &str, now: Timestamp) -> Result<bool, Error> {
        let values = values![id, now.as_millis()];
        Ok(self.database.write(REVOKE, values).await? > 0)
    }

    async fn note_token_use(&self, id: &str, at: Timestamp) -> Result<(), Error> {
        let values = values![id, at.as_millis()];
        self.database.write(NOTE_USE, values).await.map(drop)
    }
}

fn read(row: &Row) -> Result<Token, Error> {
    let time = |column: &str| {
        let millis: Option<i64> = row.get(column)?;
        Ok::<_, Error>(millis.map(Timestamp::from_millis))
    };
    let (digest, role): (&str, &str) = (row.get("digest")?, row.get("role")?);
    let digest = BASE64.decode(digest).ok();
    let Some(digest) = digest.and_then(|digest| digest.try_into().ok()) else {
        return corrupt("the digest of a token");
    };
    let Ok(role) = role.parse() else {
        return corrupt(format!("'{role}' is not a role"));
    };
    Ok(Token {
        id: row.get("id")?,
        name: row.get("name")?,
        digest,
        role,
        scopes: from_json(row.get("scopes")?)?,
        created_at: Timestamp::from_millis(row.get("created_at")?),
        expires_at: time("expires_at")?,
        last_used_at: time("last_used_at")?,
        revoked_at: time("revoked_at")?,
    })
}
