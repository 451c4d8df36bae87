use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// The error codes that `ucp` itself returns. Some are AWS's codes, used with the same meaning. Other codes of
        /// AWS are passed on unchanged.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)+
        }

        impl ErrorCode {
            /// All error codes.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the code as replies spell it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }
        }
    };
}

codes! {
    /// No worker could finish a step of the operation.
    Abandoned,
    /// The credentials belong to another account than the request names.
    AccountMismatch,
    /// AWS already has a resource with that identifier.
    AlreadyExists,
    /// Some resources of a set were not made as declared.
    ApplyFailed,
    /// The resource group takes only changes whose plan was approved.
    ApprovalRequired,
    /// The caller is not known.
    AuthenticationFailed,
    /// The caller is not allowed to do this.
    AuthorizationFailed,
    /// The request is malformed.
    BadRequest,
    /// The operation was cancelled on request.
    Canceled,
    /// The request conflicts with the current state.
    Conflict,
    /// What a resource of a set depends on was not made as declared.
    DependencyFailed,
    /// The request body does not match the API's schema.
    HttpRequestPayloadAPISpecValidationFailed,
    /// AWS created the resource under another identifier than the request asked for.
    IdentifierMismatch,
    /// A defect in `ucp`.
    Internal,
    /// A defect in `ucp`, found while carrying out an operation.
    InternalFailure,
    /// The api-version is missing or unknown.
    InvalidApiVersionParameter,
    /// There is no such plane type.
    InvalidPlaneType,
    /// The declared properties are not valid.
    InvalidRequest,
    /// The resource does not exist.
    NotFound,
    /// The outcome of a change in AWS cannot be determined.
    OutcomeUnknown,
    /// A replacement left the old resource behind.
    PartiallyApplied,
    /// What is declared differs from what was planned.
    PlanMismatch,
    /// The resource group takes only changes that were planned.
    PlanRequired,
    /// The condition in `If-Match` or `If-None-Match` does not hold.
    PreconditionFailed,
    /// There may be no more of something.
    QuotaExceeded,
    /// Nothing tells where some resources are to move.
    RefactorAmbiguous,
    /// Some puts of the deployment of a refactor failed.
    RefactorFailed,
    /// Some moves cannot be.
    RefactorRefused,
    /// The request body or the declaration is too large.
    RequestEntityTooLarge,
    /// The request did not arrive in time.
    RequestTimeout,
    /// The change requires replacing the resource.
    RequiresReplacement,
    /// Some resources of the group cannot be deleted.
    ResourceGroupDeletionBlocked,
    /// The resource group does not exist.
    ResourceGroupNotFound,
    /// A dependency is not reachable at the moment.
    ServiceUnavailable,
    /// The plan must not be used, or the state that it was made for is another one.
    StalePlan,
    /// The caller sends too many requests.
    TooManyRequests,
    /// The resource type is unknown.
    TypeNotFoundException,
    /// The resource type has no handler for the requested action.
    UnsupportedActionException,
    /// The encoding of the body is not supported.
    UnsupportedMediaType,
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<ErrorCode> for String {
    fn from(code: ErrorCode) -> Self {
        code.as_str().to_owned()
    }
}
