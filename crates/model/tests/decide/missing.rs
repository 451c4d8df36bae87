//! Absence, which is proven before anything irreversible follows from it, and ownership, which is proven too.

use ucp_model::operation::{Class, Retrying};

use super::*;

fn absent() -> Observation {
    Observation::Looked(Presence::Absent, create())
}

/// What AWS does not find of an operation, and when it was last known to exist.
fn seen_before(operation: Operation, ago: Duration) -> Operation {
    Operation {
        sightings: Sightings::since(Some(START.before(ago))),
        ..referenced(operation)
    }
}

/// The effects of an operation whose resource is never found, until `is_done`: their names, and the time they took.
fn never_found(
    mut operation: Operation,
    listing: &Listing,
    is_done: impl Fn(&Decision) -> bool,
) -> (Vec<&'static str>, Duration, Decision) {
    let (mut now, mut due_at) = (START, START);
    let (mut effects, mut observation) = (Vec::new(), Observation::Claimed);
    loop {
        let decision = decide(&operation, observation, now, chance(9));
        if is_done(&decision) {
            return (effects, now.since(START), decision);
        }
        if let Next::Move(moved) = &decision.next {
            due_at = moved.due_at;
            operation = moved.as_ref().clone().of(&operation, now);
        }
        let plan = if operation.deletes() {
            PlanOutcome::Nothing
        } else {
            create()
        };
        effects.extend(decision.effect.as_ref().map(Effect::name));
        assert!(effects.len() < 1_000, "it does not end: {operation:?}");
        observation = match decision.effect {
            Some(Effect::Look(_)) => Observation::Looked(Presence::Absent, plan),
            Some(Effect::List(_)) => Observation::Listed(listing.clone()),
            Some(Effect::Submit(_)) => {
                Observation::Submitted(Ok(progress(failed("NotFound"), None)))
            }
            Some(other) => panic!("unexpected {other:?}"),
            None => {
                assert!(due_at > now, "it does not wait");
                now = due_at;
                Observation::Claimed
            }
        };
    }
}

fn creates(decision: &Decision) -> bool {
    matches!(&decision.effect, Some(Effect::Submit(intent)) if intent.call == Call::Create)
}

fn ends(decision: &Decision) -> bool {
    matches!(decision.next, Next::Finish(_))
}

#[test]
fn what_is_referenced_is_created_anew_after_five_looks_and_a_list() {
    let put = seen_before(operation(Kind::Put), Duration::from_secs(3_600));
    for listing in [
        Listing::Lacks,
        Listing::Unlisted,
        Listing::Unknown(denied()),
    ] {
        let (effects, time, decision) = never_found(put.clone(), &listing, creates);
        assert_eq!(effects, ["Look", "Look", "Look", "Look", "List", "Look"]);
        assert!(time > Duration::from_secs(7) && time < Duration::from_secs(15));
        let Next::Move(moved) = decision.next else {
            panic!("the create is recorded first")
        };
        let lost = Replacing::Lost { old: name("vpc-1") };
        assert_eq!(moved.replacing, Some(lost));
        assert_eq!(moved.identifier, None);
        let creating = moved.of(&put, START);
        assert_eq!(creating.referenced().unwrap().identifier.as_str(), "vpc-1");
        assert_eq!(creating.held().unwrap().identifier.as_str(), "vpc-1");
        assert_eq!(creating.status(), "Provisioning");
    }
}

#[test]
fn what_was_seen_lately_is_looked_for_during_the_settling_window() {
    let put = seen_before(operation(Kind::Put), Duration::from_secs(2));
    let (_, time, _) = never_found(put, &Listing::Lacks, creates);
    assert!(time >= SETTLING_WINDOW - Duration::from_secs(2), "{time:?}");
    assert!(time < SETTLING_WINDOW + Duration::from_secs(20), "{time:?}");
    // An operation of an earlier version does not know when it was last seen.
    let put = referenced(operation(Kind::Put));
    let (_, time, _) = never_found(put, &Listing::Lacks, creates);
    assert!(time >= SETTLING_WINDOW, "{time:?}");
}

