//! Refactors that are deployed by an operation.

use ucp_model::operation::group::{
    Application, ApplyMember, Deployment, MemberGoal, OnFailure, Task,
};
use ucp_model::operation::{GroupWork, OnShared, Options, Work};
use ucp_model::{GroupId, PlanPolicy, RefactorId, ReferenceId, Scope};
use ucp_store::{
    ApplyRefactor, Error, GroupDeletion, GroupUpdate, NewOperation, NewWork, Precondition,
    ReferenceUpdate,
};

use super::emptying::recorded;
use super::fixture::*;
use super::moving::{address, applying, moving};
use super::refactors::refactor_id;

/// The task of a deployment that puts these references.
pub(super) fn deploying(
    refactor: RefactorId,
    groups: Vec<GroupId>,
    puts: Vec<(ReferenceId, Scope)>,
) -> Task {
    let members = puts.into_iter().map(|(reference, scope)| ApplyMember {
        moved_from: None,
        on_shared: OnShared::default(),
        symbolic_name: reference.alias.clone(),
        reference,
        scope,
        goal: MemberGoal::Put(Options::default()),
        depends_on: Vec::new(),
        is_unchanged: false,
        is_compared: false,
        is_declared: false,
    });
    Task::Apply(Application {
        members: members.collect(),
        deployment: Some(Box::new(Deployment {
            refactor,
            groups,
            on_failure: OnFailure::Undo,
        })),
        ..no_members()
    })
}

/// A deployment in `rg` that also names `web`, with a put there.
fn deployment(number: u64, refactor: u64) -> NewOperation {
    let named = vec![group("rg"), group("web")];
    let puts = vec![(address("web", "put"), scope())];
    let task = deploying(refactor_id(refactor), named, puts);
    let mut new = on_group(number, "rg", task);
    if let NewWork::Group { declared, .. } = &mut new.work {
        *declared = Some(sealed("declared"));
    }
    new
}

/// Moves `a` of `rg` to `web`, and deploys.
async fn deploy(store: &Engine, number: u64, refactor: u64) -> ApplyRefactor {
    let moves = [(address("rg", "a"), address("web", "b"))];
    creating(ApplyRefactor {
        deploy: Some(deployment(number, refactor)),
        ..moving(store, refactor, &moves).await
    })
}

/// Says that the put in `web` creates something.
fn creating(mut new: ApplyRefactor) -> ApplyRefactor {
    new.record.content.changes.create = vec![address("web", "put")];
    new
}

async fn refused(store: &Engine, new: ApplyRefactor) -> Error {
    store.apply_refactor(new).await.unwrap_err()
}

/// With what it declares, or not at all.
pub async fn a_deployment_is_accepted_with_the_moves(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", false).await;
    let new = deploy(&store, 7, 1).await;
    let error = refused(&store, new.clone()).await;
    assert!(matches!(error, Error::NoSuchGroup), "{error:?}");
    assert_eq!(store.get_operation(operation_id(7)).await.unwrap(), None);

    with_group(&store, "web").await;
    store.apply_refactor(new.clone()).await.unwrap();
    let claimed = claim_one(&store, at(11)).await;
    let accepted = new.deploy.unwrap();
    let NewWork::Group { group, task, .. } = accepted.work.clone() else {
        panic!("{accepted:?}");
    };
    assert_eq!(claimed.operation.header, accepted.header());
    let work = GroupWork::new(group, task, 0);
    assert_eq!(claimed.operation.work, Work::Group(Box::new(work)));
    assert_eq!(claimed.documents.desired, Some(sealed("declared")));
}

