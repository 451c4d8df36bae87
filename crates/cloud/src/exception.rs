use ucp_model::{Fault, FaultClass};

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
/// The names are those of the Cloud Control API Reference ("Common Errors" included). A server fault may occur after
/// the work is done, so for a mutation it is an unknown outcome.
pub fn fault_of(call: Call, code: &str, message: &str, status: u16) -> Fault {
    let name = code.rsplit('#').next().unwrap_or(code);
    let class = match name {
        "ThrottlingException"
        | "Throttling"
        | "RequestLimitExceeded"
        | "TooManyRequestsException" => FaultClass::Throttled,
        "ConcurrentOperationException" => FaultClass::Concurrent,
        "ClientTokenConflictException" => FaultClass::TokenConflict,
        "RequestTokenNotFoundException" => FaultClass::TokenUnknown,
        "ResourceNotFoundException" => FaultClass::Missing,
        "InvalidRequestException" if says_missing(message) => FaultClass::Missing,
        "AccessDenied"
        | "AccessDeniedException"
        | "ExpiredToken"
        | "ExpiredTokenException"
        | "IncompleteSignature"
        | "InvalidClientTokenId"
        | "InvalidCredentialsException"
        | "InvalidSignatureException"
        | "MissingAuthenticationToken"
        | "NotAuthorized"
        | "OptInRequired"
        | "RequestExpired"
        | "RequestTimeTooSkewed"
        | "SignatureDoesNotMatch"
        | "UnrecognizedClientException" => FaultClass::Denied,
        _ if is_servers_fault(name, status) => match call {
            Call::Read => FaultClass::Transient,
            Call::Mutation => return Fault::outcome_unknown(format!("{name}: {message}")),
        },
        "AlreadyExists" | "AlreadyExistsException" => FaultClass::AlreadyExists,
        _ => FaultClass::Rejected,
    };
    Fault::new(class, name, message)
}

/// `AWS::Logs::LogGroup` reports a missing resource as an `InvalidRequestException` with one of these texts.
fn says_missing(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains("log group")
        && (message.contains("cannot be found") || message.contains("does not exist"))
}

fn is_servers_fault(name: &str, status: u16) -> bool {
    status >= 500
        || matches!(
            name,
            "ConcurrentModificationException"
                | "HandlerFailureException"
                | "HandlerInternalFailureException"
                | "InternalFailure"
                | "NetworkFailureException"
                | "ServiceInternalErrorException"
                | "ServiceUnavailable"
                | "ServiceUnavailableException"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_fault_leaves_only_mutations_in_doubt() {
        let fault = |call| fault_of(call, "ServiceInternalErrorException", "oops", 500);
        assert_eq!(fault(Call::Read).class, FaultClass::Transient);
        assert_eq!(fault(Call::Mutation).class, FaultClass::OutcomeUnknown);
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
