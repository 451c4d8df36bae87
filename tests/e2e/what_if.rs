//! What a put or a set would do: `:whatIf` (contract section 12).

mod every_type;
mod restated;
mod sets;

use serde_json::{Value, json};
use ucp_access::Role;
use ucp_app::Quotas;
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, on_every_store, tracked_by,
};

use crate::rights::grant;

const CLUSTER: &str = "AWS.ECS/Cluster";
const LOGS: &str = "AWS.Logs/LogGroup";
const SECRET: &str = "AWS.SecretsManager/Secret";
const VPC: &str = "AWS.EC2/VPC";

/// Asks for what a put under an alias would do.
async fn what_if(world: &World, resource_type: &str, alias: &str, properties: Value) -> Value {
    let body = json!({"trackedBy": tracked_by(resource_type, alias), "properties": properties});
    let reply = world.post(resource_type, "whatIf", &body).await.expect(200);
    reply.body
}

/// The only change of a what-if that succeeds.
fn only(result: &Value) -> &Value {
    assert_eq!(result["status"], "Succeeded", "{result}");
    let changes = result["properties"]["changes"].as_array();
    match changes.map(Vec::as_slice) {
        Some([change]) => change,
        _ => panic!("not one change: {result}"),
    }
}

fn logs(retention: u32) -> Value {
    json!({"LogGroupName": "logs", "RetentionInDays": retention})
}

fn id(resource_type: &str, identifier: &str) -> String {
    format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}/{identifier}"
    )
}

fn change_outside(world: &World, properties: &Value) {
    let target = ("AWS::Logs::LogGroup", "logs");
    let changed = world.aws.patch_out_of_band(None, None, target, properties);
    changed.expect("it is there");
}

fn deny_reads(world: &World) {
    let denied = refuse(ExceptionCode::AccessDenied).saying("not you");
    world.aws.add_fault(fault(denied).on(Action::GetResource));
}

#[apply(on_every_store)]
async fn a_create_shows_what_is_declared_and_what_aws_will_assign(world: &World) {
    let result = what_if(world, VPC, "net", json!({"CidrBlock": "10.0.0.0/16"})).await;
    let change = only(&result);
    assert_eq!(change["changeType"], "Create");
    // AWS has yet to name it.
    let reference = tracked_by(VPC, "net").replace("resourceGroups", "resourcegroups");
    assert_eq!(change["resourceId"], reference);
    assert_eq!(change["trackedBy"], reference);
    assert_eq!(change.get("before"), None);
    assert_eq!(change.get("delta"), None);
    let after = &change["after"]["properties"];
    assert_eq!(after["CidrBlock"], "10.0.0.0/16");
    assert_eq!(after["VpcId"], json!({"$unknown": true}));
    let unknown = change["unknown"].as_array().expect("a list");
    assert!(unknown.contains(&json!("/VpcId")), "{change}");

    let named = what_if(world, LOGS, "logs", logs(7)).await;
    assert_eq!(only(&named)["resourceId"], id(LOGS, "logs"));
    assert!(world.references().await.is_empty());
    assert!(world.aws.resources().is_empty());
}

#[apply(on_every_store)]
async fn what_was_put_is_no_change(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let reference = world.get(&tracked_by(LOGS, "logs")).await.expect(200).body;
    let asked = world.asked_of_store();
    let result = what_if(world, LOGS, "logs", logs(7)).await;
    let change = only(&result);
    assert_eq!(change["changeType"], "NoChange");
    assert_eq!(change["resourceId"], id(LOGS, "logs"));
    assert_eq!(change["before"], change["after"]);
    assert_eq!(change["before"]["properties"]["RetentionInDays"], 7);
    assert_eq!(change.get("delta"), None);
    assert_eq!(change.get("warnings"), None);
    // It reads, and keeps the plan.
    let mut since = world.asked_of_store();
    since.retain(|method, count| {
        *count -= asked.get(method).copied().unwrap_or_default();
        *count > 0 && !method.starts_with("claim")
    });
    assert_eq!(
        since.into_iter().collect::<Vec<_>>(),
        [
            // Of the group, and of all.
            ("count_plans", 2),
            ("keep_plan", 1),
            ("recorded_alias", 1),
            ("references_to", 1)
        ]
    );
    let after = world.get(&tracked_by(LOGS, "logs")).await.expect(200).body;
    assert_eq!(after, reference);
}

