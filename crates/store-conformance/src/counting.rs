//! Counts, which have a limit, and the end of the history.

use ucp_store::{LiveOperations, NewOperation, Precondition};

use super::fixture::*;

/// A count stops at its limit, and counts nothing of another plane or group.
pub async fn a_count_has_a_limit(store: Engine) {
    for name in ["one", "two", "three"] {
        with_group(&store, name).await;
    }
    let count = async |plane, limit| store.count_resource_groups(plane, limit).await.unwrap();
    assert_eq!(count("local", 10).await, 3);
    assert_eq!(count("LOCAL", 3).await, 3);
    assert_eq!(count("local", 2).await, 2);
    assert_eq!(count("other", 10).await, 0);
    assert_eq!(count("loc", 10).await, 0);
    let one = store.delete_resource_group(
        on_group(1, "one", ucp_model::operation::group::Task::Delete),
        &Precondition::NONE,
        None,
    );
    one.await.unwrap();
    assert_eq!(count("local", 10).await, 2);
}

/// The references of a group are counted whether or not their resources exist yet.
pub async fn references_are_counted_by_group(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "rg2").await;
    map(&store, 1, "a", "x", true).await;
    accept(&store, put(2, "b")).await;
    let count = async |name, limit| store.count_references(&group(name), limit).await.unwrap();
    assert_eq!(count("RG", 10).await, 2);
    assert_eq!(count("rg", 1).await, 1);
    assert_eq!(count("rg2", 10).await, 0);
    assert_eq!(count("nowhere", 10).await, 0);
}

/// An operation counts until it ends, in its group and in all.
pub async fn live_operations_are_counted(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "rg2").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    accept(&store, put(2, "b")).await;
    accept(&store, untracked(put(3, "c"), "x")).await;
    let count = async |group: Option<&str>, limit| {
        let group = group.map(super::fixture::group);
        let those = match &group {
            None => LiveOperations::All,
            Some(group) => LiveOperations::InGroup(group),
        };
        store.count_live_operations(those, limit).await.unwrap()
    };
    assert_eq!(count(Some("Rg"), 10).await, 2);
    assert_eq!(count(Some("rg"), 1).await, 1);
    assert_eq!(count(Some("rg2"), 10).await, 0);
    assert_eq!(count(None, 10).await, 3);
    assert_eq!(count(None, 2).await, 2);
    let end = applied(&claimed.operation, "a", true);
    finish(&store, &claimed.lease, end).await;
    assert_eq!(count(Some("rg"), 10).await, 1);
    assert_eq!(count(None, 10).await, 2);
}

/// An operation counts for who has requested it until it ends. Its children do not.
pub async fn operations_are_counted_by_who_has_requested_them(store: Engine) {
    with_group(&store, "rg").await;
    let of = |caller: &str, new: NewOperation| NewOperation {
        caller: caller.to_owned(),
        ..new
    };
    let claimed = accept_and_claim(&store, of("alice", put(1, "a"))).await;
    accept(&store, of("alice", put(2, "b"))).await;
    accept(&store, of("Alice", put(3, "c"))).await;
    let count = async |caller, limit| {
        let those = LiveOperations::RequestedBy(caller);
        store.count_live_operations(those, limit).await.unwrap()
    };
    assert_eq!(count("alice", 10).await, 2);
    assert_eq!(count("alice", 1).await, 1);
    assert_eq!(count("Alice", 10).await, 1);
    assert_eq!(count("", 10).await, 0);
    let end = applied(&claimed.operation, "a", true);
    finish(&store, &claimed.lease, end).await;
    assert_eq!(count("alice", 10).await, 1);
}

/// The oldest events are removed, as many as asked for.
pub async fn old_events_are_removed(store: Engine) {
    with_group(&store, "rg").await;
    for number in 1..=3 {
        let new = match number {
            1 => put(number, "a"),
            _ => named(put(number, "a"), "x"),
        };
        let claimed = accept_and_claim(&store, new).await;
        finish(
            &store,
            &claimed.lease,
            applied(&claimed.operation, "x", true),
        )
        .await;
    }
    let count = async || store.list_events(&alias("a")).await.unwrap().len();
    let ended_at = store.list_events(&alias("a")).await.unwrap()[0].at;
    assert_eq!(store.remove_events(ended_at, 10).await.unwrap(), 0);
    assert_eq!(count().await, 3);
    let later = ended_at.after(std::time::Duration::from_millis(1));
    assert_eq!(store.remove_events(later, 2).await.unwrap(), 2);
    assert_eq!(count().await, 1);
    assert_eq!(store.remove_events(later, 2).await.unwrap(), 1);
    assert_eq!(store.remove_events(later, 2).await.unwrap(), 0);
}
