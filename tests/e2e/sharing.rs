//! AWS resources that several references stand for: none of them is deleted while another one is left.

use serde_json::{Value, json};
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
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
        if !by_alias {
            let path = format!(
                "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{BUCKET}/data"
            );
            world.call_until_settled("DELETE", &path, "").await;
            world.settle().await;
        } else {
            let body = json!({"trackedBy": tracked_by(BUCKET, "a")});
            world.post(BUCKET, "delete", &body).await;
            world.settle().await;
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

/// Nothing tells before what name an imported queue has. Another one that the set deletes is kept too if AWS does not say which
/// queue has the name.
#[apply(on_every_store)]
async fn a_set_does_not_delete_what_a_create_of_it_has_met(world: &World) {
    const QUEUE: &str = "AWS.SQS/Queue";
    let queue = |alias: &str, name: &str| json!({"alias": alias, "type": QUEUE, "properties": {"QueueName": name}});
    let untracked = json!({"properties": {"QueueName": "jobs"}});
    world.post(QUEUE, "put", &untracked).await.expect(201);
    world.settle().await;
    let [jobs] = &world.live("AWS::SQS::Queue")[..] else {
        panic!("expected one queue")
    };
    let import = json!({"trackedBy": tracked_by(QUEUE, "a"), "primaryIdentifier": jobs, "ownedResource": true});
    world.post(QUEUE, "import", &import).await.expect(201);
    let reply = apply(world, json!([queue("b", "jobs")]), "Complete").await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Failed", "{status}");
    let members = status["properties"]["resources"]
        .as_array()
        .expect("members");
    let states: Vec<&Value> = members.iter().map(|it| &it["status"]).collect();
    assert_eq!(states, ["Failed", "Skipped"], "{status}");
    assert_eq!(members[0]["error"]["code"], "AlreadyExists", "{status}");
    let kept = members[1]["error"]["message"].as_str().expect("why");
    assert!(kept.contains(":refactor"), "{status}");
    assert_eq!(world.live("AWS::SQS::Queue"), [jobs.as_str()]);
    assert_eq!(world.calls("DeleteResource"), 0);
}

/// What another one stands for that the set neither declares nor deletes. The rest of the set is not begun either.
#[apply(on_every_store)]
async fn a_set_does_not_take_away_what_others_stand_for(world: &World) {
    shared(world).await;
    shared_elsewhere(world).await;
    let others = [elsewhere("c"), tracked_by(BUCKET, "b")];
    let new = json!({"alias": "new", "type": BUCKET, "properties": {"BucketName": "new"}});
    let gone = json!({"alias": "a", "type": BUCKET, "delete": true});
    let replaced = |policy: &str| {
        json!({"alias": "a", "type": BUCKET, "properties": {"BucketName": "data2"},
            "replacementPolicy": policy})
    };
    for (member, mode) in [
        (Some(gone), "Incremental"),
        (None, "Complete"),
        (Some(replaced("createBeforeDelete")), "Incremental"),
        (Some(replaced("deleteBeforeCreate")), "Incremental"),
    ] {
        let resources = member.iter().chain([&new]).cloned().collect();
        let reply = apply(world, resources, mode).await;
        refused(&reply, &others);
        assert!(reply.text.contains("(that of 'a')"), "{}", reply.text);
        assert_eq!(world.live(LIVE), ["data"], "{member:?}");
        // The what-if warns of it, and its plan does no more.
        let path = format!("{GROUP}/:whatIf?{API_VERSION}");
        let set = json!({"scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"),
            "mode": mode, "resources": member.iter().chain([&new]).collect::<Vec<_>>()});
        let told = world.call("POST", &path, &set.to_string()).await;
        let plan = json!({"planId": told.expect(200).body["properties"]["planId"]});
        let path = format!("{GROUP}/:apply?{API_VERSION}");
        refused(&world.call("POST", &path, &plan.to_string()).await, &others);
    }
}

/// Who has come to stand for it since the set was accepted keeps it too.
#[apply(on_every_store)]
async fn a_set_does_not_delete_what_others_have_come_to_stand_for(world: &World) {
    world.put_and_settle(BUCKET, "a", bucket()).await;
    let path = format!("{GROUP}/:apply?{API_VERSION}");
    let new = json!({"alias": "new", "type": BUCKET, "properties": {"BucketName": "new"}});
    let body = json!({"scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"),
        "mode": "Complete", "resources": [new]});
    // The delete comes last.
    let reply = world.call("POST", &path, &body.to_string()).await;
    shared_elsewhere(world).await;
    world.settle().await;
    let error = world.status(&reply.expect(202)).await;
    let text = error.to_string();
    assert!(text.contains("ResourceShared"), "{text}");
    assert!(
        !text.contains("other/"),
        "groups of others are not named: {text}"
    );
    assert_eq!(world.live(LIVE), ["data", "new"]);
    assert_eq!(world.calls("DeleteResource"), 0);
}

