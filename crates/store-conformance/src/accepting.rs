//! [`Operations::accept_operation`](ucp_store::Operations::accept_operation).

use std::collections::BTreeMap;

use ucp_model::{Lineage, ProvisioningState, Reference, Scope, State};
use ucp_store::{Error, NewOperation};

use super::fixture::*;

/// A put under a new alias records a reference without an identifier, not owned.
pub async fn a_new_alias_is_claimed_without_an_identifier(store: Engine) {
    with_group(&store, "rg").await;
    let new = NewOperation {
        parent: Some(operation_id(99)),
        ..named(put(1, "a"), "declared")
    };
    let accepted = accept(&store, new).await;

    let expected = Reference {
        id: alias("a"),
        lineage: Lineage::of(&alias("a")),
        scope: scope(),
        identifier: None,
        owned: false,
        told_to_own: false,
        marked: false,
        tags: BTreeMap::new(),
        operation: Some(operation_id(1)),
        provisioning_state: ProvisioningState::Provisioning,
        baseline: None,
        observed: None,
        observed_at: None,
        created_at: at(1),
        updated_at: at(1),
        revision: 1,
        moves: 0,
    };
    assert_eq!(accepted.reference, Some(expected.clone()));
    assert_eq!(reference(&store, "a").await, expected);

    let operation = accepted.operation;
    let work = resource_work(&operation);
    assert_eq!(work.identifier, identifier("declared"));
    assert!(!work.was_referenced && !work.created);
    assert_eq!(work.state, State::Accepted);
    assert_eq!(operation.header.due_at, at(1));
    assert_eq!(operation.header.parent, Some(operation_id(99)));
    let recorded = store.get_operation(operation_id(1)).await.unwrap();
    assert_eq!(recorded, Some(operation));
}

/// A put or delete under an existing alias works on the identifier in the reference, whatever the request says.
pub async fn a_known_alias_lends_its_identifier(store: Engine) {
    with_group(&store, "rg").await;
    let referenced = map(&store, 1, "a", "x", true).await;

    let new = NewOperation {
        accepted_at: at(4),
        ..named(put(2, "a"), "other")
    };
    let accepted = accept(&store, new).await;
    let work = resource_work(&accepted.operation);
    assert!(work.was_referenced);
    assert_eq!(work.identifier, identifier("x"));
    let under_way = Reference {
        operation: Some(operation_id(2)),
        provisioning_state: ProvisioningState::Provisioning,
        updated_at: at(4),
        revision: referenced.revision + 1,
        ..referenced
    };
    assert_eq!(accepted.reference, Some(under_way.clone()));
    assert_eq!(reference(&store, "a").await, under_way);

    let claimed = claim(&store, at(4)).await.remove(0);
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", false),
    )
    .await;
    let accepted = accept(&store, delete(3, "a")).await;
    let work = resource_work(&accepted.operation);
    assert!(work.was_referenced);
    assert_eq!(work.identifier, identifier("x"));
    let state = accepted.reference.unwrap().provisioning_state;
    assert_eq!(state, ProvisioningState::Deleting);
}

/// An alias requires its group.
pub async fn an_alias_needs_its_group(store: Engine) {
    refused!(store.accept_operation(put(1, "a")), Error::NoSuchGroup);
    refused!(store.accept_operation(delete(2, "a")), Error::NoSuchGroup);
    with_group(&store, "RG").await;
    let accepted = accept(&store, put(3, "a")).await;
    let id = accepted.operation.work.reference().unwrap();
    assert_eq!(id.group, group("RG"), "the casing of the first write");
    assert_eq!(accepted.reference.unwrap().id, *id);
}

/// One live operation per alias.
pub async fn a_busy_alias_is_refused_in_any_casing(store: Engine) {
    with_group(&store, "rg").await;
    accept(&store, put(1, "Ünï")).await;
    let busy = |id| id == operation_id(1);
    refused!(store.accept_operation(put(2, "Ünï")), Error::Busy(id) if busy(id));
    refused!(store.accept_operation(put(3, "üNÏ")), Error::Busy(id) if busy(id));
    refused!(store.accept_operation(delete(4, "ünï")), Error::Busy(id) if busy(id));
    accept(&store, put(5, "uni")).await;

    // The casing of the first write stays.
    let claimed = claim(&store, at(2)).await.remove(0);
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;
    let accepted = accept(&store, put(6, "üNÏ")).await;
    assert_eq!(accepted.operation.work.reference(), Some(&alias("Ünï")));
    assert_eq!(reference(&store, "üNÏ").await.id, alias("Ünï"));
}

