//! Plans of sets: applied as a whole, or put and deleted one by one.

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, crash_everywhere, on_every_store,
    tracked_by,
};

use super::{API, LOGS, VPC, codes, id_of, refused, status};
use crate::sets::{applied, send, set, states};

const SUBNET: &str = "AWS.EC2/Subnet";
const SECRET: &str = "AWS.SecretsManager/Secret";

fn network(tag: &str) -> Value {
    set(json!([
        {"alias": "sub", "type": SUBNET, "properties": {"VpcId": {"$reference": "net#/VpcId"}, "CidrBlock": "10.0.1.0/24"}},
        {"alias": "net", "type": VPC,
            "properties": {"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "t", "Value": tag}]}},
    ]))
}

async fn plan(world: &World, set: &Value) -> String {
    let reply = send(world, "whatIf", set).await.expect(200);
    assert_eq!(reply.body["status"], "Succeeded", "{}", reply.text);
    id_of(&reply.body["properties"])
}

async fn carry_out(world: &World, id: &str) -> Reply {
    send(world, "apply", &json!({ "planId": id })).await
}

async fn ended(world: &World, reply: &Reply) -> Value {
    world.settle().await;
    world.status(reply).await
}

#[apply(on_every_store)]
async fn a_set_is_applied_as_it_was_planned(world: &World) {
    let id = plan(world, &network("a")).await;
    let reply = carry_out(world, &id).await.expect(202);
    assert_eq!(status(world, &id).await, "Applying");
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    assert_eq!(states(&end), [("net", "Succeeded"), ("sub", "Succeeded")]);
    assert_eq!(status(world, &id).await, "Applied");
    assert_eq!(world.creates(), 2);
    refused(carry_out(world, &id).await, "AlreadyApplied");

    // What is declared must be the same.
    let id = plan(world, &network("b")).await;
    let mut other = network("c");
    other["planId"] = json!(id);
    let reply = send(world, "apply", &other).await.expect(409);
    assert_eq!(reply.code(), "PlanMismatch");
    let mut same = network("b");
    same["planId"] = json!(id);
    let reply = send(world, "apply", &same).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(states(&end), [("net", "Succeeded"), ("sub", "Unchanged")]);
    assert_eq!(world.calls("UpdateResource"), 1);

    // Nothing to do.
    let mut set = network("b");
    set["outputs"] = json!({"block": {"$reference": "net#/CidrBlock"}});
    let id = plan(world, &set).await;
    let reply = carry_out(world, &id).await.expect(200);
    assert_eq!(
        reply.body["properties"]["outputs"],
        json!({"block": "10.0.0.0/16"})
    );
    assert_eq!(status(world, &id).await, "Pending");
    assert_eq!(world.calls("UpdateResource"), 1);
}

/// A document has its canonical form only when all of it is known.
#[apply(on_every_store)]
async fn a_policy_that_refers_to_something_new_is_applied_as_planned(world: &World) {
    let topic = |alias: &str| json!({"alias": alias, "type": "AWS.SNS/Topic", "properties": {"TopicName": alias}});
    let arn = |alias: &str| json!({"$reference": format!("{alias}#/TopicArn")});
    let policy = |resource: Value| json!({"Statement": [{"Effect": "Allow", "Action": ["sns:Publish"], "Resource": resource}]});
    let role = json!({
        "AssumeRolePolicyDocument": {"Statement": {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole",
            "Condition": {"ArnEquals": {"aws:SourceArn": arn("b")}}}},
        "Policies": [{"PolicyName": "p", "PolicyDocument": policy(json!([arn("b"), arn("a"), "arn:aws:sns:us-west-2:123456789012:c"]))}],
    });
    let bucket_policy = json!({"Bucket": {"$concat": ["data-", {"$reference": "b#/TopicName"}]},
        "PolicyDocument": policy(arn("a"))});
    let set = set(json!([
        {"alias": "role", "type": "AWS.IAM/Role", "properties": role},
        {"alias": "policy", "type": "AWS.S3/BucketPolicy", "properties": bucket_policy},
        topic("b"),
        topic("a"),
    ]));
    let id = plan(world, &set).await;
    let reply = carry_out(world, &id).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    let again = send(world, "apply", &set).await.expect(200);
    assert_eq!(again.body["status"], "Succeeded", "{}", again.text);
}

#[apply(on_every_store)]
async fn a_set_is_applied_as_a_whole_or_not_at_all(world: &World) {
    applied(world, &network("a")).await;
    let id = plan(world, &network("b")).await;
    // One that the plan leaves as it is.
    let subnets = world.live("AWS::EC2::Subnet");
    let target = ("AWS::EC2::Subnet", subnets[0].as_str());
    let hot_fix = json!({"MapPublicIpOnLaunch": true});
    let changed = world.aws.patch_out_of_band(None, None, target, &hot_fix);
    changed.expect("it is there");
    let reply = carry_out(world, &id).await.expect(412);
    assert_eq!(reply.code(), "StalePlan");
    assert_eq!(
        codes(&reply.body["error"]),
        [("LiveStateChanged", "/properties/MapPublicIpOnLaunch")]
    );
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), 0);
    assert_eq!(status(world, &id).await, "Pending");
}

