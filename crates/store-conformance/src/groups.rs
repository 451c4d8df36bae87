//! Operations on groups: deleting a group, importing into one, their children, and the list of a group's operations.

use std::collections::{BTreeMap, BTreeSet};

use ucp_access::Role;
use ucp_model::operation::group::{GroupState, ImportItem, ImportOutcome, Task};
use ucp_model::operation::{Kind, Work};
use ucp_model::{Ended, Failure, Identifier, Operation, OperationId, Reference, RoleAssignmentId};
use ucp_store::{
    Adoption, AuditPlace, Basis, Claimed, Error, FinishOperation, GroupDeletion, GroupUpdate,
    Limit, NewOperation, NewWork, OperationPage, OwnedPlace, Precondition, RecordedTarget,
    ReferenceUpdate, SealedPlace, Status, TagsUpdate, rules,
};

use super::fixture::*;

fn item(name: &str) -> ImportItem {
    ImportItem {
        reference: alias(name),
        scope: scope(),
        identifier: Identifier::new(name),
        owned: false,
    }
}

async fn delete_group(store: &Engine, number: u64) -> GroupDeletion {
    let new = on_group(number, "rg", Task::Delete);
    let deletion = store.delete_resource_group(new, &Precondition::NONE, None);
    deletion.await.unwrap()
}

/// Starts to delete the group `rg` and claims the operation.
async fn begin(store: &Engine, number: u64) -> Claimed {
    let GroupDeletion::Accepted(accepted) = delete_group(store, number).await else {
        panic!("the group has references");
    };
    let claimed = claim_one(store, at(11)).await;
    assert_eq!(claimed.operation, *accepted);
    claimed
}

/// The end of an operation on a group at second 20.
fn end(operation: &Operation, outcome: Ended) -> FinishOperation {
    end_on_group(operation, outcome, at(20))
}

fn child(number: u64, parent: u64, name: &str) -> NewOperation {
    NewOperation {
        parent: Some(operation_id(parent)),
        accepted_at: at(12),
        ..delete(number, name)
    }
}

fn all(limit: usize) -> OperationPage {
    OperationPage {
        status: None,
        after: None,
        limit,
    }
}

/// Tags that an update does not name stay, `None` removes a tag, and `Clear` removes all.
pub async fn an_update_merges_the_tags_of_a_group(store: Engine) {
    let put = put_group(group("RG"), "west", "old");
    let put = store.put_resource_group(put, &Precondition::NONE, at(0));
    put.await.unwrap();
    let tags = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    };
    let merge = |key: &str, value: Option<&str>| {
        TagsUpdate::Merge(BTreeMap::from([(key.to_owned(), value.map(str::to_owned))]))
    };
    for (update, tags_after, default_tags_after) in [
        (
            GroupUpdate {
                tags: merge("new", Some("1")),
                default_tags: TagsUpdate::default(),
                ..GroupUpdate::default()
            },
            tags(&[("new", "1"), ("tag", "old")]),
            tags(&[("default", "old")]),
        ),
        (
            GroupUpdate {
                tags: merge("tag", None),
                default_tags: merge("default", Some("2")),
                ..GroupUpdate::default()
            },
            tags(&[("new", "1")]),
            tags(&[("default", "2")]),
        ),
        (
            GroupUpdate {
                tags: TagsUpdate::Clear,
                default_tags: merge("absent", None),
                ..GroupUpdate::default()
            },
            tags(&[]),
            tags(&[("default", "2")]),
        ),
    ] {
        let (id, any) = (group("rg"), Precondition::NONE);
        let before = store.get_resource_group(&id).await.unwrap();
        let updated = store.update_resource_group(&id, update, &any, at(1));
        let updated = updated.await.unwrap();
        assert_eq!(updated.before, Some(before));
        let updated = updated.after;
        assert_eq!(updated.tags, tags_after);
        assert_eq!(updated.body.default_tags, default_tags_after);
        assert_eq!(
            (updated.location.as_str(), updated.updated_at),
            ("west", at(1))
        );
        let found = store.get_resource_group(&group("rg")).await.unwrap();
        assert_eq!(found, updated);
    }
}

