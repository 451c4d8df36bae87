use crate::vocabulary::words;

/// An AWS exception in reply to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The code of the exception.
    pub code: ExceptionCode,
    /// The message, in AWS's words.
    pub message: String,
}

words! {
    /// The exceptions of Cloud Control, the CloudFormation registry and STS, and those common to all services.
    ExceptionCode {
        AccessDenied = "AccessDeniedException",
        AlreadyExists = "AlreadyExistsException",
        CfnRegistry = "CFNRegistryException",
        ClientTokenConflict = "ClientTokenConflictException",
        ConcurrentModification = "ConcurrentModificationException",
        ConcurrentOperation = "ConcurrentOperationException",
        ExpiredToken = "ExpiredTokenException",
        GeneralService = "GeneralServiceException",
        HandlerFailure = "HandlerFailureException",
        HandlerInternalFailure = "HandlerInternalFailureException",
        InternalFailure = "InternalFailure",
        InvalidAction = "InvalidAction",
        InvalidCredentials = "InvalidCredentialsException",
        InvalidRequest = "InvalidRequestException",
        NetworkFailure = "NetworkFailureException",
        NotStabilized = "NotStabilizedException",
        NotUpdatable = "NotUpdatableException",
        PrivateType = "PrivateTypeException",
        RequestEntityTooLarge = "RequestEntityTooLargeException",
        RequestTokenNotFound = "RequestTokenNotFoundException",
        ResourceConflict = "ResourceConflictException",
        ResourceNotFound = "ResourceNotFoundException",
        Serialization = "SerializationException",
        ServiceInternalError = "ServiceInternalErrorException",
        ServiceLimitExceeded = "ServiceLimitExceededException",
        ServiceUnavailable = "ServiceUnavailableException",
        Throttling = "ThrottlingException",
        TypeNotFound = "TypeNotFoundException",
        UnknownOperation = "UnknownOperationException",
        UnrecognizedClient = "UnrecognizedClientException",
        UnsupportedAction = "UnsupportedActionException",
        Validation = "ValidationException",
    }
}

impl Exception {
    /// Creates an exception with AWS's message.
    pub fn new(code: ExceptionCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The exception for a member of the input that violates a constraint of AWS's service model.
    pub(crate) fn constraint(value: &str, member: &str, constraint: &str) -> Self {
        Self::new(
            ExceptionCode::Validation,
            format!(
                "1 validation error detected: Value {value} at '{member}' failed to satisfy constraint: {constraint}"
            ),
        )
    }
}

impl ExceptionCode {
    /// Whether it is a server error: its HTTP status is 5xx.
    pub fn is_server_fault(self) -> bool {
        self.http_status() >= 500
    }

    /// The HTTP status of the reply.
    pub fn http_status(self) -> u16 {
        match self {
            Self::ConcurrentModification
            | Self::HandlerFailure
            | Self::HandlerInternalFailure
            | Self::InternalFailure
            | Self::ServiceInternalError => 500,
            Self::NetworkFailure => 502,
            Self::ServiceUnavailable => 503,
            Self::RequestEntityTooLarge => 413,
            _ => 400,
        }
    }
}
