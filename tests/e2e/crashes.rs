//! A process dies at each crash point of a change, and another continues: no second create, the correct reference, the
//! outcome reported. (`processes` does the same with real processes.)

use serde_json::json;
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, StoreKind, World, apply, crash_everywhere, on_every_store, tracked_by,
};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

#[apply(on_every_store)]
async fn a_create_survives_a_crash_anywhere(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        world.may_crash();
        let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
        change(world, "POST", &action("put"), &body.to_string()).await;
        assert_one_vpc(world).await;
    })
    .await;
}

#[apply(on_every_store)]
async fn an_update_survives_a_crash_anywhere(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        world
            .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
            .await;
        world.may_crash();
        let changed = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
        let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": changed});
        change(world, "POST", &action("put"), &body.to_string()).await;
        assert_one_vpc(world).await;
        assert_eq!(
            world.references().await[0]["properties"]["EnableDnsSupport"],
            false
        );
    })
    .await;
}

#[apply(on_every_store)]
async fn a_delete_survives_a_crash_anywhere(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        world
            .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
            .await;
        world.may_crash();
        let body = json!({"trackedBy": tracked_by(VPC, "main")});
        change(world, "POST", &action("delete"), &body.to_string()).await;
        assert!(world.live("AWS::EC2::VPC").is_empty());
        assert!(world.references().await.is_empty());
    })
    .await;
}

/// A subnet in a VPC, with an imported log group beside them.
#[apply(on_every_store)]
async fn the_deletion_of_a_group_survives_a_crash_anywhere(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
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

        world.may_crash();
        let path = format!("{GROUP}?api-version=2023-10-01-preview");
        change(world, "DELETE", &path, "").await;
        assert!(world.live("AWS::EC2::VPC").is_empty());
        assert!(world.live("AWS::EC2::Subnet").is_empty());
        assert_eq!(world.live("AWS::Logs::LogGroup"), ["stray"]);
        world.get(&path).await.expect(404);
    })
    .await;
}

#[apply(on_every_store)]
async fn an_import_into_a_group_survives_a_crash_anywhere(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        stray_log_group(world).await;
        world.may_crash();
        let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
        let item = |alias, name| json!({"alias": alias, "type": LOG_GROUP, "scope": scope, "primaryIdentifier": name});
        let body = json!({"resources": [item("a", "stray"), item("b", "nowhere")]});
        let path = format!("{GROUP}/:import");
        let ended = world.see_through("POST", &path, &body.to_string()).await;
        let ended = ended.expect("an import is always an operation");
        assert_eq!(ended["status"], "Succeeded");
        // If the request is sent again, the resource is already tracked.
        let is_told = |of: &str| ended["properties"][of][0]["alias"] == "a";
        assert!(is_told("imported") || is_told("alreadyTracked"), "{ended}");
        assert_eq!(ended["properties"]["missing"][0]["alias"], "b", "{ended}");
        let [reference] = &world.references().await[..] else {
            panic!("expected one reference")
        };
        assert_eq!(reference["mapsTo"]["primaryIdentifier"], "stray");
        assert_eq!(reference["ownedResource"], false);
    })
    .await;
}

fn action(name: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:{name}")
}

/// Carries a change through to success. It may already be made when the client sends it again.
async fn change(world: &World, method: &str, path: &str, body: &str) {
    if let Some(ended) = world.see_through(method, path, body).await {
        assert_eq!(ended["status"], "Succeeded", "{ended}");
    }
}

async fn stray_log_group(world: &World) {
    let body = json!({"properties": {"LogGroupName": "stray"}});
    world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
}

async fn assert_one_vpc(world: &World) {
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    let [reference] = &world.references().await[..] else {
        panic!("expected one reference")
    };
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], vpc.as_str());
    assert_eq!(reference["ownedResource"], true);
}