#[apply(on_every_store)]
async fn the_members_of_a_plan_are_put_one_by_one(world: &World) {
    let id = plan(world, &network("a")).await;
    let put = async |resource_type: &str, alias: &str| {
        let body = json!({"planId": id, "trackedBy": tracked_by(resource_type, alias)});
        world.post(resource_type, "put", &body).await
    };
    // What it refers to is not there yet.
    let early = put(SUBNET, "sub").await.expect(409);
    assert_eq!(early.code(), "PlanMismatch");
    put(VPC, "net").await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applying");
    refused(put(VPC, "net").await, "AlreadyApplied");
    refused(carry_out(world, &id).await, "AlreadyApplied");
    put(SUBNET, "sub").await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
    assert_eq!(world.creates(), 2);
}

#[apply(on_every_store)]
async fn what_a_plan_deletes_is_deleted_by_it(world: &World) {
    let log_group =
        |alias: &str| json!({"alias": alias, "type": LOGS, "properties": {"LogGroupName": alias}});
    let names = ["a", "b", "c", "d"];
    applied(world, &set(names.map(log_group).into_iter().collect())).await;
    let policy = json!({"properties": {"planPolicy": "required"}});
    let policy = super::call(world, "PATCH", &format!("{GROUP}?{API}"), policy).await;
    policy.expect(200);
    let mut rest = set(json!([log_group("a")]));
    rest["mode"] = json!("Complete");
    let id = plan(world, &rest).await;

    let kept = format!("{}?planId={id}", tracked_by(LOGS, "a"));
    let reply = world.call("DELETE", &kept, "").await.expect(409);
    assert_eq!(reply.code(), "PlanMismatch");
    let by_reference = format!("{}?planId={id}", tracked_by(LOGS, "b"));
    world.call("DELETE", &by_reference, "").await.expect(202);
    let by_name = format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOGS}/c?planId={id}"
    );
    world.call("DELETE", &by_name, "").await.expect(202);
    let body = json!({"planId": id, "trackedBy": tracked_by(LOGS, "d")});
    world.post(LOGS, "delete", &body).await.expect(202);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["a"]);
    refused(world.post(LOGS, "delete", &body).await, "AlreadyApplied");

    let none = plan(
        world,
        &set(json!([{"alias": "a", "type": LOGS, "delete": true}])),
    )
    .await;
    let end = ended(world, &carry_out(world, &none).await.expect(202)).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
    // What is not there need not be deleted.
    let gone = set(json!([{"alias": "a", "type": LOGS, "delete": true}]));
    let gone = plan(world, &gone).await;
    carry_out(world, &gone).await.expect(200);
}

/// A delete of what could not be seen is not planned.
#[apply(on_every_store)]
async fn a_delete_that_is_not_seen_keeps_no_plan(world: &World) {
    let of = |member: Value| set(json!([member]));
    let put = json!({"alias": "a", "type": LOGS, "properties": {"LogGroupName": "a"}});
    applied(world, &of(put)).await;
    let denied = refuse(ExceptionCode::AccessDenied);
    world.aws.add_fault(fault(denied).on(Action::GetResource));
    let delete = of(json!({"alias": "a", "type": LOGS, "delete": true}));
    let reply = send(world, "whatIf", &delete).await.expect(200);
    let properties = &reply.body["properties"];
    assert_eq!(properties["changes"][0]["changeType"], "Delete");
    assert_eq!(properties["planId"], Value::Null);
}