#[test]
fn what_is_found_again_is_planned_against_and_the_count_starts_over() {
    let put = almost_proven(in_state(
        referenced(operation(Kind::Put)),
        State::Missing(None),
    ));
    assert_line(
        &put,
        Observation::Looked(present("d"), PlanOutcome::Nothing),
        "succeeded: it is as it should be",
    );
    let updating = step(
        &put,
        Observation::Looked(present("d"), update()),
        "submitting, then Submit: it differs from the declaration",
    );
    assert_eq!(updating.sightings.missed, 0);
    assert_eq!(updating.sightings.last_seen_at, Some(START));
    let throttled = Observation::Looked(Presence::Unknown(throttled()), create());
    assert_line(&put, throttled, "missing: cannot look yet");
}

#[test]
fn what_a_list_holds_is_never_created_anew() {
    let put = seen_before(operation(Kind::Put), Duration::from_secs(3_600));
    let (effects, time, decision) = never_found(put, &Listing::Holds, ends);
    assert!(effects.iter().filter(|effect| **effect == "List").count() > 10);
    assert!(time > Duration::from_secs(15 * 60) && time < Duration::from_secs(16 * 60));
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Untouched);
    let Ended::Failed(failure) = finish.ended else {
        panic!("it fails")
    };
    assert_eq!(failure.code, "NotFound");
    assert!(failure.message.contains("a list of its type holds it"));
}

#[test]
fn a_delete_is_sent_whatever_a_look_finds_and_not_found_is_proven() {
    let delete = seen_before(operation(Kind::Delete), Duration::from_secs(3_600));
    let (effects, _, decision) = never_found(delete.clone(), &Listing::Lacks, ends);
    assert_eq!(effects, ["Look", "Submit", "Look", "Look", "List", "Look"]);
    assert_eq!(decision.to_string(), "succeeded: it is as it should be");

    // By name, and nothing stands for it.
    let by_name = Operation {
        was_referenced: false,
        ..delete.clone()
    };
    let (effects, ..) = never_found(by_name.clone(), &Listing::Lacks, ends);
    assert_eq!(effects, ["Look"]);
    let takes_references = Operation {
        takes_references: true,
        ..by_name
    };
    let (effects, ..) = never_found(takes_references, &Listing::Lacks, ends);
    assert_eq!(effects[..2], ["Look", "Submit"]);

    // A look shows it, although AWS did not find it: it is deleted again, and not under the old token.
    let missing = in_state(delete, State::Missing(None));
    let decision = assert_line(
        &missing,
        Observation::Looked(present("d"), deletion()),
        "submitting, then Submit: it is there",
    );
    let Some(Effect::Submit(intent)) = decision.effect else {
        panic!("it is sent")
    };
    assert_eq!(intent.client_token, token(9));
}

#[test]
fn an_update_whose_reply_was_lost_does_not_prove_absence() {
    let updating = in_state(
        referenced(operation(Kind::Put)),
        State::Submitting(intent(Action::Update, Some("d"))),
    );
    let missing = step(
        &updating,
        absent(),
        "missing: not found, which proves nothing yet",
    );
    assert_line(
        &missing,
        Observation::Looked(present("d"), update()),
        "submitting, then Submit: the update has not shown: the same again",
    );
    let nearly = almost_proven(missing);
    let resent = step(
        &nearly,
        absent(),
        "submitting, then Submit: it does not exist: is the update in flight?",
    );
    assert!(matches!(&resent.state, State::Submitting(intent) if intent.client_token == token(1)));
    // A cancellation does not call it back.
    let cancelled = resource::decide(&nearly, true, absent(), START, chance(9));
    let line = "submitting, then Submit: it does not exist: is the update in flight?";
    assert_eq!(cancelled.to_string(), line);

    // Nothing is in flight if AWS has answered each send. Once the token has expired, nobody can tell.
    let creating = "submitting, then Submit: nothing stands there yet";
    let State::Missing(Some(intent)) = &nearly.state else {
        panic!("it knows what was sent")
    };
    let answered = Intent {
        unanswered: 0,
        ..intent.clone()
    };
    let answered = in_state(nearly.clone(), State::Missing(Some(answered)));
    let answered = step(&answered, absent(), creating);
    let lost = Replacing::Lost { old: name("vpc-1") };
    assert_eq!(answered.replacing, Some(lost));
    assert_line_at(&nearly, absent(), START.after(CLIENT_TOKEN_LIFE), creating);
}

