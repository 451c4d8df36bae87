use ucp_model::{OperationId, ReferenceId, Scope};

/// What a caller would do differently when the store says no.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The resource group does not exist.
    #[error("the resource group does not exist")]
    NoSuchGroup,
    /// This operation is deleting the resource group.
    #[error("operation {0} is deleting the resource group")]
    GroupDeleting(OperationId),
    /// The alias maps nothing.
    #[error("the alias maps nothing")]
    NoSuchReference,
    /// The alias maps a resource already.
    #[error("the alias maps a resource already")]
    AlreadyReferenced,
    /// The alias, the AWS resource it leads to, or the group has a live operation.
    #[error("operation {0} is under way")]
    Busy(OperationId),
    /// The alias maps a resource in another scope.
    #[error("the alias maps a resource in {0}")]
    ReferencedElsewhere(Scope),
    /// Another reference owns the AWS resource.
    #[error("{0} owns the resource")]
    OwnedElsewhere(ReferenceId),
    /// What is there is not what the [`Precondition`](crate::Precondition) asks for; nothing was written.
    #[error("the precondition failed")]
    PreconditionFailed,
    /// The lease has passed to another worker, was handed back, or ended with the operation; nothing was written.
    #[error("the lease was lost")]
    LeaseLost,
    /// The store cannot be reached or asks to try again; nothing was written, or the caller cannot know.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A row cannot be what this program wrote.
    #[error("stored data is corrupt: {0}")]
    Corrupt(String),
}
