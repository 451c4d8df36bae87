use ucp_access::Right;
use ucp_model::{ErrorCode, Failure, GroupId, Reference, ReferenceId, ResourceGroup, TypeName};
use ucp_store::ReferenceUpdate;

use crate::ground::refusal::group_not_found;
use crate::listed::{Filling, USUAL, measured};
use crate::{Caller, GroupCases, Listed, Rejection, Room};

/// A group with its references.
#[derive(Debug)]
pub struct GroupView {
    /// The group.
    pub group: ResourceGroup,
    /// A page of its references, in the order of their keys.
    pub references: Listed<Reference>,
}

impl GroupCases {
    /// Returns the group with up to `top` of its references, after `after`.
    pub async fn get_resource_group(
        &self,
        id: &GroupId,
        after: Option<&ReferenceId>,
        top: usize,
        room: &Room,
    ) -> Result<GroupView, Rejection> {
        let group = match self.ground.store.get_resource_group(id).await {
            Err(ucp_store::Error::NoSuchGroup) => return Err(group_not_found(id)),
            other => other?,
        };
        // The group may have been removed in between.
        let references = self.list_references(id, None, after, top, room).await?;
        Ok(GroupView { group, references })
    }

    /// Returns up to `top` references of a group after `after`, or only those of `type_name`, if given.
    pub async fn list_references(
        &self,
        group: &GroupId,
        type_name: Option<&TypeName>,
        after: Option<&ReferenceId>,
        top: usize,
        room: &Room,
    ) -> Result<Listed<Reference>, Rejection> {
        let store = &self.ground.store;
        let mut page = Filling::up_to(top, USUAL, room);
        page.enter().await?;
        loop {
            let after = page.last().map(|last: &Reference| &last.id).or(after);
            let limit = page.left();
            let read = match store.list_references(group, type_name, after, limit).await {
                Err(ucp_store::Error::NoSuchGroup) => return Err(group_not_found(group)),
                other => other?,
            };
            for reference in read.items {
                let reference = self.ground.veiled_reference(reference).await?;
                let shown = &reference.observed;
                let bytes = measured(shown, shown.as_ref());
                if !page.add(reference, bytes) {
                    return Ok(page.listed());
                }
            }
            if !read.is_limited {
                return Ok(page.listed());
            }
        }
    }

    /// Returns a reference.
    pub async fn get_reference(&self, id: &ReferenceId) -> Result<Reference, Rejection> {
        let reference = self.ground.store.get_reference(id).await?;
        let reference = reference.ok_or_else(|| not_referenced(id))?;
        self.ground.veiled_reference(reference).await
    }

    /// Changes the ownership or the tags of a reference.
    pub async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &Caller,
    ) -> Result<Reference, Rejection> {
        let store = &self.ground.store;
        let (name, correlation_id) = (&caller.name, &caller.correlation_id);
        let mut update = update;
        if update.owned.is_some() && !caller.rights.change_everything() {
            update.place = Some(self.get_reference(id).await?.scope);
        }
        loop {
            // Who owns the resource may delete it. The store writes only if it is still where that was judged.
            if let Some(place) = &update.place {
                caller.judge_type(Right::Write, place, &id.type_name, "write")?;
            }
            let now = self.ground.now();
            let updated = store.update_reference(id, update.clone(), name, correlation_id, now);
            match updated.await {
                Ok(reference) => return Ok(reference),
                Err(ucp_store::Error::ReferencedElsewhere(place)) => update.place = Some(place),
                Err(ucp_store::Error::NoSuchReference) => return Err(not_referenced(id)),
                Err(error) => {
                    return Err(self.ground.refusal(error, Some(id)).await.shown_to(caller));
                }
            }
        }
    }
}

pub(crate) fn not_referenced(id: &ReferenceId) -> Rejection {
    let failure = Failure::new(
        ErrorCode::NotFound,
        format!(
            "'{}' does not stand for a resource of type {} in the resource group '{}'.",
            id.alias,
            id.type_name.arm(),
            id.group.name
        ),
    );
    Rejection::Missing(failure.with_target(id.to_string()))
}
