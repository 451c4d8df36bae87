//! Groups that a refactor is to remove when it has emptied them.

use std::collections::BTreeMap;

use ucp_access::Role;
use ucp_model::{
    GroupBody, LeftoverId, LeftoverReason, PlanPolicy, RefactorGroup, Register, ResourceGroup,
    RoleAssignmentId,
};
use ucp_store::{ApplyRefactor, GroupUpdate, Precondition, ReferenceUpdate};

use super::fixture::*;
use super::leftovers::leave;
use super::moving::{address, moving};
use super::refactors::refactor_id;

/// A group as the record of a refactor has it.
pub(super) fn recorded(group: &ResourceGroup) -> RefactorGroup {
    RefactorGroup {
        id: group.id.clone(),
        location: group.location.clone(),
        tags: group.tags.clone(),
        body: group.body.clone(),
    }
}

/// The move of `a` from one group to another, which is to remove these.
pub(super) async fn emptying(
    store: &Engine,
    number: u64,
    (from, to): (&str, &str),
    groups: &[&str],
) -> ApplyRefactor {
    let mut new = moving(store, number, &[(address(from, "a"), address(to, "a"))]).await;
    for name in groups {
        let named = RefactorGroup {
            id: group(name),
            location: String::new(),
            tags: BTreeMap::new(),
            body: GroupBody::default(),
        };
        new.record.content.groups.remove.push(named);
    }
    new
}

/// Applies a refactor and returns the names of the groups that it has removed.
pub(super) async fn removed_by(store: &Engine, new: ApplyRefactor) -> Vec<String> {
    let before = groups(store).await;
    let record = store.apply_refactor(new).await.unwrap();
    let removed = record.content.groups.remove.into_iter();
    let removed: Vec<String> = removed.map(|group| group.id.name).collect();
    let mut after = groups(store).await;
    after.extend(removed.clone());
    after.sort_unstable();
    assert_eq!(after, before);
    removed
}

async fn groups(store: &Engine) -> Vec<String> {
    let groups = store.list_resource_groups("local", None, 99).await.unwrap();
    groups.into_iter().map(|group| group.id.name).collect()
}

/// A group that is empty for another reason is none of its business. Each is removed once.
pub async fn only_groups_that_it_has_emptied_are_removed(store: Engine) {
    for name in ["rg", "web", "spare"] {
        with_group(&store, name).await;
    }
    map(&store, 1, "a", "x", true).await;
    let named = ["web", "spare", "rg", "RG", "none"];
    let new = emptying(&store, 1, ("rg", "web"), &named).await;
    assert_eq!(removed_by(&store, new).await, ["rg"]);

    // What takes back the creation of a group removes it, whatever has moved.
    let mut making = moving(&store, 2, &[]).await;
    making.record.content.groups.create = vec![RefactorGroup {
        id: group("made"),
        ..recorded(&store.get_resource_group(&group("web")).await.unwrap())
    }];
    store.apply_refactor(making).await.unwrap();
    let mut undoing = emptying(&store, 3, ("web", "spare"), &["made"]).await;
    undoing.record.content.moves.clear();
    undoing.record.content.undoes = Some(refactor_id(2));
    assert_eq!(removed_by(&store, undoing).await, ["made"]);
}

/// As a reference is not forgotten: a policy is lowered by those who may.
pub async fn a_group_keeps_a_policy_that_the_caller_may_not_lower(store: Engine) {
    for name in ["rg", "web"] {
        with_group(&store, name).await;
    }
    map(&store, 1, "a", "x", true).await;
    for (name, policy) in [("rg", PlanPolicy::Required), ("web", PlanPolicy::Approved)] {
        let strict = GroupUpdate {
            plan_policy: Some(policy),
            ..GroupUpdate::default()
        };
        let (id, any) = (group(name), Precondition::NONE);
        let update = store.update_resource_group(&id, strict, &any, at(9));
        update.await.unwrap();
    }
    let mut new = emptying(&store, 1, ("rg", "web"), &["rg"]).await;
    new.keeps_plan_policy = true;
    assert_eq!(removed_by(&store, new).await, [""; 0]);
    let mut back = emptying(&store, 2, ("web", "rg"), &["web"]).await;
    back.keeps_plan_policy = false;
    assert_eq!(removed_by(&store, back).await, ["web"]);
}

/// Neither rights nor the register of leftovers come back with the group.
pub async fn a_group_with_which_something_is_lost_stays(store: Engine) {
    for name in ["rg", "web"] {
        with_group(&store, name).await;
    }
    map(&store, 1, "a", "x", true).await;
    let assignment = RoleAssignmentId::new("local", "one").unwrap();
    let scopes = vec![ucp_access::Scope::group(&group("RG"))];
    let new = new_assignment(assignment.clone(), Role::Reader, scopes);
    let given = store
        .put_role_assignment(new, None, &[], at(1))
        .await
        .unwrap();
    let there = emptying(&store, 1, ("rg", "web"), &["rg"]).await;
    assert_eq!(removed_by(&store, there).await, [""; 0]);
    let still = store.get_role_assignment(&assignment).await.unwrap();
    assert_eq!(still.as_ref(), Some(&given));
    let is_deleted = store.delete_role_assignment(&given).await.unwrap();
    assert!(is_deleted);

    // Not even what is not ours.
    leave(&store, 2, "b", "y", Some("z"), LeftoverReason::Salvage).await;
    forget_for_good(&store, "b").await;
    let back = emptying(&store, 2, ("web", "rg"), &[]).await;
    store.apply_refactor(back).await.unwrap();
    let there = emptying(&store, 3, ("rg", "web"), &["rg"]).await;
    assert_eq!(removed_by(&store, there).await, [""; 0]);
    let left = LeftoverId {
        register: Register::Group(group("rg")),
        name: operation_id(2),
    };
    let correlation = correlation();
    let forgotten = store.forget_leftover(&left, "ann", &correlation, at(40));
    forgotten.await.unwrap();

    let back = emptying(&store, 4, ("web", "rg"), &[]).await;
    store.apply_refactor(back).await.unwrap();
    let there = emptying(&store, 5, ("rg", "web"), &["rg"]).await;
    assert_eq!(removed_by(&store, there).await, ["rg"]);
}

/// Releases the reference and forgets it.
async fn forget_for_good(store: &Engine, name: &str) {
    let released = ReferenceUpdate {
        owned: Some(false),
        ..ReferenceUpdate::default()
    };
    let (id, correlation) = (alias(name), correlation());
    let update = store.update_reference(&id, released, "ann", &correlation, at(30));
    update.await.unwrap();
    forget(store, name).await.unwrap();
}
