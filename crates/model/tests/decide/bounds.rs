//! Bounds of what may not go on for ever: requests that AWS forgets or never ends, cancels that it refuses, queues.

use std::collections::BTreeMap;

use ucp_model::operation::{Class, Retrying, Tries};

use super::retries::{creating, moved};
use super::*;

#[test]
fn a_request_that_aws_forgets_again_and_again_is_given_up() {
    let mut now = START;
    let mut operation = creating();
    let mut sends = 0;
    loop {
        let unknown = Fault::new(
            FaultClass::TokenUnknown,
            "RequestTokenNotFoundException",
            "",
        );
        let observation = match operation.state {
            State::Waiting(..) => Observation::Polled(Err(unknown)),
            _ => {
                sends += 1;
                Observation::Submitted(Ok(progress(ProgressStatus::Running, None)))
            }
        };
        match decide(&operation, observation, now, chance(9)).next {
            Next::Move(moved) => {
                now = now.max(moved.due_at);
                operation = moved.of(&operation, now);
            }
            Next::Finish(finish) => {
                let failure = finish.ended.failure().cloned().unwrap();
                assert_eq!(failure.code, "OutcomeUnknown");
                break;
            }
            Next::Keep => panic!("it moves"),
        }
    }
    assert!((10..=25).contains(&sends), "{sends} sends");
    let lasted = now.since(START);
    assert!(lasted >= Duration::from_secs(3600), "{lasted:?}");
    assert!(lasted < Duration::from_secs(3 * 3600), "{lasted:?}");
}

#[test]
fn a_change_that_runs_past_its_time_is_cancelled_and_made_again() {
    let mut create = creating();
    create.time_limits.create = Some(30);
    let minute = |minutes: u64| START.after(Duration::from_secs(minutes * 60));
    let claimed_at =
        |operation: &Operation, now| decide(operation, Observation::Claimed, now, chance(9));
    assert_eq!(
        claimed_at(&create, minute(29)).to_string(),
        "keep, then Poll: a change is in flight"
    );
    let decision = claimed_at(&create, minute(30));
    assert_eq!(
        decision.to_string(),
        "waiting, then Cancel: it takes too long"
    );
    let usual = creating();
    assert_eq!(
        claimed_at(&usual, minute(119)).to_string(),
        "keep, then Poll: a change is in flight"
    );
    assert_eq!(
        claimed_at(&usual, minute(120)).to_string(),
        "waiting, then Cancel: it takes too long"
    );

    let Next::Move(asked) = decision.next else {
        panic!("it is recorded first")
    };
    let asked = asked.of(&create, minute(31));
    let (again, _) = moved(&asked, polled(ProgressStatus::Canceled, None), minute(32));
    assert!(matches!(again.state, State::Submitting(_)), "{again:?}");
    let retrying = again.retrying.unwrap();
    assert_eq!(retrying.class, Class::Overdue);
    assert!(
        retrying.failure.message.contains("30 minutes"),
        "{retrying:?}"
    );
    let third = Operation {
        retrying: Some(Retrying {
            tries: 3,
            ..retrying
        }),
        ..asked
    };
    assert_line_at(
        &third,
        polled(ProgressStatus::Canceled, None),
        minute(200),
        "failed: the create failed and named nothing",
    );
}

#[test]
fn aws_is_not_asked_to_cancel_at_each_poll() {
    let mut operation = creating();
    let mut now = START;
    let mut cancels = 0;
    let day = START.after(Duration::from_secs(24 * 3600));
    while now < day {
        let decision = resource::decide(&operation, true, Observation::Claimed, now, chance(9));
        if matches!(decision.effect, Some(Effect::Cancel(_))) {
            cancels += 1;
        }
        if let Next::Move(moved) = decision.next {
            operation = moved.of(&operation, now);
        }
        let running = polled(ProgressStatus::Running, None);
        let Next::Move(moved) = resource::decide(&operation, true, running, now, chance(9)).next
        else {
            panic!("it waits")
        };
        now = moved.due_at;
        operation = moved.of(&operation, now);
    }
    assert!((10..=300).contains(&cancels), "{cancels} cancels in a day");
}

#[test]
fn a_request_that_never_ends_is_given_up_after_a_week() {
    let week = START.after(Duration::from_secs(8 * 24 * 3600));
    assert_line_at(
        &creating(),
        polled(ProgressStatus::Running, None),
        week,
        "failed: in flight for too long",
    );
}

#[test]
fn the_request_that_a_token_conflict_names_is_followed() {
    let request = "7f984a86-93f9-4d9e-a8e5-89938f053ca0";
    let ours = token(1).0;
    let conflict = |message: String| {
        let code = "ClientTokenConflictException";
        Observation::Submitted(Err(Fault::new(FaultClass::TokenConflict, code, message)))
    };
    let sent = in_state(
        operation(Kind::Put),
        State::Submitting(intent(Action::Create, None)),
    );
    let named = conflict(format!("Token {ours} belongs to the request {request}."));
    let decision = assert_line(
        &sent,
        named.clone(),
        "waiting, then Poll: the token is spent: follow the request that AWS names",
    );
    assert_eq!(
        decision.effect,
        Some(Effect::Poll(RequestToken::new(request)))
    );
    assert_line(
        &sent,
        conflict(format!("Token {ours} is spent.")),
        "failed: the token is spent",
    );

    let (following, _) = moved(&sent, named, START);
    let of = |type_name: &str, action| {
        Observation::Polled(Ok(Progress {
            type_name: TypeName::from_cloudformation(type_name).ok(),
            action: Some(action),
            ..progress(ProgressStatus::Success, Some("vpc-2"))
        }))
    };
    assert_line(
        &following,
        of("AWS::EC2::VPC", Action::Create),
        "observing, then Read: AWS reports success",
    );
    for (type_name, action) in [
        ("AWS::EC2::VPC", Action::Delete),
        ("AWS::Logs::LogGroup", Action::Create),
    ] {
        assert_line(
            &following,
            of(type_name, action),
            "failed: the request is somebody else's",
        );
    }
}

