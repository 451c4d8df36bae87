//! A call whose reply was lost, or that was refused after an earlier send.

use super::*;

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

/// A name is no proof: only its mark shows that the create has made what stands there once the token has expired.
#[test]
fn a_create_whose_token_has_expired_owns_only_what_carries_its_mark() {
    let create = Operation {
        identifier: Some(name("vpc-1")),
        created: true,
        ..in_state(
            operation(Kind::Put),
            State::Submitting(intent(Action::Create, None)),
        )
    };
    let owned = |ownership: Ownership, policy: AdoptionPolicy| {
        let mut create = create.clone();
        create.options.adoption_policy = policy;
        let found = marked(ownership, PlanOutcome::Nothing);
        let expired = START.after(CLIENT_TOKEN_LIFE);
        match decide(&create, found, expired, chance(9)).next {
            Next::Finish(finish) => (finish.ended.status(), finish.reference),
            other => panic!("{other:?}"),
        }
    };
    let applied = |owned| ("Succeeded", ReferenceChange::Applied { owned });
    let theirs = || Ownership::Others;
    let adopt = AdoptionPolicy::Adopt;
    assert_eq!(owned(Ownership::Ours, adopt), applied(true));
    assert_eq!(owned(Ownership::Unmarked, adopt), applied(false));
    assert_eq!(owned(theirs(), adopt), applied(false));
    let fail = AdoptionPolicy::Fail;
    assert_eq!(owned(Ownership::Ours, fail), applied(true));
    assert_eq!(owned(theirs(), fail), ("Failed", ReferenceChange::Removed));
}

/// AWS shows a create-only value in a form of its own. What bears the mark of this very create is as that declared it.
#[test]
fn what_this_create_has_made_is_not_to_be_replaced() {
    let order = ReplacementOrder::CreateBeforeDelete;
    let sent = Operation {
        identifier: Some(name("vpc-1")),
        created: true,
        ..in_state(
            operation(Kind::Put),
            State::Submitting(intent(Action::Create, None)),
        )
    };
    let refused = Failure::new("AlreadyExists", "It exists.");
    let met = Operation {
        created: false,
        ..in_state(sent.clone(), State::Adopting(refused))
    };
    let refused = Failure::new("RequiresReplacement", "It would have to be replaced.");
    for plan in [replace(order), PlanOutcome::Impossible(refused)] {
        for operation in [&sent, &met] {
            assert_line(
                operation,
                marked(Ownership::Made, plan.clone()),
                "observing, then Read: this create has made it, whatever AWS says",
            );
        }
    }
    assert_line(
        &met,
        marked(Ownership::Ours, replace(order)),
        "failed: what has the identifier is not ours to replace",
    );
}

/// A delete that was sent says nothing about what stands there now.
#[test]
fn a_delete_is_not_sent_again_to_what_carries_another_mark() {
    let delete = in_state(
        referenced(operation(Kind::Delete)),
        State::Submitting(intent(Action::Delete, None)),
    );
    let theirs = || marked(Ownership::Others, deletion());
    assert_line(
        &delete,
        theirs(),
        "failed: another reference's mark is on it",
    );
    for delete in [
        Operation {
            was_told_to_own: true,
            ..delete.clone()
        },
        Operation {
            reference: None,
            ..delete
        },
    ] {
        assert_line(
            &delete,
            theirs(),
            "submitting, then Submit: still there: the same again",
        );
    }
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
    assert!(matches!(finish.ended, Ended::Failed(failure) if failure.code == "OutcomeUnknown"));
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
    let refused_connection = Fault::new(FaultClass::Transient, "NetworkFailure", "");
    let decision = assert_line(
        &with(1),
        Observation::Submitted(Err(refused_connection)),
        "submitting: AWS could not be reached",
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
        referenced(operation(Kind::Put)),
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
        referenced(operation(Kind::Delete)),
        State::Submitting(intent(Action::Delete, None)),
    );
    assert_line(
        &delete,
        Observation::Claimed,
        "keep, then Look: look before sending it again",
    );
    assert_line(
        &delete,
        Observation::Looked(present("d"), deletion()),
        "submitting, then Submit: still there: the same again",
    );
    let absent = || Observation::Looked(Presence::Absent, PlanOutcome::Nothing);
    assert_line(
        &delete,
        absent(),
        "submitting, then Submit: not found, but only AWS's answer to the delete tells what became of it",
    );
    assert_line_at(
        &delete,
        absent(),
        START.after(CLIENT_TOKEN_LIFE),
        "missing: not found, which proves nothing yet",
    );
    let by_name = Operation {
        was_referenced: false,
        ..delete
    };
    assert_line(&by_name, absent(), "succeeded: it is as it should be");
}

#[test]
fn a_refused_look_after_a_lost_reply_is_tried_again_for_a_while() {
    let delete = in_state(
        referenced(operation(Kind::Delete)),
        State::Submitting(intent(Action::Delete, None)),
    );
    let looked = || Observation::Looked(Presence::Unknown(denied()), deletion());
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

/// It keeps AWS's code: an update or a delete may be made again, by ucp too, whatever came of the earlier send.
#[test]
fn a_refused_change_tells_of_an_earlier_send() {
    for (kind, action) in [(Kind::Put, Action::Update), (Kind::Delete, Action::Delete)] {
        let message = |unanswered| {
            let intent = Intent {
                unanswered,
                ..intent(action, Some("d"))
            };
            let sent = in_state(referenced(operation(kind)), State::Submitting(intent));
            let refused = Observation::Submitted(Err(denied()));
            let line = "failed: AWS refuses the change";
            let Next::Finish(finish) = assert_line(&sent, refused, line).next else {
                panic!("it ends")
            };
            let Ended::Failed(failure) = finish.ended else {
                panic!("it fails")
            };
            assert_eq!(failure.code, denied().code);
            failure.message
        };
        let told = format!("An earlier send of the same {action} may have arrived");
        assert!(!message(1).contains("earlier"), "{}", message(1));
        assert!(message(2).contains(&told), "{}", message(2));
    }
}