/// The operation of a set is accepted as any other is: what refuses it refuses the moves, too.
pub async fn a_set_is_accepted_with_its_moves(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", false).await;
    let set = |number: u64| ApplyMember {
        moved_from: None,
        on_shared: OnShared::default(),
        symbolic_name: format!("set {number}"),
        reference: alias("b"),
        scope: scope(),
        goal: MemberGoal::Put(Options::default()),
        depends_on: Vec::new(),
        is_unchanged: false,
        is_compared: false,
        is_declared: false,
    };
    let apply = |number: u64| {
        let members = vec![set(number)];
        let task = Task::Apply(Application {
            members,
            ..no_members()
        });
        on_group(number, "rg", task)
    };
    let moves = async |number: u64, from: &str, to: &str| ApplyRefactor {
        deploy: Some(apply(number)),
        ..moving(&store, number, &[(alias(from), alias(to))]).await
    };
    let protect = async |policy: PlanPolicy| {
        let update = GroupUpdate {
            plan_policy: Some(policy),
            ..GroupUpdate::default()
        };
        let (rg, any) = (group("rg"), Precondition::NONE);
        let update = store.update_resource_group(&rg, update, &any, at(20));
        update.await.unwrap();
    };
    protect(PlanPolicy::Required).await;
    let error = refused(&store, moves(7, "a", "b").await).await;
    assert!(matches!(error, Error::PlanRequired), "{error:?}");
    assert_eq!(store.get_operation(operation_id(7)).await.unwrap(), None);
    assert!(store.get_reference(&alias("a")).await.unwrap().is_some());

    protect(PlanPolicy::Optional).await;
    store
        .apply_refactor(moves(8, "a", "b").await)
        .await
        .unwrap();
    assert!(store.get_reference(&alias("a")).await.unwrap().is_none());
    let claimed = claim_one(&store, at(31)).await;
    assert_eq!(claimed.operation.header.id, operation_id(8));
    // Another set waits for that.
    let error = refused(&store, moves(9, "b", "c").await).await;
    assert!(
        matches!(error, Error::Busy(busy) if busy == operation_id(8)),
        "{error:?}"
    );
}

/// Also those that none of its operations is in. Resources by themselves are put as ever.
pub async fn a_deployment_holds_its_groups_until_it_ends(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", false).await;
    map(&store, 2, "c", "y", false).await;
    with_group(&store, "web").await;
    store
        .apply_refactor(deploy(&store, 7, 1).await)
        .await
        .unwrap();
    let is_busy = |error: &Error| matches!(error, Error::Busy(busy) if *busy == operation_id(7));
    let delete = async |number: u64, name: &str| {
        let new = on_group(number, name, Task::Delete);
        let any = Precondition::NONE;
        store.delete_resource_group(new, &any, None).await
    };
    let apply = |number: u64, name: &str| on_group(number, name, Task::Apply(no_members()));
    for name in ["rg", "web"] {
        let error = delete(8, name).await.unwrap_err();
        assert!(is_busy(&error), "{error:?}");
        let error = store.accept_operation(apply(8, name)).await.unwrap_err();
        assert!(is_busy(&error), "{error:?}");
    }
    let other = moving(&store, 3, &[(address("rg", "c"), address("web", "c"))]).await;
    let error = refused(&store, other.clone()).await;
    assert!(is_busy(&error), "{error:?}");
    let elsewhere = put(9, "-");
    let elsewhere = with(elsewhere, |new| new.reference = Some(address("web", "own")));
    accept(&store, elsewhere).await;

    let claimed = claim(&store, at(11)).await;
    let of = claimed
        .iter()
        .find(|claimed| claimed.operation.header.id == operation_id(7));
    let deployment = of.unwrap();
    let end = end_on_group(&deployment.operation, failed(), at(12));
    finish(&store, &deployment.lease, end).await;
    store.apply_refactor(other).await.unwrap();
    accept(&store, apply(10, "web")).await;
    let deleted = delete(11, "rg").await;
    assert!(matches!(deleted, Ok(GroupDeletion::Removed)), "{deleted:?}");
}