/// AWS takes no send of an update of what is gone. It is asked for a day, with and without a cancellation, and nobody
/// says that AWS contradicts itself.
#[test]
fn an_update_of_what_is_gone_is_sent_again_until_a_day_has_passed() {
    let updating = Operation {
        changes: vec![Change {
            path: "/Description".to_owned(),
            op: "replace".to_owned(),
            conditional: false,
        }],
        ..in_state(
            referenced(operation(Kind::Put)),
            State::Submitting(intent(Action::Update, Some("d"))),
        )
    };
    for is_cancelled in [false, true] {
        let (mut work, mut now, mut sends) = (updating.clone(), START, 0);
        let mut observation = Observation::Claimed;
        let (ended, time) = loop {
            let decision = resource::decide(&work, is_cancelled, observation, now, chance(9));
            let mut due_at = now;
            match decision.next {
                Next::Finish(finish) => break (finish.ended, now.since(START)),
                Next::Move(moved) => {
                    due_at = moved.due_at;
                    work = moved.of(&work, now);
                }
                Next::Keep => {}
            }
            observation = match decision.effect {
                Some(Effect::Look(_)) => absent(),
                Some(Effect::List(_)) => Observation::Listed(Listing::Lacks),
                Some(Effect::Submit(_)) => {
                    sends += 1;
                    assert!(sends < 10_000, "it does not end");
                    Observation::Submitted(Err(throttled()))
                }
                Some(other) => panic!("unexpected {other:?}"),
                None => {
                    now = due_at;
                    Observation::Claimed
                }
            };
        };
        let Ended::Failed(failure) = ended else {
            panic!("it fails: {ended:?}")
        };
        assert_eq!(failure.code, "OutcomeUnknown", "{}", failure.message);
        assert!(sends > 20, "{sends}");
        assert!(time > Duration::from_secs(23 * 3600), "{time:?}");
        assert!(time < Duration::from_secs(26 * 3600), "{time:?}");
    }
}

/// It was adopted by this put, so nothing stands for it yet.
#[test]
fn an_update_of_what_was_to_be_adopted_is_not_forgotten_either() {
    let adopting = Operation {
        was_referenced: false,
        ..in_state(
            referenced(operation(Kind::Put)),
            State::Submitting(intent(Action::Update, Some("d"))),
        )
    };
    let line = "missing: not found, which proves nothing yet";
    let missing = step(&adopting, absent(), line);
    assert_line(
        &almost_proven(missing),
        absent(),
        "submitting, then Submit: it does not exist: is the update in flight?",
    );
    let expired = START.after(CLIENT_TOKEN_LIFE);
    let creating = "submitting, then Submit: nothing stands there yet";
    assert_line_at(&adopting, absent(), expired, creating);
}

/// It was looked for while AWS took no update, and then AWS says that there is nothing to update.
#[test]
fn a_proven_absence_is_no_contradiction_however_often_it_was_looked_for() {
    let mut put = almost_proven(referenced(operation(Kind::Put)));
    put.sightings.missed_in_all = 60;
    put.sightings.missed_since = Some(START.before(Duration::from_secs(3_600)));
    let missing = step(
        &put,
        absent(),
        "missing: not found, which proves nothing yet",
    );
    let creating = "submitting, then Submit: nothing stands there yet";
    assert_line(&missing, absent(), creating);
}

#[test]
fn an_absence_that_is_being_proven_can_be_cancelled_before_anything_is_sent() {
    let missing = in_state(referenced(operation(Kind::Put)), State::Missing(None));
    let cancelled = |operation: &Operation| {
        resource::decide(operation, true, Observation::Claimed, START, chance(9))
    };
    let Next::Finish(finish) = cancelled(&missing).next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Untouched);
    let sent = Operation {
        changes: vec![Change {
            path: String::new(),
            op: "remove".to_owned(),
            conditional: false,
        }],
        ..missing
    };
    assert!(
        !ends(&cancelled(&sent)),
        "the delete may still be carried out"
    );
}

