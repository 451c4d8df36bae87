//! The watches over requests in flight, and the operations that wait for these.

use async_trait::async_trait;
use ucp_model::operation::Work;
use ucp_model::{OperationId, RequestToken, Timestamp};
use ucp_store::{Error, LeaseTerm, WaitingOperation, WaitingScope, Watch, Watches};

use crate::Sql;
use crate::database::{Row, statements, transaction, values};
use crate::json::{parsed, to_json};

statements! {
    /// Each scope is found from the one before it, and counted as far as `$1`, so few rows are read. A zero is what follows a
    /// slash.
    SCOPES = ["WITH RECURSIVE scopes(scope) AS (
            SELECT (SELECT scope_key FROM operations WHERE request_key > '' ORDER BY request_key LIMIT 1)
            UNION
            SELECT (SELECT scope_key FROM operations WHERE request_key > scope || '0' ORDER BY request_key LIMIT 1)
            FROM scopes WHERE scope IS NOT NULL
        )
        SELECT scope, (SELECT owner FROM watches WHERE scope_key = scope) AS owner,
            (SELECT expires_at FROM watches WHERE scope_key = scope) AS expires_at,
            (SELECT works_until FROM watches WHERE scope_key = scope) AS works_until,
            CAST(CASE WHEN (
                SELECT request_key FROM operations WHERE request_key > scope || '/'
                ORDER BY request_key LIMIT 1 OFFSET $1
            ) < scope || '0' THEN 1 ELSE 0 END AS BIGINT) AS crowded
        FROM (SELECT scope FROM scopes WHERE scope IS NOT NULL UNION SELECT scope_key FROM watches) AS bounded"];
    KEEP = ["INSERT INTO watches (scope_key, owner, expires_at, works_until) VALUES ($1, $2, $3, $4)
        ON CONFLICT (scope_key) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at,
            works_until = CASE WHEN excluded.works_until > watches.works_until THEN excluded.works_until
                ELSE watches.works_until END
        WHERE watches.owner = excluded.owner OR watches.expires_at <= $5"];
    END = ["DELETE FROM watches WHERE scope_key = $1 AND owner = $2"];
    /// Those of later scopes may follow, and those that have ended under servers of earlier versions, which leave the request.
    /// With more conditions, some planners would read and sort all that match.
    OPERATIONS = ["SELECT id, request_key, due_at, ended_at FROM operations
        WHERE request_key > $1 ORDER BY request_key LIMIT $2"];
    /// The ids are a JSON array. In terms that no index of live operations matches, so that the ids lead to the rows. What a
    /// worker writes is left alone: neither waits for the other. Nothing is put off beyond the time at which it asks itself.
    RESCHEDULE = ["WITH waiting AS (
            SELECT id AS waiting_id FROM operations WHERE id "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" ["
                AND COALESCE(request_key, '') <> '' AND COALESCE(ended_at, 0) = 0 AND due_at > $2
                AND (due_at > $3 OR (cancel_requested_at IS NULL AND asks_by > due_at))"] lock " FOR UPDATE SKIP LOCKED" [")
        UPDATE operations SET due_at = CASE WHEN due_at < $3 AND asks_by < $3 THEN asks_by ELSE $3 END WHERE id "]
        postgres "= ANY(ARRAY(SELECT waiting_id FROM waiting))" sqlite "IN (SELECT waiting_id FROM waiting)";
}

#[async_trait]
impl Watches for Sql {
    async fn list_waiting_scopes(&self, least: usize) -> Result<Vec<WaitingScope>, Error> {
        let others = i64::try_from(least.saturating_sub(1)).unwrap_or(i64::MAX);
        let rows = self.database.read(SCOPES, values![others]).await?;
        let scopes: Result<Vec<WaitingScope>, Error> = rows.iter().map(scope).collect();
        let mut scopes = scopes?;
        scopes.retain(WaitingScope::concerns);
        scopes.sort_unstable_by(|a, b| a.scope.cmp(&b.scope));
        Ok(scopes)
    }

    async fn keep_watch(
        &self,
        scope: &str,
        owner: &str,
        works_until: Option<Timestamp>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<bool, Error> {
        let expires_at = now.after(term.0).as_millis();
        let works_until = works_until.unwrap_or_default().as_millis();
        transaction!(self, |tx| async {
            let values = values![scope, owner, expires_at, works_until, now.as_millis()];
            Ok(tx.execute(KEEP, values).await? > 0)
        })
    }

    async fn end_watch(&self, scope: &str, owner: &str) -> Result<(), Error> {
        transaction!(self, |tx| async {
            tx.execute(END, values![scope, owner]).await?;
            Ok(())
        })
    }

    async fn list_waiting_operations(
        &self,
        scope: &str,
        after: Option<&RequestToken>,
        limit: usize,
    ) -> Result<Vec<WaitingOperation>, Error> {
        let before = format!("{scope}/");
        let start = after.map_or_else(|| before.clone(), |after| key(scope, after));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self
            .database
            .read(OPERATIONS, values![start, limit])
            .await?;
        let found = rows.iter().map(|row| operation(row, &before));
        found.filter_map(Result::transpose).collect()
    }

    async fn reschedule_waiting(
        &self,
        ids: &[OperationId],
        now: Timestamp,
        due_at: Timestamp,
    ) -> Result<u64, Error> {
        let ids: Vec<String> = ids.iter().map(OperationId::to_string).collect();
        let ids = to_json(&ids)?;
        transaction!(self, |tx| async {
            let values = values![ids.as_str(), now.as_millis(), due_at.as_millis()];
            let changed = tx.execute(RESCHEDULE, values).await?;
            if changed > 0 && due_at <= now {
                tx.wake();
            }
            Ok(changed)
        })
    }
}

fn scope(row: &Row) -> Result<WaitingScope, Error> {
    let owner: Option<String> = row.get("owner")?;
    let time = |column| Ok::<_, Error>(row.get::<Option<i64>>(column)?.unwrap_or_default());
    Ok(WaitingScope {
        scope: row.get("scope")?,
        is_crowded: row.flag("crowded")?,
        watch: match owner {
            None => None,
            Some(owner) => Some(Watch {
                owner,
                expires_at: Timestamp::from_millis(time("expires_at")?),
                works_until: Timestamp::from_millis(time("works_until")?),
            }),
        },
    })
}

/// Returns the operation of a row, if it waits and the key of its request begins with `before`.
fn operation(row: &Row, before: &str) -> Result<Option<WaitingOperation>, Error> {
    let (key, ended_at) = (
        row.get::<&str>("request_key")?,
        row.get::<Option<i64>>("ended_at")?,
    );
    let Some(request) = key.strip_prefix(before).filter(|_| ended_at.is_none()) else {
        return Ok(None);
    };
    Ok(Some(WaitingOperation {
        id: parsed(row.get("id")?)?,
        request: RequestToken::new(request),
        due_at: Timestamp::from_millis(row.get("due_at")?),
    }))
}

/// Returns the key of the request that an operation waits for.
pub(crate) fn request_key(work: &Work) -> Option<String> {
    let request = work.request_in_flight()?;
    Some(key(&work.scope_key(), request))
}

fn key(scope: &str, request: &RequestToken) -> String {
    format!("{scope}/{request}")
}
