//! [`Operations::commit_step`](ucp_store::Operations::commit_step).

use std::collections::BTreeMap;

use ucp_model::operation::{
    Action, Call, Change, Header, ReferenceChange, ReplacementPolicy, Replacing, Sightings,
};
use ucp_model::{
    Baseline, Digest, Failure, Identifier, Operation, Reference, RequestToken, Setback, State,
};
use ucp_store::{Error, FinishOperation, Lease, NewWork};

use super::fixture::*;

async fn step(store: &Engine, lease: &Lease, operation: &Operation) -> Lease {
    store
        .commit_step(lease, operation, None, at(5), TERM)
        .await
        .unwrap()
}

/// Each non-terminal state is read back as written, as are the fields beside it.
pub async fn a_step_is_remembered_in_every_state(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let intent = |base| intent(Call::Update(identifier("x").unwrap()), base);
    let failure = Failure::new("AlreadyExists", "It's \"there\" — \u{1f512}\0");
    let states = [
        State::Submitting(intent(None)),
        State::Submitting(intent(Some("digest"))),
        State::Waiting(intent(Some("digest")), RequestToken::new("token")),
        State::Observing(Action::Create),
        State::Salvaging(Action::Create, Setback::Failed(failure.clone())),
        State::Salvaging(Action::Update, Setback::Canceled(failure.clone())),
        State::Adopting(failure),
        State::Missing(None),
        State::Missing(Some(intent(Some("digest")))),
        State::Accepted,
    ];
    let mut lease = claimed.lease.clone();
    for (attempt, state) in (1..).zip(states) {
        let stepped = stepped(&claimed.operation, |work| {
            work.state = state;
            work.created = attempt % 2 == 1;
            work.state_since = at(attempt.into());
            work.attempt = attempt;
            work.named = attempt % 3 == 1;
            work.sightings = Sightings {
                missed: attempt,
                listed: Some(attempt % 2 == 1),
                ..Sightings::since(Some(at(attempt.into())))
            };
            work.changes = vec![Change {
                path: "/Tags/0".to_owned(),
                op: "replace".to_owned(),
                conditional: false,
            }];
        });
        let stepped = due(&stepped, at(i64::from(attempt) + 10));
        lease = step(&store, &lease, &stepped).await;
        assert_eq!(operation(&store, 1).await, stepped);
    }
}

/// A step renews the lease.
pub async fn a_step_renews_the_lease(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let lease = step(&store, &claimed.lease, &claimed.operation).await;
    assert_eq!(lease.generation, claimed.lease.generation);
    assert_eq!(lease.expires_at, at(65));
    assert!(claim(&store, at(64)).await.is_empty());
    assert_eq!(claim(&store, at(65)).await.len(), 1);
}

/// The document is that of the last step that gave one.
pub async fn the_document_stays_until_it_is_replaced(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let bytes = ucp_store::Sealed((0..=u8::MAX).collect());
    let mut lease = claimed.lease;
    for (document, expected) in [
        (Some(sealed("first")), sealed("first")),
        (None, sealed("first")),
        (Some(bytes.clone()), bytes),
    ] {
        let step = store.commit_step(&lease, &claimed.operation, document, at(5), TERM);
        let stepped = step.await.unwrap();
        store.release_lease(&stepped).await.unwrap();
        let again = claim(&store, at(6)).await.remove(0);
        assert_eq!(again.documents.document, Some(expected));
        assert_eq!(again.documents.desired, Some(sealed("desired")));
        lease = again.lease;
    }
}

/// An identifier is in the reference as soon as AWS returns it, and is removed with the resource.
pub async fn the_reference_follows_the_identifier(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let before = reference(&store, "a").await;
    let lease = step(&store, &claimed.lease, &naming(&claimed.operation, "x")).await;
    let revealed = Reference {
        identifier: identifier("x"),
        updated_at: at(5),
        revision: before.revision + 1,
        ..before
    };
    assert_eq!(reference(&store, "a").await, revealed);

    step(&store, &lease, &claimed.operation).await;
    let gone = Reference {
        identifier: None,
        revision: revealed.revision + 1,
        ..revealed
    };
    assert_eq!(reference(&store, "a").await, gone);
}

