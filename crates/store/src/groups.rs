//! Resource groups: the scopes in which aliases are unique per type.

use async_trait::async_trait;
use ucp_model::{GroupId, NewResourceGroup, Operation, ResourceGroup, Timestamp};

use crate::{Error, NewOperation, Precondition};

/// What deleting a group came to.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupDeletion {
    /// There is no such group.
    Absent,
    /// It tracked nothing and is gone.
    Removed,
    /// The operation that deletes it is recorded.
    Accepted(Box<Operation>),
    /// This operation deletes it already.
    Running(Box<Operation>),
}

/// The resource groups.
#[async_trait]
pub trait Groups: Send + Sync {
    /// Creates the group, or replaces all but its id; or [`Error::PreconditionFailed`].
    /// [`Error::GroupDeleting`] while it is being deleted.
    async fn put_resource_group(
        &self,
        group: NewResourceGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<ResourceGroup, Error>;

    /// The group, or [`Error::NoSuchGroup`].
    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error>;

    /// The groups of a radius plane, in the order of their keys.
    async fn list_resource_groups(&self, plane: &str) -> Result<Vec<ResourceGroup>, Error>;

    /// Deletes the group, or begins to.
    ///
    /// The first of these that holds is the answer:
    ///
    /// - [`GroupDeletion::Absent`] when there is no such group.
    /// - [`Error::PreconditionFailed`] when what is there is not what the precondition asks for.
    /// - [`GroupDeletion::Running`] when it is being deleted already.
    /// - [`Error::Busy`] when an operation on one of its references, or an import into it, is live.
    /// - [`GroupDeletion::Removed`] when it tracks nothing: it is gone.
    /// - [`GroupDeletion::Accepted`]: the operation is recorded, due at once, with the number of owned references as its
    ///   total, and from now on nobody but its children may change the group or its references.
    async fn delete_resource_group(
        &self,
        deletion: NewOperation,
        precondition: &Precondition,
    ) -> Result<GroupDeletion, Error>;
}
