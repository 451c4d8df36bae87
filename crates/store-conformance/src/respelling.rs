//! Steps after AWS has spelled an identifier otherwise than the operation was accepted with, or has named a resource in
//! refusing a create.

use ucp_model::operation::group::Task;
use ucp_model::operation::{Kind, ReferenceChange};
use ucp_model::{Ended, Operation};
use ucp_store::{Error, FinishOperation, NewOperation, Precondition};

use super::fixture::{
    Engine, TERM, accept, accept_and_claim, alias, applied, at, claim, claim_one, delete, deleted,
    end, failed, finish, identifier, map, named, on_group, operation, operation_id, put, reference,
    refused, resource_work, stepped, untracked, with, with_group,
};

/// The operation after a look at `MyDB`, which AWS calls `mydb`.
pub(super) fn respelled(operation: &Operation) -> Operation {
    stepped(operation, |work| {
        work.spelled = work.identifier.take();
        work.identifier = identifier("mydb");
    })
}

/// A put of `MyDB` under an alias that becomes the owner.
fn owning(number: u64, name: &str) -> NewOperation {
    with(named(put(number, name), "MyDB"), |new| {
        new.options.take_ownership = true;
    })
}

/// The import of `MyDB` under an alias.
fn import(number: u64, name: &str) -> NewOperation {
    with(named(put(number, name), "MyDB"), |new| {
        new.kind = Kind::Import;
        new.desired = None;
    })
}

/// The successful end of a respelled operation.
fn succeeded(operation: &Operation) -> FinishOperation {
    applied(&respelled(operation), "mydb", false)
}

/// A request may know AWS's spelling before the operation is accepted. The resource is the same, and the caller's
/// spelling is kept, unless the operation works on the identifier in the reference.
pub async fn an_operation_keeps_the_spelling_it_was_asked_with(store: Engine) {
    let looked_up = |new| {
        with(named(new, "mydb"), |new| {
            new.spelled = identifier("MyDB");
        })
    };
    with_group(&store, "rg").await;
    map(&store, 1, "known", "other", true).await;
    let claimed = accept_and_claim(&store, looked_up(put(2, "a"))).await;
    let work = resource_work(&claimed.operation);
    assert_eq!(work.identifier, identifier("mydb"));
    assert_eq!(work.spelled, identifier("MyDB"));
    assert_eq!(work.asked_for, None);
    let ended = applied(&claimed.operation, "mydb", false);
    finish(&store, &claimed.lease, ended).await;

    let by_name = untracked(put(3, "-"), "mydb");
    let by_name = with(by_name, |new| new.spelled = identifier("MyDB"));
    let accepted = accept(&store, by_name).await;
    let work = resource_work(&accepted.operation);
    assert_eq!(work.identifier, identifier("mydb"));
    assert_eq!(work.spelled, identifier("MyDB"));
    assert_eq!(work.asked_for, identifier("MyDB"));

    let known = accept(&store, looked_up(put(4, "known"))).await;
    let work = resource_work(&known.operation);
    assert_eq!(work.identifier, identifier("other"));
    assert_eq!(work.spelled, None);
}

/// The new spelling is busy and in the reference, the old one is free.
pub async fn a_respelled_target_keeps_others_off(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, named(put(1, "a"), "MyDB")).await;
    let step = respelled(&claimed.operation);
    let lease = store.commit_step(&claimed.lease, &step, None, at(3), TERM);
    let lease = lease.await.unwrap();
    assert_eq!(reference(&store, "a").await.identifier, identifier("mydb"));
    let of_target = store.accept_operation(untracked(delete(2, "-"), "mydb"));
    refused!(of_target, Error::Busy(busy) if busy == operation_id(1));
    accept(&store, untracked(delete(3, "-"), "MyDB")).await;
    assert_eq!(operation(&store, 1).await, step);

    // A second step finds only itself.
    store
        .commit_step(&lease, &step, None, at(4), TERM)
        .await
        .unwrap();
    let ended = applied(&step, "mydb", false);
    finish(&store, &lease, ended).await;
    assert_eq!(reference(&store, "a").await.identifier, identifier("mydb"));
}

