//! Warnings of plans: on the operation, and in the replies to puts and imports.

use serde_json::{Value, json};
use ucp_model::ids::encode_segment;
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, apply, on_every_store, tracked_by};

const SECRET: &str = "AWS.SecretsManager/Secret";
const VERSION: &str = "AWS.Lex/BotVersion";
const VPC: &str = "AWS.EC2/VPC";

/// Returns the code and the target of each warning, whose message must be a sentence.
fn warnings(list: &Value) -> Vec<(String, String)> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |warning: &Value, member: &str| {
        let text = warning[member].as_str();
        text.expect("a text").to_owned()
    };
    list.iter()
        .map(|warning| {
            assert!(text(warning, "message").ends_with('.'), "{warning}");
            (text(warning, "code"), text(warning, "target"))
        })
        .collect()
}

fn one(code: &str, target: &str) -> Vec<(String, String)> {
    vec![(code.to_owned(), target.to_owned())]
}

#[apply(on_every_store)]
async fn a_put_tells_its_warnings_in_the_reply_and_on_the_operation(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let vpc = world.live("AWS::EC2::VPC").remove(0);
    let read_only = one("ReadOnlyProperty", "/properties/VpcId");

    // Nothing to do.
    let same = json!({"CidrBlock": "10.0.0.0/16", "VpcId": vpc});
    let reply = world.put(VPC, "main", same).await.expect(200);
    assert_eq!(warnings(&reply.body["warnings"]), read_only);

    // An update.
    let changed = json!({"CidrBlock": "10.0.0.0/16", "VpcId": vpc, "EnableDnsSupport": false});
    let reply = world.put(VPC, "main", changed).await.expect(201);
    assert_eq!(warnings(&reply.body["warnings"]), read_only);
    world.step().await;
    let running = world.status(&reply).await;
    assert_eq!(warnings(&running["properties"]["warnings"]), read_only);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(warnings(&status["properties"]["warnings"]), read_only);
    assert_eq!(status["properties"]["EnableDnsSupport"], false);
    let location = reply.header("location").unwrap();
    let result = location.trim_start_matches("http://localhost:8787");
    let result = world.get(result).await.expect(200);
    assert_eq!(warnings(&result.body["warnings"]), read_only);

    // Without a warning there is no list.
    let same = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false});
    let reply = world.put(VPC, "main", same).await.expect(200);
    assert!(reply.body.get("warnings").is_none(), "{}", reply.text);
}

/// A put of a new alias whose identifier AWS assigns does not wait for a worker.
#[apply(on_every_store)]
async fn a_put_that_is_surely_a_create_tells_its_warnings_too(world: &World) {
    let declared = json!({"SnapshotId": "snap-1", "AvailabilityZone": "us-west-2a",
        "Tags": [{"Key": "aws:mine", "Value": "x"}]});
    let reply = world.put("AWS.EC2/Volume", "v", declared).await.expect(201);
    let reserved = one("ReservedTag", "/properties/Tags");
    assert_eq!(warnings(&reply.body["warnings"]), reserved);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(warnings(&status["properties"]["warnings"]), reserved);
}

