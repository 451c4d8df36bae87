//! The proof of a change: what AWS shows after it has reported success.

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{GROUP, World, apply, on_every_store, tracked_by};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const SECRET: &str = "AWS.SecretsManager/Secret";

fn drop_paths(world: &World, operation: Action, paths: &[&str]) {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    let dropping = fault(Effect::DropPaths { paths });
    world.aws.add_fault(dropping.on(operation).times(1));
}

fn logs(retention: u32, class: &str) -> Value {
    json!({"LogGroupName": "logs", "RetentionInDays": retention,
        "Tags": [{"Key": "class", "Value": class}]})
}

fn codes(status: &Value) -> Vec<(&str, &str)> {
    let warnings = status["properties"]["warnings"].as_array();
    warnings
        .into_iter()
        .flatten()
        .filter_map(|warning| Some((warning["code"].as_str()?, warning["target"].as_str()?)))
        .collect()
}

/// Three puts in a row, of which AWS drops the same path each time: each says so.
#[apply(on_every_store)]
async fn each_put_says_what_aws_has_dropped(world: &World) {
    let created = world.put_and_settle(LOG_GROUP, "logs", logs(7, "a")).await;
    let proof = json!({"confirmed": 3, "dropped": [], "different": [], "unreadable": []});
    assert_eq!(created["properties"]["proof"], proof);
    assert_eq!(codes(&created), []);
    let exact = json!({"exact": true, "confirmed": 3, "differences": [], "unreadable": []});
    assert_eq!(created["prediction"], exact);

    drop_paths(world, Action::UpdateResource, &["/RetentionInDays"]);
    let partly = world.put_and_settle(LOG_GROUP, "logs", logs(14, "b")).await;
    let proof =
        json!({"confirmed": 1, "dropped": ["/RetentionInDays"], "different": [], "unreadable": []});
    assert_eq!(partly["status"], "Succeeded", "{partly}");
    assert_eq!(partly["properties"]["proof"], proof);
    let warned = [("DroppedProperty", "/properties/RetentionInDays")];
    assert_eq!(codes(&partly), warned);
    assert_eq!(partly["properties"]["RetentionInDays"], 7);
    let difference =
        json!({"path": "/RetentionInDays", "kind": "different", "planned": 14, "live": 7});
    let wrong =
        json!({"exact": false, "confirmed": 2, "differences": [difference], "unreadable": []});
    assert_eq!(partly["prediction"], wrong);

    for updates in [2, 3] {
        drop_paths(world, Action::UpdateResource, &["/RetentionInDays"]);
        let again = world.put_and_settle(LOG_GROUP, "logs", logs(14, "b")).await;
        assert_eq!(codes(&again), warned, "{again}");
        assert!(
            again
                .to_string()
                .contains("each put that declares it sends it again")
        );
        assert_eq!(world.calls("UpdateResource"), updates);
    }
    // Once AWS takes it, nothing is left to say or to do.
    let done = world.put_and_settle(LOG_GROUP, "logs", logs(14, "b")).await;
    assert_eq!(done["properties"]["proof"]["confirmed"], 1);
    assert_eq!(codes(&done), []);
    world
        .put(LOG_GROUP, "logs", logs(14, "b"))
        .await
        .expect(200);
}

/// What should have been removed and is still there was dropped too: a property, or an element of a list.
#[apply(on_every_store)]
async fn what_is_still_there_was_not_removed(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7, "a")).await;
    drop_paths(
        world,
        Action::UpdateResource,
        &["/RetentionInDays", "/Tags"],
    );
    let declared = json!({"LogGroupName": "logs", "Tags": [{"Key": "b", "Value": "c"}]});
    let ended = world.put_and_settle(LOG_GROUP, "logs", declared).await;
    let dropped = &ended["properties"]["proof"]["dropped"];
    assert_eq!(*dropped, json!(["/RetentionInDays", "/Tags"]), "{ended}");
}

/// A put that requires proof fails; what was changed stays, and so does the reference.
#[apply(on_every_store)]
async fn a_put_that_requires_proof_fails_without_it(world: &World) {
    let put = |properties: Value| {
        json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "requireProof": true,
            "properties": properties})
    };
    for (operation, retention, class) in [
        (Action::CreateResource, 7, "a"),
        (Action::UpdateResource, 14, "b"),
    ] {
        drop_paths(world, operation, &["/RetentionInDays"]);
        let body = put(logs(retention, class));
        let reply = world.post(LOG_GROUP, "put", &body).await.expect(201);
        world.settle().await;
        let ended = world.status(&reply).await;
        assert_eq!(ended["error"]["code"], "PartiallyApplied", "{ended}");
        let message = ended["error"]["message"].as_str().expect("a message");
        assert!(message.contains("/RetentionInDays"), "{message}");
        assert_eq!(
            ended["properties"]["proof"]["dropped"],
            json!(["/RetentionInDays"])
        );
        let reference = &world.references().await[0];
        assert_eq!(reference["ownedResource"], true);
        assert_eq!(reference["provisioningState"], "Failed");
    }
    // The next put repairs it.
    let reply = world.post(LOG_GROUP, "put", &put(logs(14, "b"))).await;
    world.settle().await;
    assert_eq!(
        world.status(&reply.expect(201)).await["status"],
        "Succeeded"
    );
}

