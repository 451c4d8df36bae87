//! Planes, groups, references, JSON and keys.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use ucp_model::{
    Baseline, Digest, GroupId, NewResourceGroup, Outline, Plane, PlaneId, PlaneKind, Reference,
    ReferenceId, ResourceGroup, TypeName,
};
use ucp_store::{Error, FinishOperation, Limit, Precondition, SealedKey, Written};

use super::deciding::basis;
use super::fixture::*;

/// What is written where there was nothing.
fn first_write<T: Clone>(expected: &T) -> Written<T> {
    Written {
        before: None,
        after: expected.clone(),
    }
}

/// The id keeps the casing of the first write. Everything else is that of the last.
pub async fn a_plane_keeps_its_first_casing(store: Engine) {
    let (first, second) = (plane(PlaneKind::Aws, "My"), plane(PlaneKind::Aws, "my"));
    assert_eq!(store.get_plane(&first).await.unwrap(), None);
    let put = put_plane(first.clone(), "global", "é\"\u{1f600}");
    let written = store.put_plane(put.clone(), &Precondition::NONE, at(1));
    let written = written.await.unwrap();
    let expected = Plane {
        id: first,
        location: put.location,
        tags: put.tags,
        body: put.body,
        created_at: at(1),
        updated_at: at(1),
        revision: 1,
    };
    assert_eq!(written, first_write(&expected));
    let found = store.get_plane(&plane(PlaneKind::Aws, "mY")).await.unwrap();
    assert_eq!(found, Some(expected.clone()));

    let put = put_plane(second.clone(), "west", "other");
    let written = store.put_plane(put.clone(), &Precondition::NONE, at(2));
    let written = written.await.unwrap();
    let before = expected.clone();
    let expected = Plane {
        location: put.location,
        tags: put.tags,
        body: put.body,
        updated_at: at(2),
        revision: 2,
        ..expected
    };
    let before = Some(before);
    let after = expected.clone();
    assert_eq!(written, Written { before, after });
    assert_eq!(store.get_plane(&second).await.unwrap(), Some(expected));
    let other_kind = plane(PlaneKind::Radius, "My");
    assert_eq!(store.get_plane(&other_kind).await.unwrap(), None);
}

/// Planes are listed in the order of their keys, once each.
pub async fn planes_are_listed_once(store: Engine) {
    assert!(
        store
            .list_planes(None, None, usize::MAX)
            .await
            .unwrap()
            .is_empty()
    );
    for id in [
        plane(PlaneKind::Radius, "Local"),
        plane(PlaneKind::Aws, "b"),
        plane(PlaneKind::Aws, "B"),
        plane(PlaneKind::Aws, "A"),
        plane(PlaneKind::Radius, "local"),
    ] {
        let put = put_plane(id, "global", "");
        let put = store.put_plane(put, &Precondition::NONE, at(0));
        put.await.unwrap();
    }
    let planes = store.list_planes(None, None, usize::MAX).await.unwrap();
    let ids: Vec<PlaneId> = planes.into_iter().map(|plane| plane.id).collect();
    let expected = [
        plane(PlaneKind::Aws, "A"),
        plane(PlaneKind::Aws, "b"),
        plane(PlaneKind::Radius, "Local"),
    ];
    assert_eq!(ids, expected);
}

/// A plane is deleted in any casing. Deleting a missing plane is not an error.
pub async fn a_plane_is_deleted_once(store: Engine) {
    let (id, other) = (plane(PlaneKind::Aws, "a"), plane(PlaneKind::Aws, "b"));
    for id in [&id, &other] {
        let put = put_plane(id.clone(), "global", "");
        let put = store.put_plane(put, &Precondition::NONE, at(0));
        put.await.unwrap();
    }
    let shouted = plane(PlaneKind::Aws, "A");
    for was_there in [true, false] {
        let deleted = store.delete_plane(&shouted, &Precondition::NONE).await;
        assert_eq!(deleted.unwrap(), was_there);
        assert_eq!(store.get_plane(&id).await.unwrap(), None);
    }
    assert!(store.get_plane(&other).await.unwrap().is_some());
}

