use std::collections::BTreeMap;

use serde_json::{Map, json};
use ucp_access::{Right, Scope};
use ucp_model::{
    ErrorCode, Failure, NewPlane, Plane, PlaneId, PlaneKind, ambient_settings, is_ambient,
    without_ambient,
};
use ucp_store::{Precondition, Written};

use crate::listed::{Filling, Named, TAGGED, tagged_bytes};
use crate::permissions::known_assignments::Changing;
use crate::{Caller, Listed, PlaneCases, Rejection};

impl PlaneCases {
    /// Creates the planes that every server has, unless they exist.
    pub async fn ensure_planes(&self) -> Result<(), Rejection> {
        let providers = Map::from_iter([("resourceProviders".to_owned(), json!({}))]);
        for (kind, name, properties) in [
            (PlaneKind::Radius, "local", providers),
            (PlaneKind::Aws, "aws", ambient_settings()),
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

    /// Returns up to `top` planes after `after` that the caller may read, of all kinds or of one.
    pub async fn list_planes(
        &self,
        kind: Option<PlaneKind>,
        after: Option<&PlaneId>,
        top: usize,
        caller: &Caller,
    ) -> Result<Listed<Plane>, Rejection> {
        if !caller.rights.permits(Right::Read, &Scope::everything()) {
            let planes = caller.granted(after.map(PlaneId::key));
            let planes = planes.filter(|id: &PlaneId| kind.is_none_or(|kind| id.kind == kind));
            let named = Named::of(planes, top);
            let mut existing = Vec::new();
            for id in &named.ids {
                existing.extend(self.ground.store.get_plane(id).await?);
            }
            return Ok(named.listed(existing));
        }
        let mut page = Filling::up_to(top, TAGGED, &caller.room);
        page.enter().await?;
        loop {
            let after = page.last().map(|last: &Plane| &last.id).or(after);
            let asked = page.to_read();
            let read = self.ground.store.list_planes(kind, after, asked).await?;
            if page.ends_with(read, asked, tagged_bytes) {
                return Ok(page.listed());
            }
        }
    }

    /// Returns a plane.
    pub async fn get_plane(&self, id: &PlaneId) -> Result<Plane, Rejection> {
        let plane = self.ground.store.get_plane(id).await?;
        plane.ok_or_else(|| {
            let message = format!("The plane '{}' does not exist.", id.name);
            Rejection::Missing(
                Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()),
            )
        })
    }

    /// Notes that roles may change: those of role assignments under a radius plane count while it exists.
    fn changing_roles(&self, id: &PlaneId) -> Option<Changing<'_>> {
        (id.kind == PlaneKind::Radius).then(|| self.permissions.assignments.changing())
    }

    /// Creates the plane, or replaces its location, tags and settings.
    pub async fn put_plane(
        &self,
        put: NewPlane,
        precondition: &Precondition,
    ) -> Result<Written<Plane>, Rejection> {
        let id = put.id.clone();
        self.allowances.admit_plane(&id).await?;
        let store = &self.ground.store;
        let _changing = self.changing_roles(&id);
        let written = store.put_plane(put, precondition, self.ground.now()).await;
        self.signing_changed(&id);
        match written {
            Err(ucp_store::Error::PreconditionFailed) => Err(Rejection::precondition_failed(&id)),
            other => Ok(other?),
        }
    }

    /// Returns an aws plane, if the identity of the process signs for it.
    async fn ambient_plane(&self, name: &str) -> Result<Option<Plane>, Rejection> {
        let id = PlaneId {
            kind: PlaneKind::Aws,
            name: name.to_owned(),
        };
        Ok(self.ground.store.get_plane(&id).await?.filter(is_ambient))
    }

    /// Returns whether the identity of the process signs for an aws plane.
    pub(crate) async fn signs_itself(&self, name: &str) -> Result<bool, Rejection> {
        Ok(self.ambient_plane(name).await?.is_some())
    }

    /// Ends that the identity of the process signs for an aws plane.
    pub(crate) async fn end_ambient(&self, name: &str) -> Result<(), Rejection> {
        loop {
            let Some(plane) = self.ambient_plane(name).await? else {
                return Ok(());
            };
            let unchanged = Precondition::matches(plane.etag());
            let put = NewPlane {
                id: plane.id,
                location: plane.location,
                tags: plane.tags,
                body: without_ambient(plane.body),
            };
            match self.put_plane(put, &unchanged).await {
                Err(Rejection::PreconditionFailed(_)) => {}
                other => {
                    other?;
                    tracing::info!(
                        plane.name = name,
                        "the identity of the process does not sign for the plane any more"
                    );
                    return Ok(());
                }
            }
        }
    }

    /// Whatever is cached of the credentials of an aws plane no longer holds.
    fn signing_changed(&self, id: &PlaneId) {
        if id.kind == PlaneKind::Aws {
            self.ground.accounts.credential_changed(&id.name);
        }
    }

    /// Deletes the plane, but nothing below it: role assignments give nothing until there is a plane of its name again.
    /// Returns whether it existed.
    pub async fn delete_plane(
        &self,
        id: &PlaneId,
        precondition: &Precondition,
    ) -> Result<bool, Rejection> {
        let _changing = self.changing_roles(id);
        let deleted = self.ground.store.delete_plane(id, precondition).await;
        self.signing_changed(id);
        match deleted {
            Err(ucp_store::Error::PreconditionFailed) => Err(Rejection::precondition_failed(id)),
            other => Ok(other?),
        }
    }
}
