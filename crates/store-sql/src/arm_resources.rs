//! Storage of ARM resources: common fields in columns of the same names, the fields of each type as JSON in `body`.

use serde::Serialize;
use serde::de::DeserializeOwned;
use ucp_model::ids::ArmId;
use ucp_model::{ArmResource, Timestamp};
use ucp_store::{Error, Precondition};

use crate::database::{Abort, Database, Row, Statement, Transaction, Value, values};
use crate::json::{count, from_json, parsed, to_json};

/// The statements on a table of ARM resources. Defined by [`arm_resources!`].
pub(crate) struct Table {
    pub(crate) insert: Statement,
    pub(crate) update: Statement,
    pub(crate) get: Statement,
    pub(crate) lock: Statement,
    pub(crate) delete: Statement,
}

/// Defines the statements on a table of ARM resources, and `TABLE` with those that [`Table`] needs. `$own` are
/// additional columns.
macro_rules! arm_resources {
    ($table:literal $(, $own:literal)?; $($more:tt)*) => {
        $crate::database::statements! {
            /// Of two concurrent first puts of a resource the second fails. Its retry finds the resource to replace.
            INSERT = ["INSERT INTO ", $table, " (key, id, location, tags, body, updated_at, revision, parent_key, created_at)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"];
            UPDATE = ["UPDATE ", $table, " SET
                    id = $2, location = $3, tags = $4, body = $5, updated_at = $6, revision = $7
                WHERE key = $1"];
            GET = ["SELECT id, location, tags, body, created_at, updated_at, revision", $(", ", $own,)? " FROM ", $table,
                " WHERE key = $1"];
            LOCK = ["SELECT id, location, tags, body, created_at, updated_at, revision", $(", ", $own,)? " FROM ", $table,
                " WHERE key = $1"] lock " FOR UPDATE";
            DELETE = ["DELETE FROM ", $table, " WHERE key = $1"];
            $($more)*
        }

        const TABLE: $crate::arm_resources::Table = $crate::arm_resources::Table {
            insert: INSERT,
            update: UPDATE,
            get: GET,
            lock: LOCK,
            delete: DELETE,
        };
    };
}
pub(crate) use arm_resources;

impl Table {
    /// Returns the row of a resource.
    pub(crate) async fn get(&self, database: &Database, key: String) -> Result<Option<Row>, Error> {
        let rows = database.read(self.get, values![key]).await?;
        Ok(rows.into_iter().next())
    }

    /// Returns the row of a resource and locks it until the transaction ends.
    pub(crate) async fn lock(
        &self,
        transaction: &mut Transaction,
        key: String,
    ) -> Result<Option<Row>, Abort> {
        transaction.fetch_optional(self.lock, values![key]).await
    }

    /// Inserts or replaces `resource`, whose parent is `parent`.
    pub(crate) async fn put<Id: ArmId, Body: Serialize>(
        &self,
        transaction: &mut Transaction,
        resource: &ArmResource<Id, Body>,
        parent: String,
    ) -> Result<(), Abort> {
        let mut values: Vec<Value> = values![
            resource.id.key(),
            resource.id.to_string(),
            resource.location.as_str(),
            to_json(&resource.tags)?,
            to_json(&resource.body)?,
            resource.updated_at.as_millis(),
            count(resource.revision)?,
        ];
        let statement = if resource.revision == 1 {
            values.extend(values![parent, resource.created_at.as_millis()]);
            self.insert
        } else {
            self.update
        };
        transaction.execute(statement, values).await?;
        Ok(())
    }

    /// Deletes a resource if `precondition` holds. Returns whether it existed.
    pub(crate) async fn delete<Id: ArmId, Body: DeserializeOwned>(
        &self,
        transaction: &mut Transaction,
        id: &Id,
        precondition: &Precondition,
    ) -> Result<bool, Abort> {
        let Some(row) = self.lock(transaction, id.key()).await? else {
            return Ok(false);
        };
        precondition.judge(Some(read::<Id, Body>(&row)?.etag()))?;
        transaction.execute(self.delete, values![id.key()]).await?;
        Ok(true)
    }
}

/// Reads a resource from a row.
pub(crate) fn read<Id: ArmId, Body: DeserializeOwned>(
    row: &Row,
) -> Result<ArmResource<Id, Body>, Error> {
    read_after(row, "")
}

/// The same where the names of the columns begin with `prefix`.
pub(crate) fn read_after<Id: ArmId, Body: DeserializeOwned>(
    row: &Row,
    prefix: &str,
) -> Result<ArmResource<Id, Body>, Error> {
    let column = |name: &str| format!("{prefix}{name}");
    Ok(ArmResource {
        id: parsed(row.get(&column("id"))?)?,
        location: row.get(&column("location"))?,
        tags: from_json(row.get(&column("tags"))?)?,
        body: from_json(row.get(&column("body"))?)?,
        created_at: Timestamp::from_millis(row.get(&column("created_at"))?),
        updated_at: Timestamp::from_millis(row.get(&column("updated_at"))?),
        revision: row.count(&column("revision"))?,
    })
}
