//! The state machine: what each state makes of each observation, and what holds whatever comes in which order.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use ucp_model::operation::{
    Action, CLIENT_TOKEN_LIFE, CONSISTENCY_BOUND, Chance, Decision, Intent, Kind, MappingChange,
    Next, Observation, Options, PATIENCE, PlanOutcome, Presence, decide,
};
use ucp_model::{
    ClientToken, CorrelationId, Failure, Fault, Identifier, Operation, OperationId, Progress,
    ProgressStatus, RequestToken, Scope, State, Timestamp, TypeName,
};
use uuid::Uuid;

const START: Timestamp = Timestamp::from_millis(1_000_000);

fn token(number: u128) -> ClientToken {
    ClientToken(Uuid::from_u128(number))
}

fn chance(number: u128) -> Chance {
    Chance {
        token: token(number),
        jitter: 0.5,
    }
}

fn operation(kind: Kind) -> Operation {
    Operation {
        id: OperationId(Uuid::nil()),
        kind,
        scope: Scope::new("aws", "123456789012", "us-west-2").unwrap(),
        type_name: TypeName::from_cloudformation("AWS::EC2::VPC").unwrap(),
        reference: "/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/a"
            .parse()
            .ok(),
        identifier: None,
        was_mapped: false,
        created: false,
        options: Options::default(),
        state: State::Accepted,
        state_since: START,
        attempt: 0,
        due_at: START,
        changes: Vec::new(),
        result: None,
        schema_fingerprint: String::new(),
        parent: None,
        correlation_id: CorrelationId::new("c"),
        caller: "anonymous".to_owned(),
        accepted_at: START,
        ended_at: None,
    }
}

fn intent(action: Action, base: Option<&str>) -> Intent {
    Intent {
        action,
        client_token: token(1),
        issued_at: START,
        base: base.map(str::to_owned),
        unanswered: 1,
    }
}

fn mapped(operation: Operation) -> Operation {
    Operation {
        identifier: Some(Identifier::new("vpc-1")),
        was_mapped: true,
        ..operation
    }
}

fn progress(status: ProgressStatus, identifier: Option<&str>) -> Progress {
    Progress {
        request_token: RequestToken::new("r"),
        status,
        identifier: identifier.map(Identifier::new),
        retry_after: None,
    }
}

fn failed(code: &str) -> ProgressStatus {
    ProgressStatus::Failed {
        code: code.to_owned(),
        message: "text".to_owned(),
    }
}

fn present(digest: &str) -> Presence {
    Presence::Present {
        live: json!({}),
        digest: digest.to_owned(),
    }
}

fn rejected() -> Fault {
    Fault::Rejected {
        code: "InvalidRequestException".to_owned(),
        message: "no".to_owned(),
    }
}

fn denied() -> Fault {
    Fault::Denied {
        code: "ExpiredTokenException".to_owned(),
        message: "expired".to_owned(),
    }
}

fn throttled() -> Fault {
    Fault::Throttled {
        code: "ThrottlingException".to_owned(),
        message: "slow".to_owned(),
        retry_after: None,
    }
}

fn lost() -> Fault {
    Fault::OutcomeUnknown {
        message: "reset".to_owned(),
    }
}

fn create() -> PlanOutcome {
    PlanOutcome::Create {
        identifier: None,
        changes: Vec::new(),
    }
}

fn update() -> PlanOutcome {
    PlanOutcome::Update {
        changes: Vec::new(),
    }
}

/// The operation in `state`.
fn in_state(operation: Operation, state: State) -> Operation {
    Operation { state, ..operation }
}

#[track_caller]
fn assert_line(operation: &Operation, observation: Observation, expected: &str) -> Decision {
    assert_line_at(operation, observation, START, expected)
}

#[track_caller]
fn assert_line_at(
    operation: &Operation,
    observation: Observation,
    now: Timestamp,
    expected: &str,
) -> Decision {
    let decision = decide(operation, observation, now, chance(9));
    assert_eq!(decision.to_string(), expected);
    decision
}

