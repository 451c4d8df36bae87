//! Guarantees under concurrency.

use std::collections::{BTreeMap, BTreeSet};

use tokio::task::JoinSet;
use ucp_model::{OperationId, PlaneKind};
use ucp_store::{Error, GroupUpdate, Limit, NewOperation, Precondition, SealedKey, TagsUpdate};

use super::fixture::*;

/// Accepts all of them concurrently. One wins; the others fail with its id.
async fn race(store: &Engine, contenders: Vec<NewOperation>) -> OperationId {
    let count = contenders.len();
    let mut tasks = JoinSet::new();
    for new in contenders {
        let store = store.clone();
        tasks.spawn(async move { store.accept_operation(new).await });
    }
    let (mut won, mut busy) = (Vec::new(), Vec::new());
    while let Some(outcome) = tasks.join_next().await {
        match outcome.unwrap() {
            Ok(accepted) => won.push(accepted.operation.header.id),
            Err(Error::Busy(id)) => busy.push(id),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(won.len(), 1, "{won:?}");
    assert_eq!(busy, vec![won[0]; count - 1]);
    assert_eq!(claim(store, at(2)).await.len(), 1);
    won[0]
}

/// One alias, one resource.
pub async fn fifty_puts_of_one_alias_come_to_one_operation(store: Engine) {
    with_group(&store, "rg").await;
    let won = race(&store, (1..=50).map(|number| put(number, "a")).collect()).await;
    assert_eq!(reference(&store, "a").await.revision, 1);
    assert!(store.get_operation(won).await.unwrap().is_some());
}

/// The same for an alias that already has a reference, with deletes among the operations.
pub async fn fifty_puts_of_a_known_alias_come_to_one_operation(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 100, "a", "x", true).await;
    let contenders = (1..=50).map(|number| match number % 2 {
        0 => put(number, "a"),
        _ => delete(number, "a"),
    });
    race(&store, contenders.collect()).await;
    assert_eq!(reference(&store, "a").await.revision, before.revision + 1);
}

/// The same for one resource, by alias and by name.
pub async fn fifty_puts_of_one_target_come_to_one_operation(store: Engine) {
    with_group(&store, "rg").await;
    let contenders = (1..=50).map(|number| match number % 2 {
        0 => untracked(delete(number, "-"), "x"),
        _ => named(put(number, &format!("alias-{number}")), "x"),
    });
    let won = race(&store, contenders.collect()).await;
    let won = store.get_operation(won).await.unwrap().unwrap();
    let tracked = won.work.reference().cloned();
    let references = store
        .list_references(&group("rg"), None, None, Limit::items(usize::MAX))
        .await
        .unwrap();
    let found: Vec<_> = references.items.into_iter().map(|r| r.id).collect();
    assert_eq!(found, Vec::from_iter(tracked), "losers leave no reference");
}

/// Each operation has one claimer.
pub async fn claimers_share_no_operation(store: Engine) {
    const OPERATIONS: u64 = 60;
    for number in 1..=OPERATIONS {
        accept(&store, untracked(put(number, "-"), &number.to_string())).await;
    }
    let mut claimers = JoinSet::new();
    for claimer in 0..8 {
        let store = store.clone();
        claimers.spawn(async move {
            let mut mine = Vec::new();
            loop {
                let owner = format!("worker-{claimer}");
                let claimed = store.claim_due_operations(&owner, at(2), TERM, 5).await;
                let claimed = claimed.unwrap();
                assert!(claimed.len() <= 5);
                if claimed.is_empty() {
                    return mine;
                }
                mine.extend(claimed);
            }
        });
    }
    let claimed = claimers.join_all().await.concat();
    assert!(claimed.iter().all(|claimed| claimed.lease.generation == 1));
    let ids: BTreeSet<OperationId> = claimed.iter().map(|c| c.operation.header.id).collect();
    assert_eq!(ids.len(), claimed.len(), "claimed twice");
    let rest = claim(&store, at(2)).await.len();
    assert_eq!(ids.len() + rest, usize::try_from(OPERATIONS).unwrap());
    for claimed in claimed {
        let renewed = store.renew_lease(&claimed.lease, at(3), TERM).await;
        renewed.unwrap();
    }
}

/// Operations that end concurrently on one resource leave one owner, and none of them fails.
pub async fn two_ends_make_one_owner(store: Engine) {
    with_group(&store, "rg").await;
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (number, name) in (1..).zip(names) {
        accept(&store, put(number, name)).await;
    }
    let mut tasks = JoinSet::new();
    for claimed in claim(&store, at(2)).await {
        let store = store.clone();
        tasks.spawn(async move {
            let revealed = naming(&claimed.operation, "x");
            let step = store.commit_step(&claimed.lease, &revealed, None, at(2), TERM);
            let lease = step.await.unwrap();
            finish(&store, &lease, applied(&revealed, "x", true)).await;
        });
    }
    tasks.join_all().await;
    let references = store
        .list_references(&group("rg"), None, None, Limit::items(usize::MAX))
        .await
        .unwrap();
    assert_eq!(references.items.len(), names.len());
    assert_eq!(references.items.iter().filter(|r| r.owned).count(), 1);
}

/// All replicas use the same digest key.
pub async fn offered_digest_keys_come_to_one(store: Engine) {
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            let candidate = SealedKey {
                id: format!("key-{number}"),
                key: sealed("key"),
            };
            store.ensure_digest_key(candidate, at(0)).await.unwrap().id
        });
    }
    let ids = BTreeSet::from_iter(tasks.join_all().await);
    assert_eq!(ids.len(), 1);
}

