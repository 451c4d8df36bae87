//! Crashes along the life of an instance.

use serde_json::{Value, json};
use ucp_testkit::{Reply, StoreKind, World, apply, crash_after_everything, on_every_store};

use super::*;

/// Sends a change as a platform does: again, if the server did not answer, until it has ended.
async fn see_through(world: &World, method: &str, path: &str, body: &Value) {
    let mark = if path.contains('?') { '&' } else { '?' };
    let asked = format!("{path}{mark}accepts_incomplete=true");
    let mut reply = ask(world, method, &asked, body).await;
    if is_lost(&reply) {
        world.settle().await;
        reply = ask(world, method, &asked, body).await;
    }
    world.settle().await;
    let operation = match reply.status {
        200 | 201 | 410 => return,
        202 => reply.body["operation"]
            .as_str()
            .expect("an operation")
            .to_owned(),
        _ => panic!("{}", reply.text),
    };
    assert_eq!(last(world, path, &operation).await, succeeded());
}

fn is_lost(reply: &Reply) -> bool {
    matches!(reply.status, 500 | 503)
}

#[apply(on_every_store)]
async fn the_life_of_an_instance_survives_a_crash_anywhere(kind: StoreKind) {
    crash_after_everything(kind, async |world| {
        world.tolerate_log("crash");
        world.tolerate_log("the store is unavailable");
        world.may_crash();
        see_through(world, "PUT", &at("one"), &order(BUCKET, DEV, json!({}))).await;
        see_through(world, "PUT", &bound("one", "b"), &bind_bucket()).await;
        let shown = get(world, &bound("one", "b")).await.expect(200).body;
        assert_eq!(shown["credentials"]["bucket"], "osb-one");
        for (type_name, count) in [
            ("AWS::S3::Bucket", 1),
            ("AWS::S3::BucketPolicy", 1),
            ("AWS::IAM::Role", 1),
        ] {
            assert_eq!(live(world, type_name).len(), count, "{type_name}");
        }
        see_through(
            world,
            "PATCH",
            &at("one"),
            &json!({"service_id": BUCKET, "plan_id": GOLD}),
        )
        .await;
        get(world, &bound("one", "b")).await.expect(200);
        let path = format!("{}?service_id={BUCKET}&plan_id={GOLD}", at("one"));
        see_through(world, "DELETE", &path, &Value::Null).await;
        assert!(world.aws.resources().is_empty());
        refused(&get(world, &at("one")).await, 404, "NotFound");
    })
    .await;
}
