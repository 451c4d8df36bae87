//! What is known of resources is sealed in the database, whoever reads that.

use serde_json::{Value, json};
use ucp_model::operation::group::{Application, GroupState};
use ucp_model::operation::{Options, ReferenceChange, ResourceWork, State, Work};
use ucp_model::{
    Baseline, BindingId, Change, ChangeKind, Ended, InstanceId, Lineage, Order, Provision,
    ResourceGroup, ServiceBinding, ServiceInstance,
};
use ucp_store::{
    FinishOperation, PlaceOrder, ReferenceUpdate, SealedPlace, SealedValues, ServiceBroker, Stored,
};

use super::*;
use crate::testing::{TestCipher, cipher};

const CANARY: &str = "canary-5d1e";
const TERM: LeaseTerm = LeaseTerm(Duration::from_secs(3_600));

/// A put that has ended with a result, and its reference.
async fn filled(store: &Sql) {
    accept(store).await;
    let claimed = store.claim_due_operations("worker", NOW, TERM, 1).await;
    let mut claimed = claimed.unwrap().remove(0);
    let Work::Resource(work) = &mut claimed.operation.work else {
        panic!("a put works on a resource");
    };
    let properties = json!({"Environment": CANARY});
    **work = ResourceWork {
        identifier: Some(Identifier::new("x")),
        state: State::Ended(Ended::Succeeded),
        result: Some(properties.clone()),
        options: Options::default(),
        ..(**work).clone()
    };
    claimed.operation.header.ended_at = Some(NOW);
    let end = FinishOperation {
        operation: claimed.operation,
        reference: Some(ReferenceChange::Applied { owned: true }),
        baseline: Some(Baseline {
            declared: properties,
            ..Baseline::default()
        }),
        leftover: None,
    };
    store.finish_operation(&claimed.lease, end).await.unwrap();
}

/// What the store answers of it.
async fn answers(store: &Sql) -> [Value; 3] {
    let operation = store.get_operation(operation_id()).await.unwrap().unwrap();
    let reference = store.get_reference(&reference_id()).await.unwrap().unwrap();
    [
        operation.work.resource().unwrap().result.clone().unwrap(),
        reference.baseline.unwrap().declared,
        reference.observed.unwrap(),
    ]
}

/// The columns as the database has them.
async fn columns(store: &Sql) -> Vec<String> {
    let sql = "SELECT body FROM operations UNION ALL SELECT baseline FROM resource_references
        UNION ALL SELECT observed FROM resource_references UNION ALL SELECT record FROM broker_instances
        UNION ALL SELECT record FROM broker_bindings";
    let columns = column::<Option<String>>(store, sql).await;
    columns.into_iter().flatten().collect()
}

/// What the engine has sealed, or should have.
async fn of_engine(store: &Sql) -> Vec<(SealedPlace, Stored)> {
    let all = store.list_sealed(None, 99).await.unwrap().into_iter();
    all.filter(|(place, _)| place.is_of_engine()).collect()
}

/// Stores in clear what is sealed, as earlier versions did.
pub(super) async fn uncover(store: &Sql) {
    for (place, stored) in of_engine(store).await {
        let Stored::Sealed(sealed) = stored else {
            continue;
        };
        let json = String::from_utf8(cipher().open(&place, &sealed).unwrap()).unwrap();
        let json = json.replace('\'', "''");
        let update = match place {
            SealedPlace::Baseline(key) => {
                format!("UPDATE resource_references SET baseline = '{json}' WHERE key = '{key}'")
            }
            SealedPlace::Observed(key) => {
                format!("UPDATE resource_references SET observed = '{json}' WHERE key = '{key}'")
            }
            SealedPlace::Body(id) => {
                format!("UPDATE operations SET body = '{json}' WHERE id = '{id}'")
            }
            SealedPlace::ServiceInstance(key) => {
                format!("UPDATE broker_instances SET record = '{json}' WHERE key = '{key}'")
            }
            SealedPlace::ServiceBinding(key) => {
                format!("UPDATE broker_bindings SET record = '{json}' WHERE key = '{key}'")
            }
            SealedPlace::Credential(_)
            | SealedPlace::Desired(_)
            | SealedPlace::DigestKey(_)
            | SealedPlace::Document(_)
            | SealedPlace::Look(_)
            | SealedPlace::PlanContent(_)
            | SealedPlace::PlanDeclared(_) => panic!("{place:?}"),
        };
        tamper(store, &update).await;
    }
}

/// Makes a case a test on each engine.
macro_rules! on_each_engine {
    ($($case:ident)+) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $case() {
                    let (store, _folder) = super::sqlite().await;
                    super::$case(store).await;
                }
            )+
        }
        mod on_postgres {
            $(
                #[tokio::test]
                async fn $case() {
                    if let Some((store, _database)) = super::postgres().await {
                        super::$case(store).await;
                    }
                }
            )+
        }
    };
}