/// Deletes what nobody owns any more.
async fn delete_by_name(world: &World, name: &str) {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{BUCKET}/{name}");
    delete(world, &path).await.expect(202);
}

async fn release(world: &World, alias: &str) -> Reply {
    let path = format!("{}/:release?{API_VERSION}", tracked_by(BUCKET, alias));
    world.call("POST", &path, "").await
}

async fn owners(world: &World) -> Vec<(String, bool)> {
    let references = world.references().await;
    let owner = |it: &Value| {
        let name = it["name"].as_str().expect("a name").to_owned();
        (name, it["ownedResource"] == true)
    };
    references.iter().map(owner).collect()
}

/// What an alias has made and given up bears its mark. Put again, the alias stands for it, and its heir owns it still.
#[apply(on_every_store)]
async fn what_was_given_up_can_be_put_again(world: &World) {
    shared(world).await;
    release(world, "a").await.expect(200);
    for _ in 0..2 {
        world.put(BUCKET, "a", bucket()).await.expect(200);
        let both = [("a".to_owned(), false), ("b".to_owned(), true)];
        assert_eq!(owners(world).await, both);
    }
    // Who asks for it is refused.
    let taking = json!({"trackedBy": tracked_by(BUCKET, "a"), "properties": bucket(), "ownedResource": true});
    let refused = world.post(BUCKET, "put", &taking).await.expect(409);
    assert!(refused.text.contains("OwnedElsewhere"), "{}", refused.text);
}

/// Ownership passes to whom it was put by, and to nobody else.
#[apply(on_every_store)]
async fn what_is_released_is_left_alone(world: &World) {
    shared(world).await;
    let reply = release(world, "a").await.expect(200);
    let owner = reply.body["owner"].as_str().expect("an owner");
    assert!(owner.ends_with("/b"), "{}", reply.text);
    assert_eq!(owners(world).await, [("b".to_owned(), true)]);
    // The last one: nobody owns it.
    let reply = release(world, "b").await.expect(200);
    assert_eq!(reply.body["owner"], Value::Null, "{}", reply.text);
    assert!(reply.text.contains("Nobody owns"), "{}", reply.text);
    assert_eq!(world.live(LIVE), ["data"]);
    assert_eq!(world.calls("DeleteResource"), 0);
    release(world, "b").await.expect(404);
    delete_by_name(world, "data").await;
}

/// A busy reference is not given up.
#[apply(on_every_store)]
async fn what_is_under_way_is_not_released(world: &World) {
    world.put(BUCKET, "a", bucket()).await.expect(201);
    let refused = release(world, "a").await.expect(409);
    assert_eq!(refused.code(), "Conflict", "{}", refused.text);
    world.settle().await;
}

#[apply(on_every_store)]
async fn a_set_gives_up_what_others_stand_for(world: &World) {
    world.put_group("other").await;
    let put = json!({"trackedBy": elsewhere("c"), "properties": bucket()});
    world.post(BUCKET, "put", &put).await.expect(201);
    world.settle().await;
    let path = format!("{}?{API_VERSION}", elsewhere("c"));
    let released = json!({"ownedResource": false}).to_string();
    world.call("PATCH", &path, &released).await.expect(200);
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let send = async |body: Value| {
        let path = format!("{GROUP}/:apply?{API_VERSION}");
        let reply = world
            .call_until_settled("POST", &path, &body.to_string())
            .await;
        world.settle().await;
        reply
    };
    for (alias, complete) in [("a", false), ("b", true)] {
        world.put(BUCKET, alias, bucket()).await.expect(200);
        let path = format!("{}?{API_VERSION}", tracked_by(BUCKET, alias));
        let owned = json!({"ownedResource": true}).to_string();
        world.call("PATCH", &path, &owned).await.expect(200);
        let mut body = if complete {
            json!({"mode": "Complete", "resources": []})
        } else {
            json!({"scope": scope, "resources": [{"alias": alias, "type": BUCKET, "delete": true}]})
        };
        refused(&send(body.clone()).await, &[elsewhere("c")]);
        body["onShared"] = json!("release");
        let reply = send(body).await;
        let status = world.status(&reply).await;
        assert_eq!(status["status"], "Succeeded", "{status}");
        assert!(world.references().await.is_empty());
        // It was put, in a group that the caller may change.
        let theirs = format!("{}?{API_VERSION}", elsewhere("c"));
        let heir = world.call("GET", &theirs, "").await.expect(200);
        assert_eq!(heir.body["ownedResource"], true, "{}", heir.text);
        world.call("PATCH", &theirs, &released).await.expect(200);
    }
    assert_eq!(world.live(LIVE), ["data"]);
    assert_eq!(world.calls("DeleteResource"), 0);
    delete_by_name(world, "data").await;
}

