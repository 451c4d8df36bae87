//! Service instances and their bindings: orders that are placed, and their ends.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use ucp_model::operation::OnShared;
use ucp_model::operation::group::{Application, ApplyMember, GroupState, MemberGoal, Task};
use ucp_model::{
    Access, BindingId, Change, ChangeKind, Ended, Failure, InstanceId, MAX_TAGS, Order, PlanPolicy,
    Provision, ReferenceId, ResourceGroup, ServiceBinding, ServiceInstance, Timestamp,
};
use ucp_store::{
    ApplyRefactor, BINDINGS_MAX, Claimed, Error, FinishOperation, GroupDeletion, GroupUpdate,
    NewOperation, PlaceOrder, Precondition, SealedPlace, Stored,
};

use super::deploying::deploying;
use super::emptying::{emptying, removed_by};
use super::fixture::*;
use super::moving::{address, moving};
use super::refactors::refactor_id;
use super::resolving;

const CANARY: &str = "canary-71c4";

pub(super) fn instance_id(name: &str) -> InstanceId {
    InstanceId {
        platform: "cf".to_owned(),
        instance: name.to_owned(),
    }
}

fn binding_id(instance: &str, name: &str) -> BindingId {
    BindingId {
        instance: instance_id(instance),
        binding: name.to_owned(),
    }
}

fn provision(plan: &str) -> Provision {
    let parameters = json!({ "secret": CANARY });
    Provision {
        plan: plan.to_owned(),
        version: None,
        parameters: parameters.as_object().unwrap().clone(),
        given: parameters.as_object().cloned(),
    }
}

/// An instance in `rg`.
pub(super) fn instance(name: &str, change: Change) -> ServiceInstance {
    ServiceInstance {
        id: instance_id(name),
        group: group("rg"),
        service: "service".to_owned(),
        organization: "organization".to_owned(),
        space: "space".to_owned(),
        name: Some("name".to_owned()),
        wanted: provision("dev"),
        applied: None,
        randoms: BTreeMap::from([("random".to_owned(), CANARY.to_owned())]),
        may_be_replaced: false,
        change,
        revision: 0,
    }
}

pub(super) fn binding(instance: &str, name: &str, change: Change) -> ServiceBinding {
    ServiceBinding {
        id: binding_id(instance, name),
        plan: "dev".to_owned(),
        parameters: provision("dev").parameters,
        given: provision("dev").given,
        bind_resource: None,
        predecessor: None,
        randoms: BTreeMap::new(),
        expires_at: None,
        renew_before: None,
        has_resources: true,
        access: None,
        change,
    }
}

/// A change that the operation of this number carries out.
fn begun(kind: ChangeKind, number: u64) -> Change {
    Change::begun(kind, operation_id(number), at(10))
}

pub(super) fn done(kind: ChangeKind) -> Change {
    Change::done(kind, at(10))
}

/// An apply that carries out an order of the instance, or of its binding.
pub(super) fn ordering(instance: InstanceId, binding: Option<&str>) -> Application {
    let order = Order {
        kind: ChangeKind::Create,
        instance,
        binding: binding.map(str::to_owned),
        tags: BTreeMap::new(),
        after: None,
        reads_until: None,
        originator: None,
    };
    Application {
        order: Some(Box::new(order)),
        ..no_members()
    }
}

/// The same, to `rg`.
fn carrying_out(number: u64, instance: &str, binding: Option<&str>) -> NewOperation {
    let application = ordering(instance_id(instance), binding);
    on_group(number, "rg", Task::Apply(application))
}

/// A member of an apply that is deleted.
pub(super) fn deleted(reference: ReferenceId) -> ApplyMember {
    ApplyMember {
        moved_from: None,
        on_shared: OnShared::default(),
        symbolic_name: reference.alias.clone(),
        reference,
        scope: scope(),
        goal: MemberGoal::Delete,
        depends_on: Vec::new(),
        is_unchanged: false,
        is_compared: false,
        is_declared: false,
    }
}

/// An apply that carries out an order which deletes these.
fn deleting(number: u64, binding: Option<&str>, aliases: &[&str]) -> NewOperation {
    let mut application = ordering(instance_id("i"), binding);
    application.members = aliases.iter().map(|name| deleted(alias(name))).collect();
    if let Some(order) = &mut application.order {
        order.kind = ChangeKind::Delete;
    }
    on_group(number, "rg", Task::Apply(application))
}

fn made_group() -> ResourceGroup {
    ResourceGroup::put(None, put_group(group("rg"), "global", ""), at(10))
}

/// An order of an instance as it is to be, without an operation.
pub(super) fn order(instance: ServiceInstance, expected: Option<u64>) -> PlaceOrder {
    PlaceOrder {
        instance,
        expected,
        bindings: Vec::new(),
        group: None,
        tags: Vec::new(),
        cancels: None,
        operation: None,
        placed_at: at(10),
    }
}

/// The creation of an instance by an operation.
fn creation(number: u64, name: &str) -> PlaceOrder {
    PlaceOrder {
        operation: Some(carrying_out(number, name, None)),
        ..order(instance(name, begun(ChangeKind::Create, number)), None)
    }
}

async fn place(store: &Engine, order: PlaceOrder) -> ServiceInstance {
    store.place_order(order).await.unwrap()
}

async fn recorded(store: &Engine, name: &str) -> Option<ServiceInstance> {
    let id = instance_id(name);
    store.get_service_instance(&id).await.unwrap()
}

async fn bound(store: &Engine, instance: &str, name: &str) -> Option<ServiceBinding> {
    let id = binding_id(instance, name);
    store.get_service_binding(&id).await.unwrap()
}

