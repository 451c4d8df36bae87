//! Public types whose schemas come from the CloudFormation registry (`--schema-source registry`).

use std::time::Duration;

use serde_json::{Value, json};
use ucp_model::TypeName;
use ucp_node::SchemaSource;
use ucp_schema::Catalogue;
use ucp_simulator::faults::{fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::{SCHEMA_TTL, StoreKind, World, apply, on_every_store};

const VPC: &str = "AWS.EC2/VPC";

async fn world_on(kind: StoreKind, source: SchemaSource) -> Option<World> {
    let builder = World::builder().on(kind).await?;
    Some(builder.schema_source(source).build().await)
}

/// AWS adds a property to the VPC.
fn add_a_property(world: &World) {
    let vpc = TypeName::from_cloudformation("AWS::EC2::VPC").expect("a name");
    let schema = Catalogue::embedded().get(&vpc).expect("it is embedded");
    let mut newer = schema.document().clone();
    newer["properties"]["AddedLastWeek"] = json!({"type": "string"});
    let registered = world.aws.register_type(&newer.to_string());
    registered.expect("the simulator takes the schema");
}

fn with_the_property() -> Value {
    json!({"CidrBlock": "10.0.0.0/16", "AddedLastWeek": "yes"})
}

#[apply(on_every_store)]
async fn a_property_that_aws_has_added_works(kind: StoreKind) {
    let Some(world) = world_on(kind, SchemaSource::Registry).await else {
        return;
    };
    add_a_property(&world);
    // In any casing.
    let put = world.put("aws.ec2/vpc", "main", with_the_property()).await;
    assert_eq!(put.expect(201).body["type"], VPC);
    world.settle().await;
    let again = world.put(VPC, "main", with_the_property()).await;
    assert_eq!(again.expect(200).body["properties"]["AddedLastWeek"], "yes");
    assert_eq!(world.calls("DescribeType"), 1);
    world.finish().await;
}

#[apply(on_every_store)]
async fn a_property_that_aws_adds_later_works_after_the_time_to_live(kind: StoreKind) {
    let Some(world) = world_on(kind, SchemaSource::Registry).await else {
        return;
    };
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", vpc).await;
    add_a_property(&world);
    world
        .put(VPC, "main", with_the_property())
        .await
        .expect(400);
    world.clock.advance(SCHEMA_TTL);
    // The first use starts the refresh in the background.
    let mut status = 400;
    for _ in 0..1_000 {
        status = world.put(VPC, "main", with_the_property()).await.status;
        if status != 400 {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(status, 201);
    assert_eq!(world.calls("DescribeType"), 2);
    world.settle().await;
    world.finish().await;
}

#[apply(on_every_store)]
async fn the_embedded_schema_is_used_while_the_registry_cannot_be_reached(kind: StoreKind) {
    let Some(world) = world_on(kind, SchemaSource::Registry).await else {
        return;
    };
    world.expect_log("no schema");
    add_a_property(&world);
    let refused = refuse(ExceptionCode::AccessDenied).saying("as ordered");
    world.aws.add_fault(fault(refused).on(Action::DescribeType));
    let vpc = json!({"CidrBlock": "10.0.0.0/16"});
    let ended = world.put_and_settle(VPC, "main", vpc.clone()).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    world.put(VPC, "main", vpc.clone()).await.expect(200);
    world
        .put(VPC, "main", with_the_property())
        .await
        .expect(400);
    assert_eq!(world.calls("DescribeType"), 1);

    world.aws.clear_faults();
    world.clock.advance(Duration::from_secs(60));
    world.put(VPC, "main", vpc).await.expect(200);
    let mut status = 400;
    for _ in 0..1_000 {
        status = world.put(VPC, "main", with_the_property()).await.status;
        if status != 400 {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(status, 201);
    world.settle().await;
    world.finish().await;
}

#[apply(on_every_store)]
async fn the_embedded_schemas_can_be_the_source(kind: StoreKind) {
    let Some(world) = world_on(kind, SchemaSource::Embedded).await else {
        return;
    };
    add_a_property(&world);
    world
        .put(VPC, "main", with_the_property())
        .await
        .expect(400);
    assert_eq!(world.calls("DescribeType"), 0);
    world.finish().await;
}
