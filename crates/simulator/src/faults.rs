//! Faults to order: which calls they befall, how often, and what goes wrong.

mod in_force;

use serde::{Deserialize, Serialize};

use crate::exception::ExceptionCode;
use crate::progress::{HandlerErrorCode, HookProgressEvent};
use crate::request::Action;

pub(crate) use in_force::{Call, Faults};

/// Something that goes wrong with the calls that it matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// Which calls.
    #[serde(rename = "match", default)]
    pub matcher: Matcher,
    /// How many more times it strikes; always, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// How likely it strikes a call that matches.
    #[serde(default = "certain")]
    pub probability: f64,
    /// What goes wrong.
    pub effect: Effect,
}

/// The calls that a fault befalls: those that agree with everything given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Matcher {
    /// The name of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Action>,
    /// The resource type it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The caller's account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The caller's region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Effect {
    /// The change that the call begins takes this long instead of the usual time.
    Latency {
        /// At least, in milliseconds.
        least_millis: u64,
        /// At most, in milliseconds.
        most_millis: u64,
    },
    /// A token bucket for each operation, account and region; a call that finds it empty is refused.
    Throttle {
        /// How many calls a second it refills for.
        rate: f64,
        /// How many calls it holds.
        burst: u32,
    },
    /// The call is refused with an exception, and nothing happens.
    Refuse(Refusal),
    /// The change that the call begins ends as FAILED.
    Fail(Failure),
    /// The delete that the call begins fails for as long as another resource of the account and region names this one.
    InUse {},
    /// The call is carried out and its reply is lost: the connection closes without a word.
    DropReply {},
}

/// How a call is refused; see [`refuse`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Refusal {
    /// Which exception.
    pub exception: ExceptionCode,
    /// Its text.
    #[serde(default)]
    pub message: String,
}

/// How a change fails; see [`fail`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// Why.
    pub error_code: HandlerErrorCode,
    /// Why, in a sentence.
    #[serde(default)]
    pub message: String,
    /// Whether the progress events name the resource.
    #[serde(default)]
    pub identifier: Disclosure,
    /// Whether the change is made all the same: a resource left behind by a failed create, for example.
    #[serde(default)]
    pub change: Change,
    /// What hooks say to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookProgressEvent>,
}

/// Whether a failed change names its resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Disclosure {
    /// It does.
    #[default]
    Revealed,
    /// It does not.
    Hidden,
}

/// Whether a failed change is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// It is not: a create leaves nothing behind, a delete leaves the resource.
    #[default]
    NotMade,
    /// It is: the resource exists after a create, and is gone after a delete.
    Made,
}

fn certain() -> f64 {
    1.0
}

/// A fault that befalls every call, always. `fault(refuse(ExceptionCode::Throttling)).on(Action::GetResource).times(2)`
/// befalls two of them.
pub fn fault(effect: impl Into<Effect>) -> Fault {
    Fault {
        matcher: Matcher::default(),
        count: None,
        probability: certain(),
        effect: effect.into(),
    }
}

/// A refusal without a text.
pub fn refuse(exception: ExceptionCode) -> Refusal {
    Refusal {
        exception,
        message: String::new(),
    }
}

/// A failure that names the resource and changes nothing.
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
    /// Befalls this call only.
    #[must_use]
    pub fn on(mut self, operation: Action) -> Self {
        self.matcher.operation = Some(operation);
        self
    }

    /// Befalls calls about this resource type only, such as `AWS::EC2::VPC`.
    #[must_use]
    pub fn of_type(mut self, type_name: &str) -> Self {
        self.matcher.type_name = Some(type_name.to_owned());
        self
    }

    /// Befalls calls of this account only.
    #[must_use]
    pub fn by_account(mut self, account: &str) -> Self {
        self.matcher.account = Some(account.to_owned());
        self
    }

    /// Strikes so many times.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.count = Some(count);
        self
    }

    /// Strikes with this probability.
    #[must_use]
    pub fn with_probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
    }
}

impl Refusal {
    /// The same with a text.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }
}

impl Failure {
    /// The same with a text.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The same without naming the resource.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.identifier = Disclosure::Hidden;
        self
    }

    /// The same after the change was made.
    #[must_use]
    pub fn made(mut self) -> Self {
        self.change = Change::Made;
        self
    }

    /// The same with what hooks say to it.
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