#[apply(on_every_store)]
async fn a_difference_says_whose_change_it_is(world: &World) {
    let tags = |team: &str| json!([{"Key": "team", "Value": team}]);
    let mut declared = logs(7);
    declared["Tags"] = tags("a");
    world.put_and_settle(LOGS, "logs", declared.clone()).await;

    // The caller's own.
    let result = what_if(
        world,
        LOGS,
        "logs",
        json!({"LogGroupName": "logs", "RetentionInDays": 14, "Tags": tags("b")}),
    )
    .await;
    let change = only(&result);
    assert_eq!(change["changeType"], "Modify");
    assert_eq!(change["before"]["properties"]["RetentionInDays"], 7);
    assert_eq!(change["after"]["properties"]["RetentionInDays"], 14);
    assert_eq!(
        change["delta"],
        json!([
            {"path": "properties.RetentionInDays", "pointer": "/RetentionInDays", "propertyChangeType": "Modify",
                "before": 7, "after": 14, "lastApplied": 7, "cause": "Declaration"},
            {"path": "properties.Tags", "pointer": "/Tags", "propertyChangeType": "Array", "children": [
                {"path": "0", "pointer": "/Tags/0", "propertyChangeType": "Modify",
                    "before": tags("a")[0], "after": tags("b")[0], "cause": "Declaration"}]},
        ])
    );

    // Somebody else's: the same declaration sets it back.
    change_outside(
        world,
        &json!({"RetentionInDays": 30, "Tags": [{"Key": "team", "Value": "z"}]}),
    );
    let result = what_if(world, LOGS, "logs", declared).await;
    let delta = only(&result)["delta"].as_array().expect("differences");
    assert_eq!(delta[0]["cause"], "Drift", "{result}");
    assert_eq!(delta[1]["children"][0]["cause"], "Drift", "{result}");
    // A change of both is told apart.
    let result = what_if(
        world,
        LOGS,
        "logs",
        json!({"LogGroupName": "logs", "RetentionInDays": 14, "Tags": tags("a")}),
    )
    .await;
    let delta = &only(&result)["delta"];
    assert_eq!(delta[0]["cause"], "Declaration", "{delta}");
    assert_eq!(delta[0]["lastApplied"], 7);
}

#[apply(on_every_store)]
async fn what_aws_never_took_was_not_applied(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let dropping = fault(Effect::DropPaths {
        paths: vec!["/RetentionInDays".to_owned()],
    });
    world
        .aws
        .add_fault(dropping.on(Action::UpdateResource).times(1));
    world.put_and_settle(LOGS, "logs", logs(14)).await;
    let result = what_if(world, LOGS, "logs", logs(14)).await;
    let delta = &only(&result)["delta"][0];
    assert_eq!(delta["cause"], "NotApplied", "{result}");
    assert_eq!((&delta["before"], &delta["after"]), (&json!(7), &json!(14)));
}

