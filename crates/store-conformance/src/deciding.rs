//! What a request reads before it decides, and what it writes on the basis of it.

use std::collections::BTreeMap;

use ucp_model::operation::group::Task;
use ucp_model::operation::{Kind, Options, ReferenceChange};
use ucp_model::{Identifier, Lineage, Reference, Scope, Target, Timestamp};
use ucp_store::{
    Adoption, Basis, Error, Event, FinishOperation, NewLook, NewOperation, Precondition,
    RecordedTarget, ReferenceUpdate, Sealed, SealedPlace, rules,
};

use super::fixture::*;
use super::moving::aliases;

async fn target_in(store: &Engine, scope: &Scope, name: &str) -> RecordedTarget {
    let target = Target {
        scope,
        type_name: &type_name(),
        identifier: &Identifier::new(name),
    };
    store.recorded_target(&target).await.unwrap()
}

async fn target(store: &Engine, name: &str) -> RecordedTarget {
    target_in(store, &scope(), name).await
}

/// The basis of a look at a resource, for an alias.
pub(super) async fn basis(store: &Engine, name: &str, resource: &str) -> Basis {
    let recorded = store.recorded_alias(&alias(name)).await.unwrap();
    Basis::new(recorded.reference.as_ref(), &target(store, resource).await)
}

/// The adoption of the resource by the alias, as both are recorded.
async fn adoption(store: &Engine, name: &str, resource: &str, owned: bool) -> Adoption {
    let before = store.get_reference(&alias(name)).await.unwrap();
    let new = adopting(before.as_ref(), alias(name), scope(), resource);
    let reference = Reference { owned, ..new };
    Adoption {
        basis: basis(store, name, resource).await,
        event: rules::adopted(Kind::Import, &reference, "somebody", &correlation(), at(24)),
        reference,
    }
}

/// An operation from start to end under the name of the resource, without a reference.
async fn untracked_put(store: &Engine, number: u64, resource: &str, now: Timestamp) {
    let claimed = accept_and_claim(store, untracked(put(number, "-"), resource)).await;
    let end = applied(&claimed.operation, resource, false);
    let operation = ended_at(&claimed.operation, end.operation.work.clone(), now);
    let end = FinishOperation { operation, ..end };
    finish(store, &claimed.lease, end).await;
}

/// The group, the reference, and what is known of its resource.
pub async fn an_alias_is_read_with_its_group_and_its_resource(store: Engine) {
    let read = |name: &'static str| {
        let store = store.clone();
        async move { store.recorded_alias(&alias_in("RG", name)).await }
    };
    refused!(read("a"), Error::NoSuchGroup);
    with_group(&store, "rg").await;
    let recorded = read("a").await.unwrap();
    let group = store.get_resource_group(&group("rg")).await.unwrap();
    assert_eq!(recorded.group, group);
    assert_eq!(recorded.reference, None);
    assert_eq!(recorded.target, RecordedTarget::default());

    // While the resource is unknown.
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let recorded = read("A").await.unwrap();
    assert_eq!(recorded.reference, Some(reference(&store, "a").await));
    assert_eq!(recorded.target, RecordedTarget::default());

    let applied = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, applied).await;
    let recorded = read("a").await.unwrap();
    assert_eq!(recorded.group, group);
    assert_eq!(recorded.reference, Some(reference(&store, "a").await));
    let idle = RecordedTarget {
        holder: None,
        is_referenced: true,
        last_ended: Some(operation_id(1)),
    };
    assert_eq!(recorded.target, idle);
    assert_eq!(target(&store, "x").await, idle);

    let accepted = accept(&store, delete(2, "a")).await;
    let recorded = read("a").await.unwrap();
    assert_eq!(recorded.reference, accepted.reference);
    let held = RecordedTarget {
        holder: Some(operation_id(2)),
        ..idle
    };
    assert_eq!(recorded.target, held);
    let deletion = on_group(3, "rg", Task::Delete);
    let claimed = claim_one(&store, at(2)).await;
    let untouched = end(
        &claimed.operation,
        failed(),
        ReferenceChange::Untouched,
        Some("x"),
    );
    finish(&store, &claimed.lease, untouched).await;
    let deletion = store.delete_resource_group(deletion, &Precondition::NONE, None);
    deletion.await.unwrap();
    let deleting = read("a").await.unwrap().group.body.deletion;
    assert_eq!(deleting, Some(operation_id(3)));
}