/// A group without references is removed at once. Deleting a missing group is not an error, and no precondition
/// applies.
pub async fn an_empty_group_is_removed(store: Engine) {
    with_group(&store, "RG").await;
    let other = Precondition {
        if_match: Some(ucp_store::Tags::Of(Vec::new())),
        ..Precondition::NONE
    };
    let refused = store.delete_resource_group(on_group(1, "rg", Task::Delete), &other, None);
    refused!(refused, Error::PreconditionFailed);
    assert_eq!(delete_group(&store, 2).await, GroupDeletion::Removed);
    assert_eq!(delete_group(&store, 3).await, GroupDeletion::Absent);
    let absent = store.delete_resource_group(on_group(4, "rg", Task::Delete), &other, None);
    assert_eq!(absent.await.unwrap(), GroupDeletion::Absent);
    let get = store.get_operation(operation_id(2)).await.unwrap();
    assert_eq!(get, None, "there was nothing to record");
}

/// A deletion is accepted by `delete_resource_group` only, and that accepts nothing else.
pub async fn only_a_deletion_deletes_a_group(store: Engine) {
    with_group(&store, "rg").await;
    let deletion = on_group(1, "rg", Task::Delete);
    refused!(store.accept_operation(deletion), Error::Corrupt(_));
    let import = on_group(2, "rg", Task::Import(vec![item("a")]));
    let deletion = store.delete_resource_group(import, &Precondition::NONE, None);
    refused!(deletion, Error::Corrupt(_));
    assert_eq!(store.next_claimable_at().await.unwrap(), None);
}

/// A live operation on a reference, or a live import, prevents the deletion of the group.
pub async fn a_busy_group_is_not_deleted(store: Engine) {
    with_group(&store, "rg").await;
    accept(&store, put(1, "a")).await;
    let deletion =
        store.delete_resource_group(on_group(2, "rg", Task::Delete), &Precondition::NONE, None);
    refused!(deletion, Error::Busy(id) if id == operation_id(1));
    let claimed = claim(&store, at(2)).await.remove(0);
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;

    let import = on_group(3, "rg", Task::Import(vec![item("b")]));
    let accepted = accept(&store, import).await.operation;
    let work = group_work(&accepted);
    assert_eq!((work.total, work.done), (1, 0));
    let deletion =
        store.delete_resource_group(on_group(4, "rg", Task::Delete), &Precondition::NONE, None);
    refused!(deletion, Error::Busy(id) if id == operation_id(3));
}

/// An apply keeps other applies off its group, and nothing else. Its declarations are erased at its end.
pub async fn one_apply_at_a_time(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "other").await;
    let apply = |number, group| on_group(number, group, Task::Apply(no_members()));
    let mut first = apply(1, "rg");
    if let NewWork::Group { declared, .. } = &mut first.work {
        *declared = Some(sealed("a secret"));
    }
    accept(&store, first).await;
    refused!(store.accept_operation(apply(2, "RG")), Error::Busy(id) if id == operation_id(1));
    accept(&store, apply(3, "other")).await;
    accept(&store, put(4, "a")).await;
    accept(&store, on_group(5, "rg", Task::Import(Vec::new()))).await;
    let deletion =
        store.delete_resource_group(on_group(6, "rg", Task::Delete), &Precondition::NONE, None);
    refused!(deletion, Error::Busy(_));

    let claimed = claim(&store, at(20)).await;
    let is_first = |claimed: &&Claimed| claimed.operation.header.id == operation_id(1);
    let claimed = claimed.iter().find(is_first).unwrap();
    assert_eq!(claimed.documents.desired, Some(sealed("a secret")));
    let listed = store.list_sealed(None, 100).await.unwrap();
    let place = SealedPlace::Desired(operation_id(1));
    assert!(listed.iter().any(|(listed, _)| *listed == place));
    let mut ended = claimed.operation.clone();
    ended.header.ended_at = Some(at(21));
    if let Work::Group(work) = &mut ended.work {
        work.state = GroupState::Ended(Ended::Succeeded);
    }
    let end = FinishOperation {
        operation: ended,
        reference: None,
        baseline: None,
        leftover: None,
    };
    store.finish_operation(&claimed.lease, end).await.unwrap();
    let listed = store.list_sealed(None, 100).await.unwrap();
    assert!(listed.iter().all(|(listed, _)| *listed != place));
    accept(&store, apply(7, "rg")).await;
}

