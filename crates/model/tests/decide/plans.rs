//! Decisions on the first look: the plan is followed, and what it refuses leaves everything as it was.

use super::*;

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
    let there = referenced(put);
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
fn what_is_refused_before_aws_takes_it_leaves_the_reference_untouched() {
    let ends_with = |operation: &Operation, is_cancelled, observation| {
        let decision = resource::decide(operation, is_cancelled, observation, START, chance(9));
        match decision.next {
            Next::Finish(finish) => finish.reference,
            other => panic!("it ends: {other:?}"),
        }
    };
    let there = referenced(operation(Kind::Put));
    let impossible = PlanOutcome::Impossible(Failure::new("RequiresReplacement", ""));
    let unknown = Presence::Unknown(denied());
    let throttled = |kind, action| Operation {
        state: State::Submitting(Intent {
            unanswered: 0,
            ..intent(action, None)
        }),
        ..referenced(operation(kind))
    };
    for (operation, observation) in [
        (&there, Observation::Looked(present("d"), impossible)),
        (&there, Observation::Looked(unknown, create())),
        (&there, Observation::Claimed),
        (
            &referenced(operation(Kind::Delete)),
            Observation::Looked(Presence::Unknown(denied()), deletion()),
        ),
        (&throttled(Kind::Put, Action::Update), Observation::Claimed),
        (
            &throttled(Kind::Delete, Action::Delete),
            Observation::Claimed,
        ),
    ] {
        let is_cancelled = observation == Observation::Claimed;
        let reference = ends_with(operation, is_cancelled, observation);
        assert_eq!(reference, ReferenceChange::Untouched, "{operation:?}");
    }
    let submitted = in_state(there, State::Submitting(intent(Action::Update, None)));
    let refused = Observation::Submitted(Err(rejected()));
    assert_eq!(
        ends_with(&submitted, false, refused),
        ReferenceChange::Kept { owned: false },
        "AWS refused a change that was sent"
    );
}

#[test]
fn a_type_that_cannot_be_read_follows_its_plan_and_relies_on_the_token() {
    let unreadable = || Presence::Unreadable(name("vpc-1"));
    let there = referenced(operation(Kind::Put));
    assert_line(
        &there,
        Observation::Looked(unreadable(), PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
    let updating = step(
        &there,
        Observation::Looked(unreadable(), update()),
        "submitting, then Submit: it differs from the declaration",
    );
    let looked = || Observation::Looked(unreadable(), update());
    assert_line(
        &updating,
        looked(),
        "submitting, then Submit: the token makes the same bytes the same request",
    );
    assert_line_at(
        &updating,
        looked(),
        START.after(CLIENT_TOKEN_LIFE),
        "failed: looking cannot tell what the lost reply did",
    );
}

#[test]
fn the_verdict_is_in_once_something_is_recorded_or_it_ended() {
    let failure = Failure::new("Conflict", "");
    let refused = State::Ended(Ended::Failed(failure.clone()));
    let looked_at = |state| in_state(operation(Kind::Put), state);
    for (operation, verdict) in [
        (looked_at(State::Accepted), Verdict::Undecided),
        (
            looked_at(State::Ended(Ended::Succeeded)),
            Verdict::NothingToDo,
        ),
        (looked_at(refused), Verdict::Refused(&failure)),
    ] {
        assert_eq!(operation.verdict(), verdict);
        let created = Operation {
            created: true,
            ..operation
        };
        assert_eq!(created.verdict(), Verdict::Underway);
    }
    let submitting = looked_at(State::Submitting(intent(Action::Create, None)));
    assert_eq!(submitting.verdict(), Verdict::Underway);
    let made_room = Operation {
        changes: vec![Change {
            path: "/CidrBlock".to_owned(),
            op: "replace".to_owned(),
            conditional: false,
        }],
        ..looked_at(State::Accepted)
    };
    assert_eq!(made_room.verdict(), Verdict::Underway);
}

/// AWS spells the identifier otherwise, and what it names is another's: nothing was sent, so the operation ends.
#[test]
fn what_another_has_is_not_touched() {
    let put = operation(Kind::Put);
    for holder in [another_operation(), another_owner()] {
        assert_line(
            &put,
            taken_by(holder),
            "failed: AWS names a resource that is taken",
        );
    }
}

/// The same of a change that was sent: it waits for another operation, which ends, and not for another owner, who stays.
#[test]
fn a_change_in_flight_waits_for_another_operation_only() {
    let change = intent(Action::Update, None);
    let request = RequestToken::new("r");
    for state in [
        State::Submitting(change.clone()),
        State::Waiting(change, request),
        State::Observing(Action::Update),
        State::Salvaging(
            Action::Update,
            Setback::Failed(Failure::new("NotStabilized", "")),
        ),
    ] {
        let put = in_state(referenced(operation(Kind::Put)), state);
        let waits = decide(&put, taken_by(another_operation()), START, chance(9));
        let Next::Move(moved) = waits.next else {
            panic!("{waits} waits")
        };
        assert!(moved.due_at > START && waits.effect.is_none());
        assert_eq!(moved.state, put.state);
        assert_line(
            &put,
            taken_by(another_owner()),
            "failed: AWS names a resource that another reference has",
        );
    }
}
