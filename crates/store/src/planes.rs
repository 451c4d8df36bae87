//! Planes: the roots of resource ids.

use async_trait::async_trait;
use ucp_model::{NewPlane, Plane, PlaneId, Timestamp};

use crate::{Error, Precondition};

/// Storage of planes.
#[async_trait]
pub trait Planes: Send + Sync {
    /// Creates the plane, or replaces all but its id. [`Error::PreconditionFailed`] if `precondition` does not hold.
    async fn put_plane(
        &self,
        plane: NewPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Plane, Error>;

    /// Returns the plane, if it exists.
    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error>;

    /// Returns all planes in the order of their keys.
    async fn list_planes(&self) -> Result<Vec<Plane>, Error>;

    /// Deletes the plane, but nothing below it. Returns whether it existed. [`Error::PreconditionFailed`] if it exists
    /// and `precondition` does not hold.
    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error>;
}
