//! Role assignments.

use tokio::task::JoinSet;
use ucp_access::{GrantChange, Role, Scope, Subject};
use ucp_model::RoleAssignmentId;
use ucp_model::operation::group::Task;
use ucp_store::{
    AuditPlace, Error, GroupDeletion, NewRoleAssignment, Precondition, RoleAssignment,
};

use super::fixture::*;

fn id(name: &str) -> RoleAssignmentId {
    RoleAssignmentId::new("local", name).unwrap()
}

fn scopes(texts: &[&str]) -> Vec<Scope> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn reader(name: &str) -> NewRoleAssignment {
    let scopes = scopes(&["/planes/aws/aws/accounts/1", "/"]);
    new_assignment(id(name), Role::Reader, scopes)
}

async fn create(store: &Engine, new: NewRoleAssignment) -> RoleAssignment {
    store
        .put_role_assignment(new, None, &[], at(1))
        .await
        .unwrap()
}

async fn stored(store: &Engine, name: &str) -> Option<RoleAssignment> {
    store.get_role_assignment(&id(name)).await.unwrap()
}

/// A role assignment is read as written. A replacement keeps the id and the creation time.
pub async fn a_role_assignment_is_remembered(store: Engine) {
    assert_eq!(stored(&store, "Bob").await, None);
    let new = reader("Bob");
    let first = create(&store, new.clone()).await;
    let expected = RoleAssignment {
        id: new.id,
        location: new.location,
        tags: new.tags,
        body: new.body,
        created_at: at(1),
        updated_at: at(1),
        revision: 1,
    };
    assert_eq!(first, expected);
    assert_eq!(stored(&store, "bOB").await.as_ref(), Some(&first));

    let mut new = new_assignment(id("bob"), Role::Owner, scopes(&["/planes/aws/aws"]));
    new.body.grant.who = Subject::Group("é\"team".to_owned());
    new.body.modified_by = "carol".to_owned();
    let put = store.put_role_assignment(new.clone(), Some(&first), &[], at(2));
    let second = put.await.unwrap();
    let expected = RoleAssignment {
        body: new.body,
        updated_at: at(2),
        revision: 2,
        ..first
    };
    assert_eq!(second, expected);
    assert_eq!(stored(&store, "bob").await.as_ref(), Some(&expected));
    assert!(store.delete_role_assignment(&expected).await.unwrap());
    assert_eq!(stored(&store, "bob").await, None);
}

/// What has changed since it was judged is neither replaced nor removed, even if its ETag is the same.
pub async fn a_role_assignment_is_written_only_as_it_was_judged(store: Engine) {
    let first = create(&store, reader("a")).await;
    let owner = new_assignment(id("a"), Role::Owner, scopes(&["/"]));
    refused!(
        store.put_role_assignment(owner.clone(), None, &[], at(2)),
        Error::PreconditionFailed
    );
    let mut twin = first.clone();
    twin.body.grant.scopes = scopes(&["/planes/aws/aws"]);
    assert_eq!(twin.etag(), first.etag());
    refused!(
        store.put_role_assignment(owner.clone(), Some(&twin), &[], at(2)),
        Error::PreconditionFailed
    );
    refused!(
        store.delete_role_assignment(&twin),
        Error::PreconditionFailed
    );
    assert_eq!(stored(&store, "a").await.as_ref(), Some(&first));
    assert!(store.delete_role_assignment(&first).await.unwrap());
    assert!(!store.delete_role_assignment(&first).await.unwrap());
    refused!(
        store.put_role_assignment(owner, Some(&first), &[], at(2)),
        Error::PreconditionFailed
    );
    assert_eq!(stored(&store, "a").await, None);
}

/// Pages hold those of a plane, or of all, in the order of their keys.
pub async fn role_assignments_are_listed_by_page(store: Engine) {
    for name in ["b", "A", "c", "2"] {
        create(&store, reader(name)).await;
    }
    for plane in ["other", "local-2"] {
        let elsewhere = RoleAssignmentId::new(plane, "b").unwrap();
        let new = NewRoleAssignment {
            id: elsewhere,
            ..reader("b")
        };
        create(&store, new).await;
    }
    let page = async |plane: Option<&str>, after: Option<&RoleAssignmentId>, limit| -> Vec<_> {
        let page = store.list_role_assignments(plane, after, limit).await;
        let page = page.unwrap().into_iter();
        page.map(|listed| format!("{} {}", listed.id.plane, listed.id.name))
            .collect()
    };
    assert_eq!(page(Some("LOCAL"), None, 2).await, ["local 2", "local A"]);
    assert_eq!(
        page(Some("local"), Some(&id("a")), 9).await,
        ["local b", "local c"]
    );
    assert_eq!(page(Some("loca"), None, 9).await, [""; 0]);
    let all = page(None, None, 9).await;
    assert_eq!(all.len(), 6);
    let rest = page(None, Some(&id("B")), 9).await;
    assert_eq!(rest, ["local c", "other b"]);
    assert_eq!(rest, all[4..]);
}

