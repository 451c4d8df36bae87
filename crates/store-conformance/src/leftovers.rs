//! The register of leftovers: what enters it, what leaves it, and who tries to settle it.

use std::time::Duration;

use ucp_model::operation::{Kind, ReferenceChange, Resolve};
use ucp_model::{
    Failure, Identifier, Leftover, LeftoverId, LeftoverReason, Lineage, NewLeftover, Operation,
    ProvisioningState, Register,
};
use ucp_store::{
    Error, FinishOperation, Forgotten, GroupDeletion, NewOperation, Precondition, Retried,
};

use super::fixture::*;

fn register() -> Register {
    Register::Group(group("rg"))
}

fn left(number: u64) -> LeftoverId {
    LeftoverId {
        register: register(),
        name: operation_id(number),
    }
}

fn leaving(end: FinishOperation, name: Option<&str>, reason: LeftoverReason) -> FinishOperation {
    let leftover = NewLeftover {
        identifier: name.and_then(identifier),
        reason,
        error: Some(Failure::new("DependencyViolation", "It has dependencies.")),
        create: None,
    };
    FinishOperation {
        leftover: Some(leftover),
        ..end
    }
}

/// A put under an alias that moves to the resource `new` and leaves `name`.
pub(super) async fn leave(
    store: &Engine,
    number: u64,
    alias: &str,
    new: &str,
    name: Option<&str>,
    reason: LeftoverReason,
) {
    let claimed = accept_and_claim(store, put(number, alias)).await;
    let end = applied(&claimed.operation, new, true);
    finish(store, &claimed.lease, leaving(end, name, reason)).await;
}

async fn leftovers(store: &Engine) -> Vec<Leftover> {
    let listed = store.list_leftovers(&register(), None, usize::MAX).await;
    listed.unwrap()
}

/// A delete of a leftover.
fn try_of(number: u64, name: &str) -> NewOperation {
    untracked(delete(number, "a"), name)
}

async fn retry(store: &Engine, id: &LeftoverId, number: u64, name: &str) -> Retried {
    let retried = store.retry_leftover(id, try_of(number, name)).await;
    retried.unwrap()
}

/// Claims what was accepted and ends it as a delete that fails.
async fn fail(store: &Engine, accepted: &Operation) {
    let claimed = claim_one(store, at(2)).await;
    assert_eq!(claimed.operation, *accepted);
    let name = resource_work(accepted).identifier.clone().unwrap();
    let name = Some(name.as_str());
    let end = end(accepted, failed(), ReferenceChange::Untouched, name);
    finish(store, &claimed.lease, end).await;
}

/// An end enters what it leaves, with all that is known of it.
pub async fn an_end_enters_what_it_leaves(store: Engine) {
    with_group(&store, "rg").await;
    leave(
        &store,
        1,
        "a",
        "new",
        Some("old"),
        LeftoverReason::Undeleted,
    )
    .await;
    let expected = Leftover {
        id: left(1),
        scope: scope(),
        type_name: type_name(),
        identifier: identifier("old"),
        reason: LeftoverReason::Undeleted,
        reference: Some(alias("a")),
        lineage: Some(Lineage::of(&alias("a"))),
        operation: operation_id(1),
        since: at(3),
        tries: 0,
        last_error: Some(Failure::new("DependencyViolation", "It has dependencies.")),
        next_try_at: at(63),
        create: None,
        abandoned: false,
    };
    let listed = leftovers(&store).await;
    let found = store.get_leftover(&left(1)).await.unwrap();
    assert_eq!(found, Some(expected.clone()));
    assert_eq!(listed, [expected]);
    assert_eq!(store.get_leftover(&left(2)).await.unwrap(), None);
    assert_eq!(store.count_leftovers(10).await.unwrap(), 1);
    assert_eq!(store.count_leftovers(0).await.unwrap(), 0);
}

/// Without a reference, an account and region has the register, whatever the plane's casing.
pub async fn what_no_group_has_is_entered_for_its_place(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "a"), "asked-for")).await;
    let end = end(
        &claimed.operation,
        failed(),
        ReferenceChange::Removed,
        Some("made"),
    );
    let end = leaving(end, Some("made"), LeftoverReason::Misnamed);
    finish(&store, &claimed.lease, end).await;
    let place = Register::Place(scope());
    let listed = store.list_leftovers(&place, None, 10).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].id.register, place);
    assert_eq!(listed[0].reference, None);
    refused!(
        store.list_leftovers(&register(), None, 10),
        Error::NoSuchGroup
    );
}

