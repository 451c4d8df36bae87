//! Types that nobody may change.

use serde_json::{Value, json};
use ucp_testkit::{
    ACCOUNT, Builder, GROUP, REGION, StoreKind, World, apply, on_every_store, tracked_by,
};

/// The rule holds without authentication too, and for owners.
#[apply(on_every_store)]
async fn nobody_changes_what_is_denied(kind: StoreKind) {
    let denied = ["AWS.Logs/*".parse().expect("types")];
    for builder in [World::builder(), World::builder().granting(Vec::new())] {
        let Some(builder) = builder.on(kind).await else {
            return;
        };
        let world = builder.denying(&denied).build().await;
        let logs = format!(
            "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.Logs/LogGroup"
        );
        let group = tracked_by("AWS.Logs/LogGroup", "logs");
        let body = json!({"trackedBy": group, "properties": {"LogGroupName": "logs"}});
        for (method, path) in [
            ("POST", format!("{logs}/:put")),
            ("POST", format!("{logs}/:import")),
            ("POST", format!("{logs}/:delete")),
            ("PUT", format!("{logs}/logs")),
            ("PATCH", format!("{logs}/logs")),
            ("DELETE", format!("{logs}/logs")),
            (
                "PUT",
                format!("{logs}/logs")
                    .to_uppercase()
                    .replace("US-WEST-2", REGION),
            ),
        ] {
            let body = body.to_string();
            let refused = world
                .call_as("root", method, &path, &body)
                .await
                .expect(403);
            assert_eq!(refused.code(), "AuthorizationFailed");
            assert!(
                refused.text.contains("denies changes of AWS.Logs/*"),
                "{}",
                refused.text
            );
        }
        let import = json!({"resources": [{"type": "AWS.Logs/LogGroup", "alias": "logs",
            "scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"),
            "primaryIdentifier": "logs"}]});
        let path = format!("{}/:import", GROUP);
        let refused = world
            .call_as("root", "POST", &path, &import.to_string())
            .await;
        assert_eq!(refused.expect(403).code(), "AuthorizationFailed");

        let read = world.call_as("root", "GET", &logs, "").await.expect(200);
        assert_eq!(read.body["value"], json!([]));
        let vpcs = logs.replace("AWS.Logs/LogGroup", "AWS.EC2/VPC");
        let body =
            json!({"alias": "vpc", "trackedBy": GROUP, "properties": {"CidrBlock": "10.0.0.0/16"}});
        let (path, body) = (format!("{vpcs}/:put"), body.to_string());
        world
            .call_as("root", "POST", &path, &body)
            .await
            .expect(201);
        world.settle().await;
        world.finish().await;
    }
}

/// Who owns a resource may delete it, so nobody changes that either: not even an owner of everything, nor a caller who needs no
/// rights.
#[tokio::test]
async fn nobody_changes_the_owner_of_what_is_denied() {
    let denied = ["AWS.Logs/*".parse().expect("types")];
    let builders: [fn() -> Builder; 2] = [World::builder, || World::builder().granting(Vec::new())];
    for builder in builders {
        let before = builder().build().await;
        let logs = format!(
            "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.Logs/LogGroup/:put"
        );
        let reference = tracked_by("AWS.Logs/LogGroup", "logs");
        let put = json!({"trackedBy": reference, "properties": {"LogGroupName": "logs"}});
        let put = put.to_string();
        before
            .call_as("root", "POST", &logs, &put)
            .await
            .expect(201);
        before.settle().await;

        let world = builder().beside(&before).denying(&denied).build().await;
        let patch = async |body| {
            let body = Value::to_string(&body);
            world.call_as("root", "PATCH", &reference, &body).await
        };
        for owned in [false, true] {
            let refused = patch(json!({"ownedResource": owned})).await.expect(403);
            assert_eq!(refused.code(), "AuthorizationFailed");
            assert!(
                refused.text.contains("denies changes of AWS.Logs/*"),
                "{}",
                refused.text
            );
        }
        let tagged = patch(json!({"tags": {"team": "a"}})).await.expect(200);
        assert_eq!(tagged.body["ownedResource"], true);
        world.finish().await;
    }
}
