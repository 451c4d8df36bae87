//! How good the plans of the puts of each type were.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ucp_model::{Operation, TrackRecord, TypeName};
use ucp_store::rules::{predicted, track_record_key};
use ucp_store::{Error, TrackRecords, track_record_keys};

use crate::Sql;
use crate::database::{Abort, Row, Transaction, page, statements, transaction, values};
use crate::json::to_json;

statements! {
    NOTE = ["INSERT INTO predictions (operation, key, type_name, exact) VALUES ($1, $2, $3, $4)"];
    /// The types of a page: those of what is added up, and those of what is not yet, of which each is looked for behind the
    /// last.
    LIST = ["WITH RECURSIVE bounded(key) AS (
            SELECT MIN(key) FROM predictions WHERE key > $1 AND key < $2
            UNION ALL
            SELECT (SELECT MIN(key) FROM predictions WHERE key > bounded.key AND key < $2) FROM bounded
            WHERE bounded.key IS NOT NULL)
        SELECT key FROM (SELECT key FROM bounded WHERE key IS NOT NULL LIMIT $3) AS noted
        UNION SELECT key FROM (SELECT key FROM track_records WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3) AS counted
        ORDER BY key LIMIT $3"];
    /// The keys are a JSON array.
    SEVERAL = ["SELECT MIN(type_name) AS type_name, CAST(SUM(applies) AS BIGINT) AS applies, CAST(SUM(exact) AS BIGINT) AS exact
        FROM (SELECT key, type_name, applies, exact FROM track_records WHERE key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))"
        [" UNION ALL SELECT key, type_name, 1 AS applies, exact FROM predictions WHERE key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))"
        [") AS bounded GROUP BY key ORDER BY key"];
    /// Processes take concurrently: each takes rows that no other has locked.
    TAKE = ["WITH due AS (SELECT operation AS taken FROM predictions ORDER BY operation LIMIT $1"]
        lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM predictions WHERE operation "]
        postgres "= ANY(ARRAY(SELECT taken FROM due))" sqlite "IN (SELECT taken FROM due)"
        [" RETURNING key, type_name, exact"];
    ADD = ["INSERT INTO track_records (key, type_name, applies, exact) VALUES ($1, $2, $3, $4)
        ON CONFLICT (key) DO UPDATE SET
            applies = track_records.applies + excluded.applies, exact = track_records.exact + excluded.exact"];
}

#[async_trait]
impl TrackRecords for Sql {
    async fn list_track_records(
        &self,
        plane: &str,
        after: Option<&TypeName>,
        limit: usize,
    ) -> Result<Vec<TrackRecord>, Error> {
        let keys = page(track_record_keys(plane, after), limit);
        let rows = self.database.read(LIST, keys).await?;
        let keys: Result<Vec<String>, Error> = rows.iter().map(|row| row.get("key")).collect();
        self.several(&keys?).await
    }

    async fn get_track_records(
        &self,
        plane: &str,
        types: &[TypeName],
    ) -> Result<Vec<TrackRecord>, Error> {
        let key = |type_name| track_record_key(plane, type_name);
        let keys: Vec<String> = types.iter().map(key).collect();
        self.several(&keys).await
    }

    async fn count_predictions(&self, limit: usize) -> Result<u64, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        transaction!(self, |tx| async {
            let taken = tx.fetch(TAKE, values![limit]).await?;
            // In the order of their keys: otherwise two processes could wait for each other.
            let mut sums: BTreeMap<String, (String, i64, i64)> = BTreeMap::new();
            for row in &taken {
                let (key, name) = (row.get("key")?, row.get("type_name")?);
                let exact: i64 = row.get("exact")?;
                let (_, applies, all_exact) = sums.entry(key).or_insert((name, 0, 0));
                *applies += 1;
                *all_exact += exact;
            }
            for (key, (name, applies, exact)) in sums {
                tx.execute(ADD, values![key, name, applies, exact]).await?;
            }
            Ok(taken.iter().fold(0, |count, _| count + 1))
        })
    }
}

impl Sql {
    async fn several(&self, keys: &[String]) -> Result<Vec<TrackRecord>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.database.read(SEVERAL, values![to_json(&keys)?]);
        rows.await?.iter().map(read).collect()
    }
}

/// Notes the prediction of an operation that ends, if it has one.
pub(crate) async fn note(
    transaction: &mut Transaction,
    operation: &Operation,
) -> Result<(), Abort> {
    let Some(predicted) = predicted(operation) else {
        return Ok(());
    };
    let values = values![
        operation.header.id.to_string(),
        predicted.key,
        predicted.type_name.as_str(),
        i64::from(predicted.is_exact),
    ];
    transaction.execute(NOTE, values).await?;
    Ok(())
}

fn read(row: &Row) -> Result<TrackRecord, Error> {
    let type_name = TypeName::from_cloudformation(row.get("type_name")?);
    Ok(TrackRecord {
        type_name: type_name.map_err(|error| Error::Corrupt(error.to_string()))?,
        applies: row.count("applies")?,
        exact: row.count("exact")?,
    })
}
