//! What came of a create whose outcome is unknown: who finds out, and what becomes of the alias.

use ucp_model::operation::{Kind, ReferenceChange, Resolve, Sightings};
use ucp_model::{
    Baseline, Ended, Failure, Leftover, LeftoverId, LeftoverReason, NewLeftover, Operation,
    ProvisioningState, Register, UnknownCreate,
};
use ucp_store::{Error, FinishOperation, NewOperation, Retried, rules};

use super::fixture::*;

fn left(number: u64) -> LeftoverId {
    LeftoverId {
        register: Register::Group(group("rg")),
        name: operation_id(number),
    }
}

async fn entry(store: &Engine, number: u64) -> Option<Leftover> {
    store.get_leftover(&left(number)).await.unwrap()
}

pub(super) fn unknown_create() -> UnknownCreate {
    UnknownCreate {
        may_show_until: at(7_000),
        marked: true,
        named: false,
        creation: None,
    }
}

/// The end of a put whose create has an unknown outcome.
pub(super) fn losing_track(
    operation: &Operation,
    made: Option<&str>,
    create: UnknownCreate,
) -> FinishOperation {
    let mut end = end(operation, failed(), ReferenceChange::Unknown, made);
    end.leftover = Some(NewLeftover {
        identifier: made.and_then(identifier),
        reason: LeftoverReason::OutcomeUnknown,
        error: Some(Failure::new("OutcomeUnknown", "The reply was lost.")),
        create: Some(create),
    });
    end
}

/// The end of a resolve that has found this, or that there is nothing.
pub(super) fn resolved(operation: &Operation, found: Option<&str>) -> FinishOperation {
    let change = match found {
        Some(_) => ReferenceChange::Kept { owned: true },
        None => ReferenceChange::Removed,
    };
    let mut end = end(operation, Ended::Succeeded, change, found);
    if let ucp_model::operation::Work::Resource(work) = &mut end.operation.work {
        work.told = Some("It was found out.".to_owned());
    }
    end
}

/// The end of a resolve that has found nothing out.
pub(super) fn unresolved(operation: &Operation) -> FinishOperation {
    let name = resource_work(operation).identifier.clone();
    let name = name.as_ref().map(ucp_model::Identifier::as_str);
    end(operation, failed(), ReferenceChange::Unknown, name)
}

pub(super) async fn lose_track(store: &Engine, number: u64, name: &str, made: Option<&str>) {
    let claimed = accept_and_claim(store, put(number, name)).await;
    let end = losing_track(&claimed.operation, made, unknown_create());
    finish(store, &claimed.lease, end).await;
}

fn resolve(number: u64, name: &str) -> NewOperation {
    with(delete(number, name), |new| new.kind = Kind::Resolve)
}

async fn retry(store: &Engine, lost: u64, new: NewOperation) -> Operation {
    let Retried::Accepted(accepted) = store.retry_leftover(&left(lost), new).await.unwrap() else {
        panic!("it is tried");
    };
    *accepted
}

/// The operation knows of the create what the register knows. While it is under way nothing else changes, and its end
/// decides.
pub async fn an_unknown_outcome_is_resolved(store: Engine) {
    with_group(&store, "rg").await;
    for (number, found) in [(1, Some("made")), (4, None)] {
        lose_track(&store, number, "a", None).await;
        let accepted = retry(&store, number, resolve(number + 1, "a")).await;
        let work = resource_work(&accepted);
        assert_eq!(work.resolves, Some(unknown_create()));
        assert!(work.marked);
        let seen_at = Sightings::since(Some(at(3)));
        assert_eq!(work.sightings, seen_at);
        let known = reference(&store, "a").await;
        assert_eq!(known.provisioning_state, ProvisioningState::Unknown);
        assert_eq!(known.operation, Some(operation_id(number + 1)));
        refused!(
            store.accept_operation(put(number + 2, "a")),
            Error::OutcomeUnknown
        );
        refused!(
            store.accept_operation(delete(number + 2, "a")),
            Error::Busy(id) if id == operation_id(number + 1)
        );

        let claimed = claim_one(&store, at(2)).await;
        finish(&store, &claimed.lease, resolved(&claimed.operation, found)).await;
        assert_eq!(entry(&store, number).await, None);
        let event = store.list_events(&alias("a")).await.unwrap().pop().unwrap();
        assert_eq!(event.kind, "resolve");
        assert_eq!(event.message.as_deref(), Some("It was found out."));
        match found {
            Some(found) => {
                let known = reference(&store, "a").await;
                assert_eq!(known.identifier, identifier(found));
                assert_eq!(known.provisioning_state, ProvisioningState::Failed);
                assert!(known.owned);
                let claimed = accept_and_claim(&store, delete(number + 2, "a")).await;
                finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
            }
            None => assert!(!is_known(&store, "a").await),
        }
    }
}