/// A register has one entry for each subject: the AWS resource, or the reference if the resource is not known.
pub async fn what_is_entered_again_keeps_its_name(store: Engine) {
    with_group(&store, "rg").await;
    leave(&store, 1, "a", "x", Some("old"), LeftoverReason::Salvage).await;
    let Retried::Accepted(tried) = retry(&store, &left(1), 2, "old").await else {
        panic!("it is tried");
    };
    fail(&store, &tried).await;
    leave(&store, 3, "b", "y", Some("old"), LeftoverReason::Undeleted).await;
    let listed = leftovers(&store).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0].id, left(1));
    assert_eq!(listed[0].since, at(3));
    assert_eq!(listed[0].operation, operation_id(3));
    assert_eq!(listed[0].reference, Some(alias("b")));
    assert_eq!(listed[0].reason, LeftoverReason::Undeleted);
    assert_eq!(listed[0].tries, 0);

    for (number, name) in [(4, "c"), (5, "c"), (6, "d")] {
        leave(
            &store,
            number,
            name,
            name,
            None,
            LeftoverReason::OutcomeUnknown,
        )
        .await;
    }
    let listed = leftovers(&store).await;
    let names: Vec<&LeftoverId> = listed.iter().map(|leftover| &leftover.id).collect();
    assert_eq!(names, [&left(1), &left(4), &left(5), &left(6)]);
}

/// What a reference stands for, in any group, is not left over.
pub async fn what_a_reference_stands_for_is_not_entered(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", false).await;
    leave(&store, 2, "b", "y", Some("x"), LeftoverReason::Undeleted).await;
    leave(&store, 3, "c", "z", Some("z"), LeftoverReason::Salvage).await;
    assert_eq!(leftovers(&store).await, []);
}

/// A delete that succeeds takes the resource out of every register, whoever asked for it.
pub async fn a_deleted_resource_is_no_longer_left_over(store: Engine) {
    with_group(&store, "rg").await;
    leave(&store, 1, "a", "x", Some("old"), LeftoverReason::Undeleted).await;
    leave(
        &store,
        2,
        "b",
        "y",
        Some("other"),
        LeftoverReason::Undeleted,
    )
    .await;
    let claimed = accept_and_claim(&store, try_of(3, "old")).await;
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    let listed = leftovers(&store).await;
    let names: Vec<&LeftoverId> = listed.iter().map(|leftover| &leftover.id).collect();
    assert_eq!(names, [&left(2)]);
}

/// A resource that an alias comes to stand for is not left over any more.
pub async fn a_referenced_resource_is_no_longer_left_over(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name) in [(1, "one"), (2, "two")] {
        let alias = format!("a{number}");
        leave(
            &store,
            number,
            &alias,
            &alias,
            Some(name),
            LeftoverReason::Undeleted,
        )
        .await;
    }
    let import = with(named(put(3, "b"), "one"), |new| new.kind = Kind::Import);
    let claimed = accept_and_claim(&store, import).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "one", false),
    )
    .await;
    assert_eq!(leftovers(&store).await.len(), 1);

    let reference = adopting(None, alias("c"), scope(), "two");
    let event =
        ucp_store::rules::adopted(Kind::Import, &reference, "caller", &correlation(), at(24));
    let basis = ucp_store::Basis::default();
    let adopted = store.adopt(ucp_store::Adoption {
        basis,
        reference,
        event,
    });
    assert!(adopted.await.unwrap());
    assert_eq!(leftovers(&store).await, []);
}

/// A delete that fails is a try: the entry says why, and when the next one is.
pub async fn a_failed_delete_is_a_try(store: Engine) {
    with_group(&store, "rg").await;
    leave(&store, 1, "a", "x", Some("old"), LeftoverReason::Undeleted).await;
    for (tries, number) in [(1, 2), (2, 3)] {
        let Retried::Accepted(accepted) = retry(&store, &left(1), number, "old").await else {
            panic!("it is tried");
        };
        fail(&store, &accepted).await;
        let entry = store.get_leftover(&left(1)).await.unwrap().unwrap();
        assert_eq!(entry.tries, tries);
        let why = Failure::new("NotStabilized", "It did not stabilise.");
        assert_eq!(entry.last_error, Some(why));
        assert_eq!(entry.next_try_at, Leftover::tried_again_at(tries, at(3)));
        assert_eq!(entry.operation, operation_id(1));
    }
}