async fn listed(store: &Engine, instance: &str) -> Vec<String> {
    let id = instance_id(instance);
    let bindings = store.list_service_bindings(&id).await.unwrap();
    bindings.into_iter().map(|it| it.id.binding).collect()
}

/// The claimed operation of this number, among all that are due.
fn of(claimed: &[Claimed], number: u64) -> &Claimed {
    let id = operation_id(number);
    let mut claimed = claimed.iter();
    claimed.find(|it| it.operation.header.id == id).unwrap()
}

/// The end of an order, with its outputs.
fn ending(
    claimed: &Claimed,
    ended: Ended,
    outputs: Option<Value>,
    now: Timestamp,
) -> FinishOperation {
    let end = end_on_group(&claimed.operation, ended, now);
    FinishOperation {
        operation: stepped_on_group(&end.operation, |work| work.outputs = outputs),
        ..end
    }
}

/// Claims the operation of this number and ends it.
async fn conclude(store: &Engine, number: u64, ended: Ended, outputs: Option<Value>, second: i64) {
    let claimed = claim(store, at(second)).await;
    let claimed = of(&claimed, number);
    let end = ending(claimed, ended, outputs, at(second));
    finish(store, &claimed.lease, end).await;
}

/// An instance that stands.
async fn with_instance(store: &Engine, number: u64, name: &str) -> ServiceInstance {
    place(
        store,
        PlaceOrder {
            group: Some(made_group()),
            ..creation(number, name)
        },
    )
    .await;
    conclude(store, number, Ended::Succeeded, None, 11).await;
    recorded(store, name).await.unwrap()
}

/// A binding that stands, of an instance that does. Returns the instance.
async fn with_binding(store: &Engine, number: u64, instance: &str, name: &str) -> ServiceInstance {
    let current = recorded(store, instance).await.unwrap();
    let new = binding(instance, name, begun(ChangeKind::Create, number));
    place(
        store,
        PlaceOrder {
            bindings: vec![new],
            operation: Some(carrying_out(number, instance, Some(name))),
            ..order(current.clone(), Some(current.revision))
        },
    )
    .await;
    let outputs = json!({ name: { "credentials": { "user": name, "salt": CANARY } } });
    conclude(store, number, Ended::Succeeded, Some(outputs), 12).await;
    recorded(store, instance).await.unwrap()
}

/// A refactor with a deployment by operation 7, which puts something in `web` and holds these groups.
fn deployed(mut new: ApplyRefactor, names: &[&str]) -> ApplyRefactor {
    let named: Vec<_> = names.iter().map(|name| group(name)).collect();
    let put = address("web", "put");
    new.record.content.named.clone_from(&named);
    new.record.content.changes.create = vec![put.clone()];
    let task = deploying(refactor_id(1), named, vec![(put, scope())]);
    new.deploy = Some(on_group(7, "web", task));
    new
}

/// A reference in `rg`, whatever else is due.
async fn with_reference(store: &Engine, number: u64, name: &str) {
    accept(store, put(number, name)).await;
    let claimed = claim(store, at(13)).await;
    let claimed = of(&claimed, number);
    let end = applied(&claimed.operation, name, true);
    finish(store, &claimed.lease, end).await;
}

fn credentials(binding: &ServiceBinding) -> Value {
    let access = binding.access.as_ref().unwrap();
    access.credentials.clone().unwrap_or_default()
}

/// With its group and its operation.
pub async fn an_order_is_placed(store: Engine) {
    assert_eq!(recorded(&store, "i").await, None);
    let new = PlaceOrder {
        bindings: vec![binding("i", "b", done(ChangeKind::Create))],
        group: Some(made_group()),
        ..creation(1, "I")
    };
    let placed = place(&store, new.clone()).await;
    let expected = ServiceInstance {
        revision: 1,
        ..new.instance.clone()
    };
    assert_eq!(placed, expected);
    assert_eq!(recorded(&store, "i").await, Some(expected));
    let binding = bound(&store, "i", "B").await.unwrap();
    assert_eq!(
        binding.id,
        BindingId {
            instance: instance_id("I"),
            binding: "b".to_owned()
        }
    );
    let made = store.get_resource_group(&group("rg")).await.unwrap();
    assert_eq!(made, made_group());
    let accepted = claim_one(&store, at(10)).await.operation;
    assert_eq!(accepted.header, new.operation.unwrap().header());
    assert_eq!(
        group_work(&accepted).order().unwrap().instance,
        instance_id("I")
    );

    // What an order is about is never another instance, nor another group.
    for strange in [
        PlaceOrder {
            operation: Some(carrying_out(2, "other", None)),
            ..creation(2, "j")
        },
        PlaceOrder {
            operation: Some(put(2, "a")),
            ..creation(2, "j")
        },
        PlaceOrder {
            bindings: vec![self::binding("other", "b", done(ChangeKind::Create))],
            ..creation(2, "j")
        },
    ] {
        refused!(store.place_order(strange), Error::Corrupt(_));
    }
    assert_eq!(recorded(&store, "j").await, None);
}

/// Each change increases the revision, also one of a binding.
pub async fn an_order_needs_the_revision_that_it_was_judged_with(store: Engine) {
    with_group(&store, "rg").await;
    let new = instance("i", done(ChangeKind::Create));
    refused!(
        store.place_order(order(new.clone(), Some(1))),
        Error::PreconditionFailed
    );
    assert_eq!(place(&store, order(new.clone(), None)).await.revision, 1);
    for expected in [None, Some(0), Some(2)] {
        refused!(
            store.place_order(order(new.clone(), expected)),
            Error::PreconditionFailed
        );
    }
    let binding = PlaceOrder {
        bindings: vec![binding("i", "b", done(ChangeKind::Create))],
        ..order(new.clone(), Some(1))
    };
    assert_eq!(place(&store, binding.clone()).await.revision, 2);
    refused!(store.place_order(binding), Error::PreconditionFailed);
    let renamed = ServiceInstance {
        id: instance_id("I"),
        name: Some("other".to_owned()),
        ..new
    };
    let placed = place(&store, order(renamed, Some(2))).await;
    assert_eq!((placed.id, placed.revision), (instance_id("i"), 3));
    let read = recorded(&store, "i").await.unwrap();
    assert_eq!(read.name.as_deref(), Some("other"));
}