/// A set that refers to something else is not the one that was planned.
#[apply(on_every_store)]
async fn what_a_set_refers_to_must_be_what_was_planned(world: &World) {
    let id = plan(world, &network("a")).await;
    let mut other = network("a");
    other["resources"][0]["properties"]["VpcId"] = json!({"$reference": "net#/CidrBlock"});
    other["planId"] = json!(id);
    let reply = send(world, "apply", &other).await.expect(409);
    assert_eq!(reply.code(), "PlanMismatch");
}

/// What a set refers to outside of itself must be as it was planned, before anything is sent.
#[apply(on_every_store)]
async fn what_a_set_refers_to_outside_of_itself_is_compared(world: &World) {
    world
        .put_and_settle(VPC, "net", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let tag = json!({"$concat": ["in ", {"$reference": "net#/CidrBlock"}]});
    let body = set(json!([
        {"alias": "first", "type": LOGS, "properties": {"LogGroupName": "first"}},
        {"alias": "sub", "type": SUBNET, "dependsOn": ["first"], "properties":
            {"VpcId": {"$reference": "net"}, "CidrBlock": "10.0.1.0/24", "Tags": [{"Key": "of", "Value": tag}]}},
    ]));
    let id = plan(world, &body).await;
    let vpc = world.live("AWS::EC2::VPC")[0].clone();
    let change = |block: &str| {
        let block = json!({ "CidrBlock": block });
        let changed = world
            .aws
            .patch_out_of_band(None, None, ("AWS::EC2::VPC", &vpc), &block);
        changed.expect("it is there");
    };
    change("10.9.0.0/16");
    let reply = carry_out(world, &id).await.expect(412);
    assert_eq!(reply.code(), "StalePlan");
    assert_eq!(
        codes(&reply.body["error"]),
        [("LiveStateChanged", "/properties/Tags/0/Value")]
    );
    world.settle().await;
    assert_eq!(world.creates(), 1);
    assert_eq!(status(world, &id).await, "Pending");
    change("10.0.0.0/16");
    let reply = carry_out(world, &id).await.expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
}

fn recut(world: &World, vpc: &str, block: &str) {
    let block = json!({ "CidrBlock": block });
    let target = ("AWS::EC2::VPC", vpc);
    let changed = world.aws.patch_out_of_band(None, None, target, &block);
    changed.expect("it is there");
}

/// A set whose secret has a value from outside: where no read returns it, and in a text with a part that AWS assigns.
async fn secret_from_outside(world: &World) -> String {
    world
        .put_and_settle(VPC, "net", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let block = json!({"$reference": "net#/CidrBlock"});
    let text = json!({"$concat": [{"$reference": "own#/VpcId"}, " beside ", block]});
    let body = set(json!([
        {"alias": "own", "type": VPC, "properties": {"CidrBlock": "10.2.0.0/16"}},
        {"alias": "key", "type": SECRET, "properties": {"Name": "key", "Description": text, "SecretString": block}},
    ]));
    plan(world, &body).await
}

/// What a plan has shown is sent, whatever stands there once its member is due.
#[apply(on_every_store)]
async fn what_a_plan_refers_to_is_sent_as_it_was_planned(world: &World) {
    let id = secret_from_outside(world).await;
    let outside = world.live("AWS::EC2::VPC")[0].clone();
    let reply = carry_out(world, &id).await.expect(202);
    recut(world, &outside, "10.9.0.0/16");
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    let path = tracked_by(SECRET, "key");
    let shown = world.get(&path).await.expect(200).body;
    let text = shown["properties"]["Description"].as_str().expect("a text");
    assert!(text.ends_with(" beside 10.0.0.0/16"), "{text}");
    // No read returns the secret, but the same is nothing to do.
    let same = json!({"Name": "key", "Description": text, "SecretString": "10.0.0.0/16"});
    world.put(SECRET, "key", same).await.expect(200);
}

#[apply(on_every_store)]
async fn what_a_member_refers_to_outside_of_its_plan_is_compared(world: &World) {
    let id = secret_from_outside(world).await;
    let outside = world.live("AWS::EC2::VPC")[0].clone();
    let put = async |resource_type: &str, alias: &str| {
        let body = json!({"planId": id, "trackedBy": tracked_by(resource_type, alias)});
        world.post(resource_type, "put", &body).await
    };
    put(VPC, "own").await.expect(201);
    world.settle().await;
    recut(world, &outside, "10.9.0.0/16");
    let reply = put(SECRET, "key").await.expect(412);
    assert_eq!(reply.code(), "StalePlan");
    let changed = [("LiveStateChanged", "/properties/Description")];
    assert_eq!(codes(&reply.body["error"]), changed);
    recut(world, &outside, "10.0.0.0/16");
    put(SECRET, "key").await.expect(201);
    world.settle().await;
    assert_eq!(status(world, &id).await, "Applied");
}

/// Wherever a process dies, a plan is carried out once: what fails is told, and the rest is made and deleted.
#[apply(on_every_store)]
async fn a_plan_is_carried_out_once_in_spite_of_crashes(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        let old = json!({"LogGroupName": "old"});
        world.put_and_settle(LOGS, "old", old).await;
        let invalid = fault(fail(HandlerErrorCode::InvalidRequest).saying("No."));
        let invalid = invalid.on(Action::CreateResource);
        world.aws.add_fault(invalid.of_type("AWS::EC2::Subnet"));
        let mut body = network("a");
        body["mode"] = json!("Complete");
        let id = plan(world, &body).await;
        world.may_crash();
        let (path, body) = (format!("{GROUP}/:apply"), json!({ "planId": id }));
        let ended = world.see_through("POST", &path, &body.to_string()).await;
        if let Some(ended) = ended {
            assert_eq!(ended["error"]["code"], "ApplyFailed", "{ended}");
        }
        assert_eq!(status(world, &id).await, "Failed");
        refused(carry_out(world, &id).await, "AlreadyApplied");
        assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
        assert!(world.live("AWS::EC2::Subnet").is_empty());
        assert!(world.live("AWS::Logs::LogGroup").is_empty());
    })
    .await;
}

