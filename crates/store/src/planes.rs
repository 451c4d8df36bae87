//! Planes: the roots of resource ids.

use async_trait::async_trait;
use ucp_model::{NewPlane, Plane, PlaneId, PlaneKind, Timestamp};

use crate::{Error, KeyRange, Precondition, Written};

/// Returns the keys of a list of planes.
pub fn plane_keys(kind: Option<PlaneKind>, after: Option<&PlaneId>) -> KeyRange {
    let parent = match kind {
        Some(kind) => format!("/planes/{}", kind.as_str()),
        None => "/planes".to_owned(),
    };
    KeyRange::below(&parent, after.map(PlaneId::key))
}

/// Storage of planes.
#[async_trait]
pub trait Planes: Send + Sync {
    /// Creates the plane, or replaces all but its id. [`Error::PreconditionFailed`] if `precondition` does not hold.
    async fn put_plane(
        &self,
        plane: NewPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<Plane>, Error>;

    /// Returns the plane, if it exists.
    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error>;

    /// Returns up to `limit` planes in the order of their keys, or only those of `kind`, if given. They start after the
    /// key of `after`, which need not exist any more.
    async fn list_planes(
        &self,
        kind: Option<PlaneKind>,
        after: Option<&PlaneId>,
        limit: usize,
    ) -> Result<Vec<Plane>, Error>;

    /// Deletes the plane, but nothing below it. Returns whether it existed. [`Error::PreconditionFailed`] if it exists
    /// and `precondition` does not hold.
    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error>;
}