#[apply(on_every_store)]
async fn a_group_gives_up_what_others_stand_for(world: &World) {
    shared(world).await;
    shared_elsewhere(world).await;
    world
        .put_and_settle(BUCKET, "own", json!({"BucketName": "own"}))
        .await;
    let path = format!("{GROUP}/:delete?{API_VERSION}");
    let refused = world.call("POST", &path, "{}").await.expect(409);
    assert!(refused.text.contains("ResourceShared"), "{}", refused.text);
    let body = json!({"onShared": "release"}).to_string();
    world
        .call_until_settled("POST", &path, &body)
        .await
        .expect(200);
    world.settle().await;
    assert_eq!(world.live(LIVE), ["data"]);
    let group = format!("{GROUP}?{API_VERSION}");
    world.call("GET", &group, "").await.expect(404);
    let heir = world
        .call("GET", &format!("{}?{API_VERSION}", elsewhere("c")), "")
        .await;
    assert_eq!(heir.expect(200).body["ownedResource"], true);
}

/// The reference goes on to the new one, and the old one is left to the others.
#[apply(on_every_store)]
async fn a_replacement_gives_up_what_others_stand_for(world: &World) {
    shared(world).await;
    let body = |policy: &str, on_shared: &str| {
        json!({"trackedBy": tracked_by(BUCKET, "a"), "properties": {"BucketName": policy.to_lowercase()},
            "replacementPolicy": policy, "onShared": on_shared})
    };
    let before = owners(world).await;
    for policy in ["createBeforeDelete", "deleteBeforeCreate"] {
        let refused = world.post(BUCKET, "put", &body(policy, "refuse")).await;
        assert_eq!(
            refused.expect(409).body["error"]["details"][0]["code"],
            "ResourceShared"
        );
    }
    assert_eq!(owners(world).await, before);
    let reply = world
        .post(BUCKET, "put", &body("deleteBeforeCreate", "release"))
        .await;
    assert!(matches!(reply.status, 200..=202), "{}", reply.text);
    world.settle().await;
    assert_eq!(world.live(LIVE), ["data", "deletebeforecreate"]);
    assert_eq!(world.calls("DeleteResource"), 0);
    let both = [("a".to_owned(), true), ("b".to_owned(), true)];
    assert_eq!(owners(world).await, both);
    // Nobody else stands for the new one, so that is replaced as ever.
    let reply = world
        .post(BUCKET, "put", &body("createBeforeDelete", "release"))
        .await;
    assert!(matches!(reply.status, 200..=202), "{}", reply.text);
    world.settle().await;
    assert_eq!(world.live(LIVE), ["createbeforedelete", "data"]);
}

/// Of two that come at once, the one that was compared with nothing starts over.
#[apply(on_every_store)]
async fn what_comes_in_between_is_not_contradicted(world: &World) {
    const LOGS: &str = "AWS.Logs/LogGroup";
    let logs = |days: u32| json!({"LogGroupName": "logs", "RetentionInDays": days});
    let untracked = json!({"properties": logs(7)});
    world.post(LOGS, "put", &untracked).await.expect(201);
    world.settle().await;
    world.hold_next_read();
    let held = async {
        let refused = world.put(LOGS, "b", logs(14)).await.expect(409);
        assert!(
            refused.text.contains("DeclaredOtherwise"),
            "{}",
            refused.text
        );
    };
    let between = async {
        world.is_read_held().await;
        world.put(LOGS, "a", logs(7)).await.expect(200);
        world.release_reads();
    };
    tokio::join!(held, between);
    assert_eq!(world.calls("UpdateResource"), 0);
    assert_eq!(owners(world).await, [("a".to_owned(), false)]);
}

/// AWS keeps the name in lower case, and the reference that stands has it so.
#[apply(on_every_store)]
async fn what_aws_spells_otherwise_is_not_contradicted(world: &World) {
    let database = |name: &str, backups: u32| {
        json!({"DBInstanceIdentifier": name, "Engine": "postgres", "DBInstanceClass": "db.t3.micro",
            "AllocatedStorage": "20", "BackupRetentionPeriod": backups})
    };
    let type_name = "AWS.RDS/DBInstance";
    world
        .put_and_settle(type_name, "a", database("shop", 7))
        .await;
    let refused = world
        .put(type_name, "b", database("Shop", 14))
        .await
        .expect(409);
    assert!(
        refused.text.contains("DeclaredOtherwise"),
        "{}",
        refused.text
    );
    // In a set, the worker learns how AWS spells it.
    let member = json!({"alias": "b", "type": type_name, "properties": database("Shop", 14)});
    let reply = apply(world, json!([member]), "Incremental").await;
    let status = world.status(&reply.expect(202)).await;
    assert_eq!(status["status"], "Failed", "{status}");
    assert!(status.to_string().contains("DeclaredOtherwise"), "{status}");
    assert_eq!(world.references().await.len(), 1);
    assert_eq!(world.calls("UpdateResource"), 0);
    world
        .put(type_name, "b", database("Shop", 7))
        .await
        .expect(200);
}

