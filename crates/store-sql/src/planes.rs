//! The planes.

use async_trait::async_trait;
use ucp_model::{Plane, PlaneId, Timestamp};
use ucp_store::{Error, Planes, Precondition, PutPlane, rules};

use crate::Sql;
use crate::database::{Abort, Row, Transaction, statements, transaction, values};
use crate::state::{count, from_json, parsed, to_json};

/// All that a [`Plane`] is made of.
macro_rules! columns {
    () => {
        "kind, name, location, tags, properties, created_at, updated_at, revision"
    };
}

statements! {
    /// When two first puts of a plane meet here, the second fails, and then finds the plane of the first.
    INSERT = ["INSERT INTO planes
            (key, kind, name, location, tags, properties, created_at, updated_at, revision)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"];
    UPDATE = ["UPDATE planes SET
            location = $2, tags = $3, properties = $4, updated_at = $5, revision = $6
        WHERE key = $1"];
    GET = ["SELECT ", columns!(), " FROM planes WHERE key = $1"];
    LOCK = ["SELECT ", columns!(), " FROM planes WHERE key = $1"] lock " FOR UPDATE";
    LIST = ["SELECT ", columns!(), " FROM planes ORDER BY key"];
    DELETE = ["DELETE FROM planes WHERE key = $1"];
}

#[async_trait]
impl Planes for Sql {
    async fn put_plane(
        &self,
        put: PutPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Plane, Error> {
        transaction!(self, |tx| async {
            let current = lock(&mut tx, &put.id).await?;
            let plane = rules::put_plane(current.as_ref(), put.clone(), precondition, now)?;
            let (key, location) = (plane.id.key(), plane.location.as_str());
            let (tags, properties) = (to_json(&plane.tags)?, to_json(&plane.properties)?);
            let (updated_at, revision) = (plane.updated_at.as_millis(), count(plane.revision)?);
            if current.is_some() {
                let values = values![key, location, tags, properties, updated_at, revision];
                tx.execute(UPDATE, values).await?;
            } else {
                let values = values![
                    key,
                    plane.id.kind.as_str(),
                    plane.id.name.as_str(),
                    location,
                    tags,
                    properties,
                    plane.created_at.as_millis(),
                    updated_at,
                    revision,
                ];
                tx.execute(INSERT, values).await?;
            }
            Ok(plane)
        })
    }

    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error> {
        let rows = self.database.read(GET, values![id.key()]).await?;
        rows.first().map(read).transpose()
    }

    async fn list_planes(&self) -> Result<Vec<Plane>, Error> {
        let rows = self.database.read(LIST, values![]).await?;
        rows.iter().map(read).collect()
    }

    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error> {
        transaction!(self, |tx| async {
            let Some(current) = lock(&mut tx, id).await? else {
                return Ok(false);
            };
            precondition.judge(Some(current.etag()))?;
            tx.execute(DELETE, values![id.key()]).await?;
            Ok(true)
        })
    }
}

/// The plane, which nobody else changes until the transaction ends.
async fn lock(transaction: &mut Transaction, id: &PlaneId) -> Result<Option<Plane>, Abort> {
    let row = transaction.fetch_optional(LOCK, values![id.key()]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

fn read(row: &Row) -> Result<Plane, Error> {
    Ok(Plane {
        id: PlaneId {
            kind: parsed(row.get("kind")?)?,
            name: row.get("name")?,
        },
        location: row.get("location")?,
        tags: from_json(row.get("tags")?)?,
        properties: from_json(row.get("properties")?)?,
        created_at: Timestamp::from_millis(row.get("created_at")?),
        updated_at: Timestamp::from_millis(row.get("updated_at")?),
        revision: row.count("revision")?,
    })
}