/// Once the deletion is accepted, only its children may change the group or its references.
pub async fn a_deletion_closes_the_group(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    map(&store, 2, "b", "y", false).await;
    let claimed = begin(&store, 3).await;
    let work = group_work(&claimed.operation);
    assert_eq!(work.total, 1, "owned references");
    let running = GroupDeletion::Running(Box::new(claimed.operation.clone()));
    assert_eq!(delete_group(&store, 4).await, running);
    assert_eq!(operation(&store, 3).await, claimed.operation);
    let deletion = store
        .get_resource_group(&group("rg"))
        .await
        .unwrap()
        .body
        .deletion;
    assert_eq!(deletion, Some(operation_id(3)));

    let by = |id: OperationId| id == operation_id(3);
    let put_group = put_group(group("rg"), "global", "");
    let put_group = store.put_resource_group(put_group, &Precondition::NONE, at(12));
    refused!(put_group, Error::GroupDeleting(id) if by(id));
    let import = on_group(8, "rg", Task::Import(vec![item("b")]));
    for new in [put(5, "a"), put(6, "new"), delete(7, "a"), import] {
        refused!(store.accept_operation(new), Error::GroupDeleting(id) if by(id));
    }
    refused!(forget(&store, "b"), Error::GroupDeleting(id) if by(id));
    let (id, update) = (alias("b"), ReferenceUpdate::default());
    let correlation = correlation();
    let update = store.update_reference(&id, update, "caller", &correlation, at(12));
    refused!(update, Error::GroupDeleting(id) if by(id));

    let started = store.accept_child(&claimed.lease, child(9, 3, "a")).await;
    let parent = started.unwrap().operation.header.parent;
    assert_eq!(parent, Some(operation_id(3)));
    refused!(
        store.accept_child(&claimed.lease, child(10, 3, "a")),
        Error::Busy(_)
    );
}

/// A worker that lost the lease cannot start a child, whatever the lease was on.
pub async fn a_child_needs_its_parents_lease(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let claimed = begin(&store, 2).await;
    store.release_lease(&claimed.lease).await.unwrap();
    refused!(
        store.accept_child(&claimed.lease, child(3, 2, "a")),
        Error::LeaseLost
    );
    let again = claim_one(&store, at(12)).await;
    let end = end(&again.operation, failed());
    finish(&store, &again.lease, end.clone()).await;
    refused!(
        store.accept_child(&again.lease, child(4, 2, "a")),
        Error::LeaseLost
    );
    refused!(store.finish_operation(&again.lease, end), Error::LeaseLost);
    assert_eq!(store.next_claimable_at().await.unwrap(), None);

    let on_resource = accept_and_claim(&store, put(5, "b")).await;
    let started = store.accept_child(&on_resource.lease, child(6, 5, "a"));
    let parent = started.await.unwrap().operation.header.parent;
    assert_eq!(parent, Some(operation_id(5)));
    let end = applied(&on_resource.operation, "y", true);
    finish(&store, &on_resource.lease, end).await;
    refused!(
        store.accept_child(&on_resource.lease, child(7, 5, "c")),
        Error::LeaseLost
    );
}

/// What a set does not list is deleted only as long as the reference that it has found owns it.
pub async fn what_is_released_is_not_deleted(store: Engine) {
    with_group(&store, "rg").await;
    let owned = map(&store, 1, "a", "x", true).await;
    accept(&store, on_group(2, "rg", Task::Apply(no_members()))).await;
    let parent = claim_one(&store, at(11)).await;
    let delete = |number, since| with(child(number, 2, "a"), |new| new.owned_since = Some(since));
    refused!(
        store.accept_child(&parent.lease, delete(3, at(-1))),
        Error::NotOwned
    );
    let release = ReferenceUpdate {
        owned: Some(false),
        ..ReferenceUpdate::default()
    };
    let (id, correlation) = (alias("a"), correlation());
    let released = store.update_reference(&id, release, "caller", &correlation, at(12));
    released.await.unwrap();
    refused!(
        store.accept_child(&parent.lease, delete(3, owned.created_at)),
        Error::NotOwned
    );
    assert_eq!(reference(&store, "a").await.operation, None);
    let own = ReferenceUpdate {
        owned: Some(true),
        ..ReferenceUpdate::default()
    };
    let owned_again = store.update_reference(&id, own, "caller", &correlation, at(13));
    owned_again.await.unwrap();
    let deleted = store.accept_child(&parent.lease, delete(3, owned.created_at));
    deleted.await.unwrap();
}

