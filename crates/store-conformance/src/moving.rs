//! Refactors that are applied: what moves, and what keeps it from that.

use std::collections::BTreeMap;

use ucp_model::operation::ReferenceChange;
use ucp_model::operation::group::Task;
use ucp_model::{
    GroupBody, GroupId, Lineage, Operation, PlanPolicy, Refactor, RefactorContent, RefactorGroup,
    RefactorMove, RefactorStatus, Reference, ReferenceId,
};
use ucp_store::{
    ApplyRefactor, Error, FinishOperation, GroupUpdate, Precondition, ReferenceUpdate,
};

use super::fixture::*;
use super::refactors::{planned, refactor_id, relocated};

/// The id of an alias in a group.
pub(super) fn address(group_name: &str, name: &str) -> ReferenceId {
    ReferenceId {
        group: group(group_name),
        ..alias(name)
    }
}

async fn at_address(store: &Engine, id: &ReferenceId) -> Option<Reference> {
    store.get_reference(id).await.unwrap()
}

/// The move of a reference as it is.
pub(super) fn relocation(reference: &Reference, to: ReferenceId) -> RefactorMove {
    let etag = reference.etag().as_str().to_owned();
    RefactorMove {
        scope: reference.scope.clone(),
        ..relocated(reference.id.clone(), to, Some(etag))
    }
}

/// A refactor at second 30 that moves these as they are.
pub(super) async fn moving(
    store: &Engine,
    number: u64,
    moves: &[(ReferenceId, ReferenceId)],
) -> ApplyRefactor {
    let mut content = RefactorContent::default();
    for (from, to) in moves {
        content.named.push(to.group.clone());
        content.moves.push(match at_address(store, from).await {
            Some(reference) => relocation(&reference, to.clone()),
            None => relocated(from.clone(), to.clone(), None),
        });
    }
    applying(number, content, 30)
}

/// The application of a refactor that is not planned before.
pub(super) fn applying(number: u64, content: RefactorContent, second: i64) -> ApplyRefactor {
    let record = Refactor {
        status: RefactorStatus::Applied,
        changed_at: at(second),
        content,
        ..planned(number, &[], second)
    };
    ApplyRefactor {
        history: None,
        deploy: None,
        taken_back_by: None,
        record,
        is_planned: false,
        keeps_plan_policy: false,
        caller: "ann".to_owned(),
        correlation_id: correlation(),
    }
}

/// Moves aliases of the group `rg`.
pub(super) async fn aliases(store: &Engine, number: u64, moves: &[(&str, &str)]) -> ApplyRefactor {
    let moves = moves.iter();
    let moves: Vec<_> = moves.map(|(from, to)| (alias(from), alias(to))).collect();
    moving(store, number, &moves).await
}

/// Several references, `a` to `x` and so on.
async fn with_references(store: &Engine, names: &[(&str, &str)]) -> BTreeMap<String, Reference> {
    with_group(store, "rg").await;
    let mut references = BTreeMap::new();
    for (number, (name, resource)) in (100..).zip(names) {
        let reference = map(store, number, name, resource, true).await;
        references.insert((*name).to_owned(), reference);
    }
    references
}

async fn update(store: &Engine, name: &str, update: ReferenceUpdate) -> Reference {
    let (id, correlation) = (alias(name), correlation());
    let updated = store.update_reference(&id, update, "bob", &correlation, at(20));
    updated.await.unwrap()
}

/// Everything but the address stays.
fn assert_moved(before: &Reference, after: &Reference) {
    let expected = Reference {
        id: after.id.clone(),
        updated_at: at(30),
        revision: after.revision,
        moves: after.moves,
        ..before.clone()
    };
    assert_eq!(*after, expected);
    assert!(after.revision > before.revision);
    assert_eq!(after.written(), before.written());
}

/// The end of a put whose create failed.
fn unmade(operation: &Operation) -> FinishOperation {
    end(operation, failed(), ReferenceChange::Removed, None)
}

fn made(name: &str) -> RefactorGroup {
    RefactorGroup {
        id: group(name),
        location: "global".to_owned(),
        tags: BTreeMap::from([("team".to_owned(), "web".to_owned())]),
        body: GroupBody::default(),
    }
}

