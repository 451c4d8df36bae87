//! Refactors that are taken back: then everything is as it was.

use std::collections::BTreeMap;

use ucp_model::{
    GroupId, PlanPolicy, Refactor, RefactorContent, RefactorGroup, RefactorMove, RefactorStatus,
    Reference, ResourceGroup, Timestamp,
};
use ucp_store::{ApplyRefactor, Error, GroupUpdate, Limit, Precondition, ReferenceUpdate};

use super::emptying::recorded;
use super::fixture::*;
use super::moving::{address, aliases, applying, moving};
use super::refactors::refactor_id;

/// The refactor that takes back what a record says.
fn undo(record: &Refactor, number: u64) -> ApplyRefactor {
    let mut content = RefactorContent {
        named: record.content.named.clone(),
        undoes: Some(record.id),
        ..RefactorContent::default()
    };
    for it in &record.content.moves {
        content.moves.push(RefactorMove {
            from: it.to.clone(),
            to: it.from.clone(),
            reason: "Undo".to_owned(),
            ..it.clone()
        });
    }
    content
        .groups
        .create
        .clone_from(&record.content.groups.remove);
    content
        .groups
        .remove
        .clone_from(&record.content.groups.create);
    applying(number, content, 60)
}

/// All groups and references, but for what each write changes.
async fn everything(store: &Engine) -> (Vec<ResourceGroup>, BTreeMap<String, Reference>) {
    let mut groups = store.list_resource_groups("local", None, 99).await.unwrap();
    let mut references = BTreeMap::new();
    for group in &mut groups {
        let listed = store.list_references(&group.id, None, None, Limit::items(99));
        for reference in listed.await.unwrap().items {
            let id = reference.id.to_string();
            let unwritten = Reference {
                updated_at: Timestamp::default(),
                revision: 0,
                moves: 0,
                ..reference
            };
            references.insert(id, unwritten);
        }
        // One that was removed is made anew.
        group.created_at = Timestamp::default();
        group.updated_at = Timestamp::default();
        group.revision = 0;
    }
    (groups, references)
}

/// A reference in a group, with all that a reference has.
async fn with_reference(store: &Engine, number: u64, group_name: &str, name: &str) {
    let id = address(group_name, name);
    let new = with(put(number, "-"), |new| new.reference = Some(id.clone()));
    let claimed = accept_and_claim(store, new).await;
    let end = applied(&claimed.operation, &format!("x{number}"), true);
    finish(store, &claimed.lease, end).await;
    let tagged = ReferenceUpdate {
        tags: Some(BTreeMap::from([("number".to_owned(), number.to_string())])),
        owned: Some(number.is_multiple_of(2)),
        place: None,
    };
    let correlation = correlation();
    let update = store.update_reference(&id, tagged, "ann", &correlation, at(20));
    update.await.unwrap();
}

/// Also how ids were spelled, and the groups that were removed, with their tags and their policies. What takes back an undo
/// comes to what the refactor came to.
pub async fn an_undo_restores_everything(store: Engine) {
    for (name, value) in [("rg", "one"), ("Old", "two")] {
        let new = put_group(group(name), "global", value);
        let put = store.put_resource_group(new, &Precondition::NONE, at(0));
        put.await.unwrap();
    }
    for (number, group_name, name) in [
        (1, "rg", "a"),
        (2, "rg", "B"),
        (3, "Old", "Sea"),
        (4, "old", "d"),
    ] {
        with_reference(&store, number, group_name, name).await;
    }
    let strict = GroupUpdate {
        plan_policy: Some(PlanPolicy::Approved),
        ..GroupUpdate::default()
    };
    let (old, any) = (group("old"), Precondition::NONE);
    let update = store.update_resource_group(&old, strict, &any, at(9));
    update.await.unwrap();
    let before = everything(&store).await;
    assert_eq!((before.0.len(), before.1.len()), (2, 4));

    let moves = [
        (address("rg", "a"), address("RG", "b")),
        (address("rg", "b"), address("rg", "A")),
        (address("old", "sea"), address("New", "C")),
        (address("old", "d"), address("rg", "d")),
    ];
    let mut new = moving(&store, 1, &moves).await;
    let made = &store.get_resource_group(&group("rg")).await.unwrap();
    new.record.content.groups.create = vec![RefactorGroup {
        id: group("New"),
        ..recorded(made)
    }];
    // What it has emptied is known by its id.
    new.record.content.groups.remove = vec![RefactorGroup {
        id: group("old"),
        ..recorded(made)
    }];
    let applied = store.apply_refactor(new).await.unwrap();
    let after = everything(&store).await;
    assert_ne!(after, before);

    let undone = store.apply_refactor(undo(&applied, 2)).await.unwrap();
    assert_eq!(everything(&store).await, before);
    let removed: Vec<&GroupId> = undone
        .content
        .groups
        .remove
        .iter()
        .map(|it| &it.id)
        .collect();
    assert_eq!(removed, [&group("New")]);
    let first = store.get_refactor(refactor_id(1)).await.unwrap().unwrap();
    assert_eq!(first.status, RefactorStatus::Undone);

    let again = store.apply_refactor(undo(&undone, 3)).await.unwrap();
    assert_eq!(everything(&store).await, after);
    assert_eq!(again.content.groups, applied.content.groups);
    store.apply_refactor(undo(&again, 4)).await.unwrap();
    assert_eq!(everything(&store).await, before);
}

