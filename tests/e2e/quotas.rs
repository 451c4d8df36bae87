//! Quotas: of each thing that requests leave behind, the last one that is allowed and the first that is not.

use serde_json::{Value, json};
use ucp_access::{Grant, Role, Scope, Subject};
use ucp_app::Quotas;
use ucp_simulator::Action;
use ucp_simulator::faults::{Effect, fault};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, Reply, StoreKind, World, apply, on_every_store, tracked_by,
};

use crate::rights::grant;

const LOGS: &str = "AWS.Logs/LogGroup";
const VPC: &str = "AWS.EC2/VPC";
const PLANE: &str = "/planes/radius/local/resourceGroups";
const API: &str = "api-version=2023-10-01-preview";

async fn world(kind: StoreKind, quotas: Quotas) -> Option<World> {
    let builder = World::builder().quotas(quotas).on(kind).await?;
    Some(builder.build().await)
}

/// The same with `alice` and `bob`, who own everything.
async fn world_of_owners(kind: StoreKind, quotas: Quotas) -> Option<World> {
    let owners = ["alice", "bob"].map(|name| Grant {
        who: Subject::User(name.to_owned()),
        role: Role::Owner,
        scopes: vec![Scope::everything()],
    });
    let builder = World::builder().quotas(quotas).granting(owners.to_vec());
    Some(builder.on(kind).await?.build().await)
}

