//! The digest keys.

use ucp_model::Timestamp;
use ucp_store::{Error, Sealed, SealedKey};

use crate::database::{Abort, Transaction, Value, statements, values};

statements! {
    INSERT = ["INSERT INTO digest_keys (id, key, is_current, created_at) VALUES ($1, $2, 1, $3)"];
    /// Does nothing when there is a current key, also one that another transaction is about to commit.
    OFFER = ["INSERT INTO digest_keys (id, key, is_current, created_at) VALUES ($1, $2, 1, $3)
        ON CONFLICT DO NOTHING"];
    CURRENT = ["SELECT id, key FROM digest_keys WHERE is_current = 1"];
    DELETE_ALL = ["DELETE FROM digest_keys"];
}

pub(crate) async fn ensure(
    transaction: &mut Transaction,
    candidate: &SealedKey,
    now: Timestamp,
) -> Result<SealedKey, Abort> {
    transaction.execute(OFFER, columns(candidate, now)).await?;
    let row = transaction.fetch_optional(CURRENT, values![]).await?;
    let row = row.ok_or_else(|| Error::Corrupt("no digest key is current".to_owned()))?;
    Ok(SealedKey {
        id: row.get("id")?,
        key: Sealed(row.get("key")?),
    })
}

/// Of two that replace it at once, one fails to insert, and run anew replaces the other's.
pub(crate) async fn replace(
    transaction: &mut Transaction,
    new: &SealedKey,
    now: Timestamp,
) -> Result<(), Abort> {
    transaction.execute(DELETE_ALL, values![]).await?;
    transaction.execute(INSERT, columns(new, now)).await?;
    Ok(())
}

fn columns(key: &SealedKey, now: Timestamp) -> Vec<Value> {
    values![key.id.as_str(), key.key.0.clone(), now.as_millis()]
}
