//! AWS resources that several references stand for: none of them is deleted while another one is left.

use serde_json::{Value, json};
use ucp_testkit::{ACCOUNT, GROUP, REGION, Reply, World, apply, on_every_store, tracked_by};

const API_VERSION: &str = "api-version=2023-10-01-preview";
const BUCKET: &str = "AWS.S3/Bucket";
const LIVE: &str = "AWS::S3::Bucket";

fn bucket() -> Value {
    json!({"BucketName": "data"})
}

fn elsewhere(alias: &str) -> String {
    tracked_by(BUCKET, alias).replace("/rg/", "/other/")
}

/// The alias `a` owns the bucket, and `b` stands for it too.
async fn shared(world: &World) {
    world.put_and_settle(BUCKET, "a", bucket()).await;
    world.put(BUCKET, "b", bucket()).await.expect(200);
}

async fn shared_elsewhere(world: &World) {
    world.put_group("other").await;
    let put = json!({"trackedBy": elsewhere("c"), "properties": bucket()});
    world.post(BUCKET, "put", &put).await.expect(200);
}

#[track_caller]
fn refused(reply: &Reply, others: &[String]) {
    assert_eq!(reply.status, 409, "{}", reply.text);
    assert_eq!(reply.code(), "Conflict", "{}", reply.text);
    let details = reply.body["error"]["details"].as_array().expect("details");
    let shared = details.iter().filter(|it| it["code"] == "ResourceShared");
    let targets = shared.filter_map(|it| it["target"].as_str());
    let others: Vec<String> = others.iter().map(|id| id.to_lowercase()).collect();
    let targets: Vec<String> = targets.map(str::to_lowercase).collect();
    assert_eq!(targets, others, "{}", reply.text);
}

async fn delete(world: &World, path: &str) -> Reply {
    let path = format!("{path}?{API_VERSION}");
    let reply = world.call_until_settled("DELETE", &path, "").await;
    world.settle().await;
    reply
}

#[apply(on_every_store)]
async fn a_reference_is_not_deleted_with_what_another_one_stands_for(world: &World) {
    shared(world).await;
    shared_elsewhere(world).await;
    let reply = delete(world, &tracked_by(BUCKET, "a")).await;
    refused(&reply, &[elsewhere("c"), tracked_by(BUCKET, "b")]);
    assert_eq!(world.live(LIVE), ["data"]);
    assert_eq!(world.calls("DeleteResource"), 0);
    // Those that do not own it are forgotten.
    for other in [elsewhere("c"), tracked_by(BUCKET, "b")] {
        delete(world, &other).await.expect(200);
    }
    delete(world, &tracked_by(BUCKET, "a")).await.expect(202);
    assert_eq!(world.live(LIVE), Vec::<String>::new());
}

/// It is left alone, and nobody owns it.
#[apply(on_every_store)]
async fn a_reference_gives_up_what_another_one_stands_for(world: &World) {
    shared(world).await;
    let path = format!("{}?{API_VERSION}", tracked_by(BUCKET, "a"));
    let released = json!({"ownedResource": false}).to_string();
    world.call("PATCH", &path, &released).await.expect(200);
    delete(world, &tracked_by(BUCKET, "a")).await.expect(200);
    assert_eq!(world.live(LIVE), ["data"]);
    let references = world.references().await;
    assert_eq!(references.len(), 1);
    assert_eq!(references[0]["ownedResource"], false);
}

/// The caller has named it.
#[apply(on_every_store)]
async fn what_is_named_is_deleted_for_all(world: &World) {
    for by_alias in [false, true] {
        shared(world).await;
        match by_alias {
            false => {
                let path = format!(
                    "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{BUCKET}/data"
                );
                world.call_until_settled("DELETE", &path, "").await;
                world.settle().await;
            }
            true => {
                let body = json!({"trackedBy": tracked_by(BUCKET, "a")});
                world.post(BUCKET, "delete", &body).await;
                world.settle().await;
            }
        }
        assert_eq!(world.live(LIVE), Vec::<String>::new(), "{by_alias}");
        assert!(world.references().await.is_empty(), "{by_alias}");
    }
}

#[apply(on_every_store)]
async fn a_group_is_not_deleted_with_what_another_group_stands_for(world: &World) {
    shared(world).await;
    shared_elsewhere(world).await;
    let reply = delete(world, GROUP).await;
    refused(&reply, &[elsewhere("c")]);
    assert_eq!(world.references().await.len(), 2);
    // Nothing has begun.
    assert_eq!(world.calls("DeleteResource"), 0);
    delete(world, &elsewhere("c")).await.expect(200);
    delete(world, GROUP).await.expect(200);
    assert_eq!(world.live(LIVE), Vec::<String>::new());
}

