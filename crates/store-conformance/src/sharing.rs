//! Deletions of AWS resources that other references stand for.

use ucp_model::operation::group::Task;
use ucp_model::operation::{
    Call, ReferenceChange, ReplacementPolicy, Replacing, State, WhenShared,
};
use ucp_model::{
    Failure, Identifier, PlanPolicy, Reference, ReferenceId, Scope, Setback, TypeName,
};
use ucp_store::{Error, FinishOperation, GroupUpdate, NewOperation, Precondition, Release};

use super::fixture::{
    Engine, TERM, accept, accept_and_claim, alias, alias_in, applied, at, baseline, claim_one,
    correlation, delete, deleted, end, failed, finish, group, intent, map, named, on_group,
    operation, operation_id, put, refused, resource_work, stepped, with, with_group,
};
use super::resolving::{losing_track, unknown_create};
use super::respelling::respelled;

/// The alias `a` owns `x`, for which `b` stands too, and `c` in another group.
async fn shared(store: &Engine) {
    with_group(store, "rg").await;
    with_group(store, "other").await;
    map(store, 1, "a", "x", true).await;
    map(store, 2, "b", "x", false).await;
    let elsewhere = with(put(3, "c"), |new| {
        new.reference = Some(alias_in("other", "c"))
    });
    let claimed = accept_and_claim(store, elsewhere).await;
    finish(
        store,
        &claimed.lease,
        applied(&claimed.operation, "x", false),
    )
    .await;
}

fn delete_when_shared(number: u64, name: &str, when: WhenShared) -> NewOperation {
    with(delete(number, name), |new| new.when_shared = when)
}

#[track_caller]
fn others(refused: Error) -> Vec<ReferenceId> {
    match refused {
        Error::Shared(mut others) => {
            others.sort_unstable_by_key(ReferenceId::key);
            others
        }
        other => panic!("{other:?}"),
    }
}

async fn forget(store: &Engine, id: &ReferenceId) {
    let correlation = put(0, "-").correlation_id;
    let forgotten = store.forget_reference(id, false, "caller", &correlation, at(5));
    forgotten.await.unwrap();
}

/// It says which references stand for the resource too. Once they are gone, nothing is in the way.
pub async fn a_delete_is_refused_while_others_stand_for_the_resource(store: Engine) {
    shared(&store).await;
    let elsewhere = alias_in("other", "c");
    for (when, expected) in [
        (WhenShared::Refuse, vec![elsewhere.clone(), alias("b")]),
        (WhenShared::RefuseElsewhere, vec![elsewhere.clone()]),
    ] {
        let refused = store
            .accept_operation(delete_when_shared(4, "a", when))
            .await;
        assert_eq!(others(refused.unwrap_err()), expected, "{when:?}");
    }
    let after = store.get_operation(operation_id(4)).await.unwrap();
    assert_eq!(after, None);
    forget(&store, &elsewhere).await;
    let elsewhere = delete_when_shared(4, "a", WhenShared::RefuseElsewhere);
    accept(&store, elsewhere).await;
}

/// The declarations of references that come meanwhile may be others. A reference that stands is not judged again.
pub async fn a_second_reference_is_compared_with_all_others(store: Engine) {
    shared(&store).await;
    let comparing = |number, name, count| {
        with(named(put(number, name), "x"), |new| {
            new.compared_with = count
        })
    };
    for count in 0..3 {
        let refused = store.accept_operation(comparing(4, "d", count)).await;
        assert!(
            matches!(refused, Err(Error::PreconditionFailed)),
            "{refused:?}"
        );
    }
    assert_eq!(store.get_reference(&alias("d")).await.unwrap(), None);
    let again = accept_and_claim(&store, comparing(5, "a", 0)).await;
    finish(&store, &again.lease, applied(&again.operation, "x", true)).await;
    accept(&store, comparing(6, "d", 3)).await;
}