/// Also its lineage, what is sealed of it, and its tags.
pub async fn a_reference_keeps_everything_but_its_id(store: Engine) {
    let before = with_references(&store, &[("a", "x")]).await;
    let tagged = ReferenceUpdate {
        tags: Some(BTreeMap::from([("k".to_owned(), "v".to_owned())])),
        ..ReferenceUpdate::default()
    };
    let tagged = update(&store, "a", tagged).await;
    let new = aliases(&store, 1, &[("A", "B")]).await;
    let record = store.apply_refactor(new.clone()).await.unwrap();
    assert_eq!(at_address(&store, &alias("a")).await, None);
    let after = reference(&store, "b").await;
    assert_moved(&tagged, &after);
    assert_eq!(after.id.alias, "B");
    assert_eq!(after.lineage, before["a"].lineage);
    assert!(after.baseline.is_some() && after.tags.contains_key("k"));

    assert_eq!(record.status, RefactorStatus::Applied);
    let etag = record.content.moves[0].etag.clone();
    assert_eq!(etag.as_deref(), Some(after.etag().as_str()));
    let stored = store.get_refactor(refactor_id(1)).await.unwrap();
    assert_eq!(stored, Some(record));

    let of_old = store.list_events(&alias("a")).await.unwrap();
    let of_new = store.list_events(&alias("b")).await.unwrap();
    let kinds: Vec<&str> = of_old.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["put", "update", "move"]);
    assert_eq!(of_new.len(), 1);
    assert_eq!((of_new[0].kind.as_str(), of_new[0].at), ("move", at(30)));
    assert_eq!(of_new[0].message, of_old[2].message);

    // Who is claimed where it began has another lineage.
    let second = accept(&store, put(2, "a")).await.reference.unwrap();
    assert_eq!(second.lineage, Lineage::drawn(&alias("a"), operation_id(2)));
    // It goes on under its new id.
    let claimed = accept(&store, put(3, "b")).await;
    assert_eq!(
        resource_work(&claimed.operation).identifier,
        identifier("x")
    );
}

/// Nobody waits for a free id.
pub async fn swaps_cycles_and_chains_move(store: Engine) {
    let names = [
        ("a", "1"),
        ("b", "2"),
        ("c", "3"),
        ("d", "4"),
        ("e", "5"),
        ("f", "6"),
        ("g", "7"),
    ];
    let before = with_references(&store, &names).await;
    let moves = [
        ("a", "b"),
        ("b", "a"),
        ("c", "d"),
        ("d", "e"),
        ("e", "c"),
        ("f", "g"),
        ("g", "h"),
    ];
    let new = aliases(&store, 1, &moves).await;
    store.apply_refactor(new).await.unwrap();
    for (from, to) in moves {
        let after = reference(&store, to).await;
        assert_moved(&before[from], &after);
        assert_ne!(Some(after.etag()), before.get(to).map(Reference::etag));
    }
    assert_eq!(at_address(&store, &alias("f")).await, None);
    assert_eq!(store.count_references(&group("rg"), 99).await.unwrap(), 7);
}

/// They may be of another plane.
pub async fn references_move_between_groups_and_planes(store: Engine) {
    let before = with_references(&store, &[("a", "x"), ("b", "y")]).await;
    with_group(&store, "web").await;
    let elsewhere = GroupId::new("other", "far").unwrap();
    let far = ReferenceId {
        group: elsewhere.clone(),
        ..alias("b")
    };
    let moves = [(alias("a"), address("WEB", "a")), (alias("b"), far.clone())];
    let mut new = moving(&store, 1, &moves).await;
    let missing = store.apply_refactor(new.clone()).await;
    assert!(matches!(missing, Err(Error::NoSuchGroup)), "{missing:?}");
    assert_eq!(reference(&store, "a").await, before["a"]);

    new.record.content.groups.create = vec![RefactorGroup {
        id: elsewhere.clone(),
        ..made("web")
    }];
    new.record.content.groups.remove = vec![made("rg"), made("web")];
    let record = store.apply_refactor(new).await.unwrap();
    let moved = at_address(&store, &address("web", "a")).await.unwrap();
    assert_moved(&before["a"], &moved);
    assert_eq!(moved.id.group.name, "web");
    assert_moved(&before["b"], &at_address(&store, &far).await.unwrap());
    let created = store.get_resource_group(&elsewhere).await.unwrap();
    assert_eq!(
        (created.revision, created.tags["team"].as_str()),
        (1, "web")
    );
    // What was emptied is gone, as it was; what was not stays.
    let removed = store.get_resource_group(&group("rg")).await;
    assert!(matches!(removed, Err(Error::NoSuchGroup)), "{removed:?}");
    let [removed] = &record.content.groups.remove[..] else {
        panic!("{:?}", record.content.groups);
    };
    assert_eq!(removed.id.name, "rg");
    assert!(!removed.tags.contains_key("team"), "as it was: {removed:?}");
    store.get_resource_group(&group("web")).await.unwrap();
}

