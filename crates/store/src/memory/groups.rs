use async_trait::async_trait;
use ucp_model::{GroupId, NewResourceGroup, ResourceGroup, Timestamp};

use super::Memory;
use crate::{Error, GroupDeletion, Groups, NewGroupOperation, Precondition, rules};

#[async_trait]
impl Groups for Memory {
    async fn put_resource_group(
        &self,
        group: NewResourceGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<ResourceGroup, Error> {
        let mut tables = self.tables();
        let current = tables.groups.get(&group.id.key());
        let written = rules::put_group(current, group, precondition, now)?;
        tables.groups.insert(written.id.key(), written.clone());
        Ok(written)
    }

    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error> {
        let tables = self.tables();
        tables
            .groups
            .get(&id.key())
            .cloned()
            .ok_or(Error::NoSuchGroup)
    }

    async fn list_resource_groups(&self, plane: &str) -> Result<Vec<ResourceGroup>, Error> {
        let tables = self.tables();
        let groups = tables.groups.values();
        Ok(groups
            .filter(|group| group.id.plane.eq_ignore_ascii_case(plane))
            .cloned()
            .collect())
    }

    async fn delete_resource_group(
        &self,
        new: NewGroupOperation,
        precondition: &Precondition,
    ) -> Result<GroupDeletion, Error> {
        self.tables().delete_group(new, precondition)
    }
}
