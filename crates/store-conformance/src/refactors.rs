//! The records of refactors.

use ucp_model::operation::Kind;
use ucp_model::operation::group::Task;
use ucp_model::{
    Ended, EventMove, Refactor, RefactorContent, RefactorEvent, RefactorId, RefactorMove,
    RefactorStatus, ReferenceId,
};
use ucp_store::{Precondition, refactor_place};

use super::fixture::*;

/// A move, as it is recorded.
pub(super) fn relocated(from: ReferenceId, to: ReferenceId, etag: Option<String>) -> RefactorMove {
    RefactorMove {
        from,
        to,
        scope: scope(),
        identifier: None,
        reason: "Mapping".to_owned(),
        etag,
        lineage: None,
        written: None,
    }
}

pub(super) fn refactor_id(number: u64) -> RefactorId {
    RefactorId(operation_id(number).0)
}

/// A plan that names these groups, made at this second, which would bring an event of its number.
pub(super) fn planned(number: u64, groups: &[&str], second: i64) -> Refactor {
    let event = RefactorEvent {
        id: format!("e{number}"),
        moves: vec![EventMove {
            from: "rg/AWS.EC2/VPC/a".to_owned(),
            to: "rg/AWS.EC2/VPC/b".to_owned(),
        }],
        revoked: number.is_multiple_of(2),
    };
    Refactor {
        id: refactor_id(number),
        plane: "Local".to_owned(),
        created_by: "ann".to_owned(),
        created_at: at(second),
        status: RefactorStatus::Planned,
        changed_at: at(second),
        fingerprint: "fingerprint".to_owned(),
        content: RefactorContent {
            named: groups.iter().map(|name| group(name)).collect(),
            events: vec![event],
            ..RefactorContent::default()
        },
    }
}

/// The same, with this status from this second on.
pub(super) fn having(plan: Refactor, status: RefactorStatus, second: i64) -> Refactor {
    Refactor {
        status,
        changed_at: at(second),
        ..plan
    }
}

async fn keep(store: &Engine, refactors: &[Refactor]) {
    for refactor in refactors {
        store.keep_refactor(refactor.clone(), 99).await.unwrap();
    }
}

/// With all that it contains.
pub async fn a_record_is_kept_as_it_is(store: Engine) {
    let kept = planned(1, &["web", "shop"], 3);
    keep(&store, std::slice::from_ref(&kept)).await;
    let read = store.get_refactor(refactor_id(1)).await.unwrap();
    assert_eq!(read, Some(kept));
    assert_eq!(store.get_refactor(refactor_id(2)).await.unwrap(), None);
}

/// Names of planes and groups compare in any letter case.
pub async fn records_are_listed_latest_first_by_plane_and_group(store: Engine) {
    let another = Refactor {
        plane: "other".to_owned(),
        ..planned(4, &[], 9)
    };
    let [first, second, third] = [
        planned(3, &["web", "WEB"], 1),
        planned(1, &["shop"], 2),
        planned(2, &["shop", "web"], 2),
    ];
    let all = [first.clone(), second.clone(), third.clone(), another];
    keep(&store, &all).await;
    let list = async |group_name: Option<&str>, after: Option<&Refactor>, limit| {
        let group = group_name.map(group);
        let after = after.map(refactor_place);
        let listed = store.list_refactors("local", group.as_ref(), after, limit);
        let ids = listed.await.unwrap().into_iter();
        ids.map(|refactor| refactor.id).collect::<Vec<_>>()
    };
    let all = [third.id, second.id, first.id];
    assert_eq!(list(None, None, 9).await, all);
    assert_eq!(list(None, None, 2).await, all[..2]);
    assert_eq!(list(None, Some(&third), 9).await, all[1..]);
    assert_eq!(list(Some("Web"), None, 9).await, [third.id, first.id]);
    assert_eq!(list(Some("web"), Some(&third), 9).await, [first.id]);
    assert_eq!(list(Some("shop"), None, 1).await, [third.id]);
    assert!(list(Some("none"), None, 9).await.is_empty());
    assert!(list(None, Some(&first), 9).await.is_empty());
}

/// Of what is applied and was not undone, in the order in which it was applied.
pub async fn the_history_of_groups_is_what_was_applied(store: Engine) {
    let applied = |number, groups: &[&str], second| {
        having(planned(number, groups, 0), RefactorStatus::Applied, second)
    };
    let quiet = Refactor {
        content: RefactorContent {
            named: vec![group("web")],
            ..RefactorContent::default()
        },
        ..applied(6, &[], 1)
    };
    let all = [
        applied(1, &["web", "shop"], 7),
        applied(2, &["WEB"], 5),
        applied(3, &["other"], 1),
        applied(7, &["web", "shop"], 6),
        planned(4, &["web"], 1),
        having(planned(5, &["web"], 0), RefactorStatus::Undone, 2),
        quiet,
    ];
    keep(&store, &all).await;
    let events = async |groups: &[&str], limit| {
        let groups: Vec<_> = groups.iter().map(|name| group(name)).collect();
        let events = store.refactor_events(&groups, limit).await.unwrap();
        let events = events.into_iter().flat_map(|brought| brought.events);
        events.map(|event| event.id).collect::<Vec<_>>()
    };
    assert_eq!(events(&["Web", "shop"], 9).await, ["e2", "e7", "e1"]);
    // One that names several of the groups counts once.
    assert_eq!(events(&["Web", "shop"], 3).await, ["e2", "e7", "e1"]);
    // The last ones, if there are more.
    assert_eq!(events(&["web", "shop"], 2).await, ["e7", "e1"]);
    assert_eq!(events(&["shop", "other"], 9).await, ["e3", "e7", "e1"]);
    assert!(events(&[], 9).await.is_empty());
    // With all that each of them names.
    let of_shop = store.refactor_events(&[group("Shop")], 1).await.unwrap();
    let named = ["web", "shop"].map(|name| group(name).key());
    assert_eq!(of_shop[0].groups, named.into());
}

