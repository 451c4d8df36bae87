//! The messages of violations.

use serde_json::{Value, json};
use ucp_model::TypeName;
use ucp_schema::{Catalogue, ResourceSchema, Violation};

/// A schema with every kind of rule, and a recursive tree.
fn example() -> ResourceSchema {
    let schema = json!({
        "typeName": "Acme::Test::Thing",
        "additionalProperties": false,
        "definitions": {
            "Tree": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "Leaf": {"type": "string"},
                    "Children": {"type": "array", "items": {"$ref": "#/definitions/Tree"}},
                },
            },
            "Unused": {"$ref": "#/definitions/Unused"},
        },
        "properties": {
            "Id": {"type": "string"},
            "Name": {"type": "string", "minLength": 3, "pattern": "^[a-z]+$"},
            "Size": {"type": "integer", "minimum": 1, "maximum": 10},
            "Mode": {"type": "string", "enum": ["on", "off"]},
            "Policy": {"type": ["object", "string"]},
            "Either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "Tree": {"$ref": "#/definitions/Tree"},
            "Labels": {
                "type": "object",
                "patternProperties": {"^[a-z]+$": {"type": "string"}},
                "additionalProperties": false,
            },
            "Open": {"type": "object"},
            "Secret": {"type": "string", "maxLength": 4},
            "Forgetful": {
                "type": "object",
                "additionalProperties": false,
                "oneOf": [{"properties": {"A": {"type": "string"}}}, {"required": ["B"]}],
                "properties": {"B": {"type": "string"}},
            },
            "Lost": {"$ref": "#/definitions/Nowhere"},
            "Odd": {"type": "json", "required": "yes", "minLength": "3", "pattern": "(", "format": "AWS::EC2::VPC.Id"},
        },
        "required": ["Name", "Id"],
        "anyOf": [{"required": ["Size"]}, {"required": ["Mode", "Policy"]}],
        "primaryIdentifier": ["/properties/Id"],
        "readOnlyProperties": ["/properties/Id"],
        "writeOnlyProperties": ["/properties/Secret"],
    });
    ResourceSchema::parse(&schema.to_string()).expect("a schema")
}

fn messages(violations: &[Violation]) -> Vec<&str> {
    violations
        .iter()
        .map(|violation| violation.message.as_str())
        .collect()
}

#[track_caller]
fn declared(properties: Value, expected: &[&str]) {
    assert_eq!(
        messages(&example().validate_declaration(&properties)),
        expected
    );
}

#[track_caller]
fn modelled(properties: Value, expected: &[&str]) {
    assert_eq!(messages(&example().validate_model(&properties)), expected);
}

#[test]
fn a_vpc_with_two_mistakes_hears_of_both() {
    let vpc = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    let vpc = Catalogue::embedded().get(&vpc).unwrap();
    let properties =
        json!({"CidrBlock": 10, "EnableDnsSuport": true, "Tags": [{"Key": "a", "Vaule": "b"}]});
    assert_eq!(
        messages(&vpc.validate_declaration(&properties)),
        [
            "`/CidrBlock`: expected a string, got a number",
            "`/EnableDnsSuport` is not a property of AWS::EC2::VPC; did you mean `EnableDnsSupport`?",
            "`/Tags/0/Vaule` is not a property of `/Tags/0`; did you mean `Value`?",
        ]
    );
}

#[test]
fn types_are_judged_at_any_depth() {
    declared(
        json!(["a"]),
        &["the properties: expected an object, got an array"],
    );
    declared(
        json!({"Size": 1.5}),
        &["`/Size`: expected an integer, got a number"],
    );
    declared(
        json!({"Tree": {"Children": [{"Leaf": "a"}, {"Children": [{"Leaf": true}]}]}}),
        &["`/Tree/Children/1/Children/0/Leaf`: expected a string, got a boolean"],
    );
    declared(
        json!({"Policy": []}),
        &["`/Policy`: expected an object or a string, got an array"],
    );
    declared(
        json!({"Either": []}),
        &["`/Either`: expected an integer or a string, got an array"],
    );
    declared(
        json!({"Labels": {"a": 1}}),
        &["`/Labels/a`: expected a string, got a number"],
    );
}