/// Nothing is left of an order that is refused: no row, no group, no tag, no cancel.
pub async fn a_refused_order_leaves_nothing(store: Engine) {
    refused!(store.place_order(creation(1, "i")), Error::NoSuchGroup);
    for name in ["other", "web"] {
        with_group(&store, name).await;
    }
    let in_other = |number, name| {
        with(put(number, "-"), |new| {
            new.reference = Some(alias_in("other", name));
        })
    };
    let claimed = accept_and_claim(&store, in_other(2, "a")).await;
    let end = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, end).await;
    accept(&store, in_other(1, "b")).await;
    let moves = [(address("other", "a"), address("web", "a"))];
    let new = deployed(moving(&store, 1, &moves).await, &["other", "web", "rg"]);
    store.apply_refactor(new).await.unwrap();
    let new = PlaceOrder {
        bindings: vec![binding("i", "b", done(ChangeKind::Create))],
        group: Some(made_group()),
        cancels: Some(operation_id(1)),
        ..creation(3, "i")
    };
    refused!(store.place_order(new), Error::Busy(busy) if busy == operation_id(7));
    assert_eq!(recorded(&store, "i").await, None);
    assert_eq!(bound(&store, "i", "b").await, None);
    refused!(store.get_resource_group(&group("rg")), Error::NoSuchGroup);
    let other = operation(&store, 1).await;
    assert_eq!(other.header.cancel_requested_at, None);
}

/// So does a binding that is gone.
pub async fn an_instance_has_so_many_bindings(store: Engine) {
    with_group(&store, "rg").await;
    let new = instance("i", done(ChangeKind::Create));
    let all = (0..BINDINGS_MAX).map(|number| {
        let name = format!("b{number}");
        binding("i", &name, done(ChangeKind::Create))
    });
    let many = PlaceOrder {
        bindings: all.collect(),
        ..order(new.clone(), None)
    };
    place(&store, many).await;
    let more = |changes: &[(&str, ChangeKind)], expected| PlaceOrder {
        bindings: changes
            .iter()
            .map(|(name, kind)| binding("i", name, done(*kind)))
            .collect(),
        ..order(new.clone(), Some(expected))
    };
    let one_more = [("more", ChangeKind::Create)];
    refused!(
        store.place_order(more(&one_more, 1)),
        Error::TooManyBindings
    );
    place(&store, more(&[("b7", ChangeKind::Update)], 1)).await;
    place(&store, more(&[("b7", ChangeKind::Delete)], 2)).await;
    assert_eq!(listed(&store, "i").await.len(), BINDINGS_MAX - 1);
    place(&store, more(&one_more, 3)).await;
    refused!(
        store.place_order(more(&[("last", ChangeKind::Create)], 4)),
        Error::TooManyBindings
    );
    let listed = listed(&store, "i").await;
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(listed, sorted);
    assert!(bound(&store, "i", "b7").await.unwrap().is_gone());
}

/// Each resource has its own lock, so orders and another apply are in nobody's way.
pub async fn orders_of_a_group_run_beside_each_other(store: Engine) {
    with_group(&store, "rg").await;
    place(&store, creation(1, "i")).await;
    place(&store, creation(2, "j")).await;
    let apply = |number| on_group(number, "rg", Task::Apply(no_members()));
    accept(&store, apply(3)).await;
    place(&store, creation(4, "k")).await;
    let error = store.accept_operation(apply(5)).await.unwrap_err();
    assert!(
        matches!(error, Error::Busy(busy) if busy == operation_id(3)),
        "{error:?}"
    );
    assert_eq!(claim(&store, at(11)).await.len(), 4);
}

/// As any apply.
pub async fn an_order_is_refused_while_its_group_is_held_or_deleted(store: Engine) {
    for name in ["rg", "web"] {
        with_group(&store, name).await;
    }
    map(&store, 1, "a", "x", true).await;
    let moves = [(address("rg", "a"), address("web", "a"))];
    let new = deployed(moving(&store, 1, &moves).await, &["rg", "web"]);
    store.apply_refactor(new).await.unwrap();
    refused!(store.place_order(creation(8, "i")), Error::Busy(busy) if busy == operation_id(7));
    conclude(&store, 7, failed(), None, 12).await;
    with_reference(&store, 8, "b").await;

    let delete = |number| on_group(number, "rg", Task::Delete);
    let any = Precondition::NONE;
    let deletion = store.delete_resource_group(delete(9), &any, None).await;
    assert!(
        matches!(deletion, Ok(GroupDeletion::Accepted(_))),
        "{deletion:?}"
    );
    let refused = creation(10, "i");
    refused!(store.place_order(refused), Error::GroupDeleting(by) if by == operation_id(9));
    conclude(&store, 9, failed(), None, 13).await;

    let strict = GroupUpdate {
        plan_policy: Some(PlanPolicy::Required),
        ..GroupUpdate::default()
    };
    let rg = group("rg");
    let update = store.update_resource_group(&rg, strict, &any, at(14));
    update.await.unwrap();
    refused!(store.place_order(creation(11, "i")), Error::PlanRequired);
    let update = GroupUpdate::default();
    let lenient = GroupUpdate {
        plan_policy: Some(PlanPolicy::Optional),
        ..update
    };
    let update = store.update_resource_group(&rg, lenient, &any, at(15));
    update.await.unwrap();
    place(&store, creation(12, "i")).await;
}

