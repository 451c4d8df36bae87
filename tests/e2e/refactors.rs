//! Refactors: what is tracked gets other aliases and groups, there and back again, and AWS notices nothing.

mod bodies;
mod deploying;
mod emptying;
mod histories;
mod meanwhile;
mod planes;
mod puts;
mod refusals;
mod rights;
mod sets;
mod undoing;
mod unknown;

use serde_json::{Value, json};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, crash_everywhere, on_every_store,
};

const API: &str = "api-version=2023-10-01-preview";
const PLANE: &str = "/planes/radius/local/:refactor";
const LOGS: &str = "AWS.Logs/LogGroup";
const SECRET: &str = "AWS.SecretsManager/Secret";
const SUBNET: &str = "AWS.EC2/Subnet";
const VPC: &str = "AWS.EC2/VPC";

/// The name of the group that the others are made from.
const OLD: &str = "rg";

fn scope() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}")
}

fn resource(alias: &str, resource_type: &str, properties: Value) -> Value {
    json!({"alias": alias, "type": resource_type, "properties": properties})
}

fn vpc() -> Value {
    json!({"CidrBlock": "10.0.0.0/16"})
}

fn logs(name: &str) -> Value {
    json!({"LogGroupName": name})
}

/// The body of a refactor of these groups.
fn body(mode: &str, groups: &[(&str, Vec<Value>)]) -> Value {
    let groups = groups.iter();
    let groups = groups.map(|(name, resources)| json!({"name": name, "resources": resources}));
    json!({"mode": mode, "scope": scope(), "groups": groups.collect::<Vec<_>>()})
}

/// The same with further members.
fn with(mut body: Value, members: Value) -> Value {
    let more = members.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(more);
    body
}

async fn post(world: &World, path: &str, body: &Value) -> Reply {
    world.call("POST", path, &body.to_string()).await
}

async fn refactor(world: &World, body: &Value) -> Value {
    post(world, PLANE, body).await.expect(200).body
}

/// The group of that name.
fn group(name: &str) -> String {
    format!("/planes/radius/local/resourceGroups/{name}")
}

fn address(group_name: &str, resource_type: &str, alias: &str) -> String {
    format!(
        "{}/providers/{resource_type}:reference/{alias}",
        group(group_name)
    )
}

async fn reference(world: &World, group: &str, resource_type: &str, alias: &str) -> Reply {
    world.get(&address(group, resource_type, alias)).await
}

/// A put under an alias of a group.
async fn put(
    world: &World,
    group: &str,
    resource_type: &str,
    alias: &str,
    properties: Value,
) -> Reply {
    let tracked_by = address(group, resource_type, alias);
    let body = json!({"trackedBy": tracked_by, "properties": properties});
    world.post(resource_type, "put", &body).await
}

/// What moves, as `group/type/alias`, and why.
fn moves(record: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let short = |value: &Value| {
        let id = text(value).to_lowercase();
        let id = id.replace("/planes/radius/local/resourcegroups/", "");
        id.replace("/providers", "").replace(":reference", "")
    };
    let moves = record["moves"].as_array().expect("moves").iter();
    moves
        .map(|it| (short(&it["from"]), short(&it["to"]), text(&it["reason"])))
        .collect()
}

fn moved(moves: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    let owned = |text: &&str| (*text).to_owned();
    let moves = moves.iter();
    moves
        .map(|(from, to, reason)| (owned(from), owned(to), owned(reason)))
        .collect()
}

/// A network, a subnet in it, and a log group.
async fn deployed(world: &World) {
    world.put_and_settle(VPC, "net", vpc()).await;
    let id = world.live("AWS::EC2::VPC").remove(0);
    let subnet = json!({"VpcId": id, "CidrBlock": "10.0.1.0/24"});
    world.put_and_settle(SUBNET, "sub", subnet).await;
    world.put_and_settle(LOGS, "logs", logs("main")).await;
}

/// The same under other aliases, in a group of its own.
fn split(mode: &str) -> Value {
    let subnet =
        json!({"VpcId": {"$reference": "AWS.EC2/VPC/network#/VpcId"}, "CidrBlock": "10.0.1.0/24"});
    let web = vec![
        resource("network", VPC, vpc()),
        resource("subnet", SUBNET, subnet),
    ];
    let old = vec![resource("logs", LOGS, logs("main"))];
    body(mode, &[(OLD, old), ("web", web)])
}

