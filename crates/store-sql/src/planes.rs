//! The planes.

use ucp_model::{PlaneId, Timestamp};
use ucp_store::Error;

use crate::database::{Abort, Database, Row, Transaction, statements, values};

statements! {
    INSERT = ["INSERT INTO planes (key, kind, name, created_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (key) DO NOTHING"];
    LIST = ["SELECT kind, name FROM planes ORDER BY key"];
    PING = ["SELECT COUNT(*) AS planes FROM planes"];
}

pub(crate) async fn ensure(
    transaction: &mut Transaction,
    plane: &PlaneId,
    now: Timestamp,
) -> Result<(), Abort> {
    let key = plane.to_string().to_ascii_lowercase();
    let (kind, name) = (plane.kind.as_str(), plane.name.as_str());
    transaction
        .execute(INSERT, values![key, kind, name, now.as_millis()])
        .await?;
    Ok(())
}

pub(crate) async fn list(database: &Database) -> Result<Vec<PlaneId>, Error> {
    let read = |row: &Row| {
        Ok(PlaneId {
            kind: row.get("kind")?,
            name: row.get("name")?,
        })
    };
    let rows = database.read(LIST, values![]).await?;
    rows.iter().map(read).collect()
}

/// Fails unless the schema is there and answers.
pub(crate) async fn ping(database: &Database) -> Result<(), Error> {
    database.read(PING, values![]).await.map(drop)
}