/// What was cancelled is not carried out later.
#[apply(on_every_store)]
async fn a_plan_that_is_cancelled_is_used(world: &World) {
    let slow = Effect::Latency {
        least_millis: 600_000,
        most_millis: 600_000,
    };
    let slow = fault(slow).on(Action::CreateResource);
    world.aws.add_fault(slow.times(1));
    let id = plan(world, &network("a")).await;
    let reply = carry_out(world, &id).await.expect(202);
    for _ in 0..3 {
        world.step().await;
    }
    let path = reply.status_url().replace("http://localhost:8787", "");
    let cancel = world.call("POST", &format!("{path}/:cancel"), "").await;
    cancel.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Canceled", "{end}");
    assert_eq!(states(&end), [("net", "Canceled"), ("sub", "Canceled")]);
    assert_eq!(status(world, &id).await, "Failed");
    refused(carry_out(world, &id).await, "AlreadyApplied");
    assert_eq!(world.creates(), 1);
}

/// A plan is not silently ignored, nor is what is declared beside it.
#[tokio::test]
async fn a_plan_is_named_where_it_is_carried_out() {
    let world = &World::builder().build().await;
    world.put_group("rg").await;
    let members = json!([{"alias": "logs", "type": LOGS, "properties": {"LogGroupName": "logs"}}]);
    let mut complete = set(members.clone());
    complete["mode"] = json!("Complete");
    let id = plan(world, &complete).await;
    let mut inside = set(members);
    inside["resources"][0]["planId"] = json!(id);
    for action in ["apply", "whatIf", "validate"] {
        let reply = send(world, action, &inside).await.expect(400);
        let target = "/resources/0/planId";
        let details = codes(&reply.body["error"]);
        assert_eq!(details, [("BadRequest", target)], "{action}");
    }
    let mut beside = complete.clone();
    beside["planId"] = json!(id);
    for action in ["whatIf", "validate"] {
        let reply = send(world, action, &beside).await.expect(400);
        assert_eq!(reply.body["error"]["target"], "/planId", "{}", reply.text);
        let body = json!({"planId": id, "trackedBy": tracked_by(LOGS, "logs"),
            "properties": {"LogGroupName": "logs"}});
        let reply = world.post(LOGS, action, &body).await.expect(400);
        assert_eq!(reply.body["error"]["target"], "/planId", "{}", reply.text);
    }
    for part in [
        json!({"mode": "Complete"}),
        json!({"mode": "Incremental"}),
        json!({"scope": complete["scope"]}),
        json!({"outputs": {"text": "as it is"}}),
    ] {
        let mut body = part;
        body["planId"] = json!(id);
        let reply = send(world, "apply", &body).await.expect(409);
        assert_eq!(reply.code(), "PlanMismatch", "{body}");
    }
    assert_eq!(status(world, &id).await, "Pending");
    carry_out(world, &id).await.expect(202);
    world.settle().await;
}

