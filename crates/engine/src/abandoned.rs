use std::sync::Arc;
use std::time::Duration;

use ucp_cpu_pool::Undone;
use ucp_store::LeaseTerm;

/// The reason why a step was not finished. Any worker can continue later from the stored state.
#[derive(Debug, thiserror::Error)]
pub enum Abandoned {
    /// The store refused or could not be reached.
    #[error("the store refused a step")]
    Store(#[from] ucp_store::Error),
    /// The store does not tell the schema of the operation's type.
    #[error("the schema of the type is not available")]
    Schema(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The documents of the operation are sealed under a key that this process does not have. The operation was handed
    /// back for one that has it.
    #[error("the operation is for a process with another encryption key")]
    Keys(#[source] ucp_seal::Error),
    /// It was taken over, and it was the turn of others that were, all the time.
    #[error("other operations that may have ended their workers are stepped")]
    NoTurn,
    /// It was not planned. If its turn did not come, the operation was postponed. If it took too long, the next worker
    /// takes it over, and the third ends it.
    #[error("the operation was not planned")]
    Unplanned(#[from] Undone),
}

/// How long an operation waits that was not planned since all threads were busy.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

impl Abandoned {
    /// Returns how long the operation waits for its next step.
    pub(crate) fn pause(&self, term: LeaseTerm) -> Duration {
        match self {
            Self::Unplanned(Undone::Busy) => BUSY_PAUSE,
            Self::Store(ucp_store::Error::Unavailable(_)) => term.0 / 5,
            Self::Unplanned(Undone::TooLong)
            | Self::Store(_)
            | Self::Schema(_)
            | Self::NoTurn
            | Self::Keys(_) => term.0,
        }
    }

    /// Returns whether what kept the step from ending has nothing to do with its operation. Anything else is counted, as
    /// is a holder that never comes back: a row that cannot be stepped would be tried for ever.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) => is_passing(error),
            Self::Schema(error) => error.downcast_ref().is_none_or(is_passing),
            Self::Unplanned(Undone::Busy) | Self::NoTurn | Self::Keys(_) => true,
            Self::Unplanned(Undone::TooLong) => false,
        }
    }
}

fn is_passing(error: &ucp_store::Error) -> bool {
    use ucp_store::Error;
    match error {
        Error::Unavailable(_) | Error::OtherKey { .. } | Error::LeaseLost => true,
        Error::NoSuchGroup
        | Error::GroupDeleting(_)
        | Error::OutcomeUnknown
        | Error::NoSuchReference
        | Error::AlreadyReferenced
        | Error::Busy(_)
        | Error::ReferencedElsewhere(_)
        | Error::OwnedElsewhere(_)
        | Error::Shared(_)
        | Error::PreconditionFailed
        | Error::PolicyLowered
        | Error::NotOwned
        | Error::NotOfInstance
        | Error::TooManyTags
        | Error::TooManyBindings
        | Error::NoSuchPlan
        | Error::NoSuchRefactor
        | Error::RefactorStatus(_)
        | Error::PlanRefused(_)
        | Error::PlanRequired
        | Error::ApprovalRequired
        | Error::PolicyElsewhere(_)
        | Error::Corrupt(_) => false,
    }
}
