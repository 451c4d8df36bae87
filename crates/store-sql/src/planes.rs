//! The planes.

use async_trait::async_trait;
use ucp_model::{NewPlane, Plane, PlaneId, PlaneKind, Timestamp};
use ucp_store::{Error, Planes, Precondition, Written, plane_keys};

use crate::Sql;
use crate::arm_resources::{arm_resources, read};
use crate::database::{page, transaction};

arm_resources! { "planes";
    LIST = ["SELECT id, location, tags, body, created_at, updated_at, revision FROM planes
        WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3"];
}

#[async_trait]
impl Planes for Sql {
    async fn put_plane(
        &self,
        plane: NewPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<Plane>, Error> {
        transaction!(self, |tx| async {
            let row = TABLE.lock(&mut tx, plane.id.key()).await?;
            let current = row.as_ref().map(read).transpose()?;
            let written = precondition.put(current.as_ref(), plane.clone(), now)?;
            TABLE.put(&mut tx, &written, "/planes".to_owned()).await?;
            Ok(Written {
                before: current,
                after: written,
            })
        })
    }

    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error> {
        let row = TABLE.get(&self.database, id.key()).await?;
        row.as_ref().map(read).transpose()
    }

    async fn list_planes(
        &self,
        kind: Option<PlaneKind>,
        after: Option<&PlaneId>,
        limit: usize,
    ) -> Result<Vec<Plane>, Error> {
        let values = page(plane_keys(kind, after), limit);
        let rows = self.database.read(LIST, values).await?;
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
