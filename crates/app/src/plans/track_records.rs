//! How good the plans of the puts of a type were.

use std::collections::{BTreeMap, BTreeSet};

use ucp_model::{ErrorCode, Failure, PlaneId, TrackRecord, TypeName};

use crate::changes::{ChangeKind, ResourceChange};
use crate::{Listed, PlanCases, Rejection};

impl PlanCases {
    /// Returns up to `top` track records of an aws plane after that of the type `after`, in the order of their types.
    pub async fn list_track_records(
        &self,
        plane: &PlaneId,
        after: Option<&TypeName>,
        top: usize,
    ) -> Result<Listed<TrackRecord>, Rejection> {
        let store = &self.ground.store;
        let listed = store
            .list_track_records(&plane.name, after, top + 1)
            .await?;
        Ok(Listed::of(listed, top))
    }

    /// Returns the track record of a type on an aws plane.
    pub async fn get_track_record(
        &self,
        plane: &PlaneId,
        type_name: &TypeName,
    ) -> Result<TrackRecord, Rejection> {
        let types = std::slice::from_ref(type_name);
        let found = self
            .ground
            .store
            .get_track_records(&plane.name, types)
            .await?;
        found.into_iter().next().ok_or_else(|| {
            let message = format!(
                "No plan of a put of {type_name} on the plane '{}' has been compared with what AWS showed afterwards.",
                plane.name
            );
            Rejection::Missing(Failure::new(ErrorCode::NotFound, message))
        })
    }

    /// Adds to each create and update of a what-if how good such plans were.
    pub(crate) async fn tell_track_records(
        &self,
        changes: &mut [ResourceChange],
    ) -> Result<(), Rejection> {
        let is_planned = |change: &ResourceChange| {
            matches!(change.kind, ChangeKind::Create | ChangeKind::Modify)
        };
        let mut asked: BTreeMap<String, BTreeSet<TypeName>> = BTreeMap::new();
        for change in changes.iter().filter(|change| is_planned(change)) {
            let types = asked.entry(change.scope.plane.clone()).or_default();
            types.insert(change.type_name.clone());
        }
        for (plane, types) in asked {
            let types: Vec<TypeName> = types.into_iter().collect();
            let found = self.ground.store.get_track_records(&plane, &types).await?;
            for change in changes.iter_mut().filter(|change| is_planned(change)) {
                let mut found = found.iter();
                let is_meant = |record: &&TrackRecord| record.type_name == change.type_name;
                if change.scope.plane == plane {
                    change.track_record = found.find(is_meant).cloned();
                }
            }
        }
        Ok(())
    }
}