/// Puts the same plane and the same group fifty times concurrently. Returns how many of each were written.
async fn race_to_put(
    store: &Engine,
    plane_seen: Precondition,
    group_seen: Precondition,
) -> [usize; 2] {
    let mut tasks = JoinSet::new();
    for number in 0..50 {
        let store = store.clone();
        let (plane_seen, group_seen) = (plane_seen.clone(), group_seen.clone());
        tasks.spawn(async move {
            let value = number.to_string();
            let put = put_plane(plane(PlaneKind::Aws, "a"), "global", &value);
            let plane = store.put_plane(put, &plane_seen, at(1)).await.map(drop);
            let put = put_group(group("rg"), "global", &value);
            let group = store.put_resource_group(put, &group_seen, at(1)).await;
            [plane, group.map(drop)]
        });
    }
    let mut written = [0, 0];
    while let Some(outcomes) = tasks.join_next().await {
        for (count, outcome) in written.iter_mut().zip(outcomes.unwrap()) {
            match outcome {
                Ok(()) => *count += 1,
                Err(Error::PreconditionFailed) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    written
}

/// With `If-None-Match: *` one write succeeds.
pub async fn fifty_first_puts_make_one_plane_and_one_group(store: Engine) {
    let absent = Precondition::absent();
    assert_eq!(race_to_put(&store, absent.clone(), absent).await, [1, 1]);
}

/// With `If-Match` the first write succeeds. Without a precondition every write does.
pub async fn fifty_puts_after_one_look_come_to_one(store: Engine) {
    let any = Precondition::NONE;
    assert_eq!(race_to_put(&store, any.clone(), any).await, [50, 50]);
    let id = plane(PlaneKind::Aws, "a");
    let plane = store.get_plane(&id).await.unwrap().unwrap();
    let group = store.get_resource_group(&group("rg")).await.unwrap();
    assert_eq!((plane.revision, group.revision), (50, 50));
    let written = race_to_put(
        &store,
        Precondition::matches(plane.etag()),
        Precondition::matches(group.etag()),
    );
    assert_eq!(written.await, [1, 1]);
}

/// Concurrent updates of different tags all take effect: none is based on what another has changed meanwhile.
pub async fn many_updates_of_one_group_lose_nothing(store: Engine) {
    with_group(&store, "rg").await;
    let mut tasks = JoinSet::new();
    for number in 0..49 {
        let store = store.clone();
        tasks.spawn(async move {
            let change = BTreeMap::from([(format!("tag-{number}"), Some("set".to_owned()))]);
            let update = GroupUpdate {
                tags: TagsUpdate::Merge(change),
                ..GroupUpdate::default()
            };
            let (id, any) = (group("rg"), Precondition::NONE);
            let updated = store.update_resource_group(&id, update, &any, at(1));
            updated.await.unwrap();
        });
    }
    while let Some(outcome) = tasks.join_next().await {
        outcome.unwrap();
    }
    let found = store.get_resource_group(&group("rg")).await.unwrap();
    assert_eq!((found.tags.len(), found.revision), (50, 50));
}