/// A resource is known by its key, in whatever plane.
pub async fn a_resource_is_read_by_its_name(store: Engine) {
    assert_eq!(target(&store, "x").await, RecordedTarget::default());
    accept(&store, untracked(put(9, "-"), "x")).await;
    let held = RecordedTarget {
        holder: Some(operation_id(9)),
        ..RecordedTarget::default()
    };
    assert_eq!(target(&store, "x").await, held);
    assert_eq!(target(&store, "X").await, RecordedTarget::default());
    let elsewhere = Scope::new("aws", "123456789012", "us-east-1").unwrap();
    let elsewhere = target_in(&store, &elsewhere, "x").await;
    assert_eq!(elsewhere, RecordedTarget::default());
    let other_plane = Scope::new("other", "123456789012", "us-west-2").unwrap();
    assert_eq!(target_in(&store, &other_plane, "x").await, held);

    let claimed = claim_one(&store, at(2)).await;
    let end = applied(&claimed.operation, "x", false);
    finish(&store, &claimed.lease, end).await;
    for (number, second, last) in [(4, 5, 4), (2, 4, 4), (1, 5, 4), (5, 5, 5), (3, 6, 3)] {
        untracked_put(&store, number, "x", at(second)).await;
        let ended = RecordedTarget {
            last_ended: Some(operation_id(last)),
            ..RecordedTarget::default()
        };
        assert_eq!(target(&store, "x").await, ended, "after {number}");
    }
}

/// What the put cannot have learned stays, even if it says otherwise.
pub async fn what_a_put_has_learned_is_remembered(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    let events = store.list_events(&alias("a")).await.unwrap();
    let learned = remembering(&before, at(9));
    let more = Reference {
        owned: false,
        told_to_own: false,
        marked: true,
        tags: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
        operation: Some(operation_id(7)),
        ..learned.clone()
    };
    let of_a = basis(&store, "a", "x").await;
    assert!(store.remember(&more, &of_a).await.unwrap());
    assert_eq!(reference(&store, "a").await, learned);
    assert_eq!(store.list_events(&alias("a")).await.unwrap(), events);

    let nothing = Reference {
        baseline: None,
        observed: None,
        observed_at: None,
        revision: learned.revision + 1,
        ..learned
    };
    assert!(store.remember(&nothing, &of_a).await.unwrap());
    assert_eq!(reference(&store, "a").await, nothing);
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    assert_eq!(claimed.baseline, None);
}

/// A reference that was changed, removed or made again is not overwritten.
pub async fn only_what_was_read_is_remembered(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    let learned = remembering(&before, at(9));
    let of_a = basis(&store, "a", "x").await;
    for other in [
        Reference {
            revision: before.revision,
            ..learned.clone()
        },
        Reference {
            revision: before.revision + 2,
            ..learned.clone()
        },
        Reference {
            created_at: at(8),
            ..learned.clone()
        },
        Reference {
            identifier: identifier("y"),
            ..learned.clone()
        },
        Reference {
            identifier: None,
            ..learned.clone()
        },
        Reference {
            id: alias("b"),
            ..learned.clone()
        },
    ] {
        assert!(!store.remember(&other, &of_a).await.unwrap(), "{other:?}");
    }
    assert_eq!(reference(&store, "a").await, before);

    accept(&store, put(2, "a")).await;
    assert!(!store.remember(&learned, &of_a).await.unwrap());
}

/// A reference that was moved there may look the same.
pub async fn nothing_is_remembered_of_what_has_come_in_its_place(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    map(&store, 2, "c", "x", false).await;
    let (id, correlation) = (alias("a"), correlation());
    let update = ReferenceUpdate::default();
    let updated = store.update_reference(&id, update, "bob", &correlation, at(20));
    let read = updated.await.unwrap();
    let basis = basis(&store, "a", "x").await;
    let new = aliases(&store, 1, &[("a", "b"), ("c", "a")]).await;
    store.apply_refactor(new).await.unwrap();

    let stranger = reference(&store, "a").await;
    // Nothing but the lineage tells them apart.
    assert_eq!(stranger.revision, read.revision);
    assert_eq!(stranger.created_at, read.created_at);
    assert_eq!(stranger.identifier, read.identifier);
    let learned = remembering(&read, at(25));
    assert!(!store.remember(&learned, &basis).await.unwrap());
    assert_eq!(reference(&store, "a").await, stranger);
    let learned = remembering(&stranger, at(25));
    assert!(store.remember(&learned, &basis).await.unwrap());
}