#[apply(on_every_store)]
async fn a_replacement_names_what_forces_it(world: &World) {
    world
        .put_and_settle(VPC, "net", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let body = |policy: Value| {
        json!({"trackedBy": tracked_by(VPC, "net"), "replacementPolicy": policy,
            "properties": {"CidrBlock": "10.1.0.0/16"}})
    };
    let refused = world.post(VPC, "whatIf", &body(Value::Null)).await;
    let refused = refused.expect(200).body;
    assert_eq!(refused["status"], "Failed");
    assert_eq!(refused["error"]["code"], "RequiresReplacement");
    let change = &refused["properties"]["changes"][0];
    assert_eq!(change["changeType"], "Modify");
    assert_eq!(change["replacement"], "refuse");
    assert_eq!(change["replacePaths"], json!(["/properties/CidrBlock"]));

    let policy = json!("createBeforeDelete");
    let replaced = world.post(VPC, "whatIf", &body(policy)).await.expect(200);
    let change = only(&replaced.body);
    assert_eq!(change["replacement"], "createBeforeDelete");
    assert_eq!(
        change["after"]["properties"]["VpcId"],
        json!({"$unknown": true})
    );
    assert_eq!(change["delta"][0]["pointer"], "/CidrBlock");
    assert_eq!(world.aws.resources().len(), 1);
}

#[apply(on_every_store)]
async fn what_cannot_be_read_is_unsupported(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    deny_reads(world);
    world.tolerate_log("AWS did not answer a read");
    let result = what_if(world, LOGS, "logs", logs(14)).await;
    let change = only(&result);
    assert_eq!(change["changeType"], "Unsupported");
    let reason = change["unsupportedReason"].as_str().expect("a reason");
    assert!(reason.contains("not you"), "{reason}");
    assert_eq!(change["resourceId"], id(LOGS, "logs"));
    assert_eq!(change.get("after"), None);
}

#[apply(on_every_store)]
async fn what_aws_does_not_answer_is_unsupported(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let throttled = refuse(ExceptionCode::Throttling).saying("too fast");
    let throttled = fault(throttled).on(Action::GetResource);
    world.aws.add_fault(throttled);
    world.tolerate_log("AWS did not answer a read");
    let result = what_if(world, LOGS, "logs", logs(14)).await;
    let change = only(&result);
    assert_eq!(change["changeType"], "Unsupported");
    let reason = change["unsupportedReason"].as_str().expect("a reason");
    assert!(reason.contains("too fast"), "{reason}");
    assert_eq!(result["properties"].get("planId"), None);
}

/// What was declared last stands in for what AWS has.
#[apply(on_every_store)]
async fn a_type_without_a_read_handler_is_compared_with_its_last_declaration(world: &World) {
    const POLICY: &str = "AWS.IAM/Policy";
    let policy = |roles: &[&str]| {
        json!({"PolicyName": "p", "Roles": roles,
            "PolicyDocument": {"Version": "2012-10-17", "Statement": []}})
    };
    world.put_and_settle(POLICY, "p", policy(&["one"])).await;
    for (roles, expected) in [(["one"], "NoChange"), (["two"], "Modify")] {
        let result = what_if(world, POLICY, "p", policy(&roles)).await;
        let change = only(&result);
        assert_eq!(change["changeType"], expected, "{change}");
        assert_eq!(change["unreadable"], true, "{change}");
        assert_eq!(change["before"]["properties"]["Roles"], json!(["one"]));
        assert!(result["properties"]["planId"].is_string(), "{result}");
    }
    // A put that AWS has refused may have come half way: it is sent again.
    let refusal = fault(fail(HandlerErrorCode::AccessDenied)).on(Action::UpdateResource);
    world.aws.add_fault(refusal);
    world.put_and_settle(POLICY, "p", policy(&["two"])).await;
    world.aws.clear_faults();
    let result = what_if(world, POLICY, "p", policy(&["one"])).await;
    assert_eq!(only(&result)["changeType"], "Modify", "{result}");
}

/// Somebody may have changed it in AWS, which nobody can read.
#[apply(on_every_store)]
async fn what_cannot_be_read_is_sent_again_on_demand(world: &World) {
    const POLICY: &str = "AWS.IAM/Policy";
    let policy = json!({"PolicyName": "p", "Roles": ["one"],
        "PolicyDocument": {"Version": "2012-10-17", "Statement": []}});
    world.put_and_settle(POLICY, "p", policy.clone()).await;
    world.put(POLICY, "p", policy.clone()).await.expect(200);
    let again = json!({"trackedBy": tracked_by(POLICY, "p"), "properties": policy, "resend": true});
    let told = world.post(POLICY, "whatIf", &again).await.expect(200);
    let change = &told.body["properties"]["changes"][0];
    assert_eq!(change["changeType"], "Modify", "{}", told.text);
    world.post(POLICY, "put", &again).await.expect(201);
    world.settle().await;
    assert_eq!(world.calls("UpdateResource"), 1);
    // What can be read is compared with what AWS shows.
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let same =
        json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(7), "resend": true});
    world.post(LOGS, "put", &same).await.expect(200);
    assert_eq!(world.calls("UpdateResource"), 1);
}