/// Polling does not change the reference, its revision included.
pub async fn a_step_that_reveals_nothing_leaves_the_reference_alone(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "x", true).await;
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    let before = reference(&store, "a").await;
    let polled = stepped(&claimed.operation, |work| work.attempt = 3);
    step(&store, &claimed.lease, &polled).await;
    assert_eq!(reference(&store, "a").await, before);
}

/// A create with a known identifier may still be refused, and a resource that has the identifier is then not ours.
pub async fn a_created_resource_is_not_owned_before_the_end(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let creating = stepped(&claimed.operation, |work| {
        work.created = true;
        work.identifier = identifier("x");
    });
    let lease = step(&store, &claimed.lease, &creating).await;
    assert!(!reference(&store, "a").await.owned);

    let adopting = stepped(&creating, |work| work.created = false);
    let lease = step(&store, &lease, &adopting).await;
    finish(&store, &lease, applied(&adopting, "x", false)).await;
    assert!(!reference(&store, "a").await.owned);
}

/// What an update sends and no read returns is unknown from the intent until a put succeeds.
pub async fn what_an_update_sends_is_unconfirmed_until_a_put_succeeds(store: Engine) {
    with_group(&store, "rg").await;
    let digest = |hmac: &str| Digest {
        key_id: "key".to_owned(),
        hmac: hmac.to_owned(),
    };
    let declared = Baseline {
        digests: BTreeMap::from([
            ("/Login/Password".to_owned(), digest("1")),
            ("/Token".to_owned(), digest("2")),
        ]),
        ..baseline("x")
    };
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let end = FinishOperation {
        baseline: Some(declared.clone()),
        ..applied(&claimed.operation, "x", true)
    };
    finish(&store, &claimed.lease, end).await;

    let change = |path: &str| Change {
        path: path.to_owned(),
        op: "replace".to_owned(),
        conditional: false,
    };
    let updating = |operation: &Operation, base: Option<&str>| {
        let call = Call::Update(identifier("x").unwrap());
        stepped(operation, |work| {
            work.state = State::Submitting(intent(call, base));
            work.changes = vec![change("/Login/Password"), change("/Name")];
        })
    };
    let unconfirmed = |names: &[&str]| Baseline {
        unconfirmed: names.iter().map(|name| (*name).to_owned()).collect(),
        ..declared.clone()
    };
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    assert_eq!(claimed.baseline.as_ref(), Some(&declared));
    let updating_readable = updating(&claimed.operation, Some("digest"));
    let lease = step(&store, &claimed.lease, &updating_readable).await;
    // Only the new worker of a crash or the next put reads it.
    store.release_lease(&lease).await.unwrap();
    let claimed = claim_one(&store, at(6)).await;
    assert_eq!(claimed.baseline, Some(unconfirmed(&["/Login"])));
    let kept = ReferenceChange::Kept { owned: false };
    let failure = super::fixture::end(&claimed.operation, failed(), kept, Some("x"));
    finish(&store, &claimed.lease, failure).await;
    let after = reference(&store, "a").await;
    assert_eq!(after.baseline, Some(unconfirmed(&["/Login"])));

    // Without live properties to plan on, everything sent is unknown.
    let claimed = accept_and_claim(&store, put(3, "a")).await;
    let updating_unreadable = updating(&claimed.operation, None);
    let lease = step(&store, &claimed.lease, &updating_unreadable).await;
    let sent = reference(&store, "a").await;
    assert_eq!(sent.baseline, Some(unconfirmed(&["/Login", "/Name"])));
    finish(&store, &lease, applied(&updating_unreadable, "y", true)).await;
    assert_eq!(reference(&store, "a").await.baseline, Some(baseline("y")));
}

