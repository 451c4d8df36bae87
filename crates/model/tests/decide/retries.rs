//! A change that AWS ended with an error, and that is made again.

use ucp_model::operation::{Class, Retrying};

use super::*;

/// The operation after a step at `now`, and when it is due.
#[track_caller]
pub(super) fn moved(
    operation: &Operation,
    observation: Observation,
    now: Timestamp,
) -> (Operation, Timestamp) {
    match decide(operation, observation, now, chance(9)).next {
        Next::Move(moved) => (moved.clone().of(operation, now), moved.due_at),
        other => panic!("{other:?} is no step"),
    }
}

pub(super) fn creating() -> Operation {
    waiting(
        Action::Create,
        Operation {
            created: true,
            ..operation(Kind::Put)
        },
    )
}

#[test]
fn a_throttled_create_is_sent_again_under_a_new_token_after_a_back_off() {
    let create = creating();
    let (again, due_at) = moved(&create, polled(failed("Throttling"), None), START);
    let State::Submitting(fresh) = &again.state else {
        panic!("{:?}", again.state)
    };
    assert_eq!((fresh.client_token, fresh.unanswered), (token(9), 0));
    assert!(due_at > START);
    let retrying = again.retrying.clone().unwrap();
    assert_eq!((retrying.class, retrying.tries), (Class::Again, 1));
    assert_eq!(retrying.failure.code, "Throttling");
    assert_line(
        &again,
        Observation::Claimed,
        "submitting, then Submit: the token makes the same bytes the same request",
    );
    let worn_out = Operation {
        retrying: Some(Retrying {
            tries: 20,
            ..retrying
        }),
        ..create
    };
    assert_line(
        &worn_out,
        polled(failed("Throttling"), None),
        "submitting: it failed for a reason that passes: again under a new token",
    );
    let decision = assert_line_at(
        &worn_out,
        polled(failed("Throttling"), None),
        START.after(PATIENCE),
        "failed: the create failed and named nothing",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    let message = &finish.ended.failure().unwrap().message;
    assert!(message.contains("tried the create 21 times"), "{message}");
}

#[test]
fn a_token_that_was_never_sent_does_not_get_too_old() {
    let (again, _) = moved(&creating(), polled(failed("Throttling"), None), START);
    let late = START.after(CLIENT_TOKEN_LIFE);
    let decision = assert_line_at(
        &again,
        Observation::Claimed,
        late,
        "submitting, then Submit: it was not sent while its token lived",
    );
    assert!(matches!(decision.effect, Some(Effect::Submit(intent)) if intent.issued_at == late));
}

#[test]
fn what_a_failed_create_named_is_looked_for_before_another_create() {
    let create = creating();
    let (looking, _) = moved(
        &create,
        polled(failed("ServiceInternalError"), Some("vpc-2")),
        START,
    );
    assert_eq!(looking.state, State::Accepted);
    assert_eq!(looking.status(), "Provisioning", "it goes on");
    let decision = assert_line(
        &looking,
        Observation::Claimed,
        "keep, then Look: look before deciding",
    );
    assert_eq!(decision.effect, Some(Effect::Look(Some(name("vpc-2")))));

    let absent = || Observation::Looked(Presence::Absent, create_plan());
    assert_line(
        &looking,
        absent(),
        "accepted: what AWS named is not visible yet",
    );
    // Looks that failed do not count.
    let throttled = Operation {
        attempt: 50,
        ..looking.clone()
    };
    assert_line_at(
        &throttled,
        absent(),
        START.after(SETTLING_WINDOW),
        "accepted: what AWS named is not visible yet",
    );
    let missed = |listed| Operation {
        sightings: Sightings {
            missed: 4,
            missed_since: Some(START),
            listed,
            ..Sightings::default()
        },
        ..looking.clone()
    };
    // A list of the type completes the proof.
    let settled = START.after(SETTLING_WINDOW);
    let listing = "keep, then List: does a list of the type hold it?";
    assert_line_at(&missed(None), Observation::Claimed, settled, listing);
    let lacks = "accepted, then Look: a list of the type lacks it too";
    let listed = Observation::Listed(Listing::Lacks);
    assert_line_at(&missed(None), listed, settled, lacks);
    assert_line_at(
        &missed(Some(false)),
        absent(),
        settled,
        "submitting, then Submit: nothing stands there yet",
    );
    let long_after = START.after(Duration::from_secs(16 * 60));
    for (now, expected) in [
        (settled, "accepted: what AWS named is not visible yet"),
        (
            long_after,
            "salvaging, then Read: the create failed but named a resource",
        ),
    ] {
        assert_line_at(&missed(Some(true)), absent(), now, expected);
    }

    let there = |plan| Observation::Looked(present_as("vpc-2", "d"), plan);
    let decision = assert_line(
        &looking,
        there(PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Applied { owned: true });
    assert_line(
        &looking,
        there(PlanOutcome::Update {
            identifier: name("vpc-2"),
            changes: Vec::new(),
        }),
        "submitting, then Submit: it differs from the declaration",
    );
}

fn create_plan() -> PlanOutcome {
    super::create()
}

#[test]
fn a_create_that_named_nothing_and_may_have_been_made_is_not_sent_again() {
    let codes = [
        "InternalFailure",
        "NetworkFailure",
        "ServiceInternalError",
        "NotStabilized",
        "ServiceTimeout",
    ];
    for code in codes {
        let decision = assert_line(
            &creating(),
            polled(failed(code), None),
            "failed: what came of it is not known",
        );
        let Next::Finish(finish) = decision.next else {
            panic!("{code}: it ends")
        };
        assert_eq!(
            finish.reference,
            ReferenceChange::Unknown,
            "{code}: the alias is not free"
        );
        assert!(finish.leftover.is_some(), "{code}");
    }
}

/// The answer to the call itself says as little as the event of a request.
#[test]
fn a_create_that_did_not_stabilize_at_once_may_have_been_made_too() {
    let submitting = in_state(creating(), State::Submitting(intent(Action::Create, None)));
    let fault = Fault::new(FaultClass::Rejected, "NotStabilizedException", "slow");
    assert_line(
        &submitting,
        Observation::Submitted(Err(fault)),
        "failed: what came of it is not known",
    );
}

/// The refusal of another send says nothing about the one that got no reply.
#[test]
fn an_update_that_did_not_stabilize_is_sent_again_if_an_earlier_send_may_have_arrived() {
    let refused = |unanswered| {
        let intent = Intent {
            unanswered,
            ..intent(Action::Update, Some("d"))
        };
        let update = in_state(referenced(operation(Kind::Put)), State::Submitting(intent));
        let fault = Fault::new(FaultClass::Rejected, "NotStabilizedException", "slow");
        (update, Observation::Submitted(Err(fault)))
    };
    let (first, refusal) = refused(1);
    assert_line(
        &first,
        refusal,
        "accepted: it failed for a reason that passes: look, then go on",
    );
    let (second, refusal) = refused(2);
    let decision = assert_line(
        &second,
        refusal,
        "submitting: refused, but an earlier send may have arrived",
    );
    let Next::Move(moved) = decision.next else {
        panic!("it waits")
    };
    let State::Submitting(intent) = &moved.state else {
        panic!("it is sent again")
    };
    assert_eq!((intent.unanswered, intent.client_token), (1, token(1)));
    assert_eq!(moved.refusals[&Class::KeepWatching].count, 1);
}

/// A log group says in its own way that it is not there.
#[test]
fn an_update_of_what_is_missing_is_looked_at_whatever_the_exception() {
    let update = referenced(operation(Kind::Put));
    let submitting = in_state(update, State::Submitting(intent(Action::Update, None)));
    for code in ["ResourceNotFoundException", "InvalidRequestException"] {
        let fault = Fault::new(
            FaultClass::Missing,
            code,
            "The specified log group does not exist.",
        );
        assert_line(
            &submitting,
            Observation::Submitted(Err(fault)),
            "accepted: it failed for a reason that passes: look, then go on",
        );
    }
}

/// What stands under the declared name is not ours only because our create failed.
#[test]
fn what_has_the_declared_name_after_a_failed_create_is_not_owned() {
    let create = Operation {
        identifier: Some(name("g")),
        ..creating()
    };
    // The event may repeat the name, in AWS's spelling.
    for code in [
        "InternalFailure",
        "ResourceConflict",
        "Throttling",
        "AccessDenied",
    ] {
        for revealed in [None, Some("g"), Some("G")] {
            let (looking, _) = moved(&create, polled(failed(code), revealed), START);
            if !matches!(looking.state, State::Accepted) {
                continue;
            }
            assert!(!looking.named, "{code} {revealed:?}");
            let found = present_as(looking.identifier.as_ref().unwrap().as_str(), "d");
            let looked = Observation::Looked(found, PlanOutcome::Nothing);
            let (adopting, _) = moved(&looking, looked, START);
            assert!(matches!(adopting.state, State::Adopting(_)), "{code}");
            assert!(!adopting.created);
        }
    }
}

#[test]
fn what_does_not_stabilize_is_watched_and_never_created_again() {
    let (watching, _) = moved(
        &creating(),
        polled(failed("NotStabilized"), Some("vpc-2")),
        START,
    );
    let as_declared = || Observation::Looked(present_as("vpc-2", "d"), PlanOutcome::Nothing);
    assert_line(
        &watching,
        as_declared(),
        "accepted: its handler gave up: watch it",
    );
    let watched = Operation {
        attempt: 5,
        ..watching
    };
    assert_line_at(
        &watched,
        as_declared(),
        START.after(SETTLING_WINDOW),
        "observing, then Read: it is as declared",
    );
    let differs = || {
        let plan = PlanOutcome::Update {
            identifier: name("vpc-2"),
            changes: Vec::new(),
        };
        Observation::Looked(present_as("vpc-2", "d"), plan)
    };
    assert_line_at(
        &watched,
        differs(),
        START.after(SETTLING_WINDOW),
        "accepted: its handler gave up: watch it",
    );
    let decision = assert_line_at(
        &watched,
        differs(),
        START.after(Duration::from_secs(15 * 60)),
        "failed: it did not become as declared",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: true });
    let missed = Operation {
        sightings: Sightings {
            missed: 4,
            listed: Some(false),
            ..Sightings::default()
        },
        ..watched
    };
    assert_line_at(
        &missed,
        Observation::Looked(Presence::Absent, create_plan()),
        START.after(SETTLING_WINDOW),
        "salvaging, then Read: the create failed but named a resource",
    );
}

#[test]
fn what_cannot_be_read_is_not_created_again() {
    let (looking, _) = moved(
        &creating(),
        polled(failed("Throttling"), Some("vpc-2")),
        START,
    );
    assert_line(
        &looking,
        Observation::Looked(Presence::Unreadable(name("vpc-2")), create_plan()),
        "salvaging, then Read: the create failed but named a resource",
    );
}

#[test]
fn the_delete_of_a_group_waits_for_others_itself() {
    let delete = waiting(Action::Delete, referenced(operation(Kind::Delete)));
    let conflict = || polled(failed("ResourceConflict"), None);
    assert_line(
        &delete,
        conflict(),
        "accepted: it failed for a reason that passes: look, then go on",
    );
    let mut child = delete;
    child.options.parent_retries = true;
    assert_line(&child, conflict(), "failed: AWS reports failure");
    assert_line(
        &child,
        polled(failed("Throttling"), None),
        "accepted: it failed for a reason that passes: look, then go on",
    );
}

#[test]
fn a_cancel_between_two_tries_sees_what_is_left() {
    let (looking, _) = moved(
        &creating(),
        polled(failed("Throttling"), Some("vpc-2")),
        START,
    );
    let decision = resource::decide(&looking, true, Observation::Claimed, START, chance(9));
    assert_eq!(
        decision.to_string(),
        "salvaging, then Read: cancelled before another try: see what is left"
    );
    let (again, _) = moved(&creating(), polled(failed("Throttling"), None), START);
    let decision = resource::decide(&again, true, Observation::Claimed, START, chance(9));
    assert_eq!(
        decision.to_string(),
        "salvaging, then Read: cancelled before another try: see what is left"
    );
}

#[test]
fn a_name_of_an_earlier_event_is_not_forgotten() {
    let (named, _) = moved(
        &creating(),
        polled(ProgressStatus::Running, Some("vpc-2")),
        START,
    );
    let (looking, _) = moved(&named, polled(failed("InternalFailure"), None), START);
    assert_eq!(looking.state, State::Accepted);
    assert_eq!(looking.identifier, Some(name("vpc-2")));
    let absent = Observation::Looked(Presence::Absent, create_plan());
    assert_line(
        &looking,
        absent,
        "accepted: what AWS named is not visible yet",
    );
}

/// The tries of one class do not use up the bound of another.
#[test]
fn each_class_has_a_bound_of_its_own() {
    let mut create = creating();
    let mut now = START;
    for _ in 0..30 {
        let (again, due_at) = moved(&create, polled(failed("Throttling"), None), now);
        now = due_at;
        create = waiting(Action::Create, again);
    }
    // More than the time for which a conflict is put up with.
    assert!(now.since(START) > Duration::from_secs(30 * 60));
    let (again, due_at) = moved(&create, polled(failed("ResourceConflict"), None), now);
    let retrying = again.retrying.clone().unwrap();
    assert_eq!((retrying.class, retrying.tries), (Class::Queue, 1));
    let delay = due_at.since(now);
    assert!(
        delay <= Duration::from_secs(5),
        "its first delay: {delay:?}"
    );
    let conflict = waiting(Action::Create, again);
    // And the other way round: the throttling is not forgotten.
    let (again, _) = moved(&conflict, polled(failed("Throttling"), None), now);
    let retrying = again.retrying.unwrap();
    assert_eq!((retrying.class, retrying.tries), (Class::Again, 31));
    assert_eq!(retrying.since, START);
    assert_eq!(retrying.tries_in_all(), 32);
}

/// Rows of earlier versions count all classes together.
#[test]
fn tries_of_earlier_versions_are_read() {
    let stored = json!({
        "action": "create", "class": "again", "tries": 7, "since": START,
        "failure": {"code": "Throttling", "message": "Slow down."}
    });
    let read: Retrying = serde_json::from_value(stored).unwrap();
    assert_eq!((read.tries, read.tries_in_all()), (7, 7));
}

/// Its handler did not come to an end.
#[test]
fn a_read_that_did_not_stabilize_is_made_again() {
    let fault = Fault::new(FaultClass::Rejected, "NotStabilizedException", "slow");
    let looked = Observation::Looked(Presence::Unknown(fault), PlanOutcome::Nothing);
    let decision = decide(&operation(Kind::Put), looked, START, chance(9));
    assert!(matches!(decision.next, Next::Move(_)), "{decision:?}");
}
