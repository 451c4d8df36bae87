//! A process dies at each crash point of a request or of an operation on a group, and another continues: no second
//! create, the correct reference, the outcome reported. (`matrix` does it for each kind of change to a resource, and
//! `processes` with real processes.)

use serde_json::{Value, json};
use ucp_observe::Crashed;
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, crash_everywhere, on_every_store,
    tracked_by,
};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";

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

#[apply(on_every_store)]
async fn an_update_that_its_request_has_looked_for_survives_a_crash_anywhere(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        world
            .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
            .await;
        world.may_crash();
        let changed = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
        let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": changed});
        let reply = look_through(world, VPC, "put", &body).await;
        assert!(matches!(reply.status, 200 | 201), "{}", reply.text);
        world.settle().await;
        assert_one_vpc(world).await;
        let reference = &world.references().await[0];
        assert_eq!(reference["properties"]["EnableDnsSupport"], false);
        assert_eq!(reference["provisioningState"], "Succeeded");
    })
    .await;
}

#[apply(on_every_store)]
async fn an_import_survives_a_crash_anywhere(kind: StoreKind) {
    let passed = crash_everywhere(kind, async |world| {
        stray_log_group(world).await;
        world.may_crash();
        let body = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "primaryIdentifier": "stray",
            "ownedResource": true});
        let reply = look_through(world, LOG_GROUP, "import", &body).await;
        // If the reference is written before the crash, the alias is taken when the request is sent again.
        assert!(matches!(reply.status, 201 | 409), "{}", reply.text);
        assert_one_stray(world, "import", true).await;
    })
    .await;
    assert_passed(&passed, "adopt");
}

#[apply(on_every_store)]
async fn an_adoption_survives_a_crash_anywhere(kind: StoreKind) {
    let passed = crash_everywhere(kind, async |world| {
        stray_log_group(world).await;
        world.may_crash();
        let body = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "properties": {"LogGroupName": "stray"}});
        look_through(world, LOG_GROUP, "put", &body).await.expect(200);
        assert_one_stray(world, "put", false).await;
    })
    .await;
    assert_passed(&passed, "adopt");
}

#[apply(on_every_store)]
async fn what_a_put_remembers_survives_a_crash_anywhere(kind: StoreKind) {
    let passed = crash_everywhere(kind, async |world| {
        world
            .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
            .await;
        let vpc = world.live("AWS::EC2::VPC").remove(0);
        let patch = json!({"EnableDnsHostnames": true});
        let patched = world
            .aws
            .patch_out_of_band(None, None, ("AWS::EC2::VPC", &vpc), &patch);
        patched.expect("it is there");
        world.may_crash();
        let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
        look_through(world, VPC, "put", &body).await.expect(200);
        assert_one_vpc(world).await;
        let reference = &world.references().await[0];
        assert_eq!(reference["properties"]["EnableDnsHostnames"], true);
        assert_eq!(world.events(VPC, "main").await.len(), 1, "the create");
    })
    .await;
    assert_passed(&passed, "remember");
}

/// Expects that a request without an operation has passed the crash points of its only commit, and no others. On a store
/// that is not available there are none.
fn assert_passed(passed: &[String], moment: &str) {
    let both = [format!("before-{moment}"), format!("after-{moment}")];
    assert!(passed.is_empty() || passed == both, "{passed:?}");
}

/// Posts an action that looks before it decides, again if the server crashes during the request. Returns the last
/// reply.
async fn look_through(world: &World, resource_type: &str, name: &str, body: &Value) -> Reply {
    // After a crash, the remaining tasks of the server log why they stop.
    world.tolerate_log(&Crashed.to_string());
    let (path, body) = (action_on(resource_type, name), body.to_string());
    let mut reply = world.send_with(&[], "POST", &path, &body).await;
    if world.has_crashed() {
        reply.expect(503);
        world.settle().await;
        reply = world.send_with(&[], "POST", &path, &body).await;
    }
    reply
}

/// Expects one reference, to the stray log group, with one event.
async fn assert_one_stray(world: &World, kind: &str, owned: bool) {
    let [reference] = &world.references().await[..] else {
        panic!("expected one reference")
    };
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], "stray");
    assert_eq!(reference["ownedResource"], owned);
    let events = world.events(LOG_GROUP, "logs").await;
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, [kind]);
    assert_eq!(world.creates(), 1, "the stray one's own");
}

fn action_on(resource_type: &str, name: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/:{name}")
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