/// The id keeps the casing of the first write. Everything else is that of the last.
pub async fn a_group_keeps_its_first_casing(store: Engine) {
    let (first, second) = (group("My-RG"), group("my-rg"));
    let put = put_group(first.clone(), "global", "é\"\u{1f600}");
    let written = store.put_resource_group(put.clone(), &Precondition::NONE, at(1));
    let written = written.await.unwrap();
    let expected = ResourceGroup {
        id: first,
        location: put.location,
        tags: put.tags,
        body: put.body,
        created_at: at(1),
        updated_at: at(1),
        revision: 1,
    };
    assert_eq!(written, first_write(&expected));
    let found = store.get_resource_group(&group("mY-rg")).await.unwrap();
    assert_eq!(found, expected);

    let put = NewResourceGroup {
        tags: BTreeMap::new(),
        ..put_group(second, "west", "other")
    };
    let written = store.put_resource_group(put.clone(), &Precondition::NONE, at(2));
    let written = written.await.unwrap();
    let before = expected.clone();
    let expected = ResourceGroup {
        location: put.location,
        tags: put.tags,
        body: put.body,
        updated_at: at(2),
        revision: 2,
        ..expected
    };
    let before = Some(before);
    let after = expected.clone();
    assert_eq!(written, Written { before, after });
    let found = store.get_resource_group(&group("MY-RG")).await.unwrap();
    assert_eq!(found, expected);
}

/// Only groups of the plane are listed, in the order of their keys.
pub async fn groups_are_listed_by_plane(store: Engine) {
    let id = |plane, name| GroupId::new(plane, name).unwrap();
    let ids = [
        id("local", "b"),
        id("other", "a"),
        id("Local", "A"),
        id("local", "b-1"),
        id("LOCAL", "B1"),
    ];
    for id in &ids {
        let put = put_group(id.clone(), "global", "");
        let put = store.put_resource_group(put, &Precondition::NONE, at(0));
        put.await.unwrap();
    }
    let groups = store
        .list_resource_groups("LoCaL", None, usize::MAX)
        .await
        .unwrap();
    let found: Vec<&GroupId> = groups.iter().map(|group| &group.id).collect();
    assert_eq!(found, [&ids[2], &ids[0], &ids[3], &ids[4]]);
    let none = store
        .list_resource_groups("nowhere", None, usize::MAX)
        .await
        .unwrap();
    assert!(none.is_empty());
}

/// Only references of the group are listed, in the order of their keys.
pub async fn references_are_listed_by_group(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "rg-2").await;
    refused!(
        store.list_references(&group("rg-3"), None, None, Limit::items(usize::MAX)),
        Error::NoSuchGroup
    );
    for (number, name) in [(1, "b"), (2, "É"), (3, "A"), (4, "z")] {
        accept(&store, put(number, name)).await;
    }
    let elsewhere = with(put(5, "c"), |new| {
        new.reference = Some(alias_in("rg-2", "c"));
    });
    accept(&store, elsewhere).await;

    let references = store
        .list_references(&group("RG"), None, None, Limit::items(usize::MAX))
        .await
        .unwrap();
    assert_eq!(aliases(&references.items), ["A", "b", "z", "É"]);
    let references = store
        .list_references(&group("rg-2"), None, None, Limit::items(usize::MAX))
        .await
        .unwrap();
    assert_eq!(references.items.len(), 1);
}