/// It is shared, and busy, in each of them.
pub async fn what_has_no_region_is_one_resource_in_all(store: Engine) {
    with_group(&store, "rg").await;
    let role: TypeName = "AWS::IAM::Role".parse().unwrap();
    let id = |name| ReferenceId::new(group("rg"), role.clone(), name).unwrap();
    let of_role = |new, name, region| {
        with(new, |new| {
            new.scope = Scope::new("aws", "123456789012", region).unwrap();
            new.type_name = role.clone();
            new.reference = Some(id(name));
        })
    };
    for (number, name, region) in [(1, "a", "us-west-2"), (2, "b", "eu-west-1")] {
        let claimed = accept_and_claim(&store, of_role(put(number, name), name, region)).await;
        let end = applied(&claimed.operation, "x", number == 1);
        finish(&store, &claimed.lease, end).await;
    }
    let deleted = of_role(
        delete_when_shared(3, "a", WhenShared::Refuse),
        "a",
        "us-west-2",
    );
    let refused = store.accept_operation(deleted).await;
    assert_eq!(others(refused.unwrap_err()), [id("b")]);
    accept(&store, of_role(put(4, "b"), "b", "eu-west-1")).await;
    let meanwhile = store.accept_operation(of_role(put(5, "a"), "a", "us-west-2"));
    refused!(meanwhile, Error::Busy(busy) if busy == operation_id(4));
}

/// Who names the resource means it.
pub async fn what_is_named_is_deleted_for_all(store: Engine) {
    shared(&store).await;
    accept(&store, delete_when_shared(4, "a", WhenShared::Delete)).await;
}

/// The other reference stays, and nothing is deleted.
pub async fn what_is_shared_or_not_owned_is_forgotten_by_an_order(store: Engine) {
    shared(&store).await;
    let forgetting = |number, name, when| {
        with(delete(number, name), |new| {
            new.when_shared = when;
            new.forgets_unowned = true;
        })
    };
    // What others stand for is in nobody's way if nothing is deleted.
    for (number, name, when) in [(4, "b", WhenShared::Refuse), (5, "a", WhenShared::Forget)] {
        let claimed = accept_and_claim(&store, forgetting(number, name, when)).await;
        assert!(resource_work(&claimed.operation).forgets, "{name}");
        finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
        assert_eq!(store.get_reference(&alias(name)).await.unwrap(), None);
        let other = store.get_reference(&alias_in("other", "c")).await.unwrap();
        assert!(other.is_some(), "{name}");
    }
    // What another group protects is left alone too.
    map(&store, 9, "e", "x", false).await;
    let protects = GroupUpdate {
        plan_policy: Some(PlanPolicy::Approved),
        ..GroupUpdate::default()
    };
    let other = group("other");
    let update = store.update_resource_group(&other, protects, &Precondition::NONE, at(8));
    update.await.unwrap();
    let protected = with(forgetting(10, "e", WhenShared::Refuse), |new| {
        new.identifier = None;
    });
    let claimed = accept_and_claim(&store, protected).await;
    assert!(resource_work(&claimed.operation).forgets);
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;

    map(&store, 7, "d", "y", true).await;
    let last = forgetting(8, "d", WhenShared::Forget);
    let claimed = accept_and_claim(&store, last).await;
    assert!(
        !resource_work(&claimed.operation).forgets,
        "it is owned, and nobody else's"
    );
    let kept = ReferenceChange::Untouched;
    finish(
        &store,
        &claimed.lease,
        end(&claimed.operation, failed(), kept, Some("y")),
    )
    .await;
    // Unless that is what is asked for.
    let given_up = with(delete(11, "d"), |new| new.forgets = true);
    let claimed = accept_and_claim(&store, given_up).await;
    assert!(resource_work(&claimed.operation).forgets);
}

/// So that it does not take from them what it replaces. They cannot change while it holds the resource.
pub async fn a_put_that_may_replace_knows_who_else_stands_for_the_resource(store: Engine) {
    shared(&store).await;
    let replacing = |number, name| {
        with(put(number, name), |new| {
            new.options.replacement_policy = ReplacementPolicy::CreateBeforeDelete;
        })
    };
    for (new, is_told) in [
        (put(4, "a"), false),
        // It does not own the resource, so it does not delete it.
        (replacing(5, "b"), false),
        (replacing(6, "a"), true),
    ] {
        let number = new.id;
        let claimed = accept_and_claim(&store, new).await;
        let mut told = resource_work(&claimed.operation).shared_with.clone();
        told.sort_unstable_by_key(ReferenceId::key);
        let expected = if is_told {
            vec![alias_in("other", "c"), alias("b")]
        } else {
            Vec::new()
        };
        assert_eq!(told, expected, "{number}");
        finish(
            &store,
            &claimed.lease,
            applied(&claimed.operation, "x", true),
        )
        .await;
    }
}

