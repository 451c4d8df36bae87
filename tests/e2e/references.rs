//! The reference resource itself (contract section 7, D12, D29): PATCH of `ownedResource` and tags.

use serde_json::json;
use ucp_testkit::{World, apply, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";

#[apply(on_every_store)]
async fn ownership_and_tags_are_patched(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let path = tracked_by(VPC, "main");
    let patched = world
        .call("PATCH", &path, r#"{"ownedResource":false}"#)
        .await
        .expect(200);
    assert_eq!(patched.body["ownedResource"], false);
    assert!(patched.body.get("tags").is_none());
    let patched = world
        .call("PATCH", &path, r#"{"tags":{"team":"a"}}"#)
        .await
        .expect(200);
    assert_eq!(patched.body["tags"], json!({"team": "a"}));
    assert_eq!(
        patched.body["ownedResource"], false,
        "what is left out stays"
    );
    assert_eq!(world.get(&path).await.expect(200).body, patched.body);
    let patched = world
        .call("PATCH", &path, r#"{"tags":{}}"#)
        .await
        .expect(200);
    assert!(
        patched.body.get("tags").is_none(),
        "tags are replaced as a whole"
    );

    // A resource that is not owned is only forgotten.
    world.call("DELETE", &path, "").await.expect(200);
    let [released] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    world.lets_go(released);
    let kinds: Vec<String> = world
        .events(VPC, "main")
        .await
        .into_iter()
        .map(|event| event.kind)
        .collect();
    assert_eq!(kinds, ["put", "update", "update", "update", "forget"]);
}

#[apply(on_every_store)]
async fn a_second_owner_or_a_busy_reference_is_409(world: &World) {
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let vpc = world.live("AWS::EC2::VPC").remove(0);
    let import = json!({"trackedBy": tracked_by(VPC, "other"), "primaryIdentifier": vpc});
    world.post(VPC, "import", &import).await.expect(201);
    let (main, other) = (tracked_by(VPC, "main"), tracked_by(VPC, "other"));
    let refused = world
        .call("PATCH", &other, r#"{"ownedResource":true}"#)
        .await
        .expect(409);
    assert_eq!(
        refused.body["error"]["details"][0]["code"],
        "OwnedElsewhere"
    );
    world
        .call("PATCH", &main, r#"{"ownedResource":false}"#)
        .await
        .expect(200);
    world
        .call("PATCH", &other, r#"{"ownedResource":true}"#)
        .await
        .expect(200);

    let deleting = world.delete(VPC, "main").await.expect(202);
    for path in [&main, &other] {
        let busy = world
            .call("PATCH", path, r#"{"tags":{"a":"b"}}"#)
            .await
            .expect(409);
        assert_eq!(
            busy.body["error"]["details"][0]["code"],
            "OperationInProgress"
        );
    }
    world.settle().await;
    assert_eq!(world.status(&deleting).await["status"], "Succeeded");
}

#[apply(on_every_store)]
async fn a_bad_patch_is_refused(world: &World) {
    let path = tracked_by(VPC, "main");
    world
        .call("PATCH", &path, r#"{"tags":{}}"#)
        .await
        .expect(404);
    world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    for body in [
        "{}",
        r#"{"ownedResource":1}"#,
        r#"{"tags":[]}"#,
        r#"{"tags":{"a":1}}"#,
    ] {
        assert_eq!(
            world.call("PATCH", &path, body).await.expect(400).code(),
            "BadRequest"
        );
    }
}
