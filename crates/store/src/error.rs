use ucp_model::{OperationId, PlanPolicy, PlanRefusal, RefactorStatus, ReferenceId, Scope};

/// Errors of the store, as far as callers tell them apart.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The resource group does not exist.
    #[error("the resource group does not exist")]
    NoSuchGroup,
    /// An operation is deleting the resource group.
    #[error("operation {0} is deleting the resource group")]
    GroupDeleting(OperationId),
    /// The outcome of the alias's create is unknown.
    #[error("the outcome of the create under the alias is unknown")]
    OutcomeUnknown,
    /// The alias has no reference.
    #[error("the alias has no reference")]
    NoSuchReference,
    /// The reference must own its resource, and does not, or it is another one under the alias.
    #[error("the reference does not own its resource any more")]
    NotOwned,
    /// No order of the service instance has made the reference.
    #[error("the reference under this alias was not made by the service instance")]
    NotOfInstance,
    /// The alias already has a reference.
    #[error("the alias already has a reference")]
    AlreadyReferenced,
    /// The alias, its AWS resource or the group has a live operation.
    #[error("operation {0} is under way")]
    Busy(OperationId),
    /// The alias stands for a resource in another scope.
    #[error("the alias stands for a resource in {0}")]
    ReferencedElsewhere(Scope),
    /// Another reference owns the AWS resource.
    #[error("{0} owns the resource")]
    OwnedElsewhere(ReferenceId),
    /// Other references stand for the AWS resource, which would be deleted. Nothing was written.
    #[error("other references stand for the resource")]
    Shared(Vec<ReferenceId>),
    /// The [`Precondition`](crate::Precondition) does not hold. Nothing was written.
    #[error("the precondition failed")]
    PreconditionFailed,
    /// The group would have more than [`MAX_TAGS`](ucp_model::MAX_TAGS) tags or default tags, or a reference that many tags.
    /// Nothing was written.
    #[error("there would be too many tags")]
    TooManyTags,
    /// The service instance would have more than [`BINDINGS_MAX`](crate::BINDINGS_MAX) bindings. Nothing was written.
    #[error("the service instance would have too many bindings")]
    TooManyBindings,
    /// There is no such refactor.
    #[error("there is no such refactor")]
    NoSuchRefactor,
    /// The refactor has a status in which it is not applied, or not undone.
    #[error("the refactor is {0:?}")]
    RefactorStatus(RefactorStatus),
    /// There is no such plan.
    #[error("there is no such plan")]
    NoSuchPlan,
    /// The plan must not be used.
    #[error("the plan must not be used: {0:?}")]
    PlanRefused(PlanRefusal),
    /// The group takes only changes that were planned.
    #[error("the group takes only changes that were planned")]
    PlanRequired,
    /// The group takes only changes whose plan was approved.
    #[error("the group takes only changes whose plan was approved")]
    ApprovalRequired,
    /// A reference of another group stands for the AWS resource, and that group does not take such changes.
    #[error("the policy of another group that refers to the resource does not take the change")]
    PolicyElsewhere(PlanPolicy),
    /// The group would take changes without a plan, or without an approval, that it does not take now. Nothing was written.
    #[error("the group would take more changes without a plan")]
    PolicyLowered,
    /// The lease was taken by another worker, was released, or ended with the operation. Nothing was written.
    #[error("the lease was lost")]
    LeaseLost,
    /// The store cannot be reached or requires a retry. Nothing was written, or the outcome is unknown.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A row is sealed under an encryption key that this process does not have.
    #[error(
        "sealed under the encryption key {sealed_under}, but the configured keys are {configured}"
    )]
    OtherKey {
        /// The id of the key that sealed the row.
        sealed_under: String,
        /// The ids of the configured keys.
        configured: String,
    },
    /// A row has contents that this program cannot have written.
    #[error("stored data is corrupt: {0}")]
    Corrupt(String),
}
