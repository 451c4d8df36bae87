use ucp_schema::UnknownType;

/// The reason why a step was not finished. Any worker can continue later from the stored state.
#[derive(Debug, thiserror::Error)]
pub enum Abandoned {
    /// The store refused or could not be reached.
    #[error("the store refused a step")]
    Store(#[from] ucp_store::Error),
    /// The schema of the operation's type is not available now.
    #[error("the schema of the type is not available")]
    Schema(#[source] UnknownType),
    /// The documents of the operation are sealed under a key that this process does not have. The operation was handed
    /// back for one that has it.
    #[error("the operation is for a process with another encryption key")]
    Keys(#[source] ucp_seal::Error),
}
