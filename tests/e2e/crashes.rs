//! The engine dies at each crash point in turn, and another goes on: no second create, the mapping right, the outcome
//! reported. (`processes` does the same with real processes.)

use serde_json::json;
use ucp_model::CrashPoint;
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

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

/// A subnet in a VPC, with an imported log group beside them.
#[tokio::test]
async fn the_deletion_of_a_group_survives_a_crash_anywhere() {
    for point in CrashPoint::all() {
        on_every_store(async |world| {
            world
                .put_and_settle(VPC, "a-vpc", json!({"CidrBlock": "10.0.0.0/16"}))
                .await;
            let vpc = world.live("AWS::EC2::VPC").remove(0);
            let subnet = json!({"VpcId": vpc, "CidrBlock": "10.0.1.0/24"});
            world
                .put_and_settle("AWS.EC2/Subnet", "b-subnet", subnet)
                .await;
            stray_log_group(world).await;
            let import =
                json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "primaryIdentifier": "stray"});
            world.post(LOG_GROUP, "import", &import).await.expect(201);

            world.crash_at(point);
            let path = format!("{GROUP}?api-version=2023-10-01-preview");
            let reply = world
                .send_without_waiting("DELETE", &path, "")
                .await
                .expect(202);
            world.settle().await;
            assert_eq!(world.status(&reply).await["status"], "Succeeded", "{point}");
            assert!(world.live("AWS::EC2::VPC").is_empty(), "{point}");
            assert!(world.live("AWS::EC2::Subnet").is_empty(), "{point}");
            assert_eq!(world.live("AWS::Logs::LogGroup"), ["stray"], "{point}");
            world.get(&path).await.expect(404);
        })
        .await;
    }
}

#[tokio::test]
async fn an_import_into_a_group_survives_a_crash_anywhere() {
    for point in CrashPoint::all() {
        on_every_store(async |world| {
            stray_log_group(world).await;
            world.crash_at(point);
            let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
            let item = |alias, name| json!({"alias": alias, "type": LOG_GROUP, "scope": scope, "primaryIdentifier": name});
            let body = json!({"resources": [item("a", "stray"), item("b", "nowhere")]});
            let path = format!("{GROUP}/:import");
            let reply = world
                .send_without_waiting("POST", &path, &body.to_string())
                .await
                .expect(202);
            world.settle().await;
            let status = world.status(&reply).await;
            assert_eq!(status["status"], "Succeeded", "{point}");
            assert_eq!(status["properties"]["imported"][0]["alias"], "a", "{point}");
            assert_eq!(status["properties"]["missing"][0]["alias"], "b", "{point}");
            let [reference] = &world.references().await[..] else {
                panic!("{point}: expected one reference")
            };
            assert_eq!(reference["mapsTo"]["primaryIdentifier"], "stray", "{point}");
            assert_eq!(reference["ownedResource"], false, "{point}");
        })
        .await;
    }
}

async fn stray_log_group(world: &World) {
    let body = json!({"properties": {"LogGroupName": "stray"}});
    world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
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