fn was_split() -> Vec<(String, String, String)> {
    moved(&[
        (
            "rg/aws.ec2/subnet/sub",
            "web/aws.ec2/subnet/subnet",
            "Digest",
        ),
        ("rg/aws.ec2/vpc/net", "web/aws.ec2/vpc/network", "Digest"),
    ])
}

/// The puts that follow find everything as it is declared.
#[apply(on_every_store)]
async fn a_group_is_split_and_aws_notices_nothing(world: &World) {
    deployed(world).await;
    let calls = world.calls_on_resources().len();
    let before = world.references().await;

    let plan = refactor(world, &split("plan")).await;
    assert_eq!(plan["status"], "Planned");
    assert_eq!(moves(&plan), was_split());
    assert_eq!(
        plan["groups"],
        json!({"create": [group("web").replace("resourceGroups", "resourcegroups")], "remove": []})
    );
    assert_eq!(
        plan["changes"],
        json!({"create": [], "update": [], "undeclared": []})
    );
    assert_eq!(
        plan["environments"],
        json!([{"scope": scope(), "moves": 2, "ambiguities": 0, "refused": 0}])
    );
    assert_eq!(world.references().await, before);
    world
        .get(&format!("{}?{API}", group("web")))
        .await
        .expect(404);

    let path = plan["id"].as_str().expect("an id");
    assert_eq!(world.get(path).await.expect(200).body, plan);
    let applied = post(
        world,
        &format!("{path}/:apply"),
        &json!({"fingerprint": plan["fingerprint"]}),
    )
    .await;
    let applied = applied.expect(200).body;
    assert_eq!(applied["status"], "Applied");
    assert_eq!(moves(&applied), was_split());
    reference(world, OLD, VPC, "net").await.expect(404);
    let network = reference(world, "web", VPC, "network")
        .await
        .expect(200)
        .body;
    assert_eq!(network["provisioningState"], "Succeeded", "{network}");
    assert_eq!(
        world.calls_on_resources().len(),
        calls,
        "nothing is asked or sent"
    );

    let id = world.live("AWS::EC2::VPC").remove(0);
    put(world, "web", VPC, "network", vpc()).await.expect(200);
    let subnet = json!({"VpcId": id, "CidrBlock": "10.0.1.0/24"});
    put(world, "web", SUBNET, "subnet", subnet)
        .await
        .expect(200);
    assert_eq!(world.creates(), 3);

    // What was done is not done again.
    let again = refactor(world, &split("apply")).await;
    assert_eq!(moves(&again), []);
    let again = post(world, &format!("{path}/:apply"), &json!({}))
        .await
        .expect(409);
    assert_eq!(again.code(), "Conflict");
}

#[apply(on_every_store)]
async fn it_is_applied_at_once_on_the_route_of_a_group(world: &World) {
    world.put_and_settle(LOGS, "a", logs("a")).await;
    world.put_and_settle(LOGS, "b", logs("b")).await;
    // They change places.
    let swapped = [
        resource("b", LOGS, logs("a")),
        resource("a", LOGS, logs("b")),
    ];
    let body = json!({"mode": "apply", "scope": scope(), "resources": swapped});
    let path = format!("{GROUP}/:refactor");
    let applied = post(world, &path, &body).await.expect(200).body;
    let swapped = moved(&[
        (
            "rg/aws.logs/loggroup/a",
            "rg/aws.logs/loggroup/b",
            "Identity",
        ),
        (
            "rg/aws.logs/loggroup/b",
            "rg/aws.logs/loggroup/a",
            "Identity",
        ),
    ]);
    assert_eq!(moves(&applied), swapped);
    put(world, OLD, LOGS, "b", logs("a")).await.expect(200);
    put(world, OLD, LOGS, "a", logs("b")).await.expect(200);
    let nowhere = format!("{}/:refactor", group("nowhere"));
    let missing = post(world, &nowhere, &json!({"mode": "plan", "resources": []})).await;
    assert_eq!(missing.expect(404).code(), "ResourceGroupNotFound");
}