/// Whatever it has written since. The group that it has made goes, although the deployment is in it.
pub async fn what_a_live_deployment_has_moved_is_taken_back(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", false).await;
    let made = store.get_resource_group(&group("rg")).await.unwrap();
    let mut new = deploy(&store, 7, 1).await;
    new.record.content.groups.create = vec![ucp_model::RefactorGroup {
        id: group("web"),
        ..recorded(&made)
    }];
    new.deploy = Some(NewOperation {
        work: match deployment(7, 1).work {
            NewWork::Group {
                task,
                declared,
                heirs,
                ..
            } => NewWork::Group {
                group: group("web"),
                task,
                declared,
                heirs,
            },
            other @ NewWork::Resource(_) => other,
        },
        ..deployment(7, 1)
    });
    let record = store.apply_refactor(new).await.unwrap();
    let stale = claim_one(&store, at(11)).await;
    let claimed = claim_one(&store, at(5_000)).await;
    let back = |number: u64| ApplyRefactor {
        taken_back_by: Some(claimed.lease.clone()),
        ..applying(number, record.inverse(), 40)
    };
    // Another worker has it.
    let late = ApplyRefactor {
        taken_back_by: Some(stale.lease.clone()),
        ..back(2)
    };
    let error = refused(&store, late).await;
    assert!(matches!(error, Error::LeaseLost), "{error:?}");
    let by_hand = ApplyRefactor {
        taken_back_by: None,
        ..back(2)
    };
    let error = refused(&store, by_hand).await;
    assert!(matches!(error, Error::Busy(_)), "{error:?}");
    let tagged = ReferenceUpdate {
        owned: Some(true),
        ..ReferenceUpdate::default()
    };
    let (moved, correlation) = (address("web", "b"), correlation());
    let update = store.update_reference(&moved, tagged, "ann", &correlation, at(20));
    update.await.unwrap();

    store.apply_refactor(back(3)).await.unwrap();
    let reference = store.get_reference(&alias("a")).await.unwrap().unwrap();
    assert_eq!(reference.lineage, before.lineage);
    assert!(reference.owned);
    let gone = store.get_resource_group(&group("web")).await;
    assert!(matches!(gone, Err(Error::NoSuchGroup)), "{gone:?}");
    let error = refused(&store, back(5)).await;
    assert!(matches!(error, Error::RefactorStatus(_)), "{error:?}");

    let end = end_on_group(&claimed.operation, failed(), at(42));
    finish(&store, &claimed.lease, end).await;
    let error = refused(&store, back(5)).await;
    assert!(matches!(error, Error::LeaseLost), "{error:?}");
}

/// A put by itself would be refused too.
pub async fn a_deployment_is_refused_by_the_policy_of_a_group(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", false).await;
    with_group(&store, "web").await;
    let strict = GroupUpdate {
        plan_policy: Some(PlanPolicy::Required),
        ..GroupUpdate::default()
    };
    let (web, any) = (group("web"), Precondition::NONE);
    let update = store.update_resource_group(&web, strict, &any, at(9));
    update.await.unwrap();
    let new = deploy(&store, 7, 1).await;
    let error = refused(&store, new.clone()).await;
    assert!(matches!(error, Error::PlanRequired), "{error:?}");
    // What is put since it refers to what changes may change as well.
    let mut unchanged = new.clone();
    unchanged.record.content.changes.create.clear();
    let puts = vec![(address("web", "b"), scope())];
    let named = vec![group("rg"), group("web")];
    unchanged.deploy = Some(on_group(7, "rg", deploying(refactor_id(1), named, puts)));
    let error = refused(&store, unchanged).await;
    assert!(matches!(error, Error::PlanRequired), "{error:?}");
    let only_moved = ApplyRefactor {
        deploy: None,
        ..new
    };
    store.apply_refactor(only_moved).await.unwrap();
}

/// A group that is removed, or is not there yet, is held as well.
pub async fn a_group_that_does_not_exist_is_held(store: Engine) {
    for name in ["rg", "web"] {
        with_group(&store, name).await;
    }
    map(&store, 1, "a", "x", false).await;
    let mut new = deploy(&store, 7, 1).await;
    new.record.content.named = vec![group("rg"), group("web"), group("gone")];
    let named = new.record.content.named.clone();
    let puts = vec![(address("web", "put"), scope())];
    new.deploy = Some(on_group(7, "web", deploying(refactor_id(1), named, puts)));
    store.apply_refactor(creating(new)).await.unwrap();
    let mut other = moving(&store, 3, &[]).await;
    other.record.content.named = vec![group("gone")];
    let error = refused(&store, other).await;
    assert!(
        matches!(error, Error::Busy(busy) if busy == operation_id(7)),
        "{error:?}"
    );
}

