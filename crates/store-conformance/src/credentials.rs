//! Credentials and the secrets beside them.

use std::collections::BTreeMap;

use tokio::task::JoinSet;
use ucp_model::{Credential, CredentialId, CredentialKind, NewCredential};
use ucp_store::{Error, Precondition, Sealed, StoredCredential, Tags, Written};

use super::fixture::*;

fn id(name: &str) -> CredentialId {
    CredentialId::new("aws", name).unwrap()
}

/// An access key with a secret that is not UTF-8.
fn access_key(id: CredentialId) -> (NewCredential, Option<Sealed>) {
    let new = NewCredential {
        id,
        location: "global".to_owned(),
        tags: BTreeMap::from([("Team".to_owned(), "é\"\u{1f600}".to_owned())]),
        body: CredentialKind::AccessKey {
            access_key_id: "AKIA1".to_owned(),
        },
    };
    (new, Some(Sealed(vec![0, 255, 7])))
}

/// Writes without a precondition.
async fn put(
    store: &Engine,
    (new, secret): (NewCredential, Option<Sealed>),
    second: i64,
) -> Written<StoredCredential> {
    let any = Precondition::default();
    let put = store.put_credential(new, secret, &any, at(second));
    put.await.unwrap()
}

/// Deletes without a precondition.
async fn delete(store: &Engine, id: &CredentialId) -> bool {
    let any = Precondition::default();
    store.delete_credential(id, &any).await.unwrap()
}

async fn stored(store: &Engine, id: &CredentialId) -> Option<StoredCredential> {
    store.get_credential(id).await.unwrap()
}

/// A credential is read as written. Its secret is returned by `get_credential` only.
pub async fn a_credential_is_remembered_with_its_secret(store: Engine) {
    assert_eq!(stored(&store, &id("default")).await, None);
    let new = access_key(id("default"));
    let written = put(&store, new.clone(), 1).await;
    let (new, secret) = new;
    let expected = Credential {
        id: new.id,
        location: new.location,
        tags: new.tags,
        body: new.body,
        created_at: at(1),
        updated_at: at(1),
        revision: 1,
    };
    let listed = store.list_credentials("aws", None, 10).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&expected));
    let found = StoredCredential {
        credential: expected,
        secret,
    };
    let after = found.clone();
    let before = None;
    assert_eq!(written, Written { before, after });
    assert_eq!(stored(&store, &id("default")).await, Some(found));
}

/// A second write replaces all but the casing and the creation time, and increases the revision.
pub async fn a_credential_is_replaced_and_keeps_its_first_casing(store: Engine) {
    let first = CredentialId::new("Aws", "My-Key").unwrap();
    let one = put(&store, access_key(first.clone()), 1).await.after;
    let role = NewCredential {
        id: CredentialId::new("aws", "my-KEY").unwrap(),
        location: "west".to_owned(),
        tags: BTreeMap::new(),
        body: CredentialKind::Irsa {
            role_arn: "arn:aws:iam::1:role/r".to_owned(),
        },
    };
    let written = put(&store, (role.clone(), None), 2).await;
    let expected = Credential {
        id: first,
        location: role.location,
        tags: role.tags,
        body: role.body,
        created_at: at(1),
        updated_at: at(2),
        revision: 2,
    };
    let found = StoredCredential {
        credential: expected,
        secret: None,
    };
    // With the secret that it replaced.
    let before = Some(one);
    let after = found.clone();
    assert_eq!(written, Written { before, after });
    assert_eq!(stored(&store, &id("MY-KEY")).await, Some(found));
}

