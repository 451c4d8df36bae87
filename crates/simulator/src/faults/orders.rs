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
            says_when: ordered(faults, call, entropy, |effect| {
                matches!(effect, Effect::NoRetryAfter {}).then_some(())
            })
            .is_none(),
            failure: ordered(faults, call, entropy, |effect| match effect {
                Effect::Fail(failure) => Some(failure.clone()),
                _ => None,
            }),
            minds_use: ordered(faults, call, entropy, |effect| {
                matches!(effect, Effect::InUse {}).then_some(())
            })
            .is_some(),
            runs_twice: ordered(faults, call, entropy, |effect| {
                matches!(effect, Effect::RunTwice {}).then_some(())
            })
            .is_some(),
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
