//! The planes.

use async_trait::async_trait;
use ucp_model::{NewPlane, Plane, PlaneId, Timestamp};
use ucp_store::{Error, Planes, Precondition};

use crate::Sql;
use crate::arm_resources::{arm_resources, read};
use crate::database::{transaction, values};

arm_resources! { "planes";
    LIST = ["SELECT id, location, tags, body, created_at, updated_at, revision FROM planes ORDER BY key"];
}

#[async_trait]
impl Planes for Sql {
    async fn put_plane(
        &self,
        plane: NewPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Plane, Error> {
        transaction!(self, |tx| async {
            let row = TABLE.lock(&mut tx, plane.id.key()).await?;
            let current = row.as_ref().map(read).transpose()?;
            let written = precondition.put(current.as_ref(), plane.clone(), now)?;
            TABLE.put(&mut tx, &written, "/planes".to_owned()).await?;
            Ok(written)
        })
    }

    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error> {
        let row = TABLE.get(&self.database, id.key()).await?;
        row.as_ref().map(read).transpose()
    }

    async fn list_planes(&self) -> Result<Vec<Plane>, Error> {
        let rows = self.database.read(LIST, values![]).await?;
        rows.iter().map(read).collect()
    }

    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error> {
        transaction!(self, |tx| TABLE
            .delete::<PlaneId, serde_json::Map<String, serde_json::Value>>(
                &mut tx,
                id,
                precondition
            ))
    }
}