/// The references of the group go with it, and what another group refers to stays.
pub async fn a_group_is_not_deleted_while_other_groups_stand_for_what_it_owns(store: Engine) {
    shared(&store).await;
    let deletion = |number, name| on_group(number, name, Task::Delete);
    let none = &Precondition::NONE;
    let refused = store
        .delete_resource_group(deletion(4, "rg"), none, None)
        .await;
    assert_eq!(others(refused.unwrap_err()), [alias_in("other", "c")]);
    forget(&store, &alias_in("other", "c")).await;
    store
        .delete_resource_group(deletion(6, "rg"), none, None)
        .await
        .unwrap();
    let parent = claim_one(&store, at(12)).await;
    let child = NewOperation {
        parent: Some(operation_id(6)),
        accepted_at: at(12),
        ..delete_when_shared(7, "a", WhenShared::RefuseElsewhere)
    };
    store.accept_child(&parent.lease, child).await.unwrap();
}

/// It only loses its references.
pub async fn a_group_is_deleted_that_owns_nothing_of_what_others_stand_for(store: Engine) {
    shared(&store).await;
    let deletion = on_group(4, "other", Task::Delete);
    let deleted = store.delete_resource_group(deletion, &Precondition::NONE, None);
    deleted.await.unwrap();
}

/// The alias `a` owns `MyDB`, and `c` in another group stands for what AWS calls `mydb`.
async fn respelled_elsewhere(store: &Engine) {
    with_group(store, "rg").await;
    with_group(store, "other").await;
    map(store, 1, "a", "MyDB", true).await;
    let elsewhere = with(put(2, "c"), |new| {
        new.reference = Some(alias_in("other", "c"))
    });
    let claimed = accept_and_claim(store, elsewhere).await;
    finish(
        store,
        &claimed.lease,
        applied(&claimed.operation, "mydb", false),
    )
    .await;
}

/// AWS tells after the acceptance which resource it is.
pub async fn a_delete_of_a_respelled_resource_is_refused_before_it_is_sent(store: Engine) {
    respelled_elsewhere(&store).await;
    let claimed = accept_and_claim(&store, delete_when_shared(3, "a", WhenShared::Refuse)).await;
    let step = stepped(&respelled(&claimed.operation), |work| {
        let mydb = Identifier::new("mydb");
        work.state = State::Submitting(intent(Call::Delete(mydb), None));
    });
    let refused = store
        .commit_step(&claimed.lease, &step, None, at(3), TERM)
        .await;
    assert_eq!(others(refused.unwrap_err()), [alias_in("other", "c")]);
    assert_eq!(operation(&store, 3).await, claimed.operation);
}

/// What a failed create has left is no one's until another reference comes to stand for it.
pub async fn what_a_failed_create_has_left_stays_while_others_stand_for_it(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "other").await;
    map(&store, 1, "a", "x", true).await;
    let new = with(put(2, "a"), |new| {
        new.options.replacement_policy = ReplacementPolicy::CreateBeforeDelete;
    });
    let claimed = accept_and_claim(&store, new).await;
    let elsewhere = with(named(put(3, "c"), "y"), |new| {
        new.reference = Some(alias_in("other", "c"))
    });
    accept(&store, elsewhere).await;
    let undoing = stepped(&claimed.operation, |work| {
        work.identifier = Some(Identifier::new("y"));
        work.created = true;
        work.replacing = Some(Replacing::Undoing {
            old: Identifier::new("x"),
            setback: Setback::Failed(Failure::new("NotStabilized", "later")),
            tries: 0,
            is_proven: true,
        });
        work.state = State::Submitting(intent(Call::Delete(Identifier::new("y")), None));
    });
    let undo = || store.commit_step(&claimed.lease, &undoing, None, at(3), TERM);
    let refused = undo().await;
    assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
    let others_own = claim_one(&store, at(3)).await;
    let standing = applied(&others_own.operation, "y", false);
    finish(&store, &others_own.lease, standing).await;
    assert_eq!(others(undo().await.unwrap_err()), [alias_in("other", "c")]);
    forget(&store, &alias_in("other", "c")).await;
    undo().await.unwrap();
    // It is locked until it is gone.
    let again = with(named(put(4, "d"), "y"), |new| {
        new.reference = Some(alias_in("other", "d"))
    });
    let busy = store.accept_operation(again).await;
    assert!(matches!(busy, Err(Error::Busy(_))), "{busy:?}");
}

