//! The lock on the SQLite database. This test has a binary of its own: a test beside it that starts a program would,
//! between fork and exec, briefly hold the lock that this test has just released.

use std::collections::BTreeMap;
use std::time::Duration;

use ucp_model::operation::Kind;
use ucp_model::{
    CorrelationId, GroupBody, GroupId, NewResourceGroup, ReferenceId, Scope, Timestamp, TypeName,
};
use ucp_store::{
    Groups, LeaseTerm, Leases, NewOperation, NewResourceWork, NewWork, Operations, Precondition,
    Sealed, SealedPlace, SealedValues,
};
use ucp_store_sql::testing::cipher;
use ucp_store_sql::{OpenError, Sql};

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

#[tokio::test]
async fn a_second_process_is_kept_out_or_joins_and_a_later_one_goes_on() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("ucp.db");
    let store = Sql::open_sqlite(&path).await.unwrap().sealed_with(cipher());
    let group = GroupId::new("local", "rg").unwrap();
    let put = NewResourceGroup {
        id: group.clone(),
        location: "global".to_owned(),
        tags: BTreeMap::new(),
        body: GroupBody::default(),
    };
    store
        .put_resource_group(put, &Precondition::NONE, NOW)
        .await
        .unwrap();
    let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    let id = "6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d".parse().unwrap();
    let put = NewOperation {
        id,
        parent: None,
        correlation_id: CorrelationId::new("deployment"),
        caller: "caller".to_owned(),
        keeps_plan_policy: false,
        accepted_at: NOW,
        work: NewWork::Resource(Box::new(NewResourceWork {
            reference: Some(ReferenceId::new(group, type_name.clone(), "a").unwrap()),
            compared_with: usize::MAX,
            desired: Some(Sealed(b"desired".to_vec())),
            ..NewResourceWork::new(
                Kind::Put,
                Scope::new("aws", "1234", "us-west-2").unwrap(),
                type_name,
            )
        })),
    };
    store.accept_operation(put).await.unwrap();
    let hour = LeaseTerm(Duration::from_secs(3_600));
    assert_eq!(
        store
            .claim_due_operations("worker", NOW, hour, 1)
            .await
            .unwrap()
            .len(),
        1
    );

    // Locks belong to the open file, so a second handle acts like a second process.
    let error = Sql::open_sqlite(&path).await.unwrap_err();
    assert!(matches!(&error, OpenError::Locked(locked) if *locked == path));
    assert!(error.to_string().contains("another process"), "{error}");

    // A process that joins can read and write, and takes nothing over.
    let joined = Sql::join_sqlite(&path).await.unwrap();
    let at = SealedPlace::Desired(id);
    let desired = async || {
        let mut sealed = store.list_sealed(None, 9).await.unwrap().into_iter();
        sealed.find(|(place, _)| *place == at).unwrap().1
    };
    let (old, new) = (desired().await, Sealed(b"sealed anew".to_vec()));
    assert!(joined.reseal(&at, &old, new.clone()).await.unwrap());
    assert_eq!(desired().await, new.into());
    let none = store.claim_due_operations("other", NOW, hour, 1).await;
    assert!(none.unwrap().is_empty(), "the lease is still held");
    drop(joined);
    let missing = folder.path().join("missing.db");
    let error = Sql::join_sqlite(&missing).await.unwrap_err();
    assert!(matches!(error, OpenError::Connect(_)), "{error:?}");
    assert!(!missing.exists());

    drop(store);
    let store = Sql::open_sqlite(&path).await.unwrap().sealed_with(cipher());
    let claimed = store
        .claim_due_operations("worker", NOW, hour, 1)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(claimed.lease.generation, 2, "nobody else can hold it");
    assert_eq!(
        claimed.documents.desired,
        Some(Sealed(b"sealed anew".to_vec()))
    );
}