/// Pages hold one plane's credentials in the order of their keys. A page continues after the last one, even if the
/// credential that it ended with is gone.
pub async fn credentials_are_listed_by_page(store: Engine) {
    let ids = ["b", "A", "b-1", "C", "B1"].map(id);
    for id in &ids {
        put(&store, access_key(id.clone()), 0).await;
    }
    for plane in ["aw", "aws-2"] {
        let elsewhere = CredentialId::new(plane, "b").unwrap();
        put(&store, access_key(elsewhere), 0).await;
    }
    let page = async |after: Option<&CredentialId>, limit| -> Vec<CredentialId> {
        let page = store.list_credentials("AWS", after, limit).await.unwrap();
        page.into_iter().map(|credential| credential.id).collect()
    };
    let [b, a, b_1, c, b1] = &ids;
    assert_eq!(page(None, 2).await, [a.clone(), b.clone()]);
    assert!(delete(&store, b).await);
    assert_eq!(page(Some(&id("B")), 2).await, [b_1.clone(), b1.clone()]);
    assert_eq!(page(Some(b1), 2).await, std::slice::from_ref(c));
    assert!(page(Some(c), 2).await.is_empty());
    let none = store.list_credentials("nowhere", None, 10).await.unwrap();
    assert!(none.is_empty());
}

/// Deleting removes the secret too. A credential of the same name is a new one.
pub async fn a_deleted_credential_leaves_nothing(store: Engine) {
    assert!(!delete(&store, &id("default")).await);
    put(&store, access_key(id("default")), 1).await;
    assert!(delete(&store, &id("DEFAULT")).await);
    assert_eq!(stored(&store, &id("default")).await, None);
    assert!(!delete(&store, &id("default")).await);
    let anew = put(&store, access_key(id("Default")), 2).await;
    assert_eq!(anew.before, None);
    let anew = anew.after.credential;
    assert_eq!(anew.id, id("Default"));
    assert_eq!((anew.created_at, anew.revision), (at(2), 1));
}

/// A write whose precondition does not hold changes nothing. Deleting a missing credential needs no precondition to
/// hold.
pub async fn a_credential_is_written_only_as_its_precondition_holds(store: Engine) {
    let ((first, secret), (second, _)) = (access_key(id("default")), access_key(id("Default")));
    let exists = Precondition {
        if_match: Some(Tags::Any),
        ..Precondition::NONE
    };
    let put_if = async |precondition: &Precondition, new: &NewCredential| {
        let put = store.put_credential(new.clone(), secret.clone(), precondition, at(1));
        put.await.map(|written| written.after.credential)
    };
    refused!(put_if(&exists, &first), Error::PreconditionFailed);
    assert_eq!(stored(&store, &first.id).await, None);
    let deleted = store.delete_credential(&first.id, &exists).await;
    assert!(!deleted.unwrap());

    let one = put_if(&Precondition::absent(), &first).await.unwrap();
    refused!(
        put_if(&Precondition::absent(), &second),
        Error::PreconditionFailed
    );
    let two = put_if(&Precondition::matches(one.etag()), &second).await;
    let two = two.unwrap();
    assert_eq!(two.revision, 2);
    let stale = Precondition::matches(one.etag());
    refused!(put_if(&stale, &first), Error::PreconditionFailed);
    refused!(
        store.delete_credential(&first.id, &stale),
        Error::PreconditionFailed
    );
    let found = stored(&store, &first.id).await.unwrap();
    assert_eq!(found.credential, two);
    let fresh = Precondition::matches(two.etag());
    assert!(store.delete_credential(&first.id, &fresh).await.unwrap());
}

/// Of concurrent writes that require the credential to be absent, one succeeds.
pub async fn first_writes_of_a_credential_come_to_one(store: Engine) {
    let mut tasks = JoinSet::new();
    for second in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            let (new, secret) = access_key(id("default"));
            let absent = Precondition::absent();
            let put = store.put_credential(new, secret, &absent, at(second));
            match put.await {
                Ok(_) => true,
                Err(Error::PreconditionFailed) => false,
                Err(other) => panic!("{other:?}"),
            }
        });
    }
    let made = tasks.join_all().await;
    assert_eq!(made.into_iter().filter(|made| *made).count(), 1);
    let found = stored(&store, &id("default")).await.unwrap();
    assert_eq!(found.credential.revision, 1);
}
