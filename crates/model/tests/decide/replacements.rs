//! Replacements, in both orders.

use super::*;
use crate::retries::moved;

/// A replacement whose identifier the declaration determines.
fn replace_by_name(order: ReplacementOrder) -> PlanOutcome {
    PlanOutcome::Replace {
        old: name("vpc-1"),
        order,
        identifier: Some(name("vpc-2")),
        changes: Vec::new(),
    }
}

/// A delete that fails because of another resource.
fn in_use() -> ProgressStatus {
    match failed("InvalidRequest") {
        ProgressStatus::Failed { code, hooks, .. } => ProgressStatus::Failed {
            code,
            message: "It has dependencies.".to_owned(),
            hooks,
        },
        other @ (ProgressStatus::Running | ProgressStatus::Success | ProgressStatus::Canceled) => {
            other
        }
    }
}

fn owning(operation: Operation) -> Operation {
    Operation {
        was_owned: true,
        ..referenced(operation)
    }
}

#[test]
fn the_alias_moves_when_the_new_resource_stands() {
    let put = owning(operation(Kind::Put));
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    assert_eq!(creating.identifier, None);
    assert_eq!(creating.referenced().unwrap().identifier.as_str(), "vpc-1");
    let created = Observation::Submitted(Ok(progress(ProgressStatus::Success, Some("vpc-2"))));
    let created = step(
        &creating,
        created,
        "observing, then Read: AWS reports success",
    );
    assert_eq!(created.referenced().unwrap().identifier.as_str(), "vpc-1");
    let deleting = step(
        &created,
        Observation::Read(present("d")),
        "submitting, then Submit: the new one stands, so the old one can go",
    );
    assert_eq!(deleting.referenced().unwrap().identifier.as_str(), "vpc-2");
    assert_eq!(deleting.subject(), Some(&name("vpc-1")));
    let deleted = Observation::Submitted(Ok(progress(ProgressStatus::Success, None)));
    let last = step(
        &deleting,
        deleted,
        "observing, then Read: only the new one is left",
    );
    let decision = assert_line(&last, Observation::Read(present("d")), "succeeded: done");
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-2")));
    assert_eq!(finish.reference, ReferenceChange::Applied { owned: true });

    let partial = step(
        &deleting,
        Observation::Submitted(Err(rejected())),
        "observing, then Read: the new one stands beside the old one",
    );
    let decision = assert_line(
        &partial,
        Observation::Read(present("d")),
        "failed: the new one stands beside the old one",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-2")));
    assert_eq!(finish.reference, ReferenceChange::Applied { owned: true });
    let left = finish.leftover.expect("the old one is left");
    assert_eq!(left.identifier, Some(name("vpc-1")));
    assert_eq!(left.reason, LeftoverReason::Undeleted);
    assert_eq!(left.error.map(|error| error.code), Some(rejected().code));
    let Ended::Failed(failure) = finish.ended else {
        panic!("it fails")
    };
    assert_eq!(failure.code, "PartiallyApplied");
    assert!(
        failure.message.contains("deleting 'vpc-1' failed"),
        "{}",
        failure.message
    );
}

#[test]
fn an_old_resource_that_is_not_owned_is_left_alone() {
    let put = referenced(operation(Kind::Put));
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    let created = Observation::Submitted(Ok(progress(ProgressStatus::Success, Some("vpc-2"))));
    let created = step(
        &creating,
        created,
        "observing, then Read: AWS reports success",
    );
    let decision = assert_line(&created, Observation::Read(present("d")), "succeeded: done");
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    // Others stand for it if it was owned, so it is told who owns it then.
    let told = |gives_up_old: bool| {
        let work = Operation {
            gives_up_old,
            ..created.clone()
        };
        let ended = finish.clone().of(&work, START);
        ended.given_up().cloned().collect::<Vec<_>>()
    };
    assert_eq!(told(false), []);
    let told = told(true);
    let [warning] = &told[..] else {
        panic!("expected one warning, got {told:?}")
    };
    assert!(warning.target.ends_with("/vpc-1"), "{warning:?}");
    assert!(warning.message.contains("nobody does"), "{warning:?}");
}

#[test]
fn a_failed_replacement_leaves_the_old_resource_referenced() {
    let put = owning(operation(Kind::Put));
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    let ends_at_old = |decision: Decision| {
        let Next::Finish(finish) = decision.next else {
            panic!("it ends")
        };
        assert_eq!(finish.identifier, Some(name("vpc-1")));
        assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    };
    let refused = Observation::Submitted(Err(rejected()));
    ends_at_old(assert_line(
        &creating,
        refused,
        "failed: AWS refuses the create",
    ));
    let taken = Observation::Submitted(Ok(progress(failed("AlreadyExists"), None)));
    ends_at_old(assert_line(
        &creating,
        taken,
        "failed: something else stands in the way",
    ));

    let broken = Observation::Submitted(Ok(progress(failed("NotStabilized"), Some("vpc-2"))));
    let salvaging = step(
        &creating,
        broken,
        "salvaging, then Read: the create failed but named a resource",
    );
    let undoing = step(
        &salvaging,
        Observation::Read(present("d")),
        "submitting, then Submit: what the failed create left has to go",
    );
    assert_eq!(undoing.subject(), Some(&name("vpc-2")));
    // A create that was tried again before says nothing of the delete, which is judged as the first call that it is.
    let throttled = Observation::Submitted(Ok(progress(failed("Throttling"), None)));
    let Next::Move(again) = decide(&creating, throttled, START, chance(3)).next else {
        panic!("it is tried again")
    };
    let retrying = again.of(&creating, START).retrying;
    assert!(retrying.is_some());
    let tried_again = Operation {
        retrying,
        ..salvaging
    };
    let undone = step(
        &tried_again,
        Observation::Read(present("d")),
        "submitting, then Submit: what the failed create left has to go",
    );
    assert_eq!(undone.retrying, None);
    let deleted = Observation::Submitted(Ok(progress(ProgressStatus::Success, None)));
    ends_at_old(assert_line(
        &undoing,
        deleted,
        "failed: AWS reports success",
    ));
    let refused = Observation::Submitted(Err(rejected()));
    let decision = assert_line(&undoing, refused, "failed: AWS refuses the change");
    let Next::Finish(finish) = &decision.next else {
        panic!("it ends")
    };
    let Ended::Failed(failure) = &finish.ended else {
        panic!("it fails")
    };
    assert!(
        failure.message.contains("left 'vpc-2' in AWS"),
        "{}",
        failure.message
    );
    let left = finish.leftover.as_ref().expect("the new one is left");
    assert_eq!(left.identifier, Some(name("vpc-2")));
    assert_eq!(left.reason, LeftoverReason::Undeleted);
    ends_at_old(decision);
}

/// A delete of what something depends on is tried again under a new token, for as long as a group's deletion would.
#[test]
fn what_has_to_go_is_deleted_again_while_something_depends_on_it() {
    let setback = Setback::Failed(Failure::new("NotStabilized", "later"));
    for replacing in [
        Replacing::OldLast {
            old: name("vpc-1"),
            tries: 0,
        },
        Replacing::Undoing {
            old: name("vpc-1"),
            setback,
            tries: 0,
            is_proven: true,
        },
    ] {
        let intent = intent_to(Call::Delete(name("vpc-9")), None);
        let mut deleting = Operation {
            identifier: Some(name("vpc-2")),
            replacing: Some(replacing),
            state: State::Submitting(intent.clone()),
            ..owning(operation(Kind::Put))
        };
        let mut tokens = vec![intent.client_token];
        for (turn, seconds) in [(1, 2), (2, 4), (3, 8), (4, 16)] {
            let conflict = Observation::Submitted(Ok(progress(in_use(), None)));
            let decision = decide(&deleting, conflict, START, chance(100 + turn));
            assert_eq!(
                decision.to_string(),
                "submitting: what could not be deleted is tried again"
            );
            let Next::Move(moved) = decision.next else {
                panic!("it goes on")
            };
            assert_eq!(moved.due_at.since(START).as_secs(), seconds);
            let State::Submitting(again) = &moved.state else {
                panic!("it is submitted again")
            };
            assert!(!tokens.contains(&again.client_token));
            assert_eq!(again.unanswered, 0, "nothing is sent yet");
            tokens.push(again.client_token);
            deleting = moved.of(&deleting, START);
        }
        let conflict = Observation::Submitted(Ok(progress(in_use(), None)));
        let last = decide(&deleting, conflict, START, chance(105)).to_string();
        assert!(!last.contains("tried again"), "{last}");
    }
}

fn create_beside_old() -> Operation {
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let reason = "submitting, then Submit: the new one first";
    step(
        &owning(operation(Kind::Put)),
        Observation::Looked(present("d"), plan),
        reason,
    )
}

/// The failure of a decision that ends with the alias standing for the old resource, and what it leaves.
#[track_caller]
fn kept_old(decision: Decision) -> (Failure, Option<NewLeftover>) {
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-1")));
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    (finish.ended.failure().unwrap().clone(), finish.leftover)
}

/// A name of its own stands in the way of the new one: it belongs to the old one, which bears the mark of the reference.
#[test]
fn an_old_resource_that_the_create_meets_is_not_what_it_has_left() {
    const REASON: &str = "failed: the old one has the name";
    let creating = create_beside_old();
    let submitted = |status, identifier| Observation::Submitted(Ok(progress(status, identifier)));
    let tells_ways_out = |decision: Decision| {
        let (failure, leftover) = kept_old(decision);
        assert_eq!(failure.code, "AlreadyExists");
        for part in ["'vpc-1'", "another name", "deleteBeforeCreate"] {
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        assert_eq!(leftover, None);
    };
    let met = submitted(failed("AlreadyExists"), Some("vpc-1"));
    tells_ways_out(assert_line(&creating, met, REASON));
    // AWS does not say what stands in the way, and nothing bears the mark of the create.
    let hidden = submitted(failed("AlreadyExists"), None);
    let reason = "failed: something else stands in the way";
    tells_ways_out(assert_line(&creating, hidden, reason));

    // An event has named it before the refusal, or AWS tells of the refusal in another way.
    let running = submitted(ProgressStatus::Running, Some("vpc-1"));
    let named = step(&creating, running, "waiting: in flight");
    let refused = polled(failed("AlreadyExists"), None);
    tells_ways_out(assert_line(&named, refused, REASON));
    let broken = polled(failed("InvalidRequest"), Some("vpc-1"));
    let reason = "salvaging, then Read: the create failed but named a resource";
    let salvaging = step(&named, broken, reason);
    for ownership in [Ownership::Unmarked, Ownership::Ours, Ownership::Made] {
        let read = Observation::Read(present_with("d", ownership));
        kept_old(assert_line(&salvaging, read, REASON));
    }

    // Creates that are idempotent in AWS succeed, and make nothing.
    let succeeded = polled(ProgressStatus::Success, Some("vpc-1"));
    let observing = step(
        &named,
        succeeded,
        "observing, then Read: AWS reports success",
    );
    let read = Observation::Read(present_with("d", Ownership::Ours));
    tells_ways_out(assert_line(&observing, read, REASON));
}

/// What the create meets is given up only if this very create has made it.
#[test]
fn what_another_create_has_made_is_not_deleted() {
    let creating = create_beside_old();
    let refused = polled(failed("AlreadyExists"), Some("vpc-2"));
    let creating = waiting(Action::Create, creating);
    let reason = "salvaging, then Read: something has the new identifier: is it ours?";
    let salvaging = step(&creating, refused, reason);
    let read = |ownership| Observation::Read(bearing("vpc-2", "d", ownership));
    let with_mark = |operation: &Operation, ownership: Ownership| Operation {
        bears_mark: ownership.is_ours(),
        ..operation.clone()
    };
    let undoing = step(
        &with_mark(&salvaging, Ownership::Made),
        read(Ownership::Made),
        "submitting, then Submit: what the failed create left has to go",
    );
    assert_eq!(undoing.subject(), Some(&name("vpc-2")));
    let decision = assert_line(
        &with_mark(&salvaging, Ownership::Ours),
        read(Ownership::Ours),
        "failed: what is left may be somebody else's",
    );
    let (failure, leftover) = kept_old(decision);
    assert_eq!(failure.code, "AlreadyExists");
    assert_eq!(leftover.unwrap().reason, LeftoverReason::Salvage);
}

/// An earlier version has begun to delete what bears the mark of the reference. It is judged again before the delete is sent.
#[test]
fn what_an_earlier_version_was_about_to_delete_is_judged_again() {
    let undoing = |left: &str, is_proven| Operation {
        identifier: Some(name(left)),
        created: true,
        named: true,
        bears_mark: true,
        replacing: Some(Replacing::Undoing {
            old: name("vpc-1"),
            setback: Setback::Failed(Failure::new("AlreadyExists", "It exists.")),
            tries: 0,
            is_proven,
        }),
        state: State::Submitting(intent_to(Call::Delete(name(left)), None)),
        ..owning(operation(Kind::Put))
    };
    let look = |left, ownership| {
        Observation::Looked(
            bearing(left, "d", ownership),
            PlanOutcome::Delete(name(left)),
        )
    };
    let old = "failed: the old one has the name";
    let spared = "failed: what is left may be somebody else's";
    let deleted = "submitting, then Submit: still there: the same again";
    for (left, is_proven, ownership, expected) in [
        ("vpc-1", false, Ownership::Ours, old),
        ("vpc-1", true, Ownership::Unmarked, old),
        ("vpc-2", true, Ownership::Ours, spared),
        ("vpc-2", true, Ownership::Others, spared),
        ("vpc-2", false, Ownership::Unmarked, spared),
        ("vpc-2", true, Ownership::Unmarked, deleted),
        ("vpc-2", false, Ownership::Made, deleted),
    ] {
        let operation = undoing(left, is_proven);
        resumes_with_a_look(&operation);
        assert_line(&operation, look(left, ownership), expected);
    }
    let told_to_own = Operation {
        was_told_to_own: true,
        ..undoing("vpc-1", false)
    };
    assert_line(&told_to_own, look("vpc-1", Ownership::Ours), old);
    // The new one that stands is the old one.
    let last = Operation {
        replacing: Some(Replacing::OldLast {
            old: name("vpc-1"),
            tries: 0,
        }),
        ..undoing("vpc-1", false)
    };
    resumes_with_a_look(&last);
    assert_line(&last, look("vpc-1", Ownership::Ours), old);
}

#[track_caller]
fn resumes_with_a_look(operation: &Operation) {
    let decision = decide(operation, Observation::Claimed, START, chance(9));
    assert!(matches!(decision.effect, Some(Effect::Look(_))));
}

/// After a failed create, a resource with the declared identifier may be someone else's.
#[test]
fn what_a_failed_create_may_have_left_under_a_declared_name_is_not_deleted() {
    let put = owning(operation(Kind::Put));
    let plan = replace_by_name(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    let broken = Observation::Submitted(Ok(progress(failed("NotStabilized"), Some("vpc-2"))));
    let salvaging = step(
        &creating,
        broken,
        "salvaging, then Read: the create failed but named a resource",
    );
    let decision = assert_line(
        &salvaging,
        Observation::Read(present("d")),
        "failed: what is left may be somebody else's",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-1")));
    let Ended::Failed(failure) = finish.ended else {
        panic!("it fails")
    };
    assert!(failure.message.contains("'vpc-2'"), "{}", failure.message);
    let left = finish.leftover.expect("something may be left");
    assert_eq!(left.identifier, Some(name("vpc-2")));
    assert_eq!(left.reason, LeftoverReason::Salvage);
}

/// AWS derives the ARN of a topic from its name, so an event may name somebody else's.
#[test]
fn what_aws_names_after_a_declared_name_may_be_someone_elses() {
    let put = Operation {
        has_name: true,
        ..owning(operation(Kind::Put))
    };
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    for code in ["InvalidRequest", "GeneralServiceException", "NotStabilized"] {
        let broken = Observation::Submitted(Ok(progress(failed(code), Some("vpc-2"))));
        let salvaging = moved(&creating, broken, START).0;
        let read = |ownership| Observation::Read(bearing("vpc-2", "d", ownership));
        let decision = decide(&salvaging, read(Ownership::Unmarked), START, chance(9));
        assert!(decision.effect.is_none(), "{code}");
        let ours = Operation {
            bears_mark: true,
            ..salvaging
        };
        let undoing = moved(&ours, read(Ownership::Made), START).0;
        assert_eq!(undoing.subject(), Some(&name("vpc-2")), "{code}");
        assert!(undoing.deletes(), "{code}");
        // What was proven stays so.
        let looked = Observation::Looked(
            bearing("vpc-2", "d", Ownership::Unmarked),
            PlanOutcome::Delete(name("vpc-2")),
        );
        let decision = decide(&undoing, looked, START, chance(9));
        assert!(
            matches!(decision.effect, Some(Effect::Submit(_)) | None),
            "{code}"
        );
    }
}

#[test]
fn an_old_resource_that_goes_first_makes_room_for_an_ordinary_create() {
    let put = owning(operation(Kind::Put));
    let plan = replace(ReplacementOrder::DeleteBeforeCreate);
    let deleting = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the old one has to make room",
    );
    assert_line(
        &deleting,
        Observation::Submitted(Err(rejected())),
        "failed: AWS refuses the change",
    );
    let deleted = Observation::Submitted(Ok(progress(ProgressStatus::Success, None)));
    let again = step(
        &deleting,
        deleted,
        "accepted, then Look: there is room for the new one",
    );
    assert_eq!(again.referenced(), None);
    step(
        &again,
        Observation::Looked(Presence::Absent, create()),
        "submitting, then Submit: nothing stands there yet",
    );
    // The reply to the delete was lost, and the resource is gone.
    let resumed = step(
        &deleting,
        Observation::Looked(Presence::Absent, create()),
        "submitting, then Submit: not found, but only AWS's answer to the delete tells what became of it",
    );
    let not_found = Observation::Submitted(Ok(progress(failed("NotFound"), None)));
    let missing = step(
        &resumed,
        not_found,
        "missing: AWS does not find it, which proves nothing yet",
    );
    let resumed = step(
        &almost_proven(missing),
        Observation::Looked(Presence::Absent, create()),
        "submitting, then Submit: nothing stands there yet",
    );
    let gone = Some(Replacing::OldGone { old: name("vpc-1") });
    assert_eq!((&again.replacing, &resumed.replacing), (&gone, &gone));
    let failed = Observation::Submitted(Err(rejected()));
    let decision = assert_line(&resumed, failed, "failed: AWS refuses the create");
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Removed);
    let Ended::Failed(failure) = finish.ended else {
        panic!("it fails")
    };
    assert!(
        failure.message.contains("'vpc-1' was deleted already"),
        "{}",
        failure.message
    );
}
/// Looks at the new resource that did not find it say nothing about the old one.
#[test]
fn the_looks_for_the_old_resource_are_counted_anew() {
    let creating = Operation {
        identifier: Some(name("vpc-2")),
        created: true,
        sightings: Sightings {
            missed: 4,
            missed_in_all: 4,
            missed_since: Some(START),
            ..Sightings::default()
        },
        replacing: Some(Replacing::NewFirst {
            old: name("vpc-1"),
            is_named: false,
        }),
        state: State::Observing(Action::Create),
        ..owning(operation(Kind::Put))
    };
    let deleting = step(
        &creating,
        Observation::Read(Presence::Unknown(denied())),
        "submitting, then Submit: the new one stands, so the old one can go",
    );
    assert_eq!(deleting.subject(), Some(&name("vpc-1")));
    assert_eq!(deleting.sightings, Sightings::default());
}

/// The new resource is judged before the old one is deleted.
#[test]
fn a_new_resource_that_lacks_what_was_sent_does_not_take_the_place_of_the_old_one() {
    let put = owning(operation(Kind::Put));
    let plan = replace(ReplacementOrder::CreateBeforeDelete);
    let creating = step(
        &put,
        Observation::Looked(present("d"), plan),
        "submitting, then Submit: the new one first",
    );
    let created = Observation::Submitted(Ok(progress(ProgressStatus::Success, Some("vpc-2"))));
    let created = step(
        &creating,
        created,
        "observing, then Read: AWS reports success",
    );
    let dropping = Operation {
        options: Options {
            require_proof: true,
            ..created.options
        },
        proof: Some(Proof {
            dropped: vec!["/EnableDnsSupport".to_owned()],
            ..Proof::default()
        }),
        attempt: 20,
        state_since: START.before(SETTLING_WINDOW),
        ..created
    };
    // A create of a name may succeed with what there was.
    let named = Operation {
        has_name: true,
        ..dropping.clone()
    };
    let kept = "failed: what is left may be somebody else's";
    assert_line(&named, Observation::Read(present("d")), kept);
    let undoing = step(
        &dropping,
        Observation::Read(present("d")),
        "submitting, then Submit: what the failed create left has to go",
    );
    assert_eq!(undoing.subject(), Some(&name("vpc-2")));
    assert_eq!(undoing.referenced().unwrap().identifier.as_str(), "vpc-1");
    let deleted = Observation::Submitted(Ok(progress(ProgressStatus::Success, None)));
    let decision = assert_line(&undoing, deleted, "failed: AWS reports success");
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.identifier, Some(name("vpc-1")));
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: false });
    assert_eq!(finish.leftover, None);
}