/// A read-only value of a member that is updated may become another one. What refers to it is open until then.
#[apply(on_every_store)]
async fn what_an_update_may_assign_anew_is_open(world: &World) {
    let secret = "AWS.SecretsManager/Secret";
    let of = |tag: &str| {
        set(json!([
            {"alias": "net", "type": VPC,
                "properties": {"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "t", "Value": tag}]}},
            {"alias": "s", "type": secret, "properties":
                {"Name": "s", "Description": {"$reference": "net#/DefaultSecurityGroup"}}},
            {"alias": "id", "type": LOGS, "properties":
                {"LogGroupName": {"$concat": ["of-", {"$reference": "net#/VpcId"}]}}},
        ]))
    };
    applied(world, &of("a")).await;
    let vpc = world.live("AWS::EC2::VPC")[0].clone();
    for (tag, updates) in [("b", 1), ("c", 2)] {
        let reply = send(world, "whatIf", &of(tag)).await.expect(200);
        let properties = &reply.body["properties"];
        let changes = properties["changes"].as_array().expect("changes");
        let told = |kind: &str| {
            let of_kind = |it: &&Value| {
                let tracked_by = it["trackedBy"].as_str().expect("a reference");
                tracked_by.contains(kind)
            };
            let change = changes.iter().find(of_kind).expect("a change");
            (change["changeType"].clone(), change["unknown"].clone())
        };
        assert_eq!(told("VPC"), (json!("Modify"), Value::Null));
        assert_eq!(told("Secret"), (json!("NoChange"), json!(["/Description"])));
        // What identifies it stays.
        assert_eq!(told("LogGroup"), (json!("NoChange"), Value::Null));
        let id = id_of(properties);
        let before = world.calls("UpdateResource");
        let reply = carry_out(world, &id).await.expect(202);
        step_until(world, "UpdateResource", before + 1).await;
        if updates == 2 {
            let anew = json!({"DefaultSecurityGroup": "sg-anew"});
            let target = ("AWS::EC2::VPC", vpc.as_str());
            let changed = world.aws.patch_out_of_band(None, None, target, &anew);
            changed.expect("it is there");
        }
        let end = ended(world, &reply).await;
        assert_eq!(end["status"], "Succeeded", "{end}");
        assert_eq!(world.calls("UpdateResource") - before, updates);
        assert_eq!(status(world, &id).await, "Applied");
    }
    let secrets = world.aws.resources().into_iter();
    let mut secrets = secrets.filter(|it| it.type_name.as_str() == "AWS::SecretsManager::Secret");
    assert_eq!(
        secrets.next().expect("a secret").properties["Description"],
        "sg-anew"
    );
}

/// Changes a live resource outside, or as another member of its set does.
fn change(world: &World, name: &str, properties: &Value) {
    let target = ("AWS::Logs::LogGroup", name);
    let changed = world.aws.patch_out_of_band(None, None, target, properties);
    changed.expect("it is there");
}

/// The first member of a set is changed before the others, and what is deleted last.
fn in_turn(retention: u32) -> Value {
    let log_group = |alias: &str, retention: u32| {
        json!({"alias": alias, "type": LOGS, "dependsOn": ["a"],
        "properties": {"LogGroupName": alias, "RetentionInDays": retention}})
    };
    let mut first = log_group("a", retention);
    first["dependsOn"] = json!([]);
    set(json!([
        first,
        log_group("b", retention),
        log_group("c", retention)
    ]))
}

/// Steps until so many calls have been made.
async fn step_until(world: &World, operation: &str, calls: usize) {
    for _ in 0..100 {
        if world.calls(operation) == calls {
            return;
        }
        world.step().await;
        let next = world.store.next_claimable_at().await;
        let next = next.expect("the store answers").expect("it is under way");
        if world.calls(operation) < calls {
            world.clock.move_to(next);
        }
    }
    panic!("{operation} is not called");
}

/// What the change of a member makes of another one, as a policy does of its role, does not keep that from being changed or
/// deleted. A hot fix of what is declared does.
#[tokio::test]
async fn a_set_does_not_make_itself_stale() {
    let world = World::builder().build().await;
    world.put_group("rg").await;
    applied(&world, &in_turn(7)).await;
    let id = plan(&world, &in_turn(14)).await;
    let reply = carry_out(&world, &id).await.expect(202);
    step_until(&world, "UpdateResource", 1).await;
    change(&world, "b", &json!({"LogGroupClass": "DELIVERY"}));
    change(&world, "c", &json!({"RetentionInDays": 30}));
    let end = ended(&world, &reply).await;
    let expected = [("a", "Succeeded"), ("b", "Succeeded"), ("c", "Failed")];
    assert_eq!(states(&end), expected, "{end}");
    assert_eq!(
        end["properties"]["resources"][2]["error"]["code"],
        "StalePlan"
    );
    assert_eq!(world.calls("UpdateResource"), 2);
    assert_eq!(status(&world, &id).await, "Stale");

    let mut rest = set(
        json!([{"alias": "a", "type": LOGS, "properties": {"LogGroupName": "a", "RetentionInDays": 30}}]),
    );
    rest["mode"] = json!("Complete");
    let id = plan(&world, &rest).await;
    let reply = carry_out(&world, &id).await.expect(202);
    step_until(&world, "UpdateResource", 3).await;
    change(&world, "b", &json!({"LogGroupClass": "STANDARD"}));
    change(&world, "c", &json!({"RetentionInDays": 60}));
    let end = ended(&world, &reply).await;
    let expected = [("a", "Succeeded"), ("b", "Succeeded"), ("c", "Failed")];
    assert_eq!(states(&end), expected, "{end}");
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["a", "c"]);
    world.finish().await;
}

/// Each member of a plan is put once, and one that fails does not keep the others from being put.
#[tokio::test]
async fn a_failed_member_is_in_nobody_elses_way() {
    let world = World::builder().build().await;
    world.put_group("rg").await;
    let id = plan(&world, &in_turn(7)).await;
    let put = async |alias: &str| {
        let body = json!({"planId": id, "trackedBy": tracked_by(LOGS, alias)});
        world.post(LOGS, "put", &body).await
    };
    let failing = fault(fail(HandlerErrorCode::InvalidRequest)).on(Action::CreateResource);
    world.aws.add_fault(failing.times(1));
    put("a").await.expect(201);
    world.settle().await;
    assert_eq!(status(&world, &id).await, "Applying");
    refused(put("a").await, "AlreadyApplied");
    for alias in ["b", "c"] {
        put(alias).await.expect(201);
    }
    world.settle().await;
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["b", "c"]);
    assert_eq!(status(&world, &id).await, "Failed");
    refused(put("b").await, "AlreadyApplied");
    world.finish().await;
}

