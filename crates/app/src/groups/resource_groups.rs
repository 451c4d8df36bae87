use ucp_access::{Right, Scope};
use ucp_model::{GroupId, MAX_TAGS, NewResourceGroup, PlaneId, ResourceGroup};
use ucp_store::{GroupUpdate, Precondition, Written};

use crate::ground::refusal::{group_not_found, policy_lowered};
use crate::listed::{Filling, Named, TAGGED, tagged_bytes};
use crate::{Caller, GroupCases, Listed, Rejection};

impl GroupCases {
    /// Creates the group, or replaces its location and tags.
    pub async fn put_resource_group(
        &self,
        put: NewResourceGroup,
        precondition: Precondition,
        caller: &Caller,
    ) -> Result<Written<ResourceGroup>, Rejection> {
        let id = put.id.clone();
        self.allowances.admit_group(&id).await?;
        let precondition = bounded(precondition, &id, caller);
        let store = &self.ground.store;
        let put = store.put_resource_group(put, &precondition, self.ground.now());
        match put.await {
            Err(ucp_store::Error::PolicyLowered) => Err(policy_lowered(&id, caller)),
            Err(ucp_store::Error::PreconditionFailed) => Err(Rejection::precondition_failed(&id)),
            Err(ucp_store::Error::GroupDeleting(running)) => Err(self.ground.busy(running).await),
            other => Ok(other?),
        }
    }

    /// Changes an existing group.
    pub async fn update_resource_group(
        &self,
        id: &GroupId,
        update: GroupUpdate,
        precondition: Precondition,
        caller: &Caller,
    ) -> Result<Written<ResourceGroup>, Rejection> {
        let precondition = bounded(precondition, id, caller);
        let store = &self.ground.store;
        let updated = store.update_resource_group(id, update, &precondition, self.ground.now());
        match updated.await {
            Err(ucp_store::Error::PolicyLowered) => Err(policy_lowered(id, caller)),
            Err(ucp_store::Error::NoSuchGroup) => Err(group_not_found(id)),
            Err(ucp_store::Error::PreconditionFailed) => Err(Rejection::precondition_failed(id)),
            Err(ucp_store::Error::TooManyTags) => Err(Rejection::bad_request(format!(
                "With these, the group would have more than {MAX_TAGS} tags or default tags, and AWS accepts no more on a resource. Remove some first, by setting them to null."
            ))),
            Err(ucp_store::Error::GroupDeleting(running)) => Err(self.ground.busy(running).await),
            other => Ok(other?),
        }
    }

    /// Returns up to `top` groups of a radius plane, after `after`, that the caller may read.
    pub async fn list_resource_groups(
        &self,
        plane: &PlaneId,
        after: Option<&GroupId>,
        top: usize,
        caller: &Caller,
    ) -> Result<Listed<ResourceGroup>, Rejection> {
        let store = &self.ground.store;
        if !caller.rights.permits(Right::Read, &Scope::plane(plane)) {
            let groups = caller.granted(after.map(GroupId::key));
            let groups = groups.filter(|id: &GroupId| id.plane_id().key() == plane.key());
            let named = Named::of(groups, top);
            let mut existing = Vec::new();
            for id in &named.ids {
                match store.get_resource_group(id).await {
                    Err(ucp_store::Error::NoSuchGroup) => {}
                    other => existing.push(other?),
                }
            }
            return Ok(named.listed(existing));
        }
        let mut page = Filling::up_to(top, TAGGED, &caller.room);
        page.enter().await?;
        loop {
            let after = page.last().map(|last: &ResourceGroup| &last.id).or(after);
            let asked = page.to_read();
            let read = store.list_resource_groups(&plane.name, after, asked);
            if page.ends_with(read.await?, asked, tagged_bytes) {
                return Ok(page.listed());
            }
        }
    }
}

/// Whoever may not approve plans may not let changes by without an approval either.
fn bounded(precondition: Precondition, group: &GroupId, caller: &Caller) -> Precondition {
    Precondition {
        keeps_plan_policy: !caller.may_lower_policy(group),
        ..precondition
    }
}
