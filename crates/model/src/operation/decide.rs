use super::decision::{Chance, Decision, Effect, Next, Observation};
use super::group::{self, GroupWork, Survey};
use super::header::Header;
use super::record::{Operation, Work};
use super::resource::{self, ResourceWork};
use crate::{Failure, Timestamp};

/// Decides the next step of `operation` after an observation. Total and pure: every state accepts every observation,
/// and an observation that does not fit the state (late, duplicate) changes nothing.
pub fn decide(
    operation: &Operation,
    observation: Observation,
    now: Timestamp,
    chance: Chance,
) -> Decision {
    let Operation { header, work } = operation;
    match (work, observation) {
        (Work::Resource(work), observation) => on_resource(header, work, observation, now, chance),
        (Work::Group(work), Observation::Surveyed(survey)) => on_group(header, work, survey, now),
        (Work::Group(work), Observation::GivenUp) if work.ended().is_none() => {
            given_up(header, work, now)
        }
        (Work::Group(work), Observation::Claimed) if work.ended().is_none() => Decision {
            next: Next::Keep,
            effect: Some(Effect::Survey),
            reason: "survey the group",
        },
        (
            Work::Group(_),
            Observation::Claimed
            | Observation::GivenUp
            | Observation::Unprepared(_)
            | Observation::Looked(..)
            | Observation::Read(_)
            | Observation::Listed(_)
            | Observation::Searched(_)
            | Observation::Submitted(_)
            | Observation::Polled(_)
            | Observation::CancelAsked(_)
            | Observation::Taken(_),
        ) => Decision {
            next: Next::Keep,
            effect: None,
            reason: "not an observation for an operation on a group",
        },
    }
}

fn on_resource(
    header: &Header,
    work: &ResourceWork,
    observation: Observation,
    now: Timestamp,
    chance: Chance,
) -> Decision {
    let found = observation.found();
    let found = found.and_then(|(identifier, ownership)| work.found_as(identifier, ownership));
    let work = found.as_ref().unwrap_or(work);
    let is_cancel_requested = header.cancel_requested_at.is_some();
    let last_error = if observation == Observation::Claimed {
        work.last_error.clone()
    } else {
        observation.fault().map(Failure::from)
    };
    let decision = resource::decide(work, is_cancel_requested, observation, now, chance);
    let next = match decision.next {
        resource::Next::Keep => Next::Keep,
        resource::Next::Move(moved) => Next::Move {
            is_new_intent: moved.planned.is_some(),
            operation: Box::new(Operation {
                header: Header {
                    due_at: moved.due_at,
                    ..header.clone()
                },
                work: Work::Resource(Box::new(ResourceWork {
                    last_error: last_error.filter(|_| moved.attempt > 0),
                    ..moved.of(work, now)
                })),
            }),
        },
        resource::Next::Finish(finish) => Next::Finish {
            reference: Some(finish.reference),
            leftover: finish.leftover.clone(),
            operation: Box::new(Operation {
                header: ended(header, now),
                work: Work::Resource(Box::new(finish.of(work, now))),
            }),
        },
    };
    Decision {
        next,
        effect: decision.effect,
        reason: decision.reason,
    }
}

/// Ends an operation on a group whose step no worker could finish. Its children go on.
fn given_up(header: &Header, work: &GroupWork, now: Timestamp) -> Decision {
    let finish = group::given_up(work);
    Decision {
        next: Next::Finish {
            reference: None,
            leftover: None,
            operation: Box::new(Operation {
                header: ended(header, now),
                work: Work::Group(Box::new(finish.of(work))),
            }),
        },
        effect: None,
        reason: "no worker could finish a step",
    }
}

fn on_group(header: &Header, work: &GroupWork, survey: Survey, now: Timestamp) -> Decision {
    let is_cancel_requested = header.cancel_requested_at.is_some();
    let decision = group::decide(work, is_cancel_requested, &survey, now);
    let (next, effect) = match decision.next {
        group::Next::Keep => (Next::Keep, None),
        group::Next::Start(children) => (Next::Keep, Some(Effect::Start(children))),
        group::Next::ReadOutputs => (Next::Keep, Some(Effect::ReadOutputs)),
        group::Next::TakeBack => (Next::Keep, Some(Effect::TakeBack)),
        group::Next::Wait(moved) => {
            let next = Next::Move {
                is_new_intent: false,
                operation: Box::new(Operation {
                    header: Header {
                        due_at: moved.due_at,
                        ..header.clone()
                    },
                    work: Work::Group(Box::new(moved.of(work, survey.ended_children()))),
                }),
            };
            (next, None)
        }
        group::Next::Finish(finish) => {
            let next = Next::Finish {
                reference: None,
                leftover: None,
                operation: Box::new(Operation {
                    header: ended(header, now),
                    work: Work::Group(Box::new(finish.of(work))),
                }),
            };
            (next, None)
        }
    };
    Decision {
        next,
        effect,
        reason: decision.reason,
    }
}

fn ended(header: &Header, now: Timestamp) -> Header {
    Header {
        due_at: now,
        ended_at: Some(now),
        ..header.clone()
    }
}