async fn put_group(world: &World, name: &str) -> Reply {
    let path = format!("{PLANE}/{name}?{API}");
    world.call("PUT", &path, r#"{"location": "global"}"#).await
}

fn refused(reply: Reply, status: u16, target: &str) {
    let reply = reply.expect(status);
    assert_eq!(reply.code(), "QuotaExceeded");
    let target = target.to_lowercase();
    assert_eq!(reply.body["error"]["target"], target, "{}", reply.text);
    let waits = reply.header("retry-after").is_some();
    assert_eq!(waits, status == 429, "{}", reply.text);
}

#[apply(on_every_store)]
async fn a_plane_has_only_so_many_groups(kind: StoreKind) {
    let quotas = Quotas {
        groups: 3,
        ..Quotas::default()
    };
    let Some(world) = world(kind, quotas).await else {
        return;
    };
    for name in ["two", "three"] {
        put_group(&world, name).await.expect(200);
    }
    refused(put_group(&world, "four").await, 403, "/planes/radius/local");
    put_group(&world, "Two").await.expect(200);
    let path = format!("{PLANE}/two?{API}");
    world.call("DELETE", &path, "").await.expect(200);
    put_group(&world, "four").await.expect(200);
    refused(put_group(&world, "five").await, 403, "/planes/radius/local");
}

#[apply(on_every_store)]
async fn a_group_has_only_so_many_references(kind: StoreKind) {
    let quotas = Quotas {
        references: 2,
        ..Quotas::default()
    };
    let Some(world) = world(kind, quotas).await else {
        return;
    };
    let block = |n: u32| json!({"CidrBlock": format!("10.{n}.0.0/16")});
    for alias in ["one", "two"] {
        world.put_and_settle(VPC, alias, block(0)).await;
    }
    refused(world.put(VPC, "three", block(3)).await, 403, GROUP);
    let stray = json!({"properties": {"LogGroupName": "x"}});
    world.post(LOGS, "put", &stray).await.expect(201);
    world.settle().await;
    let import = json!({"trackedBy": tracked_by(LOGS, "four"), "primaryIdentifier": "x"});
    refused(world.post(LOGS, "import", &import).await, 403, GROUP);
    let same = json!({"trackedBy": tracked_by(LOGS, "four"), "properties": {"LogGroupName": "x"}});
    refused(world.post(LOGS, "put", &same).await, 403, GROUP);
    let item = json!({"alias": "five", "type": LOGS, "primaryIdentifier": "x",
        "scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}")});
    let items = json!({"resources": [item]}).to_string();
    let path = format!("{GROUP}/:import");
    refused(world.call("POST", &path, &items).await, 403, GROUP);

    // What there is can be changed, without a count, and deleted, and then there is room.
    let counted = world.asked_store("count_references");
    let tagged = json!({"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "a", "Value": "b"}]});
    world.put(VPC, "one", tagged).await.expect(201);
    assert_eq!(world.asked_store("count_references"), counted);
    world.settle().await;
    world.delete(VPC, "one").await.expect(202);
    world.settle().await;
    world.put(VPC, "three", block(3)).await.expect(201);
}

#[apply(on_every_store)]
async fn only_so_many_operations_are_under_way_in_a_group(kind: StoreKind) {
    let quotas = Quotas {
        group_operations: 2,
        ..Quotas::default()
    };
    let Some(world) = world(kind, quotas).await else {
        return;
    };
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    for alias in ["old", "older", "oldest"] {
        world.put_and_settle(VPC, alias, vpc.clone()).await;
    }
    for alias in ["one", "two"] {
        world.put(VPC, alias, vpc.clone()).await.expect(201);
    }
    refused(world.put(VPC, "three", vpc.clone()).await, 429, GROUP);
    // What is deleted makes room: twice as many may be under way.
    for alias in ["old", "older"] {
        world.delete(VPC, alias).await.expect(202);
    }
    refused(world.delete(VPC, "oldest").await, 429, GROUP);
    put_group(&world, "other").await.expect(200);
    let elsewhere = json!({"trackedBy": format!("{PLANE}/other/providers/{VPC}:reference/three"),
        "properties": vpc});
    world.post(VPC, "put", &elsewhere).await.expect(201);
    world.settle().await;
    world.put(VPC, "three", vpc).await.expect(201);
}

#[apply(on_every_store)]
async fn only_so_many_operations_are_under_way(kind: StoreKind) {
    let quotas = Quotas {
        operations: 1,
        ..Quotas::default()
    };
    let Some(world) = world(kind, quotas).await else {
        return;
    };
    let vpc = json!({"properties": {"CidrBlock": "10.0.0.0/16"}});
    world.post(VPC, "put", &vpc).await.expect(201);
    let reply = world.post(VPC, "put", &vpc).await.expect(429);
    assert_eq!(reply.code(), "QuotaExceeded");
    assert_eq!(reply.body["error"]["target"], Value::Null);
    world.settle().await;
    world.post(VPC, "put", &vpc).await.expect(201);
}

#[apply(on_every_store)]
async fn a_put_that_changes_nothing_leaves_nothing_behind(world: &World) {
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", vpc.clone()).await;
    let before = world.events(VPC, "main").await;
    for _ in 0..20 {
        world.put(VPC, "main", vpc.clone()).await.expect(200);
    }
    assert_eq!(world.events(VPC, "main").await, before);
}

#[apply(on_every_store)]
async fn there_are_only_so_many_planes(kind: StoreKind) {
    let quotas = Quotas {
        planes: 3,
        ..Quotas::default()
    };
    let Some(world) = world(kind, quotas).await else {
        return;
    };
    let put = async |name: &str| {
        let path = format!("/planes/radius/{name}?{API}");
        let plane = r#"{"location": "global", "properties": {"resourceProviders": {}}}"#;
        world.call("PUT", &path, plane).await
    };
    put("third").await.expect(200);
    refused(put("fourth").await, 403, "/planes");
    put("Third").await.expect(200);
    let path = format!("/planes/radius/third?{API}");
    world.call("DELETE", &path, "").await.expect(200);
    put("fourth").await.expect(200);
}

#[apply(on_every_store)]
async fn a_plane_has_only_so_many_credentials(kind: StoreKind) {
    let quotas = Quotas {
        credentials: 1,
        ..Quotas::default()
    };
    let Some(world) = world(kind, quotas).await else {
        return;
    };
    let put = async |name: &str| {
        let path = format!("/planes/aws/aws/providers/System.AWS/credentials/{name}?{API}");
        let credential = json!({"location": "global", "properties": {"kind": "AccessKey",
            "accessKeyId": "AKIAIOSFODNN7EXAMPLE", "secretAccessKey": "secret",
            "storage": {"kind": "Internal"}}});
        world.call("PUT", &path, &credential.to_string()).await
    };
    put("one").await.expect(200);
    refused(put("two").await, 403, "/planes/aws/aws");
    put("One").await.expect(200);
}

#[apply(on_every_store)]
async fn there_are_only_so_many_role_assignments(kind: StoreKind) {
    let quotas = Quotas {
        role_assignments: 2,
        ..Quotas::default()
    };
    let Some(world) = world(kind, quotas).await else {
        return;
    };
    let call = async |method: &str, plane: &str, name: &str| {
        let id =
            format!("/planes/radius/{plane}/providers/System.Resources/roleAssignments/{name}");
        let body = r#"{"properties": {"user": "bob", "role": "reader", "scopes": ["/"]}}"#;
        world.call(method, &format!("{id}?{API}"), body).await
    };
    for plane in ["other", "third"] {
        let path = format!("/planes/radius/{plane}?{API}");
        let settings = r#"{"location": "global", "properties": {"resourceProviders": {}}}"#;
        world.call("PUT", &path, settings).await.expect(200);
    }
    call("PUT", "local", "one").await.expect(201);
    call("PUT", "other", "two").await.expect(201);
    refused(call("PUT", "third", "three").await, 403, "/planes");
    call("PUT", "local", "One").await.expect(200);
    call("DELETE", "other", "two").await.expect(200);
    call("PUT", "third", "three").await.expect(201);
}

#[apply(on_every_store)]
async fn no_caller_fills_the_quota_of_role_assignments_for_all(kind: StoreKind) {
    let quotas = Quotas {
        role_assignments: 4,
        caller_role_assignments: 2,
        ..Quotas::default()
    };
    let Some(world) = world_of_owners(kind, quotas).await else {
        return;
    };
    let call = async |who: &str, method: &str, name: &str| {
        let id = format!("/planes/radius/local/providers/System.Resources/roleAssignments/{name}");
        let body = r#"{"properties": {"user": "carol", "role": "reader", "scopes": ["/"]}}"#;
        let path = format!("{id}?{API}");
        world.call_as(who, method, &path, body).await
    };
    for name in ["one", "two"] {
        call("alice", "PUT", name).await.expect(201);
    }
    let refused = call("alice", "PUT", "three").await.expect(403);
    assert_eq!(refused.code(), "QuotaExceeded");
    assert!(refused.text.contains("'alice'"), "{}", refused.text);
    call("bob", "PUT", "three").await.expect(201);
    // What another has changed since stays hers.
    let other = r#"{"properties": {"user": "carol", "role": "owner", "scopes": ["/"]}}"#;
    let path = format!("/planes/radius/local/providers/System.Resources/roleAssignments/two?{API}");
    world.call_as("bob", "PUT", &path, other).await.expect(200);
    call("alice", "PUT", "four").await.expect(403);
    call("alice", "DELETE", "two").await.expect(200);
    call("alice", "PUT", "four").await.expect(201);
}

#[apply(on_every_store)]
async fn only_so_many_role_assignments_name_a_scope(kind: StoreKind) {
    let Some(world) = world(kind, Quotas::default()).await else {
        return;
    };
    world.put_group("rg").await;
    let put = async |name: &str, scopes: &[&str]| {
        let id = format!("/planes/radius/local/providers/System.Resources/roleAssignments/{name}");
        let body = json!({"properties": {"user": "bob", "role": "reader", "scopes": scopes}});
        world
            .call("PUT", &format!("{id}?{API}"), &body.to_string())
            .await
    };
    for number in 0..100 {
        put(&format!("a-{number}"), &[GROUP]).await.expect(201);
    }
    let spelled = GROUP
        .to_uppercase()
        .replace("/PLANES/RADIUS", "/planes/radius");
    for scopes in [&[GROUP][..], &[&spelled], &["/", GROUP]] {
        let refused = put("b", scopes).await.expect(403);
        assert_eq!(refused.code(), "QuotaExceeded", "{}", refused.text);
    }
    put("b", &["/"]).await.expect(201);
    // Nor does one come to it later.
    put("b", &["/", GROUP]).await.expect(403);
    // What names it already may change otherwise.
    let other = json!({"properties": {"user": "carol", "role": "reader", "scopes": [GROUP, "/"]}});
    let id = "/planes/radius/local/providers/System.Resources/roleAssignments/a-1";
    let reply = world
        .call("PUT", &format!("{id}?{API}"), &other.to_string())
        .await;
    reply.expect(200);
}

/// Owners of groups leave room for those of the plane.
#[apply(on_every_store)]
async fn the_last_role_assignments_are_for_owners_of_the_plane(kind: StoreKind) {
    let quotas = Quotas {
        role_assignments: 20,
        ..Quotas::default()
    };
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let grants = [
        grant("alice", Role::Owner, &[GROUP]),
        grant("bob", Role::Owner, &["/planes/radius/local"]),
        grant("carol", Role::Owner, &["/"]),
    ];
    let world = builder
        .quotas(quotas)
        .granting(grants.to_vec())
        .build()
        .await;
    world.put_group("rg").await;
    let put = async |who: &str, name: &str| {
        let id = format!("/planes/radius/local/providers/System.Resources/roleAssignments/{name}");
        let body = json!({"properties": {"user": "dave", "role": "reader", "scopes": [GROUP]}});
        world
            .call_as(who, "PUT", &format!("{id}?{API}"), &body.to_string())
            .await
    };
    for number in 0..18 {
        put("alice", &format!("a-{number}")).await.expect(201);
    }
    let refused = put("alice", "b").await.expect(403);
    assert_eq!(refused.code(), "QuotaExceeded", "{}", refused.text);
    put("bob", "b").await.expect(201);
    put("carol", "c").await.expect(201);
    put("carol", "d").await.expect(403);
}

#[apply(on_every_store)]
async fn a_caller_has_only_so_many_operations_under_way(kind: StoreKind) {
    let quotas = Quotas {
        caller_operations: 1,
        ..Quotas::default()
    };
    let Some(world) = world_of_owners(kind, quotas).await else {
        return;
    };
    world.put_group("rg").await;
    let put = async |caller: &str, alias: &str| {
        let path = format!(
            "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put?{API}"
        );
        let body = json!({"trackedBy": tracked_by(VPC, alias), "properties": {"CidrBlock": "10.0.0.0/16"}});
        world
            .call_as(caller, "POST", &path, &body.to_string())
            .await
    };
    put("alice", "one").await.expect(201);
    let reply = put("alice", "two").await.expect(429);
    assert_eq!(reply.code(), "QuotaExceeded");
    assert!(reply.text.contains("'alice'"), "{}", reply.text);
    put("bob", "three").await.expect(201);
    world.settle().await;
    put("alice", "two").await.expect(201);
}

/// Whoever leaves so much behind decides some of it first.
#[apply(on_every_store)]
async fn there_are_only_so_many_leftovers(kind: StoreKind) {
    let quotas = Quotas {
        leftovers: 1,
        ..Quotas::default()
    };
    let Some(world) = world(kind, quotas).await else {
        return;
    };
    let renamed = fault(Effect::Rename {
        identifier: "real".to_owned(),
    });
    let renamed = renamed.on(Action::CreateResource);
    world.aws.add_fault(renamed.times(1));
    let put = async |name: &str| {
        let body = json!({"properties": {"LogGroupName": name}});
        world.post(LOGS, "put", &body).await
    };
    put("asked").await.expect(201);
    world.settle().await;
    let region = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let reply = put("other").await;
    assert!(
        reply.text.contains(&format!("{region}/leftovers")),
        "{}",
        reply.text
    );
    refused(reply, 403, &region);
    // A group has a register of its own.
    let group = json!({"LogGroupName": "third"});
    world.put(LOGS, "third", group).await.expect(201);
    world.settle().await;

    let list = world.get(&format!("{region}/leftovers")).await.expect(200);
    let id = list.body["value"][0]["id"].as_str().unwrap().to_owned();
    world.call("DELETE", &id, "").await.expect(204);
    put("other").await.expect(201);
}