/// What refers to another resource has the planned value, or the one that it has by now.
#[tokio::test]
async fn what_a_reference_gives_is_not_declared_otherwise() {
    let world = World::builder().build().await;
    world.put_group("rg").await;
    let body = set(json!([
        {"alias": "net", "type": VPC, "properties": {"CidrBlock": "10.0.0.0/16"}},
        {"alias": "sub", "type": SUBNET, "properties": {"VpcId": {"$reference": "net"}, "CidrBlock": "10.0.1.0/24",
            "Tags": [{"Key": "of", "Value": {"$concat": ["in ", {"$reference": "net#/CidrBlock"}]}}]}},
    ]));
    let id = plan(&world, &body).await;
    let put = async |vpc: &str, tag: &str| {
        let body = json!({"planId": id, "trackedBy": tracked_by(SUBNET, "sub"), "properties":
            {"VpcId": vpc, "CidrBlock": "10.0.1.0/24", "Tags": [{"Key": "of", "Value": tag}]}});
        world.post(SUBNET, "put", &body).await
    };
    let tag = "in 10.0.0.0/16";
    // It is not there yet.
    assert_eq!(put("vpc-1", tag).await.expect(409).code(), "PlanMismatch");
    let body = json!({"planId": id, "trackedBy": tracked_by(VPC, "net")});
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    let vpc = world.live("AWS::EC2::VPC")[0].clone();
    for (vpc, tag) in [("vpc-1", tag), (vpc.as_str(), "in 10.1.0.0/16")] {
        let reply = put(vpc, tag).await.expect(409);
        assert_eq!(reply.code(), "PlanMismatch", "{}", reply.text);
    }
    // What is not declared again must be as it was planned too.
    let change = |block: &str| {
        let target = ("AWS::EC2::VPC", vpc.as_str());
        let block = json!({ "CidrBlock": block });
        let changed = world.aws.patch_out_of_band(None, None, target, &block);
        changed.expect("it is there");
    };
    change("10.9.0.0/16");
    let as_planned = json!({"planId": id, "trackedBy": tracked_by(SUBNET, "sub")});
    let reply = world.post(SUBNET, "put", &as_planned).await.expect(412);
    assert_eq!(
        codes(&reply.body["error"]),
        [("LiveStateChanged", "/properties/Tags/0/Value")]
    );
    change("10.0.0.0/16");
    put(&vpc, tag).await.expect(201);
    world.settle().await;
    assert_eq!(status(&world, &id).await, "Applied");
    world.finish().await;
}