/// An operation of another alias, or by name, leaves the reference alone, but may roll back what the put has seen.
pub async fn nothing_is_remembered_of_what_others_work_on(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    let learned = remembering(&before, at(9));
    let other_alias = named(put(2, "b"), "x");
    let by_name = untracked(delete(3, "-"), "x");
    for (other, ended) in [(other_alias, 4), (by_name, 5)] {
        let of_a = basis(&store, "a", "x").await;
        let claimed = accept_and_claim(&store, other).await;
        let live = store.remember(&learned, &of_a).await;
        assert!(!live.unwrap(), "an operation is live");
        let meanwhile = basis(&store, "a", "x").await;
        let live = store.remember(&learned, &meanwhile).await;
        assert!(!live.unwrap(), "an operation was live already");

        let finish = end(
            &claimed.operation,
            failed(),
            ReferenceChange::Untouched,
            Some("x"),
        );
        let operation = ended_at(&claimed.operation, finish.operation.work.clone(), at(ended));
        let finish = FinishOperation {
            operation,
            ..finish
        };
        store
            .finish_operation(&claimed.lease, finish)
            .await
            .unwrap();
        for stale in [of_a, meanwhile] {
            let ended = store.remember(&learned, &stale).await;
            assert!(!ended.unwrap(), "an operation has ended");
        }
    }
    assert_eq!(reference(&store, "a").await, before);
    // One on another resource does not matter.
    let of_a = basis(&store, "a", "x").await;
    accept(&store, untracked(delete(4, "-"), "y")).await;
    assert!(store.remember(&learned, &of_a).await.unwrap());
    assert_eq!(reference(&store, "a").await, learned);
}

/// The reference is written as it is given, with the event.
pub async fn a_reference_is_adopted(store: Engine) {
    with_group(&store, "rg").await;
    let first = adoption(&store, "a", "x", false).await;
    assert!(store.adopt(first.clone()).await.unwrap());
    assert_eq!(reference(&store, "a").await, first.reference);
    let second = adoption(&store, "A", "x", true).await;
    assert_eq!(second.reference.revision, 2);
    assert!(store.adopt(second.clone()).await.unwrap());
    let adopted = reference(&store, "a").await;
    assert_eq!((adopted.owned, adopted.revision), (true, 2));

    let events = store.list_events(&alias("a")).await.unwrap();
    assert_eq!(events, [first.event, second.event]);
    let Event {
        kind,
        operation,
        resource,
        outcome,
        ..
    } = &events[0];
    assert_eq!((kind.as_str(), outcome.as_str()), ("import", "Succeeded"));
    assert_eq!(*operation, None);
    let x = scope().resource(&type_name(), &Identifier::new("x"));
    assert_eq!(*resource, Some(x));
    let last = adoption(&store, "b", "y", true).await;
    assert!(store.adopt(last.clone()).await.unwrap());
    let deleted = accept(&store, delete(1, "b")).await.operation;
    assert_eq!(resource_work(&deleted).identifier, identifier("y"));
}