/// In either order. A put that only updates it takes nothing from anybody.
pub async fn a_replacement_of_a_respelled_resource_is_refused_before_it_is_sent(store: Engine) {
    respelled_elsewhere(&store).await;
    let new = with(put(3, "a"), |new| {
        new.options.replacement_policy = ReplacementPolicy::CreateBeforeDelete;
    });
    let claimed = accept_and_claim(&store, new).await;
    assert!(resource_work(&claimed.operation).shared_with.is_empty());
    let mydb = || Identifier::new("mydb");
    let beside = Replacing::NewFirst {
        old: mydb(),
        is_named: false,
    };
    for (call, replacing) in [
        (Call::Delete(mydb()), Replacing::OldFirst),
        (Call::Create, beside),
    ] {
        let step = stepped(&respelled(&claimed.operation), |work| {
            work.created = call == Call::Create;
            work.replacing = Some(replacing);
            work.state = State::Submitting(intent(call, None));
        });
        let refused = store
            .commit_step(&claimed.lease, &step, None, at(3), TERM)
            .await;
        assert_eq!(others(refused.unwrap_err()), [alias_in("other", "c")]);
        assert_eq!(operation(&store, 3).await, claimed.operation);
    }
    let step = stepped(&respelled(&claimed.operation), |work| {
        work.state = State::Submitting(intent(Call::Update(mydb()), None));
    });
    let step = store.commit_step(&claimed.lease, &step, None, at(3), TERM);
    step.await.unwrap();
}

fn releasing(reference: &Reference, heir: Option<Reference>) -> Release {
    Release {
        reference: reference.clone(),
        keeps_plan_policy: false,
        heir,
        caller: "ann".to_owned(),
        correlation_id: correlation(),
        at: at(20),
    }
}

/// The heir comes to own it, if it was put and stands for it, and its group is not being deleted.
pub async fn what_an_operation_gives_up_is_passed_on(store: Engine) {
    shared(&store).await;
    let heir = alias_in("other", "c");
    let give_up = |number, name| {
        with(delete(number, name), |new| {
            new.when_shared = WhenShared::Forget;
            new.heir = Some(heir.clone());
        })
    };
    let owns = async |id: &ReferenceId| store.get_reference(id).await.unwrap().unwrap().owned;
    let baseline = baseline("declared");
    let put_again = with(put(4, "c"), |new| new.reference = Some(heir.clone()));
    let claimed = accept_and_claim(&store, put_again).await;
    let applied = FinishOperation {
        baseline: Some(baseline.clone()),
        ..applied(&claimed.operation, "x", false)
    };
    finish(&store, &claimed.lease, applied).await;
    // What it does not own it cannot pass on.
    let claimed = accept_and_claim(&store, give_up(5, "b")).await;
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    assert!(!owns(&heir).await);
    let events = async || store.list_events(&heir).await.unwrap().len();
    let before = events().await;
    let claimed = accept_and_claim(&store, give_up(6, "a")).await;
    assert_eq!(resource_work(&claimed.operation).warnings.len(), 1);
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    assert_eq!(store.get_reference(&alias("a")).await.unwrap(), None);
    assert!(owns(&heir).await);
    assert_eq!(events().await, before + 1);
}