/// What is gone in AWS is told by AWS alone. Given up, it is made again by the next put.
#[apply(on_every_store)]
async fn what_cannot_be_read_and_is_gone_is_made_again_once_it_is_given_up(world: &World) {
    const POLICY: &str = "AWS.IAM/Policy";
    let policy = json!({"PolicyName": "p", "Roles": ["one"],
        "PolicyDocument": {"Version": "2012-10-17", "Statement": []}});
    world.put_and_settle(POLICY, "p", policy.clone()).await;
    let live = world.live("AWS::IAM::Policy");
    world.vanish("AWS::IAM::Policy", &live[0]);
    let reference = tracked_by(POLICY, "p");
    let again = json!({"trackedBy": reference, "properties": policy, "resend": true});
    let reply = world.post(POLICY, "put", &again).await.expect(201);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["error"]["code"], "NotFound", "{status}");
    let release = format!("{reference}/:release?api-version=2023-10-01-preview");
    world.call("POST", &release, "").await.expect(200);
    let ended = world.put_and_settle(POLICY, "p", policy).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(world.live("AWS::IAM::Policy").len(), 1);
}

/// All of it is new, and the plan holds although the group is made before it is applied.
#[apply(on_every_store)]
async fn what_is_asked_of_a_group_that_is_not_there_is_new(world: &World) {
    let group = GROUP.replace("/rg", "/later");
    let api = "api-version=2023-10-01-preview";
    let set = json!({"scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"), "resources": [
        {"alias": "logs", "type": LOGS, "properties": logs(7)},
        {"alias": "net", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": "10.0.0.0/16"}},
    ]});
    let send = async |action: &str, body: &Value| {
        let path = format!("{group}/:{action}?{api}");
        world.call("POST", &path, &body.to_string()).await
    };
    let told = send("whatIf", &set).await.expect(200);
    let changes = told.body["properties"]["changes"]
        .as_array()
        .expect("changes");
    let kinds: Vec<_> = changes.iter().map(|it| &it["changeType"]).collect();
    assert_eq!(kinds, ["Create", "Create"], "{}", told.text);
    let there = format!("{group}?{api}");
    world.call("GET", &there, "").await.expect(404);
    let plan = json!({"planId": told.body["properties"]["planId"]});
    assert!(plan["planId"].is_string(), "{}", told.text);
    assert_eq!(send("apply", &set).await.status, 404);

    world.put_group("later").await;
    let reply = send("apply", &plan).await.expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    // One resource alike.
    let other = tracked_by(LOGS, "logs").replace("/rg/", "/never/");
    let put = json!({"trackedBy": other, "properties": {"LogGroupName": "other"}});
    let told = world.post(LOGS, "whatIf", &put).await.expect(200);
    let change = &told.body["properties"]["changes"][0];
    assert_eq!(change["changeType"], "Create", "{}", told.text);
}

/// One "not found" is no proof: a put would look again.
#[apply(on_every_store)]
async fn what_seems_gone_would_be_created_with_a_warning(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let target = ("AWS::Logs::LogGroup", "logs");
    world.vanish(target.0, target.1);
    let result = what_if(world, LOGS, "logs", logs(7)).await;
    let change = only(&result);
    assert_eq!(change["changeType"], "Create");
    assert_eq!(change["warnings"][0]["code"], "SeemsGone", "{change}");
}

#[apply(on_every_store)]
async fn unknown_values_may_be_declared(world: &World) {
    let unknown = json!({"$unknown": true});
    let properties = json!({"LogGroupName": "logs", "KmsKeyId": unknown});
    let created = what_if(world, LOGS, "logs", properties.clone()).await;
    let change = only(&created);
    assert_eq!(change["after"]["properties"]["KmsKeyId"], unknown);
    assert_eq!(change["withheld"], json!(["/KmsKeyId"]));
    let unknown_places = change["unknown"].as_array().expect("places");
    assert!(!unknown_places.contains(&json!("/KmsKeyId")), "{change}");

    world.put_and_settle(LOGS, "logs", logs(7)).await;
    let changed = what_if(world, LOGS, "logs", properties).await;
    let change = only(&changed);
    assert_eq!(change["withheld"], json!(["/KmsKeyId"]));
    assert_eq!(change["delta"][0]["pointer"], "/KmsKeyId", "{change}");
    assert_eq!(change["delta"][0]["after"], unknown);

    // A reference is for sets, and a put takes neither.
    for value in [json!({"$reference": "net"}), json!({"$unknown": false})] {
        let body =
            json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": {"KmsKeyId": value}});
        let reply = world.post(LOGS, "whatIf", &body).await.expect(400);
        assert_eq!(
            reply.body["error"]["details"][0]["target"],
            "/properties/KmsKeyId"
        );
    }
}