/// The baseline belongs to a resource: a successor has none until a put succeeds.
pub async fn a_recreated_resource_has_no_baseline(store: Engine) {
    with_group(&store, "rg").await;
    let before = map(&store, 1, "a", "x", true).await;
    assert!(before.baseline.is_some());
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    let creating = stepped(&claimed.operation, |work| {
        work.created = true;
        work.state = State::Submitting(intent(Call::Create, None));
    });
    let lease = step(&store, &claimed.lease, &creating).await;
    assert_eq!(reference(&store, "a").await.baseline, None);
    let kept = ReferenceChange::Kept { owned: true };
    let left = super::fixture::end(&creating, failed(), kept, Some("x"));
    finish(&store, &lease, left).await;
    assert_eq!(reference(&store, "a").await.baseline, None);
}

/// As soon as the identifier is known, no other operation may work on the resource.
pub async fn a_revealed_target_keeps_others_off(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let lease = step(&store, &claimed.lease, &naming(&claimed.operation, "x")).await;
    let by_name = |number| untracked(delete(number, "-"), "x");
    refused!(
        store.accept_operation(by_name(2)),
        Error::Busy(id) if id == operation_id(1)
    );
    // Once the operation names another resource, the first one is free.
    step(&store, &lease, &naming(&claimed.operation, "y")).await;
    accept(&store, by_name(3)).await;
}

/// Of two live operations on one resource, the first holds it. The second continues all the same.
pub async fn a_busy_target_does_not_stop_a_step(store: Engine) {
    with_group(&store, "rg").await;
    let second = accept_and_claim(&store, put(1, "a")).await;
    let first = accept_and_claim(&store, untracked(put(2, "-"), "x")).await;
    let stepped = naming(&second.operation, "x");
    let lease = step(&store, &second.lease, &stepped).await;
    assert_eq!(operation(&store, 1).await, stepped);
    assert_eq!(reference(&store, "a").await.identifier, identifier("x"));
    let again = |number| named(put(number, "b"), "x");
    refused!(
        store.accept_operation(again(3)),
        Error::Busy(id) if id == operation_id(2)
    );

    // After the first has ended, the second holds the resource from its next step on.
    let end = applied(&first.operation, "x", false);
    finish(&store, &first.lease, end).await;
    step(&store, &lease, &stepped).await;
    refused!(
        store.accept_operation(again(4)),
        Error::Busy(id) if id == operation_id(1)
    );
}

/// An operation knows when the resource of its reference was last seen, and whether a delete by name takes references
/// along.
pub async fn an_operation_knows_when_its_resource_was_last_seen(store: Engine) {
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let work = resource_work(&claimed.operation);
    assert_eq!(work.sightings, Sightings::default());
    let observed = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, observed).await;

    let claimed = accept_and_claim(&store, put(2, "a")).await;
    let work = resource_work(&claimed.operation);
    assert_eq!(work.sightings, Sightings::since(Some(at(3))));
    // A success that was not observed.
    let mut end = finding(applied(&claimed.operation, "x", true), None);
    end.operation.header.ended_at = Some(at(9));
    finish(&store, &claimed.lease, end).await;
    let claimed = accept_and_claim(&store, put(3, "a")).await;
    let work = resource_work(&claimed.operation);
    assert_eq!(work.sightings, Sightings::since(Some(at(9))));
    // A failure shows nothing.
    let kept = ReferenceChange::Kept { owned: false };
    let mut end = finding(end_of(&claimed.operation, kept), None);
    end.operation.header.ended_at = Some(at(20));
    finish(&store, &claimed.lease, end).await;
    let claimed = accept_and_claim(&store, put(4, "a")).await;
    let work = resource_work(&claimed.operation);
    assert_eq!(work.sightings, Sightings::since(Some(at(3))));
    assert!(!work.takes_references);

    for (number, is_referenced) in [(5, true), (6, false)] {
        let mut delete = untracked(delete(number, "-"), &format!("y{number}"));
        if let NewWork::Resource(work) = &mut delete.work {
            work.is_referenced = is_referenced;
        }
        let accepted = accept(&store, delete).await;
        let work = resource_work(&accepted.operation);
        assert_eq!(work.takes_references, is_referenced);
    }
}

