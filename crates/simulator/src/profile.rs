use std::time::Duration;

use crate::faults::{Cancelling, Effect, Fault, Sharing, fault};
use crate::request::Action;
use crate::settings::Settings;

/// How a simulated AWS behaves: its settings, and the faults in force from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Calls are answered at once and tell the truth. Changes take less than a second.
    #[default]
    Honest,
    /// What AWS does every day: it takes its time, has quotas, answers reads from replicas, does not say when to poll
    /// again, stores values in other forms, and minds what depends on what.
    Realistic,
    /// The same, with what AWS does on bad days: now and then a change stays PENDING, leaves out a path or runs twice, a
    /// call is not answered, or a reply is lost or conflicts with its own token.
    BadDay,
}

impl Profile {
    /// Returns the settings.
    pub fn settings(self) -> Settings {
        match self {
            Self::Honest => Settings::default(),
            Self::Realistic | Self::BadDay => Settings {
                latency: Duration::from_secs(1)..=Duration::from_secs(8),
                ..Settings::default()
            },
        }
    }

    /// Returns the faults.
    pub fn faults(self) -> Vec<Fault> {
        match self {
            Self::Honest => Vec::new(),
            Self::Realistic => everyday().to_vec(),
            Self::BadDay => [&everyday()[..], &rare()].concat(),
        }
    }
}

fn everyday() -> [Fault; 12] {
    let lag = |action, most_millis| {
        let lag = Effect::Lag {
            least_millis: 0,
            most_millis,
            replicas: 3,
        };
        fault(lag).on(action)
    };
    let quota = |calls, rate, burst| fault(Effect::Quota { calls, rate, burst });
    [
        fault(Effect::Delay {
            least_millis: 80,
            most_millis: 300,
        }),
        quota(Sharing::Mutations, 5.0, 5),
        quota(Sharing::Reads, 25.0, 25),
        lag(Action::GetResource, 5_000),
        lag(Action::ListResources, 15_000),
        fault(Effect::NoRetryAfter {}),
        fault(Effect::FillDefaults {}),
        fault(Effect::Restate {}),
        fault(Effect::FreshRole {
            least_millis: 5_000,
            most_millis: 15_000,
        }),
        fault(Effect::RequireExisting {}),
        fault(Effect::Latency {
            least_millis: 3_000,
            most_millis: 20_000,
        })
        .on(Action::DeleteResource),
        fault(Effect::InUse {}).on(Action::DeleteResource),
    ]
}

fn rare() -> [Fault; 7] {
    let cancel = Cancelling::Accepted;
    let paths = Vec::new();
    let carried_out = true;
    [
        fault(Effect::StayPending { cancel }).with_probability(0.01),
        fault(Effect::DropPaths { paths }).with_probability(0.02),
        fault(Effect::Hang { carried_out }).with_probability(0.002),
        fault(Effect::ConflictToken {}).with_probability(0.01),
        fault(Effect::RunTwice {}).with_probability(0.01),
        fault(Effect::DropReply {}).with_probability(0.005),
        fault(Effect::SessionLife { millis: 60_000 }),
    ]
}
