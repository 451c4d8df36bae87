//! Resealing everything under another encryption key: completely, partially, and repeatedly.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use ucp_app::RingCipher;
use ucp_app::resealing::{count_sealed, reseal};
use ucp_model::{CredentialId, SeededEntropy};
use ucp_seal::{AssociatedData, Keyring, SealingKey};
use ucp_store::{Cipher as _, SealedPlace, Stored};
use ucp_testkit::{StoreKind, World, apply, on_every_store, tracked_by};

const ALIASES: usize = 70;
const VPC: &str = "AWS.EC2/VPC";

/// The key of the world, and two others.
fn key(byte: u8) -> SealingKey {
    SealingKey::new([byte; 32])
}

fn counts<const N: usize>(expected: [(u8, u64); N]) -> BTreeMap<String, u64> {
    expected.map(|(byte, count)| (key(byte).id(), count)).into()
}

async fn rotate(world: &World, current: u8, previous: &[u8]) -> u64 {
    let previous = previous.iter().map(|byte| key(*byte)).collect();
    let ring = Keyring::new(key(current), previous);
    let entropy = SeededEntropy::new(9);
    reseal(world.store.as_ref(), &ring, &entropy)
        .await
        .expect("the store answers")
}

/// Seals a value again.
async fn seal_under(world: &World, cipher: &RingCipher, at: &SealedPlace, old: Stored) {
    let Stored::Sealed(sealed) = &old else {
        panic!("{at:?} is in clear");
    };
    let new = cipher
        .seal(at, &cipher.open(at, sealed).expect("it is answered"))
        .expect("it is answered");
    assert!(
        world
            .store
            .reseal(at, &old, new)
            .await
            .expect("it is answered")
    );
}

/// Stores more operations than one page has, a credential, and the digest key. Returns the number of sealed values: on
/// disk, each operation is one too, beside its declaration.
async fn fill(world: &World) -> u64 {
    let path =
        "/planes/aws/aws/providers/System.AWS/credentials/default?api-version=2023-10-01-preview";
    let body = json!({"location": "global", "properties": {"kind": "AccessKey", "accessKeyId": "AKIA1",
        "secretAccessKey": "canary", "storage": {"kind": "Internal"}}});
    world.call("PUT", path, &body.to_string()).await.expect(200);
    let path =
        format!("/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/{VPC}/:put");
    for number in 0..ALIASES {
        let alias = format!("vpc-{number}");
        let body = json!({"alias": alias, "trackedBy": tracked_by(VPC, &alias), "properties": {"CidrBlock": "10.0.0.0/16"}});
        world
            .send_without_waiting("POST", &path, &body.to_string())
            .await
            .expect(201);
    }
    let all: u64 = count_sealed(world.store.as_ref())
        .await
        .expect("it is answered")
        .values()
        .sum();
    let (aliases, others) = (ALIASES as u64, 2);
    assert!(
        [aliases + others, 2 * aliases + others].contains(&all),
        "{all}"
    );
    all
}

#[apply(on_every_store)]
async fn everything_is_sealed_anew_and_still_opens(world: &World) {
    let all = fill(world).await;
    assert_eq!(
        count_sealed(world.store.as_ref())
            .await
            .expect("it is answered"),
        counts([(7, all)])
    );
    assert_eq!(rotate(world, 8, &[7]).await, all);
    assert_eq!(
        count_sealed(world.store.as_ref())
            .await
            .expect("it is answered"),
        counts([(8, all)])
    );
    assert_eq!(rotate(world, 8, &[7]).await, 0, "nothing is left to do");

    let id = CredentialId::new("aws", "default").expect("it is answered");
    let stored = world
        .store
        .get_credential(&id)
        .await
        .expect("it is answered")
        .expect("it is answered");
    let secret = Keyring::from(key(8)).open(
        AssociatedData::Credential(&id),
        &stored.secret.expect("it is answered").0,
    );
    assert_eq!(&secret.expect("it is answered")[..], b"canary");

    // Reseal under the key of this world, whose engine then opens every declaration.
    assert_eq!(rotate(world, 7, &[8]).await, all);
    world.settle().await;
    assert_eq!(world.live("AWS::EC2::VPC").len(), ALIASES);
}