/// It is the same resource: what was declared and seen of it stays.
pub async fn a_respelled_reference_keeps_what_is_known(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "MyDB", true).await;
    let before = reference(&store, "a").await;
    assert!(before.baseline.is_some() && before.observed.is_some());
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    let step = respelled(&claimed.operation);
    let commit = store.commit_step(&claimed.lease, &step, None, at(3), TERM);
    commit.await.unwrap();
    let after = reference(&store, "a").await;
    assert_eq!(after.identifier, identifier("mydb"));
    assert_eq!(after.baseline, before.baseline);
    assert_eq!(after.observed, before.observed);
    assert_eq!(after.observed_at, before.observed_at);
    assert!(after.owned);
}

/// A refused step writes nothing, and the operation can end without success.
pub async fn a_step_to_a_busy_respelled_target_is_refused(store: Engine) {
    with_group(&store, "rg").await;
    accept(&store, untracked(delete(1, "-"), "mydb")).await;
    accept(&store, named(put(2, "a"), "MyDB")).await;
    let claimed = claim(&store, at(2)).await;
    let claimed = claimed
        .into_iter()
        .find(|claimed| claimed.operation.header.id == operation_id(2))
        .unwrap();
    let step = respelled(&claimed.operation);
    let commit = store.commit_step(&claimed.lease, &step, None, at(3), TERM);
    refused!(commit, Error::Busy(busy) if busy == operation_id(1));
    assert_eq!(operation(&store, 2).await, claimed.operation);
    assert_eq!(reference(&store, "a").await.identifier, None);
    let ended = end(
        &claimed.operation,
        failed(),
        ReferenceChange::Removed,
        Some("MyDB"),
    );
    finish(&store, &claimed.lease, ended).await;
    assert!(store.get_reference(&alias("a")).await.unwrap().is_none());
}

/// A create was refused because of a resource that AWS names.
pub async fn a_step_to_a_busy_named_target_is_refused(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    accept(&store, untracked(delete(2, "-"), "vpc-1")).await;
    let named = |created| {
        stepped(&claimed.operation, |work| {
            work.identifier = identifier("vpc-1");
            work.named = true;
            work.created = created;
        })
    };
    let step = named(false);
    let commit = store.commit_step(&claimed.lease, &step, None, at(3), TERM);
    refused!(commit, Error::Busy(busy) if busy == operation_id(2));
    assert_eq!(operation(&store, 1).await, claimed.operation);
    // What it has created is its own.
    let created = named(true);
    let lease = store.commit_step(&claimed.lease, &created, None, at(3), TERM);
    let lease = lease.await.unwrap();

    // From the end of the other one, it keeps others off.
    let other = claim_one(&store, at(4)).await;
    finish(&store, &other.lease, deleted(&other.operation)).await;
    let commit = store.commit_step(&lease, &step, None, at(5), TERM);
    commit.await.unwrap();
    let of_target = store.accept_operation(untracked(delete(3, "-"), "vpc-1"));
    refused!(of_target, Error::Busy(busy) if busy == operation_id(1));
}

/// Who owns what stands in the way is a question for the end.
pub async fn a_step_to_a_named_target_of_another_owner_is_written(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "owner", "vpc-1", true).await;
    let owning = with(put(2, "b"), |new| new.options.take_ownership = true);
    let claimed = accept_and_claim(&store, owning).await;
    let step = stepped(&claimed.operation, |work| {
        work.identifier = identifier("vpc-1");
        work.named = true;
    });
    let commit = store.commit_step(&claimed.lease, &step, None, at(3), TERM);
    commit.await.unwrap();
    assert!(!reference(&store, "b").await.owned);
    assert!(reference(&store, "owner").await.owned);
}