/// Nothing is written then.
pub async fn what_is_worked_on_does_not_move(store: Engine) {
    with_references(&store, &[("a", "x"), ("b", "y"), ("c", "z")]).await;
    let busy = async |new: &ApplyRefactor, number| {
        let refused = store.apply_refactor(new.clone()).await;
        let is_busy = matches!(refused, Err(Error::Busy(id)) if id == operation_id(number));
        assert!(is_busy, "{refused:?}");
        assert_eq!(store.get_refactor(refactor_id(1)).await.unwrap(), None);
    };
    // What moves, its new alias, and its resource.
    let moving = aliases(&store, 1, &[("a", "new")]).await;
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    busy(&moving, 1).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;
    let moving = aliases(&store, 1, &[("a", "new")]).await;
    let claimed = accept_and_claim(&store, put(2, "new")).await;
    busy(&moving, 2).await;
    finish(&store, &claimed.lease, unmade(&claimed.operation)).await;
    accept(&store, untracked(delete(3, "-"), "x")).await;
    busy(&moving, 3).await;
    // A group, as a whole.
    let apart = aliases(&store, 1, &[("b", "new")]).await;
    accept(&store, on_group(4, "rg", Task::Apply(no_members()))).await;
    busy(&apart, 4).await;
}

/// The fingerprint of a plan holds only while nothing has changed.
pub async fn only_what_was_planned_moves(store: Engine) {
    with_references(&store, &[("a", "x"), ("b", "y")]).await;
    let refused = async |new: ApplyRefactor| {
        let refused = store.apply_refactor(new).await;
        assert!(
            matches!(refused, Err(Error::PreconditionFailed)),
            "{refused:?}"
        );
    };
    refused(aliases(&store, 1, &[("none", "new")]).await).await;
    refused(aliases(&store, 1, &[("a", "b")]).await).await;
    let mut exists = aliases(&store, 1, &[("a", "new")]).await;
    exists.record.content.groups.create = vec![made("rg")];
    refused(exists).await;
    let planned = aliases(&store, 1, &[("a", "new"), ("b", "other")]).await;
    let owned = ReferenceUpdate {
        owned: Some(false),
        ..ReferenceUpdate::default()
    };
    update(&store, "b", owned).await;
    refused(planned).await;
    assert_eq!(reference(&store, "a").await.id, alias("a"));
    assert_eq!(store.get_refactor(refactor_id(1)).await.unwrap(), None);
}

/// As a reference is forgotten: what a group protects is not taken out of it.
pub async fn a_policy_is_not_left_behind(store: Engine) {
    with_references(&store, &[("a", "x")]).await;
    with_group(&store, "web").await;
    let strict = GroupUpdate {
        plan_policy: Some(PlanPolicy::Required),
        ..GroupUpdate::default()
    };
    let (rg, any) = (group("rg"), Precondition::NONE);
    let update = store.update_resource_group(&rg, strict, &any, at(9));
    update.await.unwrap();
    let moves = [(alias("a"), address("web", "a"))];
    let mut new = moving(&store, 1, &moves).await;
    new.keeps_plan_policy = true;
    let refused = store.apply_refactor(new.clone()).await;
    assert!(matches!(refused, Err(Error::PolicyLowered)), "{refused:?}");
    new.keeps_plan_policy = false;
    store.apply_refactor(new).await.unwrap();
}

/// A plan is applied once, and an undo takes it back once.
pub async fn a_refactor_is_applied_once_and_undone_once(store: Engine) {
    let before = with_references(&store, &[("a", "x")]).await;
    let first = aliases(&store, 1, &[("a", "b")]).await;
    let plan = ApplyRefactor {
        is_planned: true,
        ..first
    };
    let unknown = store.apply_refactor(plan.clone()).await;
    assert!(matches!(unknown, Err(Error::NoSuchRefactor)), "{unknown:?}");
    let kept = Refactor {
        status: RefactorStatus::Planned,
        changed_at: at(3),
        content: RefactorContent {
            named: vec![group("rg")],
            events: planned(1, &[], 3).content.events,
            ..plan.record.content.clone()
        },
        ..plan.record.clone()
    };
    store.keep_refactor(kept.clone(), 9).await.unwrap();
    let plan = ApplyRefactor {
        record: Refactor {
            status: RefactorStatus::Applied,
            changed_at: at(30),
            ..kept
        },
        ..plan
    };
    store.apply_refactor(plan.clone()).await.unwrap();
    let again = store.apply_refactor(plan).await;
    let is_applied = matches!(again, Err(Error::RefactorStatus(RefactorStatus::Applied)));
    assert!(is_applied, "{again:?}");
    let events = async || {
        store
            .refactor_events(&[group("rg")], 9)
            .await
            .unwrap()
            .len()
    };
    assert_eq!(events().await, 1);

    let mut undo = aliases(&store, 2, &[("b", "a")]).await;
    undo.record.content.undoes = Some(refactor_id(1));
    store.apply_refactor(undo.clone()).await.unwrap();
    assert_moved(&before["a"], &reference(&store, "a").await);
    let undone = store.get_refactor(refactor_id(1)).await.unwrap().unwrap();
    assert_eq!(undone.status, RefactorStatus::Undone);
    assert_eq!(events().await, 0);
    undo.record.id = refactor_id(3);
    let again = store.apply_refactor(undo).await;
    let is_undone = matches!(again, Err(Error::RefactorStatus(RefactorStatus::Undone)));
    assert!(is_undone, "{again:?}");
}