/// Neither does it take part in a refactor.
pub async fn a_group_with_a_running_order_is_not_deleted(store: Engine) {
    for name in ["rg", "web"] {
        with_group(&store, name).await;
    }
    map(&store, 1, "a", "x", true).await;
    place(&store, creation(2, "i")).await;
    let any = Precondition::NONE;
    let delete = on_group(3, "rg", Task::Delete);
    refused!(
        store.delete_resource_group(delete, &any, None),
        Error::Busy(busy) if busy == operation_id(2)
    );
    let moves = [(address("rg", "a"), address("web", "a"))];
    let refactor = moving(&store, 1, &moves).await;
    refused!(store.apply_refactor(refactor), Error::Busy(busy) if busy == operation_id(2));
    conclude(&store, 2, failed(), None, 12).await;
    let refactor = moving(&store, 1, &moves).await;
    store.apply_refactor(refactor).await.unwrap();
}

/// The change of an instance ends with its operation, whatever comes of that.
pub async fn the_end_of_an_order_is_that_of_the_change(store: Engine) {
    with_group(&store, "rg").await;
    let failure = || Failure::new("NotStabilized", "It did not stabilise.");
    let ends = [
        Ended::Succeeded,
        Ended::Failed(failure()),
        Ended::Canceled(failure()),
    ];
    let mut number = 0;
    for kind in [ChangeKind::Create, ChangeKind::Update, ChangeKind::Delete] {
        for ended in &ends {
            number += 1;
            let name = format!("i{number}");
            let mut before = instance(&name, begun(kind, number));
            before.applied = (kind != ChangeKind::Create).then(|| provision("old"));
            let new = PlaceOrder {
                operation: Some(carrying_out(number, &name, None)),
                ..order(before, None)
            };
            place(&store, new).await;
            conclude(&store, number, ended.clone(), None, 20).await;
            let after = recorded(&store, &name).await.unwrap();
            assert_eq!(after.revision, 2);
            let end = after.change.ended.clone().unwrap();
            assert_eq!(end.at, at(20));
            let has_succeeded = *ended == Ended::Succeeded;
            assert_eq!(end.failure, (!has_succeeded).then(failure));
            let applied = match (kind, has_succeeded) {
                (ChangeKind::Delete, true) => None,
                (_, true) => Some(provision("dev")),
                (ChangeKind::Create, false) => None,
                (_, false) => Some(provision("old")),
            };
            assert_eq!(after.applied, applied, "{kind:?} {ended:?}");
            let is_gone = kind == ChangeKind::Delete && has_succeeded;
            assert_eq!(after.is_gone(), is_gone);
            assert_eq!(after.randoms.is_empty(), is_gone);
        }
    }
}

/// The same of a binding. Only what has succeeded hands something out.
pub async fn the_end_of_an_order_of_a_binding_is_that_of_its_change(store: Engine) {
    with_instance(&store, 1, "i").await;
    let outputs = || Some(json!({ "B": { "credentials": { "user": "u" }, "endpoints": ["e"] } }));
    let failure = Failure::new("NotStabilized", "It did not stabilise.");
    let bind = |expected: &ServiceInstance, number, kind| PlaceOrder {
        bindings: vec![binding("i", "b", begun(kind, number))],
        operation: Some(carrying_out(number, "i", Some("b"))),
        ..order(expected.clone(), Some(expected.revision))
    };
    let mut current = recorded(&store, "i").await.unwrap();
    for (number, ended) in [
        (2, Ended::Failed(failure.clone())),
        (3, Ended::Canceled(failure.clone())),
    ] {
        place(&store, bind(&current, number, ChangeKind::Create)).await;
        conclude(&store, number, ended, outputs(), 12).await;
        let binding = bound(&store, "i", "b").await.unwrap();
        assert_eq!(binding.change.failure(), Some(&failure));
        assert_eq!(binding.access, None);
        let after = recorded(&store, "i").await.unwrap();
        assert_eq!(after.revision, current.revision + 2);
        assert_eq!(after.change, current.change);
        current = after;
    }
    place(&store, bind(&current, 4, ChangeKind::Create)).await;
    conclude(&store, 4, Ended::Succeeded, outputs(), 13).await;
    let standing = bound(&store, "i", "b").await.unwrap();
    assert!(standing.change.has_succeeded());
    let access = Access {
        credentials: Some(json!({ "user": "u" })),
        endpoints: Some(json!(["e"])),
    };
    assert_eq!(standing.access, Some(access.clone()));

    let delete = async |number| {
        let current = recorded(&store, "i").await.unwrap();
        let mut order = bind(&current, number, ChangeKind::Delete);
        order.bindings[0].access = Some(access.clone());
        place(&store, order).await;
    };
    delete(5).await;
    conclude(&store, 5, failed(), None, 14).await;
    assert!(bound(&store, "i", "b").await.unwrap().has_stood());
    delete(6).await;
    conclude(&store, 6, Ended::Succeeded, None, 15).await;
    let gone = bound(&store, "i", "b").await.unwrap();
    assert!(gone.is_gone());
    assert_eq!((gone.access, gone.parameters.len()), (None, 0));
    assert_eq!(listed(&store, "i").await, [""; 0]);

    // One that hands nothing out stands too.
    let current = recorded(&store, "i").await.unwrap();
    place(&store, bind(&current, 7, ChangeKind::Create)).await;
    conclude(&store, 7, Ended::Succeeded, None, 16).await;
    assert!(bound(&store, "i", "b").await.unwrap().has_stood());
}