/// A page starts after a key, whether or not it exists, ends at its limit, and stays within its list.
pub async fn lists_are_read_by_page(store: Engine) {
    with_group(&store, "rg").await;
    for name in ["a", "B", "b-1", "c"] {
        for kind in [PlaneKind::Aws, PlaneKind::Radius] {
            let put = put_plane(plane(kind, name), "global", "");
            let put = store.put_plane(put, &Precondition::NONE, at(0));
            put.await.unwrap();
        }
        with_group(&store, name).await;
    }
    let aws = |name: &str| plane(PlaneKind::Aws, name);
    let radius = |name: &str| plane(PlaneKind::Radius, name);
    for (kind, after, limit, expected) in [
        (
            None,
            Some(aws("b-0")),
            3,
            vec![aws("b-1"), aws("c"), radius("a")],
        ),
        (Some(PlaneKind::Aws), Some(aws("B-1")), 3, vec![aws("c")]),
        (Some(PlaneKind::Aws), Some(aws("c")), 3, vec![]),
        (Some(PlaneKind::Aws), Some(radius("a")), 3, vec![]),
        (
            Some(PlaneKind::Radius),
            Some(aws("c")),
            1,
            vec![radius("a")],
        ),
    ] {
        let planes = store
            .list_planes(kind, after.as_ref(), limit)
            .await
            .unwrap();
        let found: Vec<PlaneId> = planes.into_iter().map(|plane| plane.id).collect();
        assert_eq!(found, expected, "{kind:?} after {after:?}");
    }
    for (after, limit, expected) in [
        (None, 2, vec!["a", "B"]),
        (Some("b"), 2, vec!["b-1", "c"]),
        (Some("b-0"), 1, vec!["b-1"]),
        (Some("c"), 2, vec!["rg"]),
        (Some("rg"), 2, vec![]),
    ] {
        let after = after.map(group);
        let groups = store.list_resource_groups("local", after.as_ref(), limit);
        let groups = groups.await.unwrap();
        let found: Vec<&str> = groups.iter().map(|group| group.id.name.as_str()).collect();
        assert_eq!(found, expected, "after {after:?}");
    }

    for (number, name) in [(1, "x"), (2, "Y"), (3, "z")] {
        accept(&store, put(number, name)).await;
        let elsewhere = with(put(number + 10, name), |new| {
            new.reference = Some(alias_in("b-1", name));
        });
        accept(&store, elsewhere).await;
    }
    let other = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    let vpc = ReferenceId::new(group("rg"), other.clone(), "vpc").unwrap();
    let put = with(put(20, "-"), |new| {
        new.type_name = other.clone();
        new.reference = Some(vpc.clone());
    });
    accept(&store, put).await;
    let own = type_name();
    for (of_type, after, limit, expected) in [
        (None, None, 2, vec!["vpc", "x"]),
        (None, Some(vpc.clone()), 9, vec!["x", "Y", "z"]),
        (Some(&own), None, 2, vec!["x", "Y"]),
        (Some(&own), Some(alias("y")), 2, vec!["z"]),
        (Some(&own), Some(vpc.clone()), 1, vec!["x"]),
        (Some(&other), None, 9, vec!["vpc"]),
        (Some(&other), Some(alias("x")), 9, vec![]),
    ] {
        let references = store
            .list_references(&group("rg"), of_type, after.as_ref(), Limit::items(limit))
            .await
            .unwrap();
        assert_eq!(references.is_limited, references.items.len() == limit);
        assert_eq!(
            aliases(&references.items),
            expected,
            "{of_type:?} after {after:?}"
        );
    }
}

fn aliases(references: &[Reference]) -> Vec<&str> {
    let references = references.iter();
    references.map(|one| one.id.alias.as_str()).collect()
}

/// A page of references ends with the one that reaches the limit in bytes, and has one at least.
pub async fn a_page_of_references_ends_by_bytes(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name, bytes) in [
        (1, "a", 2_000),
        (2, "b", 10_000),
        (3, "c", 10),
        (4, "d", 10),
    ] {
        let reference = map(&store, number, name, name, true).await;
        let learned = Reference {
            observed: Some(json!({ "Name": "x".repeat(bytes) })),
            ..remembering(&reference, at(30))
        };
        let basis = basis(&store, name, name).await;
        assert!(store.remember(&learned, &basis).await.unwrap());
    }
    let page = async |after: Option<&str>, items, bytes| {
        let after = after.map(alias);
        let limit = Limit { items, bytes };
        let group = group("rg");
        let page = store.list_references(&group, None, after.as_ref(), limit);
        page.await.unwrap()
    };
    for (after, items, bytes, expected, is_limited) in [
        (None, 9, 0, vec!["a"], true),
        (None, 9, 1, vec!["a"], true),
        (None, 9, 8_000, vec!["a", "b"], true),
        (None, 1, 8_000, vec!["a"], true),
        (None, 9, 50_000, vec!["a", "b", "c", "d"], false),
        (None, 9, usize::MAX, vec!["a", "b", "c", "d"], false),
        (None, 4, 50_000, vec!["a", "b", "c", "d"], true),
        (Some("a"), 9, 8_000, vec!["b"], true),
        (Some("b"), 9, 8_000, vec!["c", "d"], false),
        (Some("d"), 9, 8_000, vec![], false),
    ] {
        let page = page(after, items, bytes).await;
        let what = format!("{items} items and {bytes} bytes after {after:?}");
        assert_eq!(aliases(&page.items), expected, "{what}");
        assert_eq!(page.is_limited, is_limited, "{what}");
        for found in &page.items {
            assert_eq!(found, &reference(&store, &found.id.alias).await);
        }
    }
}