/// What leaves a set may be what a member of it declares under another alias, whatever that one fails with.
#[apply(on_every_store)]
async fn a_set_keeps_what_a_member_that_failed_may_be_about(world: &World) {
    const LOGS: &str = "AWS.Logs/LogGroup";
    let database = |name: &str, backups: u32| {
        json!({"DBInstanceIdentifier": name, "Engine": "postgres", "DBInstanceClass": "db.t3.micro",
            "AllocatedStorage": "20", "BackupRetentionPeriod": backups})
    };
    let type_name = "AWS.RDS/DBInstance";
    world
        .put_and_settle(type_name, "a", database("shop", 7))
        .await;
    let named = json!({"LogGroupName": "logs"});
    world.put_and_settle(LOGS, "logs", named).await;
    let refusal = fault(fail(HandlerErrorCode::ServiceInternalError).saying("No."));
    let refusal = refusal.on(Action::CreateResource);
    world.aws.add_fault(refusal.of_type("AWS::SSM::Parameter"));
    // One is refused, and another is never tried.
    let members = json!([
        {"alias": "b", "type": type_name, "properties": database("Shop", 14)},
        {"alias": "name", "type": "AWS.SSM/Parameter",
            "properties": {"Name": "name", "Type": "String", "Value": "logs"}},
        {"alias": "journal", "type": LOGS, "properties": {"LogGroupName": {"$reference": "name#/Value"}}},
    ]);
    let reply = apply(world, members, "Complete").await.expect(202);
    let status = world.status(&reply).await;
    let members = status["properties"]["resources"].as_array();
    let states = members
        .expect("members")
        .iter()
        .map(|it| it["status"].as_str());
    let states: Vec<_> = states.map(|state| state.expect("a state")).collect();
    assert_eq!(
        states,
        ["Failed", "Failed", "Skipped", "Skipped", "Skipped"],
        "{status}"
    );
    assert_eq!(world.calls("DeleteResource"), 0, "{status}");
    assert_eq!(world.references().await.len(), 2);
}

/// Each put would undo the other one.
#[apply(on_every_store)]
async fn a_second_reference_does_not_contradict_the_first(world: &World) {
    const LOGS: &str = "AWS.Logs/LogGroup";
    let logs = |days: u32| json!({"LogGroupName": "logs", "RetentionInDays": days});
    world.put_and_settle(LOGS, "a", logs(7)).await;
    let refused = world.put(LOGS, "b", logs(14)).await.expect(409);
    let detail = &refused.body["error"]["details"][0];
    assert_eq!(detail["code"], "DeclaredOtherwise", "{}", refused.text);
    assert_eq!(detail["target"], "/properties/RetentionInDays");
    assert_eq!(world.references().await.len(), 1);
    // Also in a set, whose request may not have looked.
    let member = |days| json!({"alias": "b", "type": LOGS, "properties": logs(days)});
    let reply = apply(world, json!([member(14)]), "Incremental").await;
    let text = match reply.status {
        202 => world.status(&reply).await.to_string(),
        _ => reply.text.clone(),
    };
    assert!(text.contains("DeclaredOtherwise"), "{text}");
    assert_eq!(world.references().await.len(), 1);
    assert_eq!(world.calls("UpdateResource"), 0);
    // What is declared alike, or by one of them only, is no contradiction, and pairs that stand are left alone.
    let silent = json!({"LogGroupName": "logs"});
    world.put(LOGS, "b", silent).await.expect(200);
    let what_if = json!({"trackedBy": tracked_by(LOGS, "b"), "properties": logs(14)});
    let told = world.post(LOGS, "whatIf", &what_if).await.expect(200);
    assert!(told.text.contains("SharedResource"), "{}", told.text);
    world.put_and_settle(LOGS, "b", logs(14)).await;
}

#[apply(on_every_store)]
async fn a_what_if_tells_who_else_stands_for_what_goes(world: &World) {
    shared(world).await;
    shared_elsewhere(world).await;
    let path = format!("{GROUP}/:whatIf?{API_VERSION}");
    let body = json!({"resources": [{"alias": "a", "type": BUCKET, "delete": true,
        "scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}")}]});
    let told = world
        .call("POST", &path, &body.to_string())
        .await
        .expect(200);
    let change = &told.body["properties"]["changes"][0];
    assert_eq!(change["changeType"], "Delete", "{}", told.text);
    let warning = &change["warnings"][0];
    assert_eq!(warning["code"], "SharedResource", "{}", told.text);
    let message = warning["message"].as_str().expect("a message");
    assert!(
        message.contains("/b'") && message.contains("/c'"),
        "{message}"
    );
}