/// What is cancelled for a newer change has nothing to say any more, even if it has succeeded.
pub async fn a_change_that_was_replaced_has_no_end(store: Engine) {
    with_group(&store, "rg").await;
    place(&store, creation(1, "i")).await;
    let claimed = claim_one(&store, at(11)).await;
    let child = NewOperation {
        parent: Some(operation_id(1)),
        ..put(2, "i:a")
    };
    store.accept_child(&claimed.lease, child).await.unwrap();
    let delete = PlaceOrder {
        cancels: Some(operation_id(1)),
        operation: Some(carrying_out(3, "i", None)),
        placed_at: at(12),
        ..order(instance("i", begun(ChangeKind::Delete, 3)), Some(1))
    };
    let placed = place(&store, delete).await;
    for number in [1, 2] {
        let operation = operation(&store, number).await;
        assert_eq!(operation.header.cancel_requested_at, Some(at(12)));
    }
    let outputs = Some(json!({ "b": { "credentials": { "user": "u" } } }));
    let end = ending(&claimed, Ended::Succeeded, outputs, at(13));
    finish(&store, &claimed.lease, end).await;
    assert_eq!(recorded(&store, "i").await, Some(placed));
    conclude(&store, 3, Ended::Succeeded, None, 14).await;
    assert!(recorded(&store, "i").await.unwrap().is_gone());
}

/// Newly evaluated credentials are laid over those of each binding that has stood.
pub async fn what_an_update_hands_out_is_laid_over(store: Engine) {
    with_instance(&store, 1, "i").await;
    with_binding(&store, 2, "i", "b").await;
    with_binding(&store, 3, "i", "c").await;
    let current = recorded(&store, "i").await.unwrap();
    let never = binding("i", "never", done(ChangeKind::Create));
    let update = |number, expected: u64| PlaceOrder {
        operation: Some(carrying_out(number, "i", None)),
        ..order(
            ServiceInstance {
                change: begun(ChangeKind::Update, number),
                ..current.clone()
            },
            Some(expected),
        )
    };
    let placed = place(
        &store,
        PlaceOrder {
            bindings: vec![never],
            ..update(4, current.revision)
        },
    )
    .await;
    let outputs = json!({
        "b": { "credentials": { "user": "new", "more": 1 }, "endpoints": [] },
        "never": { "credentials": { "user": "new" } },
        "unknown": { "credentials": { "user": "new" } },
        "c": "nothing",
    });
    let before = bound(&store, "i", "c").await;
    conclude(&store, 4, Ended::Succeeded, Some(outputs.clone()), 20).await;
    let after = recorded(&store, "i").await.unwrap();
    assert_eq!(after.revision, placed.revision + 1);
    let laid_over = bound(&store, "i", "b").await.unwrap();
    let expected = json!({ "user": "new", "more": 1, "salt": CANARY });
    assert_eq!(credentials(&laid_over), expected);
    assert_eq!(laid_over.access.unwrap().endpoints, Some(json!([])));
    assert_eq!(bound(&store, "i", "c").await, before);
    assert_eq!(bound(&store, "i", "never").await.unwrap().access, None);
    assert_eq!(bound(&store, "i", "unknown").await, None);

    place(&store, update(5, after.revision)).await;
    let other = json!({ "b": { "credentials": { "user": "other" } } });
    conclude(&store, 5, failed(), Some(other), 21).await;
    assert_eq!(
        credentials(&bound(&store, "i", "b").await.unwrap()),
        expected
    );
}

/// The broker alone shows them.
pub async fn the_outputs_of_an_order_are_not_kept(store: Engine) {
    with_instance(&store, 1, "i").await;
    with_binding(&store, 2, "i", "b").await;
    let ended = operation(&store, 2).await;
    let work = group_work(&ended);
    assert_eq!(work.state, GroupState::Ended(Ended::Succeeded));
    assert_eq!(work.outputs, None);
    // Those of any other apply are.
    accept(&store, on_group(3, "rg", Task::Apply(no_members()))).await;
    conclude(&store, 3, Ended::Succeeded, Some(json!({ "b": 1 })), 20).await;
    let ended = operation(&store, 3).await;
    assert_eq!(group_work(&ended).outputs, Some(json!({ "b": 1 })));
}

/// Also by an order without an operation.
pub async fn the_bindings_of_a_deleted_instance_are_deleted(store: Engine) {
    for (number, name) in [(1, "i"), (10, "j"), (20, "k")] {
        with_instance(&store, number, name).await;
        with_binding(&store, number + 1, name, "b").await;
    }
    let deleted = async |number, name: &str, ended: Ended| {
        let current = recorded(&store, name).await.unwrap();
        let delete = PlaceOrder {
            operation: Some(carrying_out(number, name, None)),
            ..order(
                ServiceInstance {
                    change: begun(ChangeKind::Delete, number),
                    ..current.clone()
                },
                Some(current.revision),
            )
        };
        place(&store, delete).await;
        conclude(&store, number, ended, None, 20).await;
        bound(&store, name, "b").await.unwrap()
    };
    let kept = deleted(30, "i", failed()).await;
    assert!(kept.has_stood());
    let gone = deleted(31, "i", Ended::Succeeded).await;
    assert_eq!((gone.gone_at(), gone.access), (Some(at(20)), None));

    let mut current = recorded(&store, "j").await.unwrap();
    current.delete(at(10));
    let expected = Some(current.revision);
    let changed = binding("j", "c", done(ChangeKind::Create));
    let at_once = PlaceOrder {
        bindings: vec![changed],
        ..order(current, expected)
    };
    place(&store, at_once).await;
    for name in ["b", "c"] {
        assert!(bound(&store, "j", name).await.unwrap().is_gone());
    }
    assert_eq!(listed(&store, "j").await, [""; 0]);
    // Those of others stay.
    assert_eq!(listed(&store, "k").await, ["b"]);
}