/// What can be sent later is; what cannot is assumed to be unchanged, and the import promises nothing else.
#[apply(on_every_store)]
async fn an_import_promises_only_what_a_put_does(world: &World) {
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    world
        .post(VPC, "put", &json!({"properties": vpc}))
        .await
        .expect(201);
    let secret = json!({"Name": "s", "SecretString": "canary"});
    world
        .post(SECRET, "put", &json!({"properties": secret}))
        .await
        .expect(201);
    let version = json!({"BotId": "ABCDEFGHIJ", "BotVersionLocaleSpecification": [
        {"LocaleId": "en_US", "BotVersionLocaleDetails": {"SourceBotVersion": "DRAFT"}}]});
    world
        .post(VERSION, "put", &json!({"properties": version}))
        .await
        .expect(201);
    world.settle().await;

    let import = async |resource_type: &str, type_name: &str| {
        let body = json!({"trackedBy": tracked_by(resource_type, "imported"),
            "primaryIdentifier": world.live(type_name).remove(0)});
        let reply = world.post(resource_type, "import", &body).await.expect(201);
        warnings(&reply.body["warnings"])
    };
    // It can only be set at creation.
    let vpc = import(VPC, "AWS::EC2::VPC").await;
    assert!(
        vpc.contains(&one("NotComparable", "/properties/Ipv4IpamPoolId")[0]),
        "{vpc:?}"
    );
    // The type has no update handler.
    let version = import(VERSION, "AWS::Lex::BotVersion").await;
    let target = "/properties/BotVersionLocaleSpecification";
    assert_eq!(version, one("NotComparable", target));
    // A put that declares it sends it.
    let sent = import(SECRET, "AWS::SecretsManager::Secret").await;
    assert!(
        sent.contains(&one("WriteOnlyProperty", "/properties/SecretString")[0]),
        "{sent:?}"
    );
    world.put(SECRET, "imported", secret).await.expect(201);
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), 1);
}

/// The items of an import into a group have their own.
#[apply(on_every_store)]
async fn an_import_into_a_group_tells_the_warnings_of_each_item(world: &World) {
    let group = json!({"properties": {"LogGroupName": "plain"}});
    let logs = "AWS.Logs/LogGroup";
    world.post(logs, "put", &group).await.expect(201);
    let secret = json!({"properties": {"Name": "s", "SecretString": "canary"}});
    world.post(SECRET, "put", &secret).await.expect(201);
    world.settle().await;
    let item = |resource_type: &str, alias: &str, identifier: &str| {
        json!({"trackedBy": tracked_by(resource_type, alias), "primaryIdentifier": identifier,
            "scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}")})
    };
    let secret = world.live("AWS::SecretsManager::Secret").remove(0);
    let resources = [
        item(SECRET, "secret", &secret),
        item(logs, "plain", "plain"),
    ];
    let body = json!({ "resources": resources });
    let path = format!("{GROUP}/:import");
    let reply = world.call("POST", &path, &body.to_string()).await;
    let reply = reply.expect(202);
    world.settle().await;
    let status = world.status(&reply).await;
    let imported = &status["properties"]["imported"];
    let told = warnings(&imported[0]["warnings"]);
    let sent = one("WriteOnlyProperty", "/properties/SecretString");
    assert!(told.contains(&sent[0]), "{status}");
    assert!(imported[1].get("warnings").is_none(), "{status}");
}

#[apply(on_every_store)]
async fn a_put_by_name_says_that_it_sends_write_only_values_each_time(world: &World) {
    let path = |identifier: &str| {
        format!(
            "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{SECRET}/{}",
            encode_segment(identifier)
        )
    };
    let declared = json!({"Name": "s", "SecretString": "canary"});
    world.put_and_settle(SECRET, "s", declared.clone()).await;
    let secret = world.live("AWS::SecretsManager::Secret").remove(0);
    let body = json!({ "properties": declared }).to_string();
    let always = one("AlwaysSent", "/properties/SecretString");
    for updates in 1..=2 {
        let reply = world.call("PUT", &path(&secret), &body).await.expect(201);
        assert_eq!(warnings(&reply.body["warnings"]), always);
        world.settle().await;
        let status = world.status(&reply).await;
        assert_eq!(status["status"], "Succeeded", "{status}");
        assert_eq!(warnings(&status["properties"]["warnings"]), always);
        assert_eq!(world.calls("UpdateResource"), updates);
        assert!(!status.to_string().contains("canary"));
    }
    // Under an alias a digest is kept.
    let reply = world.put(SECRET, "s", declared).await.expect(200);
    assert!(reply.body.get("warnings").is_none(), "{}", reply.text);
}
