//! DELETE of a resource group with content (contract sections 3 and 7, D14, D15), and the retention of operations.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_engine::Swept;
use ucp_model::Clock as _;
use ucp_simulator::faults::{Effect, fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, GROUP, REGION, Reply, World, apply, on_every_store, tracked_by};

const API_VERSION: &str = "api-version=2023-10-01-preview";
const VPC: &str = "AWS.EC2/VPC";
const SUBNET: &str = "AWS.EC2/Subnet";

fn path() -> String {
    format!("{GROUP}?{API_VERSION}")
}

/// A DELETE that waits for its end.
async fn delete(world: &World) -> Reply {
    world.call_until_settled("DELETE", &path(), "").await
}

/// A DELETE that does not wait for its end.
async fn begin(world: &World) -> Reply {
    world.send_without_waiting("DELETE", &path(), "").await
}

async fn put(world: &World, resource_type: &str, alias: &str, properties: Value) -> String {
    let status = world.put_and_settle(resource_type, alias, properties).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let references = world.references().await;
    let kind = format!("{resource_type}:reference");
    let reference = references
        .iter()
        .find(|reference| reference["name"] == alias && reference["type"] == kind.as_str());
    let reference = reference.expect("it is tracked");
    reference["mapsTo"]["primaryIdentifier"]
        .as_str()
        .expect("it is referenced")
        .to_owned()
}

/// AWS rejects deletes of resources that others refer to.
fn mind_dependencies(world: &World) {
    world
        .aws
        .add_fault(fault(Effect::InUse {}).on(Action::DeleteResource));
}

/// The types of the deleted resources, in order of deletion.
fn deleted(world: &World) -> Vec<String> {
    let log = serde_json::to_value(world.aws.log()).expect("the log is JSON");
    let entries = log.as_array().cloned().unwrap_or_default();
    let deletes = entries
        .iter()
        .filter(|entry| entry["operation"] == "DeleteResource");
    deletes
        .filter_map(|entry| entry["typeName"].as_str().map(str::to_owned))
        .collect()
}

#[apply(on_every_store)]
async fn an_empty_or_absent_group_is_gone_at_once(world: &World) {
    let gone = world.call("DELETE", &path(), "").await.expect(200);
    assert_eq!(gone.text, "");
    assert!(gone.header("location").is_none(), "no polling headers");
    world.call("DELETE", &path(), "").await.expect(204);
    world.get(&path()).await.expect(404);
}

#[apply(on_every_store)]
async fn an_etag_that_does_not_match_is_412(world: &World) {
    let other = [("if-match", "\"other\"")];
    world
        .send_with(&other, "DELETE", &path(), "")
        .await
        .expect(412);
    let tag = world
        .get(&path())
        .await
        .expect(200)
        .header("etag")
        .expect("an ETag")
        .to_owned();
    world
        .send_with(&[("if-match", &tag)], "DELETE", &path(), "")
        .await
        .expect(200);
    world
        .send_with(&other, "DELETE", &path(), "")
        .await
        .expect(204);
}