/// A cancel of the parent also reaches a child that is accepted after it.
pub async fn a_child_of_what_is_cancelled_is_cancelled(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let claimed = begin(&store, 2).await;
    let asked = store.request_cancel(operation_id(2), at(11)).await.unwrap();
    assert!(asked.is_some());
    let started = store.accept_child(&claimed.lease, child(3, 2, "a")).await;
    let header = started.unwrap().operation.header;
    assert_eq!(header.cancel_requested_at, Some(at(11)));
    let recorded = store.get_operation(operation_id(3)).await.unwrap();
    let header = recorded.unwrap().header;
    assert_eq!(header.cancel_requested_at, Some(at(11)));
}

/// A group is deleted only if all that it owns is at places where the caller may delete. What is not owned does not count.
pub async fn a_deletion_is_limited_to_places(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "rg2").await;
    let delete = async |number, name: &str, deletable: &BTreeSet<OwnedPlace>| {
        let new = on_group(number, name, Task::Delete);
        let deletion = store.delete_resource_group(new, &Precondition::NONE, Some(deletable));
        deletion.await.unwrap()
    };
    map(&store, 1, "a", "x", true).await;
    map(&store, 2, "b", "y", true).await;
    map(&store, 3, "c", "z", false).await;
    let own = reference(&store, "a").await;
    let places = BTreeSet::from([(own.scope, own.id.type_name)]);
    let nowhere = BTreeSet::new();
    let before = store.get_resource_group(&group("rg")).await.unwrap();
    let refused = delete(4, "RG", &nowhere).await;
    assert_eq!(refused, GroupDeletion::Owns(places.clone()));
    let after = store.get_resource_group(&group("rg")).await.unwrap();
    assert_eq!(after, before);
    let operation = store.get_operation(operation_id(4)).await.unwrap();
    assert_eq!(operation, None);
    let accepted = delete(5, "rg", &places).await;
    assert!(
        matches!(accepted, GroupDeletion::Accepted(_)),
        "{accepted:?}"
    );
    // Nothing is added to what is being deleted.
    let running = delete(6, "rg", &nowhere).await;
    assert!(matches!(running, GroupDeletion::Running(_)), "{running:?}");
    assert_eq!(delete(7, "rg2", &nowhere).await, GroupDeletion::Removed);
    assert_eq!(delete(8, "rg3", &nowhere).await, GroupDeletion::Absent);
}

/// However many places there are, none is passed over, and they are told in a few rounds.
pub async fn a_deletion_learns_of_all_places(store: Engine) {
    const PLACES: usize = 101;
    with_group(&store, "rg").await;
    for number in 0..PLACES {
        let name = format!("x{number:03}");
        let place = ucp_model::Scope {
            region: format!("region-{number}"),
            ..scope()
        };
        let reference = Reference {
            owned: true,
            ..adopting(None, alias(&name), place, &name)
        };
        let adoption = Adoption {
            basis: Basis::new(None, &RecordedTarget::default()),
            event: rules::adopted(Kind::Import, &reference, "caller", &correlation(), at(24)),
            reference,
        };
        assert!(store.adopt(adoption).await.unwrap());
    }
    let mut judged = BTreeSet::new();
    for (number, known) in (1..).zip([100, PLACES, PLACES]) {
        let new = on_group(number, "rg", Task::Delete);
        let deletion = store.delete_resource_group(new, &Precondition::NONE, Some(&judged));
        match deletion.await.unwrap() {
            GroupDeletion::Owns(places) => {
                assert_eq!(places.len(), known);
                judged = places;
            }
            accepted => {
                assert!(
                    matches!(accepted, GroupDeletion::Accepted(_)),
                    "{accepted:?}"
                );
                assert_eq!(number, 3);
            }
        }
    }
    assert_eq!(judged.len(), PLACES);
}