#[test]
fn names_are_escaped_as_json_pointers() {
    declared(
        json!({"Labels": {"a/b~c": "d"}}),
        &["`/Labels/a~1b~0c` is not a property of `/Labels`"],
    );
}

#[test]
fn what_is_right_in_some_reading_passes() {
    for properties in [
        json!({"Name": null, "Unheard": null, "Policy": {}, "Either": 1, "Size": 2.0, "Size2": null}),
        json!({"Policy": "{}", "Either": "a", "Open": {"x": [1, "y"]}, "Lost": 1, "Odd": [2]}),
        json!({"Forgetful": {"A": "a", "B": "b"}, "Size": 123456789012345678901234567890_u128}),
    ] {
        declared(properties, &[]);
    }
}

#[test]
fn a_model_must_be_complete_and_in_range() {
    modelled(json!({"Name": "abc", "Size": 1}), &[]);
    modelled(json!({"Size": 1}), &["`/Name` is required"]);
    modelled(
        json!({"Name": "A", "Size": 11, "Mode": "slow", "Wrong": 1}),
        &[
            "`/Wrong` is not a property of Acme::Test::Thing",
            "`/Name`: must have at least 3 characters",
            "`/Size`: must be at most 10",
            "`/Mode`: must be one of `on`, `off`",
        ],
    );
    modelled(
        json!({"Name": "abc"}),
        &["the properties: needs `/Size`, or `/Mode` and `/Policy`"],
    );
}

#[test]
fn a_write_only_value_is_never_repeated() {
    let model = json!({"Name": "abc", "Size": 1, "Secret": "hunter2"});
    modelled(
        model.clone(),
        &["`/Secret`: must have at most 4 characters"],
    );
    assert_eq!(
        example().without_write_only(&model),
        json!({"Name": "abc", "Size": 1})
    );
}

#[test]
fn no_number_is_too_strange() {
    for number in [
        "1e400",
        "-1e-400",
        "1E+2",
        "99999999999999999999999999",
        "-0",
    ] {
        let properties: Value =
            serde_json::from_str(&format!(r#"{{"Name": "abc", "Size": {number}}}"#)).unwrap();
        let _ = example().validate_model(&properties);
    }
}

#[test]
fn what_is_not_a_schema_is_an_error() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(3_000_000));
    let circular = r##"{"typeName": "Acme::Test::Thing", "properties": {"A": {"$ref": "#/definitions/A"}},
        "primaryIdentifier": ["/properties/A"], "definitions": {"A": {"anyOf": [{"$ref": "#/definitions/A"}]}}}"##;
    for (text, expected) in [
        ("", "the schema is not JSON that can be read"),
        (deep.as_str(), "the schema is not JSON that can be read"),
        (
            large.as_str(),
            "the schema has 3000009 bytes; at most 2097152 are accepted",
        ),
        ("[]", "the schema has no `typeName`"),
        (
            r#"{"typeName": "VPC"}"#,
            "`typeName`: 'VPC' is not an AWS resource type name such as AWS::EC2::VPC",
        ),
        (
            r#"{"typeName": "Acme::Test::Thing"}"#,
            "the schema of Acme::Test::Thing has no `properties`",
        ),
        (
            r#"{"typeName": "Acme::Test::Thing", "properties": {}}"#,
            "the schema of Acme::Test::Thing has no `primaryIdentifier`",
        ),
        (
            r#"{"typeName": "Acme::Test::Thing", "properties": {}, "primaryIdentifier": [1]}"#,
            "`primaryIdentifier` is not a list of property paths",
        ),
        (
            circular,
            "the schema of Acme::Test::Thing combines schemas without end",
        ),
    ] {
        assert_eq!(
            ResourceSchema::parse(text).unwrap_err().to_string(),
            expected
        );
    }
}
