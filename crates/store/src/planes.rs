//! Planes: the roots of resource ids.

use async_trait::async_trait;
use ucp_model::{NewPlane, Plane, PlaneId, Timestamp};

use crate::{Error, Precondition};

/// The planes.
#[async_trait]
pub trait Planes: Send + Sync {
    /// Creates the plane, or replaces all but its id; or [`Error::PreconditionFailed`].
    async fn put_plane(
        &self,
        plane: NewPlane,
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
