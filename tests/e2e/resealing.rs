//! Resealing everything under another encryption key: completely, partially, and repeatedly.

use std::collections::BTreeMap;

use serde_json::json;
use ucp_app::resealing::{count_sealed, reseal};
use ucp_model::{CredentialId, SeededEntropy};
use ucp_seal::{AssociatedData, Keyring, SealingKey};
use ucp_testkit::{World, apply, on_every_store, tracked_by};

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

/// Stores more operations than one page has, a credential, and the digest key.
async fn fill(world: &World) {
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
}

#[apply(on_every_store)]
async fn everything_is_sealed_anew_and_still_opens(world: &World) {
    fill(world).await;
    let all = ALIASES as u64 + 2;
    assert_eq!(
        count_sealed(world.store.as_ref()).await.unwrap(),
        counts([(7, all)])
    );
    assert_eq!(rotate(world, 8, &[7]).await, all);
    assert_eq!(
        count_sealed(world.store.as_ref()).await.unwrap(),
        counts([(8, all)])
    );
    assert_eq!(rotate(world, 8, &[7]).await, 0, "nothing is left to do");

    let id = CredentialId::new("aws", "default").unwrap();
    let stored = world.store.get_credential(&id).await.unwrap().unwrap();
    let secret =
        Keyring::from(key(8)).open(AssociatedData::Credential(&id), &stored.secret.unwrap().0);
    assert_eq!(&secret.unwrap()[..], b"canary");

    // Reseal under the key of this world, whose engine then opens every declaration.
    assert_eq!(rotate(world, 7, &[8]).await, all);
    world.settle().await;
    assert_eq!(world.live("AWS::EC2::VPC").len(), ALIASES);
}

/// After an interrupted walk, or two concurrent ones, values are under several keys.
#[apply(on_every_store)]
async fn what_was_begun_is_finished_by_the_next_run(world: &World) {
    world.expect_log("a sealed value does not open");
    fill(world).await;
    let all = ALIASES as u64 + 2;
    // Some values are under a key that is not given.
    let (some, ring) = (5, Keyring::new(key(9), vec![key(7)]));
    let entropy = SeededEntropy::new(10);
    for (at, old) in world.store.list_sealed(None, some).await.unwrap() {
        let place = match &at {
            ucp_store::SealedPlace::Credential(id) => AssociatedData::Credential(id),
            ucp_store::SealedPlace::Desired(id) => AssociatedData::Desired(*id),
            ucp_store::SealedPlace::Document(id) => AssociatedData::Document(*id),
            ucp_store::SealedPlace::Look(id) => AssociatedData::Look(*id),
            ucp_store::SealedPlace::DigestKey(id) => AssociatedData::DigestKey(id),
        };
        let plaintext = ring.open(place, &old.0).unwrap();
        let new = ucp_store::Sealed(ring.seal(place, &plaintext, &entropy));
        assert!(world.store.reseal(&at, &old, new).await.unwrap());
    }
    let store = world.store.as_ref();
    let some = some as u64;
    assert_eq!(
        count_sealed(store).await.unwrap(),
        counts([(7, all - some), (9, some)])
    );

    let (left, right) = tokio::join!(rotate(world, 8, &[7]), rotate(world, 8, &[7]));
    assert_eq!(left + right, all - some, "each value once");
    assert_eq!(
        count_sealed(store).await.unwrap(),
        counts([(8, all - some), (9, some)])
    );
    assert_eq!(rotate(world, 7, &[8, 9]).await, all);
    assert_eq!(count_sealed(store).await.unwrap(), counts([(7, all)]));
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
    rotate(world, 9, &[7]).await;
    world.step().await;
    assert_eq!(world.status(&accepted).await["status"], "Accepted");
    assert!(world.live("AWS::EC2::VPC").is_empty());

    rotate(world, 7, &[9]).await;
    world.settle().await;
    assert_eq!(world.status(&accepted).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
}
