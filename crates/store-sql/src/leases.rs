//! The leases.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use ucp_model::Timestamp;
use ucp_model::operation::ResourceWork;
use ucp_store::{Claimed, Documents, Error, Lease, LeaseTerm, Leases, Sealed, SealedPlace};

use crate::Sql;
use crate::database::{Abort, Row, Statement, Transaction, statements, transaction, values};
use crate::json::{count, from_json, to_json};
use crate::nudges::Topic;
use crate::operation_row::{self, columns, generation};

/// How long an operation that one process cannot read waits for another process.
const UNREADABLE_PAUSE: Duration = Duration::from_secs(5);

/// When a live operation can be claimed: when it is due and its lease, if any, has expired. There is an index of this
/// expression.
macro_rules! claimable_at {
    () => {
        "CASE WHEN lease_expires_at > due_at THEN lease_expires_at ELSE due_at END"
    };
}

/// The count of take-overs after a lease, if any, is dropped. The number is
/// [`TAKEN_OVER_OFTEN`](ucp_store::TAKEN_OVER_OFTEN).
macro_rules! taken_over {
    () => {
        "takeovers + CASE WHEN lease_owner <> '' AND takeovers < 5 THEN 1 ELSE 0 END"
    };
}

/// The columns of a [`Claimed`].
macro_rules! claimed {
    () => {
        concat!(
            columns!(),
            ", desired, document, look, generation, takeovers, has_permit,
            (SELECT resource_references.baseline FROM resource_references WHERE resource_references.key = operations.reference_key) AS baseline"
        )
    };
}

/// The scopes of live operations, and when the first operation of each can be claimed. Each scope is found from the one
/// before it, so the rows between are not read. A range of one value, unlike an equation, leaves only the index of scopes
/// to find the first row.
macro_rules! scopes {
    () => {
        concat!(
            "WITH RECURSIVE scopes(scope) AS (
            SELECT (SELECT scope_key FROM operations WHERE ended_at IS NULL ORDER BY scope_key LIMIT 1)
            UNION ALL
            SELECT (SELECT scope_key FROM operations WHERE ended_at IS NULL AND scope_key > scope ORDER BY scope_key LIMIT 1)
            FROM scopes WHERE scope IS NOT NULL
        ), heads AS (
            SELECT scope, (SELECT ", claimable_at!(), " FROM operations
                WHERE ended_at IS NULL AND scope_key >= scope AND scope_key <= scope
                ORDER BY scope_key, ", claimable_at!(), " LIMIT 1) AS next_at
            FROM scopes WHERE scope IS NOT NULL
        )"
        )
    };
}

