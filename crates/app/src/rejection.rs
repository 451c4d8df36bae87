use ucp_cpu_pool::Undone;
use ucp_model::operation::policy_elsewhere;
use ucp_model::{Detail, ErrorCode, Failure, Fault, Operation, PlanRefusal, ReferenceId, TypeName};
use ucp_schema::UnknownType;

/// The reason for refusing a request. Each variant stands for a different reaction of the caller.
#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    /// The request is invalid in any state: correct it.
    #[error("{}", .0.message)]
    Invalid(Failure),
    /// Something that the request names does not exist.
    #[error("{}", .0.message)]
    Missing(Failure),
    /// The caller may not read what the request names, or it does not exist. Which of the two is not told.
    #[error("{}", .0.message)]
    Hidden(Failure),
    /// The request conflicts with existing state: change one of the two.
    #[error("{}", .0.message)]
    Conflict(Failure),
    /// The resource was changed in between: read it again.
    #[error("{}", .0.message)]
    PreconditionFailed(Failure),
    /// Another operation is under way: wait for it.
    #[error("operation {} is under way", .0.header.id)]
    Busy(Box<Operation>),
    /// Another reference owns the AWS resource: leave it to that one.
    #[error("the resource is owned by {0}")]
    OwnedElsewhere(Box<ReferenceId>),
    /// Other references stand for the AWS resource that would be deleted: leave it to them, or name it.
    #[error("other references stand for the resource")]
    Shared(Vec<ReferenceId>),
    /// The operation has already failed, and nothing was sent to AWS: do what the failure says.
    #[error("{}", .0.message)]
    Refused(Failure),
    /// A read from AWS failed.
    #[error("AWS cannot be read")]
    Aws(#[source] Fault),
    /// The credentials do not allow the request: change them or the request.
    #[error("{}", .0.message)]
    Forbidden(Failure),
    /// Required information is unavailable: try again.
    #[error("{}", .0.message)]
    NotNow(Failure),
    /// The request exceeds a limit of AWS.
    #[error("{}", .0.message)]
    TooLarge(Failure),
    /// There may be no more of this: remove some, or raise the quota.
    #[error("{}", .0.message)]
    QuotaExceeded(Failure),
    /// Too much is under way: try again later.
    #[error("{}", .0.message)]
    TooMany(Failure),
    /// The caller sends more than may be: try again after a while.
    #[error("{}", .0.failure.message)]
    BeyondRate(BeyondRate),
    /// The store cannot be reached: try again.
    #[error("the store is unavailable")]
    Unavailable(#[source] ucp_store::Error),
    /// An internal error: report it.
    #[error("an internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What a caller sends beyond their rate.
#[derive(Debug)]
pub struct BeyondRate {
    /// What is told of it.
    pub failure: Box<Failure>,
    /// The seconds after which there is room for it.
    pub retry_after: u64,
}

impl Rejection {
    /// The `If-Match` or `If-None-Match` of the request does not hold for the resource at `id`.
    pub(crate) fn precondition_failed(id: impl ToString) -> Self {
        let message = "If-Match or If-None-Match does not hold for the resource. Read it again, and send the ETag of that reply.";
        Rejection::PreconditionFailed(
            Failure::new(ErrorCode::PreconditionFailed, message).with_target(id.to_string()),
        )
    }

    /// The type has no usable schema.
    pub(crate) fn unknown_type(type_name: &TypeName, unknown: UnknownType) -> Self {
        let name = type_name.arm();
        match unknown {
            UnknownType::Missing { nearest } => {
                let suggestion = match nearest {
                    Some(nearest) => format!(" Did you mean {}?", nearest.arm()),
                    None => String::new(),
                };
                Rejection::Invalid(Failure::new(
                    ErrorCode::TypeNotFoundException,
                    format!("{name} is not a resource type that ucp knows.{suggestion}"),
                ))
            }
            UnknownType::Refused(fault) => Rejection::Aws(fault),
            UnknownType::Unusable(error) => {
                let message = format!(
                    "{name} cannot be used: the CloudFormation registry returned a schema that ucp cannot read ({error}). Correct the registered schema, or start ucp with a schema in --schema-dir."
                );
                let failure = Failure::new(ErrorCode::UnsupportedActionException, message);
                Rejection::Invalid(failure.with_target(name))
            }
            UnknownType::Unreachable(fault) => Rejection::NotNow(Failure::new(
                ErrorCode::ServiceUnavailable,
                format!(
                    "The schema of {name} is not available, because the CloudFormation registry cannot be reached: {}. Try again, or start ucp with a schema in --schema-dir.",
                    fault.message
                ),
            )),
            UnknownType::Busy => Rejection::NotNow(Failure::new(
                ErrorCode::ServiceUnavailable,
                format!(
                    "The schema of {name} was not read, since all threads that read schemas are busy. Try again."
                ),
            )),
            UnknownType::Store(_) => Rejection::NotNow(Failure::new(
                ErrorCode::ServiceUnavailable,
                "The store cannot be reached now. Try again.",
            )),
        }
    }

    /// A plan must not be used.
    pub(crate) fn plan_not_used(refusal: PlanRefusal) -> Self {
        let (code, message) = match refusal {
            PlanRefusal::Rejected => {
                let message = "The plan was rejected. Nothing was sent. Ask for a new one.";
                return Rejection::Conflict(Failure::new(ErrorCode::Conflict, message));
            }
            PlanRefusal::Expired => (
                "Expired",
                "The plan has expired. Nothing was sent. Ask for a new one, or for one with a longer whatIfSettings.planLifetime."
                    .to_owned(),
            ),
            PlanRefusal::Used(operation) => (
                "AlreadyApplied",
                format!(
                    "Operation {operation} has used the plan, and a plan is used once. Nothing was sent. See what came of that operation."
                ),
            ),
        };
        let failure = Failure::new(ErrorCode::StalePlan, message.as_str());
        Rejection::PreconditionFailed(failure.with_details(vec![Detail {
            code: code.to_owned(),
            message,
            target: None,
        }]))
    }

    /// A request differs from the plan that it is to carry out.
    pub fn plan_mismatch(message: impl Into<String>) -> Self {
        Rejection::Conflict(Failure::new(ErrorCode::PlanMismatch, message))
    }

    /// Returns `BadRequest` with `message`, about what is at `target`.
    pub fn bad_request_at(target: &str, message: impl Into<String>) -> Self {
        let failure = Failure::new(ErrorCode::BadRequest, message);
        Rejection::Invalid(failure.with_target(target))
    }

    /// Returns `BadRequest` with `message`.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Rejection::Invalid(Failure::new(ErrorCode::BadRequest, message))
    }
}

impl From<Undone> for Rejection {
    fn from(undone: Undone) -> Self {
        let message = format!(
            "The declaration was not judged, since {undone}. Nothing was stored or sent. Try again, or declare less."
        );
        Rejection::NotNow(Failure::new(ErrorCode::ServiceUnavailable, message))
    }
}

impl From<ucp_model::ids::InvalidId> for Rejection {
    fn from(error: ucp_model::ids::InvalidId) -> Self {
        Rejection::bad_request(error.to_string())
    }
}

impl From<ucp_store::Error> for Rejection {
    /// Converts the errors that mean the same everywhere. The use cases translate the others first.
    fn from(error: ucp_store::Error) -> Self {
        match error {
            ucp_store::Error::Unavailable(_) => Rejection::Unavailable(error),
            ucp_store::Error::NoSuchPlan => {
                let message = "The plan is gone: it has been over for a while. Ask for a new one.";
                Rejection::Missing(Failure::new(ErrorCode::NotFound, message))
            }
            ucp_store::Error::PlanRefused(refusal) => Rejection::plan_not_used(refusal),
            ucp_store::Error::PlanRequired => {
                let message = "The resource group takes only changes that were planned. Ask for a plan with :whatIf, and name it with planId; or change the group's planPolicy.";
                Rejection::Conflict(Failure::new(ErrorCode::PlanRequired, message))
            }
            ucp_store::Error::ApprovalRequired => {
                let message = "The resource group takes only changes whose plan was approved, and this one was not. Let an approver approve it; another one than who asked for it, if the group has selfApproval false.";
                Rejection::Conflict(Failure::new(ErrorCode::ApprovalRequired, message))
            }
            ucp_store::Error::PolicyElsewhere(policy) => {
                Rejection::Conflict(policy_elsewhere(policy))
            }
            ucp_store::Error::OtherKey {
                sealed_under,
                configured,
            } => Rejection::NotNow(Failure::new(
                ErrorCode::ServiceUnavailable,
                format!(
                    "What is stored is sealed under the encryption key {sealed_under}, and this server has only {configured}. Start it with that key too, as the current one or as a previous one."
                ),
            )),
            ucp_store::Error::NoSuchGroup
            | ucp_store::Error::GroupDeleting(_)
            | ucp_store::Error::AlreadyReferenced
            | ucp_store::Error::NoSuchReference
            | ucp_store::Error::OutcomeUnknown
            | ucp_store::Error::Busy(_)
            | ucp_store::Error::ReferencedElsewhere(_)
            | ucp_store::Error::OwnedElsewhere(_)
            | ucp_store::Error::Shared(_)
            | ucp_store::Error::PreconditionFailed
            | ucp_store::Error::PolicyLowered
            | ucp_store::Error::NotOwned
            | ucp_store::Error::NotOfInstance
            | ucp_store::Error::TooManyTags
            | ucp_store::Error::TooManyBindings
            | ucp_store::Error::NoSuchRefactor
            | ucp_store::Error::RefactorStatus(_)
            | ucp_store::Error::LeaseLost
            | ucp_store::Error::Corrupt(_) => Rejection::Internal(Box::new(error)),
        }
    }
}
