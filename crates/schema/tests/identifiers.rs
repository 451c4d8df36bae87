//! Primary identifiers, from properties and back.

use std::sync::Arc;

use serde_json::{Value, json};
use ucp_model::{Identifier, TypeName};
use ucp_schema::{Catalogue, IdentifierOutcome, ResourceSchema};

fn schema(type_name: &str) -> Arc<ResourceSchema> {
    let name = TypeName::from_cloudformation(type_name).expect("a type name");
    Catalogue::embedded().get(&name).expect("an embedded type")
}

fn identifier(type_name: &str, properties: Value) -> IdentifierOutcome {
    schema(type_name).identifier(&properties)
}

fn properties(type_name: &str, identifier: &str) -> Option<Value> {
    schema(type_name).properties_of_identifier(&Identifier::new(identifier))
}

fn known(identifier: &str) -> IdentifierOutcome {
    IdentifierOutcome::Known(Identifier::new(identifier))
}

#[test]
fn an_identifier_may_be_given_or_assigned() {
    let log_group = |properties| identifier("AWS::Logs::LogGroup", properties);
    assert_eq!(log_group(json!({"LogGroupName": "a"})), known("a"));
    assert_eq!(log_group(json!({})), IdentifierOutcome::AssignedByAws);
    assert_eq!(
        identifier("AWS::EC2::VPC", json!({"CidrBlock": "10.0.0.0/16"})),
        IdentifierOutcome::AssignedByAws
    );
}

#[test]
fn a_composite_identifier_is_joined_in_the_order_of_the_schema() {
    let stage = |properties| identifier("AWS::ApiGateway::Stage", properties);
    assert_eq!(
        stage(json!({"StageName": "prod", "RestApiId": "r1"})),
        known("r1|prod")
    );
    assert_eq!(
        stage(json!({"StageName": "prod"})),
        IdentifierOutcome::Missing(vec!["/RestApiId".into()])
    );
    assert_eq!(
        properties("AWS::ApiGateway::Stage", "r1|prod"),
        Some(json!({"RestApiId": "r1", "StageName": "prod"}))
    );
    assert_eq!(properties("AWS::ApiGateway::Stage", "r1"), None);
    assert_eq!(properties("AWS::ApiGateway::Stage", "r1|prod|x"), None);
    assert_eq!(properties("AWS::ApiGateway::Stage", "r1|"), None);
}

#[test]
fn a_single_identifier_may_hold_a_bar() {
    assert_eq!(
        properties("AWS::Logs::LogGroup", "a|b"),
        Some(json!({"LogGroupName": "a|b"}))
    );
}

/// A bar in a part makes the joined form ambiguous: there, AWS's other form is used.
#[test]
fn a_part_of_a_composite_identifier_may_hold_a_bar() {
    let stream = "AWS::Logs::LogStream";
    let in_json =
        |group: &str, name: &str| json!({"LogGroupName": group, "LogStreamName": name}).to_string();
    for (group, name) in [
        ("g", "a|b"),
        ("g|a", "b"),
        ("g", "|"),
        ("{\"LogGroupName\":\"g", "\",\"LogStreamName\":\"a\"}"),
    ] {
        let declared = json!({"LogGroupName": group, "LogStreamName": name});
        let written = in_json(group, name);
        assert_eq!(identifier(stream, declared.clone()), known(&written));
        assert_eq!(properties(stream, &written), Some(declared));
    }
    assert_eq!(properties(stream, "g|a|b"), None, "ambiguous");
    assert_eq!(
        properties(stream, "{\"a\"|b}"),
        Some(json!({"LogGroupName": "{\"a\"", "LogStreamName": "b}"})),
        "not JSON"
    );
}

#[test]
fn each_resource_has_one_identifier() {
    let schema = schema("AWS::Logs::LogStream");
    let canonical = |text: &str| schema.canonical(&Identifier::new(text));
    let joined = Some(Identifier::new("g|a"));
    assert_eq!(canonical("g|a"), joined);
    let turned = r#"{"LogStreamName": "a", "LogGroupName": "g"}"#;
    assert_eq!(canonical(turned), joined);
    for unusable in [
        "g|a|b",
        "g|",
        r#"{"LogGroupName": "g"}"#,
        r#"{"LogGroupName": "g", "LogStreamName": "a", "Arn": "b"}"#,
        r#"{"LogGroupName": "g", "LogStreamName": ["a"]}"#,
    ] {
        assert_eq!(canonical(unusable), None, "{unusable}");
    }
}

#[test]
fn the_properties_tell_which_parts_aws_has_joined() {
    let metric = schema("AWS::Glue::SchemaVersionMetadata");
    let answered = |text: &str, properties: Value| {
        let identifier = metric.answered(&Identifier::new(text), &properties);
        metric.properties_of_identifier(&identifier)
    };
    let parts = |id: &str, key: &str, value: &str| {
        Some(json!({"SchemaVersionId": id, "Key": key, "Value": value}))
    };
    assert_eq!(answered("v|k|x", json!({})), parts("v", "k", "x"));
    for (known, told) in [
        (
            json!({"SchemaVersionId": "v", "Key": "k", "Value": "x|y"}),
            parts("v", "k", "x|y"),
        ),
        (
            json!({"SchemaVersionId": "v", "Key": "k|x", "Value": "y"}),
            parts("v", "k|x", "y"),
        ),
        (
            json!({"SchemaVersionId": "v", "Value": "x|y"}),
            parts("v", "k", "x|y"),
        ),
        (json!({"Key": "k", "Value": "x|y"}), parts("v", "k", "x|y")),
        (
            json!({"SchemaVersionId": "v", "Key": "k"}),
            parts("v", "k", "x|y"),
        ),
        (json!({"SchemaVersionId": "v"}), None),
        (json!({"SchemaVersionId": "other", "Key": "k"}), None),
        (
            json!({"SchemaVersionId": "v", "Key": "k", "Value": "x"}),
            None,
        ),
    ] {
        assert_eq!(answered("v|k|x|y", known.clone()), told, "{known}");
    }
}

