//! Finishing and forgetting.

use std::collections::BTreeMap;

use serde_json::json;
use ucp_model::operation::{Change, ReferenceChange, ResourceWork, Work};
use ucp_model::{Ended, Failure, Identifier, Lineage, ProvisioningState, Reference, Scope, Target};
use ucp_store::{
    Claimed, Documents, Error, Event, FinishOperation, Forgotten, NewOperation, ReferenceUpdate,
};

use super::fixture::*;

/// The reference takes the identifier, the live properties and the baseline.
pub async fn applied_writes_the_reference(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let end = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, end.clone()).await;
    let expected = Reference {
        id: alias("a"),
        lineage: Lineage::of(&alias("a")),
        scope: scope(),
        identifier: identifier("x"),
        owned: true,
        told_to_own: false,
        marked: false,
        tags: BTreeMap::new(),
        operation: None,
        provisioning_state: ProvisioningState::Succeeded,
        baseline: Some(baseline("x")),
        observed: Some(json!({ "Name": "x" })),
        observed_at: Some(at(3)),
        created_at: at(1),
        updated_at: at(3),
        revision: 2,
        moves: 0,
    };
    assert_eq!(reference(&store, "a").await, expected);
    assert_eq!(operation(&store, 1).await, end.operation);

    // Without live properties, the last ones stay.
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    let mut end = finding(applied(&claimed.operation, "x", false), None);
    end.operation.header.ended_at = Some(at(9));
    finish(&store, &claimed.lease, end).await;
    let again = reference(&store, "a").await;
    assert_eq!(again.observed, expected.observed);
    assert_eq!(again.observed_at, expected.observed_at);
    assert_eq!(again.updated_at, at(9));
}

/// A failed change does not become the baseline.
pub async fn kept_leaves_the_baseline(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", false).await;
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    let kept = ReferenceChange::Kept { owned: false };
    let live = Some(json!({ "Name": "seen" }));
    let end = finding(end(&claimed.operation, failed(), kept, Some("x")), live);
    finish(&store, &claimed.lease, end).await;
    let expected = Reference {
        provisioning_state: ProvisioningState::Failed,
        observed: Some(json!({ "Name": "seen" })),
        revision: before.revision + 2,
        ..before
    };
    assert_eq!(reference(&store, "a").await, expected);

    // A resource left by a failed create is owned.
    let claimed = accept_and_claim(&store, put(3, "b")).await;
    let kept = ReferenceChange::Kept { owned: true };
    let salvaged = super::fixture::end(&claimed.operation, failed(), kept, Some("y"));
    finish(&store, &claimed.lease, salvaged).await;
    let salvaged = reference(&store, "b").await;
    assert!(salvaged.owned);
    assert_eq!(salvaged.baseline, None);
    assert_eq!(salvaged.identifier, identifier("y"));
}

/// A change that was refused before anything was carried out leaves the state of the last one that was.
pub async fn untouched_restores_the_state(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    let untouched = ReferenceChange::Untouched;
    for (number, new) in [(2, put(2, "a")), (3, delete(3, "a"))] {
        let claimed = accept_and_claim(&store, new).await;
        let refused = end(&claimed.operation, failed(), untouched, Some("x"));
        finish(&store, &claimed.lease, finding(refused, None)).await;
        let expected = Reference {
            updated_at: at(3),
            revision: before.revision + 2 * (number - 1),
            ..before.clone()
        };
        assert_eq!(reference(&store, "a").await, expected);
    }

    let claimed = accept_and_claim(&store, put(4, "a")).await;
    let kept = ReferenceChange::Kept { owned: false };
    let failure = end(&claimed.operation, failed(), kept, Some("x"));
    finish(&store, &claimed.lease, failure).await;
    let claimed = accept_and_claim(&store, put(5, "a")).await;
    let canceled = Ended::Canceled(Failure::new("Canceled", "It was cancelled."));
    let canceled = end(&claimed.operation, canceled, untouched, Some("x"));
    finish(&store, &claimed.lease, canceled).await;
    let after = reference(&store, "a").await;
    assert_eq!(after.provisioning_state, ProvisioningState::Failed);
}