/// A deletion that fails may have taken what bindings hand out. One that has lost all that it had is gone.
pub async fn a_deletion_that_fails_leaves_no_credentials_of_what_is_gone(store: Engine) {
    with_instance(&store, 1, "i").await;
    for (number, name) in [(2, "all"), (3, "some"), (4, "none"), (5, "plain")] {
        with_binding(&store, number, "i", name).await;
    }
    for (number, name) in [(10, "i:a"), (11, "i:All:x"), (12, "i:some:x")] {
        map(&store, number, name, &format!("r{number}"), true).await;
    }
    let members = ["i:a", "i:all:x", "i:some:x", "i:some:y", "i:none:x"];
    let delete = async |number, ended: Ended| {
        let mut current = recorded(&store, "i").await.unwrap();
        let expected = current.revision;
        current.change = begun(ChangeKind::Delete, number);
        let new = PlaceOrder {
            operation: Some(deleting(number, None, &members)),
            ..order(current, Some(expected))
        };
        place(&store, new).await;
        conclude(&store, number, ended, None, 20).await;
        let after = recorded(&store, "i").await.unwrap();
        assert_eq!(after.revision, expected + 2);
        after.change
    };
    let before = bound(&store, "i", "some").await.unwrap();
    let plain = bound(&store, "i", "plain").await;
    let all = bound(&store, "i", "all").await;
    let failure = Failure::new("NotStabilized", "It did not stabilise.");
    for (number, ended) in [(20, failed()), (21, Ended::Canceled(failure))] {
        let change = delete(number, ended).await;
        let some = bound(&store, "i", "some").await.unwrap();
        assert_eq!((some.access, some.change), (None, change));
        assert_eq!(some.parameters, before.parameters);
        assert!(bound(&store, "i", "none").await.unwrap().is_gone());
        assert_eq!(bound(&store, "i", "all").await, all);
        assert_eq!(bound(&store, "i", "plain").await, plain);
    }
    assert_eq!(listed(&store, "i").await, ["all", "plain", "some"]);

    // The deletion of a binding may leave some of it too.
    let unbind = async |number, name: &str, members: &[&str]| {
        let current = recorded(&store, "i").await.unwrap();
        let mut changed = bound(&store, "i", name).await.unwrap();
        changed.change = begun(ChangeKind::Delete, number);
        let expected = Some(current.revision);
        let new = PlaceOrder {
            bindings: vec![changed],
            operation: Some(deleting(number, Some(name), members)),
            ..order(current, expected)
        };
        place(&store, new).await;
        conclude(&store, number, failed(), None, 21).await;
        bound(&store, "i", name).await.unwrap()
    };
    let kept = unbind(30, "all", &["i:all:x"]).await;
    assert!(kept.has_stood() && kept.change.failure().is_some());
    let lost = unbind(31, "all", &["i:all:x", "i:all:y"]).await;
    assert!(lost.access.is_none() && !lost.is_gone());
    assert!(lost.change.failure().is_some());
}

/// Those whose aliases begin with the id and a colon, however it is spelled, in its group alone.
pub async fn the_references_of_an_instance_are_listed(store: Engine) {
    for name in ["rg", "other"] {
        with_group(&store, name).await;
    }
    let names = [
        "i:b", "I:A", "i:a:role", "i:", "i", "ia", "i;a", "ii:a", "j:i:a",
    ];
    for (number, name) in (1..).zip(names) {
        map(&store, number, name, &format!("x{number}"), true).await;
    }
    let of = async |group_name: &str, name: &str| -> Vec<String> {
        let (group, instance) = (group(group_name), instance_id(name));
        let listed = store.list_service_references(&group, &instance).await;
        let listed = listed.unwrap().into_iter();
        listed.map(|it| it.id.alias).collect()
    };
    assert_eq!(of("RG", "I").await, ["i:", "I:A", "i:a:role", "i:b"]);
    assert_eq!(of("rg", "j").await, ["j:i:a"]);
    assert_eq!(of("rg", "j:i").await, ["j:i:a"]);
    for (group, name) in [("rg", "k"), ("other", "i"), ("missing", "i")] {
        assert_eq!(of(group, name).await, [""; 0], "{group} {name}");
    }
}