on_each_engine! {
    what_is_known_of_a_resource_is_sealed
    rows_of_earlier_versions_are_read_and_then_sealed
    a_row_without_a_lineage_has_that_of_its_key
    what_is_written_meanwhile_is_not_resealed
    what_was_moved_does_not_open
    what_was_ordered_is_sealed
    without_its_key_a_row_says_so_and_the_group_stays_usable
    without_a_cipher_nothing_is_written
}

async fn what_is_known_of_a_resource_is_sealed(store: Sql) {
    filled(&store).await;
    let properties = json!({"Environment": CANARY});
    assert!(
        answers(&store)
            .await
            .iter()
            .all(|value| *value == properties)
    );
    let columns = columns(&store).await;
    assert_eq!(columns.len(), 3);
    for column in columns {
        assert!(column.starts_with("sealed:"), "{column}");
        assert!(
            !column.contains(CANARY) && !column.contains('{'),
            "{column}"
        );
    }
}

async fn rows_of_earlier_versions_are_read_and_then_sealed(store: Sql) {
    filled(&store).await;
    let before = answers(&store).await;
    uncover(&store).await;
    assert!(
        columns(&store)
            .await
            .iter()
            .all(|column| column.contains(CANARY))
    );
    assert_eq!(answers(&store).await, before);
    let found = of_engine(&store).await;
    assert_eq!(found.len(), 3);
    assert!(!format!("{found:?}").contains(CANARY));

    // A reference is sealed when it is written next, and everything when it is told to be.
    let (id, correlation_id) = (reference_id(), CorrelationId::new("deployment"));
    let update = store.update_reference(&id, ReferenceUpdate::default(), "", &correlation_id, NOW);
    update.await.unwrap();
    for (place, stored) in found {
        let Stored::Clear(text) = &stored else {
            panic!("{place:?} is sealed");
        };
        let sealed = cipher().seal(&place, text.as_bytes()).unwrap();
        let resealed = store.reseal(&place, &stored, sealed).await.unwrap();
        assert_eq!(
            resealed,
            place == SealedPlace::Body(operation_id()),
            "{place:?}"
        );
    }
    assert!(
        columns(&store)
            .await
            .iter()
            .all(|column| column.starts_with("sealed:"))
    );
    assert_eq!(answers(&store).await, before);
}

/// Servers of earlier versions write no lineage, and seal and digest for the key of the reference.
async fn a_row_without_a_lineage_has_that_of_its_key(store: Sql) {
    filled(&store).await;
    let (before, sealed) = (answers(&store).await, of_engine(&store).await);
    tamper(&store, "UPDATE resource_references SET lineage = NULL").await;
    let reference = store.get_reference(&reference_id()).await.unwrap().unwrap();
    assert_eq!(reference.lineage.as_str(), reference_id().key());
    assert_eq!(answers(&store).await, before);
    assert_eq!(of_engine(&store).await, sealed);
    let [(place, old), ..] = &sealed[..] else {
        panic!("nothing is sealed");
    };
    let again = store.reseal(place, old, Sealed(vec![9])).await;
    assert!(again.unwrap());
}

async fn what_is_written_meanwhile_is_not_resealed(store: Sql) {
    filled(&store).await;
    let before = of_engine(&store).await;
    let places: Vec<&SealedPlace> = before.iter().map(|(place, _)| place).collect();
    let expected = [
        &SealedPlace::Baseline(Lineage::of(&reference_id())),
        &SealedPlace::Body(operation_id()),
        &SealedPlace::Observed(Lineage::of(&reference_id())),
    ];
    assert_eq!(places, expected);
    for (place, old) in &before {
        let other = Stored::Clear("{}".to_owned());
        let refused = store.reseal(place, &other, Sealed(vec![9])).await;
        assert!(!refused.unwrap(), "{place:?}");
        assert!(store.reseal(place, old, Sealed(vec![9])).await.unwrap());
        let late = store.reseal(place, old, Sealed(vec![8])).await;
        assert!(!late.unwrap(), "{place:?}");
    }
    let after = of_engine(&store).await.into_iter();
    assert!(
        after
            .map(|(_, stored)| stored)
            .all(|stored| stored == Sealed(vec![9]).into())
    );
}

async fn what_was_moved_does_not_open(store: Sql) {
    filled(&store).await;
    tamper(&store, "UPDATE resource_references SET observed = baseline").await;
    let answer = store.get_reference(&reference_id()).await;
    assert!(matches!(answer, Err(Error::Corrupt(_))), "{answer:?}");
}