#[apply(on_every_store)]
async fn no_secret_is_shown(world: &World) {
    let declared = |value: &str| json!({"Name": "s", "Description": value, "SecretString": value});
    world
        .put_and_settle(SECRET, "s", declared("canary-one"))
        .await;
    let result = what_if(
        world,
        SECRET,
        "s",
        json!({"Name": "s", "Description": "d", "SecretString": "canary-two"}),
    )
    .await;
    let delta = only(&result)["delta"].as_array().expect("differences");
    let secret = delta
        .iter()
        .find(|delta| delta["pointer"] == "/SecretString");
    let secret = secret.expect("the secret changes");
    assert_eq!(
        *secret,
        json!({"path": "properties.SecretString", "pointer": "/SecretString", "propertyChangeType": "Modify",
            "cause": "Declaration", "sensitive": true})
    );
    assert!(!result.to_string().contains("canary-two"), "{result}");
    let created = what_if(world, SECRET, "t", declared("canary-three")).await;
    let after = &only(&created)["after"]["properties"];
    assert_eq!(after.get("SecretString"), None, "{after}");
}

#[apply(on_every_store)]
async fn ids_alone_are_shown_on_demand(world: &World) {
    world.put_and_settle(LOGS, "logs", logs(7)).await;
    for (retention, alias, kind) in [
        (7, "logs", "Deploy"),
        (14, "logs", "Deploy"),
        (7, "new", "Create"),
    ] {
        let body = json!({"trackedBy": tracked_by(LOGS, alias),
            "properties": {"LogGroupName": alias, "RetentionInDays": retention},
            "whatIfSettings": {"resultFormat": "ResourceIdOnly"}});
        let reply = world.post(LOGS, "whatIf", &body).await.expect(200);
        let change = only(&reply.body);
        assert_eq!(change["changeType"], kind);
        for hidden in ["before", "after", "delta"] {
            assert_eq!(change.get(hidden), None);
        }
    }
    let body = json!({"properties": {}, "whatIfSettings": {"resultFormat": "Everything"}});
    let reply = world.post(LOGS, "whatIf", &body).await.expect(400);
    assert!(
        reply.text.contains("/whatIfSettings/resultFormat"),
        "{}",
        reply.text
    );
}

async fn named(world: &World, identifier: &str, properties: Value) -> Reply {
    let path = format!("{}/:whatIf", id(CLUSTER, identifier));
    let body = json!({ "properties": properties });
    world.call("POST", &path, &body.to_string()).await
}

#[apply(on_every_store)]
async fn a_put_by_name_can_be_asked_about_too(world: &World) {
    let created = named(world, "c", json!({})).await.expect(200);
    let change = only(&created.body);
    assert_eq!(change["changeType"], "Create");
    assert_eq!(change["resourceId"], id(CLUSTER, "c"));
    assert_eq!(change.get("trackedBy"), None);
    let body = json!({"properties": {"ClusterName": "c"}});
    world.post(CLUSTER, "put", &body).await.expect(201);
    world.settle().await;
    let same = named(world, "c", json!({})).await.expect(200);
    assert_eq!(only(&same.body)["changeType"], "NoChange");
    // In any letter case, as other actions.
    let path = format!("{}/:WHATIF", id(CLUSTER, "c"));
    let reply = world.call("POST", &path, "{\"properties\":{}}").await;
    reply.expect(200);
    // What a PUT refuses at once is refused alike, and so is what only its look shows.
    named(world, "c", json!({"ClusterName": "d"}))
        .await
        .expect(400);
    let assigned = id(VPC, "vpc-1");
    let reply = world
        .call(
            "POST",
            &format!("{assigned}/:whatIf"),
            "{\"properties\":{\"CidrBlock\":\"10.0.0.0/16\"}}",
        )
        .await;
    let result = reply.expect(200).body;
    assert_eq!(result["status"], "Failed");
    assert_eq!(result["error"]["code"], "NotFound");
}