/// After an interrupted walk, or two concurrent ones, values are under several keys.
#[apply(on_every_store)]
async fn what_was_begun_is_finished_by_the_next_run(world: &World) {
    world.expect_log("a sealed value does not open");
    let all = fill(world).await;
    // Some values are under a key that is not given.
    let (some, ring) = (5, Keyring::new(key(9), vec![key(7)]));
    let cipher = RingCipher::new(ring, Arc::new(SeededEntropy::new(10)));
    for (at, old) in world
        .store
        .list_sealed(None, some)
        .await
        .expect("it is answered")
    {
        seal_under(world, &cipher, &at, old).await;
    }
    let store = world.store.as_ref();
    let some = some as u64;
    assert_eq!(
        count_sealed(store).await.expect("it is answered"),
        counts([(7, all - some), (9, some)])
    );

    let (left, right) = tokio::join!(rotate(world, 8, &[7]), rotate(world, 8, &[7]));
    assert_eq!(left + right, all - some, "each value once");
    assert_eq!(
        count_sealed(store).await.expect("it is answered"),
        counts([(8, all - some), (9, some)])
    );
    assert_eq!(rotate(world, 7, &[8, 9]).await, all);
    assert_eq!(
        count_sealed(store).await.expect("it is answered"),
        counts([(7, all)])
    );
    world.settle().await;
    assert_eq!(world.live("AWS::EC2::VPC").len(), ALIASES);
}

/// While keys are changed, a process may claim what is already sealed under a key that it does not have. It leaves the
/// operation to one that has the key.
#[apply(on_every_store)]
async fn a_process_without_the_key_leaves_an_operation_alone(world: &World) {
    world.expect_log("sealed under the encryption key");
    let path =
        format!("/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/{VPC}/:put");
    let body =
        json!({"trackedBy": tracked_by(VPC, "a"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    let accepted = world
        .send_without_waiting("POST", &path, &body.to_string())
        .await
        .expect(201);
    let ring = Keyring::new(key(9), vec![key(7)]);
    let cipher = RingCipher::new(ring, Arc::new(SeededEntropy::new(10)));
    for (at, old) in world
        .store
        .list_sealed(None, 99)
        .await
        .expect("it is answered")
    {
        if !at.is_of_engine() {
            seal_under(world, &cipher, &at, old).await;
        }
    }
    world.step().await;
    assert_eq!(world.status(&accepted).await["status"], "Accepted");
    assert!(world.live("AWS::EC2::VPC").is_empty());

    rotate(world, 7, &[9]).await;
    world.settle().await;
    assert_eq!(world.status(&accepted).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}

/// On disk, what is known of a resource is sealed too. A server without the key says which one it is.
#[apply(on_every_store)]
async fn a_server_without_the_key_says_which_one_is_missing(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.build().await;
    let put = |alias: &str| {
        let body = json!({"trackedBy": tracked_by(VPC, alias), "properties": {"CidrBlock": "10.0.0.0/16"}});
        body.to_string()
    };
    let path =
        format!("/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/{VPC}/:put");
    let before = world.call("POST", &path, &put("before")).await.expect(201);
    world.settle().await;
    let waiting = put("waiting");
    let waiting = world.send_without_waiting("POST", &path, &waiting).await;
    let waiting = waiting.expect(201);
    rotate(&world, 9, &[7]).await;

    let of = |alias: &str| format!("{}?api-version=2023-10-01-preview", tracked_by(VPC, alias));
    let group = "/planes/radius/local/resourceGroups/rg?api-version=2023-10-01-preview";
    let (_, status) = before
        .status_url()
        .split_once("/planes")
        .expect("it is answered");
    let status = format!("/planes{status}");
    world.expect_log("sealed under the encryption key");
    for (method, path, body) in [
        ("GET", of("before").as_str(), String::new()),
        ("GET", status.as_str(), String::new()),
        ("GET", group, String::new()),
        ("POST", path.as_str(), put("before")),
    ] {
        let reply = world.call(method, path, &body).await;
        match kind {
            StoreKind::Memory => assert_eq!(reply.status, 200, "{method} {path}: {}", reply.text),
            StoreKind::Sqlite | StoreKind::Postgres => {
                assert_eq!(reply.status, 503, "{method} {path}: {}", reply.text);
                let error = &reply.body["error"];
                assert_eq!(error["code"], "ServiceUnavailable", "{error}");
                let message = error["message"].as_str().expect("it is answered");
                assert!(message.contains(&key(9).id()), "{message}");
                assert!(message.contains(&key(7).id()), "{message}");
            }
        }
    }
    // What waits is left to a process that has the key, and the group is used meanwhile.
    let other = world.call("POST", &path, &put("other")).await.expect(201);
    for _ in 0..20 {
        let next = world
            .store
            .next_claimable_at()
            .await
            .expect("it is answered")
            .expect("it is answered");
        world.clock.move_to(next);
        world.step().await;
    }
    assert_eq!(world.status(&other).await["status"], "Succeeded");

    rotate(&world, 7, &[9]).await;
    world.settle().await;
    assert_eq!(world.status(&waiting).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 3);
    world.finish().await;
}
