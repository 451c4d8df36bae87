//! How an operation goes on after each error of AWS: the class of an error, and the course that follows from the class
//! and from what the failed change has left. `docs/errors/retry-classes.md` is generated from both.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Action, Exception, Fault, FaultClass, HandlerErrorCode};

/// What went wrong with a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// AWS accepted the call, and the handler of the type failed.
    Failed(HandlerErrorCode),
    /// AWS answered the call with an exception.
    Refused(Exception),
    /// AWS could not be reached, so the call had no effect.
    Unreached,
    /// No reply came.
    Lost,
    /// The change took longer than its handler may take, and was cancelled for that.
    Overdue,
}

/// What an error calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// It passes: the change is made again under a new token, after a back-off.
    Again,
    /// It passes, but the change may have been made: look first.
    LookThenAgain,
    /// Something else is changing or using the resource: queue behind it.
    Queue,
    /// The outcome is not known: look, and never create anew.
    Unknown,
    /// The change goes on without its handler: keep watching, and never create anew.
    KeepWatching,
    /// A resource has the identifier already: see whose it is.
    Prove,
    /// The resource is gone, as AWS says.
    Absent,
    /// Credentials that have just expired or changed take a moment: again, within a short bound.
    Soon,
    /// Permissions take a moment too: as `Soon`, right after a put of a role or a policy under the same group. Otherwise
    /// as `Terminal`.
    Permission,
    /// AWS knows the client token under a request that its message names: follow that one.
    Follow,
    /// The change ran past its time and was cancelled: again, a few times.
    Overdue,
    /// It does not pass by itself, but the handler may have made something before it failed.
    MayLeave,
    /// It does not pass by itself.
    Terminal,
}

/// What a change that ended without success has left. What a create that named nothing has made bears the mark of the
/// reference, if its type has tags. It is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing that has a name, and no search can tell of it. Only a create can leave this.
    Unnamed,
    /// A name under which a look finds nothing, or nothing that a search finds.
    Absent,
    /// A resource.
    Present,
}

/// How an operation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// It sends the change again.
    Again,
    /// It plans against the resource, and makes the rest of the change.
    GoOn,
    /// It watches the resource until it is as declared, and changes nothing.
    Watch,
    /// It sees whose the resource is.
    Prove,
    /// It follows the request that AWS names.
    Follow,
    /// It has reached its goal.
    Succeed,
    /// It ends with its outcome unknown.
    Unknown,
    /// It ends with AWS's error.
    Fail,
}