#[test]
fn a_queue_and_expired_credentials_have_their_bounds() {
    let conflict = || {
        let code = "ConcurrentOperationException";
        Observation::Submitted(Err(Fault::new(FaultClass::Concurrent, code, "busy")))
    };
    let expired = || {
        let code = "ExpiredTokenException";
        Observation::Submitted(Err(Fault::new(FaultClass::Denied, code, "expired")))
    };
    let refused = |class| Operation {
        // However many errors of another class there were, and for however long.
        attempt: 500,
        refusals: BTreeMap::from([
            (
                class,
                Tries {
                    count: 5,
                    since: START,
                },
            ),
            (
                Class::Again,
                Tries {
                    count: 495,
                    since: START.before(Duration::from_secs(24 * 3600)),
                },
            ),
        ]),
        ..in_state(
            referenced(operation(Kind::Put)),
            State::Submitting(intent(Action::Update, None)),
        )
    };
    let queued = refused(Class::Queue);
    let sent = refused(Class::Soon);
    for (other, observation, line) in [
        (
            &sent,
            conflict(),
            "submitting: another change of the resource is in flight",
        ),
        (
            &queued,
            expired(),
            "submitting: the credentials are about to be renewed",
        ),
    ] {
        let later = START.after(Duration::from_secs(3600));
        assert_line_at(other, observation, later, line);
    }
    let minute = |minutes: u64| START.after(Duration::from_secs(minutes * 60));
    assert_line_at(
        &queued,
        conflict(),
        minute(29),
        "submitting: another change of the resource is in flight",
    );
    assert_line_at(
        &queued,
        conflict(),
        minute(30),
        "failed: AWS refuses the change",
    );
    assert_line_at(
        &sent,
        expired(),
        minute(1),
        "submitting: the credentials are about to be renewed",
    );
    assert_line_at(
        &sent,
        expired(),
        minute(2),
        "failed: AWS refuses the change",
    );
}

/// AWS refuses an update with this code also for what no time changes.
#[test]
fn an_update_whose_conflict_nobody_explains_is_given_up_soon() {
    let change = |conditional| Change {
        path: "/EngineVersion".to_owned(),
        op: "replace".to_owned(),
        conditional,
    };
    // As long as `ours`, something of ours is in the way.
    let after = |message: &str, conditional: bool, ours: Duration| -> Option<Duration> {
        let mut now = START;
        let mut update = Operation {
            changes: vec![change(conditional)],
            last_in_the_way_at: None,
            ..in_state(
                referenced(operation(Kind::Put)),
                State::Submitting(intent(Action::Update, None)),
            )
        };
        let refusal = || ProgressStatus::Failed {
            code: HandlerErrorCode::ResourceConflict,
            message: message.to_owned(),
            hooks: Vec::new(),
        };
        for _ in 0..200 {
            if now.since(START) < ours {
                update.last_in_the_way_at = Some(now);
            }
            let refused = Observation::Submitted(Ok(progress(refusal(), None)));
            let decision = decide(&update, refused, now, chance(9));
            match decision.next {
                Next::Move(moved) => {
                    now = now.max(moved.due_at);
                    update = moved.of(&update, now);
                    update.state = State::Submitting(intent(Action::Update, None));
                }
                Next::Finish(_) => return Some(now.since(START)),
                Next::Keep => panic!("it moves"),
            }
        }
        None
    };
    let minutes = |count: u64| Duration::from_secs(count * 60);
    let unexplained = "The engine version cannot be changed to this one.";
    let none = Duration::ZERO;
    assert_eq!(after(unexplained, true, none), Some(Duration::ZERO));
    let lasting = "Modifying the engine is not supported.";
    assert_eq!(after(lasting, true, none), Some(Duration::ZERO));
    let in_use = "The volume is attached.";
    assert_eq!(after(in_use, true, none), Some(Duration::ZERO));
    let late = after(in_use, false, none).unwrap();
    assert!((minutes(30)..minutes(40)).contains(&late), "{late:?}");
    let soon = after(unexplained, false, none).unwrap();
    assert!((minutes(2)..minutes(5)).contains(&soon), "{soon:?}");
    for conditional in [true, false] {
        for changing in [
            "An update is in progress.",
            "Database instance is not in available state.",
            "The operation cannot be performed at this time. The function is currently in the following state: Pending",
            "ConcurrentModificationException: try again",
        ] {
            let late = after(changing, conditional, none).unwrap();
            assert!(
                (minutes(30)..minutes(40)).contains(&late),
                "{changing}: {late:?}"
            );
        }
        let late = after(unexplained, conditional, minutes(60)).unwrap();
        assert!((minutes(30)..minutes(40)).contains(&late), "{late:?}");
        let freed = after(unexplained, conditional, minutes(10)).unwrap();
        assert!((minutes(11)..minutes(16)).contains(&freed), "{freed:?}");
    }
}