#[apply(on_every_store)]
async fn what_a_put_refuses_is_refused_alike(world: &World) {
    // A body that declares nothing.
    for (method, path, asked) in [
        (
            "POST",
            format!("{}/:put", id(LOGS, "").trim_end_matches('/')),
            "",
        ),
        ("PUT", id(LOGS, "logs"), "/logs"),
    ] {
        let refused = world.call(method, &path, "").await.expect(400);
        let path = format!("{}{asked}/:whatIf", id(LOGS, "").trim_end_matches('/'));
        let asked = world.call("POST", &path, "").await.expect(400);
        assert_eq!(asked.body, refused.body);
    }
    let body =
        json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": {"RetentionInDays": "soon"}});
    let put = world.post(LOGS, "put", &body).await.expect(400);
    let asked = world.post(LOGS, "whatIf", &body).await.expect(400);
    assert_eq!(asked.body, put.body);
    // An operation is under way.
    world.put(LOGS, "logs", logs(7)).await.expect(201);
    let put = world.put(LOGS, "logs", logs(14)).await.expect(409);
    let body = json!({"trackedBy": tracked_by(LOGS, "logs"), "properties": logs(14)});
    let asked = world.post(LOGS, "whatIf", &body).await.expect(409);
    assert_eq!(asked.code(), put.code());
    world.settle().await;
}

/// A create is refused where a put of it is, too: in a group that is being deleted, and beyond a quota.
#[apply(on_every_store)]
async fn a_create_that_a_put_would_not_begin_is_refused(kind: StoreKind) {
    let body =
        json!({"trackedBy": tracked_by(VPC, "net"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    for (references, status) in [(1, 403), (2, 409)] {
        let quotas = Quotas {
            references,
            ..Quotas::default()
        };
        let Some(builder) = World::builder().quotas(quotas).on(kind).await else {
            return;
        };
        let world = builder.build().await;
        world.put_and_settle(LOGS, "logs", logs(7)).await;
        if status == 409 {
            let deletion = format!("{GROUP}?api-version=2023-10-01-preview");
            let deletion = world.send_without_waiting("DELETE", &deletion, "").await;
            deletion.expect(202);
        }
        let put = world.post(VPC, "put", &body).await.expect(status);
        let asked = world.post(VPC, "whatIf", &body).await.expect(status);
        assert_eq!(asked.code(), put.code());
        world.settle().await;
        world.finish().await;
    }
}

/// Who may not put a secret is not told whether they have guessed it.
#[apply(on_every_store)]
async fn a_secret_cannot_be_guessed_by_readers(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    const AWS: &str = "/planes/aws/aws";
    let world = builder
        .granting(vec![
            grant("eve", Role::Reader, &[GROUP, AWS]),
            grant("pat", Role::Contributor, &[GROUP]),
            grant("pat", Role::Reader, &[AWS]),
            grant("tim", Role::Reader, &[GROUP]),
            grant("tim", Role::Contributor, &[AWS]),
        ])
        .build()
        .await;
    world.put_group("rg").await;
    let body = |secret: &str| {
        let properties = json!({"Name": "s", "SecretString": secret});
        json!({"trackedBy": tracked_by(SECRET, "s"), "properties": properties}).to_string()
    };
    let path = format!("{}/:put", id(SECRET, "").trim_end_matches('/'));
    world
        .call_as("root", "POST", &path, &body("1234"))
        .await
        .expect(201);
    world.settle().await;
    let path = path.replace(":put", ":whatIf");
    let set = |properties: Value| {
        let member = json!({"alias": "s", "type": SECRET, "properties": properties});
        let region = format!("{AWS}/accounts/{ACCOUNT}/regions/{REGION}");
        json!({"scope": region, "resources": [member]}).to_string()
    };
    let of_set = format!("{GROUP}/:whatIf");
    for who in ["eve", "pat", "tim"] {
        for guess in ["1234", "0000"] {
            let reply = world.call_as(who, "POST", &path, &body(guess)).await;
            assert_eq!(reply.expect(403).code(), "AuthorizationFailed", "{who}");
            let guess = set(json!({"Name": "s", "SecretString": guess}));
            let reply = world.call_as(who, "POST", &of_set, &guess).await;
            assert_eq!(reply.expect(403).code(), "AuthorizationFailed", "{who}");
        }
        // Without a secret there is nothing to guess.
        let body = json!({"trackedBy": tracked_by(SECRET, "s"), "properties": {"Name": "s"}});
        for (path, body) in [
            (&path, body.to_string()),
            (&of_set, set(json!({"Name": "s"}))),
        ] {
            let reply = world.call_as(who, "POST", path, &body).await;
            reply.expect(200);
        }
    }
    world.finish().await;
}