/// An order of a binding, with its operation.
fn order() -> PlaceOrder {
    let instance = InstanceId {
        platform: "cf".to_owned(),
        instance: "i".to_owned(),
    };
    let binding = BindingId {
        instance: instance.clone(),
        binding: "b".to_owned(),
    };
    let application = Application {
        members: Vec::new(),
        has_outputs: true,
        plan: None,
        deployment: None,
        order: Some(Box::new(Order {
            kind: ChangeKind::Create,
            instance: instance.clone(),
            binding: Some(binding.binding.clone()),
            tags: BTreeMap::new(),
            after: None,
            reads_until: None,
            originator: None,
        })),
    };
    let made = NewResourceGroup {
        id: group(),
        location: "global".to_owned(),
        tags: BTreeMap::new(),
        body: GroupBody::default(),
    };
    let parameters = json!({"secret": CANARY}).as_object().unwrap().clone();
    PlaceOrder {
        instance: ServiceInstance {
            id: instance,
            group: group(),
            service: "service".to_owned(),
            organization: "organization".to_owned(),
            space: "space".to_owned(),
            name: None,
            wanted: Provision {
                plan: "plan".to_owned(),
                version: None,
                parameters: parameters.clone(),
                given: Some(parameters.clone()),
            },
            applied: None,
            randoms: BTreeMap::from([("salt".to_owned(), CANARY.to_owned())]),
            may_be_replaced: false,
            change: Change::done(ChangeKind::Create, NOW),
            revision: 0,
        },
        expected: None,
        bindings: vec![ServiceBinding {
            id: binding,
            plan: "plan".to_owned(),
            parameters: parameters.clone(),
            given: Some(parameters),
            bind_resource: None,
            predecessor: None,
            randoms: BTreeMap::new(),
            expires_at: None,
            renew_before: None,
            has_resources: true,
            access: None,
            change: Change::begun(ChangeKind::Create, operation_id(), NOW),
        }],
        group: Some(ResourceGroup::put(None, made, NOW)),
        tags: Vec::new(),
        cancels: None,
        operation: Some(NewOperation {
            work: NewWork::Group {
                group: group(),
                task: Task::Apply(application),
                declared: None,
                heirs: BTreeMap::new(),
            },
            ..put()
        }),
        placed_at: NOW,
    }
}

async fn what_was_ordered_is_sealed(store: Sql) {
    let new = order();
    let id = new.bindings[0].id.clone();
    store.place_order(new).await.unwrap();
    let claimed = store.claim_due_operations("worker", NOW, TERM, 1).await;
    let mut claimed = claimed.unwrap().remove(0);
    let Work::Group(work) = &mut claimed.operation.work else {
        panic!("an order is carried out by an apply");
    };
    work.state = GroupState::Ended(Ended::Succeeded);
    work.outputs = Some(json!({"b": {"credentials": {"password": CANARY}}}));
    claimed.operation.header.ended_at = Some(NOW);
    let end = FinishOperation {
        operation: claimed.operation,
        reference: None,
        baseline: None,
        leftover: None,
    };
    store.finish_operation(&claimed.lease, end).await.unwrap();
    let read = store.get_service_binding(&id).await.unwrap().unwrap();
    let credentials = read.access.unwrap().credentials.unwrap();
    assert_eq!(credentials, json!({"password": CANARY}));

    let found = columns(&store).await;
    assert_eq!(found.len(), 3);
    for column in found {
        assert!(column.starts_with("sealed:"), "{column}");
        assert!(
            !column.contains(CANARY) && !column.contains('{'),
            "{column}"
        );
    }
    // What the operation keeps has none of it, even opened.
    uncover(&store).await;
    let columns = columns(&store).await;
    let operation = &columns[0];
    assert!(operation.contains("\"order\""), "{operation}");
    assert!(!operation.contains(CANARY), "{operation}");
    assert!(columns[1..].iter().all(|column| column.contains(CANARY)));
}

async fn without_its_key_a_row_says_so_and_the_group_stays_usable(store: Sql) {
    accept(&store).await;
    let store = store.sealed_with(Arc::new(TestCipher(2)));
    let claim = async |store: &Sql, seconds| {
        let now = NOW.after(Duration::from_secs(seconds));
        let claimed = store.claim_due_operations("worker", now, TERM, 9).await;
        claimed.unwrap().len()
    };
    assert_eq!(claim(&store, 0).await, 0, "it is handed back");
    let missing = |error: Error| match error {
        Error::OtherKey {
            sealed_under,
            configured,
        } => assert_eq!((sealed_under.as_str(), configured.as_str()), ("1", "2")),
        error => panic!("{error:?}"),
    };
    missing(store.get_operation(operation_id()).await.unwrap_err());

    // Another alias of the group is put, and listed.
    let another = NewOperation {
        id: "00000000-0000-0000-0000-000000000002".parse().unwrap(),
        ..of_alias("b")
    };
    let another = store.accept_operation(another).await.unwrap().operation;
    let page = OperationPage {
        after: None,
        status: None,
        limit: 9,
    };
    let listed = store.list_operations(&group(), page).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&another));
    assert_eq!(claim(&store, 1).await, 1);
    store.get_resource_group(&group()).await.unwrap();

    let store = store.sealed_with(cipher());
    assert_eq!(claim(&store, 9).await, 1, "a process with the key takes it");
}

async fn without_a_cipher_nothing_is_written(store: Sql) {
    let store = store.sealed_with(Arc::new(crate::sealed_json::Missing));
    let put_group = NewResourceGroup {
        id: group(),
        location: "global".to_owned(),
        tags: BTreeMap::new(),
        body: GroupBody::default(),
    };
    let put_group = store.put_resource_group(put_group, &Precondition::NONE, NOW);
    put_group.await.unwrap();
    let refused = store.accept_operation(put()).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(columns(&store).await.is_empty());
}
