//! Types that Cloud Control cannot read or cannot update.

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, REGION, StoreKind, World, apply, crash_everywhere, on_every_store, tracked_by,
};

const POLICY: &str = "AWS.IAM/Policy";
const ENTRY: &str = "AWS.EC2/NetworkAclEntry";

fn policy(roles: &[&str]) -> Value {
    json!({"PolicyName": "p", "Roles": roles,
        "PolicyDocument": {"Version": "2012-10-17", "Statement": []}})
}

/// The properties that AWS has of the only resource of a type.
fn in_aws(world: &World, type_name: &str) -> Value {
    let resources = world.aws.resources();
    let mut of_type = resources
        .into_iter()
        .filter(|resource| resource.type_name == type_name);
    let resource = of_type.next().expect("one resource");
    assert!(of_type.next().is_none(), "more than one {type_name}");
    resource.properties
}

#[apply(on_every_store)]
async fn the_same_put_of_a_type_that_cannot_be_read_is_nothing_to_do(world: &World) {
    let ended = world.put_and_settle(POLICY, "p", policy(&["one"])).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let again = world.put(POLICY, "p", policy(&["one"])).await.expect(200);
    assert_eq!(again.body["properties"]["Roles"], json!(["one"]));
    let name = &world.references().await[0]["mapsTo"]["primaryIdentifier"];
    assert_eq!(&again.body["name"], name);
    assert_eq!(world.calls("UpdateResource"), 0);
}

#[apply(on_every_store)]
async fn a_type_that_cannot_be_read_is_updated_from_what_was_last_applied(world: &World) {
    let mut declared = policy(&["one"]);
    declared["Users"] = json!(["eve"]);
    world.put_and_settle(POLICY, "p", declared).await;
    let ended = world.put_and_settle(POLICY, "p", policy(&["two"])).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let live = in_aws(world, "AWS::IAM::Policy");
    assert_eq!(live["Roles"], json!(["two"]));
    assert_eq!(live.get("Users"), None, "it is no longer declared");
    world.put(POLICY, "p", policy(&["two"])).await.expect(200);
    assert_eq!(world.calls("CreateResource"), 1);
}

#[apply(on_every_store)]
async fn a_create_only_change_of_a_type_that_cannot_be_read_is_a_replacement(world: &World) {
    let entry = |number: u32| {
        json!({"NetworkAclId": "acl-1", "RuleNumber": number, "Protocol": 6,
            "RuleAction": "allow"})
    };
    let ended = world.put_and_settle(ENTRY, "e", entry(100)).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let refused = world.put(ENTRY, "e", entry(200)).await.expect(409);
    assert_eq!(refused.code(), "RequiresReplacement");
    let body = json!({"trackedBy": tracked_by(ENTRY, "e"), "properties": entry(200),
        "replacementPolicy": "createBeforeDelete"});
    let reply = world.post(ENTRY, "put", &body).await.expect(201);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let live = in_aws(world, "AWS::EC2::NetworkAclEntry");
    assert_eq!(live["RuleNumber"], 200);
    world.put(ENTRY, "e", entry(200)).await.expect(200);
}

/// After an update that failed, AWS may have what it sent or not.
#[apply(on_every_store)]
async fn what_an_update_without_success_sent_is_sent_again(world: &World) {
    let mut declared = policy(&["one"]);
    declared["Users"] = json!(["eve"]);
    world.put_and_settle(POLICY, "p", declared.clone()).await;
    for failure in [
        fail(HandlerErrorCode::NotStabilized).made(),
        fail(HandlerErrorCode::NotStabilized),
    ] {
        world
            .aws
            .add_fault(fault(failure).on(Action::UpdateResource).times(1));
        let ended = world.put_and_settle(POLICY, "p", policy(&["two"])).await;
        assert_eq!(ended["status"], "Failed", "{ended}");
    }
    let ended = world.put_and_settle(POLICY, "p", declared.clone()).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let live = in_aws(world, "AWS::IAM::Policy");
    assert_eq!(
        (&live["Roles"], &live["Users"]),
        (&json!(["one"]), &json!(["eve"]))
    );
    world.put(POLICY, "p", declared).await.expect(200);
}

#[apply(on_every_store)]
async fn a_lost_reply_about_a_type_that_cannot_be_read_is_sent_again(world: &World) {
    world.expect_log("the call did not succeed");
    world.put_and_settle(POLICY, "p", policy(&["one"])).await;
    world.aws.add_fault(
        fault(Effect::DropReply {})
            .on(Action::UpdateResource)
            .times(2),
    );
    let ended = world.put_and_settle(POLICY, "p", policy(&["two"])).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(in_aws(world, "AWS::IAM::Policy")["Roles"], json!(["two"]));
}

#[apply(on_every_store)]
async fn an_update_of_a_type_that_cannot_be_read_survives_a_crash_anywhere(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        world.put_and_settle(POLICY, "p", policy(&["one"])).await;
        let path =
            format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{POLICY}/:put");
        let body = json!({"trackedBy": tracked_by(POLICY, "p"), "properties": policy(&["two"])});
        world.may_crash();
        world.see_through("POST", &path, &body.to_string()).await;
        assert_eq!(in_aws(world, "AWS::IAM::Policy")["Roles"], json!(["two"]));
        let reference = &world.references().await[0];
        assert_eq!(reference["provisioningState"], "Succeeded");
    })
    .await;
}

/// A create that failed but left a resource: nothing has succeeded that could be compared.
#[apply(on_every_store)]
async fn what_a_failed_create_left_of_a_type_that_cannot_be_read_is_not_updated(world: &World) {
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::NotStabilized).made())
            .on(Action::CreateResource)
            .times(1),
    );
    world.put_and_settle(POLICY, "p", policy(&["one"])).await;
    let refused = world.put(POLICY, "p", policy(&["one"])).await.expect(400);
    assert_eq!(refused.code(), "UnsupportedActionException");
    assert_eq!(
        world.references().await[0]["provisioningState"],
        "Failed",
        "that of the create"
    );
}

/// After an import, a declared write-only value can be neither compared nor sent.
#[apply(on_every_store)]
async fn an_imported_resource_of_a_type_without_updates_takes_its_declaration(world: &World) {
    const VERSION: &str = "AWS.Lex/BotVersion";
    let declared = json!({"BotId": "ABCDEFGHIJ", "BotVersionLocaleSpecification": [
        {"LocaleId": "en_US", "BotVersionLocaleDetails": {"SourceBotVersion": "DRAFT"}}]});
    world
        .post(VERSION, "put", &json!({"properties": declared}))
        .await
        .expect(201);
    world.settle().await;
    let version = world.live("AWS::Lex::BotVersion").remove(0);
    let import = json!({"trackedBy": tracked_by(VERSION, "v"), "primaryIdentifier": version});
    world.post(VERSION, "import", &import).await.expect(201);
    let again = world.put(VERSION, "v", declared.clone()).await.expect(200);
    assert_eq!(again.body["name"], version.as_str());
    // From now on it is known, so that a change is a replacement.
    world.put(VERSION, "v", declared.clone()).await.expect(200);
    let mut changed = declared;
    changed["BotVersionLocaleSpecification"][0]["LocaleId"] = json!("de_DE");
    let refused = world.put(VERSION, "v", changed).await.expect(409);
    assert_eq!(refused.code(), "RequiresReplacement");
}