/// Outlines have all that references have, without what was declared and seen.
pub async fn outlines_are_listed_by_group(store: Engine) {
    let outlines = async || store.list_outlines(&group("rg")).await;
    refused!(outlines(), Error::NoSuchGroup);
    with_group(&store, "rg").await;
    with_group(&store, "rg-1").await;
    assert_eq!(outlines().await.unwrap(), []);
    for (number, name) in [(1, "B"), (2, "a")] {
        map(&store, number, name, name, true).await;
    }
    let elsewhere = with(put(3, "c"), |new| {
        new.reference = Some(alias_in("rg-1", "c"));
    });
    accept(&store, elsewhere).await;
    let expected = [reference(&store, "a").await, reference(&store, "B").await];
    let expected = expected.map(|reference| {
        assert!(reference.baseline.is_some());
        Outline::of(reference)
    });
    assert_eq!(outlines().await.unwrap(), expected);
}

/// A missing group or operation is reported as such.
pub async fn an_unknown_group_or_operation_is_not_found(store: Engine) {
    refused!(store.get_resource_group(&group("rg")), Error::NoSuchGroup);
    let operation = store.get_operation(operation_id(1)).await.unwrap();
    assert_eq!(operation, None);
    let reference = store.get_reference(&alias("a")).await.unwrap();
    assert_eq!(reference, None);
    assert!(store.list_events(&alias("a")).await.unwrap().is_empty());
}

/// Several operations are read at once: those that exist, once each.
pub async fn several_operations_are_read_at_once(store: Engine) {
    with_group(&store, "rg").await;
    let ended = accept_and_claim(&store, put(1, "a")).await;
    let end = applied(&ended.operation, "x", true);
    finish(&store, &ended.lease, end).await;
    for (number, name) in [(2, "b"), (3, "c")] {
        accept(&store, put(number, name)).await;
    }
    let read = async |numbers: &[u64]| {
        let ids: Vec<_> = numbers.iter().copied().map(operation_id).collect();
        let mut found = store.get_operations(&ids).await.unwrap();
        found.sort_unstable_by_key(|operation| operation.header.id);
        found
    };
    let (first, third) = (operation(&store, 1).await, operation(&store, 3).await);
    assert_eq!(read(&[3, 9, 1, 3]).await, [first, third]);
    assert_eq!(read(&[9]).await, []);
    assert_eq!(read(&[]).await, []);
}

/// Key order, big numbers, NUL and all scripts survive a round trip.
pub async fn json_survives(store: Engine) {
    with_group(&store, "rg").await;
    let text = r#"{"z":1.0,"a":123456789012345678901234567890,"n":"\u0000","é\"":[null,-0.10,1e400,"😀"],"b":{}}"#;
    let value: Value = serde_json::from_str(text).unwrap();
    let declared = Baseline {
        declared: value.clone(),
        digests: BTreeMap::from([(
            "/Password".to_owned(),
            Digest {
                key_id: "key".to_owned(),
                hmac: "00ff".to_owned(),
            },
        )]),
        unconfirmed: BTreeSet::from(["/Password".to_owned()]),
        shown: BTreeMap::from([("/z".to_owned(), value.clone())]),
        is_seen: true,
        is_made: true,
        is_undecided: true,
    };
    let claimed = accept_and_claim(&store, put(1, "a")).await;
    let end = FinishOperation {
        baseline: Some(declared.clone()),
        ..finding(applied(&claimed.operation, "x", true), Some(value.clone()))
    };
    finish(&store, &claimed.lease, end).await;

    let reference = reference(&store, "a").await;
    assert_eq!(reference.observed.unwrap().to_string(), value.to_string());
    let kept = reference.baseline.unwrap();
    assert_eq!(kept.declared.to_string(), value.to_string());
    assert_eq!(kept, declared);
    let ended = operation(&store, 1).await;
    let result = resource_work(&ended).result.as_ref().unwrap();
    assert_eq!(result.to_string(), value.to_string());
    let claimed = accept_and_claim(&store, put(2, "a")).await;
    assert_eq!(claimed.baseline, Some(declared));
    assert_ne!(value, json!(null));
}

/// Digests are comparable only under the same key.
pub async fn the_first_digest_key_stays(store: Engine) {
    let key = |id: &str, bytes: &[u8]| SealedKey {
        id: id.to_owned(),
        key: ucp_store::Sealed(bytes.to_vec()),
    };
    let first = key("first", &[0, 255, 7]);
    for candidate in [first.clone(), key("second", &[1]), key("first", &[2])] {
        let current = store.ensure_digest_key(candidate, at(0)).await.unwrap();
        assert_eq!(current, first);
    }
}

/// A working store answers the ping.
pub async fn the_store_answers(store: Engine) {
    store.ping().await.unwrap();
}