/// A reference that was moved away keeps the lineage of the alias where it was first claimed.
pub async fn no_two_references_have_one_lineage(store: Engine) {
    with_group(&store, "rg").await;
    let first = Lineage::of(&alias("a"));
    let named_after_a = async |name: &str, resource: &str| {
        let adoption = adoption(&store, name, resource, false).await;
        Adoption {
            reference: Reference {
                lineage: first.clone(),
                ..adoption.reference
            },
            ..adoption
        }
    };
    let recorded = store.recorded_alias(&alias("A")).await.unwrap();
    assert_eq!(recorded.lineage(&alias("A"), operation_id(1)), first);
    let moved = named_after_a("b", "x").await;
    assert!(store.adopt(moved.clone()).await.unwrap());
    assert_eq!(reference(&store, "b").await.lineage, first);
    let second = named_after_a("c", "y").await;
    assert!(!store.adopt(second).await.unwrap());

    let drawn = Lineage::drawn(&alias("a"), operation_id(1));
    let recorded = store.recorded_alias(&alias("a")).await.unwrap();
    assert_eq!(recorded.lineage(&alias("a"), operation_id(1)), drawn);
    let accepted = accept(&store, put(1, "a")).await;
    let claimed = accepted.reference.unwrap();
    assert_eq!(claimed.lineage, drawn);
    assert_eq!(resource_work(&accepted.operation).lineage(), Some(drawn));
    assert_eq!(reference(&store, "a").await.lineage, claimed.lineage);
    let recorded = store.recorded_alias(&alias("b")).await.unwrap();
    assert_eq!(recorded.lineage(&alias("b"), operation_id(2)), first);
}

/// Nothing is written if the alias or the resource is not as it was.
pub async fn an_adoption_needs_its_basis(store: Engine) {
    with_group(&store, "rg").await;
    let first = adoption(&store, "a", "x", true).await;
    let second = adoption(&store, "b", "x", false).await;
    assert!(store.adopt(first.clone()).await.unwrap());
    let reference_is_new = store.adopt(first.clone()).await;
    assert!(!reference_is_new.unwrap(), "the alias has a reference now");
    assert!(!store.adopt(second).await.unwrap(), "the resource has one");

    let stale = adoption(&store, "a", "x", true).await;
    let update = ReferenceUpdate {
        owned: Some(false),
        tags: None,
        place: None,
    };
    let (id, correlation) = (alias("a"), correlation());
    let update = store.update_reference(&id, update, "caller", &correlation, at(25));
    let updated = update.await.unwrap();
    assert!(!store.adopt(stale).await.unwrap(), "the reference changed");
    assert_eq!(reference(&store, "a").await, updated);

    let stale = adoption(&store, "b", "x", true).await;
    forget(&store, "a").await.unwrap();
    assert!(!store.adopt(stale).await.unwrap(), "no reference any more");
    let stale = adoption(&store, "b", "x", true).await;
    untracked_put(&store, 1, "x", at(3)).await;
    assert!(!store.adopt(stale).await.unwrap(), "an operation has ended");
    assert_eq!(store.get_reference(&alias("b")).await.unwrap(), None);
    assert!(store.list_events(&alias("b")).await.unwrap().is_empty());
    let fresh = adoption(&store, "b", "x", true).await;
    assert!(store.adopt(fresh).await.unwrap());
}

/// The first reason that applies is given.
pub async fn an_adoption_is_refused_as_an_operation_is(store: Engine) {
    with_group(&store, "rg").await;
    let adopt_a = adoption(&store, "a", "x", true).await;
    let nowhere = Adoption {
        reference: Reference {
            id: alias_in("nowhere", "a"),
            ..adopt_a.reference.clone()
        },
        ..adopt_a.clone()
    };
    refused!(store.adopt(nowhere), Error::NoSuchGroup);

    // The alias is busy, and not as it was.
    accept(&store, put(1, "a")).await;
    refused!(store.adopt(adopt_a.clone()), Error::Busy(id) if id == operation_id(1));
    let claimed = claim_one(&store, at(2)).await;
    let end = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, end).await;

    let adopt_b = adoption(&store, "b", "x", true).await;
    refused!(store.adopt(adopt_b.clone()), Error::OwnedElsewhere(id) if id == alias("a"));
    accept(&store, untracked(put(2, "-"), "x")).await;
    refused!(store.adopt(adopt_b.clone()), Error::Busy(id) if id == operation_id(2));
    // The alias is not as it was, and the resource is busy.
    assert!(!store.adopt(adopt_a).await.unwrap());
    let claimed = claim_one(&store, at(2)).await;
    let end = applied(&claimed.operation, "x", false);
    finish(&store, &claimed.lease, end).await;
    assert!(!store.adopt(adopt_b).await.unwrap());
    let not_owned = adoption(&store, "b", "x", false).await;
    assert!(store.adopt(not_owned).await.unwrap());

    let adopt_c = adoption(&store, "c", "y", true).await;
    let deletion = on_group(3, "rg", Task::Delete);
    let deletion = store.delete_resource_group(deletion, &Precondition::NONE, None);
    deletion.await.unwrap();
    refused!(store.adopt(adopt_c), Error::GroupDeleting(id) if id == operation_id(3));
    assert_eq!(store.get_reference(&alias("c")).await.unwrap(), None);
}

