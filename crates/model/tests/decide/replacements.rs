//! Replacements, in both orders.

use super::*;

/// A replacement whose identifier the declaration determines.
fn replace_by_name(order: ReplacementOrder) -> PlanOutcome {
    PlanOutcome::Replace {
        old: name("vpc-1"),
        order,
        identifier: Some(name("vpc-2")),
        changes: Vec::new(),
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
    assert_line(&created, Observation::Read(present("d")), "succeeded: done");
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
        "failed: something else has the new identifier",
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
    ends_at_old(decision);
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