/// Moves an alias of the group `rg`.
async fn move_alias(store: &Engine, number: u64, from: &str, to: &str) -> Refactor {
    let new = aliases(store, number, &[(from, to)]).await;
    store.apply_refactor(new).await.unwrap()
}

/// Each that is taken back leaves the ones before it as they were, and so does a way back by other refactors. No id gets an ETag
/// again.
pub async fn undos_can_be_stacked(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 100, "a", "x", true).await;
    let etag = async |name: &str| reference(&store, name).await.etag();
    let begun = etag("a").await;
    let first = move_alias(&store, 1, "a", "b").await;
    let once = etag("b").await;
    let second = move_alias(&store, 2, "b", "c").await;
    let undone = store.apply_refactor(undo(&second, 3)).await.unwrap();
    assert_ne!(etag("b").await, once);
    // What takes back the undo, and what takes back that.
    let again = store.apply_refactor(undo(&undone, 4)).await.unwrap();
    store.apply_refactor(undo(&again, 5)).await.unwrap();
    move_alias(&store, 6, "b", "d").await;
    move_alias(&store, 7, "d", "b").await;
    store.apply_refactor(undo(&first, 8)).await.unwrap();
    assert_ne!(etag("a").await, begun);
    let read = store.get_refactor(refactor_id(1)).await.unwrap().unwrap();
    assert_eq!(read.status, RefactorStatus::Undone);
}

/// By a put or an update, before or after the moves that are taken back. Nor what is elsewhere, or has another lineage.
pub async fn what_was_written_is_not_taken_back(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name) in [(100, "a"), (101, "b"), (102, "c"), (103, "d")] {
        map(&store, number, name, name, true).await;
    }
    let refused = async |record: &Refactor, number| {
        let refused = store.apply_refactor(undo(record, number)).await;
        let is_refused = matches!(refused, Err(Error::PreconditionFailed));
        assert!(is_refused, "{number}: {refused:?}");
    };
    let tagged = ReferenceUpdate {
        tags: Some(BTreeMap::from([("k".to_owned(), "v".to_owned())])),
        ..ReferenceUpdate::default()
    };
    let write = async |name: &str| {
        let (id, correlation) = (alias(name), correlation());
        let update = store.update_reference(&id, tagged.clone(), "ann", &correlation, at(31));
        update.await.unwrap();
    };
    let first = move_alias(&store, 1, "a", "a1").await;
    let second = move_alias(&store, 2, "a1", "a2").await;
    refused(&first, 3).await;
    store.apply_refactor(undo(&second, 4)).await.unwrap();
    write("a1").await;
    refused(&first, 5).await;

    let first = move_alias(&store, 6, "b", "b1").await;
    write("b1").await;
    let second = move_alias(&store, 7, "b1", "b2").await;
    store.apply_refactor(undo(&second, 8)).await.unwrap();
    refused(&first, 9).await;

    // Something else has come to the id, with as many writes.
    let first = move_alias(&store, 10, "c", "c1").await;
    move_alias(&store, 11, "c1", "c2").await;
    move_alias(&store, 12, "d", "c1").await;
    refused(&first, 13).await;
}