/// It would be deleted with the group.
pub async fn nobody_inherits_of_an_operation_whose_group_is_being_deleted(store: Engine) {
    shared(&store).await;
    let heir = alias_in("other", "c");
    let put_again = with(put(4, "c"), |new| new.reference = Some(heir.clone()));
    let claimed = accept_and_claim(&store, put_again).await;
    let applied = FinishOperation {
        baseline: Some(baseline("declared")),
        ..applied(&claimed.operation, "x", false)
    };
    finish(&store, &claimed.lease, applied).await;
    let give_up = with(delete(5, "a"), |new| {
        new.when_shared = WhenShared::Forget;
        new.heir = Some(heir.clone());
    });
    let claimed = accept_and_claim(&store, give_up).await;
    let deletion = on_group(6, "other", Task::Delete);
    let always = Precondition::default();
    let accepted = store.delete_resource_group(deletion, &always, None).await;
    accepted.unwrap();
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    let heir = store.get_reference(&heir).await.unwrap().unwrap();
    assert!(!heir.owned);
}

/// It is left alone, and the heir owns it, if it is as it was read and stands for it.
pub async fn a_reference_is_given_up_to_another_one(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    map(&store, 2, "b", "x", false).await;
    map(&store, 3, "c", "y", false).await;
    let read = async |name: &str| store.get_reference(&alias(name)).await.unwrap();
    let (a, b, c) = (
        read("a").await.unwrap(),
        read("b").await.unwrap(),
        read("c").await.unwrap(),
    );
    let targets = [a.target().unwrap().key()];
    let found = store.references_to(&targets, 10).await.unwrap();
    assert_eq!(found, [a.clone(), b.clone()]);
    assert_eq!(store.references_to(&targets, 1).await.unwrap().len(), 1);
    assert!(store.references_to(&[], 10).await.unwrap().is_empty());

    let older = Reference {
        revision: b.revision - 1,
        ..b.clone()
    };
    // What its create has declared is not what was put.
    let claimed = accept_and_claim(&store, put(5, "d")).await;
    let lost = losing_track(&claimed.operation, Some("x"), unknown_create());
    let lost = FinishOperation {
        baseline: Some(baseline("x")),
        ..lost
    };
    finish(&store, &claimed.lease, lost).await;
    let undecided = read("d").await.unwrap();
    for heir in [c, older, undecided] {
        let refused = store.release_reference(releasing(&a, Some(heir))).await;
        assert!(
            matches!(refused, Err(Error::PreconditionFailed)),
            "{refused:?}"
        );
    }
    let before = Reference {
        revision: a.revision - 1,
        ..a.clone()
    };
    let refused = store.release_reference(releasing(&before, None)).await;
    assert!(
        matches!(refused, Err(Error::PreconditionFailed)),
        "{refused:?}"
    );
    assert_eq!(read("a").await, Some(a.clone()));
    let released = store
        .release_reference(releasing(&a, Some(b.clone())))
        .await;
    released.unwrap();
    assert_eq!(read("a").await, None);
    let heir = read("b").await.unwrap();
    assert!(heir.owned && heir.told_to_own);
    assert_eq!(heir.revision, b.revision + 1);
    let gone = store.release_reference(releasing(&a, None)).await;
    assert!(matches!(gone, Err(Error::NoSuchReference)), "{gone:?}");
    // What an operation works on is not given up.
    store.accept_operation(put(4, "b")).await.unwrap();
    let busy = store.release_reference(releasing(&heir, None)).await;
    assert!(matches!(busy, Err(Error::Busy(_))), "{busy:?}");
}

/// A deletion of its group would take along what the heir comes to own.
pub async fn nobody_inherits_whose_group_is_being_deleted(store: Engine) {
    shared(&store).await;
    let read = async |id: &ReferenceId| store.get_reference(id).await.unwrap().unwrap();
    let (a, c) = (read(&alias("a")).await, read(&alias_in("other", "c")).await);
    let deletion = on_group(8, "other", Task::Delete);
    let deletion = store.delete_resource_group(deletion, &Precondition::NONE, None);
    deletion.await.unwrap();
    let refused = store.release_reference(releasing(&a, Some(c))).await;
    assert!(
        matches!(refused, Err(Error::PreconditionFailed)),
        "{refused:?}"
    );
    assert_eq!(read(&alias("a")).await, a);
}