/// The reference is removed.
pub async fn removed_takes_the_reference(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let removed = end(&claimed.operation, failed(), ReferenceChange::Removed, None);
    finish(&store, &claimed.lease, removed).await;
    assert_eq!(store.get_reference(&alias("a")).await.unwrap(), None);
    refused!(
        store.accept_operation(delete(2, "a")),
        Error::NoSuchReference
    );
    let again = accept(&store, put(3, "a")).await;
    assert_eq!(again.reference.unwrap().revision, 1);
}

/// A later put that did not create the resource keeps ownership as it was.
pub async fn ownership_once_had_stays(store: Engine) {
    with_group(&store, "rg").await;
    assert!(map(&store, 1, "a", "x", true).await.owned);
    assert!(map(&store, 2, "a", "x", false).await.owned);
    assert!(!map(&store, 3, "b", "x", false).await.owned);
    assert!(!map(&store, 4, "b", "x", false).await.owned);
}

/// What the caller says of the ownership counts until the resource is another one, and the next operation knows it.
pub async fn a_reference_knows_whether_it_was_told_to_own(store: Engine) {
    with_group(&store, "rg").await;
    let told = async || reference(&store, "a").await.told_to_own;
    map(&store, 1, "a", "x", true).await;
    assert!(!told().await);
    let taking = with(put(2, "a"), |new| new.options.take_ownership = true);
    let claimed = accept_and_claim(&store, taking).await;
    assert!(!resource_work(&claimed.operation).was_told_to_own);
    let end = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, end).await;
    assert!(told().await);

    let claimed = accept_and_claim(&store, put(3, "a")).await;
    assert!(resource_work(&claimed.operation).was_told_to_own);
    let created = stepped(&claimed.operation, |work| work.created = true);
    let end = applied(&created, "y", true);
    finish(&store, &claimed.lease, end).await;
    assert!(!told().await, "it was created for the reference");

    for owned in [true, false] {
        let update = ReferenceUpdate {
            owned: Some(owned),
            tags: None,
            place: None,
        };
        let (id, correlation) = (alias("a"), correlation());
        let updated = store.update_reference(&id, update, "caller", &correlation, at(9));
        assert_eq!(updated.await.unwrap().told_to_own, owned);
        assert_eq!(told().await, owned);
    }
}

/// What has borne its mark must bear it to be deleted, until the resource is another one or the caller says otherwise.
pub async fn a_reference_knows_whether_its_mark_was_seen(store: Engine) {
    with_group(&store, "rg").await;
    let end = async |new: NewOperation, resource: &str, change: &dyn Fn(&mut ResourceWork)| {
        let claimed = accept_and_claim(&store, new).await;
        let ended = stepped(&claimed.operation, |work| change(work));
        let end = applied(&ended, resource, false);
        finish(&store, &claimed.lease, end).await;
        reference(&store, "a").await.marked
    };
    let proving = |number| {
        with(put(number, "a"), |new| {
            new.marked_for = new.reference.clone();
        })
    };
    let needed = |claimed: &Claimed| resource_work(&claimed.operation).marked_for.is_some();

    assert!(!end(proving(1), "x", &|_| {}).await);
    let seen = accept_and_claim(&store, proving(2)).await;
    assert!(!needed(&seen), "it was never seen");
    let marked = stepped(&seen.operation, |work| work.bears_mark = true);
    finish(&store, &seen.lease, applied(&marked, "x", false)).await;
    assert!(reference(&store, "a").await.marked);

    // It is not forgotten when it is missed.
    let missed = accept_and_claim(&store, proving(3)).await;
    assert!(needed(&missed));
    finish(
        &store,
        &missed.lease,
        applied(&missed.operation, "x", false),
    )
    .await;
    assert!(reference(&store, "a").await.marked);
    let named = accept_and_claim(&store, put(4, "a")).await;
    assert!(!needed(&named), "AWS has named it");
    finish(&store, &named.lease, applied(&named.operation, "x", false)).await;

    // One that was created, or another one, has its own.
    assert!(!end(proving(5), "x", &|work| work.created = true).await);
    assert!(end(proving(6), "x", &|work| work.bears_mark = true).await);
    assert!(!end(proving(7), "y", &|_| {}).await);

    assert!(end(proving(8), "y", &|work| work.bears_mark = true).await);
    let update = ReferenceUpdate {
        owned: Some(true),
        tags: None,
        place: None,
    };
    let (id, correlation) = (alias("a"), correlation());
    let updated = store.update_reference(&id, update, "caller", &correlation, at(9));
    assert!(updated.await.unwrap().marked);
    let told = accept_and_claim(&store, proving(9)).await;
    assert!(!needed(&told), "it was told to own it");
    finish(&store, &told.lease, applied(&told.operation, "y", false)).await;

    // A leftover has no reference that knows.
    let left = with(untracked(delete(10, "a"), "y"), |new| {
        new.marked_for = Some(alias("a"));
    });
    let left = accept_and_claim(&store, left).await;
    assert!(needed(&left));
}

