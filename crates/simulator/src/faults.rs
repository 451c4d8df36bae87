//! Configurable faults: the calls that they affect, how often, and their effects.

mod effect;
mod in_force;
mod lag;
mod orders;

use serde::{Deserialize, Serialize};

use crate::request::Action;

pub use effect::{Cancelling, Change, Disclosure, Effect, Failure, Refusal, Sharing, fail, refuse};
pub(crate) use in_force::{Call, Faults, Need};
pub(crate) use lag::{Lag, Lags};
pub(crate) use orders::Orders;

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