/// What is planned with a release is carried out so.
#[apply(on_every_store)]
async fn a_planned_replacement_gives_up_what_others_stand_for(world: &World) {
    shared(world).await;
    let put = json!({"trackedBy": tracked_by(BUCKET, "a"), "properties": {"BucketName": "new"},
        "replacementPolicy": "createBeforeDelete", "onShared": "release"});
    let told = world.post(BUCKET, "whatIf", &put).await.expect(200);
    let mut planned = put.clone();
    planned["planId"] = told.body["properties"]["planId"].clone();
    let reply = world.post(BUCKET, "put", &planned).await;
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(world.live(LIVE), ["data", "new"]);
    assert_eq!(world.calls("DeleteResource"), 0);
}

/// Whatever the request names: the plan has shown that others keep the resource, or that it is given up to them.
#[apply(on_every_store)]
async fn a_planned_delete_takes_nothing_from_others(world: &World) {
    let by_name =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{BUCKET}/data");
    let a = tracked_by(BUCKET, "a");
    for door in ["plan", "alias", "name", "reference"] {
        shared(world).await;
        let carry_out = async |on_shared: &str| {
            let path = format!("{GROUP}/:whatIf?{API_VERSION}");
            let gone = json!({"alias": "a", "type": BUCKET, "delete": true, "onShared": on_shared});
            let set = json!({"scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"),
                "resources": [gone]});
            let told = world.call("POST", &path, &set.to_string()).await;
            let plan = told.expect(200).body["properties"]["planId"].clone();
            let id = plan.as_str().expect("a plan");
            let reply = match door {
                "plan" => world.post(BUCKET, "delete", &json!({"planId": id})).await,
                "alias" => {
                    let body = json!({"planId": id, "trackedBy": a});
                    world.post(BUCKET, "delete", &body).await
                }
                _ => {
                    let path = if door == "name" { &by_name } else { &a };
                    let path = format!("{path}?{API_VERSION}&planId={id}");
                    world.call("DELETE", &path, "").await
                }
            };
            world.settle().await;
            reply
        };
        refused(&carry_out("refuse").await, &[tracked_by(BUCKET, "b")]);
        let reply = carry_out("release").await;
        let status = world.status(&reply).await;
        assert_eq!(status["status"], "Succeeded", "{door}: {status}");
        assert_eq!(world.live(LIVE), ["data"], "{door}");
        assert_eq!(world.calls("DeleteResource"), 0, "{door}");
        assert_eq!(owners(world).await, [("b".to_owned(), true)], "{door}");
        release(world, "b").await.expect(200);
        world.vanish(LIVE, "data");
    }
}

/// What is not known when it is planned contradicts nobody yet.
#[apply(on_every_store)]
async fn a_value_that_is_not_known_yet_is_no_contradiction(world: &World) {
    const LOGS: &str = "AWS.Logs/LogGroup";
    let logs =
        json!({"LogGroupName": "logs", "KmsKeyId": "arn:aws:kms:us-west-2:123456789012:key/k"});
    world.put_and_settle(LOGS, "a", logs).await;
    let unknown = json!({"LogGroupName": "logs", "KmsKeyId": {"$unknown": true}});
    let what_if = json!({"trackedBy": tracked_by(LOGS, "b"), "properties": unknown});
    let told = world.post(LOGS, "whatIf", &what_if).await.expect(200);
    assert_eq!(told.body["status"], "Succeeded", "{}", told.text);
}

/// A role, which has no region.
const ROLE: &str = "AWS.IAM/Role";

fn place(region: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{region}")
}

fn role(description: &str) -> Value {
    let trust = json!({"Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"},
        "Action": "sts:AssumeRole"}]});
    json!({"RoleName": "r", "Description": description, "AssumeRolePolicyDocument": trust})
}

async fn put_role(world: &World, region: &str, alias: &str, description: &str) -> Reply {
    let path = format!("{}/providers/{ROLE}/:put?{API_VERSION}", place(region));
    let body = json!({"trackedBy": tracked_by(ROLE, alias), "properties": role(description)});
    let reply = world
        .call_until_settled("POST", &path, &body.to_string())
        .await;
    world.settle().await;
    reply
}

/// It is not deleted under its alias in one region while an alias in another one stands for it.
#[apply(on_every_store)]
async fn what_has_no_region_is_one_resource_in_all(world: &World) {
    put_role(world, REGION, "a", "ours").await.expect(201);
    let otherwise = put_role(world, "eu-west-1", "b", "theirs").await;
    assert!(
        otherwise.text.contains("DeclaredOtherwise"),
        "{}",
        otherwise.text
    );
    put_role(world, "eu-west-1", "b", "ours").await.expect(200);
    let reply = delete(world, &tracked_by(ROLE, "a")).await;
    refused(&reply, &[tracked_by(ROLE, "b")]);
    assert_eq!(world.live("AWS::IAM::Role"), ["r"]);
    delete(world, &tracked_by(ROLE, "b")).await.expect(200);
    delete(world, &tracked_by(ROLE, "a")).await.expect(202);
    assert_eq!(world.live("AWS::IAM::Role"), Vec::<String>::new());
}