/// How long a class of errors is put up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The number of tries after which time alone may end it: time in which the process was down does not count as
    /// trying.
    pub tries: u32,
    /// The time since the first failure, after which it ends once the tries are used up.
    pub time: Duration,
    /// The first delay.
    pub first: Duration,
    /// The longest delay.
    pub longest: Duration,
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Returns what the error of an `action` calls for.
pub fn retry_class(problem: &Problem, action: Action) -> Class {
    use Action::{Create, Delete, Update};
    match (problem, action) {
        (
            Problem::Failed(HandlerErrorCode::Throttling)
            | Problem::Refused(
                Exception::RequestLimitExceeded
                | Exception::Throttling
                | Exception::ThrottlingException
                | Exception::TooManyRequestsException,
            )
            | Problem::Unreached,
            Create | Update | Delete,
        ) => Class::Again,
        (
            Problem::Failed(
                HandlerErrorCode::InternalFailure
                | HandlerErrorCode::NetworkFailure
                | HandlerErrorCode::ServiceInternalError,
            )
            | Problem::Refused(
                Exception::HandlerInternalFailureException
                | Exception::InternalFailure
                | Exception::NetworkFailureException
                | Exception::ServiceInternalErrorException
                | Exception::ServiceUnavailable
                | Exception::ServiceUnavailableException,
            ),
            Create | Update | Delete,
        ) => Class::LookThenAgain,
        (
            Problem::Failed(HandlerErrorCode::ResourceConflict)
            | Problem::Refused(
                Exception::ConcurrentOperationException | Exception::ResourceConflictException,
            ),
            Create | Update | Delete,
        ) => Class::Queue,
        (
            Problem::Failed(HandlerErrorCode::ServiceTimeout)
            | Problem::Refused(
                Exception::ConcurrentModificationException
                | Exception::HandlerFailureException
                | Exception::RequestTokenNotFoundException,
            )
            | Problem::Lost,
            Create | Update | Delete,
        ) => Class::Unknown,
        (
            Problem::Failed(HandlerErrorCode::NotStabilized)
            | Problem::Refused(Exception::NotStabilizedException),
            Create | Update | Delete,
        ) => Class::KeepWatching,
        (
            Problem::Failed(HandlerErrorCode::AlreadyExists)
            | Problem::Refused(Exception::AlreadyExistsException),
            Create,
        ) => Class::Prove,
        (
            Problem::Failed(HandlerErrorCode::NotFound)
            | Problem::Refused(Exception::ResourceNotFoundException),
            Update | Delete,
        ) => Class::Absent,
        (
            Problem::Failed(HandlerErrorCode::InvalidCredentials)
            | Problem::Refused(
                Exception::ExpiredToken
                | Exception::ExpiredTokenException
                | Exception::InvalidCredentialsException,
            ),
            Create | Update | Delete,
        ) => Class::Soon,
        (
            Problem::Failed(
                HandlerErrorCode::AccessDenied | HandlerErrorCode::UnauthorizedTaggingOperation,
            )
            | Problem::Refused(
                Exception::AccessDenied
                | Exception::AccessDeniedException
                | Exception::NotAuthorized,
            ),
            Create | Update | Delete,
        ) => Class::Permission,
        (Problem::Refused(Exception::ClientTokenConflictException), Create | Update | Delete) => {
            Class::Follow
        }
        (Problem::Overdue, Create | Update | Delete) => Class::Overdue,
        (
            Problem::Failed(
                HandlerErrorCode::GeneralServiceException
                | HandlerErrorCode::NotFound
                | HandlerErrorCode::ServiceLimitExceeded
                | HandlerErrorCode::Other(_),
            ),
            Create,
        ) => Class::MayLeave,
        (
            Problem::Failed(HandlerErrorCode::AlreadyExists)
            | Problem::Refused(Exception::AlreadyExistsException),
            Update | Delete,
        )
        | (
            Problem::Failed(
                HandlerErrorCode::GeneralServiceException
                | HandlerErrorCode::ServiceLimitExceeded
                | HandlerErrorCode::Other(_),
            ),
            Update | Delete,
        )
        | (Problem::Refused(Exception::ResourceNotFoundException), Create)
        | (
            Problem::Failed(HandlerErrorCode::InvalidRequest | HandlerErrorCode::NotUpdatable)
            | Problem::Refused(
                Exception::CFNRegistryException
                | Exception::GeneralServiceException
                | Exception::IncompleteSignature
                | Exception::InvalidAction
                | Exception::InvalidClientTokenId
                | Exception::InvalidRequestException
                | Exception::InvalidSignatureException
                | Exception::MissingAuthenticationToken
                | Exception::NotUpdatableException
                | Exception::OptInRequired
                | Exception::PrivateTypeException
                | Exception::RequestEntityTooLargeException
                | Exception::RequestExpired
                | Exception::RequestTimeTooSkewed
                | Exception::SerializationException
                | Exception::ServiceLimitExceededException
                | Exception::SignatureDoesNotMatch
                | Exception::TypeNotFoundException
                | Exception::UnknownOperationException
                | Exception::UnrecognizedClientException
                | Exception::UnsupportedActionException
                | Exception::ValidationException
                | Exception::Other(_),
            ),
            Create | Update | Delete,
        ) => Class::Terminal,
    }
}

/// How long an update of the class `Queue` is put up with if AWS does not say what is in its way.
pub const UNNAMED_QUEUE: Duration = Duration::from_secs(2 * 60);

