use crate::vocabulary::words;

/// A refusal of a call, as AWS words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Which exception it is.
    pub code: ExceptionCode,
    /// AWS's text.
    pub message: String,
}

words! {
    /// The exceptions of Cloud Control, of the CloudFormation registry, of STS, and those common to all services.
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
    /// The exception `code` with AWS's text.
    pub fn new(code: ExceptionCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// A member of the input that breaks a constraint of AWS's service model.
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
    /// Whether AWS takes the blame: an HTTP status of 5xx instead of 4xx.
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
