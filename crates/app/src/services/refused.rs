use ucp_model::{ErrorCode, Failure};

use ucp_store::BINDINGS_MAX;

use crate::Rejection;

/// The reason for refusing an order, in the terms of the Open Service Broker API.
#[derive(Debug, thiserror::Error)]
pub enum ServiceRejection {
    /// The request is invalid in any state: correct it.
    #[error("{0}")]
    Invalid(String),
    /// There is no such instance or binding.
    #[error("{0}")]
    Missing(String),
    /// What is to be deleted is not there.
    #[error("it is not there")]
    Gone,
    /// It takes a while: the platform has to poll.
    #[error("the change takes a while: send accepts_incomplete=true, and poll last_operation")]
    AsyncRequired,
    /// A binding of the offering needs an application.
    #[error("bindings of this service are for applications: name one in bind_resource.app_guid")]
    RequiresApp,
    /// The version of the plan is another one.
    #[error("{0}")]
    MaintenanceInfoConflict(String),
    /// The plan cannot be changed so.
    #[error("{0}")]
    PlanChangeNotSupported(String),
    /// A parameter cannot be changed.
    #[error("{0}")]
    ParameterNotUpdatable(String),
    /// The id is taken.
    #[error("{0}")]
    Conflict(String),
    /// Bindings would not see the change.
    #[error("{0}")]
    BindingsExist(String),
    /// Another change is under way: wait for it.
    #[error("{0}")]
    Concurrency(String),
    /// The change has failed while the platform waited.
    #[error("{}", .failure.message)]
    Failed {
        /// Why.
        failure: Box<Failure>,
        /// Whether the instance can be used, if it is the update or the deletion of one.
        instance_usable: Option<bool>,
        /// Whether it is the update of an instance.
        is_update: bool,
    },
    /// The change was not done while the platform could wait, and is cancelled.
    #[error(
        "the change was not done in {0} seconds, and is cancelled. Send accepts_incomplete=true, and poll last_operation"
    )]
    Timeout(u64),
    /// The change that another request has ordered was not done while the platform could wait.
    #[error(
        "the change was not done in {0} seconds, and goes on. Send accepts_incomplete=true, and poll last_operation"
    )]
    StillRuns(u64),
    /// It is refused as ARM requests are.
    #[error("{0}")]
    Other(Box<Rejection>),
    /// What it was judged with has changed meanwhile.
    #[error("the instance changes too fast. Try again")]
    Changed,
}

impl From<Rejection> for ServiceRejection {
    fn from(rejection: Rejection) -> Self {
        Self::Other(Box::new(rejection))
    }
}

impl ServiceRejection {
    /// What the catalog and the parameters come to is refused for what the details say.
    pub(super) fn of_set(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Invalid(failure) | Rejection::TooLarge(failure) => {
                Self::Invalid(with_details(&failure))
            }
            Rejection::Busy(operation) => Self::busy(operation.header.id),
            other => other.into(),
        }
    }

    pub(super) fn busy(operation: impl std::fmt::Display) -> Self {
        Self::Concurrency(format!(
            "Another change is under way: operation {operation}. Try again when it has ended."
        ))
    }

    /// Refuses because of what the store says of an order.
    pub(super) fn of_store(error: ucp_store::Error) -> Self {
        match error {
            ucp_store::Error::PreconditionFailed => Self::Changed,
            ucp_store::Error::Busy(operation) | ucp_store::Error::GroupDeleting(operation) => {
                Self::busy(operation)
            }
            ucp_store::Error::TooManyBindings => {
                let message = format!(
                    "The instance has {BINDINGS_MAX} bindings, and no more may be. Delete one."
                );
                let failure = Failure::new(ErrorCode::QuotaExceeded, message);
                Rejection::QuotaExceeded(failure).into()
            }
            ucp_store::Error::TooManyTags => Self::Conflict(
                "A reference of the instance has too many tags for those of the broker. Remove some."
                    .to_owned(),
            ),
            other => Rejection::from(other).into(),
        }
    }
}

/// Returns the first cause of the failure of an apply.
pub(super) fn first_cause(failure: &Failure) -> Failure {
    match failure.details.first() {
        Some(first) if failure.code == ErrorCode::ApplyFailed.as_str() => {
            let cause = Failure::new(first.code.as_str(), first.message.as_str());
            match &first.target {
                Some(target) => cause.with_target(target.clone()),
                None => cause,
            }
        }
        _ => failure.clone(),
    }
}

/// Returns what a failure says, with all of its causes.
fn with_details(failure: &Failure) -> String {
    if failure.details.is_empty() {
        return failure.message.clone();
    }
    let details = failure.details.iter().map(|detail| match &detail.target {
        Some(target) => format!("{target}: {}", detail.message),
        None => detail.message.clone(),
    });
    details.collect::<Vec<_>>().join(" ")
}
