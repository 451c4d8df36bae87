//! The active faults, and their effects on calls.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use ucp_model::{Entropy, Timestamp};

use super::lag::{Lag, Lags, Read, share};
use super::{Effect, Fault, Matcher, Refusal, Sharing};
use crate::exception::{Exception, ExceptionCode};
use crate::request::{Action, Caller, Request};

/// The data of a call that matchers use.
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

/// What a fault needs of the resources that a change names.
pub(crate) enum Need {
    /// They exist.
    Existing,
    /// Roles are older than this.
    Settled(RangeInclusive<Duration>),
}

/// The active faults, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    armed: Vec<Armed>,
    /// The effects on the call that is being carried out.
    struck: Vec<Effect>,
}

#[derive(Debug)]
pub(super) struct Armed {
    pub(super) fault: Fault,
    /// The token buckets, of one call or of all that share one.
    buckets: BTreeMap<(Option<Action>, Caller), Bucket>,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        if fault.count == Some(0) {
            return;
        }
        self.armed.push(Armed {
            fault,
            buckets: BTreeMap::new(),
        });
    }

    pub(crate) fn clear(&mut self) {
        self.armed.clear();
    }

    pub(crate) fn list(&self) -> impl Iterator<Item = &Fault> {
        self.armed.iter().map(|armed| &armed.fault)
    }

    /// Returns the effects on the call that was carried out last, since this was asked last.
    pub(crate) fn struck(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.struck)
    }

    /// Returns the exception with which the call is refused, if any.
    pub(crate) fn refusal(
        &mut self,
        call: &Call<'_>,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Option<Exception> {
        self.first(call, entropy, |armed| match &armed.fault.effect {
            Effect::Throttle { rate, burst } => {
                let key = (Some(call.action), call.caller.clone());
                let bucket = armed.buckets.entry(key);
                let bucket = bucket.or_insert_with(|| Bucket::full(*burst, now));
                (!bucket.take(*rate, *burst, now)).then(rate_exceeded)
            }
            Effect::Quota { calls, rate, burst } => {
                if sharing(call.action) != Some(*calls) {
                    return None;
                }
                let bucket = armed.buckets.entry((None, call.caller.clone()));
                let bucket = bucket.or_insert_with(|| Bucket::full(*burst, now));
                (!bucket.take(*rate, *burst, now)).then(rate_exceeded)
            }
            Effect::Refuse(Refusal { exception, message }) => {
                Some(Exception::new(*exception, message.clone()))
            }
            Effect::Latency { .. }
            | Effect::Lag { .. }
            | Effect::Fail(_)
            | Effect::InUse {}
            | Effect::DropReply {}
            | Effect::StayPending { .. }
            | Effect::DropPaths { .. }
            | Effect::Hang { .. }
            | Effect::Delay { .. }
            | Effect::ConflictToken {}
            | Effect::RunTwice {}
            | Effect::NoRetryAfter {}
            | Effect::FillDefaults {}
            | Effect::RequireExisting {}
            | Effect::FreshRole { .. }
            | Effect::SessionLife { .. }
            | Effect::Restate {}
            | Effect::RestateFixed {}
            | Effect::Rename { .. } => None,
        })
    }

    /// Returns how the read lags, if a fault hides something that `hides` finds. `chance` selects the replica.
    pub(crate) fn lag(
        &mut self,
        call: &Call<'_>,
        entropy: &dyn Entropy,
        chance: f64,
        hides: impl Fn(&Lag) -> bool,
    ) -> Option<Lag> {
        let read = if call.action == Action::ListResources {
            Read::List
        } else {
            Read::Get
        };
        self.first(call, entropy, |armed| {
            lag_of(&armed.fault, read, chance).filter(|lag| hides(lag))
        })
    }

    /// Returns the bounds of the lags in force.
    pub(crate) fn lags(&self) -> Option<Lags> {
        let lags = self.list().filter_map(|fault| match &fault.effect {
            Effect::Lag {
                most_millis,
                replicas,
                ..
            } => Some(Lags {
                longest: Duration::from_millis(*most_millis),
                replicas: *replicas,
            }),
            _ => None,
        });
        lags.reduce(|a, b| Lags {
            longest: a.longest.max(b.longest),
            replicas: a.replicas.max(b.replicas),
        })
    }

    /// Returns how long the call takes, if a fault delays it.
    pub(crate) fn delay(
        &mut self,
        call: &Call<'_>,
        entropy: &dyn Entropy,
    ) -> Option<RangeInclusive<Duration>> {
        self.first(call, entropy, |armed| match &armed.fault.effect {
            Effect::Delay {
                least_millis,
                most_millis,
            } => Some(Duration::from_millis(*least_millis)..=Duration::from_millis(*most_millis)),
            _ => None,
        })
    }

    /// Whether the call is carried out, if it is never answered.
    pub(crate) fn hang(&mut self, call: &Call<'_>, entropy: &dyn Entropy) -> Option<bool> {
        self.first(call, entropy, |armed| match &armed.fault.effect {
            Effect::Hang { carried_out } => Some(*carried_out),
            _ => None,
        })
    }

    /// Whether the call conflicts with its own client token.
    pub(crate) fn conflicts(&mut self, call: &Call<'_>, entropy: &dyn Entropy) -> bool {
        let conflict = self.first(call, entropy, |armed| {
            matches!(armed.fault.effect, Effect::ConflictToken {}).then_some(())
        });
        conflict.is_some()
    }

    /// Returns what `judge` makes of the needs that faults have of a change, if anything.
    pub(crate) fn unmet<T>(
        &mut self,
        call: &Call<'_>,
        entropy: &dyn Entropy,
        judge: impl Fn(&Need) -> Option<T>,
    ) -> Option<T> {
        self.first(call, entropy, |armed| match &armed.fault.effect {
            Effect::RequireExisting {} => judge(&Need::Existing),
            Effect::FreshRole {
                least_millis,
                most_millis,
            } => judge(&Need::Settled(
                Duration::from_millis(*least_millis)..=Duration::from_millis(*most_millis),
            )),
            _ => None,
        })
    }

    /// Returns how long the session lasts that the call begins, if a fault sets it.
    pub(crate) fn session_life(
        &mut self,
        call: &Call<'_>,
        entropy: &dyn Entropy,
    ) -> Option<Duration> {
        self.first(call, entropy, |armed| match &armed.fault.effect {
            Effect::SessionLife { millis } => Some(Duration::from_millis(*millis)),
            _ => None,
        })
    }

    /// Whether the reply to the call is lost.
    pub(crate) fn drops_reply(&mut self, call: &Call<'_>, entropy: &dyn Entropy) -> bool {
        let dropped = self.first(call, entropy, |armed| {
            matches!(armed.fault.effect, Effect::DropReply {}).then_some(())
        });
        dropped.is_some()
    }

    /// Returns the effect of the first matching fault that `strikes`. A fault is removed when its count is used up.
    pub(super) fn first<T>(
        &mut self,
        call: &Call<'_>,
        entropy: &dyn Entropy,
        mut strikes: impl FnMut(&mut Armed) -> Option<T>,
    ) -> Option<T> {
        let (index, effect) = self
            .armed
            .iter_mut()
            .enumerate()
            .find_map(|(index, armed)| {
                let is_meant = armed.fault.matcher.matches(call);
                let effect = is_meant.then(|| strikes(armed)).flatten()?;
                let probability = armed.fault.probability;
                let is_struck =
                    probability >= 1.0 || entropy.fraction("simulator.fault") < probability;
                is_struck.then_some((index, effect))
            })?;
        let fault = &mut self.armed[index].fault;
        self.struck.push(fault.effect.clone());
        if let Some(count) = &mut fault.count {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.armed.remove(index);
            }
        }
        Some(effect)
    }
}

fn rate_exceeded() -> Exception {
    Exception::new(ExceptionCode::Throttling, "Rate exceeded")
}

/// Returns the calls of Cloud Control with which a call shares a quota.
fn sharing(action: Action) -> Option<Sharing> {
    match action {
        Action::CreateResource
        | Action::UpdateResource
        | Action::DeleteResource
        | Action::CancelResourceRequest => Some(Sharing::Mutations),
        Action::GetResource
        | Action::ListResources
        | Action::GetResourceRequestStatus
        | Action::ListResourceRequests => Some(Sharing::Reads),
        Action::DescribeType
        | Action::ListTypes
        | Action::GetCallerIdentity
        | Action::AssumeRole
        | Action::AssumeRoleWithWebIdentity => None,
    }
}

fn lag_of(fault: &Fault, read: Read, chance: f64) -> Option<Lag> {
    match &fault.effect {
        Effect::Lag {
            least_millis,
            most_millis,
            replicas,
        } => Some(Lag {
            takes: Duration::from_millis(*least_millis)..=Duration::from_millis(*most_millis),
            read,
            replica: share(chance, *replicas),
        }),
        _ => None,
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

    /// Takes a token. Returns false if there is none.
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