/// The tags of what an order of an instance has made.
fn of_instance(name: &str) -> BTreeMap<String, String> {
    let InstanceId { platform, instance } = instance_id(name);
    let tags = [("osb-platform", platform), ("osb-instance", instance)];
    tags.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Gives a reference tags.
async fn tag(store: &Engine, name: &str, tags: BTreeMap<String, String>) {
    let update = ucp_store::ReferenceUpdate {
        tags: Some(tags),
        ..ucp_store::ReferenceUpdate::default()
    };
    let (id, correlation) = (alias(name), correlation());
    let update = store.update_reference(&id, update, "ann", &correlation, at(9));
    update.await.unwrap();
}

/// An order changes what an order of its instance has made, and nothing else that bears its name.
pub async fn an_order_changes_what_its_instance_has_made(store: Engine) {
    with_group(&store, "rg").await;
    map(&store, 1, "i:a", "x", true).await;
    map(&store, 3, "i:b", "y", false).await;
    resolving::lose_track(&store, 5, "i:c", None).await;
    let change = |number: u64, work: fn(u64, &str) -> ucp_store::NewOperation| {
        with(work(number, "i:a"), |new| {
            new.of_instance = Some(instance_id("i"))
        })
    };
    for work in [put, delete] {
        refused!(
            store.accept_operation(change(2, work)),
            Error::NotOfInstance
        );
    }
    tag(&store, "i:a", of_instance("j")).await;
    refused!(store.accept_operation(change(2, put)), Error::NotOfInstance);
    tag(&store, "i:a", of_instance("i")).await;
    store.accept_operation(change(2, put)).await.unwrap();
    let of_order = |new| with(new, |new| new.of_instance = Some(instance_id("i")));
    // No order has asked for what a create of unknown outcome may have made.
    let undecided = || of_order(delete(6, "i:c"));
    refused!(store.accept_operation(undecided()), Error::NotOfInstance);
    tag(&store, "i:c", of_instance("i")).await;
    store.accept_operation(undecided()).await.unwrap();
    // What owns nothing is only forgotten.
    let change = of_order(put(4, "i:b"));
    refused!(store.accept_operation(change), Error::NotOfInstance);
    store
        .accept_operation(of_order(delete(4, "i:b")))
        .await
        .unwrap();
}

/// Besides those that they have: the references of the instance and of its bindings, and no others.
pub async fn references_get_the_tags_of_an_order(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name) in [
        (1, "I:a"),
        (2, "i:b:role"),
        (3, "ii:a"),
        (4, "other"),
        (5, "i:arm"),
    ] {
        map(&store, number, name, &format!("x{number}"), true).await;
        if number <= 3 {
            tag(&store, name, of_instance("i")).await;
        }
    }
    let tags = |value: &str| vec![("osb-instance-name".to_owned(), value.to_owned())];
    let new = PlaceOrder {
        tags: tags("one"),
        ..order(instance("i", done(ChangeKind::Create)), None)
    };
    let untouched = reference(&store, "other").await;
    place(&store, new.clone()).await;
    let tagged = reference(&store, "i:a").await;
    let named = |value: &str| BTreeMap::from_iter(of_instance("i").into_iter().chain(tags(value)));
    assert_eq!(tagged.tags, named("one"));
    assert_eq!(tagged.updated_at, at(10));
    assert_eq!(reference(&store, "i:arm").await.tags, BTreeMap::new());
    let own = ucp_store::ReferenceUpdate {
        tags: Some(BTreeMap::from_iter(
            [("own".to_owned(), "1".to_owned())]
                .into_iter()
                .chain(tags("one")),
        )),
        ..ucp_store::ReferenceUpdate::default()
    };
    let (id, correlation) = (alias("i:a"), correlation());
    let update = store.update_reference(&id, own, "ann", &correlation, at(11));
    let before = update.await.unwrap();
    // Nothing is written of one that has them.
    place(
        &store,
        PlaceOrder {
            expected: Some(1),
            ..new.clone()
        },
    )
    .await;
    assert_eq!(reference(&store, "i:a").await, before);
    let renamed = PlaceOrder {
        tags: tags("two"),
        expected: Some(2),
        ..new.clone()
    };
    place(&store, renamed).await;
    let after = reference(&store, "i:a").await;
    let both = [("own".to_owned(), "1".to_owned())].into_iter();
    // An update does not take away what says whose it is.
    assert_eq!(after.tags, BTreeMap::from_iter(both.chain(named("two"))));
    assert_eq!(after.revision, before.revision + 1);
    assert_eq!(after.baseline, before.baseline);
    let of_binding = reference(&store, "i:b:role").await;
    assert_eq!(of_binding.tags, named("two"));
    assert_eq!(reference(&store, "ii:a").await.tags, of_instance("i"));
    assert_eq!(reference(&store, "other").await, untouched);

    let many = (0..MAX_TAGS).map(|number| (number.to_string(), String::new()));
    let too_many = PlaceOrder {
        tags: many.collect(),
        expected: Some(3),
        ..new
    };
    refused!(store.place_order(too_many), Error::TooManyTags);
    assert_eq!(reference(&store, "i:a").await, after);
    assert_eq!(recorded(&store, "i").await.unwrap().revision, 3);
}

