//! The leases.

use async_trait::async_trait;
use ucp_model::Timestamp;
use ucp_store::{Claimed, Documents, Error, Lease, LeaseTerm, Leases, Sealed};

use crate::Sql;
use crate::database::{Row, statements, transaction, values};
use crate::json::from_json;
use crate::nudges::Topic;
use crate::operation_row::{self, columns, generation};

/// When a live operation can be claimed: when it is due and its lease, if any, has expired. There is an index of this
/// expression.
macro_rules! claimable_at {
    () => {
        "CASE WHEN lease_expires_at > due_at THEN lease_expires_at ELSE due_at END"
    };
}

statements! {
    /// Workers claim concurrently: each takes rows that no other has locked.
    CLAIM = ["WITH due AS (
            SELECT id AS due_id FROM operations
            WHERE ended_at IS NULL AND ", claimable_at!(), " <= $1
            ORDER BY ", claimable_at!(), ", id LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        UPDATE operations SET lease_owner = $3, lease_expires_at = $4, generation = generation + 1
        WHERE id "]
        postgres "= ANY(ARRAY(SELECT due_id FROM due))" sqlite "IN (SELECT due_id FROM due)" ["
        RETURNING ", columns!(), ", desired, document, look, generation,
            (SELECT resource_references.baseline FROM resource_references WHERE resource_references.key = operations.reference_key) AS baseline"];
    RENEW = ["UPDATE operations SET lease_expires_at = $4
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    RELEASE = ["UPDATE operations SET lease_owner = NULL, lease_expires_at = NULL
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    RELEASE_ALL = ["UPDATE operations SET lease_owner = NULL, lease_expires_at = NULL
        WHERE lease_owner IS NOT NULL"];
    NEXT = ["SELECT ", claimable_at!(), " AS next_at FROM operations
        WHERE ended_at IS NULL ORDER BY ", claimable_at!(), " LIMIT 1"];
}

#[async_trait]
impl Leases for Sql {
    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Claimed>, Error> {
        let expires_at = now.after(term.0);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = transaction!(self, |tx| async {
            let values = values![now.as_millis(), limit, owner, expires_at.as_millis()];
            tx.fetch(CLAIM, values).await
        })?;
        // A row that cannot be read stays leased and is tried again when the lease expires, so that the others need not
        // wait for it.
        let mut claimed: Vec<Claimed> = Vec::with_capacity(rows.len());
        for row in &rows {
            match read(row, owner, expires_at) {
                Ok(readable) => claimed.push(readable),
                Err(error) => {
                    let id = row.get::<&str>("id").unwrap_or("unknown");
                    tracing::error!(operation.id = id, %error, "an operation cannot be read");
                }
            }
        }
        claimed.sort_unstable_by_key(|claimed| {
            let header = &claimed.operation.header;
            (header.due_at, header.id)
        });
        Ok(claimed)
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let renewed = lease.renewed(now, term);
        transaction!(self, |tx| async {
            let values = values![
                lease.operation.to_string(),
                lease.owner.as_str(),
                generation(lease)?,
                renewed.expires_at.as_millis(),
            ];
            match tx.execute(RENEW, values).await? {
                0 => Err(Error::LeaseLost.into()),
                _ => Ok(()),
            }
        })?;
        Ok(renewed)
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        transaction!(self, |tx| async {
            let owner = lease.owner.as_str();
            let values = values![lease.operation.to_string(), owner, generation(lease)?];
            tx.execute(RELEASE, values).await?;
            Ok(())
        })
    }

    async fn take_over_leases(&self) -> Result<(), Error> {
        transaction!(self, |tx| async {
            tx.execute(RELEASE_ALL, values![]).await?;
            Ok(())
        })
    }

    async fn next_claimable_at(&self) -> Result<Option<Timestamp>, Error> {
        let rows = self.database.read(NEXT, values![]).await?;
        let next_at = rows.first().map(|row| row.get("next_at"));
        Ok(next_at.transpose()?.map(Timestamp::from_millis))
    }

    async fn nudged(&self) {
        self.nudged_about(Topic::Operations).await;
    }
}

fn read(row: &Row, owner: &str, expires_at: Timestamp) -> Result<Claimed, Error> {
    let operation = operation_row::read(row)?;
    let desired: Option<Vec<u8>> = row.get("desired")?;
    let document: Option<Vec<u8>> = row.get("document")?;
    let look: Option<Vec<u8>> = row.get("look")?;
    let baseline: Option<&str> = row.get("baseline")?;
    Ok(Claimed {
        lease: Lease {
            operation: operation.header.id,
            owner: owner.to_owned(),
            generation: row.count("generation")?,
            expires_at,
        },
        operation,
        documents: Documents {
            desired: desired.map(Sealed),
            document: document.map(Sealed),
            look: look.map(Sealed),
        },
        baseline: baseline.map(from_json).transpose()?,
    })
}