#[test]
fn numbers_are_text_in_an_identifier_and_numbers_again_in_properties() {
    let entry = "AWS::EC2::TransitGatewayMeteringPolicyEntry";
    let declared = json!({"TransitGatewayMeteringPolicyId": "p", "PolicyRuleNumber": 7});
    assert_eq!(identifier(entry, declared.clone()), known("p|7"));
    assert_eq!(properties(entry, "p|7"), Some(declared));
    assert_eq!(properties(entry, "p|seven"), None);
}

#[test]
fn a_part_may_be_nested() {
    let device = "AWS::SageMaker::Device";
    let declared = json!({"Device": {"DeviceName": "d"}});
    assert_eq!(identifier(device, declared.clone()), known("d"));
    assert_eq!(properties(device, "d"), Some(declared));
}

#[test]
fn an_empty_name_names_nothing() {
    let schema = ResourceSchema::parse(
        r#"{"typeName": "Acme::Test::Thing", "properties": {"A": {"type": "string"}},
            "primaryIdentifier": ["/properties/A"], "required": ["A"]}"#,
    )
    .unwrap();
    for properties in [
        json!({"A": ""}),
        json!({"A": null}),
        json!({"A": []}),
        json!(1),
    ] {
        assert_eq!(
            schema.identifier(&properties),
            IdentifierOutcome::Missing(vec!["/A".into()])
        );
    }
}

#[test]
fn a_name_declares_what_a_caller_may_set() {
    let declare = |type_name, name, mut declared: Value| {
        let schema = schema(type_name);
        let parts = schema.properties_of_identifier(&Identifier::new(name));
        let contradictions = schema.declare_identifier(&parts.unwrap(), &mut declared);
        (declared, contradictions)
    };
    let stage = "AWS::ApiGateway::Stage";
    assert_eq!(
        declare(stage, "r1|prod", json!({"StageName": "prod"})),
        (json!({"StageName": "prod", "RestApiId": "r1"}), vec![])
    );
    assert_eq!(
        declare(
            stage,
            "r1|prod",
            json!({"StageName": "test", "RestApiId": 7})
        )
        .1,
        ["/RestApiId", "/StageName"]
    );
    assert_eq!(
        declare(
            "AWS::SageMaker::Device",
            "d",
            json!({"Device": {"Description": "x"}})
        )
        .0,
        json!({"Device": {"Description": "x", "DeviceName": "d"}})
    );
    let vpc = declare("AWS::EC2::VPC", "vpc-1", json!({}));
    assert_eq!(vpc, (json!({}), vec![]), "AWS alone sets it");
    let other = declare("AWS::EC2::VPC", "vpc-1", json!({"VpcId": "vpc-2"}));
    assert_eq!(other.1, ["/VpcId"]);
}

#[test]
fn a_name_is_told_by_its_parts() {
    let told = |type_name, name| schema(type_name).identifier_in_words(&Identifier::new(name));
    assert_eq!(
        told("AWS::ApiGateway::Stage", "r1|prod"),
        "RestApiId 'r1' and StageName 'prod'"
    );
    assert_eq!(told("AWS::SageMaker::Device", "d"), "Device/DeviceName 'd'");
    assert_eq!(told("AWS::ApiGateway::Stage", "r1"), "the name 'r1'");
}

/// AWS has such a name only once, although the identifier is another.
#[test]
fn a_custom_name_is_declared_under_the_name_of_the_type() {
    let name = |type_name, properties: Value| {
        let found = schema(type_name)
            .custom_name(&properties)
            .map(|(at, _)| at.to_owned());
        let is_named = schema(type_name).is_named_in(&properties);
        (found, is_named)
    };
    for (type_name, at) in [
        ("AWS::SQS::Queue", "QueueName"),
        ("AWS::SNS::Topic", "TopicName"),
        ("AWS::ECS::Service", "ServiceName"),
        ("AWS::StepFunctions::StateMachine", "StateMachineName"),
        ("AWS::EKS::Nodegroup", "NodegroupName"),
        ("AWS::Batch::JobQueue", "JobQueueName"),
        ("AWS::EC2::SecurityGroup", "GroupName"),
        ("AWS::IAM::ManagedPolicy", "ManagedPolicyName"),
        ("AWS::ElasticLoadBalancingV2::LoadBalancer", "Name"),
    ] {
        assert_eq!(
            name(type_name, json!({ at: "a" })),
            (Some(at.to_owned()), true)
        );
        assert_eq!(name(type_name, json!({})), (None, false), "{type_name}");
    }
    // The identifier itself is the name.
    let bucket = json!({"BucketName": "a"});
    assert_eq!(name("AWS::S3::Bucket", bucket), (None, true));
    let job = json!({"JobDefinitionName": "a", "Type": "container"});
    assert_eq!(name("AWS::Batch::JobDefinition", job), (None, true));
    // A name that many have, one that comes to a new revision, and none.
    for (type_name, properties) in [
        ("AWS::SecretsManager::Secret", json!({"Description": "a"})),
        ("AWS::ECS::TaskDefinition", json!({"Family": "a"})),
        ("AWS::Lambda::LayerVersion", json!({"LayerName": "a"})),
        ("AWS::EC2::VPC", json!({"Name": "a"})),
    ] {
        assert_eq!(name(type_name, properties), (None, false), "{type_name}");
    }
}
