use ucp_model::{Exception, Fault, FaultClass};

/// Whether a call changes anything. Only for a mutation is a broken reply an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `GetResource`, `ListResources`, `GetResourceRequestStatus`, `DescribeType`.
    Read,
    /// `CreateResource`, `UpdateResource`, `DeleteResource`.
    Mutation,
}

/// Classifies an exception of Cloud Control, or of AWS in front of it. `status` is the HTTP status.
///
/// A server fault may occur after the work is done, so for a mutation it is an unknown outcome.
pub fn fault_of(call: Call, code: &str, message: &str, status: u16) -> Fault {
    let name = code.rsplit('#').next().unwrap_or(code);
    Fault::new(
        class_of(call, &Exception::of(name), message, status),
        name,
        message,
    )
}

fn class_of(call: Call, exception: &Exception, message: &str, status: u16) -> FaultClass {
    let by_server = match call {
        Call::Read => FaultClass::Transient,
        Call::Mutation => FaultClass::OutcomeUnknown,
    };
    let class = match exception {
        Exception::RequestLimitExceeded
        | Exception::Throttling
        | Exception::ThrottlingException
        | Exception::TooManyRequestsException => return FaultClass::Throttled,
        Exception::ConcurrentOperationException | Exception::ResourceConflictException => {
            return FaultClass::Concurrent;
        }
        Exception::ClientTokenConflictException => return FaultClass::TokenConflict,
        Exception::RequestTokenNotFoundException => return FaultClass::TokenUnknown,
        Exception::ResourceNotFoundException => return FaultClass::Missing,
        Exception::InvalidRequestException if says_missing(message) => return FaultClass::Missing,
        Exception::AccessDenied
        | Exception::AccessDeniedException
        | Exception::ExpiredToken
        | Exception::ExpiredTokenException
        | Exception::IncompleteSignature
        | Exception::InvalidClientTokenId
        | Exception::InvalidCredentialsException
        | Exception::InvalidSignatureException
        | Exception::MissingAuthenticationToken
        | Exception::NotAuthorized
        | Exception::OptInRequired
        | Exception::RequestExpired
        | Exception::RequestTimeTooSkewed
        | Exception::SignatureDoesNotMatch
        | Exception::UnrecognizedClientException => return FaultClass::Denied,
        Exception::ConcurrentModificationException
        | Exception::HandlerFailureException
        | Exception::HandlerInternalFailureException
        | Exception::InternalFailure
        | Exception::NetworkFailureException
        | Exception::ServiceInternalErrorException
        | Exception::ServiceUnavailable
        | Exception::ServiceUnavailableException => return by_server,
        Exception::AlreadyExistsException => FaultClass::AlreadyExists,
        Exception::Other(word) if word == "AlreadyExists" => FaultClass::AlreadyExists,
        Exception::CFNRegistryException
        | Exception::GeneralServiceException
        | Exception::InvalidAction
        | Exception::InvalidRequestException
        | Exception::NotStabilizedException
        | Exception::NotUpdatableException
        | Exception::PrivateTypeException
        | Exception::RequestEntityTooLargeException
        | Exception::SerializationException
        | Exception::ServiceLimitExceededException
        | Exception::TypeNotFoundException
        | Exception::UnknownOperationException
        | Exception::UnsupportedActionException
        | Exception::ValidationException
        | Exception::Other(_) => FaultClass::Rejected,
    };
    if status >= 500 { by_server } else { class }
}

/// `AWS::Logs::LogGroup` reports a missing resource as an `InvalidRequestException` with one of these texts.
fn says_missing(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains("log group")
        && (message.contains("cannot be found") || message.contains("does not exist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_fault_leaves_only_mutations_in_doubt() {
        let fault = |call| fault_of(call, "ServiceInternalErrorException", "oops", 500);
        assert_eq!(fault(Call::Read).class, FaultClass::Transient);
        assert_eq!(fault(Call::Mutation).class, FaultClass::OutcomeUnknown);
        assert_eq!(
            fault(Call::Mutation).code,
            "ServiceInternalErrorException",
            "AWS's own code is told"
        );
        assert_eq!(
            fault(Call::Mutation).to_string(),
            "outcome unknown: ServiceInternalErrorException: oops"
        );
        let unheard_of = fault_of(Call::Mutation, "NewException", "oops", 503);
        assert_eq!(unheard_of.class, FaultClass::OutcomeUnknown);
    }

    #[test]
    fn a_log_group_may_say_absent_in_its_own_way() {
        let fault = |message| fault_of(Call::Read, "InvalidRequestException", message, 400);
        assert_eq!(
            fault("The specified log group does not exist.").class,
            FaultClass::Missing
        );
        assert_eq!(
            fault("Log Group g1 cannot be found").class,
            FaultClass::Missing
        );
        assert_eq!(
            fault("The bucket does not exist").class,
            FaultClass::Rejected
        );
    }

    #[test]
    fn names_come_with_or_without_their_namespace() {
        let fault = fault_of(
            Call::Read,
            "com.amazonaws.cloudapi#ResourceNotFoundException",
            "",
            400,
        );
        assert_eq!(
            fault,
            Fault::new(FaultClass::Missing, "ResourceNotFoundException", "")
        );
    }
}