/// A set whose region has changed does not delete what it declares.
#[apply(on_every_store)]
async fn what_has_no_region_does_not_go_by_coming_in_another_one(world: &World) {
    let member = |alias: &str, region: &str| json!({"alias": alias, "type": ROLE, "scope": place(region), "properties": role("ours")});
    let before = json!([member("role", REGION)]);
    apply(world, before, "Complete").await.expect(202);
    let other = json!([member("role2", "eu-west-1")]);
    let reply = apply(world, other, "Complete").await;
    assert_eq!(reply.status, 400, "{}", reply.text);
    let detail = &reply.body["error"]["details"][0];
    assert_eq!(detail["target"], "/resources/0/scope", "{}", reply.text);
    let message = detail["message"].as_str().expect("a message");
    assert!(message.contains("The alias 'role' "), "{message}");
    assert!(message.contains("the same in every region"), "{message}");
    let twice = json!([member("role", REGION), member("role2", "eu-west-1")]);
    let reply = apply(world, twice, "Incremental").await;
    assert_eq!(reply.status, 400, "{}", reply.text);
    assert!(reply.text.contains("SameResource"), "{}", reply.text);
    // Where it is recorded, it moves.
    let moved = json!([member("role2", REGION)]);
    apply(world, moved, "Complete").await.expect(202);
    let references = world.references().await;
    assert_eq!(references.len(), 1);
    assert_eq!(references[0]["name"], "role2");
    assert_eq!(references[0]["ownedResource"], true);
    // Or where the message says, once it is given up.
    let released = format!("{}/:release?{API_VERSION}", tracked_by(ROLE, "role2"));
    world.call("POST", &released, "{}").await.expect(200);
    let other = json!([member("role3", "eu-west-1")]);
    apply(world, other, "Complete").await.expect(200);
    assert_eq!(world.references().await.len(), 1);
    assert_eq!(world.live("AWS::IAM::Role"), ["r"]);
    assert_eq!(world.calls("DeleteResource"), 0);
}