/// A put that creates anew what was lost.
fn creating_anew() -> Operation {
    let missing = in_state(referenced(operation(Kind::Put)), State::Missing(None));
    step(
        &almost_proven(missing),
        absent(),
        "submitting, then Submit: nothing stands there yet",
    )
}

#[test]
fn the_alias_moves_in_one_step_when_the_new_resource_stands() {
    let made = Observation::Submitted(Ok(progress(ProgressStatus::Success, Some("vpc-2"))));
    let observing = step(
        &creating_anew(),
        made,
        "observing, then Read: AWS reports success",
    );
    assert_eq!(observing.referenced().unwrap().identifier.as_str(), "vpc-1");
    let read = Observation::Read(present_as("vpc-2", "d"));
    let Next::Finish(finish) = assert_line(&observing, read, "succeeded: done").next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-2")));
    assert_eq!(finish.reference, ReferenceChange::Applied { owned: true });
    let ended = finish.of(&observing, START);
    let lost = Replacing::Lost { old: name("vpc-1") };
    assert_eq!(ended.replacing, Some(lost), "for the history");
}

#[test]
fn a_create_that_is_refused_or_fails_leaves_the_reference_to_what_was_lost() {
    for observation in [
        Observation::Submitted(Err(rejected())),
        Observation::Submitted(Ok(progress(failed("InvalidRequest"), None))),
        Observation::Submitted(Ok(progress(failed("AlreadyExists"), None))),
    ] {
        let decision = decide(&creating_anew(), observation, START, chance(9));
        let Next::Finish(finish) = decision.next else {
            panic!("it ends: {decision}")
        };
        assert_eq!(finish.identifier, Some(name("vpc-1")));
        assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    }
}

#[test]
fn what_a_failed_create_has_left_takes_the_place_of_what_was_lost() {
    let broken = Observation::Submitted(Ok(progress(failed("InvalidRequest"), Some("vpc-2"))));
    let salvaging = step(
        &creating_anew(),
        broken,
        "salvaging, then Read: the create failed but named a resource",
    );
    let read = Observation::Read(present_as("vpc-2", "d"));
    let decision = assert_line(
        &salvaging,
        read,
        "failed: the failed create left a resource",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-2")));
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: true });
}

/// It is watched after its handler has given up, and does not become as declared.
#[test]
fn what_is_watched_in_vain_takes_the_place_of_what_was_lost() {
    let gave_up = Observation::Submitted(Ok(progress(failed("NotStabilized"), Some("vpc-2"))));
    let decision = resource::decide(&creating_anew(), false, gave_up, START, chance(1));
    let Next::Move(moved) = decision.next else {
        panic!("it is watched")
    };
    let watched = Operation {
        attempt: 1_000,
        ..moved.of(&creating_anew(), START)
    };
    let differs = PlanOutcome::Update {
        identifier: name("vpc-2"),
        changes: Vec::new(),
    };
    let looked = Observation::Looked(present_as("vpc-2", "d"), differs);
    let later = START.after(Duration::from_secs(24 * 3600));
    let decision = resource::decide(&watched, false, looked, later, chance(2));
    let Next::Finish(finish) = decision.next else {
        panic!("it ends: {decision}")
    };
    assert_eq!(finish.identifier, Some(name("vpc-2")));
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: true });
}

#[test]
fn a_name_that_is_in_use_after_all_is_what_seemed_to_be_lost() {
    let named = Operation {
        identifier: Some(name("vpc-1")),
        ..creating_anew()
    };
    let exists = Observation::Submitted(Ok(progress(failed("AlreadyExists"), None)));
    let adopting = step(
        &named,
        exists,
        "adopting, then Look: the identifier is taken",
    );
    assert_eq!((adopting.created, &adopting.replacing), (false, &None));
    assert_eq!(adopting.referenced().unwrap().identifier.as_str(), "vpc-1");
}

/// A create of a resource whose name is declared.
fn declared() -> Operation {
    Operation {
        identifier: Some(name("vpc-2")),
        created: true,
        ..operation(Kind::Put)
    }
}

