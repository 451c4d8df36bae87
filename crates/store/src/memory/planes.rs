use async_trait::async_trait;
use ucp_model::{NewPlane, Plane, PlaneId, PlaneKind, Timestamp};

use super::Memory;
use super::tables::page;
use crate::{Error, Planes, Precondition, Written, plane_keys};

#[async_trait]
impl Planes for Memory {
    async fn put_plane(
        &self,
        plane: NewPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<Plane>, Error> {
        let mut tables = self.tables();
        let current = tables.planes.get(&plane.id.key());
        let written = precondition.put(current, plane, now)?;
        let before = tables.planes.insert(written.id.key(), written.clone());
        Ok(Written {
            before,
            after: written,
        })
    }

    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error> {
        Ok(self.tables().planes.get(&id.key()).cloned())
    }

    async fn list_planes(
        &self,
        kind: Option<PlaneKind>,
        after: Option<&PlaneId>,
        limit: usize,
    ) -> Result<Vec<Plane>, Error> {
        let keys = plane_keys(kind, after);
        Ok(page(&self.tables().planes, keys, limit))
    }

    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error> {
        let mut tables = self.tables();
        let Some(current) = tables.planes.get(&id.key()) else {
            return Ok(false);
        };
        precondition.judge(Some(current.etag()))?;
        tables.planes.remove(&id.key());
        Ok(true)
    }
}
