use std::collections::BTreeMap;

use ucp_model::{GroupId, PlaneId, ResourceGroup};

use crate::{App, Rejection};

impl App {
    /// Creates the group, or replaces its location and tags.
    pub async fn put_resource_group(
        &self,
        id: &GroupId,
        location: &str,
        tags: &BTreeMap<String, String>,
    ) -> Result<ResourceGroup, Rejection> {
        Ok(self
            .parts
            .store
            .put_resource_group(id, location, tags, self.now())
            .await?)
    }

    /// The groups of a radius plane.
    pub async fn list_resource_groups(
        &self,
        plane: &PlaneId,
    ) -> Result<Vec<ResourceGroup>, Rejection> {
        Ok(self.parts.store.list_resource_groups(&plane.name).await?)
    }

    /// All planes.
    pub async fn list_planes(&self) -> Result<Vec<PlaneId>, Rejection> {
        Ok(self.parts.store.list_planes().await?)
    }
}