/// What is written, and what is moved then.
type Round = (
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
);

/// Whatever comes there and goes, also in turns, and also references that were made at the same time.
pub async fn an_id_has_an_etag_once(store: Engine) {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let before = with_references(&store, &[("a", "x"), ("b", "y"), ("c", "z")]).await;
    assert!(
        before
            .values()
            .all(|it| it.created_at == before["a"].created_at)
    );
    let mut seen: BTreeMap<(&str, String), Reference> = BTreeMap::new();
    let mut note = async || {
        for name in NAMES {
            if let Some(reference) = at_address(&store, &alias(name)).await {
                let etag = reference.etag().as_str().to_owned();
                let first = seen
                    .entry((name, etag))
                    .or_insert_with(|| reference.clone());
                assert_eq!(*first, reference);
            }
        }
    };
    note().await;
    // What is written most comes and goes, and what is written less takes its place.
    let rounds: [Round; 6] = [
        (&["a", "a", "a"], &[("a", "d")]),
        (&[], &[("b", "a")]),
        (&["a", "a", "a", "a"], &[("a", "d"), ("d", "a")]),
        (&["d"], &[("a", "c"), ("c", "a")]),
        (&["c", "a", "a"], &[("a", "b"), ("d", "a")]),
        (&["a", "b"], &[("a", "b"), ("b", "a")]),
    ];
    for (number, (written, moves)) in (1..).zip(rounds) {
        for name in written {
            update(&store, name, ReferenceUpdate::default()).await;
            note().await;
        }
        let new = aliases(&store, 2 * number, moves).await;
        store.apply_refactor(new).await.unwrap();
        note().await;
        // The same once more after an undo.
        let back: Vec<_> = moves.iter().map(|(from, to)| (*to, *from)).collect();
        for (number, moves) in [(100 + number, back.as_slice()), (200 + number, moves)] {
            let new = aliases(&store, number, moves).await;
            store.apply_refactor(new).await.unwrap();
            note().await;
        }
    }
}

/// Of two that have read the same history, one goes on. What comes later comes after it, whatever the clock says.
pub async fn only_the_history_that_was_read_goes_on(store: Engine) {
    with_references(&store, &[("a", "x"), ("b", "y"), ("e", "z")]).await;
    let bringing = |new: ApplyRefactor, number: u64, had: &[&str]| {
        let had = had.iter().map(|id| (*id).to_owned());
        let mut new = ApplyRefactor {
            history: Some(had.collect()),
            ..new
        };
        new.record.content.named = vec![group("rg")];
        new.record.content.events = planned(number, &[], 3).content.events;
        new
    };
    let first = bringing(aliases(&store, 1, &[("a", "c")]).await, 1, &[]);
    let other = bringing(aliases(&store, 3, &[("b", "d")]).await, 3, &[]);
    store.apply_refactor(first.clone()).await.unwrap();
    let refused = store.apply_refactor(other).await;
    assert!(
        matches!(refused, Err(Error::PreconditionFailed)),
        "{refused:?}"
    );
    assert!(at_address(&store, &alias("b")).await.is_some());

    // Its clock is behind.
    let mut late = bringing(aliases(&store, 5, &[("b", "d")]).await, 5, &["e1"]);
    late.record.changed_at = at(1);
    let applied = store.apply_refactor(late).await.unwrap();
    assert!(applied.changed_at > first.record.changed_at);
    let events = store.refactor_events(&[group("rg")], 9).await.unwrap();
    let events = events.iter().flat_map(|brought| &brought.events);
    let ids: Vec<&str> = events.map(|event| event.id.as_str()).collect();
    assert_eq!(ids, ["e1", "e5"]);
}
