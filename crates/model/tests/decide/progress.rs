//! A change in flight: its progress, its cancellation, and the read of its result.

use super::*;

#[test]
fn aws_does_not_put_an_operation_to_sleep() {
    let waiting = in_state(
        referenced(operation(Kind::Put)),
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
    let create = waiting(
        Action::Create,
        Operation {
            created: true,
            ..operation(Kind::Put)
        },
    );
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
        "failed: what came of it is not known",
    );
    assert_line(
        &create,
        polled(failed("GeneralServiceException"), Some("vpc-2")),
        "salvaging, then Read: the create failed but named a resource",
    );
    assert_line(
        &create,
        polled(failed("AlreadyExists"), None),
        "failed: something else stands in the way",
    );
    assert_line(
        &create,
        Observation::Polled(Err(Fault::new(FaultClass::TokenUnknown, "", ""))),
        "submitting: AWS has forgotten the request: find out what came of it",
    );
    let update = waiting(Action::Update, referenced(operation(Kind::Put)));
    let decision = assert_line(
        &update,
        polled(failed("InvalidRequest"), None),
        "failed: AWS reports failure",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    assert_line(
        &update,
        polled(failed("NotFound"), None),
        "accepted: it failed for a reason that passes: look, then go on",
    );
    let delete = waiting(Action::Delete, referenced(operation(Kind::Delete)));
    assert_line(
        &delete,
        polled(failed("NotFound"), None),
        "missing: AWS does not find it, which proves nothing yet",
    );
    let by_name = Operation {
        was_referenced: false,
        ..delete.clone()
    };
    assert_line(
        &by_name,
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
        referenced(operation(Kind::Put)),
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
        START.after(SETTLING_WINDOW),
        "observing: not visible yet",
    );
    let observing = Operation {
        attempt: 5,
        sightings: Sightings {
            missed: 4,
            ..Sightings::default()
        },
        ..observing
    };
    assert_line_at(
        &observing,
        Observation::Read(Presence::Absent),
        START.after(SETTLING_WINDOW),
        "failed: never became visible",
    );
    assert_line(
        &observing,
        Observation::Read(present("d")),
        "succeeded: done",
    );
}

#[test]
fn a_cancel_counts_when_aws_confirms_it() {
    let assert_line = |operation: &Operation, observation: Observation, expected: &str| {
        let decision = resource::decide(operation, true, observation, START, chance(9));
        assert_eq!(decision.to_string(), expected);
        decision
    };
    assert_line(
        &operation(Kind::Put),
        Observation::Claimed,
        "canceled: cancelled before anything was sent",
    );
    let throttled = |action| Operation {
        state: State::Submitting(Intent {
            unanswered: 0,
            ..intent(action, None)
        }),
        ..operation(Kind::Put)
    };
    assert_line(
        &throttled(Action::Create),
        Observation::Claimed,
        "canceled: cancelled before AWS took it",
    );
    let removing = Operation {
        replacing: Some(Replacing::OldLast {
            old: name("vpc-0"),
            tries: 0,
        }),
        ..throttled(Action::Delete)
    };
    assert_line(
        &removing,
        Observation::Claimed,
        "keep, then Look: look before sending it again",
    );
    let update = waiting(Action::Update, referenced(operation(Kind::Put)));
    assert_line(
        &update,
        Observation::Claimed,
        "waiting, then Cancel: somebody asked to cancel it",
    );
    assert_line(
        &update,
        Observation::CancelAsked(Err(rejected())),
        "keep, then Poll: AWS does not cancel it: ask after it",
    );
    assert_line(
        &update,
        Observation::CancelAsked(Ok(progress(ProgressStatus::Running, None))),
        "waiting: in flight",
    );
    let cancelled = step(
        &update,
        polled(ProgressStatus::Canceled, None),
        "salvaging, then Read: cancelled: see what is left",
    );
    let decision = assert_line(
        &cancelled,
        Observation::Read(present("d")),
        "canceled: it is still there",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    assert!(finish.live.is_some());
    assert_line(
        &update,
        polled(ProgressStatus::Success, None),
        "observing, then Read: AWS reports success",
    );
}

/// AWS's facts about a failure go into `additionalInfo`.
#[test]
fn a_failed_request_is_named_with_the_hooks_that_refused_it() {
    let hook = HookFailure {
        type_name: Some("MyCompany::Security::Encryption".to_owned()),
        status: "HOOK_COMPLETE_FAILED".to_owned(),
        failure_mode: Some("FAIL".to_owned()),
        ..HookFailure::default()
    };
    let refused = ProgressStatus::Failed {
        code: HandlerErrorCode::of("AccessDenied"),
        message: "a hook".to_owned(),
        hooks: vec![hook.clone()],
    };
    for (action, operation, named) in [
        (Action::Create, operation(Kind::Put), None),
        (
            Action::Update,
            referenced(operation(Kind::Put)),
            Some("vpc-1"),
        ),
        (
            Action::Delete,
            referenced(operation(Kind::Delete)),
            Some("vpc-1"),
        ),
    ] {
        let operation = waiting(action, operation);
        let observation = Observation::Polled(Ok(progress(refused.clone(), None)));
        let decision = decide(&operation, observation, START, chance(9));
        let Next::Finish(finish) = decision.next else {
            panic!("it ends")
        };
        let Ended::Failed(failure) = finish.ended else {
            panic!("it fails")
        };
        let request = CloudControlRequest {
            request_token: RequestToken::new("r"),
            operation: action,
            type_name: operation.type_name.clone(),
            identifier: named.map(Identifier::new),
        };
        let info = [
            AdditionalInfo::CloudControlRequest(request),
            AdditionalInfo::CloudFormationHook(hook.clone()),
        ];
        assert_eq!(failure.additional_info, info);
        let stored = serde_json::to_value(&failure).unwrap();
        assert_eq!(stored["additionalInfo"][1]["type"], "CloudFormationHook");
        assert_eq!(stored["additionalInfo"][1]["info"]["failureMode"], "FAIL");
        assert_eq!(serde_json::from_value::<Failure>(stored).unwrap(), failure);
    }
    let old = json!({"code": "AccessDenied", "message": "written by an earlier version"});
    let old: Failure = serde_json::from_value(old).unwrap();
    assert!(old.additional_info.is_empty());
}

/// What AWS shows as before may be an old read; it is believed only after the settling window.
#[test]
fn what_seems_dropped_is_read_again_within_the_settling_window() {
    let observing = |require_proof, attempt| Operation {
        attempt,
        proof: Some(Proof {
            dropped: vec!["/Name".to_owned()],
            ..Proof::default()
        }),
        options: Options {
            require_proof,
            ..Options::default()
        },
        ..in_state(
            referenced(operation(Kind::Put)),
            State::Observing(Action::Update),
        )
    };
    let later = START.after(SETTLING_WINDOW);
    let read = || Observation::Read(present("d"));
    for (attempt, now) in [(0, later), (9, START)] {
        let expected = "observing: AWS shows what was there before";
        assert_line_at(&observing(true, attempt), read(), now, expected);
    }
    assert_line_at(&observing(false, 9), read(), later, "succeeded: done");
    let expected = "failed: AWS has dropped a part of it";
    let decision = assert_line_at(&observing(true, 9), read(), later, expected);
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    assert!(matches!(finish.ended, Ended::Failed(failure) if failure.code == "PartiallyApplied"));
}

#[test]
fn without_the_schema_nothing_is_done_and_only_what_was_not_begun_counts_tries() {
    let unprepared = || Observation::Unprepared(lost());
    let mut accepted = operation(Kind::Put);
    let mut waits = Vec::new();
    for turn in 0..20 {
        let decision = decide(&accepted, unprepared(), START, chance(turn));
        let (Next::Move(moved), None) = (decision.next, decision.effect) else {
            panic!("it waits")
        };
        waits.push(moved.due_at.since(START));
        accepted = moved.of(&accepted, START);
    }
    assert!(waits[0] < Duration::from_secs(1), "{waits:?}");
    assert!(
        waits.iter().all(|wait| *wait <= Duration::from_secs(30)),
        "{waits:?}"
    );
    assert_eq!(accepted.attempt, 20);
    assert_line(
        &accepted,
        Observation::Claimed,
        "keep, then Look: look before deciding",
    );

    let waiting = waiting(Action::Update, referenced(operation(Kind::Put)));
    let decision = decide(&waiting, unprepared(), START, chance(9));
    let Next::Move(moved) = decision.next else {
        panic!("it waits")
    };
    assert_eq!(
        (moved.attempt, &moved.state),
        (waiting.attempt, &waiting.state)
    );
    assert!(moved.due_at > START);
}

#[test]
fn what_has_sent_nothing_is_cancelled_without_the_schema() {
    let accepted = operation(Kind::Put);
    let cancelled = resource::decide(
        &accepted,
        true,
        Observation::Unprepared(lost()),
        START,
        chance(9),
    );
    let Next::Finish(finish) = cancelled.next else {
        panic!("it ends")
    };
    assert!(
        matches!(finish.ended, Ended::Canceled(_)),
        "{:?}",
        finish.ended
    );
    let sent = waiting(Action::Update, referenced(operation(Kind::Put)));
    let waits = resource::decide(
        &sent,
        true,
        Observation::Unprepared(lost()),
        START,
        chance(9),
    );
    assert!(matches!(waits.next, Next::Move(_)), "{waits}");
}
