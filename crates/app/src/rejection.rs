use ucp_model::{ErrorCode, Failure, Fault, Operation, TypeName};
use ucp_schema::UnknownType;

/// Why a request is refused, by what its sender would do about it.
#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    /// The request is wrong whatever the state of the world: correct it.
    #[error("{}", .0.message)]
    Invalid(Failure),
    /// What it names does not exist.
    #[error("{}", .0.message)]
    Missing(Failure),
    /// It does not fit what exists: change one of the two.
    #[error("{}", .0.message)]
    Conflict(Failure),
    /// Somebody else has written meanwhile: read it again.
    #[error("{}", .0.message)]
    PreconditionFailed(Failure),
    /// Another operation is under way: wait for it.
    #[error("operation {} is under way", .0.header.id)]
    Busy(Box<Operation>),
    /// Its operation has ended already, and nothing was sent to AWS: do what the failure says.
    #[error("{}", .0.message)]
    Refused(Failure),
    /// AWS did not let itself be read.
    #[error("AWS cannot be read")]
    Aws(#[source] Fault),
    /// It would be done in a name that does not allow it: change the credentials, or what is asked for.
    #[error("{}", .0.message)]
    Forbidden(Failure),
    /// What must be known first cannot be told now: try again.
    #[error("{}", .0.message)]
    NotNow(Failure),
    /// It is larger than AWS would take.
    #[error("{}", .0.message)]
    TooLarge(Failure),
    /// The store cannot be reached now: try again.
    #[error("the store is unavailable")]
    Unavailable(#[source] ucp_store::Error),
    /// A defect: tell us.
    #[error("an internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Rejection {
    /// What is at `id` is not what the request's `If-Match` or `If-None-Match` asks for.
    pub(crate) fn precondition_failed(id: impl ToString) -> Self {
        let message = "What is there is not what If-Match or If-None-Match asks for. Read it again, and send the ETag of that reply.";
        Rejection::PreconditionFailed(
            Failure::new(ErrorCode::PreconditionFailed, message).with_target(id.to_string()),
        )
    }

    /// There is no schema of the type.
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
            UnknownType::Unusable(error) => Rejection::Invalid(Failure::new(
                ErrorCode::UnsupportedActionException,
                format!(
                    "{name} cannot be used: what the CloudFormation registry tells of it is not a schema that ucp can read ({error}). Correct what is registered, or start ucp with a schema in --schema-dir."
                ),
            )),
            UnknownType::Unreachable(fault) => Rejection::NotNow(Failure::new(
                ErrorCode::ServiceUnavailable,
                format!(
                    "The schema of {name} is needed, and the CloudFormation registry cannot be reached: {}. Try again, or start ucp with a schema in --schema-dir.",
                    fault.message
                ),
            )),
            UnknownType::Store(_) => Rejection::NotNow(Failure::new(
                ErrorCode::ServiceUnavailable,
                "The store cannot be reached now. Try again.",
            )),
        }
    }

    /// `BadRequest` with `message`.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Rejection::Invalid(Failure::new(ErrorCode::BadRequest, message))
    }
}

impl From<ucp_model::ids::InvalidId> for Rejection {
    fn from(error: ucp_model::ids::InvalidId) -> Self {
        Rejection::bad_request(error.to_string())
    }
}

impl From<ucp_store::Error> for Rejection {
    /// For the errors that say the same wherever they come from; the use cases translate the others first.
    fn from(error: ucp_store::Error) -> Self {
        match error {
            ucp_store::Error::Unavailable(_) => Rejection::Unavailable(error),
            ucp_store::Error::NoSuchGroup
            | ucp_store::Error::GroupDeleting(_)
            | ucp_store::Error::AlreadyReferenced
            | ucp_store::Error::NoSuchReference
            | ucp_store::Error::Busy(_)
            | ucp_store::Error::ReferencedElsewhere(_)
            | ucp_store::Error::OwnedElsewhere(_)
            | ucp_store::Error::PreconditionFailed
            | ucp_store::Error::LeaseLost
            | ucp_store::Error::Corrupt(_) => Rejection::Internal(Box::new(error)),
        }
    }
}
