//! Making instances, and reading them.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{StoreKind, World, apply, on_every_store};

use super::*;

#[apply(on_every_store)]
async fn an_instance_is_references_in_the_group_of_its_space(world: &World) {
    let mut body = order(BUCKET, DEV, json!({}));
    body["context"] = json!({"platform": "cloudfoundry", "instance_name": "files", "unknown": 1});
    body["unknown"] = json!([]);
    assert_eq!(change(world, "PUT", &at("one"), &body).await, succeeded());
    let path = "/planes/radius/local/resourceGroups/cf-space?api-version=2023-10-01-preview";
    let group = world.get(path).await.expect(200).body;
    let references = group["resources"].as_array().unwrap();
    let names: Vec<&Value> = references.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["one:bucket", "one:policy"]);
    let tags = json!({"osb-platform": "cf", "osb-organization": "org", "osb-space": "space", "osb-instance": "one",
        "osb-instance-name": "files"});
    for reference in references {
        assert_eq!(reference["tags"], tags);
        assert_eq!(reference["ownedResource"], true);
    }
    let bucket = live(world, "AWS::S3::Bucket").remove(0);
    assert_eq!(bucket["BucketName"], "osb-one");
    assert_eq!(
        bucket["VersioningConfiguration"],
        json!({"Status": "Suspended"})
    );
    let tagged: Vec<&Value> = bucket["Tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["Key"])
        .collect();
    for key in [
        "osb-platform",
        "osb-organization",
        "osb-space",
        "osb-instance",
    ] {
        assert!(tagged.contains(&&json!(key)), "{tagged:?}");
    }
    assert!(!tagged.contains(&&json!("osb-instance-name")));
    let policy = live(world, "AWS::S3::BucketPolicy").remove(0);
    assert_eq!(policy["Bucket"], "osb-one");
    assert!(
        policy.to_string().contains("arn:aws:s3:::osb-one/*"),
        "{policy}"
    );
}

#[apply(on_every_store)]
async fn the_same_again_is_the_same_instance(world: &World) {
    let body = order(LOGS, SMALL, json!({"note": "mine"}));
    let first = begin(world, "PUT", &at("one"), &body).await;
    assert_eq!(begin(world, "PUT", &at("one"), &body).await, first);
    let underway = last(world, &at("one"), &first).await;
    assert_eq!(underway["state"], "in progress");
    let path = format!("{}/last_operation?operation={first}", at("one"));
    assert_eq!(get(world, &path).await.header("retry-after"), Some("1"));
    refused(&get(world, &at("one")).await, 404, "NotFound");
    world.settle().await;
    assert_eq!(last(world, &at("one"), &first).await, succeeded());
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let again = ask(world, "PUT", &path, &body).await.expect(200);
    assert_eq!(again.body, json!({}));
    // Nothing takes a while.
    assert_eq!(
        ask(world, "PUT", &at("one"), &body).await.expect(200).body,
        json!({})
    );
    // With the default.
    let said = order(LOGS, SMALL, json!({"note": "mine", "retention": 7}));
    ask(world, "PUT", &path, &said).await.expect(200);
    assert_eq!(live(world, "AWS::Logs::LogGroup").len(), 1);
    for other in [
        order(LOGS, SMALL, json!({})),
        order(LOGS, LARGE, json!({"note": "mine"})),
        order(BUCKET, DEV, json!({})),
        json!({"service_id": LOGS, "plan_id": SMALL, "organization_guid": "org", "space_guid": "elsewhere", "parameters": {"note": "mine"}}),
    ] {
        refused(&ask(world, "PUT", &path, &other).await, 409, "Conflict");
    }
}

#[apply(on_every_store)]
async fn an_instance_is_shown_as_last_applied(world: &World) {
    logs(world, "one", json!({"note": "mine"})).await;
    let shown = get(world, &at("one")).await.expect(200).body;
    assert_eq!(
        shown,
        json!({"service_id": LOGS, "plan_id": SMALL, "parameters": {"retention": 7, "note": "mine"},
        "maintenance_info": {"version": "1.0.0"}})
    );
    let update = json!({"service_id": LOGS, "parameters": {"note": "yours"}});
    let operation = begin(world, "PATCH", &at("one"), &update).await;
    refused(&get(world, &at("one")).await, 422, "ConcurrencyError");
    world.settle().await;
    assert_eq!(last(world, &at("one"), &operation).await, succeeded());
    let shown = get(world, &at("one")).await.expect(200).body;
    assert_eq!(
        shown["parameters"],
        json!({"retention": 7, "note": "yours"})
    );
    refused(&get(world, &at("two")).await, 404, "NotFound");
}

#[apply(on_every_store)]
async fn who_does_not_poll_waits_where_the_offering_allows_it(world: &World) {
    refused(
        &ask(world, "PUT", &at("one"), &order(BUCKET, DEV, json!({}))).await,
        422,
        "AsyncRequired",
    );
    assert!(live(world, "AWS::S3::Bucket").is_empty());
    let made = wait(world, "PUT", &at("two"), &order(LOGS, SMALL, json!({})))
        .await
        .expect(201);
    assert_eq!(made.body, json!({}));
    let updated = wait(
        world,
        "PATCH",
        &at("two"),
        &json!({"service_id": LOGS, "parameters": {"retention": 30}}),
    )
    .await;
    assert_eq!(updated.expect(200).body, json!({}));
    let path = format!("{}?service_id={LOGS}&plan_id={SMALL}", at("two"));
    wait(world, "DELETE", &path, &Value::Null).await.expect(200);
    refuse_gone(&ask(world, "DELETE", &path, &Value::Null).await);
}