/// The parent is due when a child ends, and stays due until its worker has seen that end.
pub async fn the_end_of_a_child_wakes_its_parent(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let claimed = begin(&store, 2).await;
    store
        .accept_child(&claimed.lease, child(3, 2, "a"))
        .await
        .unwrap();
    let waiting = due(&claimed.operation, at(900));
    let step = store.commit_step(&claimed.lease, &waiting, None, at(12), TERM);
    let lease = step.await.unwrap();
    store.release_lease(&lease).await.unwrap();
    let claimed = claim(&store, at(12)).await.remove(0);
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    assert_eq!(
        store.next_claimable_at().await.unwrap(),
        Some(at(3)),
        "when the child ended"
    );

    let children = store.list_children(operation_id(2)).await.unwrap();
    assert_eq!(children.len(), 1);
    let claimed = claim_one(&store, at(13)).await;
    let seen_none = store.commit_step(&claimed.lease, &waiting, None, at(14), TERM);
    let lease = seen_none.await.unwrap();
    let expected = due(&waiting, at(14));
    assert_eq!(operation(&store, 2).await, expected, "one is unseen");
    let waiting = stepped_on_group(&waiting, |work| work.ended_children = 1);
    let seen_it = store.commit_step(&lease, &waiting, None, at(15), TERM);
    seen_it.await.unwrap();
    assert_eq!(operation(&store, 2).await, waiting);
}

/// A group is not removed while one of its references is worked on, even if its deletion thinks so.
pub async fn a_group_with_a_live_child_is_not_removed(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let claimed = begin(&store, 2).await;
    store
        .accept_child(&claimed.lease, child(3, 2, "a"))
        .await
        .unwrap();
    let end = end(&claimed.operation, Ended::Succeeded);
    let finish = store.finish_operation(&claimed.lease, end);
    refused!(finish, Error::Busy(id) if id == operation_id(3));
    assert_eq!(operation(&store, 2).await, claimed.operation);
    store.get_resource_group(&group("rg")).await.unwrap();
    assert_eq!(
        reference(&store, "a").await.operation,
        Some(operation_id(3))
    );
}