async fn is_known(store: &Engine, name: &str) -> bool {
    let known = store.get_reference(&alias(name)).await;
    known.unwrap().is_some()
}

/// Somebody else may have decided.
pub async fn only_what_is_unknown_is_resolved(store: Engine) {
    with_group(&store, "rg").await;
    refused!(
        store.accept_operation(resolve(1, "a")),
        Error::NoSuchReference
    );
    map(&store, 2, "a", "x", true).await;
    refused!(
        store.accept_operation(resolve(3, "a")),
        Error::AlreadyReferenced
    );

    lose_track(&store, 4, "b", None).await;
    accept(&store, delete(5, "b")).await;
    refused!(
        store.retry_leftover(&left(4), resolve(6, "b")),
        Error::Busy(id) if id == operation_id(5)
    );
    let claimed = claim_one(&store, at(2)).await;
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    let retried = store.retry_leftover(&left(4), resolve(7, "b")).await;
    assert_eq!(retried.unwrap(), Retried::Gone);
    assert_eq!(store.get_operation(operation_id(7)).await.unwrap(), None);
}

/// The entry says when the next try is, and keeps what is known of the create.
pub async fn a_resolve_that_finds_nothing_out_is_a_try(store: Engine) {
    with_group(&store, "rg").await;
    lose_track(&store, 1, "a", Some("made")).await;
    let before = entry(&store, 1).await.unwrap();
    for tries in 1..=2 {
        retry(&store, 1, resolve(1 + u64::from(tries), "a")).await;
        let claimed = claim_one(&store, at(2)).await;
        finish(&store, &claimed.lease, unresolved(&claimed.operation)).await;
        let known = reference(&store, "a").await;
        assert_eq!(known.provisioning_state, ProvisioningState::Unknown);
        assert_eq!(known.identifier, identifier("made"));
        assert!(!known.owned);
        let expected = Leftover {
            tries,
            next_try_at: Leftover::tried_again_at(tries, at(3)),
            ..before.clone()
        };
        assert_eq!(entry(&store, 1).await, Some(expected));
    }
}

async fn lose_track_again(store: &Engine, number: u64, name: &str) {
    let abandon = with(put(number, name), |new| {
        new.options.resolve = Resolve::Abandon;
    });
    let claimed = accept_and_claim(store, abandon).await;
    let end = losing_track(&claimed.operation, None, unknown_create());
    finish(store, &claimed.lease, end).await;
}

async fn entries(store: &Engine) -> Vec<(LeftoverId, bool)> {
    let register = Register::Group(group("rg"));
    let listed = store.list_leftovers(&register, None, 9).await.unwrap();
    let entries = listed.into_iter();
    entries.map(|entry| (entry.id, entry.abandoned)).collect()
}