/// Nothing is said to be confirmed that nobody could read.
#[apply(on_every_store)]
async fn what_cannot_be_read_afterwards_is_told(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7, "a")).await;
    let reply = world
        .put(LOG_GROUP, "logs", logs(14, "b"))
        .await
        .expect(201);
    let denied = refuse(ExceptionCode::AccessDenied).saying("no");
    world.aws.add_fault(fault(denied).on(Action::GetResource));
    world.settle().await;
    let ended = world.status(&reply).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let proof = &ended["properties"]["proof"];
    assert_eq!(proof["confirmed"], 0, "{ended}");
    let unreadable = proof["unreadable"].as_array().expect("a list");
    assert!(unreadable.contains(&json!("/RetentionInDays")), "{ended}");
}

/// A replacement that requires proof judges the new resource before it deletes the old one, and keeps the old one if the
/// new one does not hold what was sent.
#[apply(on_every_store)]
async fn a_replacement_without_proof_keeps_the_old_resource(world: &World) {
    let live = || world.live("AWS::Logs::LogGroup");
    let declared = |name: &str| json!({"LogGroupName": name, "RetentionInDays": 7});
    let put = async |name: &str| {
        let body = json!({"trackedBy": tracked_by(LOG_GROUP, "logs"), "requireProof": true,
            "replacementPolicy": "createBeforeDelete", "properties": declared(name)});
        let reply = world.post(LOG_GROUP, "put", &body).await.expect(201);
        world.settle().await;
        world.status(&reply).await
    };
    put("old").await;

    drop_paths(world, Action::CreateResource, &["/RetentionInDays"]);
    let ended = put("new").await;
    assert_eq!(ended["error"]["code"], "PartiallyApplied", "{ended}");
    let message = ended["error"]["message"].as_str().expect("a message");
    for told in ["/RetentionInDays", "'old'", "'new'"] {
        assert!(message.contains(told), "{message}");
    }
    let proof = &ended["properties"]["proof"];
    assert_eq!(proof["dropped"], json!(["/RetentionInDays"]), "{ended}");
    assert_eq!(live(), ["old"]);
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], "old");
    assert_eq!(reference["ownedResource"], true);
    assert_eq!(reference["provisioningState"], "Failed");
    let kept = world.put(LOG_GROUP, "logs", declared("old")).await;
    kept.expect(200);

    // What cannot be deleted of the new one is not lost.
    drop_paths(world, Action::CreateResource, &["/RetentionInDays"]);
    let kept = fail(HandlerErrorCode::InvalidRequest).saying("no");
    world
        .aws
        .add_fault(fault(kept).on(Action::DeleteResource).times(1));
    let ended = put("new").await;
    assert_eq!(ended["error"]["code"], "PartiallyApplied", "{ended}");
    assert_eq!(live().len(), 2);
    let left = world.get(&format!("{GROUP}/leftovers")).await.expect(200);
    let [entry] = &left.body["value"].as_array().expect("a list")[..] else {
        panic!("one leftover, not {}", left.text)
    };
    assert_eq!(entry["properties"]["primaryIdentifier"], "new");
    assert_eq!(entry["properties"]["reason"], "Undeleted");
    world.clock.advance(std::time::Duration::from_secs(60));
    world.keep().await;
    world.settle().await;

    // With proof, the new one takes its place.
    assert_eq!(put("new").await["status"], "Succeeded");
    assert_eq!(live(), ["new"]);
}

/// A read that lags shows what was there before: it is neither the result, nor proof that anything was dropped.
#[apply(on_every_store)]
async fn a_stale_read_is_not_the_result(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7, "a")).await;
    let reply = world
        .put(LOG_GROUP, "logs", logs(14, "b"))
        .await
        .expect(201);
    world.aws.add_fault(
        fault(Effect::Lag {
            least_millis: 5_000,
            most_millis: 5_000,
            replicas: 1,
        })
        .on(Action::GetResource),
    );
    world.settle().await;
    let ended = world.status(&reply).await;
    assert_eq!(ended["properties"]["RetentionInDays"], 14, "{ended}");
    assert_eq!(ended["properties"]["proof"]["confirmed"], 2, "{ended}");
    assert_eq!(codes(&ended), []);
}

/// A value that no read returns can be neither confirmed nor missed.
#[apply(on_every_store)]
async fn what_no_read_returns_is_unreadable(world: &World) {
    let secret = |value: &str| json!({"Name": "s", "SecretString": value, "Description": "d"});
    for value in ["canary-one", "canary-two"] {
        let ended = world.put_and_settle(SECRET, "s", secret(value)).await;
        let proof = &ended["properties"]["proof"];
        assert_eq!(proof["unreadable"], json!(["/SecretString"]), "{ended}");
        assert_eq!(proof["dropped"], json!([]));
        let prediction = &ended["prediction"];
        assert_eq!(prediction["unreadable"], json!(["/SecretString"]));
        assert_eq!(prediction["exact"], true, "{ended}");
        assert!(!ended.to_string().contains("canary"));
    }
}