/// A success is refused, a failure is not.
pub async fn an_end_at_a_busy_respelled_target_is_refused(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, import(1, "a")).await;
    accept(&store, untracked(delete(2, "-"), "mydb")).await;
    let commit = store.finish_operation(&claimed.lease, succeeded(&claimed.operation));
    refused!(commit, Error::Busy(busy) if busy == operation_id(2));
    assert_eq!(operation(&store, 1).await, claimed.operation);
    let ended = end(
        &respelled(&claimed.operation),
        failed(),
        ReferenceChange::Removed,
        Some("mydb"),
    );
    finish(&store, &claimed.lease, ended).await;
}

/// Ownership is refused before anything is sent, and at the end. Without ownership the resource may be shared.
pub async fn a_respelled_resource_has_one_owner(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "owner", "mydb", true).await;
    let claimed = accept_and_claim(&store, owning(2, "b")).await;
    let step = respelled(&claimed.operation);
    let commit = store.commit_step(&claimed.lease, &step, None, at(3), TERM);
    refused!(commit, Error::OwnedElsewhere(owner) if owner == alias("owner"));
    let commit = store.finish_operation(&claimed.lease, succeeded(&claimed.operation));
    refused!(commit, Error::OwnedElsewhere(owner) if owner == alias("owner"));
    assert_eq!(operation(&store, 2).await, claimed.operation);
    let ended = end(
        &claimed.operation,
        failed(),
        ReferenceChange::Removed,
        Some("MyDB"),
    );
    finish(&store, &claimed.lease, ended).await;

    let claimed = accept_and_claim(&store, import(3, "c")).await;
    finish(&store, &claimed.lease, succeeded(&claimed.operation)).await;
    let shared = reference(&store, "c").await;
    assert_eq!(shared.identifier, identifier("mydb"));
    assert!(!shared.owned);
    assert!(reference(&store, "owner").await.owned);
}

/// Rows from before identifiers were respelled may have two owners.
pub async fn a_group_deletes_no_respelled_resource_of_another_owner(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "first", "MyDB", true).await;
    map(&store, 2, "second", "mydb", true).await;
    let request =
        store.delete_resource_group(on_group(3, "rg", Task::Delete), &Precondition::NONE, None);
    request.await.unwrap();
    let parent = claim_one(&store, at(11)).await;
    let child = NewOperation {
        parent: Some(operation_id(3)),
        accepted_at: at(11),
        ..delete(4, "first")
    };
    store.accept_child(&parent.lease, child).await.unwrap();
    let claimed = claim_one(&store, at(12)).await;
    assert_eq!(
        resource_work(&claimed.operation).identifier,
        identifier("MyDB")
    );
    let step = respelled(&claimed.operation);
    let commit = store.commit_step(&claimed.lease, &step, None, at(13), TERM);
    refused!(commit, Error::OwnedElsewhere(owner) if owner == alias("second"));
}

/// AWS has taken the create: there is no way back.
pub async fn what_was_created_is_written_whatever_holds_its_name(store: Engine) {
    with_group(&store, "rg").await;
    accept(&store, untracked(delete(1, "-"), "mydb")).await;
    accept(&store, named(put(2, "a"), "MyDB")).await;
    let claimed = claim(&store, at(2)).await;
    let claimed = claimed
        .into_iter()
        .find(|claimed| claimed.operation.header.id == operation_id(2))
        .unwrap();
    let created = stepped(&respelled(&claimed.operation), |work| work.created = true);
    let lease = store.commit_step(&claimed.lease, &created, None, at(3), TERM);
    let lease = lease.await.unwrap();
    let ended = end(
        &created,
        Ended::Succeeded,
        ReferenceChange::Applied { owned: true },
        Some("mydb"),
    );
    finish(&store, &lease, ended).await;
    assert_eq!(reference(&store, "a").await.identifier, identifier("mydb"));
}