#[apply(on_every_store)]
async fn what_is_owned_is_deleted_in_order_and_the_rest_is_forgotten(world: &World) {
    mind_dependencies(world);
    let vpc = put(world, VPC, "a-vpc", json!({"CidrBlock": "10.0.0.0/16"})).await;
    put(
        world,
        SUBNET,
        "b-subnet",
        json!({"VpcId": vpc, "CidrBlock": "10.0.1.0/24"}),
    )
    .await;
    let body = json!({"properties": {"CidrBlock": "10.9.0.0/16"}});
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    let mut strays = world.live("AWS::EC2::VPC");
    strays.retain(|other| *other != vpc);
    let import = json!({"trackedBy": tracked_by(VPC, "imported"), "primaryIdentifier": strays[0]});
    world.post(VPC, "import", &import).await.expect(201);

    let reply = delete(world).await.expect(200);
    assert_eq!(reply.text, "");
    assert_eq!(
        world.live("AWS::EC2::VPC"),
        strays,
        "what was imported is untouched"
    );
    assert!(world.live("AWS::EC2::Subnet").is_empty());
    assert_eq!(
        deleted(world),
        ["AWS::EC2::Subnet", "AWS::EC2::VPC"],
        "first what refers to the other"
    );
    world.get(&path()).await.expect(404);
    let last = |events: Vec<ucp_store::Event>| events.last().map(|event| event.kind.clone());
    assert_eq!(
        last(world.events(VPC, "imported").await).as_deref(),
        Some("forget")
    );
    assert_eq!(
        last(world.events(VPC, "a-vpc").await).as_deref(),
        Some("delete")
    );

    // The name is free again, and has no history.
    world.put_group("rg").await;
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn a_deletion_that_takes_long_is_polled(world: &World) {
    put(world, VPC, "main", json!({"CidrBlock": "10.0.0.0/16"})).await;
    let reply = begin(world).await.expect(202);
    let prefix = "http://localhost:8787/planes/radius/local/providers/System.Resources/locations/global/operationStatuses/";
    assert!(
        reply.status_url().starts_with(prefix),
        "{}",
        reply.status_url()
    );
    let location = reply
        .header("location")
        .unwrap()
        .trim_start_matches("http://localhost:8787");
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Deleting");
    assert_eq!(status["percentComplete"], 0);
    world.get(location).await.expect(202);

    // D15: a second DELETE returns the same operation, and nothing else is accepted.
    let again = begin(world).await.expect(202);
    assert_eq!(again.status_url(), reply.status_url());
    let conflict = |reply: Reply| {
        let reply = reply.expect(409);
        assert_eq!(reply.code(), "Conflict");
        let detail = &reply.body["error"]["details"][0];
        assert_eq!(detail["code"], "OperationInProgress");
        assert!(detail["target"].as_str().unwrap().starts_with(prefix));
    };
    conflict(
        world
            .send_without_waiting("PUT", &path(), r#"{"location":"global"}"#)
            .await,
    );
    conflict(
        world
            .put(VPC, "other", json!({"CidrBlock": "10.0.0.0/16"}))
            .await,
    );
    let import = json!({"trackedBy": tracked_by(VPC, "other"), "primaryIdentifier": "vpc-1"});
    conflict(world.post(VPC, "import", &import).await);
    let items = json!({"resources": [{"alias": "o", "type": VPC, "primaryIdentifier": "vpc-1",
        "scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}")}]});
    conflict(
        world
            .call("POST", &format!("{GROUP}/:import"), &items.to_string())
            .await,
    );
    conflict(
        world
            .call("PATCH", &tracked_by(VPC, "main"), r#"{"tags":{}}"#)
            .await,
    );
    conflict(world.call("DELETE", &tracked_by(VPC, "main"), "").await);

    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded");
    assert_eq!(status["percentComplete"], 100);
    world.get(location).await.expect(204);
    world.call("DELETE", &path(), "").await.expect(204);
}

#[apply(on_every_store)]
async fn a_live_operation_of_a_member_is_409(world: &World) {
    let collection =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put");
    let body =
        json!({"trackedBy": tracked_by(VPC, "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    let running = world
        .send_without_waiting("POST", &collection, &body.to_string())
        .await
        .expect(201);
    let refused = begin(world).await.expect(409);
    assert_eq!(refused.code(), "Conflict");
    assert_eq!(
        refused.body["error"]["details"][0]["target"],
        running.status_url()
    );
    world.settle().await;
    delete(world).await.expect(200);
}

#[apply(on_every_store)]
async fn what_cannot_be_deleted_is_named_and_the_group_stays_usable(world: &World) {
    mind_dependencies(world);
    let vpc = put(world, VPC, "a-vpc", json!({"CidrBlock": "10.0.0.0/16"})).await;
    let subnet = put(
        world,
        SUBNET,
        "b-subnet",
        json!({"VpcId": vpc, "CidrBlock": "10.0.1.0/24"}),
    )
    .await;
    put(
        world,
        "AWS.Logs/LogGroup",
        "logs",
        json!({"LogGroupName": "logs"}),
    )
    .await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::AccessDenied).saying("not allowed"))
            .on(Action::DeleteResource)
            .of_type("AWS::EC2::Subnet")
            .times(1),
    );
    let reply = delete(world).await.expect(409);
    assert_eq!(reply.code(), "ResourceGroupDeletionBlocked");
    let details = reply.body["error"]["details"].as_array().expect("details");
    let codes: Vec<&str> = details
        .iter()
        .map(|detail| detail["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["AccessDenied", "ResourceConflict"]);
    let message = reply.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("'b-subnet' (AccessDenied)"), "{message}");
    let denied = &details[0];
    assert!(
        denied["target"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/AWS.EC2/Subnet/{subnet}"))
    );
    for part in ["b-subnet", subnet.as_str(), "not allowed"] {
        assert!(
            denied["message"].as_str().unwrap().contains(part),
            "{denied}"
        );
    }
    assert_eq!(
        world.calls("DeleteResource"),
        2 + 5,
        "what is denied is not tried again, and AWS is asked about what it refers to"
    );
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
    assert_eq!(world.references().await.len(), 2, "what is left stays");

    // The group is usable, and a second DELETE starts again with the remaining resources.
    put(
        world,
        "AWS.Logs/LogGroup",
        "logs",
        json!({"LogGroupName": "more"}),
    )
    .await;
    delete(world).await.expect(200);
    assert!(world.live("AWS::EC2::VPC").is_empty());
}

#[apply(on_every_store)]
async fn a_dependency_that_no_model_shows_is_tried_again(world: &World) {
    put(world, VPC, "main", json!({"CidrBlock": "10.0.0.0/16"})).await;
    world.aws.add_fault(
        fault(
            fail(HandlerErrorCode::InvalidRequest)
                .saying("The vpc has dependencies and cannot be deleted."),
        )
        .on(Action::DeleteResource)
        .times(3),
    );
    delete(world).await.expect(200);
    assert_eq!(world.calls("DeleteResource"), 4);
}

#[apply(on_every_store)]
async fn tries_are_bounded(world: &World) {
    put(world, VPC, "main", json!({"CidrBlock": "10.0.0.0/16"})).await;
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::ResourceConflict).saying("has dependencies"))
            .on(Action::DeleteResource),
    );
    let reply = delete(world).await.expect(409);
    assert_eq!(
        reply.body["error"]["details"][0]["code"],
        "ResourceConflict"
    );
    assert_eq!(world.calls("DeleteResource"), 5);
    assert_eq!(world.references().await.len(), 1);
}

#[apply(on_every_store)]
async fn what_aws_does_not_have_any_more_is_no_obstacle(world: &World) {
    let vpc = put(world, VPC, "main", json!({"CidrBlock": "10.0.0.0/16"})).await;
    world.vanish("AWS::EC2::VPC", &vpc);
    delete(world).await.expect(200);
    assert_eq!(world.calls("DeleteResource"), 1);
}

/// Two roles that name each other: no order is correct for both.
#[apply(on_every_store)]
async fn a_cycle_is_broken(world: &World) {
    let trust = json!({"Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]});
    for (alias, other) in [("one", "two"), ("two", "one")] {
        let role =
            json!({"RoleName": alias, "Description": other, "AssumeRolePolicyDocument": trust});
        put(world, "AWS.IAM/Role", alias, role).await;
    }
    delete(world).await.expect(200);
    assert!(world.live("AWS::IAM::Role").is_empty());
}

#[apply(on_every_store)]
async fn another_operation_on_the_same_resource_is_waited_for(world: &World) {
    let name = "AWS.Logs/LogGroup";
    put(world, name, "logs", json!({"LogGroupName": "logs"})).await;
    world.aws.add_fault(
        fault(Effect::Latency {
            least_millis: 20_000,
            most_millis: 20_000,
        })
        .on(Action::UpdateResource),
    );
    let by_name = json!({"properties": {"LogGroupName": "logs", "RetentionInDays": 7}});
    world.post(name, "put", &by_name).await.expect(201);
    let reply = begin(world).await.expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
}

/// The issue's third example.
#[apply(on_every_store)]
async fn twenty_resources_of_eight_types_go_with_one_delete(world: &World) {
    mind_dependencies(world);
    let vpc = put(world, VPC, "vpc", json!({"CidrBlock": "10.0.0.0/16"})).await;
    let spare = put(world, VPC, "a-spare", json!({"CidrBlock": "10.1.0.0/16"})).await;
    let gateway = put(world, "AWS.EC2/InternetGateway", "gateway", json!({})).await;
    put(
        world,
        "AWS.EC2/VPCGatewayAttachment",
        "attachment",
        json!({"VpcId": vpc, "InternetGatewayId": gateway}),
    )
    .await;
    let mut tables = Vec::new();
    for index in 0..2 {
        tables.push(
            put(
                world,
                "AWS.EC2/RouteTable",
                &format!("table{index}"),
                json!({"VpcId": vpc}),
            )
            .await,
        );
    }
    let mut groups = Vec::new();
    for index in 0..3 {
        groups.push(
            put(
                world,
                "AWS.EC2/SecurityGroup",
                &format!("group{index}"),
                json!({"VpcId": vpc, "GroupDescription": format!("group {index}")}),
            )
            .await,
        );
    }
    let mut subnets = Vec::new();
    for index in 0..4 {
        let (vpc, cidr) = match index {
            3 => (&spare, "10.1.0.0/24".to_owned()),
            _ => (&vpc, format!("10.0.{index}.0/24")),
        };
        subnets.push(
            put(
                world,
                SUBNET,
                &format!("subnet{index}"),
                json!({"VpcId": vpc, "CidrBlock": cidr}),
            )
            .await,
        );
    }
    for index in 0..3 {
        put(
            world,
            "AWS.EC2/SubnetRouteTableAssociation",
            &format!("association{index}"),
            json!({"SubnetId": subnets[index], "RouteTableId": tables[index % 2]}),
        )
        .await;
    }
    for index in 0..4 {
        put(
            world,
            "AWS.EC2/NetworkInterface",
            &format!("interface{index}"),
            json!({"SubnetId": subnets[index], "GroupSet": [groups[index % 3]]}),
        )
        .await;
    }
    assert_eq!(world.references().await.len(), 20);
    for index in 0..2 {
        let name = format!("imported{index}");
        let body = json!({"properties": {"LogGroupName": name}});
        world
            .post("AWS.Logs/LogGroup", "put", &body)
            .await
            .expect(201);
        world.settle().await;
        let import =
            json!({"trackedBy": tracked_by("AWS.Logs/LogGroup", &name), "primaryIdentifier": name});
        world
            .post("AWS.Logs/LogGroup", "import", &import)
            .await
            .expect(201);
    }
    world.aws.add_fault(
        fault(fail(HandlerErrorCode::ServiceInternalError).saying("try again"))
            .on(Action::DeleteResource)
            .times(2)
            .with_probability(0.1),
    );

    delete(world).await.expect(200);
    let resources = serde_json::to_value(world.aws.resources()).expect("JSON");
    let left: Vec<&str> = resources
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["identifier"].as_str().unwrap())
        .collect();
    assert_eq!(
        left,
        ["imported0", "imported1"],
        "all that was owned is gone, the rest is untouched"
    );
    assert!(world.calls("DeleteResource") >= 20);
    world.get(&path()).await.expect(404);
}

#[apply(on_every_store)]
async fn what_happened_long_ago_is_removed(world: &World) {
    let old = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    world.settle().await;
    let month = Duration::from_secs(30 * 24 * 3600);
    world.clock.advance(month);
    let recent = world.delete(VPC, "main").await.expect(202);
    world.step().await;
    let swept = world.sweep(month).await;
    let asked = Swept {
        // Of the puts of the group and of the VPC, under its alias and its type, which ended later.
        audit_events: 3,
        ..Swept::default()
    };
    assert_eq!(swept, asked, "not a moment too early");
    world.clock.advance(Duration::from_secs(60));
    let swept = world.sweep(month).await;
    let gone = Swept {
        operations: 1,
        events: 1,
        ..Swept::default()
    };
    assert_eq!(swept, gone);
    let path = old.status_url().trim_start_matches("http://localhost:8787");
    world.get(path).await.expect(404);
    assert_eq!(
        world.status(&recent).await["status"],
        "Deleting",
        "what is live stays"
    );
    world.settle().await;
    let events = world.events(VPC, "main").await;
    assert_eq!(events.len(), 1, "{events:?}");
}

/// Names that are words of tags, or a resource's own, are in nobody's way.
#[apply(on_every_store)]
async fn what_has_one_name_by_chance_goes_at_the_same_time(world: &World) {
    const BUCKET: &str = "AWS.S3/Bucket";
    const QUEUE: &str = "AWS.SQS/Queue";
    mind_dependencies(world);
    let tags = json!([{"Key": "app", "Value": "shop"}, {"Key": "logs", "Value": "shop-logs"}]);
    put(
        world,
        BUCKET,
        "bucket",
        json!({"BucketName": "shop", "Tags": tags}),
    )
    .await;
    let logs = json!({"LogGroupName": "shop-logs", "Tags": tags});
    put(world, "AWS.Logs/LogGroup", "logs", logs).await;
    put(
        world,
        QUEUE,
        "queue",
        json!({"QueueName": "shop", "Tags": tags}),
    )
    .await;
    let statement = json!({"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::shop/*"});
    let policy = json!({"Bucket": "shop", "PolicyDocument": {"Statement": [statement]}});
    put(world, "AWS.S3/BucketPolicy", "policy", policy).await;
    let before = world.clock.now();
    begin(world).await.expect(202);
    world.settle().await;
    world.get(&path()).await.expect(404);
    let took = world.clock.now().since(before);
    assert!(took < Duration::from_secs(10), "{took:?}");
    let order = deleted(world);
    assert_eq!(order.len(), 4, "AWS has refused none: {order:?}");
    let place = |name: &str| order.iter().position(|it| it == name);
    assert!(
        place("AWS::S3::BucketPolicy") < place("AWS::S3::Bucket"),
        "{order:?}"
    );
}
