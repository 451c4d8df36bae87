//! Regions that requests may name, and roles that credentials may name.

use serde_json::{Value, json};
use ucp_app::{Regions, Roles};
use ucp_testkit::{ACCOUNT, GROUP, Reply, StoreKind, World, apply, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";
const PRIVATE: &str = "Mine.Own/Thing";
const CREDENTIAL: &str =
    "/planes/aws/aws/providers/System.AWS/credentials/default?api-version=2023-10-01-preview";

fn place(region: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{region}")
}

fn refused(reply: Reply, region: &str) -> String {
    let reply = reply.expect(400);
    assert_eq!(reply.code(), "BadRequest", "{}", reply.text);
    let error = &reply.body["error"];
    assert_eq!(error["target"], format!("regions/{region}"), "{error}");
    let message = error["message"].as_str().expect("a message");
    let advice = format!("--allowed-region {region}");
    assert!(message.contains(&advice), "{message}");
    message.to_owned()
}

/// Every request that names a region, with its body.
fn requests(region: &str, resource_type: &str) -> Vec<(&'static str, String, String)> {
    let place = place(region);
    let collection = format!("{place}/providers/{resource_type}");
    let (namespace, name) = resource_type.split_once('/').expect("a type");
    let properties = json!({"CidrBlock": "10.0.0.0/16"});
    let tracked = tracked_by(resource_type, "one");
    let put = json!({"trackedBy": tracked, "properties": properties}).to_string();
    let read = json!({"trackedBy": tracked}).to_string();
    let import = json!({"trackedBy": tracked, "primaryIdentifier": "vpc-1"}).to_string();
    let declared = json!({"properties": properties}).to_string();
    vec![
        ("GET", format!("{place}/providers"), String::new()),
        (
            "GET",
            format!("{place}/providers/{namespace}"),
            String::new(),
        ),
        (
            "GET",
            format!("{place}/providers/{namespace}/resourceTypes/{name}"),
            String::new(),
        ),
        ("GET", collection.clone(), String::new()),
        ("GET", format!("{collection}/vpc-1"), String::new()),
        ("PUT", format!("{collection}/vpc-1"), declared.clone()),
        ("PATCH", format!("{collection}/vpc-1"), declared),
        ("DELETE", format!("{collection}/vpc-1"), String::new()),
        ("POST", format!("{collection}/:put"), put),
        ("POST", format!("{collection}/:get"), read.clone()),
        ("POST", format!("{collection}/:delete"), read),
        ("POST", format!("{collection}/:import"), import),
    ]
}

#[apply(on_every_store)]
async fn a_made_up_region_costs_nothing(world: &World) {
    for resource_type in [VPC, PRIVATE] {
        for region in ["xx-made-1", "us-east-77", "aws-global"] {
            for (method, path, body) in requests(region, resource_type) {
                refused(world.call(method, &path, &body).await, region);
            }
        }
    }
    let item = json!({"alias": "one", "type": VPC, "primaryIdentifier": "vpc-1",
        "scope": place("xx-made-1")});
    let items = json!({"resources": [item]}).to_string();
    let import = world
        .call("POST", &format!("{GROUP}/:import"), &items)
        .await
        .expect(400);
    let detail = &import.body["error"]["details"][0];
    assert_eq!(detail["target"], "/resources/0", "{detail}");
    let message = detail["message"].as_str().expect("a message");
    assert!(message.contains("'xx-made-1' is not known"), "{message}");

    assert!(world.aws.log().is_empty(), "AWS was called");
    assert!(world.references().await.is_empty());
    let operations = format!("{GROUP}/operations?api-version=2023-10-01-preview");
    let operations = world.get(&operations).await.expect(200);
    assert_eq!(operations.body["value"], json!([]));
}

#[apply(on_every_store)]
async fn the_operator_narrows_the_regions_and_adds_to_them(kind: StoreKind) {
    let regions = ["eu-*", "xx-new-1"].map(str::to_owned);
    let regions = Regions::of(&regions).expect("regions");
    let Some(builder) = World::builder().regions(regions).on(kind).await else {
        return;
    };
    let world = builder.build().await;
    let list = |region| format!("{}/providers/{VPC}", place(region));
    for region in ["eu-west-1", "xx-new-1"] {
        world.get(&list(region)).await.expect(200);
    }
    let narrowed = refused(world.get(&list("us-east-1")).await, "us-east-1");
    assert!(
        narrowed.contains("is not allowed on this server. It allows eu-central-1, eu-central-2, "),
        "{narrowed}"
    );
    refused(world.get(&list("us-nowhere-1")).await, "us-nowhere-1");
}

/// What there is in a region that is not allowed any more can be seen and deleted.
#[apply(on_every_store)]
async fn a_region_that_is_not_allowed_any_more_can_be_left(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let before = builder.build().await;
    before
        .put_and_settle(VPC, "one", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let only = Regions::of(&["eu-west-1".to_owned()]).expect("regions");
    let world = World::builder().over(&before.store).regions(only).seeded(8);
    let world = world.build().await;
    refused(world.put(VPC, "one", json!({})).await, "us-west-2");
    let reference = tracked_by(VPC, "one");
    let reference = format!("{reference}?api-version=2023-10-01-preview");
    world.get(&reference).await.expect(200);
    world.call("DELETE", &reference, "").await.expect(202);
    world.settle().await;
    world.get(&reference).await.expect(404);
}

fn irsa(role: &str) -> String {
    let properties: Value =
        json!({"kind": "IRSA", "roleARN": role, "storage": {"kind": "Internal"}});
    json!({"location": "global", "properties": properties}).to_string()
}

#[apply(on_every_store)]
async fn a_credential_names_only_roles_that_are_allowed(kind: StoreKind) {
    let roles = Roles::of(&["arn:aws:iam::111111111111:role/ucp-*".to_owned()]);
    let Some(builder) = World::builder().roles(roles).on(kind).await else {
        return;
    };
    let world = builder.build().await;
    for role in [
        "arn:aws:iam::111111111111:role/admin",
        "arn:aws:iam::222222222222:role/ucp-one",
    ] {
        let reply = world.call("PUT", CREDENTIAL, &irsa(role)).await.expect(403);
        assert_eq!(reply.code(), "AuthorizationFailed");
        let error = &reply.body["error"];
        assert_eq!(error["target"], "/properties/roleARN", "{error}");
        let message = error["message"].as_str().expect("a message");
        assert!(
            message.contains(role) && message.contains("--allowed-role"),
            "{message}"
        );
        world.get(CREDENTIAL).await.expect(404);
    }
    let allowed = irsa("arn:aws:iam::111111111111:role/ucp-one");
    world.call("PUT", CREDENTIAL, &allowed).await.expect(200);
}
