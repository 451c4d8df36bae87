//! `If-Match` and `If-None-Match`, checked in the transaction that writes.

use ucp_model::{ETag, Plane, PlaneKind, ResourceGroup};
use ucp_store::{Error, GroupUpdate, Precondition, Tags};

use super::fixture::*;

async fn write_plane(store: &Engine, when: &Precondition, value: &str) -> Result<Plane, Error> {
    let put = put_plane(plane(PlaneKind::Aws, "a"), "global", value);
    let written = store.put_plane(put, when, at(1)).await;
    written.map(|written| written.after)
}

async fn write_group(
    store: &Engine,
    when: &Precondition,
    value: &str,
) -> Result<ResourceGroup, Error> {
    let put = put_group(group("rg"), "global", value);
    let written = store.put_resource_group(put, when, at(1)).await;
    written.map(|written| written.after)
}

fn exists() -> Precondition {
    Precondition {
        if_match: Some(Tags::Any),
        ..Precondition::NONE
    }
}

/// A refused write leaves the plane and its ETag unchanged.
pub async fn a_plane_is_written_when_the_precondition_holds(store: Engine) {
    let (absent, exists) = (Precondition::absent(), exists());
    refused!(write_plane(&store, &exists, "0"), Error::PreconditionFailed);
    assert!(
        store
            .list_planes(None, None, usize::MAX)
            .await
            .unwrap()
            .is_empty()
    );
    let first = write_plane(&store, &absent, "1").await.unwrap();
    refused!(write_plane(&store, &absent, "2"), Error::PreconditionFailed);
    let id = &first.id;
    assert_eq!(store.get_plane(id).await.unwrap().as_ref(), Some(&first));

    let seen = Precondition::matches(first.etag());
    let second = write_plane(&store, &seen, "3").await.unwrap();
    assert_ne!(second.etag(), first.etag());
    refused!(write_plane(&store, &seen, "4"), Error::PreconditionFailed);
    refused!(store.delete_plane(id, &seen), Error::PreconditionFailed);
    refused!(store.delete_plane(id, &absent), Error::PreconditionFailed);
    assert_eq!(store.get_plane(id).await.unwrap().as_ref(), Some(&second));
    let third = write_plane(&store, &exists, "5").await.unwrap();
    let seen = Precondition::matches(third.etag());
    assert!(store.delete_plane(id, &seen).await.unwrap());
    assert!(!store.delete_plane(id, &seen).await.unwrap());
}

/// A refused write leaves the group and its ETag unchanged.
pub async fn a_group_is_written_when_the_precondition_holds(store: Engine) {
    let (absent, exists) = (Precondition::absent(), exists());
    refused!(write_group(&store, &exists, "0"), Error::PreconditionFailed);
    refused!(store.get_resource_group(&group("rg")), Error::NoSuchGroup);
    let first = write_group(&store, &absent, "1").await.unwrap();
    refused!(write_group(&store, &absent, "2"), Error::PreconditionFailed);
    let seen = Precondition::matches(first.etag());
    let second = write_group(&store, &seen, "3").await.unwrap();
    assert_ne!(second.etag(), first.etag());
    refused!(write_group(&store, &seen, "4"), Error::PreconditionFailed);
    let found = store.get_resource_group(&group("RG")).await.unwrap();
    assert_eq!(found, second);
    write_group(&store, &exists, "5").await.unwrap();
}

/// An update checks the precondition with the write, as a put does.
pub async fn a_group_is_updated_when_the_precondition_holds(store: Engine) {
    let update = |precondition| {
        let store = store.clone();
        async move {
            let (id, change) = (group("RG"), GroupUpdate::default());
            let updated = store.update_resource_group(&id, change, &precondition, at(1));
            updated.await.map(|written| written.after)
        }
    };
    refused!(update(Precondition::NONE), Error::NoSuchGroup);
    let first = write_group(&store, &Precondition::absent(), "1")
        .await
        .unwrap();
    let seen = Precondition::matches(first.etag());
    let second = update(seen.clone()).await.unwrap();
    assert_ne!(second.etag(), first.etag());
    assert_eq!(second.id, first.id);
    refused!(update(seen), Error::PreconditionFailed);
    let found = store.get_resource_group(&group("rg")).await.unwrap();
    assert_eq!(found, second);
}

/// A plane that is created again never has an ETag of its predecessor.
pub async fn a_tag_never_comes_back(store: Engine) {
    let id = plane(PlaneKind::Aws, "a");
    let mut seen: Vec<ETag> = Vec::new();
    for second in 0..3 {
        for _ in 0..3 {
            let put = put_plane(id.clone(), "global", "same");
            let written = store.put_plane(put, &Precondition::NONE, at(second));
            let tag = written.await.unwrap().after.etag();
            assert!(!seen.contains(&tag), "{tag} came back");
            let found = store.get_plane(&id).await.unwrap().unwrap();
            assert_eq!(found.etag(), tag);
            seen.push(tag);
        }
        let deleted = store.delete_plane(&id, &Precondition::NONE).await;
        assert!(deleted.unwrap());
    }
}