/// What the create declared is kept until it is decided: it is the baseline of what that create has made, and of nothing else.
pub async fn what_an_unknown_create_declared_is_kept(store: Engine) {
    with_group(&store, "rg").await;
    let declared = || Some(baseline("declared"));
    let kept_back = || {
        let is_undecided = true;
        declared().map(|it| Baseline { is_undecided, ..it })
    };
    let lose_track = async |number, name: &str| {
        let claimed = accept_and_claim(&store, put(number, name)).await;
        let end = FinishOperation {
            baseline: declared(),
            ..losing_track(&claimed.operation, None, unknown_create())
        };
        finish(&store, &claimed.lease, end).await;
        let undecided = reference(&store, name).await;
        assert_eq!(undecided.last_put(), None);
        assert_eq!(undecided.baseline, kept_back());
    };
    let kept = ReferenceChange::Kept { owned: true };
    for (number, name, change, left) in [
        (1, "a", ReferenceChange::Made, declared()),
        (4, "b", kept, None),
    ] {
        lose_track(number, name).await;
        retry(&store, number, resolve(number + 1, name)).await;
        let claimed = claim_one(&store, at(2)).await;
        finish(&store, &claimed.lease, unresolved(&claimed.operation)).await;
        assert_eq!(reference(&store, name).await.baseline, kept_back());

        retry(&store, number, resolve(number + 2, name)).await;
        let claimed = claim_one(&store, at(2)).await;
        let found = naming(&claimed.operation, name);
        let step = store.commit_step(&claimed.lease, &found, None, at(2), TERM);
        let lease = step.await.unwrap();
        assert_eq!(reference(&store, name).await.baseline, kept_back());
        let decided = end(&found, Ended::Succeeded, change, Some(name));
        // An earlier version told it by the state alone, which a claim changes.
        let mut unmarked = reference(&store, name).await;
        unmarked.baseline = declared();
        let work = resource_work(&found);
        let known = rules::end(unmarked, work, &decided, false).unwrap();
        assert_eq!(known.last_put(), left.as_ref());
        finish(&store, &lease, decided).await;
        let known = reference(&store, name).await;
        assert_eq!(known.last_put(), left.as_ref());
        assert_eq!(known.provisioning_state, ProvisioningState::Failed);
        assert!(known.owned);
    }
    lose_track(7, "c").await;
    let abandon = with(put(8, "c"), |new| new.options.resolve = Resolve::Abandon);
    accept(&store, abandon).await;
    assert_eq!(reference(&store, "c").await.baseline, None);
}

/// An import or a delete that fails has decided nothing.
pub async fn what_an_unknown_create_declared_outlives_what_fails(store: Engine) {
    with_group(&store, "rg").await;
    let import = with(named(put(2, "a"), "theirs"), |new| {
        new.kind = Kind::Import;
    });
    let delete = delete(12, "b");
    for (number, name, failing, change) in [
        (1, "a", import, ReferenceChange::Removed),
        (11, "b", delete, ReferenceChange::Untouched),
    ] {
        let claimed = accept_and_claim(&store, put(number, name)).await;
        let lost = FinishOperation {
            baseline: Some(baseline("declared")),
            ..losing_track(&claimed.operation, None, unknown_create())
        };
        finish(&store, &claimed.lease, lost).await;

        accept(&store, failing).await;
        assert_eq!(reference(&store, name).await.last_put(), None);
        let claimed = claim_one(&store, at(2)).await;
        let found = naming(&claimed.operation, "found");
        let step = store.commit_step(&claimed.lease, &found, None, at(2), TERM);
        let lease = step.await.unwrap();
        assert_eq!(reference(&store, name).await.last_put(), None);
        finish(&store, &lease, end(&found, failed(), change, Some("found"))).await;
        let undecided = reference(&store, name).await;
        assert_eq!(undecided.provisioning_state, ProvisioningState::Unknown);
        assert_eq!(undecided.last_put(), None);

        retry(&store, number, resolve(number + 2, name)).await;
        let claimed = claim_one(&store, at(2)).await;
        let found = naming(&claimed.operation, name);
        let made = end(&found, Ended::Succeeded, ReferenceChange::Made, Some(name));
        finish(&store, &claimed.lease, made).await;
        let known = reference(&store, name).await;
        assert_eq!(known.last_put(), Some(&baseline("declared")));
    }
}

/// Two creates under one alias may both have made something. What decides the alias decides the second.
pub async fn each_unknown_create_has_its_entry(store: Engine) {
    with_group(&store, "rg").await;
    lose_track(&store, 1, "a", None).await;
    lose_track_again(&store, 2, "a").await;
    assert_eq!(entries(&store).await, [(left(1), true), (left(2), false)]);
    let retried = store.retry_leftover(&left(1), resolve(3, "a")).await;
    assert_eq!(retried.unwrap(), Retried::Abandoned);
    let due = store.claim_due_leftovers(at(999), at(1_000), 9).await;
    let due: Vec<LeftoverId> = due.unwrap().into_iter().map(|due| due.id).collect();
    assert_eq!(due, [left(2)]);

    lose_track_again(&store, 4, "a").await;
    retry(&store, 4, resolve(5, "a")).await;
    let claimed = claim_one(&store, at(2)).await;
    finish(
        &store,
        &claimed.lease,
        resolved(&claimed.operation, Some("made")),
    )
    .await;
    assert_eq!(entries(&store).await, [(left(1), true), (left(2), true)]);
    assert!(store.get_leftover(&left(2)).await.unwrap().is_some());
}

