//! The resource groups.

use std::collections::BTreeMap;

use ucp_model::{GroupId, ResourceGroup, Timestamp};
use ucp_store::Error;

use crate::database::{Abort, Database, Row, Transaction, statements, values};
use crate::state::{from_json, to_json};

statements! {
    PUT = ["INSERT INTO resource_groups
            (key, plane_key, plane, name, location, tags, created_at, updated_at, revision)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 1)
        ON CONFLICT (key) DO UPDATE SET
            location = excluded.location,
            tags = excluded.tags,
            updated_at = excluded.updated_at,
            revision = resource_groups.revision + 1
        RETURNING plane, name, location, tags, created_at, updated_at, revision"];
    GET = ["SELECT plane, name, location, tags, created_at, updated_at, revision
        FROM resource_groups WHERE key = $1"];
    LIST = ["SELECT plane, name, location, tags, created_at, updated_at, revision
        FROM resource_groups WHERE plane_key = $1 ORDER BY key"];
    /// A foreign key would not stop the group from being changed while an operation is accepted in it.
    HOLD = ["SELECT plane, name FROM resource_groups WHERE key = $1"] lock " FOR SHARE";
}

pub(crate) async fn put(
    transaction: &mut Transaction,
    id: &GroupId,
    location: &str,
    tags: &BTreeMap<String, String>,
    now: Timestamp,
) -> Result<ResourceGroup, Abort> {
    let values = values![
        id.key(),
        id.plane.to_ascii_lowercase(),
        id.plane.as_str(),
        id.name.as_str(),
        location,
        to_json(tags)?,
        now.as_millis(),
    ];
    let row = transaction.fetch_optional(PUT, values).await?;
    let row = row.ok_or(Error::NoSuchGroup)?;
    Ok(read(&row)?)
}

pub(crate) async fn get(database: &Database, id: &GroupId) -> Result<ResourceGroup, Error> {
    let rows = database.read(GET, values![id.key()]).await?;
    read(rows.first().ok_or(Error::NoSuchGroup)?)
}

pub(crate) async fn list(database: &Database, plane: &str) -> Result<Vec<ResourceGroup>, Error> {
    let plane_key = plane.to_ascii_lowercase();
    let rows = database.read(LIST, values![plane_key]).await?;
    rows.iter().map(read).collect()
}

/// The recorded id of the group, which stays as it is until the transaction ends.
pub(crate) async fn hold(transaction: &mut Transaction, id: &GroupId) -> Result<GroupId, Abort> {
    let row = transaction.fetch_optional(HOLD, values![id.key()]).await?;
    Ok(read_id(&row.ok_or(Error::NoSuchGroup)?)?)
}

fn read_id(row: &Row) -> Result<GroupId, Error> {
    Ok(GroupId {
        plane: row.get("plane")?,
        name: row.get("name")?,
    })
}

fn read(row: &Row) -> Result<ResourceGroup, Error> {
    Ok(ResourceGroup {
        id: read_id(row)?,
        location: row.get("location")?,
        tags: from_json(row.get("tags")?)?,
        created_at: Timestamp::from_millis(row.get("created_at")?),
        updated_at: Timestamp::from_millis(row.get("updated_at")?),
        revision: row.count("revision")?,
    })
}
