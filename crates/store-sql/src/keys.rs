//! The digest keys.

use ucp_model::Timestamp;
use ucp_store::{Error, Sealed, SealedKey};

use crate::database::{Abort, Transaction, statements, values};

statements! {
    /// Does nothing when there is a current key, also one that another transaction is about to commit.
    OFFER = ["INSERT INTO digest_keys (id, key, is_current, created_at) VALUES ($1, $2, 1, $3)
        ON CONFLICT DO NOTHING"];
    CURRENT = ["SELECT id, key FROM digest_keys WHERE is_current = 1"];
}

pub(crate) async fn ensure(
    transaction: &mut Transaction,
    candidate: &SealedKey,
    now: Timestamp,
) -> Result<SealedKey, Abort> {
    let key = candidate.key.0.clone();
    let offer = values![candidate.id.as_str(), key, now.as_millis()];
    transaction.execute(OFFER, offer).await?;
    let row = transaction.fetch_optional(CURRENT, values![]).await?;
    let row = row.ok_or_else(|| Error::Corrupt("no digest key is current".to_owned()))?;
    Ok(SealedKey {
        id: row.get("id")?,
        key: Sealed(row.get("key")?),
    })
}