statements! {
    /// Workers claim concurrently: each takes rows that no other has locked.
    CLAIM = ["WITH due AS (
            SELECT id AS due_id FROM operations
            WHERE ended_at IS NULL AND ", claimable_at!(), " <= $1
            ORDER BY ", claimable_at!(), ", id LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        UPDATE operations SET lease_owner = $3, lease_expires_at = $4, generation = generation + 1,
            takeovers = ", taken_over!(), "
        WHERE id "]
        postgres "= ANY(ARRAY(SELECT due_id FROM due))" sqlite "IN (SELECT due_id FROM due)" ["
        RETURNING ", claimed!()];
    /// The scopes, except for those of a JSON array, take turns. Each is asked for its share only, so if one has less, the
    /// statement runs again for the rest.
    CLAIM_ELSEWHERE = [scopes!(), ", turns AS (
            SELECT scope FROM heads WHERE next_at <= $1 AND scope "]
        postgres "<> ALL(ARRAY(SELECT json_array_elements_text($5::json)))"
        sqlite "NOT IN (SELECT value FROM json_each($5))" ["
            ORDER BY next_at, scope LIMIT $2
        ), share AS (
            SELECT ($2 + COUNT(*) - 1) / NULLIF(COUNT(*), 0) AS size FROM turns
        ), due AS ("]
        postgres "
            SELECT due_id FROM (
                SELECT due_id, next_at, scope, row_number() OVER (PARTITION BY scope ORDER BY next_at, due_id) AS turn
                FROM turns CROSS JOIN LATERAL "
        sqlite "
            SELECT operations.id AS due_id FROM turns, json_each((SELECT json_group_array(due_id) FROM " ["
                (SELECT id AS due_id, ", claimable_at!(), " AS next_at FROM operations
                WHERE ended_at IS NULL AND scope_key >= scope AND scope_key <= scope AND ", claimable_at!(), " <= $1
                ORDER BY scope_key, ", claimable_at!(), ", id LIMIT (SELECT size FROM share)"] lock " FOR UPDATE SKIP LOCKED" [") "]
        postgres "AS next) AS nexts ORDER BY turn, next_at, scope LIMIT $2"
        sqlite ")) JOIN operations ON operations.id = json_each.value
            ORDER BY json_each.key, CASE WHEN lease_expires_at > due_at THEN lease_expires_at ELSE due_at END, scope LIMIT $2" ["
        )
        UPDATE operations SET lease_owner = $3, lease_expires_at = $4, generation = generation + 1,
            takeovers = ", taken_over!(), "
        WHERE id "]
        postgres "= ANY(ARRAY(SELECT due_id FROM due))" sqlite "IN (SELECT due_id FROM due)" ["
        RETURNING ", claimed!()];
    RENEW = ["UPDATE operations SET
            lease_expires_at = CASE WHEN lease_expires_at > $4 THEN lease_expires_at ELSE $4 END
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    RELEASE = ["UPDATE operations SET lease_owner = NULL, lease_expires_at = NULL, takeovers = 0
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    /// No lease has an empty owner. The count is at most that of the claim: it is more if the operation is armed, and less if
    /// a step was written.
    HAND_BACK = ["UPDATE operations SET lease_owner = '', lease_expires_at = $4,
            takeovers = CASE WHEN takeovers > $5 THEN $5 ELSE takeovers END
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    /// Arms an operation or disarms it.
    COUNT = ["UPDATE operations SET lease_expires_at = $4, takeovers = $5
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    RELEASE_ALL = ["UPDATE operations SET lease_owner = NULL, lease_expires_at = NULL,
            takeovers = ", taken_over!(), "
        WHERE lease_owner IS NOT NULL"];
    NEXT = ["SELECT ", claimable_at!(), " AS next_at FROM operations
        WHERE ended_at IS NULL ORDER BY ", claimable_at!(), " LIMIT 1"];
    NEXT_ELSEWHERE = [scopes!(), "
        SELECT next_at FROM heads WHERE scope "]
        postgres "<> ALL(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "NOT IN (SELECT value FROM json_each($1))" ["
        ORDER BY next_at LIMIT 1"];
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
        transaction!(self, |tx| async {
            let values = values![now.as_millis(), limit, owner, expires_at.as_millis()];
            let rows = tx.fetch(CLAIM, values).await?;
            self.readable(&mut tx, &rows, owner, now, expires_at).await
        })
    }

    async fn claim_elsewhere(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
        crowded: &BTreeSet<String>,
    ) -> Result<Vec<Claimed>, Error> {
        let expires_at = now.after(term.0);
        let crowded = to_json(crowded)?;
        transaction!(self, |tx| async {
            let mut rows: Vec<Row> = Vec::new();
            while rows.len() < limit {
                let room = i64::try_from(limit - rows.len()).unwrap_or(i64::MAX);
                let (now, expires_at) = (now.as_millis(), expires_at.as_millis());
                let values = values![now, room, owner, expires_at, crowded.as_str()];
                let round = tx.fetch(CLAIM_ELSEWHERE, values).await?;
                if round.is_empty() {
                    break;
                }
                rows.extend(round);
            }
            self.readable(&mut tx, &rows, owner, now, expires_at).await
        })
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let renewed = lease.renewed(now, term);
        self.renew(RENEW, renewed, None).await
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        transaction!(self, |tx| async {
            let owner = lease.owner.as_str();
            let values = values![lease.operation.to_string(), owner, generation(lease)?];
            tx.execute(RELEASE, values).await?;
            Ok(())
        })
    }

    async fn hand_back(&self, lease: &Lease, not_before: Timestamp) -> Result<(), Error> {
        transaction!(self, |tx| async {
            let owner = lease.owner.as_str();
            let (id, not_before) = (lease.operation.to_string(), not_before.as_millis());
            let (generation, takeovers) = (generation(lease)?, count(lease.takeovers)?);
            let values = values![id, owner, generation, not_before, takeovers];
            tx.execute(HAND_BACK, values).await?;
            Ok(())
        })
    }

    async fn arm(&self, lease: &Lease, now: Timestamp, term: LeaseTerm) -> Result<Lease, Error> {
        let renewed = lease.renewed(now, term);
        self.renew(COUNT, renewed, Some(lease.armed())).await
    }

    async fn disarm(&self, lease: &Lease, now: Timestamp, term: LeaseTerm) -> Result<Lease, Error> {
        let renewed = lease.renewed(now, term);
        self.renew(COUNT, renewed, Some(lease.takeovers)).await
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

    async fn next_claimable_elsewhere(
        &self,
        crowded: &BTreeSet<String>,
    ) -> Result<Option<Timestamp>, Error> {
        let values = values![to_json(crowded)?];
        let rows = self.database.read(NEXT_ELSEWHERE, values).await?;
        let next_at = rows.first().map(|row| row.get("next_at"));
        Ok(next_at.transpose()?.map(Timestamp::from_millis))
    }

    async fn nudged(&self) {
        self.nudged_about(Topic::Operations).await;
    }
}

impl Sql {
    /// Writes a new term of a lease, unless it was lost, and a count of take-overs for the statement that takes one. Returns
    /// the lease.
    async fn renew(
        &self,
        statement: Statement,
        renewed: Lease,
        takeovers: Option<u64>,
    ) -> Result<Lease, Error> {
        transaction!(self, |tx| async {
            let mut values = values![
                renewed.operation.to_string(),
                renewed.owner.as_str(),
                generation(&renewed)?,
                renewed.expires_at.as_millis(),
            ];
            if let Some(takeovers) = takeovers {
                values.extend(values![count(takeovers)?]);
            }
            match tx.execute(statement, values).await? {
                0 => Err(Error::LeaseLost.into()),
                _ => Ok(()),
            }
        })?;
        Ok(renewed)
    }

    /// Returns the operations in the order in which they are due. Hands those back that cannot be read, such as those of a
    /// later version, for a process of that version.
    async fn readable(
        &self,
        transaction: &mut Transaction,
        rows: &[Row],
        owner: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<Vec<Claimed>, Abort> {
        let mut claimed: Vec<Claimed> = Vec::with_capacity(rows.len());
        for row in rows {
            match read(row, owner, expires_at) {
                Ok(readable) => claimed.push(readable),
                Err(error) => {
                    self.unreadable.note(row, &error);
                    let (id, generation) = (row.get::<&str>("id")?, row.get::<i64>("generation")?);
                    let not_before = now.after(UNREADABLE_PAUSE).as_millis();
                    let takeovers = row.get::<i64>("takeovers")?;
                    let values = values![id, owner, generation, not_before, takeovers];
                    transaction.execute(HAND_BACK, values).await?;
                }
            }
        }
        claimed.sort_unstable_by_key(|claimed| {
            let header = &claimed.operation.header;
            (header.due_at, header.id)
        });
        Ok(claimed)
    }
}

fn read(row: &Row, owner: &str, expires_at: Timestamp) -> Result<Claimed, Error> {
    let operation = operation_row::read(row)?;
    let desired: Option<Vec<u8>> = row.get("desired")?;
    let document: Option<Vec<u8>> = row.get("document")?;
    let look: Option<Vec<u8>> = row.get("look")?;
    let work = operation.work.resource();
    let lineage = work.filter(|work| work.reference.is_some());
    let baseline = match lineage.and_then(ResourceWork::lineage) {
        Some(lineage) => row.open("baseline", &SealedPlace::Baseline(lineage))?,
        None => None,
    };
    Ok(Claimed {
        lease: Lease {
            operation: operation.header.id,
            owner: owner.to_owned(),
            generation: row.count("generation")?,
            expires_at,
            takeovers: row.count("takeovers")?,
        },
        operation,
        has_permit: row.flag("has_permit")?,
        documents: Documents {
            desired: desired.map(Sealed),
            document: document.map(Sealed),
            look: look.map(Sealed),
        },
        baseline: baseline.as_deref().map(from_json).transpose()?,
    })
}
