//! Configurable faults: the calls that they affect, how often, and their effects.

mod in_force;

use serde::{Deserialize, Serialize};

use crate::exception::ExceptionCode;
use crate::progress::{HandlerErrorCode, HookProgressEvent};
use crate::request::Action;

pub(crate) use in_force::{Call, Faults};

/// A fault of the calls that it matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// The calls that the fault may affect.
    #[serde(rename = "match", default)]
    pub matcher: Matcher,
    /// How many more times the fault takes effect; without limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The probability that the fault takes effect on a matching call.
    #[serde(default = "certain")]
    pub probability: f64,
    /// The effect of the fault.
    pub effect: Effect,
}

/// Matches calls that agree with all given members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Matcher {
    /// The name of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Action>,
    /// The resource type of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The caller's account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The caller's region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

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
    /// The time is drawn once for each change, so reads that all lag never go back in time. With a probability, a read
    /// may show an older state than the one before it.
    Lag {
        /// The minimum, in milliseconds.
        least_millis: u64,
        /// The maximum, in milliseconds.
        most_millis: u64,
    },
    /// Calls are throttled by a token bucket per operation, account and region.
    Throttle {
        /// The refill rate, in calls per second.
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
    /// The create that the call starts gives the resource this identifier, whatever its desired state declares.
    Rename {
        /// The primary identifier.
        identifier: String,
    },
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

fn certain() -> f64 {
    1.0
}

/// Creates a fault that affects every call. `fault(refuse(ExceptionCode::Throttling)).on(Action::GetResource).times(2)`
/// affects two calls.
pub fn fault(effect: impl Into<Effect>) -> Fault {
    Fault {
        matcher: Matcher::default(),
        count: None,
        probability: certain(),
        effect: effect.into(),
    }
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

impl Fault {
    /// Affects only this call.
    #[must_use]
    pub fn on(mut self, operation: Action) -> Self {
        self.matcher.operation = Some(operation);
        self
    }

    /// Affects only calls about this resource type, such as `AWS::EC2::VPC`.
    #[must_use]
    pub fn of_type(mut self, type_name: &str) -> Self {
        self.matcher.type_name = Some(type_name.to_owned());
        self
    }

    /// Affects only calls of this account.
    #[must_use]
    pub fn by_account(mut self, account: &str) -> Self {
        self.matcher.account = Some(account.to_owned());
        self
    }

    /// Takes effect this many times.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.count = Some(count);
        self
    }

    /// Takes effect with this probability.
    #[must_use]
    pub fn with_probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
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
