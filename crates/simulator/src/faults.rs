//! Faults to order: which calls they befall, how often, and what goes wrong.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ucp_model::{Entropy, Timestamp};

use crate::exception::{Exception, ExceptionCode};
use crate::progress::{HandlerErrorCode, HookProgressEvent};
use crate::request::{Action, Caller, Request};

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
    Refuse {
        /// Which exception.
        exception: ExceptionCode,
        /// Its text.
        #[serde(default)]
        message: String,
    },
    /// The change that the call begins ends as FAILED.
    Fail {
        /// Why.
        error_code: HandlerErrorCode,
        /// Why, in a sentence.
        #[serde(default)]
        message: String,
        /// Whether the progress events name the resource.
        #[serde(default)]
        identifier: Disclosure,
        /// Whether the change is made all the same: a resource left behind by a failed create, for example.
        #[serde(default)]
        change: Change,
        /// What hooks say to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hooks: Vec<HookProgressEvent>,
    },
    /// The delete that the call begins fails for as long as another resource of the account and region names this one.
    InUse {},
    /// The call is carried out and its reply is lost: the connection closes without a word.
    DropReply {},
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

/// A call as matchers see it.
pub(crate) struct Call<'a> {
    pub(crate) action: Action,
    pub(crate) type_name: Option<&'a str>,
    pub(crate) caller: &'a Caller,
}

impl<'a> Call<'a> {
    pub(crate) fn new(caller: &'a Caller, request: &'a Request) -> Self {
        Self {
            action: request.action(),
            type_name: request.type_name(),
            caller,
        }
    }
}

/// How a change in flight fails by order.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) error_code: HandlerErrorCode,
    pub(crate) message: String,
    pub(crate) identifier: Disclosure,
    pub(crate) change: Change,
    pub(crate) hooks: Vec<HookProgressEvent>,
}

/// The faults in force, in the order in which they were given.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Armed>);

#[derive(Debug)]
struct Armed {
    fault: Fault,
    buckets: BTreeMap<(Action, Caller), Bucket>,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        if fault.count == Some(0) {
            return;
        }
        self.0.push(Armed {
            fault,
            buckets: BTreeMap::new(),
        });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn list(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter().map(|armed| &armed.fault)
    }

    /// The exception that the call meets before anything happens.
    pub(crate) fn refusal(
        &mut self,
        call: &Call<'_>,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Option<Exception> {
        self.first(call, entropy, |armed| match &armed.fault.effect {
            Effect::Throttle { rate, burst } => {
                let key = (call.action, call.caller.clone());
                let bucket = armed
                    .buckets
                    .entry(key)
                    .or_insert_with(|| Bucket::full(*burst, now));
                let is_empty = !bucket.take(*rate, *burst, now);
                is_empty.then(|| Exception::new(ExceptionCode::Throttling, "Rate exceeded"))
            }
            Effect::Refuse { exception, message } => {
                Some(Exception::new(*exception, message.clone()))
            }
            Effect::Latency { .. }
            | Effect::Fail { .. }
            | Effect::InUse {}
            | Effect::DropReply {} => None,
        })
    }

    /// How long the change that the call begins takes instead.
    pub(crate) fn latency(
        &mut self,
        call: &Call<'_>,
        entropy: &dyn Entropy,
    ) -> Option<RangeInclusive<Duration>> {
        self.first(call, entropy, |armed| match &armed.fault.effect {
            Effect::Latency {
                least_millis,
                most_millis,
            } => Some(Duration::from_millis(*least_millis)..=Duration::from_millis(*most_millis)),
            _ => None,
        })
    }

    /// How the change that the call begins fails.
    pub(crate) fn failure(&mut self, call: &Call<'_>, entropy: &dyn Entropy) -> Option<Failure> {
        self.first(call, entropy, |armed| match &armed.fault.effect {
            Effect::Fail {
                error_code,
                message,
                identifier,
                change,
                hooks,
            } => Some(Failure {
                error_code: *error_code,
                message: message.clone(),
                identifier: *identifier,
                change: *change,
                hooks: hooks.clone(),
            }),
            _ => None,
        })
    }

    /// Whether the delete that the call begins looks for those who name the resource.
    pub(crate) fn minds_use(&mut self, call: &Call<'_>, entropy: &dyn Entropy) -> bool {
        let minded = self.first(call, entropy, |armed| {
            matches!(armed.fault.effect, Effect::InUse {}).then_some(())
        });
        minded.is_some()
    }

    /// Whether the reply to the call is lost.
    pub(crate) fn drops_reply(&mut self, call: &Call<'_>, entropy: &dyn Entropy) -> bool {
        let dropped = self.first(call, entropy, |armed| {
            matches!(armed.fault.effect, Effect::DropReply {}).then_some(())
        });
        dropped.is_some()
    }

    /// What the first fault that `strikes` does to the call. A fault that has struck often enough is gone.
    fn first<T>(
        &mut self,
        call: &Call<'_>,
        entropy: &dyn Entropy,
        mut strikes: impl FnMut(&mut Armed) -> Option<T>,
    ) -> Option<T> {
        let (index, effect) = self.0.iter_mut().enumerate().find_map(|(index, armed)| {
            let is_meant = armed.fault.matcher.matches(call);
            let effect = is_meant.then(|| strikes(armed)).flatten()?;
            let probability = armed.fault.probability;
            let is_struck = probability >= 1.0 || entropy.fraction("simulator.fault") < probability;
            is_struck.then_some((index, effect))
        })?;
        if let Some(count) = &mut self.0[index].fault.count {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.0.remove(index);
            }
        }
        Some(effect)
    }
}

impl Matcher {
    fn matches(&self, call: &Call<'_>) -> bool {
        let agrees = |wanted: &Option<String>, given: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == given
        };
        self.operation.is_none_or(|wanted| wanted == call.action)
            && agrees(&self.type_name, call.type_name)
            && agrees(&self.account, Some(&call.caller.account))
            && agrees(&self.region, Some(&call.caller.region))
    }
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    refilled_at: Timestamp,
}

impl Bucket {
    fn full(burst: u32, now: Timestamp) -> Self {
        Self {
            tokens: f64::from(burst),
            refilled_at: now,
        }
    }

    /// Takes a token; false when there is none.
    fn take(&mut self, rate: f64, burst: u32, now: Timestamp) -> bool {
        let refill = now.since(self.refilled_at).as_secs_f64() * rate;
        self.tokens = (self.tokens + refill).min(f64::from(burst));
        self.refilled_at = self.refilled_at.max(now);
        let has_token = self.tokens >= 1.0;
        if has_token {
            self.tokens -= 1.0;
        }
        has_token
    }
}
