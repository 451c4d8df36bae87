//! Credentials and the secrets beside them.

use std::collections::BTreeMap;

use ucp_model::{Credential, CredentialId, CredentialKind};

use super::fixture::*;
use crate::{NewCredential, Sealed, StoredCredential};

fn id(name: &str) -> CredentialId {
    CredentialId::new("aws", name).unwrap()
}

/// An access key with a secret that only bytes can hold.
fn access_key(id: CredentialId) -> NewCredential {
    NewCredential {
        id,
        location: "global".to_owned(),
        tags: BTreeMap::from([("Team".to_owned(), "é\"\u{1f600}".to_owned())]),
        kind: CredentialKind::AccessKey {
            access_key_id: "AKIA1".to_owned(),
        },
        secret: Some(Sealed(vec![0, 255, 7])),
    }
}

async fn stored(store: &Engine, id: &CredentialId) -> Option<StoredCredential> {
    store.get_credential(id).await.unwrap()
}

/// What was written comes back, the secret only when one credential is asked for.
pub async fn a_credential_is_remembered_with_its_secret(store: Engine) {
    assert_eq!(stored(&store, &id("default")).await, None);
    let new = access_key(id("default"));
    let put = store.put_credential(new.clone(), at(1)).await.unwrap();
    let expected = Credential {
        id: new.id,
        location: new.location,
        tags: new.tags,
        kind: new.kind,
        created_at: at(1),
        updated_at: at(1),
        revision: 1,
    };
    assert_eq!(put, expected);
    let listed = store.list_credentials("aws", None, 10).await.unwrap();
    assert_eq!(listed, [expected.clone()]);
    let found = StoredCredential {
        credential: expected,
        secret: new.secret,
    };
    assert_eq!(stored(&store, &id("default")).await, Some(found));
}

/// A second write leaves nothing of the first but its casing, the moment it was made and a risen revision.
pub async fn a_credential_is_replaced_and_keeps_its_first_casing(store: Engine) {
    let first = CredentialId::new("Aws", "My-Key").unwrap();
    let put = store.put_credential(access_key(first.clone()), at(1)).await;
    put.unwrap();
    let role = NewCredential {
        id: CredentialId::new("aws", "my-KEY").unwrap(),
        location: "west".to_owned(),
        tags: BTreeMap::new(),
        kind: CredentialKind::Irsa {
            role_arn: "arn:aws:iam::1:role/r".to_owned(),
        },
        secret: None,
    };
    let put = store.put_credential(role.clone(), at(2)).await.unwrap();
    let expected = Credential {
        id: first,
        location: role.location,
        tags: role.tags,
        kind: role.kind,
        created_at: at(1),
        updated_at: at(2),
        revision: 2,
    };
    assert_eq!(put, expected);
    let found = StoredCredential {
        credential: expected,
        secret: None,
    };
    assert_eq!(stored(&store, &id("MY-KEY")).await, Some(found));
}

/// Pages hold one plane's credentials in the order of their keys; a page goes on where the last one ended, whether or not
/// the credential that stood there is gone.
pub async fn credentials_are_listed_by_page(store: Engine) {
    let ids = ["b", "A", "b-1", "C", "B1"].map(id);
    for id in &ids {
        store
            .put_credential(access_key(id.clone()), at(0))
            .await
            .unwrap();
    }
    for plane in ["aw", "aws-2"] {
        let elsewhere = CredentialId::new(plane, "b").unwrap();
        let put = store.put_credential(access_key(elsewhere), at(0)).await;
        put.unwrap();
    }
    let page = async |after: Option<&CredentialId>, limit| -> Vec<CredentialId> {
        let page = store.list_credentials("AWS", after, limit).await.unwrap();
        page.into_iter().map(|credential| credential.id).collect()
    };
    let [b, a, b_1, c, b1] = &ids;
    assert_eq!(page(None, 2).await, [a.clone(), b.clone()]);
    store.delete_credential(b).await.unwrap();
    assert_eq!(page(Some(&id("B")), 2).await, [b_1.clone(), b1.clone()]);
    assert_eq!(page(Some(b1), 2).await, [c.clone()]);
    assert!(page(Some(c), 2).await.is_empty());
    let none = store.list_credentials("nowhere", None, 10).await.unwrap();
    assert!(none.is_empty());
}

/// Deleting takes the secret along; a credential of the same name is a new one.
pub async fn a_deleted_credential_leaves_nothing(store: Engine) {
    assert!(!store.delete_credential(&id("default")).await.unwrap());
    store
        .put_credential(access_key(id("default")), at(1))
        .await
        .unwrap();
    assert!(store.delete_credential(&id("DEFAULT")).await.unwrap());
    assert_eq!(stored(&store, &id("default")).await, None);
    assert!(!store.delete_credential(&id("default")).await.unwrap());
    let put = store.put_credential(access_key(id("Default")), at(2)).await;
    let put = put.unwrap();
    assert_eq!(
        (put.id, put.created_at, put.revision),
        (id("Default"), at(2), 1)
    );
}