/// A new one as well as one that is there.
pub async fn an_accepted_operation_tags_its_reference(store: Engine) {
    with_group(&store, "rg").await;
    let tagging = |number: u64, tags: &[(&str, &str)]| {
        let tags = tags.iter();
        let tags = tags.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        with(put(number, "a"), |new| new.reference_tags = tags.collect())
    };
    let accepted = accept(&store, tagging(1, &[("a", "1"), ("b", "1")])).await;
    let tags = |reference: &ucp_model::Reference| {
        let tags = reference.tags.iter();
        let tags = tags.map(|(key, value)| format!("{key}={value}"));
        tags.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(tags(&accepted.reference.unwrap()), "a=1 b=1");
    let claimed = claim_one(&store, at(2)).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;
    assert_eq!(tags(&reference(&store, "a").await), "a=1 b=1");
    let claimed = accept_and_claim(&store, tagging(2, &[("b", "2"), ("c", "2")])).await;
    assert_eq!(tags(&reference(&store, "a").await), "a=1 b=2 c=2");
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;
    let claimed = accept_and_claim(&store, tagging(3, &[])).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;
    assert_eq!(tags(&reference(&store, "a").await), "a=1 b=2 c=2");

    let many = (0..MAX_TAGS).map(|number| (number.to_string(), String::new()));
    let too_many = with(put(4, "a"), |new| new.reference_tags = many.collect());
    refused!(store.accept_operation(too_many), Error::TooManyTags);
}

/// Whether it is empty, or is emptied by its deletion.
pub async fn instances_go_with_their_group(store: Engine) {
    for (number, resources) in [(1, false), (10, true)] {
        with_instance(&store, number, "i").await;
        with_binding(&store, number + 1, "i", "b").await;
        if resources {
            map(&store, number + 2, "i:a", "x", false).await;
        }
        let delete = on_group(number + 3, "rg", Task::Delete);
        let deletion = store.delete_resource_group(delete, &Precondition::NONE, None);
        match deletion.await.unwrap() {
            GroupDeletion::Removed => assert!(!resources),
            GroupDeletion::Accepted(_) => {
                assert!(recorded(&store, "i").await.is_some());
                conclude(&store, number + 3, Ended::Succeeded, None, 30).await;
            }
            other
            @ (GroupDeletion::Absent | GroupDeletion::Running(_) | GroupDeletion::Owns(_)) => {
                panic!("{other:?}")
            }
        }
        refused!(store.get_resource_group(&group("rg")), Error::NoSuchGroup);
        assert_eq!(recorded(&store, "i").await, None);
        assert_eq!(bound(&store, "i", "b").await, None);
    }
}

/// What tells that an instance is deleted goes with the group.
pub async fn a_group_with_an_instance_is_not_removed_as_empty(store: Engine) {
    for name in ["rg", "web"] {
        with_group(&store, name).await;
    }
    map(&store, 1, "a", "x", true).await;
    let mut new = instance("i", done(ChangeKind::Create));
    place(&store, order(new.clone(), None)).await;
    let there = emptying(&store, 1, ("rg", "web"), &["rg"]).await;
    assert_eq!(removed_by(&store, there).await, [""; 0]);
    let back = emptying(&store, 2, ("web", "rg"), &[]).await;
    store.apply_refactor(back).await.unwrap();
    new.delete(at(12));
    place(&store, order(new, Some(1))).await;
    let there = emptying(&store, 3, ("rg", "web"), &["rg"]).await;
    assert_eq!(removed_by(&store, there).await, ["rg"]);
    assert_eq!(recorded(&store, "i").await, None);
}

/// In batches, those that are gone longest first, and each instance after its bindings.
pub async fn what_is_gone_is_removed_after_a_while(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name) in ["i", "j", "k"].into_iter().enumerate() {
        let second = 20 + i64::try_from(number).unwrap();
        let new = PlaceOrder {
            bindings: ["b", "c"]
                .map(|it| binding(name, it, done(ChangeKind::Create)))
                .to_vec(),
            ..order(instance(name, done(ChangeKind::Create)), None)
        };
        let mut current = place(&store, new).await;
        if name == "k" {
            let mut gone = binding(name, "c", done(ChangeKind::Create));
            gone.delete(at(second));
            let unbind = PlaceOrder {
                bindings: vec![gone],
                ..order(current, Some(1))
            };
            place(&store, unbind).await;
        } else {
            current.delete(at(second));
            let deletion = PlaceOrder {
                placed_at: at(second),
                ..order(current, Some(1))
            };
            place(&store, deletion).await;
        }
    }
    assert_eq!(store.remove_gone_services(at(20), 9).await.unwrap(), 0);
    // A binding, and none of the instances before their bindings are.
    assert_eq!(store.remove_gone_services(at(21), 1).await.unwrap(), 1);
    assert!(recorded(&store, "i").await.is_some());
    assert_eq!(store.remove_gone_services(at(21), 1).await.unwrap(), 1);
    assert!(recorded(&store, "i").await.is_some());
    assert_eq!(store.remove_gone_services(at(21), 1).await.unwrap(), 1);
    assert_eq!(recorded(&store, "i").await, None);
    assert!(recorded(&store, "j").await.is_some());
    assert_eq!(store.remove_gone_services(at(99), 9).await.unwrap(), 4);
    assert_eq!(recorded(&store, "j").await, None);
    assert!(recorded(&store, "k").await.is_some());
    assert_eq!(listed(&store, "k").await, ["b"]);
    assert_eq!(bound(&store, "k", "c").await, None);
    // It may be ordered again.
    place(&store, creation(1, "i")).await;
}

/// The records are sealed where they leave the process, found, and read after they are sealed anew.
pub async fn records_of_services_are_sealed(store: Engine) {
    with_instance(&store, 1, "I").await;
    with_binding(&store, 2, "i", "b").await;
    let before = (recorded(&store, "i").await, bound(&store, "i", "b").await);
    let all = store.list_sealed(None, 100).await.unwrap();
    let of_services = all.into_iter().filter(|(place, _)| match place {
        SealedPlace::ServiceInstance(_) | SealedPlace::ServiceBinding(_) => true,
        SealedPlace::Credential(_)
        | SealedPlace::Desired(_)
        | SealedPlace::DigestKey(_)
        | SealedPlace::Document(_)
        | SealedPlace::Look(_)
        | SealedPlace::PlanContent(_)
        | SealedPlace::PlanDeclared(_)
        | SealedPlace::Baseline(_)
        | SealedPlace::Observed(_)
        | SealedPlace::Body(_) => false,
    });
    let of_services: Vec<(SealedPlace, Stored)> = of_services.collect();
    // An engine that keeps nothing on disk seals nothing.
    if of_services.is_empty() {
        return;
    }
    let places: Vec<SealedPlace> = of_services.iter().map(|(place, _)| place.clone()).collect();
    let expected = [
        SealedPlace::ServiceInstance(instance_id("i").key()),
        SealedPlace::ServiceBinding(binding_id("i", "b").key()),
    ];
    assert_eq!(places, expected);
    for (place, stored) in of_services {
        let Stored::Sealed(sealed) = &stored else {
            panic!("{place:?} is in clear");
        };
        let bytes = sealed.0.windows(CANARY.len());
        assert!(!bytes.into_iter().any(|bytes| bytes == CANARY.as_bytes()));
        let other = super::fixture::sealed("other").into();
        assert!(!store.reseal(&place, &other, sealed.clone()).await.unwrap());
        assert!(store.reseal(&place, &stored, sealed.clone()).await.unwrap());
    }
    assert_eq!(
        (recorded(&store, "i").await, bound(&store, "i", "b").await),
        before
    );
}