/// AWS has the name of a managed policy once in all regions, although its ARN is the identifier.
#[apply(on_every_store)]
async fn a_name_that_has_no_region_is_one_in_all(world: &World) {
    const POLICY: &str = "AWS.IAM/ManagedPolicy";
    let document =
        json!({"Statement": [{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*"}]});
    let policy = |alias: &str, region: &str| {
        json!([{"alias": alias, "type": POLICY, "scope": place(region),
            "properties": {"ManagedPolicyName": "p", "PolicyDocument": document}}])
    };
    apply(world, policy("a", REGION), "Complete")
        .await
        .expect(202);
    let reply = apply(world, policy("b", "eu-west-1"), "Complete").await;
    assert_eq!(reply.status, 400, "{}", reply.text);
    assert!(reply.text.contains("ResourceShared"), "{}", reply.text);
    assert_eq!(world.live("AWS::IAM::ManagedPolicy").len(), 1);
    assert_eq!(world.calls("DeleteResource"), 0);
}

/// Whatever leaves it alone: the reply, or the status, tells that nobody owns it any more, and which resource that is.
#[apply(on_every_store)]
async fn who_owns_what_is_given_up_is_told(world: &World) {
    const NOBODY: &str = "nobody does from now on";
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    world.put_group("other").await;
    let release = "release";
    for door in [
        "put",
        "set",
        "replacing set",
        "planned delete",
        "group",
        "waiting group",
    ] {
        world.put_group("rg").await;
        let name = door.replace(' ', "-");
        let named = json!({"BucketName": name});
        world.put_and_settle(BUCKET, &name, named).await;
        // It was not put, so it owns nothing.
        let import = json!({"trackedBy": elsewhere(&name), "primaryIdentifier": name});
        world.post(BUCKET, "import", &import).await.expect(201);
        let put = json!({"alias": name, "type": BUCKET, "properties": {"BucketName": format!("{name}2")},
            "replacementPolicy": "createBeforeDelete", "onShared": release});
        let gone = json!({"alias": name, "type": BUCKET, "delete": true, "onShared": release});
        let warnings = match door {
            "put" => {
                let mut body = put;
                body["trackedBy"] = json!(tracked_by(BUCKET, &name));
                for member in ["alias", "type"] {
                    body.as_object_mut().expect("an object").remove(member);
                }
                let reply = world.post(BUCKET, "put", &body).await;
                world.settle().await;
                world.status(&reply).await["properties"]["warnings"].clone()
            }
            "set" | "replacing set" => {
                let member = if door == "set" { gone } else { put };
                let reply = apply(world, json!([member]), "Incremental").await;
                let status = world.status(&reply.expect(202)).await;
                assert_eq!(status["status"], "Succeeded", "{status}");
                status["properties"]["resources"][0]["warnings"].clone()
            }
            "planned delete" => {
                let path = format!("{GROUP}/:whatIf?{API_VERSION}");
                let set = json!({"scope": scope, "resources": [gone]}).to_string();
                let told = world.call("POST", &path, &set).await.expect(200);
                let plan = told.body["properties"]["planId"].as_str().expect("a plan");
                let path = format!("{}?{API_VERSION}&planId={plan}", tracked_by(BUCKET, &name));
                let reply = world.call("DELETE", &path, "").await;
                world.settle().await;
                world.status(&reply).await["properties"]["warnings"].clone()
            }
            _ => {
                let path = format!("{GROUP}/:delete?{API_VERSION}");
                let body = json!({"onShared": release}).to_string();
                if door == "waiting group" {
                    let reply = world.call_until_settled("POST", &path, &body).await;
                    reply.expect(200).body["warnings"].clone()
                } else {
                    let reply = world.send_without_waiting("POST", &path, &body).await;
                    world.settle().await;
                    world.status(&reply).await["properties"]["warnings"].clone()
                }
            }
        };
        let warnings = warnings.as_array().cloned().unwrap_or_default();
        let [warning] = &warnings[..] else {
            panic!("{door}: {warnings:?}")
        };
        assert_eq!(warning["code"], "SharedResource", "{door}: {warning}");
        let message = warning["message"].as_str().expect("a message");
        assert!(message.contains(NOBODY), "{door}: {message}");
        let resource = format!("{scope}/providers/{BUCKET}/{name}");
        assert_eq!(warning["target"], json!(resource), "{door}");
        assert!(world.live(LIVE).contains(&name), "{door}");
    }
}

/// Whoever declares it may give it up before the deletes begin.
#[apply(on_every_store)]
async fn what_a_set_declares_lives_although_it_is_given_up_meanwhile(world: &World) {
    shared(world).await;
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let net =
        json!({"alias": "net", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": "10.0.0.0/16"}});
    let set = json!({"scope": scope, "mode": "Complete", "onShared": "release", "resources": [
        {"alias": "b", "type": BUCKET, "properties": bucket()}, net]});
    let path = format!("{GROUP}/:apply?{API_VERSION}");
    let accepted = world
        .send_without_waiting("POST", &path, &set.to_string())
        .await;
    assert_eq!(accepted.status, 202, "{}", accepted.text);
    for steps in 1.. {
        let status = world.status(&accepted).await;
        if status["properties"]["resources"][0]["status"] == "Unchanged" {
            break;
        }
        assert!(steps < 50, "{status}");
        world.step().await;
    }
    let release = format!("{}/:release?{API_VERSION}", tracked_by(BUCKET, "b"));
    world.call("POST", &release, "{}").await.expect(200);
    world.settle().await;
    let status = world.status(&accepted).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(owners(world).await, [("net".to_owned(), true)]);
    assert_eq!(world.live(LIVE), ["data"]);
    // Whoever declares it again has it again.
    world.put(BUCKET, "a", bucket()).await.expect(200);
}

/// What is put in its place is another resource, so nobody declares it.
#[apply(on_every_store)]
async fn what_a_set_replaces_under_one_alias_and_gives_up_under_another_is_deleted(world: &World) {
    const VPC: &str = "AWS.EC2/VPC";
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let block = |block: &str| json!({ "CidrBlock": block });
    world.put_and_settle(VPC, "d", block("10.0.0.0/16")).await;
    let old = world.live("AWS::EC2::VPC").remove(0);
    let import = json!({"trackedBy": tracked_by(VPC, "p"), "primaryIdentifier": old});
    world.post(VPC, "import", &import).await.expect(201);
    let set = json!({"scope": scope, "mode": "Complete", "onShared": "release", "resources": [
        {"alias": "p", "type": VPC, "properties": block("10.1.0.0/16"), "replacementPolicy": "createBeforeDelete"}]});
    let path = format!("{GROUP}/:apply?{API_VERSION}");
    let reply = world
        .call_until_settled("POST", &path, &set.to_string())
        .await;
    world.settle().await;
    let status = world.status(&reply.expect(202)).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let live = world.live("AWS::EC2::VPC");
    assert!(live.len() == 1 && live[0] != old, "{live:?}");
}

/// AWS shows some resources under several types, and has some names once for all regions.
#[apply(on_every_store)]
async fn a_set_does_not_delete_what_it_declares_as_another_type(world: &World) {
    let scope = |region: &str| format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{region}");
    let table = json!({
        "TableName": "shop", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    });
    world
        .put_and_settle("AWS.DynamoDB/Table", "a", table.clone())
        .await;
    let mut replicated = table;
    replicated["Replicas"] = json!([{"Region": REGION}]);
    world.put_and_settle(BUCKET, "a", bucket()).await;
    let set = json!({"scope": scope(REGION), "mode": "Complete", "resources": [
        {"alias": "b", "type": "AWS.DynamoDB/GlobalTable", "properties": replicated},
        {"alias": "c", "type": BUCKET, "scope": scope("eu-west-1"), "properties": bucket()},
    ]});
    let path = format!("{GROUP}/:apply?{API_VERSION}");
    let refused_set = world
        .call("POST", &path, &set.to_string())
        .await
        .expect(400);
    let details = refused_set.body["error"]["details"]
        .as_array()
        .expect("details");
    let shared = details.iter().filter(|it| it["code"] == "ResourceShared");
    assert_eq!(shared.count(), 4, "{}", refused_set.text);
    assert_eq!(world.calls("DeleteResource"), 0);
}

/// What stands for a resource that another alias of the group declares, or that goes with it, is in nobody's way.
#[apply(on_every_store)]
async fn a_set_resolves_what_two_of_its_aliases_stand_for(world: &World) {
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let send = async |body: &Value| {
        let path = format!("{GROUP}/:apply?{API_VERSION}");
        let reply = world
            .call_until_settled("POST", &path, &body.to_string())
            .await;
        world.settle().await;
        reply
    };
    let succeeds = async |body: &Value| {
        let reply = send(body).await.expect(202);
        let status = world.status(&reply).await;
        assert_eq!(status["status"], "Succeeded", "{status}");
    };
    let put = |alias: &str| json!({"alias": alias, "type": BUCKET, "properties": bucket()});
    let gone = |alias: &str| json!({"alias": alias, "type": BUCKET, "delete": true});
    // The owner leaves the file, and the other one stays.
    shared(world).await;
    let mut renamed = json!({"scope": scope, "mode": "Complete", "resources": [put("b")]});
    let refused_set = send(&renamed).await.expect(400);
    assert!(
        refused_set.text.contains("onShared release"),
        "{}",
        refused_set.text
    );
    renamed["onShared"] = json!("release");
    succeeds(&renamed).await;
    assert_eq!(owners(world).await, [("b".to_owned(), true)]);
    // Or it is listed.
    world.put(BUCKET, "d", bucket()).await.expect(200);
    let mut left = gone("b");
    left["onShared"] = json!("release");
    succeeds(&json!({"scope": scope, "resources": [put("d"), left]})).await;
    assert_eq!(owners(world).await, [("d".to_owned(), true)]);
    assert_eq!(world.live(LIVE), ["data"]);
    assert_eq!(world.calls("DeleteResource"), 0);

    // Not to one that stands for another resource: its put would fail, and nobody would stand for this one.
    let other = json!({"BucketName": "other"});
    world.put_and_settle(BUCKET, "e", other).await;
    let mut taken =
        json!({"scope": scope, "mode": "Complete", "onShared": "release", "resources": [put("e")]});
    for policy in [None, Some("createBeforeDelete")] {
        if let Some(policy) = policy {
            taken["resources"][0]["replacementPolicy"] = json!(policy);
        }
        let refused_set = send(&taken).await.expect(400);
        assert!(
            refused_set.text.contains("ResourceShared"),
            "{}",
            refused_set.text
        );
    }
    assert_eq!(world.live(LIVE), ["data", "other"]);
    world.delete(BUCKET, "e").await;
    world.settle().await;
    assert_eq!(world.calls("DeleteResource"), 1);

    // Both go: the owner goes last, with the resource.
    world.put(BUCKET, "b", bucket()).await.expect(200);
    let both = json!({"scope": scope, "resources": [gone("d"), gone("b")]});
    shared_elsewhere(world).await;
    refused(&send(&both).await, &[elsewhere("c")]);
    delete(world, &elsewhere("c")).await.expect(200);
    succeeds(&both).await;
    assert!(world.references().await.is_empty());
    assert_eq!(world.live(LIVE), Vec::<String>::new());
    assert_eq!(world.calls("DeleteResource"), 2);

    // The same if nobody owns it, and by a plan.
    let untracked = json!({"properties": bucket()});
    world.post(BUCKET, "put", &untracked).await.expect(201);
    world.settle().await;
    for alias in ["d", "b"] {
        world.put(BUCKET, alias, bucket()).await.expect(200);
    }
    let path = format!("{GROUP}/:whatIf?{API_VERSION}");
    let told = world.call("POST", &path, &both.to_string()).await;
    let told = told.expect(200);
    assert!(!told.text.contains("SharedResource"), "{}", told.text);
    succeeds(&json!({"planId": told.body["properties"]["planId"]})).await;
    assert!(world.references().await.is_empty());
    assert_eq!(world.live(LIVE), Vec::<String>::new());
    assert_eq!(world.calls("DeleteResource"), 3);
}