#[test]
fn a_put_follows_its_plan() {
    let put = operation(Kind::Put);
    assert_line(
        &put,
        Observation::Claimed,
        "keep, then Look: look before deciding",
    );
    assert_line(
        &put,
        Observation::Looked(Presence::Absent, create()),
        "submitting, then Submit: nothing stands there yet",
    );
    let there = mapped(put);
    assert_line(
        &there,
        Observation::Looked(present("d"), update()),
        "submitting, then Submit: it differs from the declaration",
    );
    assert_line(
        &there,
        Observation::Looked(present("d"), PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
    let impossible = PlanOutcome::Impossible(Failure::new("RequiresReplacement", ""));
    assert_line(
        &there,
        Observation::Looked(present("d"), impossible),
        "failed: the plan cannot be carried out",
    );
    assert_line(
        &there,
        Observation::Looked(Presence::Unknown(throttled()), create()),
        "accepted: cannot look yet",
    );
    assert_line(
        &there,
        Observation::Looked(Presence::Unknown(denied()), create()),
        "failed: AWS refuses the look",
    );
}

#[test]
fn a_create_is_resent_while_its_token_lives_and_never_after() {
    let create = in_state(
        operation(Kind::Put),
        State::Submitting(intent(Action::Create, None)),
    );
    let decision = assert_line(
        &create,
        Observation::Claimed,
        "submitting, then Submit: the token makes the same bytes the same request",
    );
    let Next::Move(moved) = decision.next else {
        panic!("the resend is recorded first")
    };
    let State::Submitting(resent) = moved.state else {
        panic!("it is still submitting")
    };
    assert_eq!((resent.client_token, resent.unanswered), (token(1), 2));
    let expired = START.after(CLIENT_TOKEN_LIFE);
    assert_line_at(
        &create,
        Observation::Claimed,
        expired,
        "failed: the token has expired and there is nothing to look at",
    );
    let named = Operation {
        identifier: Some(Identifier::new("g")),
        created: true,
        ..create
    };
    assert_line_at(
        &named,
        Observation::Claimed,
        expired,
        "keep, then Look: the token has expired",
    );
}

#[test]
fn a_refusal_says_nothing_about_an_earlier_send() {
    let with = |unanswered| {
        let intent = Intent {
            unanswered,
            ..intent(Action::Create, None)
        };
        in_state(operation(Kind::Put), State::Submitting(intent))
    };
    assert_line(
        &with(1),
        Observation::Submitted(Err(rejected())),
        "failed: AWS refuses the create",
    );
    let decision = assert_line(
        &with(2),
        Observation::Submitted(Err(rejected())),
        "failed: refused, but an earlier send may have arrived",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert!(matches!(finish.state, State::Failed(failure) if failure.code == "OutcomeUnknown"));
    assert_line(
        &with(2),
        Observation::Submitted(Err(denied())),
        "submitting: denied, but an earlier send may have arrived",
    );
    let decision = assert_line(
        &with(1),
        Observation::Submitted(Err(throttled())),
        "submitting: AWS asks to slow down",
    );
    let Next::Move(moved) = decision.next else {
        panic!("it waits")
    };
    assert!(matches!(moved.state, State::Submitting(intent) if intent.unanswered == 0));
    assert_line(
        &with(1),
        Observation::Submitted(Err(lost())),
        "submitting: the reply was lost",
    );
}

#[test]
fn an_update_whose_reply_was_lost_looks_at_its_base() {
    let update_sent = in_state(
        mapped(operation(Kind::Put)),
        State::Submitting(intent(Action::Update, Some("d"))),
    );
    assert_line(
        &update_sent,
        Observation::Claimed,
        "keep, then Look: look before sending it again",
    );
    let same = assert_line(
        &update_sent,
        Observation::Looked(present("d"), update()),
        "submitting, then Submit: the update has not shown: the same again",
    );
    let Next::Move(moved) = same.next else {
        panic!("the resend is recorded first")
    };
    assert!(matches!(moved.state, State::Submitting(intent) if intent.client_token == token(1)));
    let other = assert_line(
        &update_sent,
        Observation::Looked(present("e"), update()),
        "submitting, then Submit: it differs from the declaration",
    );
    let Next::Move(moved) = other.next else {
        panic!("a new intent is recorded")
    };
    assert!(matches!(moved.state, State::Submitting(intent) if intent.client_token == token(9)));
    assert_line(
        &update_sent,
        Observation::Looked(present("e"), PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
}

#[test]
fn a_delete_whose_reply_was_lost_looks_first() {
    let delete = in_state(
        mapped(operation(Kind::Delete)),
        State::Submitting(intent(Action::Delete, None)),
    );
    assert_line(
        &delete,
        Observation::Claimed,
        "keep, then Look: look before sending it again",
    );
    assert_line(
        &delete,
        Observation::Looked(present("d"), PlanOutcome::Delete),
        "submitting, then Submit: still there: the same again",
    );
    assert_line(
        &delete,
        Observation::Looked(Presence::Absent, PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
}

#[test]
fn a_refused_look_after_a_lost_reply_is_tried_again_for_a_while() {
    let delete = in_state(
        mapped(operation(Kind::Delete)),
        State::Submitting(intent(Action::Delete, None)),
    );
    let looked = || Observation::Looked(Presence::Unknown(denied()), PlanOutcome::Delete);
    assert_line(
        &delete,
        looked(),
        "submitting: cannot tell yet what the lost reply did",
    );
    let often = Operation {
        attempt: 20,
        ..delete
    };
    assert_line(
        &often,
        looked(),
        "failed: looking cannot tell what the lost reply did",
    );
}

#[test]
fn aws_does_not_put_an_operation_to_sleep() {
    let waiting = in_state(
        mapped(operation(Kind::Put)),
        State::Waiting(intent(Action::Update, None), RequestToken::new("r")),
    );
    let asked = Progress {
        retry_after: Some(START.after(Duration::from_secs(30 * 24 * 3600))),
        ..progress(ProgressStatus::Running, None)
    };
    let decision = decide(&waiting, Observation::Polled(Ok(asked)), START, chance(9));
    let Next::Move(moved) = decision.next else {
        panic!("it waits: {decision}")
    };
    assert_eq!(moved.due_at, START.after(Duration::from_secs(15 * 60)));
}

#[test]
fn progress_events_end_or_continue_the_wait() {
    let waiting = |action, operation| {
        in_state(
            operation,
            State::Waiting(intent(action, None), RequestToken::new("r")),
        )
    };
    let create = waiting(
        Action::Create,
        Operation {
            created: true,
            ..operation(Kind::Put)
        },
    );
    let polled = |status, identifier| Observation::Polled(Ok(progress(status, identifier)));
    let decision = assert_line(
        &create,
        polled(ProgressStatus::Running, Some("vpc-2")),
        "waiting: in flight",
    );
    let Next::Move(moved) = decision.next else {
        panic!("it waits")
    };
    assert_eq!(
        moved.identifier,
        Some(Identifier::new("vpc-2")),
        "stored as soon as AWS reveals it"
    );
    assert!(moved.due_at > START);
    assert_line(
        &create,
        polled(ProgressStatus::Success, Some("vpc-2")),
        "observing, then Read: AWS reports success",
    );
    assert_line(
        &create,
        polled(ProgressStatus::Success, None),
        "failed: no identifier",
    );
    assert_line(
        &create,
        polled(failed("NotStabilized"), None),
        "failed: the create failed and named nothing",
    );
    assert_line(
        &create,
        polled(failed("NotStabilized"), Some("vpc-2")),
        "salvaging, then Read: the create failed but named a resource",
    );
    assert_line(
        &create,
        polled(failed("AlreadyExists"), None),
        "failed: something else stands in the way",
    );
    assert_line(
        &create,
        Observation::Polled(Err(Fault::TokenUnknown {
            code: String::new(),
            message: String::new(),
        })),
        "submitting: AWS has forgotten the request: find out what came of it",
    );
    let update = waiting(Action::Update, mapped(operation(Kind::Put)));
    let decision = assert_line(
        &update,
        polled(failed("InternalFailure"), None),
        "failed: AWS reports failure",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.mapping, MappingChange::Kept { owned: false });
    assert_line(
        &update,
        polled(failed("NotFound"), None),
        "failed: AWS reports failure",
    );
    let delete = waiting(Action::Delete, mapped(operation(Kind::Delete)));
    assert_line(
        &delete,
        polled(failed("NotFound"), None),
        "succeeded: already gone",
    );
    assert_line(
        &delete,
        polled(ProgressStatus::Success, None),
        "succeeded: AWS reports success",
    );
}

#[test]
fn a_result_that_is_not_visible_yet_is_waited_for_within_a_bound() {
    let observing = in_state(
        mapped(operation(Kind::Put)),
        State::Observing(Action::Create),
    );
    assert_line(
        &observing,
        Observation::Read(Presence::Absent),
        "observing: not visible yet",
    );
    assert_line_at(
        &observing,
        Observation::Read(Presence::Absent),
        START.after(CONSISTENCY_BOUND),
        "observing: not visible yet",
    );
    let observing = Operation {
        attempt: 3,
        ..observing
    };
    assert_line_at(
        &observing,
        Observation::Read(Presence::Absent),
        START.after(CONSISTENCY_BOUND),
        "failed: never became visible",
    );
    assert_line(
        &observing,
        Observation::Read(present("d")),
        "succeeded: done",
    );
}

/// Everything that can be observed, in a few flavours each.
fn observations() -> impl Strategy<Value = Observation> {
    let fault = prop_oneof![
        Just(throttled()),
        Just(lost()),
        Just(denied()),
        Just(rejected()),
        Just(Fault::Missing {
            code: "ResourceNotFoundException".into(),
            message: String::new()
        }),
        Just(Fault::Concurrent {
            code: "ConcurrentOperationException".into(),
            message: String::new()
        }),
        Just(Fault::TokenConflict {
            code: "ClientTokenConflictException".into(),
            message: String::new()
        }),
        Just(Fault::TokenUnknown {
            code: "RequestTokenNotFoundException".into(),
            message: String::new()
        }),
        Just(Fault::Transient {
            code: "NetworkFailure".into(),
            message: String::new()
        })
    ];
    let presence = prop_oneof![
        Just(Presence::Absent),
        Just(Presence::Unreadable),
        "[de]".prop_map(|digest| present(&digest)),
        fault.clone().prop_map(Presence::Unknown)
    ];
    let plan = prop_oneof![
        Just(create()),
        Just(update()),
        Just(PlanOutcome::Delete),
        Just(PlanOutcome::Nothing),
        Just(PlanOutcome::Impossible(Failure::new("InvalidRequest", "")))
    ];
    let status = prop_oneof![
        Just(ProgressStatus::Running),
        Just(ProgressStatus::Success),
        Just(ProgressStatus::Canceled),
        "AlreadyExists|NotFound|NotStabilized".prop_map(|code| failed(&code))
    ];
    let progress = (status, prop::option::of(Just("vpc-2")))
        .prop_map(|(status, identifier)| progress(status, identifier));
    let reply = prop_oneof![progress.prop_map(Ok), fault.prop_map(Err)];
    prop_oneof![
        Just(Observation::Claimed),
        (presence.clone(), plan).prop_map(|(presence, plan)| Observation::Looked(presence, plan)),
        presence.prop_map(Observation::Read),
        reply.clone().prop_map(Observation::Submitted),
        reply.prop_map(Observation::Polled),
    ]
}

/// A planner patches only what is there, deletes only for a delete, and nothing is seen without a name.
fn can_be_observed(operation: &Operation, observation: &Observation) -> bool {
    let presence = match observation {
        Observation::Looked(presence, _) | Observation::Read(presence) => presence,
        Observation::Claimed | Observation::Submitted(_) | Observation::Polled(_) => return true,
    };
    let is_present = matches!(presence, Presence::Present { .. });
    let plan_fits = match observation {
        Observation::Looked(_, PlanOutcome::Create { .. }) => {
            operation.kind == Kind::Put && !is_present
        }
        Observation::Looked(_, PlanOutcome::Update { .. }) => {
            operation.kind == Kind::Put && is_present
        }
        Observation::Looked(_, PlanOutcome::Delete) => operation.kind == Kind::Delete,
        Observation::Looked(_, PlanOutcome::Nothing) => {
            operation.kind == Kind::Delete || is_present
        }
        _ => true,
    };
    plan_fits && (operation.identifier.is_some() || !is_present)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    /// Whatever is observed in whatever order, late or twice: terminal states absorb, every other state has its next
    /// wake-up, and a token stays the same until a new intent is recorded.
    #[test]
    fn any_order_of_events_is_harmless(
        kind in prop_oneof![Just(Kind::Put), Just(Kind::Delete)],
        was_mapped in any::<bool>(),
        events in prop::collection::vec((observations(), 0u64..100_000), 1..60),
    ) {
        let mut now = START;
        let start = operation(kind);
        let mut operation = if was_mapped { mapped(start) } else { start };
        for (number, (observation, later)) in events.into_iter().enumerate() {
            now = now.after(Duration::from_millis(later));
            if !can_be_observed(&operation, &observation) {
                continue;
            }
            let decision = decide(&operation, observation, now, chance(100 + number as u128));
            let before = operation.clone();
            match decision.next {
                Next::Keep => {}
                Next::Move(moved) => {
                    prop_assert!(!before.state.is_terminal(), "a terminal state moved");
                    prop_assert!(!moved.state.is_terminal(), "only a finish ends an operation");
                    prop_assert!(decision.effect.is_some() || moved.due_at >= now, "no wake-up");
                    if let (State::Submitting(old), State::Submitting(new), None) = (&before.state, &moved.state, &moved.planned) {
                        prop_assert_eq!(old.client_token, new.client_token);
                    }
                    operation = operation.moved(*moved, now);
                }
                Next::Finish(finish) => {
                    prop_assert!(!before.state.is_terminal(), "a terminal state ended again");
                    prop_assert!(finish.state.is_terminal());
                    if let MappingChange::Applied { .. } | MappingChange::Kept { .. } = finish.mapping {
                        prop_assert!(finish.identifier.is_some(), "a mapping to nothing");
                    }
                    prop_assert!(decision.effect.is_none());
                    operation = operation.finished(*finish, now);
                }
            }
        }
    }

    /// An operation that learns nothing still ends: no state waits longer than patience, or the token, allows.
    #[test]
    fn an_operation_that_learns_nothing_ends(faults in prop::collection::vec(prop_oneof![Just(lost()), Just(throttled())], 1..4)) {
        let mut now = START;
        let mut operation = mapped(operation(Kind::Put));
        let deadline = START.after(PATIENCE * 9);
        let mut observation = Observation::Claimed;
        for turn in 0.. {
            let decision = decide(&operation, observation, now, chance(turn));
            match decision.next {
                Next::Keep => {}
                Next::Move(moved) => operation = operation.moved(*moved, now),
                Next::Finish(_) => break,
            }
            prop_assert!(now < deadline, "still {} after nine days", operation.state.name());
            let fault = faults[usize::try_from(turn).unwrap() % faults.len()].clone();
            observation = match decision.effect {
                Some(ucp_model::operation::Effect::Look) => Observation::Looked(Presence::Unknown(fault), create()),
                Some(ucp_model::operation::Effect::Read) => Observation::Read(Presence::Unknown(fault)),
                Some(ucp_model::operation::Effect::Submit) => Observation::Submitted(Err(fault)),
                Some(ucp_model::operation::Effect::Poll) => Observation::Polled(Err(fault)),
                None => { now = now.max(operation.due_at); Observation::Claimed }
            };
        }
    }
}