/// Words by which services say that another change of a resource is in progress.
pub const IN_PROGRESS: [&str; 17] = [
    "in progress",
    "being created",
    "being updated",
    "being modified",
    "being changed",
    "being deleted",
    "concurrent modification",
    "concurrentmodification",
    "concurrent update",
    "concurrent operation",
    "another operation",
    "another update",
    "operation running",
    "is modifying",
    "is updating",
    "state: pending",
    // A database that is modified or backed up: `Database instance is not in available state.`
    "available state",
];

/// Words by which services say that a user or the state of a resource is in the way, and not the request itself.
pub const IN_THE_WAY: [&str; 11] = [
    "is being",
    "being used",
    "in use",
    "pending",
    "attached",
    "not available",
    "in state",
    "try again",
    "concurrent",
    "modifying",
    "updating",
];

/// Returns whether AWS names another change, which is in progress.
pub(crate) fn names_a_change(message: &str) -> bool {
    has_one_of(message, &IN_PROGRESS)
}

/// Returns whether AWS names what is in the way of a change: another one that is in progress, or what uses the resource.
pub(crate) fn names_what_is_in_the_way(message: &str) -> bool {
    names_a_change(message) || has_one_of(message, &IN_THE_WAY)
}

fn has_one_of(message: &str, words: &[&str]) -> bool {
    let message = message.to_lowercase();
    words.iter().any(|words| message.contains(words))
}

impl Problem {
    /// Returns the problem that a failed call tells of.
    pub fn of(fault: &Fault) -> Self {
        let exception = Exception::of(&fault.code);
        match (fault.class, &exception) {
            (FaultClass::Transient, _) => Self::Unreached,
            (FaultClass::OutcomeUnknown, Exception::Other(_)) => Self::Lost,
            // Some types say so in their own way.
            (FaultClass::Missing, _) => Self::Refused(Exception::ResourceNotFoundException),
            (
                FaultClass::OutcomeUnknown
                | FaultClass::Throttled
                | FaultClass::Concurrent
                | FaultClass::TokenConflict
                | FaultClass::TokenUnknown
                | FaultClass::AlreadyExists
                | FaultClass::Denied
                | FaultClass::Rejected,
                _,
            ) => Self::Refused(exception),
        }
    }