/// What is due is claimed once, and again later.
pub async fn due_leftovers_are_claimed_once(store: Engine) {
    with_group(&store, "rg").await;
    for number in 1..=3 {
        let name = format!("a{number}");
        let old = format!("old{number}");
        leave(
            &store,
            number,
            &name,
            &name,
            Some(&old),
            LeftoverReason::Undeleted,
        )
        .await;
    }
    // Nobody could look at it.
    leave(&store, 4, "a4", "a4", None, LeftoverReason::Salvage).await;
    // It may be somebody else's, and may be gone.
    leave(&store, 5, "a5", "a5", Some("old5"), LeftoverReason::Salvage).await;
    let claim = async |now, limit| {
        let until = at(now).after(Duration::from_secs(100));
        let claimed = store
            .claim_due_leftovers(at(now), until, limit)
            .await
            .unwrap();
        claimed
            .into_iter()
            .map(|leftover| leftover.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(claim(62, 10).await, []);
    assert_eq!(claim(63, 2).await, [left(1), left(2)]);
    assert_eq!(claim(65, 2).await, [left(3), left(5)]);
    assert_eq!(claim(162, 10).await, []);
    assert_eq!(claim(165, 10).await, [left(1), left(2), left(3), left(5)]);
}

/// Nothing is tried that a reference stands for, that somebody works on, or that is not left over any more.
pub async fn only_what_is_left_over_is_tried(store: Engine) {
    with_group(&store, "rg").await;
    leave(&store, 1, "a", "x", Some("old"), LeftoverReason::Undeleted).await;
    assert_eq!(retry(&store, &left(9), 2, "old").await, Retried::Gone);
    assert_eq!(store.get_operation(operation_id(2)).await.unwrap(), None);

    accept(&store, try_of(3, "old")).await;
    refused!(
        store.retry_leftover(&left(1), try_of(4, "old")),
        Error::Busy(id) if id == operation_id(3)
    );
    let claimed = claim_one(&store, at(2)).await;
    let end = end(
        &claimed.operation,
        failed(),
        ReferenceChange::Untouched,
        Some("old"),
    );
    finish(&store, &claimed.lease, end).await;

    // AWS gives the resource to a put while a try works on it.
    let claimed = accept_and_claim(&store, put(5, "b")).await;
    let Retried::Accepted(accepted) = retry(&store, &left(1), 7, "old").await else {
        panic!("it is tried");
    };
    let step = naming(&claimed.operation, "old");
    let lease = store
        .commit_step(&claimed.lease, &step, None, at(2), TERM)
        .await
        .unwrap();
    fail(&store, &accepted).await;
    assert_eq!(retry(&store, &left(1), 6, "old").await, Retried::Referenced);
    assert_eq!(leftovers(&store).await, []);
    finish(&store, &lease, applied(&step, "old", true)).await;
}

/// Somebody may say that nothing is left. The history remembers it.
pub async fn a_leftover_is_forgotten_when_told(store: Engine) {
    with_group(&store, "rg").await;
    leave(&store, 1, "a", "x", Some("old"), LeftoverReason::Undeleted).await;
    let forget = async || {
        let (id, correlation) = (left(1), correlation());
        let forgotten = store.forget_leftover(&id, "somebody", &correlation, at(7));
        forgotten.await.unwrap()
    };
    assert!(forget().await);
    assert!(!forget().await);
    assert_eq!(leftovers(&store).await, []);
    let events = store.list_events(&alias("a")).await.unwrap();
    let event = events.last().unwrap();
    assert_eq!(event.kind, "forgetLeftover");
    assert_eq!((event.at, event.caller.as_str()), (at(7), "somebody"));
    assert!(event.resource.as_ref().unwrap().ends_with("/LogGroup/old"));
}

/// Leftovers are read page by page, each group its own.
pub async fn leftovers_are_listed_by_page(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "rg-1").await;
    for number in 1..=3 {
        let name = format!("a{number}");
        leave(
            &store,
            number,
            &name,
            &name,
            Some(&format!("old{number}")),
            LeftoverReason::Salvage,
        )
        .await;
    }
    let page = async |after: Option<u64>, limit| {
        let after = after.map(operation_id);
        let listed = store
            .list_leftovers(&register(), after, limit)
            .await
            .unwrap();
        listed
            .into_iter()
            .map(|leftover| leftover.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(page(None, 2).await, [left(1), left(2)]);
    assert_eq!(page(Some(2), 2).await, [left(3)]);
    assert_eq!(page(Some(3), 2).await, []);
    let shouted = Register::Group(group("RG"));
    assert_eq!(
        store.list_leftovers(&shouted, None, 9).await.unwrap().len(),
        3
    );
    let other = Register::Group(group("rg-1"));
    assert_eq!(store.list_leftovers(&other, None, 9).await.unwrap(), []);
}

/// A group with what is ours is not simply removed. Other leftovers go with it.
pub async fn a_group_keeps_what_is_ours(store: Engine) {
    with_group(&store, "rg").await;
    leave(&store, 1, "a", "x", Some("ours"), LeftoverReason::Undeleted).await;
    leave(&store, 2, "b", "y", Some("theirs"), LeftoverReason::Salvage).await;
    for (number, name) in [(3, "a"), (4, "b")] {
        let claimed = accept_and_claim(&store, delete(number, name)).await;
        finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    }
    let deletion = async |number| {
        let new = on_group(number, "rg", ucp_model::operation::group::Task::Delete);
        let deletion = store.delete_resource_group(new, &Precondition::NONE, None);
        deletion.await.unwrap()
    };
    let GroupDeletion::Accepted(accepted) = deletion(5).await else {
        panic!("the group is deleted by an operation");
    };
    let claimed = claim_one(&store, at(10)).await;
    let end = end_on_group(&accepted, failed(), at(11));
    finish(&store, &claimed.lease, end).await;
    assert_eq!(leftovers(&store).await.len(), 2);

    let claimed = accept_and_claim(&store, try_of(6, "ours")).await;
    finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
    assert_eq!(deletion(7).await, GroupDeletion::Removed);
    with_group(&store, "rg").await;
    assert_eq!(leftovers(&store).await, []);
}

/// A put whose create has an unknown outcome.
async fn leave_undecided(store: &Engine, number: u64, name: &str, made: Option<&str>) {
    let claimed = accept_and_claim(store, put(number, name)).await;
    let end = end(&claimed.operation, failed(), ReferenceChange::Unknown, made);
    let end = leaving(finding(end, None), made, LeftoverReason::OutcomeUnknown);
    finish(store, &claimed.lease, end).await;
    let undecided = reference(store, name).await;
    assert_eq!(undecided.provisioning_state, ProvisioningState::Unknown);
    assert_eq!(undecided.identifier, made.map(Identifier::new));
    assert!(!undecided.owned);
    assert_eq!(leftovers(store).await.len(), 1);
}

/// An alias whose create may stand is not free, whether it is known what was made or not.
pub async fn an_undecided_alias_is_not_put(store: Engine) {
    with_group(&store, "rg").await;
    leave_undecided(&store, 1, "a", Some("made")).await;
    refused!(store.accept_operation(put(2, "a")), Error::OutcomeUnknown);
    assert_eq!(store.get_operation(operation_id(2)).await.unwrap(), None);

    // Unless what may be there is left, which stays known.
    let abandoning = with(put(3, "a"), |new| new.options.resolve = Resolve::Abandon);
    let claimed = accept_and_claim(&store, abandoning).await;
    let work = resource_work(&claimed.operation);
    assert_eq!(
        (work.identifier.clone(), work.was_referenced),
        (None, false)
    );
    let end = applied(&claimed.operation, "another", true);
    finish(&store, &claimed.lease, end).await;
    assert_eq!(leftovers(&store).await.len(), 1);
}

/// An import decides, if it finds something.
pub async fn an_import_decides_an_alias(store: Engine) {
    with_group(&store, "rg").await;
    leave_undecided(&store, 1, "a", None).await;
    let import = |number| {
        with(named(put(number, "a"), "made"), |new| {
            new.kind = Kind::Import
        })
    };
    let claimed = accept_and_claim(&store, import(2)).await;
    let missing = end(
        &claimed.operation,
        failed(),
        ReferenceChange::Removed,
        Some("made"),
    );
    finish(&store, &claimed.lease, finding(missing, None)).await;
    let undecided = reference(&store, "a").await;
    assert_eq!(undecided.provisioning_state, ProvisioningState::Unknown);
    assert_eq!(undecided.identifier, None);
    assert_eq!(leftovers(&store).await.len(), 1);

    let claimed = accept_and_claim(&store, import(3)).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "made", false),
    )
    .await;
    assert_eq!(leftovers(&store).await, []);
    refused!(store.accept_operation(import(4)), Error::AlreadyReferenced);
}

/// A delete decides, and so does forgetting the reference.
pub async fn a_delete_decides_an_alias(store: Engine) {
    with_group(&store, "rg").await;
    for (number, made) in [(1, None), (3, Some("made"))] {
        leave_undecided(&store, number, "a", made).await;
        let claimed = accept_and_claim(&store, delete(number + 1, "a")).await;
        finish(&store, &claimed.lease, deleted(&claimed.operation)).await;
        assert_eq!(leftovers(&store).await, []);
    }
    leave_undecided(&store, 5, "a", Some("made")).await;
    assert_eq!(forget(&store, "a").await.unwrap(), Forgotten::Forgotten);
    assert_eq!(leftovers(&store).await, []);
}
