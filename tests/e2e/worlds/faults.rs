use ucp_simulator::faults::{Effect, Fault, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode, Profile};
use ucp_testkit::World;

use crate::draw::Draw;
use crate::retries::{CODES, Class};

/// The faults of a world. Each kind is in about half of the worlds.
#[derive(Debug)]
pub(super) struct Faults {
    of_all: Vec<Fault>,
}

impl Faults {
    pub(super) fn drawn(draw: &Draw) -> Self {
        let mut of_all = Vec::new();
        if draw.one_in(2) {
            let least_millis = draw.below(1_000) as u64;
            let lag = fault(Effect::Lag {
                least_millis,
                most_millis: least_millis + draw.below(20_000) as u64,
                replicas: 1,
            });
            // With a probability, what has been seen may be invisible again.
            of_all.push(match draw.one_in(2) {
                true => lag.with_probability(0.7),
                false => lag,
            });
        }
        if draw.one_in(2) {
            of_all.push(fault(refuse(ExceptionCode::Throttling)).with_probability(0.15));
        }
        if draw.one_in(2) {
            of_all.push(fault(Effect::DropReply {}).with_probability(0.1));
        }
        if draw.one_in(2) {
            let not_found = fault(refuse(ExceptionCode::ResourceNotFound));
            of_all.push(not_found.on(Action::GetResource).with_probability(0.3));
        }
        Self { of_all }
    }

    /// Creates of which AWS does not say what came of them: some make something, some nothing.
    pub(super) fn hiding_outcomes(draw: &Draw) -> Self {
        let late = || fail(HandlerErrorCode::ServiceTimeout).hidden();
        let hidden = [
            fault(late().made()),
            fault(late()),
            fault(refuse(ExceptionCode::ClientTokenConflict)),
            fault(Effect::DropReply {}),
        ];
        let hidden = hidden.map(|fault| fault.on(Action::CreateResource).with_probability(0.2));
        let mut of_all = Self::drawn(draw).of_all;
        of_all.extend(hidden);
        Self { of_all }
    }

    /// Handlers that fail, in AWS's words of all kinds: before they have changed anything or afterwards, and telling of which
    /// resource or not.
    pub(super) fn failing(draw: &Draw) -> Self {
        let mut of_all = Self::drawn(draw).of_all;
        let calls = [
            Action::CreateResource,
            Action::UpdateResource,
            Action::DeleteResource,
        ];
        for _ in 0..4 {
            let (code, class) = draw.pick(&CODES);
            let mut failure = fail(code);
            if draw.one_in(2) {
                failure = failure.hidden();
            }
            if class != Class::Refused && draw.one_in(2) {
                failure = failure.made();
            }
            let failure = fault(failure).on(draw.pick(&calls));
            of_all.push(failure.with_probability(0.2));
        }
        Self { of_all }
    }

    /// What a profile of the simulator has, except for what only takes a call time.
    pub(super) fn of(profile: Profile) -> Self {
        let mut of_all = profile.faults();
        of_all.retain(|fault| !matches!(fault.effect, Effect::Delay { .. } | Effect::Hang { .. }));
        Self { of_all }
    }

    /// Puts the faults in force.
    pub(super) fn set(&self, world: &World) {
        world.aws.clear_faults();
        for fault in &self.of_all {
            world.aws.add_fault(fault.clone());
        }
    }
}