fn end_of(operation: &Operation, reference: ReferenceChange) -> FinishOperation {
    end(operation, failed(), reference, Some("x"))
}

/// The reference to what was lost stays as it is until the new resource stands, and then moves at once. The event names
/// what was lost. A create that fails leaves everything as it was.
pub async fn what_is_lost_stays_referenced_until_the_new_one_stands(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "old", true).await;
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    let before = reference(&store, "a").await;
    let creating = |operation: &Operation| {
        stepped(operation, |work| {
            let old = Identifier::new("old");
            work.replacing = Some(Replacing::Lost { old });
            work.created = true;
            work.identifier = identifier("new");
        })
    };
    let lost = creating(&claimed.operation);
    let lease = step(&store, &claimed.lease, &lost).await;
    assert_eq!(reference(&store, "a").await, before);
    refused!(
        store.accept_operation(untracked(delete(3, "-"), "old")),
        Error::Busy(id) if id == operation_id(2)
    );
    let kept = ReferenceChange::Kept { owned: false };
    finish(&store, &lease, end(&lost, failed(), kept, Some("old"))).await;
    let kept = reference(&store, "a").await;
    assert_eq!(kept.identifier, before.identifier);
    assert_eq!((kept.owned, kept.baseline), (true, before.baseline));

    let claimed = accept_and_claim(&store, put(4, "a")).await;
    let lost = creating(&claimed.operation);
    let lease = step(&store, &claimed.lease, &lost).await;
    let applied = finding(applied(&lost, "new", true), None);
    finish(&store, &lease, applied).await;
    let moved = reference(&store, "a").await;
    assert_eq!((moved.identifier, moved.owned), (identifier("new"), true));
    assert_eq!(
        (moved.baseline, moved.observed),
        (Some(baseline("new")), None)
    );
    let events = store.list_events(&alias("a")).await.unwrap();
    let lost: Vec<_> = events.iter().map(|event| event.lost.as_deref()).collect();
    let old =
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/old";
    assert_eq!(lost, [None, None, Some(old)]);
}

/// What is created in place of what was lost is owned, whoever owned that.
pub async fn what_takes_the_place_of_the_lost_is_owned(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "owner", "old", true).await;
    map(&store, 2, "a", "old", false).await;
    let claimed = accept_and_claim(&store, put(3, "a")).await;
    let lost = stepped(&claimed.operation, |work| {
        let old = Identifier::new("old");
        work.replacing = Some(Replacing::Lost { old });
        work.created = true;
        work.identifier = identifier("new");
    });
    let lease = step(&store, &claimed.lease, &lost).await;
    assert!(!reference(&store, "a").await.owned);
    finish(&store, &lease, applied(&lost, "new", true)).await;
    assert!(reference(&store, "a").await.owned);
    assert!(reference(&store, "owner").await.owned);
}

/// What the alias comes to stand for is not owned because the resource before it was.
pub async fn ownership_does_not_pass_to_another_resource(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "old", true).await;
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    let adopted = applied(&claimed.operation, "other", false);
    finish(&store, &claimed.lease, adopted).await;
    assert!(!reference(&store, "a").await.owned);
}

