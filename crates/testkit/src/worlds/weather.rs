//! Draws the faults of worlds.

use ucp_simulator::faults::{Cancelling, Effect, Fault, Sharing, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode, Profile};

use super::alias::{DATABASE, LOG_GROUP, PARAMETER, type_name};
use crate::Draw;

const MUTATIONS: [Action; 3] = [
    Action::CreateResource,
    Action::UpdateResource,
    Action::DeleteResource,
];

/// The errors of handlers, and whether the handler may have made its change nevertheless.
const FAILURES: [(HandlerErrorCode, bool); 16] = [
    (HandlerErrorCode::AccessDenied, false),
    (HandlerErrorCode::AlreadyExists, true),
    (HandlerErrorCode::GeneralServiceException, true),
    (HandlerErrorCode::InternalFailure, true),
    (HandlerErrorCode::InvalidCredentials, true),
    (HandlerErrorCode::InvalidRequest, false),
    (HandlerErrorCode::NetworkFailure, true),
    (HandlerErrorCode::NotFound, true),
    (HandlerErrorCode::NotStabilized, true),
    (HandlerErrorCode::NotUpdatable, false),
    (HandlerErrorCode::ResourceConflict, true),
    (HandlerErrorCode::ServiceInternalError, true),
    (HandlerErrorCode::ServiceLimitExceeded, true),
    (HandlerErrorCode::ServiceTimeout, true),
    (HandlerErrorCode::Throttling, true),
    (HandlerErrorCode::UnauthorizedTaggingOperation, false),
];

/// Exceptions that pass.
const EXCEPTIONS: [ExceptionCode; 5] = [
    ExceptionCode::Throttling,
    ExceptionCode::ServiceInternalError,
    ExceptionCode::NetworkFailure,
    ExceptionCode::NotStabilized,
    ExceptionCode::InternalFailure,
];

/// Draws the faults of a world. Each kind of the simulator is in some of them, except for those of roles, which no world has,
/// and for names that AWS gives against the declaration.
pub(super) fn drawn(draw: &Draw) -> Vec<Fault> {
    match draw.below(9) {
        0 => Vec::new(),
        1 | 2 => unsettled(draw),
        3 => [unsettled(draw), hiding_outcomes()].concat(),
        4 => [unsettled(draw), failing(draw)].concat(),
        5 => Profile::Realistic.faults(),
        6 => Profile::BadDay.faults(),
        _ => (0..1 + draw.below(5)).map(|_| any(draw)).collect(),
    }
}

/// Each kind is in about half of the worlds.
fn unsettled(draw: &Draw) -> Vec<Fault> {
    let mut faults = Vec::new();
    if draw.one_in(2) {
        let lag = fault(lag(draw, 1));
        // With a probability, what has been seen may be invisible again.
        faults.push(if draw.one_in(2) {
            lag.with_probability(0.7)
        } else {
            lag
        });
    }
    if draw.one_in(2) {
        faults.push(fault(refuse(ExceptionCode::Throttling)).with_probability(0.15));
    }
    if draw.one_in(2) {
        faults.push(fault(Effect::DropReply {}).with_probability(0.1));
    }
    if draw.one_in(2) {
        let not_found = fault(refuse(ExceptionCode::ResourceNotFound));
        faults.push(not_found.on(Action::GetResource).with_probability(0.3));
    }
    faults
}

/// Creates of which AWS does not say what came of them: some make something, some nothing.
fn hiding_outcomes() -> Vec<Fault> {
    let late = || fail(HandlerErrorCode::ServiceTimeout).hidden();
    let hidden = [
        fault(late().made()),
        fault(late()),
        fault(refuse(ExceptionCode::ClientTokenConflict)),
        fault(Effect::DropReply {}),
    ];
    let on_creates = |fault: Fault| fault.on(Action::CreateResource).with_probability(0.2);
    hidden.map(on_creates).into()
}

/// Handlers that fail, in AWS's words of all kinds: before they have changed anything or afterwards, and telling of which
/// resource or not.
fn failing(draw: &Draw) -> Vec<Fault> {
    let failures = (0..4).map(|_| {
        let (code, may_be_made) = draw.pick(&FAILURES);
        let mut failure = fail(code);
        if draw.one_in(2) {
            failure = failure.hidden();
        }
        if may_be_made && draw.one_in(2) {
            failure = failure.made();
        }
        let failure = fault(failure).on(draw.pick(&MUTATIONS));
        failure.with_probability(0.2)
    });
    failures.collect()
}

/// Handlers that refuse creates, for other reasons than that something exists.
pub(super) fn refused_creates(draw: &Draw) -> Vec<Fault> {
    let codes = [
        HandlerErrorCode::AccessDenied,
        HandlerErrorCode::InvalidRequest,
        HandlerErrorCode::ServiceInternalError,
        HandlerErrorCode::ServiceLimitExceeded,
    ];
    let refused = [DATABASE, LOG_GROUP, PARAMETER].map(|resource_type| {
        let refusal = fault(fail(draw.pick(&codes))).on(Action::CreateResource);
        refusal
            .of_type(&type_name(resource_type))
            .with_probability(0.4)
    });
    refused.into()
}

fn lag(draw: &Draw, replicas: u8) -> Effect {
    let least_millis = draw.below(1_000) as u64;
    Effect::Lag {
        least_millis,
        most_millis: least_millis + draw.below(20_000) as u64,
        replicas,
    }
}

/// Any fault, on some calls or on all.
fn any(draw: &Draw) -> Fault {
    let millis = |most: usize| 1 + draw.below(most) as u64;
    let mutation = draw.pick(&MUTATIONS);
    let share = draw.pick(&[0.02, 0.1, 0.3]);
    match draw.below(19) {
        0 => fault(Effect::Latency {
            least_millis: 100,
            most_millis: 100 + millis(120_000),
        })
        .on(mutation),
        1 => fault(lag(draw, 3)),
        2 => fault(Effect::Throttle {
            rate: 2.0,
            burst: 2,
        }),
        3 => fault(Effect::Quota {
            calls: draw.pick(&[Sharing::Mutations, Sharing::Reads]),
            rate: 2.0,
            burst: 3,
        }),
        4 => fault(refuse(draw.pick(&EXCEPTIONS))).with_probability(share),
        5 => failing(draw).swap_remove(0),
        6 => fault(Effect::InUse {}).on(Action::DeleteResource),
        7 => fault(Effect::DropReply {}).with_probability(share),
        8 => {
            // What cannot be cancelled is looked at for the week that AWS knows it: too long for a world.
            let cancel = Cancelling::Accepted;
            let pending = fault(Effect::StayPending { cancel }).on(mutation);
            pending.with_probability(share)
        }
        9 => {
            let paths = Vec::new();
            fault(Effect::DropPaths { paths }).with_probability(share)
        }
        10 => {
            let carried_out = draw.one_in(2);
            fault(Effect::Hang { carried_out }).with_probability(0.02)
        }
        11 => fault(Effect::Delay {
            least_millis: 1,
            most_millis: millis(5_000),
        }),
        12 => fault(Effect::ConflictToken {}).with_probability(share),
        13 => fault(Effect::RunTwice {})
            .on(Action::CreateResource)
            .with_probability(share),
        14 => fault(Effect::NoRetryAfter {}),
        15 => fault(Effect::FillDefaults {}),
        16 => fault(Effect::Restate {}),
        17 => fault(Effect::RestateFixed {}),
        _ => fault(Effect::RequireExisting {}),
    }
}