/// A plan with nothing to do in AWS writes what its references are to remember, as a put does.
#[apply(on_every_store)]
async fn what_is_adopted_and_declared_under_a_plan_is_remembered(world: &World) {
    let body = json!({"properties": {"LogGroupName": "there", "RetentionInDays": 7}});
    world.post(LOGS, "put", &body).await.expect(201);
    world.settle().await;
    let mut adopted =
        set(json!([{"alias": "logs", "type": LOGS, "properties": {"LogGroupName": "there"}}]));
    adopted["outputs"] = json!({"name": {"$reference": "logs"}});
    let planned = async |set: &Value| {
        let mut body = set.clone();
        body["planId"] = json!(plan(world, set).await);
        send(world, "apply", &body).await
    };
    let reply = planned(&adopted).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(states(&end), [("logs", "Unchanged")], "{end}");
    assert_eq!(end["properties"]["outputs"]["name"], "there");
    world.get(&tracked_by(LOGS, "logs")).await.expect(200);
    planned(&adopted).await.expect(200);

    // What is declared as it is, and then no more, was declared.
    let mut declared = adopted.clone();
    declared["resources"][0]["properties"]["RetentionInDays"] = json!(7);
    let reply = planned(&declared).await.expect(202);
    assert_eq!(states(&ended(world, &reply).await), [("logs", "Unchanged")]);
    planned(&declared).await.expect(200);
    let reply = planned(&adopted).await.expect(202);
    assert_eq!(states(&ended(world, &reply).await), [("logs", "Succeeded")]);
    assert_eq!(world.calls("UpdateResource"), 1);

    // Ownership is asked for.
    let mut owned = adopted.clone();
    owned["resources"][0]["ownedResource"] = json!(true);
    let reply = planned(&owned).await.expect(202);
    assert_eq!(states(&ended(world, &reply).await), [("logs", "Unchanged")]);
    let reference = world.get(&tracked_by(LOGS, "logs")).await.expect(200).body;
    assert_eq!(reference["ownedResource"], true, "{reference}");
    assert_eq!(world.creates(), 1);
}

/// What was not known when it was planned is sent with the plan.
#[apply(on_every_store)]
async fn values_that_were_not_known_come_with_the_apply(world: &World) {
    let logs = |days: Value| {
        let properties = json!({"LogGroupName": "logs", "RetentionInDays": days});
        let mut logs = set(json!([{"alias": "logs", "type": LOGS, "properties": properties}]));
        logs["outputs"] = json!({"days": days});
        logs
    };
    let id = plan(world, &logs(json!({"$unknown": true}))).await;
    let refused = carry_out(world, &id).await.expect(409);
    assert_eq!(refused.code(), "PlanMismatch");
    let mut known = logs(json!(7));
    known["planId"] = json!(id);
    let mut other = known.clone();
    other["resources"][0]["properties"]["LogGroupName"] = json!("other");
    let refused = send(world, "apply", &other).await.expect(409);
    assert_eq!(refused.code(), "PlanMismatch");
    let reply = send(world, "apply", &known).await.expect(202);
    let end = ended(world, &reply).await;
    assert_eq!(end["status"], "Succeeded", "{end}");
    let same = logs(json!(7));
    send(world, "apply", &same).await.expect(200);
}