/// A deletion that succeeded removes the group and its references, with an event each.
pub async fn a_finished_deletion_removes_the_group(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", false).await;
    let claimed = begin(&store, 2).await;
    let end = end(&claimed.operation, Ended::Succeeded);
    finish(&store, &claimed.lease, end.clone()).await;
    refused!(store.get_resource_group(&group("rg")), Error::NoSuchGroup);
    let events = store.list_events(&alias("a")).await.unwrap();
    let last = events.last().unwrap();
    assert_eq!(
        (last.kind.as_str(), last.operation),
        ("forget", Some(operation_id(2)))
    );
    assert_eq!(last.at, at(20));
    assert_eq!(operation(&store, 2).await, end.operation);

    with_group(&store, "rg").await;
    assert!(
        store
            .list_references(&group("rg"), None, None, Limit::items(usize::MAX))
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

/// Roles over the group end with it, by the caller who has deleted it.
pub async fn a_finished_deletion_takes_the_roles_over_the_group(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", false).await;
    let over_group = || ucp_access::Scope::group(&group("RG"));
    let id = |name: &str| RoleAssignmentId::new("local", name).unwrap();
    let everything = ucp_access::Scope::everything();
    for (name, scopes) in [
        ("only", vec![over_group()]),
        ("both", vec![over_group(), everything.clone()]),
    ] {
        let new = new_assignment(id(name), Role::Owner, scopes);
        store
            .put_role_assignment(new, None, &[], at(1))
            .await
            .unwrap();
    }
    let claimed = begin(&store, 2).await;
    let end = end(&claimed.operation, Ended::Succeeded);
    finish(&store, &claimed.lease, end).await;
    let left = store.list_role_assignments(None, None, 9).await.unwrap();
    let [both] = &left[..] else {
        panic!("{left:?}");
    };
    assert_eq!(both.id, id("both"));
    assert_eq!(both.body.grant.scopes, [everything]);
    assert_eq!(both.body.modified_by, claimed.operation.header.caller);
    assert_eq!((both.revision, both.updated_at), (2, at(20)));
    let audited = store.list_audit_events(at(0), AuditPlace::END, 9).await;
    let audited = audited.unwrap();
    let told: Vec<_> = audited
        .iter()
        .rev()
        .map(|told| (told.event.id.clone(), told.event.at, told.event.operation))
        .collect();
    let told_of = |name| (id(name).to_string(), at(20), Some(operation_id(2)));
    assert_eq!(told, [told_of("both"), told_of("only")]);
}

/// After a failed deletion the group is as usable as before.
pub async fn a_failed_deletion_opens_the_group(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let before = store.get_resource_group(&group("rg")).await.unwrap();
    let claimed = begin(&store, 2).await;
    let end = end(&claimed.operation, failed());
    finish(&store, &claimed.lease, end).await;
    assert_eq!(
        store.get_resource_group(&group("rg")).await.unwrap(),
        before
    );
    let again = delete_group(&store, 3).await;
    assert!(matches!(again, GroupDeletion::Accepted(_)), "{again:?}");
}

/// Items and outcomes of an import are stored, and its end does not change the group.
pub async fn an_import_is_remembered(store: Engine) {
    with_group(&store, "rg").await;
    let import = on_group(1, "rg", Task::Import(vec![item("a"), item("é|b")]));
    let accepted = accept(&store, import).await;
    assert_eq!(accepted.reference, None);
    let claimed = claim_one(&store, at(11)).await;
    assert_eq!(claimed.operation, accepted.operation);
    let outcomes = BTreeMap::from([
        (0, ImportOutcome::AlreadyTracked),
        (1, ImportOutcome::Failed(Failure::new("AccessDenied", "no"))),
    ]);
    let stepped = stepped_on_group(&claimed.operation, |work| {
        work.done = 2;
        work.outcomes = outcomes;
    });
    let step = store.commit_step(&claimed.lease, &stepped, None, at(12), TERM);
    let lease = step.await.unwrap();
    assert_eq!(operation(&store, 1).await, stepped);
    let end = end(&stepped, Ended::Succeeded);
    finish(&store, &lease, end.clone()).await;
    assert_eq!(operation(&store, 1).await, end.operation);
    store.get_resource_group(&group("rg")).await.unwrap();
    let nowhere = on_group(2, "nowhere", Task::Import(Vec::new()));
    refused!(store.accept_operation(nowhere), Error::NoSuchGroup);
}

/// An alias that already has a reference cannot be imported.
pub async fn an_import_claims_a_new_alias(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    let import =
        |number, name: &str| with(named(put(number, name), "x"), |new| new.kind = Kind::Import);
    refused!(
        store.accept_operation(import(2, "a")),
        Error::AlreadyReferenced
    );
    assert_eq!(reference(&store, "a").await, before);
    let accepted = accept(&store, import(3, "b")).await;
    assert_eq!(
        accepted.reference.unwrap().identifier,
        None,
        "until it was looked at"
    );
    refused!(store.accept_operation(import(4, "b")), Error::Busy(_));
}

/// An update changes ownership and tags only, and appends an event.
pub async fn a_reference_is_updated(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    map(&store, 2, "b", "x", false).await;
    let correlation = correlation();
    let owned = |owned| ReferenceUpdate {
        owned: Some(owned),
        tags: None,
        place: None,
    };
    let (a, b, c) = (alias("a"), alias("b"), alias("c"));
    let update = |id, update| store.update_reference(id, update, "caller", &correlation, at(9));
    refused!(update(&c, owned(true)), Error::NoSuchReference);
    refused!(update(&b, owned(true)), Error::OwnedElsewhere(id) if id == alias("a"));
    let tags = BTreeMap::from([("é".to_owned(), "\"1\"".to_owned())]);
    let both = ReferenceUpdate {
        owned: Some(false),
        tags: Some(tags.clone()),
        place: None,
    };
    let expected = ucp_model::Reference {
        owned: false,
        tags,
        updated_at: at(9),
        revision: before.revision + 1,
        ..before
    };
    assert_eq!(update(&a, both).await.unwrap(), expected);
    assert_eq!(reference(&store, "a").await, expected);
    assert!(update(&b, owned(true)).await.unwrap().owned);
    // Not if it is somewhere else than where it was judged.
    let at_place = |place: &ucp_model::Scope| ReferenceUpdate {
        place: Some(place.clone()),
        ..owned(false)
    };
    let elsewhere = ucp_model::Scope {
        region: "eu-west-1".to_owned(),
        ..scope()
    };
    let refused = update(&b, at_place(&elsewhere));
    refused!(refused, Error::ReferencedElsewhere(found) if found == scope());
    assert!(reference(&store, "b").await.owned);
    assert!(!update(&b, at_place(&scope())).await.unwrap().owned);
    let events = store.list_events(&alias("a")).await.unwrap();
    assert_eq!(events.last().unwrap().kind, "update");

    // A reference whose alias or resource has a live operation is not updated.
    accept(&store, delete(3, "a")).await;
    refused!(update(&a, owned(true)), Error::Busy(_));
    refused!(update(&b, owned(false)), Error::Busy(_));
}

/// The operations of a group and of its references, by status and page by page.
pub async fn the_operations_of_a_group_are_listed(store: Engine) {
    refused!(
        store.list_operations(&group("rg"), all(9)),
        Error::NoSuchGroup
    );
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let later = NewOperation {
        accepted_at: at(4),
        ..put(2, "b")
    };
    accept(&store, later).await;
    accept(&store, untracked(delete(3, "-"), "z")).await;
    let import = on_group(4, "rg", Task::Import(vec![item("c")]));
    accept(&store, import).await;

    let ids = async |page| {
        let listed = store.list_operations(&group("RG"), page).await.unwrap();
        let ids = listed.iter().map(|operation| operation.header.id);
        ids.collect::<Vec<OperationId>>()
    };
    let expected = [4, 2, 1].map(operation_id);
    assert_eq!(ids(all(9)).await, expected);
    assert_eq!(ids(all(2)).await, expected[..2]);
    let rest = OperationPage {
        after: Some((at(4), operation_id(2))),
        ..all(9)
    };
    assert_eq!(ids(rest).await, expected[2..]);
    for (status, number) in [
        (Status::Provisioning, 4),
        (Status::Accepted, 2),
        (Status::Succeeded, 1),
    ] {
        let page = OperationPage {
            status: Some(status),
            ..all(9)
        };
        assert_eq!(ids(page).await, [operation_id(number)], "{status:?}");
    }
}

/// Operations that ended before the limit are removed, oldest first. Live ones and their children stay, as does the
/// history.
pub async fn ended_operations_are_removed(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    map(&store, 2, "b", "y", true).await;
    let claimed = begin(&store, 3).await;
    store
        .accept_child(&claimed.lease, child(4, 3, "a"))
        .await
        .unwrap();
    let started = claim(&store, at(12)).await.remove(0);
    finish(&store, &started.lease, deleted(&started.operation)).await;

    assert_eq!(store.remove_ended_operations(at(3), 9).await.unwrap(), 0);
    assert_eq!(store.remove_ended_operations(at(100), 1).await.unwrap(), 1);
    assert_eq!(store.get_operation(operation_id(1)).await.unwrap(), None);
    assert_eq!(store.remove_ended_operations(at(100), 9).await.unwrap(), 1);
    assert_eq!(
        operation(&store, 4).await.ended(),
        Some(&Ended::Succeeded),
        "its parent is live"
    );
    let end = end(&claimed.operation, Ended::Succeeded);
    finish(&store, &claimed.lease, end).await;
    assert_eq!(store.remove_ended_operations(at(100), 9).await.unwrap(), 2);
    assert_eq!(store.list_events(&alias("a")).await.unwrap().len(), 2);
}

/// A cancel reaches live children. Ended children, and an ended operation itself, do not change.
pub async fn a_cancel_of_a_group_operation_reaches_its_children(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let claimed = begin(&store, 2).await;
    let lease = claimed.lease.clone();
    store.accept_child(&lease, child(3, 2, "a")).await.unwrap();
    let asked = store.request_cancel(operation_id(2), at(15)).await;
    let asked = asked.unwrap().unwrap();
    let asked_at = async |number| operation(&store, number).await.header.cancel_requested_at;
    assert_eq!(asked.header.cancel_requested_at, Some(at(15)));
    assert_eq!(asked_at(2).await, Some(at(15)));
    assert_eq!(asked_at(3).await, Some(at(15)));
    assert_eq!(asked_at(1).await, None);

    // A step that did not know of the cancel does not postpone the operation.
    let unknowing = due(&claimed.operation, at(900));
    let step = store.commit_step(&lease, &unknowing, None, at(16), TERM);
    let lease = step.await.unwrap();
    let known = operation(&store, 2).await.header;
    assert_eq!(
        (known.cancel_requested_at, known.due_at),
        (Some(at(15)), at(15))
    );

    let canceled = Ended::Canceled(Failure::new("Canceled", "Enough."));
    let end = end(&asked, canceled);
    finish(&store, &lease, end.clone()).await;
    let again = store.request_cancel(operation_id(2), at(30)).await;
    assert_eq!(again.unwrap(), Some(end.operation));
}