/// The end of an operation makes no second owner.
pub async fn only_one_reference_owns_a_resource(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    assert!(!map(&store, 2, "b", "x", true).await.owned);
    assert!(reference(&store, "a").await.owned);

    // A reference loses ownership when it takes the identifier of a resource that another one owns.
    map(&store, 3, "c", "y", true).await;
    assert!(!map(&store, 4, "c", "x", false).await.owned);
    assert!(map(&store, 5, "d", "y", true).await.owned);

    let claimed = accept_and_claim(&store, put(6, "d")).await;
    let moved = naming(&claimed.operation, "x");
    let step = store.commit_step(&claimed.lease, &moved, None, at(5), TERM);
    step.await.unwrap();
    assert!(!reference(&store, "d").await.owned);
}

/// What an operation has made is no other reference's, whatever that owned under its identifier before.
pub async fn who_makes_a_resource_owns_it(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let makes = async |number, name: &str, created: bool, bears_mark: bool| {
        let claimed = accept_and_claim(&store, put(number, name)).await;
        let mut end = applied(&claimed.operation, "x", true);
        if let Work::Resource(work) = &mut end.operation.work {
            work.created = created;
            work.bears_mark = bears_mark;
        }
        finish(&store, &claimed.lease, end).await;
        reference(&store, name).await.owned
    };
    assert!(!makes(2, "b", true, false).await, "nothing proves it");
    assert!(!makes(3, "b", false, true).await, "it is told to be a's");
    assert!(reference(&store, "a").await.owned);
    assert!(makes(4, "c", true, true).await);
    let before = reference(&store, "a").await;
    assert!(!before.owned);
    assert!(before.updated_at > before.created_at);
    // What bears the mark of one is not what has borne that of another.
    assert!(makes(5, "d", false, true).await);
    assert!(!reference(&store, "c").await.owned);
    // One that is busy keeps what it owns until it ends.
    accept_and_claim(&store, put(6, "d")).await;
    assert!(!makes(7, "e", true, true).await);
    assert!(reference(&store, "d").await.owned);
}

/// A delete removes the references to the resource under every alias, and no others.
pub async fn a_delete_takes_all_references_of_the_resource(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    map(&store, 2, "b", "x", false).await;
    map(&store, 3, "c", "X", true).await;
    let claimed = accept_and_claim(&store, delete(4, "b")).await;
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    for gone in ["a", "b"] {
        assert_eq!(store.get_reference(&alias(gone)).await.unwrap(), None);
    }
    reference(&store, "c").await;
}

/// A reference that another operation works on is not removed.
pub async fn a_delete_spares_references_that_are_worked_on(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let put = accept_and_claim(&store, put(2, "b")).await;
    let delete = accept_and_claim(&store, delete(3, "a")).await;
    let revealed = naming(&put.operation, "x");
    let step = store.commit_step(&put.lease, &revealed, None, at(5), TERM);
    let lease = step.await.unwrap();
    finish(&store, &delete.lease, deleted(&delete.operation)).await;
    assert_eq!(store.get_reference(&alias("a")).await.unwrap(), None);
    assert_eq!(reference(&store, "b").await.identifier, identifier("x"));
    finish(&store, &lease, applied(&revealed, "x", true)).await;
    assert!(reference(&store, "b").await.owned);
}

