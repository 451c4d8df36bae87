//! What faults do.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;

use crate::exception::ExceptionCode;
use crate::progress::{HandlerErrorCode, HookProgressEvent};

/// The effect of a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Effect {
    /// The change that the call starts takes this long instead of the usual time.
    Latency {
        /// The minimum, in milliseconds.
        least_millis: u64,
        /// The maximum, in milliseconds.
        most_millis: u64,
    },
    /// The read shows resources as they were before their latest changes, for a time after each change. A change lags
    /// only if such a fault is active when it is made.
    ///
    /// The time is drawn for each change, replica and kind of read: `GetResource` and `ListResources` lag apart. Each
    /// read asks one of the replicas. With one of them, reads that all lag never go back in time. With several, or with
    /// a probability, a read may show an older state than the one before it.
    ///
    /// `ListResourceRequests` lags too, each call as long as is drawn: it shows requests as they were then.
    Lag {
        /// The minimum, in milliseconds.
        least_millis: u64,
        /// The maximum, in milliseconds.
        most_millis: u64,
        /// The number of replicas, from 1 to 16.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        replicas: u8,
    },
    /// Calls are throttled by a token bucket per operation, account and region.
    Throttle {
        /// The refill rate, in calls per second.
        #[serde(deserialize_with = "number")]
        rate: f64,
        /// The capacity, in calls.
        burst: u32,
    },
    /// All mutations, or all reads, of an account and region share a token bucket. Calls beyond it are throttled.
    Quota {
        /// The calls that share the bucket.
        calls: Sharing,
        /// The refill rate, in calls per second.
        #[serde(deserialize_with = "number")]
        rate: f64,
        /// The capacity, in calls.
        burst: u32,
    },
    /// The call is refused with an exception and has no effect.
    Refuse(Refusal),
    /// The change that the call starts ends as FAILED.
    Fail(Failure),
    /// The delete that the call starts fails while another resource in the account and region refers to this one.
    InUse {},
    /// The call is carried out but its reply is lost: the connection closes.
    DropReply {},
    /// The change that the call starts stays PENDING for ever, unless it is cancelled.
    StayPending {
        /// What a cancel does.
        #[serde(default)]
        cancel: Cancelling,
    },
    /// The create or update that the call starts succeeds, and silently leaves properties as they were.
    DropPaths {
        /// JSON Pointers to the properties. Without any, one of those that the change sets or removes is drawn.
        #[serde(default)]
        paths: Vec<String>,
    },
    /// The call is not answered until the client gives up, or the faults are removed.
    Hang {
        /// Whether the call is carried out.
        #[serde(default = "yes")]
        carried_out: bool,
    },
    /// The call itself takes this long.
    Delay {
        /// The minimum, in milliseconds.
        least_millis: u64,
        /// The maximum, in milliseconds.
        most_millis: u64,
    },
    /// The call is carried out, or repeats one that was, and is refused with a `ClientTokenConflictException` that names
    /// the request token, as if another call had used its client token.
    ConflictToken {},
    /// The handler of the create that the call starts runs twice: the first run makes the resource, and the second one
    /// fails because it already exists. Where AWS assigns the identifier, the second run finds nothing in its way.
    RunTwice {},
    /// The progress events of the change that the call starts do not say when to poll again.
    NoRetryAfter {},
    /// The change that the call starts sets absent properties to their defaults in the schema.
    FillDefaults {},
    /// The change that the call starts stores sets in another order, and policy documents in an equivalent form.
    Restate {},
    /// The create stores create-only texts, and lists of texts, in a form of AWS's own.
    RestateFixed {},
    /// The change that the call starts fails if its model names a role, a VPC or a subnet of the account that does not
    /// exist.
    RequireExisting {},
    /// The call is refused if it assumes a role that was changed less than this long ago, or a policy of which was. The
    /// change that it starts fails if its model names such a role.
    FreshRole {
        /// The minimum, in milliseconds.
        least_millis: u64,
        /// The maximum, in milliseconds.
        most_millis: u64,
    },
    /// Sessions that the call begins last this long, whatever was requested.
    SessionLife {
        /// The duration, in milliseconds.
        millis: u64,
    },
    /// The create that the call starts gives the resource this identifier, whatever its desired state declares.
    Rename {
        /// The primary identifier.
        identifier: String,
    },
}

/// The calls that share a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Sharing {
    /// The calls of Cloud Control that start or cancel changes.
    Mutations,
    /// The other calls of Cloud Control.
    Reads,
}

/// What a cancel does to a change that stays PENDING.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Cancelling {
    /// The change is cancelled.
    #[default]
    Accepted,
    /// The cancel is refused with an exception.
    Refused,
    /// The cancel is answered, and has no effect.
    Ignored,
}

/// How a call is refused; see [`refuse`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Refusal {
    /// The exception.
    pub exception: ExceptionCode,
    /// The message of the exception.
    #[serde(default)]
    pub message: String,
}

/// How a change fails; see [`fail`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// The error code of the progress event.
    pub error_code: HandlerErrorCode,
    /// The status message of the progress event.
    #[serde(default)]
    pub message: String,
    /// Whether progress events reveal the identifier of the resource.
    #[serde(default)]
    pub identifier: Disclosure,
    /// Whether the change is made nevertheless, such as a resource left behind by a failed create.
    #[serde(default)]
    pub change: Change,
    /// The results of hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookProgressEvent>,
}

/// Whether a failed change reveals the identifier of its resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Disclosure {
    /// The identifier is revealed.
    #[default]
    Revealed,
    /// The identifier is hidden.
    Hidden,
}

/// Whether a failed change is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// The change is not made: a create leaves nothing behind, a delete leaves the resource.
    #[default]
    NotMade,
    /// The change is made: the resource exists after a create, and is gone after a delete.
    Made,
}

/// Reads a number. serde cannot read fractions of a tagged enum itself, since `serde_json` keeps them as they are
/// written.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    let number = number.as_f64();
    number.ok_or_else(|| D::Error::custom("a number is out of range"))
}

fn one() -> u8 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_one(number: &u8) -> bool {
    *number == 1
}

fn yes() -> bool {
    true
}

/// Creates a refusal without a message.
pub fn refuse(exception: ExceptionCode) -> Refusal {
    Refusal {
        exception,
        message: String::new(),
    }
}

/// Creates a failure that reveals the identifier and does not make the change.
pub fn fail(error_code: HandlerErrorCode) -> Failure {
    Failure {
        error_code,
        message: String::new(),
        identifier: Disclosure::default(),
        change: Change::default(),
        hooks: Vec::new(),
    }
}

impl Refusal {
    /// Sets the message.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }
}

impl Failure {
    /// Sets the message.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Hides the identifier of the resource.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.identifier = Disclosure::Hidden;
        self
    }

    /// Makes the change nevertheless.
    #[must_use]
    pub fn made(mut self) -> Self {
        self.change = Change::Made;
        self
    }

    /// Sets the results of hooks.
    #[must_use]
    pub fn hooks(mut self, hooks: impl IntoIterator<Item = HookProgressEvent>) -> Self {
        self.hooks = hooks.into_iter().collect();
        self
    }
}

impl From<Refusal> for Effect {
    fn from(refusal: Refusal) -> Self {
        Effect::Refuse(refusal)
    }
}

impl From<Failure> for Effect {
    fn from(failure: Failure) -> Self {
        Effect::Fail(failure)
    }
}