/// Of concurrent first writes, one succeeds.
pub async fn first_role_assignments_of_a_name_come_to_one(store: Engine) {
    let mut tasks = JoinSet::new();
    for second in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            let put = store.put_role_assignment(reader("a"), None, &[], at(second));
            match put.await {
                Ok(_) => true,
                Err(Error::PreconditionFailed) => false,
                Err(other) => panic!("{other:?}"),
            }
        });
    }
    let made = tasks.join_all().await;
    assert_eq!(made.into_iter().filter(|made| *made).count(), 1);
    assert_eq!(stored(&store, "a").await.unwrap().revision, 1);
}

/// Whoever creates a group of that name later has not given them. What is over other scopes stays.
pub async fn a_removed_group_takes_the_roles_over_it(store: Engine) {
    with_group(&store, "rg").await;
    let group = "/planes/radius/local/resourceGroups/RG";
    let above = "/planes/radius/local";
    let beside = "/planes/radius/local/resourcegroups/rg2";
    for (name, given) in [
        ("only", &[group][..]),
        ("both", &[beside, group]),
        ("above", &[above]),
    ] {
        create(&store, new_assignment(id(name), Role::Owner, scopes(given))).await;
    }
    let untouched = stored(&store, "above").await;
    let before = [stored(&store, "both").await, stored(&store, "only").await];
    let deletion = on_group(1, "rg", Task::Delete);
    let (caller, now) = (deletion.caller.clone(), deletion.accepted_at);
    let correlation_id = deletion.correlation_id.clone();
    let deleted = store.delete_resource_group(deletion, &Precondition::NONE, None);
    assert_eq!(deleted.await.unwrap(), GroupDeletion::Removed);
    assert_eq!(stored(&store, "only").await, None);
    assert_eq!(stored(&store, "above").await, untouched);
    let both = stored(&store, "both").await.unwrap();
    assert_eq!(both.body.grant.scopes, scopes(&[beside]));
    assert_eq!(both.body.created_by, "alice");
    assert_eq!(both.body.modified_by, caller);
    assert_eq!((both.revision, both.updated_at), (2, now));

    // The audit says what is gone.
    let mut audited = store
        .list_audit_events(at(0), AuditPlace::END, 9)
        .await
        .unwrap();
    audited.reverse();
    let after = [Some(both), None];
    assert_eq!(audited.len(), 2);
    for (told, (before, after)) in audited.iter().zip(before.iter().zip(&after)) {
        let (event, before) = (&told.event, before.as_ref().unwrap());
        let verb = if after.is_some() { "write" } else { "delete" };
        assert_eq!(
            event.action,
            format!("System.Resources/roleAssignments/{verb}")
        );
        assert_eq!((&event.caller, event.at), (&caller, now));
        assert_eq!(event.id, before.id.to_string());
        assert_eq!(event.correlation_id, correlation_id);
        assert_eq!(event.operation, None, "it was removed at once");
        let change = GrantChange {
            before: Some(before.body.grant.clone()),
            after: after.as_ref().map(|after| after.body.grant.clone()),
        };
        assert_eq!(event.change, Some(change));
    }
}

/// Whoever gave a role over it may have lost their own with the group.
pub async fn a_role_over_a_group_that_has_gone_is_not_given(store: Engine) {
    with_group(&store, "rg").await;
    let group = store.get_resource_group(&group("rg")).await.unwrap();
    let groups = std::slice::from_ref(&group);
    let over = scopes(&["/planes/radius/local/resourcegroups/rg"]);
    let new = || new_assignment(id("bob"), Role::Reader, over.clone());
    let put = store.put_role_assignment(new(), None, groups, at(1)).await;
    let given = put.unwrap();
    assert!(store.delete_role_assignment(&given).await.unwrap());

    let deletion = on_group(1, "rg", Task::Delete);
    let deleted = store.delete_resource_group(deletion, &Precondition::NONE, None);
    assert_eq!(deleted.await.unwrap(), GroupDeletion::Removed);
    refused!(
        store.put_role_assignment(new(), None, groups, at(2)),
        Error::PreconditionFailed
    );
    // Another one of that name.
    let again = put_group(group.id.clone(), "global", "");
    let again = store.put_resource_group(again, &Precondition::NONE, at(77));
    again.await.unwrap();
    refused!(
        store.put_role_assignment(new(), None, groups, at(78)),
        Error::PreconditionFailed
    );
    assert_eq!(stored(&store, "bob").await, None);
}