/// A type that AWS cannot read is in a plan as it was last declared, and so is what refers to it.
#[apply(on_every_store)]
async fn a_type_without_a_read_handler_does_not_keep_a_set_from_being_planned(world: &World) {
    const POLICY: &str = "AWS.IAM/Policy";
    let of = |roles: &[&str], delay: u32| {
        let policy = json!({"PolicyName": "p", "Roles": roles, "PolicyDocument": {"Version": "2012-10-17", "Statement": []}});
        let tag = json!({"Key": "policy", "Value": {"$reference": "policy#/PolicyName"}});
        set(json!([
            {"alias": "policy", "type": POLICY, "properties": policy},
            {"alias": "queue", "type": "AWS.SQS/Queue", "properties": {"DelaySeconds": delay, "Tags": [tag]}},
        ]))
    };
    let apply = async |body: &Value| {
        let id = plan(world, body).await;
        let reply = carry_out(world, &id).await;
        match reply.status {
            202 => ended(world, &reply).await,
            _ => reply.expect(200).body,
        }
    };
    assert_eq!(apply(&of(&["one"], 5)).await["status"], "Succeeded");
    let again = apply(&of(&["one"], 5)).await;
    assert_eq!(
        states(&again),
        [("policy", "Unchanged"), ("queue", "Unchanged")]
    );
    let changed = apply(&of(&["one"], 6)).await;
    assert_eq!(
        states(&changed),
        [("policy", "Unchanged"), ("queue", "Succeeded")]
    );
    // Another set that refers to it knows its values too.
    let policy = tracked_by(POLICY, "policy");
    let elsewhere = set(
        json!([{"alias": "other", "type": "AWS.SQS/Queue", "properties": {"Tags": [
        {"Key": "policy", "Value": {"$reference": format!("{policy}#/PolicyName")}}]}}]),
    );
    assert_eq!(apply(&elsewhere).await["status"], "Succeeded");
    let again = send(world, "whatIf", &elsewhere).await.expect(200).body;
    let change = &again["properties"]["changes"][0];
    assert_eq!(change["changeType"], "NoChange", "{again}");
    // What was put otherwise since is another basis.
    let id = plan(world, &of(&["two"], 6)).await;
    let put = json!({"PolicyName": "p", "Roles": ["three"], "PolicyDocument": {"Version": "2012-10-17", "Statement": []}});
    world.put_and_settle(POLICY, "policy", put).await;
    let reply = carry_out(world, &id).await;
    let end = match reply.status {
        202 => ended(world, &reply).await.to_string(),
        _ => reply.text,
    };
    assert!(end.contains("StalePlan"), "{end}");
}

/// What stands in for what AWS cannot read is compared where it is referred to, too.
#[apply(on_every_store)]
async fn what_a_set_refers_to_and_cannot_be_read_is_compared(world: &World) {
    const POLICY: &str = "AWS.IAM/Policy";
    const QUEUE: &str = "AWS.SQS/Queue";
    let policy = |name: &str| json!({"PolicyName": name, "Roles": ["one"], "PolicyDocument": {"Version": "2012-10-17", "Statement": []}});
    world.put_and_settle(POLICY, "policy", policy("p")).await;
    let tag = json!({"Key": "policy", "Value": {"$reference": "policy#/PolicyName"}});
    let body = set(json!([{"alias": "queue", "type": QUEUE, "properties": {"Tags": [tag]}}]));
    let id = plan(world, &body).await;
    world.put_and_settle(POLICY, "policy", policy("q")).await;
    let alone = json!({"trackedBy": tracked_by(QUEUE, "queue"), "planId": id});
    for reply in [
        carry_out(world, &id).await,
        world.post(QUEUE, "put", &alone).await,
    ] {
        let reply = reply.expect(412);
        assert_eq!(reply.code(), "StalePlan");
        assert_eq!(
            codes(&reply.body["error"]),
            [("LiveStateChanged", "/properties/Tags/0/Value")]
        );
    }
    assert_eq!(world.live("AWS::SQS::Queue").len(), 0);
    world.put_and_settle(POLICY, "policy", policy("p")).await;
    let reply = carry_out(world, &id).await.expect(202);
    assert_eq!(ended(world, &reply).await["status"], "Succeeded");
}
