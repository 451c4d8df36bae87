use serde_json::{Value, json};
use ucp_model::{Baseline, Digest, TypeName};
use ucp_schema::{Catalogue, ResourceSchema};

use super::{Action, Desired, Mode, Plan, plan};

fn schema(name: &str) -> std::sync::Arc<ResourceSchema> {
    Catalogue::embedded()
        .get(&TypeName::from_cloudformation(name).unwrap())
        .unwrap()
}

fn desired(type_name: &str, properties: Value) -> Desired {
    let digest = |pointer: &str, value: &Value| Digest {
        key_id: "test".to_owned(),
        hmac: format!("{pointer}={value}"),
    };
    Desired::new(properties, &schema(type_name), digest)
}

fn merge(type_name: &str, properties: Value, last: Option<&Baseline>, live: Value) -> Plan {
    plan(
        &desired(type_name, properties),
        last,
        Some(&live),
        &schema(type_name),
        Mode::Merge,
    )
}

fn operations(plan: &Plan) -> Value {
    serde_json::to_value(&plan.patch).unwrap()
}

#[test]
fn nothing_live_is_a_create() {
    let desired = desired("AWS::EC2::VPC", json!({"CidrBlock": "10.0.0.0/16"}));
    let plan = plan(&desired, None, None, &schema("AWS::EC2::VPC"), Mode::Merge);
    assert_eq!(plan.action, Action::Create);
    assert_eq!(plan.changes[0].path, "/CidrBlock");
}

#[test]
fn undeclared_and_read_only_properties_are_left_alone() {
    let live =
        json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true, "Tags": []});
    let plan = merge(
        "AWS::EC2::VPC",
        json!({"CidrBlock": "10.0.0.0/16", "VpcId": "vpc-2"}),
        None,
        live.clone(),
    );
    assert_eq!((plan.action, plan.planned), (Action::Noop, live));
}

#[test]
fn a_changed_leaf_is_a_patch_of_that_leaf() {
    let live = json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true});
    let plan = merge(
        "AWS::EC2::VPC",
        json!({"EnableDnsSupport": false, "EnableDnsHostnames": true}),
        None,
        live,
    );
    assert_eq!(plan.action, Action::Update);
    assert_eq!(
        operations(&plan),
        json!([
            {"op": "replace", "path": "/EnableDnsSupport", "value": false},
            {"op": "add", "path": "/EnableDnsHostnames", "value": true},
        ])
    );
    assert_eq!(plan.planned["CidrBlock"], "10.0.0.0/16");
}

#[test]
fn a_changed_create_only_property_sends_nothing() {
    let live = json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true});
    let plan = merge(
        "AWS::EC2::VPC",
        json!({"CidrBlock": "10.1.0.0/16", "EnableDnsSupport": false}),
        None,
        live,
    );
    assert_eq!(plan.action, Action::Replace);
    assert_eq!(plan.replace_paths, ["/properties/CidrBlock"]);
    assert!(plan.patch.0.is_empty());
}

#[test]
fn a_secret_is_an_update_only_when_its_digest_changed() {
    const TYPE: &str = "AWS::RDS::DBInstance";
    let declare =
        |password: &str| json!({"DBInstanceIdentifier": "db", "MasterUserPassword": password});
    let live = json!({"DBInstanceIdentifier": "db", "AllocatedStorage": "20"});
    let last = desired(TYPE, declare("one")).baseline;
    assert!(
        !serde_json::to_string(&last.declared)
            .unwrap()
            .contains("one")
    );
    assert_eq!(
        merge(TYPE, declare("one"), Some(&last), live.clone()).action,
        Action::Noop
    );
    let changed = merge(TYPE, declare("two"), Some(&last), live.clone());
    assert_eq!(
        operations(&changed),
        json!([{"op": "add", "path": "/MasterUserPassword", "value": "two"}])
    );
    assert_eq!(
        merge(TYPE, declare("one"), None, live).action,
        Action::Update
    );
    assert!(
        !format!("{changed:?}").contains("two"),
        "debug output hides values"
    );
}

#[test]
fn an_unchanged_secret_is_sent_along_with_another_change() {
    const TYPE: &str = "AWS::RDS::DBInstance";
    let last = desired(
        TYPE,
        json!({"DBInstanceIdentifier": "db", "MasterUserPassword": "one"}),
    )
    .baseline;
    let now = json!({"DBInstanceIdentifier": "db", "MasterUserPassword": "one", "AllocatedStorage": "30"});
    let plan = merge(
        TYPE,
        now,
        Some(&last),
        json!({"DBInstanceIdentifier": "db", "AllocatedStorage": "20"}),
    );
    assert_eq!(
        operations(&plan),
        json!([
            {"op": "replace", "path": "/AllocatedStorage", "value": "30"},
            {"op": "add", "path": "/MasterUserPassword", "value": "one"},
        ])
    );
}

#[test]
fn replace_mode_removes_what_is_not_declared_but_not_what_aws_decides() {
    let schema = schema("AWS::EC2::VPC");
    let live = json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true});
    let plan = plan(
        &desired("AWS::EC2::VPC", json!({})),
        None,
        Some(&live),
        &schema,
        Mode::Replace,
    );
    assert_eq!(
        operations(&plan),
        json!([{"op": "remove", "path": "/EnableDnsSupport"}])
    );
}

#[test]
fn pointers_are_escaped() {
    const TYPE: &str = "AWS::Logs::LogGroup";
    let live = json!({"LogGroupName": "g", "DataProtectionPolicy": {"a/b": {"m~n": 1}}});
    let plan = merge(
        TYPE,
        json!({"DataProtectionPolicy": {"a/b": {"m~n": 2}}}),
        None,
        live,
    );
    assert_eq!(
        operations(&plan),
        json!([{"op": "replace", "path": "/DataProtectionPolicy/a~1b/m~0n", "value": 2}])
    );
}