#[test]
fn what_aws_named_is_looked_for_during_the_settling_window() {
    let creating = in_state(declared(), State::Submitting(intent(Action::Create, None)));
    let canceled = ProgressStatus::Canceled;
    let broken = Observation::Submitted(Ok(progress(canceled, Some("vpc-2"))));
    let mut salvaging = step(
        &creating,
        broken,
        "salvaging, then Read: the create failed but named a resource",
    );
    let mut now = START;
    let finish = loop {
        let claimed = decide(&salvaging, Observation::Claimed, now, chance(9));
        if let Some(Effect::List(_)) = claimed.effect {
            let listed = Observation::Listed(Listing::Lacks);
            (salvaging, _) = retries::moved(&salvaging, listed, now);
        }
        let decision = decide(
            &salvaging,
            Observation::Read(Presence::Absent),
            now,
            chance(9),
        );
        match decision.next {
            Next::Move(moved) => {
                assert!(moved.due_at > now);
                let before = now;
                now = moved.due_at;
                salvaging = moved.of(&salvaging, before);
            }
            Next::Finish(finish) => break finish,
            Next::Keep => panic!("it is looked for"),
        }
    };
    assert!(now.since(START) >= SETTLING_WINDOW);
    assert!(now.since(START) < 2 * SETTLING_WINDOW);
    assert!(salvaging.sightings.missed >= 4);
    assert_eq!(salvaging.sightings.listed, Some(false));
    assert_eq!(finish.reference, ReferenceChange::Removed);
    let message = &finish.ended.failure().unwrap().message;
    assert!(message.contains("AWS named 'vpc-2'"), "{message}");
    // A list of the type holds what looks do not find.
    let contradicted = Operation {
        sightings: Sightings {
            missed_since: Some(START),
            listed: Some(true),
            ..salvaging.sightings
        },
        ..salvaging.clone()
    };
    for (now, expected) in [
        (
            START.after(SETTLING_WINDOW),
            "salvaging: nothing is visible yet",
        ),
        (
            START.after(Duration::from_secs(16 * 60)),
            "canceled: the failed create may have left a resource",
        ),
    ] {
        let absent = Observation::Read(Presence::Absent);
        assert_line_at(&contradicted, absent, now, expected);
    }
    let late = Observation::Read(present_as("vpc-2", "d"));
    let decision = assert_line(
        &salvaging,
        late,
        "canceled: the failed create left a resource",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: true });
}

/// The event of a failed create repeats the declared name, and a request that AWS finds invalid makes nothing.
#[test]
fn what_was_declared_is_not_looked_for_if_the_code_says_that_nothing_was_made() {
    let creating = in_state(declared(), State::Submitting(intent(Action::Create, None)));
    let running = Observation::Submitted(Ok(progress(ProgressStatus::Running, Some("vpc-2"))));
    let waiting = step(&creating, running, "waiting: in flight");
    let broken = polled(failed("InvalidRequest"), Some("vpc-2"));
    let reason = "salvaging, then Read: the create failed: is there something of its name?";
    let salvaging = step(&waiting, broken, reason);
    let absent = Observation::Read(Presence::Absent);
    let reason = "failed: the create failed and named nothing";
    let decision = assert_line(&salvaging, absent, reason);
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Removed);
    assert_eq!(finish.leftover, None);
    // An earlier try may have made it: the code of the latest says nothing about that.
    let tried = Operation {
        retrying: Some(Retrying {
            action: Action::Create,
            class: Class::Again,
            tries: 1,
            since: START,
            others: std::collections::BTreeMap::new(),
            failure: Failure::new("Throttling", "Slow down."),
            is_named: false,
        }),
        ..salvaging.clone()
    };
    let absent = || Observation::Read(Presence::Absent);
    assert_line(&tried, absent(), "salvaging: nothing is visible yet");
    // A list of the type holds what looks do not find: nobody knows whose it is, so it is entered in the register.
    let contradicted = Operation {
        sightings: Sightings {
            missed: 5,
            missed_since: Some(START),
            listed: Some(true),
            ..Sightings::default()
        },
        ..tried
    };
    let long_after = START.after(Duration::from_secs(16 * 60));
    let decision = assert_line_at(&contradicted, absent(), long_after, reason);
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Removed);
    assert!(finish.leftover.is_some());
    // Whose it is, its mark says, or nothing does.
    let read = |ownership| Observation::Read(bearing("vpc-2", "d", ownership));
    let ours = Operation {
        bears_mark: true,
        ..salvaging.clone()
    };
    let left = "failed: the failed create left a resource";
    assert_line(&ours, read(Ownership::Made), left);
    assert_line(&salvaging, read(Ownership::Unmarked), reason);
}