/// Deleting by name removes the references too.
pub async fn an_unreferenced_delete_takes_the_references(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let claimed = accept_and_claim(&store, untracked(delete(2, "-"), "x")).await;
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    assert_eq!(store.get_reference(&alias("a")).await.unwrap(), None);
}

/// A failed delete removes no other reference, nor does a put that ends without one.
pub async fn a_failed_delete_takes_no_other_reference(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    let claimed = accept_and_claim(&store, untracked(delete(2, "-"), "x")).await;
    let removed = end(
        &claimed.operation,
        failed(),
        ReferenceChange::Removed,
        Some("x"),
    );
    finish(&store, &claimed.lease, removed).await;
    let new = named(put(3, "b"), "x");
    let claimed = accept_and_claim(&store, new).await;
    let removed = end(
        &claimed.operation,
        failed(),
        ReferenceChange::Removed,
        Some("x"),
    );
    finish(&store, &claimed.lease, removed).await;
    assert_eq!(reference(&store, "a").await, before);
    assert_eq!(store.get_reference(&alias("b")).await.unwrap(), None);
}

/// Documents are erased with the end. The ended row cannot be claimed to look at them, so this checks that the next
/// operation on the alias starts without them.
pub async fn the_end_erases_the_documents(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let document = Some(sealed("document"));
    let step = store.commit_step(&claimed.lease, &claimed.operation, document, at(2), TERM);
    let lease = step.await.unwrap();
    finish(&store, &lease, applied(&claimed.operation, "x", true)).await;
    let claimed = accept_and_claim(&store, delete(2, "a")).await;
    assert_eq!(claimed.documents, Documents::default());
}

/// An ended operation never changes.
pub async fn the_end_is_final(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;
    let before = (operation(&store, 1).await, reference(&store, "a").await);

    let lease = &claimed.lease;
    let failure = end(&claimed.operation, failed(), ReferenceChange::Removed, None);
    refused!(store.finish_operation(lease, failure), Error::LeaseLost);
    refused!(
        store.commit_step(lease, &claimed.operation, None, at(9), TERM),
        Error::LeaseLost
    );
    refused!(store.renew_lease(lease, at(9), TERM), Error::LeaseLost);
    store.release_lease(lease).await.unwrap();
    store.take_over_leases().await.unwrap();
    assert!(claim(&store, at(1_000)).await.is_empty());

    let after = (operation(&store, 1).await, reference(&store, "a").await);
    assert_eq!(after, before);
    assert_eq!(store.list_events(&alias("a")).await.unwrap().len(), 1);
    assert_eq!(store.next_claimable_at().await.unwrap(), None);
}

/// The next operation is accepted.
pub async fn the_end_frees_alias_and_target(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    map(&store, 2, "a", "x", true).await;
    accept(&store, untracked(delete(3, "-"), "x")).await;
}

/// The history records who did what, with which outcome.
pub async fn every_end_is_an_event(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "A b")).await;
    let changes = vec![Change {
        path: "/Name".to_owned(),
        op: "add".to_owned(),
        conditional: false,
    }];
    let planned = stepped(&claimed.operation, |work| work.changes.clone_from(&changes));
    finish(&store, &claimed.lease, applied(&planned, "x/y", true)).await;
    let claimed = accept_and_claim(&store, delete(2, "a B")).await;
    let ended = Ended::Canceled(Failure::new("Canceled", "The delete was cancelled."));
    let kept = ReferenceChange::Kept { owned: false };
    let canceled = end(&claimed.operation, ended, kept, Some("x/y"));
    finish(&store, &claimed.lease, canceled).await;
    // The event of another alias is not among them.
    map(&store, 3, "other", "z", true).await;

    let tracked =
        "/planes/radius/local/resourcegroups/rg/providers/AWS.Logs/LogGroup:reference/A%20b";
    let resource =
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/x%2Fy";
    let succeeded = Event {
        at: at(3),
        caller: "caller".to_owned(),
        kind: "put".to_owned(),
        operation: Some(operation_id(1)),
        correlation_id: correlation(),
        reference: Some(tracked.to_owned()),
        resource: Some(resource.to_owned()),
        lost: None,
        changes,
        outcome: "Succeeded".to_owned(),
        code: None,
        message: None,
    };
    let canceled = Event {
        kind: "delete".to_owned(),
        operation: Some(operation_id(2)),
        changes: Vec::new(),
        outcome: "Canceled".to_owned(),
        code: Some("Canceled".to_owned()),
        ..succeeded.clone()
    };
    let events = store.list_events(&alias("A B")).await.unwrap();
    assert_eq!(events, [succeeded, canceled]);
}

