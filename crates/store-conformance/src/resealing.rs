//! Listing sealed values and sealing them again.

use std::collections::BTreeMap;

use ucp_model::{CredentialId, CredentialKind, NewCredential};
use ucp_store::{Basis, NewLook, Precondition, Sealed, SealedKey, SealedPlace, Stored};

use super::fixture::*;
use super::kept_plans::{plan, plan_id};

fn digest_key(id: &str, text: &str) -> SealedKey {
    SealedKey {
        id: id.to_owned(),
        key: sealed(text),
    }
}

async fn put_credential(store: &Engine, name: &str, secret: Option<Sealed>) -> CredentialId {
    let id = CredentialId::new("aws", name).unwrap();
    let new = NewCredential {
        id: id.clone(),
        location: "global".to_owned(),
        tags: BTreeMap::new(),
        body: CredentialKind::Irsa {
            role_arn: "arn:aws:iam::1:role/r".to_owned(),
        },
    };
    let any = Precondition::default();
    let put = store.put_credential(new, secret, &any, at(0));
    put.await.unwrap();
    id
}

/// Every value that callers have sealed, in pages of `limit`. What the engine seals itself is not in clear.
async fn walk(store: &Engine, limit: usize) -> Vec<(SealedPlace, Sealed)> {
    let mut all: Vec<(SealedPlace, Stored)> = Vec::new();
    loop {
        let after = all.last().map(|(place, _)| place);
        let page = store.list_sealed(after, limit).await.unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            break;
        }
        all.extend(page);
    }
    let all = all.into_iter().map(|(place, stored)| match stored {
        Stored::Sealed(sealed) => (place, sealed),
        Stored::Clear(_) => panic!("{place:?} is in clear"),
    });
    all.filter(|(place, _)| !place.is_of_engine()).collect()
}

/// An alias with a declaration and an intent, another with a declaration and a look, two secrets and the digest key.
async fn with_sealed_values(store: &Engine) -> Vec<(SealedPlace, Sealed)> {
    with_group(store, "rg").await;
    let claimed = accept_and_claim(store, put(1, "a")).await;
    let document = Some(sealed("document"));
    let step = store.commit_step(&claimed.lease, &claimed.operation, document, at(2), TERM);
    step.await.unwrap();
    let look = NewLook {
        basis: Basis::default(),
        sealed: sealed("look"),
    };
    accept(store, with(put(2, "b"), |new| new.look = Some(look))).await;
    let one = put_credential(store, "One", Some(sealed("secret-1"))).await;
    let two = put_credential(store, "two", Some(sealed("secret-2"))).await;
    put_credential(store, "role", None).await;
    let key = store.ensure_digest_key(digest_key("key", "digest-key"), at(0));
    key.await.unwrap();
    store.keep_plan(plan(1)).await.unwrap();
    vec![
        (SealedPlace::Credential(one), sealed("secret-1")),
        (SealedPlace::Credential(two), sealed("secret-2")),
        (SealedPlace::Desired(operation_id(1)), sealed("desired")),
        (SealedPlace::Desired(operation_id(2)), sealed("desired")),
        (
            SealedPlace::DigestKey("key".to_owned()),
            sealed("digest-key"),
        ),
        (SealedPlace::Document(operation_id(1)), sealed("document")),
        (SealedPlace::Look(operation_id(2)), sealed("look")),
        (SealedPlace::PlanContent(plan_id(1)), sealed("content")),
        (SealedPlace::PlanDeclared(plan_id(1)), sealed("declared")),
    ]
}

/// Every sealed value is listed exactly once, whatever the page size.
pub async fn every_sealed_value_is_walked(store: Engine) {
    assert!(walk(&store, 10).await.is_empty());
    let expected = with_sealed_values(&store).await;
    for limit in 1..=expected.len() + 1 {
        let found = walk(&store, limit).await;
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for value in &expected {
            assert!(found.contains(value), "{value:?} in {found:?}");
        }
    }
}