/// A password is not sent again, and does not ask for a replacement.
#[apply(on_every_store)]
async fn what_is_declared_stays_known_with_its_secrets(world: &World) {
    let secret = |text: &str| json!({"Name": "db", "SecretString": text});
    world
        .put_and_settle(SECRET, "old", secret("canary-1"))
        .await;
    let renamed = |text: &str| {
        let resources = vec![resource("new", SECRET, secret(text))];
        body("apply", &[(OLD, resources)])
    };
    // With another one, nothing tells that it is the same.
    let other = with(renamed("canary-2"), json!({"mode": "plan"}));
    let changes = &refactor(world, &other).await["changes"];
    assert_eq!(changes["update"], json!([]), "{changes}");
    let told = json!({"moves": [{"from": "rg/AWS.SecretsManager/Secret/old", "to": "rg/AWS.SecretsManager/Secret/new"}]});
    let other = with(other, told);
    let changes = &refactor(world, &other).await["changes"];
    let new = changes["update"][0].as_str().expect("an update");
    assert!(new.ends_with("/new"), "{changes}");
    let applied = refactor(world, &renamed("canary-1")).await;
    assert_eq!(applied["changes"]["update"], json!([]));
    assert!(!applied.to_string().contains("canary"));
    put(world, OLD, SECRET, "new", secret("canary-1"))
        .await
        .expect(200);
    put(world, OLD, SECRET, "new", secret("canary-2"))
        .await
        .expect(201);
    world.settle().await;
}

/// Tags that the configuration and the group add are no difference.
#[apply(on_every_store)]
async fn default_tags_do_not_count(world: &World) {
    let tagged = json!({"location": "global", "properties": {"defaultTags": {"team": "net"}}});
    let path = format!("{GROUP}?{API}");
    world
        .call("PUT", &path, &tagged.to_string())
        .await
        .expect(200);
    world.put_and_settle(VPC, "net", vpc()).await;
    let web = json!({"name": "web", "resources": [resource("network", VPC, vpc())],
        "properties": {"defaultTags": {"team": "web"}}});
    let body =
        json!({"mode": "apply", "scope": scope(), "groups": [{"name": OLD, "resources": []}, web]});
    let applied = refactor(world, &body).await;
    assert_eq!(moves(&applied).len(), 1);
    let made = world
        .get(&format!("{}?{API}", group("web")))
        .await
        .expect(200);
    assert_eq!(made.body["properties"]["defaultTags"]["team"], "web");
    // The put is what changes the tags.
    put(world, "web", VPC, "network", vpc()).await.expect(201);
    world.settle().await;
}

/// Also where each group says something else, and tags are a map.
#[apply(on_every_store)]
async fn default_tags_of_several_values_do_not_count(world: &World) {
    const PARAMETER: &str = "AWS.SSM/Parameter";
    let parameter = json!({"Name": "p", "Type": "String", "Value": "v"});
    let path = format!("{GROUP}?{API}");
    let tagged = json!({"location": "global", "properties": {"defaultTags": {"team": "net"}}});
    let tagged = tagged.to_string();
    world.call("PUT", &path, &tagged).await.expect(200);
    world
        .put_and_settle(PARAMETER, "old", parameter.clone())
        .await;
    let own = with(
        resource("other", VPC, vpc()),
        json!({"defaultTags": {"team": "own"}}),
    );
    let web = json!({"name": "web", "resources": [resource("new", PARAMETER, parameter), own],
        "properties": {"defaultTags": {"team": "web"}}});
    let groups = json!([{"name": OLD, "resources": []}, web]);
    let body = json!({"mode": "plan", "scope": scope(), "groups": groups});
    let plan = refactor(world, &body).await;
    // It has no name of its own there, so that only its declaration tells.
    assert_eq!(moves(&plan).len(), 1, "{plan}");
}

#[apply(on_every_store)]
async fn what_nothing_tells_apart_is_left_or_refused(world: &World) {
    world.put_and_settle(VPC, "a", vpc()).await;
    world.put_and_settle(VPC, "b", vpc()).await;
    world.put_and_settle(LOGS, "logs", logs("main")).await;
    let resources = vec![
        resource("c", VPC, vpc()),
        resource("d", VPC, vpc()),
        resource("renamed", LOGS, logs("main")),
    ];
    let declared = body("apply", &[(OLD, resources)]);
    let refused = post(world, PLANE, &declared).await.expect(409);
    assert_eq!(refused.code(), "RefactorAmbiguous");
    assert_eq!(refused.body["error"]["details"][0]["code"], "Identical");
    reference(world, OLD, LOGS, "logs").await.expect(200);

    let plan = refactor(world, &with(declared.clone(), json!({"mode": "plan"}))).await;
    let apply = format!("{}/:apply", plan["id"].as_str().expect("an id"));
    let refused = post(world, &apply, &json!({})).await.expect(409);
    assert_eq!(refused.code(), "RefactorAmbiguous");

    let left = refactor(
        world,
        &with(declared.clone(), json!({"onAmbiguity": "leave"})),
    )
    .await;
    assert_eq!(moves(&left).len(), 1, "{left}");
    let mapped = json!({"moves": [{"from": "rg/AWS.EC2/VPC/a", "to": "rg/AWS.EC2/VPC/d"}]});
    let told = refactor(world, &with(declared, mapped)).await;
    assert_eq!(moves(&told).len(), 2, "{told}");
    assert_eq!(moves(&told)[0].2, "Mapping");
}