/// Whatever has happened since it was judged.
pub async fn a_deployment_creates_what_is_not_there_and_updates_what_is(store: Engine) {
    for name in ["rg", "web"] {
        with_group(&store, name).await;
    }
    map(&store, 1, "a", "x", false).await;
    map(&store, 2, "c", "y", false).await;
    let new = deploy(&store, 7, 1).await;
    let changing = |create: &[ReferenceId], update: &[ReferenceId]| {
        let mut new = new.clone();
        new.record.content.changes.create = create.to_vec();
        new.record.content.changes.update = update.to_vec();
        let puts = create.iter().chain(update).cloned();
        let puts = puts.map(|id| (id, scope())).collect();
        let named = vec![group("rg"), group("web")];
        new.deploy = Some(on_group(7, "rg", deploying(refactor_id(1), named, puts)));
        new
    };
    let (moved, vacated) = (address("web", "b"), address("rg", "a"));
    let (there, missing) = (address("rg", "c"), address("web", "put"));
    for wrong in [
        changing(std::slice::from_ref(&there), &[]),
        changing(std::slice::from_ref(&moved), &[]),
        changing(&[], std::slice::from_ref(&missing)),
        changing(&[], std::slice::from_ref(&vacated)),
    ] {
        let error = refused(&store, wrong).await;
        assert!(matches!(error, Error::PreconditionFailed), "{error:?}");
    }
    let right = changing(&[missing, vacated], &[there, moved]);
    store.apply_refactor(right).await.unwrap();
}

/// What somebody has deleted stays away, and what they have put in its place stays there. A group that they have made again is good.
pub async fn what_has_gone_meanwhile_is_not_taken_back(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name) in [(1, "a"), (2, "c"), (3, "d")] {
        map(&store, number, name, &format!("x{number}"), false).await;
    }
    with_group(&store, "web").await;
    let made = store.get_resource_group(&group("rg")).await.unwrap();
    let moves = [
        (address("rg", "a"), address("web", "a")),
        (address("rg", "c"), address("web", "c")),
        (address("rg", "d"), address("web", "d")),
    ];
    let named = vec![group("rg"), group("web")];
    let puts = vec![(address("web", "put"), scope())];
    let mut new = ApplyRefactor {
        deploy: Some(on_group(7, "web", deploying(refactor_id(1), named, puts))),
        ..moving(&store, 1, &moves).await
    };
    new.record.content.groups.remove = vec![recorded(&made)];
    let record = store.apply_refactor(creating(new)).await.unwrap();
    assert_eq!(record.content.groups.remove.len(), 1);
    with_group(&store, "rg").await;
    let correlation = correlation();
    for name in ["c", "d"] {
        let gone = address("web", name);
        let forget = store.forget_reference(&gone, true, "ann", &correlation, at(20));
        forget.await.unwrap();
    }
    let anew = with(put(9, "-"), |new| new.reference = Some(address("web", "d")));
    accept(&store, anew).await;
    let all = claim(&store, at(21)).await;
    let of = |number: u64| {
        let mut all = all.iter();
        all.find(|it| it.operation.header.id == operation_id(number))
            .unwrap()
    };
    let end = applied(&of(9).operation, "x9", false);
    finish(&store, &of(9).lease, end).await;

    let back = ApplyRefactor {
        taken_back_by: Some(of(7).lease.clone()),
        ..applying(3, record.inverse(), 40)
    };
    let back = store.apply_refactor(back).await.unwrap();
    assert_eq!(back.content.moves.len(), 1);
    assert!(back.content.groups.create.is_empty());
    let at_address = async |id: ReferenceId| store.get_reference(&id).await.unwrap();
    assert!(at_address(address("rg", "a")).await.is_some());
    assert!(at_address(address("rg", "c")).await.is_none());
    assert!(at_address(address("rg", "d")).await.is_none());
    assert!(at_address(address("web", "d")).await.is_some());
}
