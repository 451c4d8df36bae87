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