#[apply(on_every_store)]
async fn nothing_moves_to_another_region_or_onto_what_stays(world: &World) {
    world.put_and_settle(LOGS, "a", logs("a")).await;
    world.put_and_settle(VPC, "net", vpc()).await;
    let elsewhere = scope().replace(REGION, "eu-west-1");
    let abroad = with(resource("net", VPC, vpc()), json!({"scope": elsewhere}));
    let resources = vec![resource("a", LOGS, logs("a")), abroad];
    let refused = post(world, PLANE, &body("apply", &[(OLD, resources)]))
        .await
        .expect(409);
    assert_eq!(refused.code(), "RefactorRefused");
    assert_eq!(refused.body["error"]["details"][0]["code"], "RegionChanges");
    reference(world, OLD, VPC, "net").await.expect(200);
}

/// A plan is for what was there when it was made, and a fingerprint for what was seen.
#[apply(on_every_store)]
async fn what_has_changed_since_is_not_moved(world: &World) {
    deployed(world).await;
    let plan = refactor(world, &split("plan")).await;
    let apply = format!("{}/:apply", plan["id"].as_str().expect("an id"));
    let path = address(OLD, VPC, "net");
    let tags = json!({"tags": {"a": "b"}}).to_string();
    world
        .call("PATCH", &format!("{path}?{API}"), &tags)
        .await
        .expect(200);
    let stale = post(world, &apply, &json!({})).await.expect(412);
    assert_eq!(stale.code(), "PreconditionFailed");
    let seen = json!({"fingerprint": plan["fingerprint"]});
    let stale = post(world, PLANE, &with(split("apply"), seen))
        .await
        .expect(412);
    assert_eq!(stale.code(), "PreconditionFailed");
    let new = refactor(world, &split("plan")).await;
    let seen = json!({"fingerprint": new["fingerprint"]});
    refactor(world, &with(split("apply"), seen)).await;
}

#[apply(on_every_store)]
async fn what_is_under_way_does_not_move(world: &World) {
    deployed(world).await;
    let other = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": true});
    put(world, OLD, VPC, "net", other).await.expect(201);
    let busy = post(world, PLANE, &split("apply")).await.expect(409);
    assert_eq!(busy.code(), "Conflict");
    world.settle().await;
    // The put has declared something else since, so only the user can tell.
    let mapped =
        json!({"moves": [{"from": "rg/AWS.EC2/VPC/net", "to": "web/AWS.EC2/VPC/network"}]});
    let moved = refactor(world, &with(split("apply"), mapped)).await;
    assert_eq!(moves(&moved).len(), 2, "{moved}");
    let update = moved["changes"]["update"].as_array().expect("updates");
    assert_eq!(update.len(), 1, "{moved}");
}

/// A reply that is lost costs nothing: the same request finds that it is done.
#[apply(on_every_store)]
async fn a_crash_anywhere_moves_everything_or_nothing(kind: StoreKind) {
    let points = crash_everywhere(kind, async |world| {
        deployed(world).await;
        world.may_crash();
        world.tolerate_log("crash");
        let body = split("apply").to_string();
        let reply = world.send_without_waiting("POST", PLANE, &body).await;
        if reply.status == 503 {
            assert!(world.has_crashed());
            world.settle().await;
            post(world, PLANE, &split("apply")).await.expect(200);
        } else {
            reply.expect(200);
        }
        reference(world, OLD, VPC, "net").await.expect(404);
        reference(world, "web", VPC, "network").await.expect(200);
        reference(world, "web", SUBNET, "subnet").await.expect(200);
    });
    let points = points.await;
    assert!(
        points.is_empty() || points.iter().any(|point| point.contains("move")),
        "{points:?}"
    );
}