/// The document of the create has the mark, and AWS has named what its name may stand for.
#[test]
fn what_bears_a_declared_name_and_no_mark_is_not_ours() {
    let creating = Operation {
        has_name: true,
        marked: true,
        created: true,
        ..in_state(
            operation(Kind::Put),
            State::Submitting(intent(Action::Create, None)),
        )
    };
    let broken = Observation::Submitted(Ok(progress(
        failed("GeneralServiceException"),
        Some("vpc-2"),
    )));
    let salvaging = step(
        &creating,
        broken,
        "salvaging, then Read: the create failed: is there something of its name?",
    );
    let read = |ownership| Observation::Read(bearing("vpc-2", "d", ownership));
    let again = "salvaging: it does not bear the mark, which proves nothing yet";
    assert_line(&salvaging, read(Ownership::Unmarked), again);
    let none = "failed: the create failed and named nothing";
    assert_line_at(
        &salvaging,
        read(Ownership::Unmarked),
        START.after(SETTLING_WINDOW),
        none,
    );
    let ours = Operation {
        bears_mark: true,
        ..salvaging
    };
    assert_line(
        &ours,
        read(Ownership::Made),
        "failed: the failed create left a resource",
    );
}

/// Without tags nothing says whose it is, whatever AWS calls it in an event: also a failure that passes is no proof.
#[test]
fn what_bears_a_declared_name_is_not_ours_without_tags() {
    let creating = Operation {
        has_name: true,
        created: true,
        ..in_state(
            operation(Kind::Put),
            State::Submitting(intent(Action::Create, None)),
        )
    };
    let there = || bearing("vpc-2", "d", Ownership::Unmarked);
    for code in ["ServiceLimitExceeded", "GeneralServiceException"] {
        let broken = Observation::Submitted(Ok(progress(failed(code), Some("vpc-2"))));
        let reason = "salvaging, then Read: the create failed: is there something of its name?";
        let salvaging = step(&creating, broken, reason);
        let reason = "failed: the create failed and named nothing";
        let decision = assert_line(&salvaging, Observation::Read(there()), reason);
        let Next::Finish(finish) = decision.next else {
            panic!("it ends")
        };
        assert_eq!(finish.reference, ReferenceChange::Removed);
        assert_eq!(finish.leftover.unwrap().reason, LeftoverReason::Salvage);
    }
    let passing = progress(failed("InternalFailure"), Some("vpc-2"));
    let reason = "accepted: it failed for a reason that passes: look, then go on";
    let again = step(&creating, Observation::Submitted(Ok(passing)), reason);
    let looked = Observation::Looked(there(), PlanOutcome::Nothing);
    let salvaging = step(
        &again,
        looked,
        "salvaging, then Read: it does not bear the mark: see what is left",
    );
    let reason = "failed: the create failed and named nothing";
    assert_line(&salvaging, Observation::Read(there()), reason);
}

#[test]
fn what_aws_did_not_name_is_not_ours() {
    let read = |presence, expected| {
        let creating = waiting(Action::Create, declared());
        let salvaging = step(
            &creating,
            polled(failed("GeneralServiceException"), None),
            "salvaging, then Read: the create failed: is there something of its name?",
        );
        let decision = assert_line(
            &salvaging,
            Observation::Read(presence),
            "failed: the create failed and named nothing",
        );
        let Next::Finish(finish) = decision.next else {
            panic!("it ends")
        };
        assert_eq!(finish.reference, ReferenceChange::Removed);
        assert_eq!(finish.ended.failure().unwrap().message, expected);
    };
    read(
        present_as("vpc-2", "d"),
        "text. AWS has the AWS::EC2::VPC 'vpc-2', but nothing proves that this create made it, so it is not ours. To use it under the alias, import it.",
    );
    read(
        Presence::Unknown(denied()),
        "text. Whether AWS has the AWS::EC2::VPC 'vpc-2' cannot be read.",
    );
}

