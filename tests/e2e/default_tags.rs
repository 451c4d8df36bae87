//! Default tags of server, account, group and request, merged by key.

use serde_json::{Value, json};
use ucp_model::DefaultTags;
use ucp_testkit::{ACCOUNT, GROUP, World, apply, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";
const API_VERSION: &str = "api-version=2023-10-01-preview";

/// The tags of the only live VPC but for the mark of its reference, as `key=value`, sorted.
fn tags(world: &World) -> Vec<String> {
    let resources = serde_json::to_value(world.aws.resources()).expect("the resources are JSON");
    let tags = &resources[0]["properties"]["Tags"];
    let tags = tags.as_array().cloned().unwrap_or_default();
    let text = |tag: &Value| {
        let part = |name: &str| tag[name].as_str().unwrap_or_default().to_owned();
        format!("{}={}", part("Key"), part("Value"))
    };
    let is_mark = |tag: &&Value| tag["Key"] == "ucp:reference";
    let mut tags: Vec<String> = tags.iter().filter(|tag| !is_mark(tag)).map(text).collect();
    tags.sort();
    tags
}

async fn group_tags(world: &World, tags: Value) {
    let body = json!({"location": "global", "properties": {"defaultTags": tags}});
    let path = format!("{GROUP}?{API_VERSION}");
    world
        .call("PUT", &path, &body.to_string())
        .await
        .expect(200);
}

fn map(pairs: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

#[tokio::test]
async fn the_nearest_default_wins_and_a_declared_tag_wins_over_all() {
    let defaults = DefaultTags {
        everywhere: map(&[
            ("a", "server"),
            ("b", "server"),
            ("c", "server"),
            ("d", "server"),
            ("e", "server"),
        ]),
        by_account: [(
            ACCOUNT.to_owned(),
            map(&[
                ("b", "account"),
                ("c", "account"),
                ("d", "account"),
                ("e", "account"),
            ]),
        )]
        .into(),
    };
    let world = World::builder().default_tags(defaults).build().await;
    group_tags(&world, json!({"c": "group", "d": "group", "e": "group"})).await;
    let body = json!({
        "trackedBy": tracked_by(VPC, "main"),
        "defaultTags": {"d": "request", "e": "request"},
        "properties": {"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "e", "Value": "declared"}]},
    });
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    assert_eq!(
        tags(&world),
        [
            "a=server",
            "b=account",
            "c=group",
            "d=request",
            "e=declared"
        ]
    );
    world.post(VPC, "put", &body).await.expect(200);
}

#[apply(on_every_store)]
async fn a_default_that_changes_changes_the_resource_with_the_next_put(world: &World) {
    group_tags(world, json!({"team": "web", "cost": "1"})).await;
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", vpc.clone()).await;
    assert_eq!(tags(world), ["cost=1", "team=web"]);
    world.put(VPC, "main", vpc.clone()).await.expect(200);

    group_tags(world, json!({"team": "platform"})).await;
    world.put_and_settle(VPC, "main", vpc).await;
    assert_eq!(tags(world), ["team=platform"]);
}

/// D44: ARM's `tags` are default tags of the request. A type without tags is refused.
#[apply(on_every_store)]
async fn the_tags_of_a_request_are_placed_by_the_type(world: &World) {
    let body = json!({
        "trackedBy": tracked_by(VPC, "main"),
        "defaultTags": {"a": "default", "b": "default"},
        "tags": {"b": "tag", "c": "tag"},
        "properties": {"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "c", "Value": "declared"}]},
    });
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    assert_eq!(tags(world), ["a=default", "b=tag", "c=declared"]);
    world.post(VPC, "put", &body).await.expect(200);

    let attachment = "AWS.EC2/VPCGatewayAttachment";
    let mut body = json!({
        "trackedBy": tracked_by(attachment, "main"),
        "tags": {"a": "b"},
        "properties": {"VpcId": "vpc-0123456789abcdef0"},
    });
    let refused = world.post(attachment, "put", &body).await.expect(400);
    assert!(refused.text.contains("/tags"), "{}", refused.text);
    body["tags"] = json!({});
    world.post(attachment, "put", &body).await.expect(201);
    world.settle().await;
}

#[apply(on_every_store)]
async fn tags_that_aws_keeps_for_itself_are_refused(world: &World) {
    let body = |tags: Value| {
        json!({"trackedBy": tracked_by(VPC, "main"), "defaultTags": tags,
            "properties": {"CidrBlock": "10.0.0.0/16"}})
    };
    for wrong in [
        json!({"aws:x": "y"}),
        json!({"k": 1}),
        json!(["k"]),
        json!({"": "y"}),
    ] {
        world.post(VPC, "put", &body(wrong)).await.expect(400);
    }
    assert_eq!(world.calls("CreateResource"), 0);
}

/// AWS accepts 50 tags on a resource.
#[apply(on_every_store)]
async fn more_tags_than_a_resource_can_have_are_refused(world: &World) {
    let some = |from: usize, to: usize| -> Value {
        let tags = (from..to).map(|number| (format!("k{number}"), json!("v")));
        Value::Object(tags.collect())
    };
    for member in ["tags", "defaultTags"] {
        let mut body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
        body[member] = some(0, 51);
        let refused = world.post(VPC, "put", &body).await.expect(400);
        assert!(refused.text.contains("51 tags"), "{}", refused.text);
        assert!(refused.text.contains(member), "{}", refused.text);
    }
    let group = format!("{GROUP}?{API_VERSION}");
    let body = |tags: Value| json!({"location": "global", "tags": tags, "properties": {"defaultTags": tags}});
    let refused = world
        .call("PUT", &group, &body(some(0, 51)).to_string())
        .await
        .expect(400);
    assert!(
        refused.text.contains("$.tags in body has 51 tags"),
        "{}",
        refused.text
    );
    world
        .call("PUT", &group, &body(some(0, 49)).to_string())
        .await
        .expect(200);
    let add = |tags: Value| json!({"properties": {"defaultTags": tags}}).to_string();
    world
        .call("PATCH", &group, &add(some(49, 50)))
        .await
        .expect(200);
    let refused = world
        .call("PATCH", &group, &add(some(50, 51)))
        .await
        .expect(400);
    assert!(
        refused.text.contains("more than 50 tags"),
        "{}",
        refused.text
    );
    let mut swap = some(50, 51);
    swap["k0"] = Value::Null;
    world.call("PATCH", &group, &add(swap)).await.expect(200);
}
