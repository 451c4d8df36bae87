//! What faults order for a change, as drawn when it is accepted.

use std::ops::RangeInclusive;
use std::time::Duration;

use ucp_model::{Entropy, Identifier};

use super::{Call, Cancelling, Effect, Failure, Faults};

/// What faults order for the change that a call starts.
pub(crate) struct Orders {
    /// How long the change takes.
    pub(crate) latency: Option<RangeInclusive<Duration>>,
    /// Whether it stays PENDING, and what a cancel then does.
    pub(crate) pending: Option<Cancelling>,
    /// Whether its progress events say when to poll again.
    pub(crate) says_when: bool,
    /// How it fails.
    pub(crate) failure: Option<Failure>,
    /// Whether a delete fails while other resources refer to this one.
    pub(crate) minds_use: bool,
    /// Whether the handler of a create runs twice.
    pub(crate) runs_twice: bool,
    /// Whether absent properties are set to their defaults.
    pub(crate) fills_defaults: bool,
    /// Whether the values are stored in another form.
    pub(crate) restates: bool,
    /// Whether the create stores create-only texts in a form of its own.
    pub(crate) restates_fixed: bool,
    /// The properties that it silently leaves as they were; one is drawn if there are none.
    pub(crate) dropped_paths: Option<Vec<String>>,
    /// The identifier of the new resource.
    pub(crate) name: Option<Identifier>,
}

impl Orders {
    /// Draws what `faults` order for the change that the call starts.
    pub(crate) fn drawn(faults: &mut Faults, call: &Call<'_>, entropy: &dyn Entropy) -> Self {
        Self {
            latency: ordered(faults, call, entropy, |effect| match effect {
                Effect::Latency {
                    least_millis,
                    most_millis,
                } => {
                    Some(Duration::from_millis(*least_millis)..=Duration::from_millis(*most_millis))
                }
                _ => None,
            }),
            pending: ordered(faults, call, entropy, |effect| match effect {
                Effect::StayPending { cancel } => Some(*cancel),
                _ => None,
            }),
            says_when: !is_ordered(faults, call, entropy, &Effect::NoRetryAfter {}),
            failure: ordered(faults, call, entropy, |effect| match effect {
                Effect::Fail(failure) => Some(failure.clone()),
                _ => None,
            }),
            minds_use: is_ordered(faults, call, entropy, &Effect::InUse {}),
            runs_twice: is_ordered(faults, call, entropy, &Effect::RunTwice {}),
            fills_defaults: is_ordered(faults, call, entropy, &Effect::FillDefaults {}),
            restates: is_ordered(faults, call, entropy, &Effect::Restate {}),
            restates_fixed: is_ordered(faults, call, entropy, &Effect::RestateFixed {}),
            dropped_paths: ordered(faults, call, entropy, |effect| match effect {
                Effect::DropPaths { paths } => Some(paths.clone()),
                _ => None,
            }),
            name: ordered(faults, call, entropy, |effect| match effect {
                Effect::Rename { identifier } => Some(Identifier::new(identifier)),
                _ => None,
            }),
        }
    }
}

fn ordered<T>(
    faults: &mut Faults,
    call: &Call<'_>,
    entropy: &dyn Entropy,
    of: impl Fn(&Effect) -> Option<T>,
) -> Option<T> {
    faults.first(call, entropy, |armed| of(&armed.fault.effect))
}

fn is_ordered(
    faults: &mut Faults,
    call: &Call<'_>,
    entropy: &dyn Entropy,
    effect: &Effect,
) -> bool {
    let order = ordered(faults, call, entropy, |it| (it == effect).then_some(()));
    order.is_some()
}