/// A put that was told to abandon, and ends before it has done anything, leaves the entry all the same.
pub async fn what_an_ended_put_abandoned_stays(store: Engine) {
    with_group(&store, "rg").await;
    lose_track(&store, 1, "a", None).await;
    let abandon = with(put(2, "a"), |new| new.options.resolve = Resolve::Abandon);
    let claimed = accept_and_claim(&store, abandon).await;
    let end = end(&claimed.operation, failed(), ReferenceChange::Removed, None);
    finish(&store, &claimed.lease, end).await;
    assert!(!is_known(&store, "a").await);
    assert_eq!(entries(&store).await, [(left(1), true)]);
    lose_track(&store, 3, "a", None).await;
    assert_eq!(entries(&store).await, [(left(1), true), (left(3), false)]);
}

/// Whoever else comes to stand for the resource, or deletes it, does not decide the alias that waits for its create: its
/// entry makes it be looked at again. Without such an alias the entry goes.
pub async fn the_entry_of_an_undecided_alias_stays(store: Engine) {
    with_group(&store, "rg").await;
    let import = |number, name, resource| {
        with(named(put(number, name), resource), |new| {
            new.kind = Kind::Import;
        })
    };
    for (number, name, resource) in [(1, "a", "x"), (2, "b", "y"), (3, "c", "z")] {
        lose_track(&store, number, name, Some(resource)).await;
    }
    for (number, name, resource) in [(4, "d", "x"), (5, "e", "y")] {
        let claimed = accept_and_claim(&store, import(number, name, resource)).await;
        let end = applied(&claimed.operation, resource, true);
        finish(&store, &claimed.lease, end).await;
    }
    let claimed = accept_and_claim(&store, untracked(delete(6, "z"), "z")).await;
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    let waiting = [(left(1), false), (left(2), false), (left(3), false)];
    assert_eq!(entries(&store).await, waiting);

    // It is abandoned later: a reference stands for it.
    lose_track_again(&store, 7, "b").await;
    let waiting = [(left(1), false), (left(3), false), (left(7), false)];
    assert_eq!(entries(&store).await, waiting);
    // It was abandoned before.
    lose_track(&store, 8, "f", Some("w")).await;
    lose_track_again(&store, 9, "f").await;
    let claimed = accept_and_claim(&store, import(10, "g", "w")).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "w", false),
    )
    .await;
    let waiting = [
        (left(1), false),
        (left(3), false),
        (left(7), false),
        (left(9), false),
    ];
    assert_eq!(entries(&store).await, waiting);
}

/// The alias goes on with another resource; the entry stays, and is not tried any more.
pub async fn what_was_abandoned_is_not_resolved(store: Engine) {
    with_group(&store, "rg").await;
    lose_track(&store, 1, "a", None).await;
    let abandon = with(put(2, "a"), |new| new.options.resolve = Resolve::Abandon);
    let claimed = accept_and_claim(&store, abandon).await;
    let end = applied(&claimed.operation, "another", true);
    finish(&store, &claimed.lease, end).await;
    let retried = store.retry_leftover(&left(1), resolve(3, "a")).await;
    assert_eq!(retried.unwrap(), Retried::Abandoned);
    let entry = entry(&store, 1).await.unwrap();
    assert!(entry.abandoned);
    let due = store.claim_due_leftovers(at(9_000), at(9_001), 9).await;
    assert_eq!(due.unwrap(), []);
    assert_eq!(store.get_operation(operation_id(3)).await.unwrap(), None);
    let known = reference(&store, "a").await;
    assert_eq!(known.provisioning_state, ProvisioningState::Succeeded);
}

/// A create without an alias is nobody's to resolve, unless it is known what to look at.
pub async fn unknown_outcomes_under_an_alias_are_due(store: Engine) {
    with_group(&store, "rg").await;
    lose_track(&store, 1, "a", None).await;
    let claimed = accept_and_claim(&store, untracked(put(2, "b"), "named")).await;
    let unknown = losing_track(&claimed.operation, None, unknown_create());
    finish(&store, &claimed.lease, unknown).await;
    let due = async |now, until| {
        store
            .claim_due_leftovers(at(now), at(until), 9)
            .await
            .unwrap()
    };
    assert_eq!(due(62, 100).await, []);
    let claimed = due(63, 100).await;
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    assert_eq!(claimed[0].id, left(1));
    assert_eq!(claimed[0].create, Some(unknown_create()));
    assert_eq!(due(99, 200).await, []);
    assert_eq!(due(100, 200).await.len(), 1);
}