fn looked(new: NewOperation, basis: Basis) -> NewOperation {
    with(new, |new| {
        new.look = Some(NewLook {
            basis,
            sealed: sealed("look"),
        });
    })
}

/// Accepts the operation and returns the look that it is claimed with. Leaves the operation leased.
async fn look_of(store: &Engine, new: NewOperation) -> Option<Sealed> {
    accept_and_claim(store, new).await.documents.look
}

/// Under a new alias, a known one, and none.
pub async fn a_look_goes_along_with_its_operation(store: Engine) {
    with_group(&store, "rg").await;
    let look = Some(sealed("look"));
    let of_x = basis(&store, "a", "x").await;
    let claimed = accept_and_claim(&store, looked(named(put(1, "a"), "x"), of_x)).await;
    assert_eq!(claimed.documents.look, look);
    let end = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, end).await;

    let of_x = basis(&store, "a", "x").await;
    let new = with(looked(put(2, "a"), of_x), |new| {
        new.options = Options {
            take_ownership: true,
            ..Options::default()
        };
    });
    assert_eq!(look_of(&store, new).await, look);
    let of_y = Basis::new(None, &target(&store, "y").await);
    let new = looked(untracked(put(3, "-"), "y"), of_y);
    assert_eq!(look_of(&store, new).await, look);
    // Nothing is known of the resource of a new alias.
    let new = looked(put(4, "b"), Basis::default());
    assert_eq!(look_of(&store, new).await, look);
}

/// The operation is accepted all the same.
pub async fn a_look_that_is_out_of_date_is_dropped(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let of_a = basis(&store, "a", "x").await;
    let learned = remembering(&reference(&store, "a").await, at(9));
    assert!(store.remember(&learned, &of_a).await.unwrap());
    assert_eq!(look_of(&store, looked(put(2, "a"), of_a)).await, None);

    let of_y = basis(&store, "b", "y").await;
    untracked_put(&store, 3, "y", at(3)).await;
    let new = looked(untracked(put(4, "-"), "y"), of_y);
    assert_eq!(look_of(&store, new).await, None, "an operation has ended");

    let of_z = basis(&store, "-", "z").await;
    let adopted = adoption(&store, "c", "z", true).await;
    assert!(store.adopt(adopted).await.unwrap());
    let new = looked(named(put(5, "b"), "z"), of_z);
    assert_eq!(look_of(&store, new).await, None, "it has a reference");
}

/// What was seen is out of date once something has been done.
pub async fn a_step_or_the_end_erases_the_look(store: Engine) {
    with_group(&store, "rg").await;
    let new = |number, name| looked(put(number, name), Basis::default());
    let one = accept_and_claim(&store, new(1, "a")).await;
    let two = accept_and_claim(&store, new(2, "b")).await;
    let looks = async || {
        let after = SealedPlace::Look(operation_id(0));
        let looks = store.list_sealed(Some(&after), 9).await.unwrap();
        looks.len()
    };
    assert_eq!(looks().await, 2);
    let step = store.commit_step(&one.lease, &one.operation, None, at(2), TERM);
    step.await.unwrap();
    assert_eq!(looks().await, 1);
    finish(&store, &two.lease, applied(&two.operation, "y", true)).await;
    assert_eq!(looks().await, 0);
    for number in [1, 2] {
        let place = SealedPlace::Look(operation_id(number));
        let found = store
            .reseal(&place, &sealed("look").into(), sealed("new"))
            .await;
        assert!(!found.unwrap(), "{place:?}");
    }
    let again = claim_one(&store, at(1_000)).await;
    assert_eq!(again.documents.look, None);
    assert_eq!(again.documents.desired, Some(sealed("desired")));
}
