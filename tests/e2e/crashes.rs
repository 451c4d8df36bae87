//! The engine dies at each crash point in turn, and another goes on: no second create, the mapping right, the outcome
//! reported. (`processes` does the same with real processes.)

use serde_json::json;
use ucp_model::CrashPoint;
use ucp_testkit::{World, on_every_store};

const VPC: &str = "AWS.EC2/VPC";

#[tokio::test]
async fn a_create_survives_a_crash_anywhere() {
    for point in CrashPoint::all() {
        on_every_store(async |world| {
            world.crash_at(point);
            let reply = world
                .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
                .await
                .expect(201);
            world.settle().await;
            assert_eq!(world.status(&reply).await["status"], "Succeeded", "{point}");
            assert_one_vpc(world, point).await;
        })
        .await;
    }
}

#[tokio::test]
async fn an_update_survives_a_crash_anywhere() {
    for point in CrashPoint::all() {
        on_every_store(async |world| {
            world
                .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
                .await;
            world.crash_at(point);
            let changed = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
            let path = format!(
                "/planes/aws/aws/accounts/{}/regions/{}/providers/{VPC}/:put",
                ucp_testkit::ACCOUNT,
                ucp_testkit::REGION
            );
            let body =
                json!({"trackedBy": ucp_testkit::tracked_by(VPC, "main"), "properties": changed});
            let reply = world
                .send_without_waiting("POST", &path, &body.to_string())
                .await
                .expect(201);
            world.settle().await;
            assert_eq!(world.status(&reply).await["status"], "Succeeded", "{point}");
            assert_one_vpc(world, point).await;
            assert_eq!(
                world.references().await[0]["properties"]["EnableDnsSupport"],
                false,
                "{point}"
            );
        })
        .await;
    }
}

#[tokio::test]
async fn a_delete_survives_a_crash_anywhere() {
    for point in CrashPoint::all() {
        on_every_store(async |world| {
            world
                .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
                .await;
            world.crash_at(point);
            let path = format!(
                "/planes/aws/aws/accounts/{}/regions/{}/providers/{VPC}/:delete",
                ucp_testkit::ACCOUNT,
                ucp_testkit::REGION
            );
            let body = json!({"trackedBy": ucp_testkit::tracked_by(VPC, "main")});
            let reply = world
                .send_without_waiting("POST", &path, &body.to_string())
                .await
                .expect(202);
            world.settle().await;
            assert_eq!(world.status(&reply).await["status"], "Succeeded", "{point}");
            assert!(world.live("AWS::EC2::VPC").is_empty(), "{point}");
            assert!(world.references().await.is_empty(), "{point}");
        })
        .await;
    }
}

async fn assert_one_vpc(world: &World, point: CrashPoint) {
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("{point}: expected one VPC")
    };
    let [reference] = &world.references().await[..] else {
        panic!("{point}: expected one reference")
    };
    assert_eq!(
        reference["mapsTo"]["primaryIdentifier"],
        vpc.as_str(),
        "{point}"
    );
    assert_eq!(reference["ownedResource"], true, "{point}");
}