fn refuse_gone(reply: &Reply) {
    assert_eq!(
        (reply.status, &reply.body),
        (410, &json!({})),
        "{}",
        reply.text
    );
}

#[apply(on_every_store)]
async fn what_fails_says_the_first_cause_and_can_be_sent_again(world: &World) {
    let refusal = fail(HandlerErrorCode::InvalidRequest).saying("No such thing.");
    let refusal = fault(refusal)
        .on(Action::CreateResource)
        .of_type("AWS::Logs::LogGroup");
    world.aws.add_fault(refusal.times(2));
    let body = order(LOGS, SMALL, json!({}));
    let failed = change(world, "PUT", &at("one"), &body).await;
    assert_eq!(failed["state"], "failed");
    assert!(
        failed["description"]
            .as_str()
            .unwrap()
            .contains("No such thing."),
        "{failed}"
    );
    refused(&get(world, &at("one")).await, 404, "NotFound");
    let failed = wait(world, "PUT", &at("one"), &body).await;
    assert_eq!(
        (failed.status, &failed.body["error"]),
        (500, &json!("InvalidRequest")),
        "{}",
        failed.text
    );
    // It goes on from what is there.
    assert_eq!(change(world, "PUT", &at("one"), &body).await, succeeded());
    assert_eq!(live(world, "AWS::Logs::LogGroup").len(), 1);
    assert_eq!(live(world, "AWS::SecretsManager::Secret").len(), 1);
}

#[apply(on_every_store)]
async fn what_takes_too_long_is_cancelled(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    // Nobody carries it out before the platform has waited long enough.
    let world = builder.sync_wait(Duration::ZERO).build().await;
    let body = order(LOGS, SMALL, json!({}));
    refused(&ask(&world, "PUT", &at("one"), &body).await, 500, "Timeout");
    world.settle().await;
    let last = get(&world, &format!("{}/last_operation", at("one"))).await;
    assert_eq!(last.expect(200).body["state"], "failed");
    assert!(world.aws.resources().is_empty());
    // What another request has ordered goes on.
    let operation = begin(&world, "PUT", &at("one"), &body).await;
    let again = ask(&world, "PUT", &at("one"), &body).await;
    refused(&again, 500, "Timeout");
    assert!(again.text.contains("goes on"), "{}", again.text);
    world.settle().await;
    let last = super::last(&world, &at("one"), &operation).await;
    assert_eq!(last, succeeded());
    world.finish().await;
}

#[apply(on_every_store)]
async fn platforms_see_their_own_alone(world: &World) {
    bucket(world, "one").await;
    let elsewhere = ask_as(world, "k8s", "GET", &at("one"), &Value::Null).await;
    refused(&elsewhere, 404, "NotFound");
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let theirs = order(BUCKET, DEV, json!({}));
    // It has the same id, and another group. The bucket has the same name.
    ask_as(world, "k8s", "PUT", &path, &theirs)
        .await
        .expect(202);
    world.settle().await;
    let last = format!("{}/last_operation", at("one"));
    let failed = ask_as(world, "k8s", "GET", &last, &Value::Null)
        .await
        .expect(200)
        .body;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert_eq!(get(world, &last).await.expect(200).body, succeeded());
    assert_eq!(live(world, "AWS::S3::Bucket").len(), 1);
    let path = format!(
        "{}?service_id={BUCKET}&plan_id={DEV}&accepts_incomplete=true",
        at("one")
    );
    ask_as(world, "k8s", "DELETE", &path, &Value::Null)
        .await
        .expect(202);
    world.settle().await;
    assert_eq!(live(world, "AWS::S3::Bucket").len(), 1);
    get(world, &at("one")).await.expect(200);
}

#[apply(on_every_store)]
async fn ids_that_differ_in_case_are_not_the_same(world: &World) {
    logs(world, "one", json!({})).await;
    let path = format!("{}?accepts_incomplete=true", at("ONE"));
    refused(
        &ask(world, "PUT", &path, &order(LOGS, SMALL, json!({}))).await,
        409,
        "Conflict",
    );
    refused(&get(world, &at("ONE")).await, 404, "NotFound");
    let path = format!(
        "{}?service_id={LOGS}&plan_id={SMALL}&accepts_incomplete=true",
        at("ONE")
    );
    refuse_gone(&ask(world, "DELETE", &path, &Value::Null).await);
}

#[apply(on_every_store)]
async fn several_instances_of_a_space_are_made_at_once(world: &World) {
    let first = begin(world, "PUT", &at("one"), &order(LOGS, SMALL, json!({}))).await;
    let second = begin(world, "PUT", &at("two"), &order(BUCKET, DEV, json!({}))).await;
    world.settle().await;
    assert_eq!(last(world, &at("one"), &first).await, succeeded());
    assert_eq!(last(world, &at("two"), &second).await, succeeded());
}