/// One live operation per AWS resource, whichever alias or name it is reached by.
pub async fn a_busy_target_is_refused_whatever_leads_to_it(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    map(&store, 2, "b", "x", false).await;
    accept(&store, put(3, "a")).await;
    let busy = |id| id == operation_id(3);

    refused!(store.accept_operation(delete(4, "b")), Error::Busy(id) if busy(id));
    let by_name = untracked(delete(5, "a"), "x");
    refused!(store.accept_operation(by_name.clone()), Error::Busy(id) if busy(id));
    let by_alias = named(put(6, "c"), "x");
    refused!(store.accept_operation(by_alias), Error::Busy(id) if busy(id));

    // The account compares case-insensitively, the plane not at all; another region means another resource.
    let place = |region| Scope::new("other", "123456789012", region).unwrap();
    let here = with(by_name.clone(), |new| new.scope = place("us-west-2"));
    refused!(store.accept_operation(here), Error::Busy(id) if busy(id));
    let there = with(by_name, |new| new.scope = place("eu-west-1"));
    accept(&store, there).await;
}

/// `Foo` and `foo` are different resources.
pub async fn identifiers_compare_byte_for_byte(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name) in [
        (1, "Foo"),
        (2, "foo"),
        (3, "foo "),
        (4, "fo\u{f6}"),
        (5, "foo\u{308}"),
    ] {
        accept(&store, untracked(delete(number, "-"), name)).await;
    }
    refused!(
        store.accept_operation(untracked(delete(6, "-"), "foo ")),
        Error::Busy(id) if id == operation_id(3)
    );
}

/// An alias does not move between accounts or regions.
pub async fn an_alias_stays_in_its_account_and_region(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let elsewhere = [
        Scope::new("aws", "123456789012", "eu-west-1").unwrap(),
        Scope::new("aws", "210987654321", "us-west-2").unwrap(),
    ];
    for place in elsewhere {
        let moved = with(put(2, "a"), |new| new.scope = place.clone());
        refused!(
            store.accept_operation(moved),
            Error::ReferencedElsewhere(referenced) if referenced == scope()
        );
        let moved = with(delete(3, "a"), |new| new.scope = place);
        refused!(store.accept_operation(moved), Error::ReferencedElsewhere(_));
    }
    let other_plane = with(put(4, "a"), |new| {
        new.scope = Scope::new("other", "123456789012", "us-west-2").unwrap();
    });
    accept(&store, other_plane).await;
}

/// A delete fails under an alias that has no reference.
pub async fn a_delete_needs_a_reference(store: Engine) {
    with_group(&store, "rg").await;
    refused!(
        store.accept_operation(delete(1, "a")),
        Error::NoSuchReference
    );
    let by_alias = named(delete(2, "a"), "x");
    refused!(store.accept_operation(by_alias), Error::NoSuchReference);
}

/// At most one reference owns a resource.
pub async fn ownership_is_not_taken_from_another_reference(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let taking = |number, name| {
        with(named(put(number, name), "x"), |new| {
            new.options.take_ownership = true;
        })
    };
    refused!(
        store.accept_operation(taking(2, "b")),
        Error::OwnedElsewhere(id) if id == alias("a")
    );
    accept(&store, taking(3, "a")).await;
}

/// A refused operation is not recorded and leaves the reference unchanged.
pub async fn what_is_refused_leaves_no_trace(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    accept(&store, untracked(delete(2, "-"), "x")).await;
    refused!(store.accept_operation(put(3, "a")), Error::Busy(_));
    let by_alias = named(put(4, "b"), "x");
    refused!(store.accept_operation(by_alias), Error::Busy(_));

    assert_eq!(reference(&store, "a").await, before);
    assert_eq!(store.get_reference(&alias("b")).await.unwrap(), None);
    for number in [3, 4] {
        let operation = store.get_operation(operation_id(number)).await.unwrap();
        assert_eq!(operation, None);
    }
    assert_eq!(claim(&store, at(2)).await.len(), 1);
}

/// An operation by name involves no group and no reference.
pub async fn an_unreferenced_operation_needs_no_group(store: Engine) {
    let accepted = accept(&store, untracked(put(1, "-"), "x")).await;
    assert_eq!(accepted.reference, None);
    let work = resource_work(&accepted.operation);
    assert_eq!(work.identifier, identifier("x"));
    assert!(!work.was_referenced);

    // Two creates whose identifiers AWS will choose do not conflict.
    let nameless = |number| with(put(number, "-"), |new| new.reference = None);
    accept(&store, nameless(2)).await;
    accept(&store, nameless(3)).await;
}