async fn apply(world: &World, resources: Value, mode: &str) -> Reply {
    let path = format!("{GROUP}/:apply?{API_VERSION}");
    let body = json!({"scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"),
        "mode": mode, "resources": resources});
    let reply = world
        .call_until_settled("POST", &path, &body.to_string())
        .await;
    world.settle().await;
    reply
}

/// Two members of a set are never about one resource.
#[apply(on_every_store)]
async fn a_set_is_about_each_resource_once(world: &World) {
    let member = |alias: &str| json!({"alias": alias, "type": BUCKET, "properties": bucket()});
    let wrong = async |resources: Value, mode: &str, code: &str, places: &[&str]| {
        let reply = apply(world, resources, mode).await;
        assert_eq!(reply.status, 400, "{}", reply.text);
        let details = reply.body["error"]["details"].as_array().expect("details");
        let found = details.iter().filter(|it| it["code"] == code);
        let found = found.filter_map(|it| it["target"].as_str());
        let found: Vec<String> = found.map(str::to_lowercase).collect();
        assert_eq!(found, places, "{}", reply.text);
    };
    let both = ["/resources/0", "/resources/1"];
    let twice = json!([member("a"), member("b")]);
    wrong(twice, "Incremental", "SameResource", &both).await;
    assert!(world.references().await.is_empty());

    world.put_and_settle(BUCKET, "a", bucket()).await;
    let gone = json!({"alias": "a", "type": BUCKET, "delete": true});
    let also_deleted = json!([gone, member("b")]);
    wrong(also_deleted, "Incremental", "ResourceShared", &both).await;
    assert_eq!(world.live(LIVE), ["data"]);
    assert_eq!(world.calls("DeleteResource"), 0);
    assert_eq!(world.references().await.len(), 1);
}

/// It would be gone, and another one would take its name, or nobody would.
#[apply(on_every_store)]
async fn a_set_does_not_declare_what_it_replaces(world: &World) {
    world.put_and_settle(BUCKET, "a", bucket()).await;
    let other = json!({"alias": "a", "type": BUCKET, "properties": {"BucketName": "other"}});
    let with = |policy: &str| {
        let mut other = other.clone();
        other["replacementPolicy"] = json!(policy);
        other
    };
    let comes = json!({"alias": "b", "type": BUCKET, "properties": bucket()});
    for policy in ["createBeforeDelete", "deleteBeforeCreate"] {
        let reply = apply(world, json!([comes, with(policy)]), "Incremental").await;
        assert_eq!(reply.status, 400, "{}", reply.text);
        assert!(reply.text.contains("ResourceShared"), "{}", reply.text);
        assert!(reply.text.contains("would be replaced"), "{}", reply.text);
    }
    assert_eq!(world.live(LIVE), ["data"]);
}

/// AWS has the name of a queue once, although its URL is the identifier.
#[apply(on_every_store)]
async fn a_set_does_not_delete_what_bears_a_name_that_it_declares(world: &World) {
    const QUEUE: &str = "AWS.SQS/Queue";
    let queue = |alias: &str, name: &str| json!({"alias": alias, "type": QUEUE, "properties": {"QueueName": name}});
    apply(world, json!([queue("a", "jobs")]), "Complete").await;
    let gone = json!({"alias": "a", "type": QUEUE, "delete": true});
    for (resources, mode) in [
        (json!([queue("b", "jobs")]), "Complete"),
        (json!([gone, queue("b", "jobs")]), "Incremental"),
    ] {
        let reply = apply(world, resources, mode).await;
        assert_eq!(reply.status, 400, "{}", reply.text);
        assert!(reply.text.contains("ResourceShared"), "{}", reply.text);
    }
    assert_eq!(world.live("AWS::SQS::Queue").len(), 1);
    assert_eq!(world.calls("DeleteResource"), 0);
    // Another name is another queue.
    let renamed = apply(world, json!([queue("b", "others")]), "Complete").await;
    assert_eq!(world.status(&renamed).await["status"], "Succeeded");
    assert_eq!(world.live("AWS::SQS::Queue").len(), 1);
}

/// What another one stands for that the set neither declares nor deletes.
#[apply(on_every_store)]
async fn a_set_does_not_delete_what_others_stand_for(world: &World) {
    shared(world).await;
    shared_elsewhere(world).await;
    let gone = json!([{"alias": "a", "type": BUCKET, "delete": true}]);
    let reply = apply(world, gone, "Incremental").await;
    let error = world.status(&reply).await;
    let text = error.to_string();
    assert!(text.contains("ResourceShared"), "{text}");
    assert!(
        !text.contains("other/"),
        "groups of others are not named: {text}"
    );
    assert_eq!(world.live(LIVE), ["data"]);
    assert_eq!(world.calls("DeleteResource"), 0);
}