    /// Returns the problem of which only the code is left.
    pub(crate) fn coded(code: &str) -> Self {
        let of_handler = HandlerErrorCode::of(code);
        if HandlerErrorCode::ALL.contains(&of_handler) {
            Self::Failed(of_handler)
        } else {
            Self::Refused(Exception::of(code))
        }
    }
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 13] = [
        Self::Again,
        Self::LookThenAgain,
        Self::Queue,
        Self::Unknown,
        Self::KeepWatching,
        Self::Prove,
        Self::Absent,
        Self::Soon,
        Self::Permission,
        Self::Follow,
        Self::Overdue,
        Self::MayLeave,
        Self::Terminal,
    ];

    /// Returns how an operation goes on after AWS has ended an `action` with an error of this class.
    pub fn course(self, action: Action, left: Left) -> Course {
        use Action::{Create, Delete, Update};
        use Left::{Absent, Present, Unnamed};
        match (self, action, left) {
            (Class::Follow, Create | Update | Delete, Unnamed | Absent | Present) => Course::Follow,
            (
                Class::Again | Class::Queue | Class::Soon | Class::Permission | Class::Overdue,
                Create,
                Unnamed | Absent,
            )
            | (Class::LookThenAgain, Create, Absent) => Course::Again,
            (
                Class::Again
                | Class::Queue
                | Class::Soon
                | Class::Permission
                | Class::Overdue
                | Class::LookThenAgain
                | Class::Unknown,
                Create,
                Present,
            ) => Course::GoOn,
            // Whether it was made cannot be seen: another create could make a second one.
            (Class::Unknown | Class::LookThenAgain | Class::KeepWatching, Create, Unnamed)
            | (Class::Unknown, Create, Absent) => Course::Unknown,
            (Class::KeepWatching, Create, Present) => Course::Watch,
            (Class::Prove, Create, Unnamed | Absent | Present) => Course::Prove,
            (
                Class::Again
                | Class::LookThenAgain
                | Class::Queue
                | Class::Unknown
                | Class::Soon
                | Class::Permission
                | Class::Overdue
                | Class::Absent,
                Update,
                Unnamed | Absent | Present,
            )
            | (
                Class::Again
                | Class::LookThenAgain
                | Class::Queue
                | Class::Unknown
                | Class::Soon
                | Class::Permission
                | Class::Overdue,
                Delete,
                Unnamed | Absent | Present,
            )
            | (Class::Absent, Delete, Present) => Course::GoOn,
            (Class::KeepWatching, Update | Delete, Present) => Course::Watch,
            (Class::KeepWatching | Class::Absent, Delete, Unnamed | Absent) => Course::Succeed,
            (Class::KeepWatching, Create, Absent)
            | (Class::KeepWatching, Update, Unnamed | Absent)
            | (Class::Prove, Update | Delete, Unnamed | Absent | Present)
            | (Class::Absent, Create, Unnamed | Absent | Present)
            | (
                Class::MayLeave | Class::Terminal,
                Create | Update | Delete,
                Unnamed | Absent | Present,
            ) => Course::Fail,
        }
    }

    /// Returns whether a create that failed so, and named nothing, may have made a resource.
    pub fn may_hide(self) -> bool {
        match self {
            Class::Again
            | Class::LookThenAgain
            | Class::Queue
            | Class::Unknown
            | Class::KeepWatching
            | Class::Prove
            | Class::Soon
            | Class::Permission
            | Class::Overdue
            | Class::MayLeave => true,
            Class::Absent | Class::Follow | Class::Terminal => false,
        }
    }

    /// Returns whether a create that failed so was under way, so that what has the declared name is what it has made.
    pub fn leaves_made(self) -> bool {
        match self {
            Class::KeepWatching | Class::Overdue => true,
            Class::Again
            | Class::LookThenAgain
            | Class::Queue
            | Class::Unknown
            | Class::Prove
            | Class::Soon
            | Class::Permission
            | Class::Absent
            | Class::Follow
            | Class::MayLeave
            | Class::Terminal => false,
        }
    }

    /// Returns how long an `action` of this class is put up with; `None` if it is not. `is_awaited` says whether it is known what is
    /// in the way, which ends: AWS's words name it, see [`IN_PROGRESS`] and [`IN_THE_WAY`], or it is an operation of ours.
    pub fn bound_of(self, action: Action, is_awaited: bool) -> Option<Bound> {
        let bound = self.bound()?;
        Some(match (self, action) {
            (Class::Queue, Action::Update) if !is_awaited => Bound {
                time: UNNAMED_QUEUE,
                ..bound
            },
            _ => bound,
        })
    }

    /// Returns how long errors of this class are put up with; `None` if they are not.
    pub fn bound(self) -> Option<Bound> {
        let bound = |tries, time, first, longest| {
            Some(Bound {
                tries,
                time,
                first,
                longest,
            })
        };
        match self {
            Class::Again => bound(20, secs(24 * 3600), secs(1), secs(300)),
            Class::LookThenAgain | Class::Absent => bound(5, secs(10 * 60), secs(1), secs(120)),
            Class::Unknown | Class::Follow => bound(10, secs(3600), secs(1), secs(300)),
            Class::Queue => bound(5, secs(30 * 60), secs(5), secs(60)),
            Class::Soon | Class::Permission => bound(5, secs(2 * 60), secs(1), secs(15)),
            Class::Overdue => bound(3, secs(0), secs(1), secs(60)),
            Class::KeepWatching => bound(5, secs(15 * 60), secs(2), secs(30)),
            Class::Prove | Class::MayLeave | Class::Terminal => None,
        }
    }
}