/// The alias stands for the old resource, and keeps its observed properties, until the new one exists.
pub async fn a_replacement_moves_the_reference_when_it_says_so(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "old", true).await;
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    assert!(resource_work(&claimed.operation).was_owned);
    let before = reference(&store, "a").await;
    let old = identifier("old").unwrap();
    let creating = stepped(&claimed.operation, |work| {
        work.replacing = Some(Replacing::NewFirst {
            old: old.clone(),
            is_named: true,
        });
        work.created = true;
        work.identifier = identifier("new");
    });
    let lease = step(&store, &claimed.lease, &creating).await;
    assert_eq!(operation(&store, 2).await, creating);
    assert_eq!(reference(&store, "a").await, before);
    refused!(
        store.accept_operation(untracked(delete(3, "-"), "old")),
        Error::Busy(id) if id == operation_id(2)
    );

    let deleting = stepped(&creating, |work| {
        work.replacing = Some(Replacing::OldLast { old, tries: 0 });
    });
    let lease = step(&store, &lease, &deleting).await;
    let moved = Reference {
        identifier: identifier("new"),
        baseline: None,
        observed: None,
        observed_at: None,
        updated_at: at(5),
        revision: before.revision + 1,
        ..before
    };
    assert_eq!(reference(&store, "a").await, moved);
    refused!(
        store.accept_operation(untracked(delete(3, "-"), "old")),
        Error::Busy(id) if id == operation_id(2)
    );
    accept(&store, untracked(put(4, "-"), "new")).await;

    let deleted = stepped(&deleting, |work| work.replacing = None);
    step(&store, &lease, &deleted).await;
    accept(&store, untracked(put(5, "-"), "old")).await;
}

/// A replacement removes the other references to the old resource, as a delete does.
pub async fn a_replaced_resource_takes_its_other_references(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "a", "old", true).await;
    map(&store, 2, "b", "old", false).await;
    map(&store, 3, "c", "other", true).await;
    let replacing = with(put(4, "a"), |new| {
        new.options.replacement_policy = ReplacementPolicy::DeleteBeforeCreate;
    });
    let claimed = accept_and_claim(&store, replacing).await;
    let deleting = stepped(&claimed.operation, |work| {
        work.replacing = Some(Replacing::OldFirst);
    });
    let lease = step(&store, &claimed.lease, &deleting).await;
    assert_eq!(reference(&store, "b").await.identifier, identifier("old"));
    let deleted = stepped(&deleting, |work| {
        work.replacing = None;
        work.identifier = None;
    });
    step(&store, &lease, &deleted).await;
    assert_eq!(reference(&store, "a").await.identifier, None);
    assert_eq!(store.get_reference(&alias("b")).await.unwrap(), None);
    assert_eq!(reference(&store, "c").await.identifier, identifier("other"));
}

/// The next worker sees the cancel request, also after a step that did not know of it.
pub async fn a_cancel_makes_the_operation_due_and_outlives_steps(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let waiting = due(&claimed.operation, at(500));
    let lease = step(&store, &claimed.lease, &waiting).await;
    let asked = store.request_cancel(operation_id(1), at(6)).await.unwrap();
    let expected = Operation {
        header: Header {
            cancel_requested_at: Some(at(6)),
            due_at: at(6),
            ..waiting.header.clone()
        },
        work: waiting.work.clone(),
    };
    assert_eq!(asked, Some(expected));

    let lease = step(&store, &lease, &waiting).await;
    store.release_lease(&lease).await.unwrap();
    let again = claim(&store, at(6)).await.remove(0);
    assert_eq!(again.operation.header.cancel_requested_at, Some(at(6)));

    store.request_cancel(operation_id(1), at(8)).await.unwrap();
    let known = due(&again.operation, at(500));
    step(&store, &again.lease, &known).await;
    assert_eq!(operation(&store, 1).await, known);
}

/// Neither an ended operation nor an unknown one is cancelled.
pub async fn what_has_ended_is_not_cancelled(store: Engine) {
    let claimed = accept_and_claim(&store, untracked(put(1, "-"), "x")).await;
    let end = applied(&claimed.operation, "x", false);
    finish(&store, &claimed.lease, end).await;
    let ended = operation(&store, 1).await;
    let asked = store.request_cancel(operation_id(1), at(6)).await.unwrap();
    assert_eq!(asked.as_ref(), Some(&ended));
    assert_eq!(operation(&store, 1).await, ended);
    let unknown = store.request_cancel(operation_id(2), at(6)).await.unwrap();
    assert_eq!(unknown, None);
}
