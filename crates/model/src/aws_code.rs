//! The codes of AWS's errors.

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $code:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $code,)+
            /// Any other code, as AWS spells it.
            Other(String),
        }

        impl $name {
            /// All codes that have a name here.
            pub const ALL: &[Self] = &[$(Self::$code),+];

            /// Parses AWS's spelling.
            pub fn of(word: &str) -> Self {
                match word {
                    $(stringify!($code) => Self::$code,)+
                    other => Self::Other(other.to_owned()),
                }
            }

            /// Returns AWS's spelling.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$code => stringify!($code),)+
                    Self::Other(word) => word,
                }
            }
        }
    };
}

codes! {
    /// Why the handler of a resource type failed (`HandlerErrorCode`).
    HandlerErrorCode {
        /// The credentials lack a permission.
        AccessDenied,
        /// A resource with this identifier already exists.
        AlreadyExists,
        /// The service returned an error that no other code describes.
        GeneralServiceException,
        /// The handler failed unexpectedly.
        InternalFailure,
        /// The credentials are not valid, or no longer.
        InvalidCredentials,
        /// The service refuses the properties.
        InvalidRequest,
        /// The handler could not reach the service.
        NetworkFailure,
        /// The resource does not exist.
        NotFound,
        /// The resource did not become stable in time.
        NotStabilized,
        /// A property cannot be changed.
        NotUpdatable,
        /// The resource is in use, or being changed.
        ResourceConflict,
        /// The service failed.
        ServiceInternalError,
        /// A quota of the account is used up.
        ServiceLimitExceeded,
        /// The service did not answer in time.
        ServiceTimeout,
        /// The service throttles requests.
        Throttling,
        /// The credentials lack a permission to tag.
        UnauthorizedTaggingOperation,
    }
}

codes! {
    /// An exception in reply to a call, of Cloud Control or common to AWS's services.
    Exception {
        /// The credentials lack a permission.
        AccessDenied,
        /// The credentials lack a permission.
        AccessDeniedException,
        /// A resource with this identifier already exists.
        AlreadyExistsException,
        /// The CloudFormation registry failed.
        CFNRegistryException,
        /// The client token was used for another request.
        ClientTokenConflictException,
        /// The resource is being changed by someone else.
        ConcurrentModificationException,
        /// Another request for the same resource is in progress.
        ConcurrentOperationException,
        /// The session has expired.
        ExpiredToken,
        /// The session has expired.
        ExpiredTokenException,
        /// The service returned an error that no other code describes.
        GeneralServiceException,
        /// The handler failed without a reason.
        HandlerFailureException,
        /// The handler failed unexpectedly.
        HandlerInternalFailureException,
        /// The signature is incomplete.
        IncompleteSignature,
        /// AWS failed.
        InternalFailure,
        /// The action is unknown.
        InvalidAction,
        /// The access key is unknown.
        InvalidClientTokenId,
        /// The credentials are not valid, or no longer.
        InvalidCredentialsException,
        /// The service refuses the request.
        InvalidRequestException,
        /// The signature is wrong.
        InvalidSignatureException,
        /// The request is not signed.
        MissingAuthenticationToken,
        /// Cloud Control could not reach the service.
        NetworkFailureException,
        /// The credentials lack a permission.
        NotAuthorized,
        /// The resource did not become stable in time.
        NotStabilizedException,
        /// A property cannot be changed.
        NotUpdatableException,
        /// The account has not subscribed to the service.
        OptInRequired,
        /// The type is private, and not active in the account.
        PrivateTypeException,
        /// The request is too large.
        RequestEntityTooLargeException,
        /// The request was signed too long ago.
        RequestExpired,
        /// The call is throttled.
        RequestLimitExceeded,
        /// The clocks of the caller and of AWS differ too much.
        RequestTimeTooSkewed,
        /// AWS does not know the request token.
        RequestTokenNotFoundException,
        /// The resource is in use, or being changed.
        ResourceConflictException,
        /// The resource does not exist.
        ResourceNotFoundException,
        /// The request cannot be parsed.
        SerializationException,
        /// The service failed.
        ServiceInternalErrorException,
        /// A quota of the account is used up.
        ServiceLimitExceededException,
        /// AWS is not available.
        ServiceUnavailable,
        /// AWS is not available.
        ServiceUnavailableException,
        /// The signature is wrong.
        SignatureDoesNotMatch,
        /// The call is throttled.
        Throttling,
        /// The call is throttled.
        ThrottlingException,
        /// The call is throttled.
        TooManyRequestsException,
        /// The type does not exist.
        TypeNotFoundException,
        /// The operation is unknown.
        UnknownOperationException,
        /// The access key is unknown.
        UnrecognizedClientException,
        /// The type does not support the action.
        UnsupportedActionException,
        /// The request violates AWS's service model.
        ValidationException,
    }
}