/// Forgetting removes the reference and appends an event.
pub async fn what_is_not_owned_can_be_forgotten(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "Ab", "x", false).await;
    let forgotten = forget(&store, "aB").await.unwrap();
    assert_eq!(forgotten, Forgotten::Forgotten);
    assert_eq!(store.get_reference(&alias("Ab")).await.unwrap(), None);

    let events = store.list_events(&alias("Ab")).await.unwrap();
    let event = events.last().unwrap();
    assert_eq!(event.kind, "forget");
    assert_eq!(event.at, at(7));
    assert_eq!(event.caller, "somebody");
    assert_eq!(event.operation, None);
    assert_eq!(event.outcome, "Succeeded");
    assert_eq!(event.reference, Some(alias("Ab").to_string()));
    assert!(event.resource.as_ref().unwrap().ends_with("/LogGroup/x"));
}

/// Forgetting an owned resource would orphan it.
pub async fn what_is_owned_is_not_forgotten(store: Engine) {
    with_group(&store, "rg").await;
    let referenced = map(&store, 1, "a", "x", true).await;
    let forgotten = forget(&store, "a").await.unwrap();
    let owned = Forgotten::Owned(Box::new(referenced.clone()));
    assert_eq!(forgotten, owned);
    assert_eq!(reference(&store, "a").await, referenced);
    assert_eq!(store.list_events(&alias("a")).await.unwrap().len(), 1);
}

/// Forgetting requires a reference that no operation works on.
pub async fn what_is_busy_or_unknown_is_not_forgotten(store: Engine) {
    let forget = || forget(&store, "a");
    refused!(forget(), Error::NoSuchReference);
    with_group(&store, "rg").await;
    refused!(forget(), Error::NoSuchReference);
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    refused!(forget(), Error::Busy(id) if id == operation_id(1));
    let end = FinishOperation {
        baseline: None,
        ..applied(&claimed.operation, "x", false)
    };
    finish(&store, &claimed.lease, end).await;
    assert_eq!(forget().await.unwrap(), Forgotten::Forgotten);
    refused!(forget(), Error::NoSuchReference);
}

/// A creation is found in any plane and under any alias. An update is not a creation, nor is a failed create.
pub async fn a_creation_is_known_by_its_resource(store: Engine) {
    let create = async |number: u64, name: &str, created: bool, ended: Ended| {
        let claimed = accept_and_claim(&store, untracked(put(number, name), name)).await;
        let operation = stepped(&claimed.operation, |work| work.created = created);
        let end = end(&operation, ended, ReferenceChange::Removed, Some(name));
        finish(&store, &claimed.lease, end).await;
    };
    create(1, "made", true, Ended::Succeeded).await;
    create(2, "changed", false, Ended::Succeeded).await;
    create(3, "failed", true, failed()).await;

    let was_created = async |scope: &Scope, name: &str, since| {
        let target = Target {
            scope,
            type_name: &type_name(),
            identifier: &Identifier::new(name),
        };
        store.was_created(&target, since).await.unwrap()
    };
    assert!(was_created(&scope(), "made", at(2)).await);
    let other_plane = Scope::new("other", "123456789012", "us-west-2").unwrap();
    assert!(was_created(&other_plane, "made", at(2)).await);
    assert!(
        !was_created(&scope(), "made", at(3)).await,
        "the end is at second 3"
    );
    for name in ["changed", "failed", "Made", "nothing"] {
        assert!(!was_created(&scope(), name, at(2)).await, "{name}");
    }
    let other_account = Scope::new("aws", "999999999999", "us-west-2").unwrap();
    let other_region = Scope::new("aws", "123456789012", "us-east-1").unwrap();
    for scope in [other_account, other_region] {
        assert!(!was_created(&scope, "made", at(2)).await, "{scope}");
    }
}