/// One "not found" does not prove that it made nothing: AWS may show it later.
#[test]
fn what_aws_did_not_name_is_looked_for_during_the_settling_window() {
    let creating = waiting(Action::Create, declared());
    let salvaging = step(
        &creating,
        polled(failed("NotStabilized"), None),
        "salvaging, then Read: the create failed: is there something of its name?",
    );
    let nothing = || Observation::Read(Presence::Absent);
    assert_line(&salvaging, nothing(), "salvaging: nothing is visible yet");
    let (mut looked, mut now) = (salvaging, START);
    let finish = loop {
        match decide(&looked, nothing(), now, chance(9)).next {
            Next::Move(moved) => {
                let before = now;
                now = moved.due_at;
                looked = moved.of(&looked, before);
            }
            Next::Finish(finish) => break finish,
            Next::Keep => panic!("it is looked for"),
        }
    };
    assert!(now.since(START) >= SETTLING_WINDOW);
    assert_eq!(finish.reference, ReferenceChange::Removed);
    assert_eq!(finish.ended.failure().unwrap().message, "text");

    // It refuses before it makes anything.
    let refused = step(
        &creating,
        polled(failed("InvalidRequest"), None),
        "salvaging, then Read: the create failed: is there something of its name?",
    );
    let reason = "failed: the create failed and named nothing";
    assert_line(&refused, nothing(), reason);
}

/// The end of a failure does not depend on how often the reply was lost: whether AWS answers the first send, a repeated
/// one, or a poll.
#[test]
fn a_failure_ends_alike_however_often_the_reply_was_lost() {
    let operations = [
        (Action::Create, declared()),
        (Action::Update, referenced(operation(Kind::Put))),
        (Action::Delete, referenced(operation(Kind::Delete))),
    ];
    for (action, operation) in operations {
        let codes = ["GeneralServiceException", "NotFound", "AlreadyExists"];
        for (code, named) in codes
            .into_iter()
            .flat_map(|code| [(code, None), (code, Some("vpc-2"))])
        {
            let intents = [1, 2].map(|unanswered| Intent {
                unanswered,
                ..intent(action, None)
            });
            let [first, again] = intents.map(|intent| {
                let submitting = in_state(operation.clone(), State::Submitting(intent));
                let reply = Observation::Submitted(Ok(progress(failed(code), named)));
                decide(&submitting, reply, START, chance(9))
            });
            let polling = waiting(action, operation.clone());
            let polled = decide(&polling, polled(failed(code), named), START, chance(9));
            assert_eq!(first, again, "{action} {code} {named:?}");
            assert_eq!(first, polled, "{action} {code} {named:?}");
        }
    }
}

#[test]
fn a_name_in_use_after_a_lost_create_is_not_proof_that_it_is_ours() {
    let lost = in_state(declared(), State::Submitting(intent(Action::Create, None)));
    let found = Observation::Looked(present_as("vpc-2", "d"), PlanOutcome::Nothing);
    let decision = assert_line_at(
        &lost,
        found,
        START.after(CLIENT_TOKEN_LIFE),
        "succeeded: it is as it should be",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Applied { owned: false });
}

#[test]
fn an_unknown_outcome_of_a_create_owns_nothing() {
    let again = Intent {
        unanswered: 2,
        ..intent(Action::Create, None)
    };
    let resent = in_state(declared(), State::Submitting(again));
    let decision = assert_line(
        &resent,
        Observation::Submitted(Err(rejected())),
        "failed: refused, but an earlier send may have arrived",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Unknown);
}

#[test]
fn a_cancelled_change_whose_resource_is_not_found_keeps_the_reference() {
    let cancelled = Setback::Canceled(Failure::new("Canceled", "text"));
    for (action, kind) in [(Action::Update, Kind::Put), (Action::Delete, Kind::Delete)] {
        let salvaging = in_state(
            referenced(operation(kind)),
            State::Salvaging(action, cancelled.clone()),
        );
        let decision = assert_line(
            &salvaging,
            Observation::Read(Presence::Absent),
            "canceled: not found, which proves nothing yet",
        );
        let Next::Finish(finish) = decision.next else {
            panic!("it ends")
        };
        assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    }
}
