//! Planes: the roots of resource ids.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::{Map, Value};
use ucp_model::{Plane, PlaneId, Timestamp};

use crate::{Error, Precondition};

/// A plane as it is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct PutPlane {
    /// Its id.
    pub id: PlaneId,
    /// Its location.
    pub location: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Its settings.
    pub properties: Map<String, Value>,
}

/// The planes.
#[async_trait]
pub trait Planes: Send + Sync {
    /// Creates the plane, or replaces all but its id; or [`Error::PreconditionFailed`].
    async fn put_plane(
        &self,
        put: PutPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Plane, Error>;

    /// The plane, if there is one.
    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error>;

    /// All planes, in the order of their keys.
    async fn list_planes(&self) -> Result<Vec<Plane>, Error>;

    /// Deletes the plane, or [`Error::PreconditionFailed`]. Whether there was one: where there is none, there is no
    /// precondition either. What lies below it stays.
    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error>;
}
