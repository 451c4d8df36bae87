use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// The error codes that `ucp` gives itself. Some are AWS's words, where it says the same. AWS has more, which are passed
        /// on as they come.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)+
        }

        impl ErrorCode {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// As replies spell it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }
        }
    };
}

codes! {
    /// The credentials are of another account than the request names.
    AccountMismatch,
    /// AWS has a resource of that name already.
    AlreadyExists,
    /// The caller may not do this.
    AuthorizationFailed,
    /// The request cannot be understood.
    BadRequest,
    /// Somebody asked to cancel the operation.
    Canceled,
    /// Something that is there stands in the way.
    Conflict,
    /// The body of a request is not what the API takes.
    HttpRequestPayloadAPISpecValidationFailed,
    /// A defect of ours.
    Internal,
    /// A defect of ours, met while an operation was carried out.
    InternalFailure,
    /// The api-version is missing or unknown.
    InvalidApiVersionParameter,
    /// There are no planes of that type.
    InvalidPlaneType,
    /// The declared properties are not valid.
    InvalidRequest,
    /// It does not exist.
    NotFound,
    /// What became of a change in AWS cannot be found out.
    OutcomeUnknown,
    /// A replacement left the old resource behind.
    PartiallyApplied,
    /// What is there is not what `If-Match` or `If-None-Match` asks for.
    PreconditionFailed,
    /// The body, or the declaration, is too large.
    RequestEntityTooLarge,
    /// The request did not arrive in time.
    RequestTimeout,
    /// The change can only be made by replacing the resource.
    RequiresReplacement,
    /// Some resources of a group cannot be deleted.
    ResourceGroupDeletionBlocked,
    /// The resource group does not exist.
    ResourceGroupNotFound,
    /// Something that is needed cannot be reached now.
    ServiceUnavailable,
    /// The resource type is not known.
    TypeNotFoundException,
    /// The resource type has no handler for what is asked.
    UnsupportedActionException,
    /// The body is encoded in a way that is not spoken.
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
