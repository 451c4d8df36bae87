use std::collections::BTreeMap;

use serde_json::{Map, json};
use ucp_model::{ErrorCode, Failure, NewPlane, Plane, PlaneId, PlaneKind};
use ucp_store::Precondition;

use crate::{App, Listed, Rejection};

impl App {
    /// Creates the planes that every server has, unless they exist.
    pub async fn ensure_planes(&self) -> Result<(), Rejection> {
        let none = Map::new();
        let providers = Map::from_iter([("resourceProviders".to_owned(), json!({}))]);
        for (kind, name, properties) in [
            (PlaneKind::Radius, "local", providers),
            (PlaneKind::Aws, "aws", none),
        ] {
            let plane = NewPlane {
                id: PlaneId {
                    kind,
                    name: name.to_owned(),
                },
                location: "global".to_owned(),
                tags: BTreeMap::new(),
                body: properties,
            };
            match self.put_plane(plane, &Precondition::absent()).await {
                Ok(_) | Err(Rejection::PreconditionFailed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns up to `top` planes after `after`, of all kinds or of one.
    pub async fn list_planes(
        &self,
        kind: Option<PlaneKind>,
        after: Option<&PlaneId>,
        top: usize,
    ) -> Result<Listed<Plane>, Rejection> {
        let planes = self.parts.store.list_planes(kind, after, top + 1).await?;
        Ok(Listed::of(planes, top))
    }

    /// Returns a plane.
    pub async fn get_plane(&self, id: &PlaneId) -> Result<Plane, Rejection> {
        let plane = self.parts.store.get_plane(id).await?;
        plane.ok_or_else(|| {
            let message = format!("The plane '{}' does not exist.", id.name);
            Rejection::Missing(
                Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()),
            )
        })
    }

    /// Creates the plane, or replaces its location, tags and settings.
    pub async fn put_plane(
        &self,
        put: NewPlane,
        precondition: &Precondition,
    ) -> Result<Plane, Rejection> {
        let id = put.id.clone();
        let store = &self.parts.store;
        match store.put_plane(put, precondition, self.now()).await {
            Err(ucp_store::Error::PreconditionFailed) => Err(Rejection::precondition_failed(&id)),
            other => Ok(other?),
        }
    }

    /// Deletes the plane, but nothing below it. Returns whether it existed.
    pub async fn delete_plane(
        &self,
        id: &PlaneId,
        precondition: &Precondition,
    ) -> Result<bool, Rejection> {
        match self.parts.store.delete_plane(id, precondition).await {
            Err(ucp_store::Error::PreconditionFailed) => Err(Rejection::precondition_failed(id)),
            other => Ok(other?),
        }
    }
}