/// What has brought events is the history of its groups, and stays. So does what has moved something, but for undos.
pub async fn old_records_are_removed(store: Engine) {
    let quiet = |number, undoes| Refactor {
        content: RefactorContent {
            named: vec![group("shop")],
            moves: vec![relocated(alias("a"), alias("b"), None)],
            undoes,
            ..RefactorContent::default()
        },
        ..having(planned(number, &[], 0), RefactorStatus::Applied, 1)
    };
    let lasting = quiet(5, None);
    keep(&store, &[lasting.clone(), quiet(6, Some(lasting.id))]).await;
    assert_eq!(store.remove_refactors(at(5), 9).await.unwrap(), 1);
    let read = store.get_refactor(lasting.id).await.unwrap();
    assert_eq!(read, Some(lasting));

    let all = [
        planned(1, &["web"], 1),
        having(planned(2, &["web"], 0), RefactorStatus::Undone, 2),
        having(planned(3, &["web"], 0), RefactorStatus::Applied, 1),
        planned(4, &["web"], 5),
    ];
    keep(&store, &all).await;
    assert_eq!(store.remove_refactors(at(5), 1).await.unwrap(), 1);
    assert_eq!(store.get_refactor(refactor_id(1)).await.unwrap(), None);
    assert_eq!(store.remove_refactors(at(5), 9).await.unwrap(), 1);
    assert_eq!(store.remove_refactors(at(5), 9).await.unwrap(), 0);
    let web = group("web");
    let listed = store.list_refactors("local", Some(&web), None, 9);
    let ids: Vec<RefactorId> = listed.await.unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, [refactor_id(4), refactor_id(3)]);
}

/// What was applied is not among them, nor what others have planned.
pub async fn only_so_many_plans_of_a_maker_are_kept(store: Engine) {
    let by = |plan: Refactor, maker: &str| Refactor {
        created_by: maker.to_owned(),
        ..plan
    };
    let applied = having(planned(1, &["web"], 1), RefactorStatus::Applied, 1);
    let all = [
        applied,
        by(planned(2, &["web"], 2), "bob"),
        planned(3, &["web"], 3),
        planned(5, &["web"], 4),
        planned(4, &["web"], 4),
    ];
    keep(&store, &all).await;
    store
        .keep_refactor(planned(6, &["web"], 5), 2)
        .await
        .unwrap();
    let listed = store.list_refactors("local", None, None, 9).await.unwrap();
    let ids: Vec<RefactorId> = listed.iter().map(|it| it.id).collect();
    assert_eq!(ids, [6, 5, 2, 1].map(refactor_id));
    let web = group("web");
    let of_group = store.list_refactors("local", Some(&web), None, 9);
    assert_eq!(of_group.await.unwrap(), listed);
}

/// One of the same name has had no events.
pub async fn a_deleted_group_takes_its_history(store: Engine) {
    for name in ["web", "shop"] {
        with_group(&store, name).await;
    }
    let applied = having(planned(1, &["web", "shop"], 0), RefactorStatus::Applied, 7);
    keep(&store, &[applied]).await;
    let events = async |name: &str| {
        let events = store.refactor_events(&[group(name)], 9).await.unwrap();
        events.len()
    };
    assert_eq!((events("web").await, events("shop").await), (1, 1));
    let deletion = on_group(1, "web", Task::Delete);
    let deleted = store.delete_resource_group(deletion, &Precondition::NONE, None);
    deleted.await.unwrap();
    with_group(&store, "web").await;
    assert_eq!((events("web").await, events("shop").await), (0, 1));

    // Also one that had something in it.
    with_group(&store, "rg").await;
    map(&store, 2, "a", "x", true).await;
    let applied = having(planned(3, &["rg"], 0), RefactorStatus::Applied, 8);
    keep(&store, &[applied]).await;
    assert_eq!(events("rg").await, 1);
    let deletion = on_group(4, "rg", Task::Delete);
    let deleted = store.delete_resource_group(deletion, &Precondition::NONE, None);
    deleted.await.unwrap();
    let claimed = claim_one(&store, at(20)).await;
    let delete = with(put(5, "a"), |new| new.kind = Kind::Delete);
    let child = ucp_store::NewOperation {
        parent: Some(claimed.operation.header.id),
        ..delete
    };
    let child = store.accept_child(&claimed.lease, child).await.unwrap();
    let claimed_child = claim_one(&store, at(21)).await;
    assert_eq!(claimed_child.operation, child.operation);
    finish(
        &store,
        &claimed_child.lease,
        super::fixture::deleted(&child.operation),
    )
    .await;
    let end = end_on_group(&claimed.operation, Ended::Succeeded, at(30));
    finish(&store, &claimed.lease, end).await;
    assert_eq!(events("rg").await, 0);
}