/// Listing continues after a place whose value is gone.
pub async fn a_walk_goes_on_behind_what_is_gone(store: Engine) {
    with_sealed_values(&store).await;
    let all = walk(&store, 10).await;
    let reached = &all[0].0;
    let SealedPlace::Credential(id) = reached else {
        panic!("{reached:?}");
    };
    let any = Precondition::default();
    assert!(store.delete_credential(id, &any).await.unwrap());
    let rest = store.list_sealed(Some(reached), 10).await.unwrap();
    let expected = all[1..].iter().cloned();
    let expected: Vec<(SealedPlace, Stored)> =
        expected.map(|(at, value)| (at, value.into())).collect();
    assert_eq!(rest, expected);
}

/// Every read returns the new bytes, and nothing else changes.
pub async fn what_is_resealed_is_read_anew(store: Engine) {
    for (place, old) in with_sealed_values(&store).await {
        let new = Sealed([b"new ", old.0.as_slice()].concat());
        assert!(
            store.reseal(&place, &old.into(), new).await.unwrap(),
            "{place:?}"
        );
    }
    let values = walk(&store, 10).await;
    assert!(values.iter().all(|(_, value)| value.0.starts_with(b"new ")));

    let before = (reference(&store, "a").await, operation(&store, 1).await);
    let state_since = resource_work(&before.1).state_since;
    assert_eq!((before.0.revision, state_since), (1, at(1)));
    let two = CredentialId::new("aws", "two").unwrap();
    let two = store.get_credential(&two).await.unwrap().unwrap();
    assert_eq!(two.secret, Some(sealed("new secret-2")));
    assert_eq!(
        (two.credential.revision, two.credential.updated_at),
        (1, at(0))
    );
    let key = store.ensure_digest_key(digest_key("other", "other"), at(1));
    assert_eq!(key.await.unwrap(), digest_key("key", "new digest-key"));
    for claimed in claim(&store, at(1_000)).await {
        let first = claimed.operation.header.id == operation_id(1);
        assert_eq!(claimed.documents.desired, Some(sealed("new desired")));
        let document = first.then(|| sealed("new document"));
        assert_eq!(claimed.documents.document, document);
        let look = (!first).then(|| sealed("new look"));
        assert_eq!(claimed.documents.look, look);
    }
}

/// A value that was changed in between is not overwritten, and a removed one is not restored.
pub async fn what_has_changed_is_not_resealed(store: Engine) {
    let values = with_sealed_values(&store).await;
    for (place, _) in &values {
        let other = store
            .reseal(place, &sealed("other").into(), sealed("new"))
            .await;
        assert!(!other.unwrap(), "{place:?}");
    }
    assert_eq!(walk(&store, 10).await.len(), values.len());

    let lease = claim(&store, at(1_000)).await.remove(0).lease;
    let ended = operation(&store, 1).await;
    finish(&store, &lease, applied(&ended, "x", true)).await;
    let two = CredentialId::new("aws", "two").unwrap();
    put_credential(&store, "two", None).await;
    for (place, old) in [
        (SealedPlace::Desired(operation_id(1)), sealed("desired")),
        (SealedPlace::Document(operation_id(1)), sealed("document")),
        (SealedPlace::Credential(two), sealed("secret-2")),
        (
            SealedPlace::DigestKey("gone".to_owned()),
            sealed("digest-key"),
        ),
        (SealedPlace::Desired(operation_id(9)), sealed("desired")),
        (SealedPlace::Look(operation_id(1)), sealed("look")),
    ] {
        let gone = store.reseal(&place, &old.into(), sealed("new")).await;
        assert!(!gone.unwrap(), "{place:?}");
    }
    let left = walk(&store, 10).await;
    assert_eq!(left.len(), 6, "{left:?}");
    assert!(left.iter().all(|(_, value)| *value != sealed("new")));
}

/// From then on the new key is the only one.
pub async fn a_digest_key_can_be_replaced(store: Engine) {
    for id in ["first", "second", "third"] {
        let new = digest_key(id, id);
        store.replace_digest_key(new.clone(), at(1)).await.unwrap();
        let current = store.ensure_digest_key(digest_key("late", "late"), at(2));
        assert_eq!(current.await.unwrap(), new);
        let place = SealedPlace::DigestKey(id.to_owned());
        assert_eq!(walk(&store, 10).await, [(place, sealed(id))]);
    }
}
