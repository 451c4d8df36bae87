//! Declarations and schemas that are made to take long. What they take is measured in CPU time of the thread, so that a
//! busy machine makes no difference.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_model::TypeName;
use ucp_sample::cpu_time;
use ucp_schema::{Catalogue, ResourceSchema, Violation};

/// The maximum CPU time of one judgement.
const BOUND: Duration = Duration::from_secs(2);

/// Returns the violations, and asserts that finding them took no more than the bound.
fn judged(what: &str, schema: &ResourceSchema, properties: &Value) -> Vec<Violation> {
    let before = cpu_time();
    let violations = schema.validate_model(properties);
    let took = cpu_time().saturating_sub(before);
    println!("{what}: {took:?}");
    assert!(took < BOUND, "{what}: {took:?}");
    violations
}

fn embedded(name: &str) -> std::sync::Arc<ResourceSchema> {
    let name = TypeName::from_cloudformation(name).expect("a name");
    Catalogue::embedded().get(&name).expect("an embedded type")
}

fn thing(properties: Value) -> ResourceSchema {
    let schema = json!({
        "typeName": "Acme::Test::Thing",
        "properties": properties,
        "primaryIdentifier": ["/properties/Id"],
    });
    ResourceSchema::parse(&schema.to_string()).expect("a schema")
}

/// The pattern is `(?!\s*$).+`. Only backtracking makes it quadratic.
#[test]
fn a_look_ahead_over_spaces_is_linear() {
    let schema = embedded("AWS::SageMaker::Cluster");
    let spaces = " ".repeat(260_000);
    let alarm = json!({"InstanceGroups": [{
        "InstanceGroupName": "a", "InstanceType": "ml.t3.medium", "InstanceCount": 1,
        "ExecutionRole": "arn:aws:iam::123456789012:role/a",
        "LifeCycleConfig": {"OnCreate": "a", "SourceS3Uri": "s3://sagemaker-a"},
        "ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 0 * * ? *)", "DeploymentConfig": {
            "AutoRollbackConfiguration": [{"AlarmName": spaces}]
        }},
    }]});
    let violations = judged("spaces", &schema, &alarm);
    let place = "/InstanceGroups/0/ScheduledUpdateConfig/DeploymentConfig/AutoRollbackConfiguration/0/AlarmName";
    let said: Vec<&str> = violations
        .iter()
        .filter(|violation| violation.pointer == place)
        .map(|violation| violation.message.as_str())
        .collect();
    let expected = format!("`{place}`: must have at most 256 characters");
    assert_eq!(said, [expected]);
}

#[test]
fn violations_are_not_compared_with_each_other() {
    let schema = embedded("AWS::Cognito::UserPool");
    let empty: Vec<&str> = vec![""; 80_000];
    let violations = judged("empty strings", &schema, &json!({"AliasAttributes": empty}));
    assert!(violations.len() >= 80_000, "{}", violations.len());
}

/// What is wrong with each alternative is kept until the nearest is found.
#[test]
fn a_list_of_alternatives_is_weighed_before_it_is_judged() {
    let needs = |name: &str| json!({"type": "object", "required": [name]});
    let alternatives: Vec<Value> = ["A", "B", "C", "D"].map(needs).to_vec();
    let of = |name: &str| json!({"type": "array", "items": {"type": name}});
    let schema = thing(json!({
        "Each": {"type": "array", "items": {"anyOf": alternatives}},
        "All": {"oneOf": [of("string"), of("integer")]},
    }));
    let empty = |count: usize| vec![json!({}); count];
    let refused = |place: &str| {
        let what = "would take more than 50000 checks, since the schema combines many alternatives here; declare less";
        vec![format!("`{place}`: {what}")]
    };
    let said = |properties: Value| -> Vec<String> {
        let violations = judged("alternatives", &schema, &properties);
        violations.iter().map(Violation::to_string).collect()
    };
    for count in [12_501, 49_000] {
        assert_eq!(said(json!({"Each": empty(count)})), refused("/Each"));
    }
    assert_eq!(said(json!({"Each": empty(12_500)})).len(), 12_500);
    assert_eq!(said(json!({"All": empty(49_000)})), refused("/All"));
    // More violations do not make an alternative nearer.
    let violations = schema.validate_declaration(&json!({"All": empty(5_000)}));
    assert_eq!(violations.len(), 100);
}

#[test]
fn a_string_is_matched_only_if_its_length_is_valid() {
    let schema = thing(json!({
        "Short": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
        "Open": {"type": "string", "pattern": "^[a-z]+$"},
    }));
    let said = |properties: Value| -> Vec<String> {
        let violations = judged("lengths", &schema, &properties);
        violations.iter().map(Violation::to_string).collect()
    };
    assert_eq!(
        said(json!({"Short": "A"})),
        ["`/Short`: must have at least 2 characters"]
    );
    assert_eq!(
        said(json!({"Short": "AAAAA"})),
        ["`/Short`: must have at most 4 characters"]
    );
    assert_eq!(
        said(json!({"Short": "AA"})),
        ["`/Short`: must match the pattern `^[a-z]+$`"]
    );
    assert!(said(json!({"Open": "a".repeat(65_536)})).is_empty());
    assert_eq!(
        said(json!({"Open": "a".repeat(65_537)})),
        [
            "`/Open`: must have at most 65536 characters, since it must match a pattern and its schema has no `maxLength`"
        ]
    );
}

/// A back-reference cannot be matched in linear time. It is not checked; AWS checks it.
#[test]
fn a_back_reference_is_not_matched() {
    let schema = thing(json!({
        "Names": {"type": "array", "items": {"type": "string", "pattern": r"^(a*)*\1b$"}},
        "Labels": {"type": "object", "patternProperties": {r"^(a*)*\1b$": {"type": "string"}}},
    }));
    let names: Vec<String> = vec!["a".repeat(30); 20_000];
    let labels: serde_json::Map<String, Value> = (0..5_000)
        .map(|index| (format!("{}{index}", "a".repeat(30)), json!("x")))
        .collect();
    let properties = json!({"Names": names, "Labels": labels});
    assert_eq!(judged("back-references", &schema, &properties), []);
}

/// Seven levels of thirty references each: a value is checked with 30⁷ schemas.
#[test]
fn a_small_schema_that_multiplies_is_refused() {
    let mut definitions = json!({"Level7": {"type": "string"}});
    for level in 0..7 {
        let next = json!({"$ref": format!("#/definitions/Level{}", level + 1)});
        definitions[format!("Level{level}")] = json!({"allOf": vec![next; 30]});
    }
    let schema = json!({
        "typeName": "Acme::Test::Thing",
        "definitions": definitions,
        "properties": {"Name": {"$ref": "#/definitions/Level0"}},
        "primaryIdentifier": ["/properties/Id"],
    });
    let before = cpu_time();
    let refused = ResourceSchema::parse(&schema.to_string()).expect_err("it is refused");
    assert!(cpu_time().saturating_sub(before) < BOUND);
    assert!(
        refused.to_string().contains("`/definitions/Level"),
        "{refused}"
    );
}

#[test]
fn a_schema_has_only_so_many_bytes() {
    const MOST: usize = 2 * 1024 * 1024;
    let of_bytes = |bytes: usize| {
        let start = r#"{"typeName":"Acme::Test::Thing","properties":{},"primaryIdentifier":["/properties/Id"],"description":""#;
        let rest = bytes - start.len() - 2;
        format!("{start}{}\"}}", "x".repeat(rest))
    };
    assert!(ResourceSchema::parse(&of_bytes(MOST)).is_ok());
    let refused = ResourceSchema::parse(&of_bytes(MOST + 1)).expect_err("it is refused");
    assert_eq!(
        refused.to_string(),
        "the schema has 2097153 bytes; at most 2097152 are accepted"
    );
}

#[test]
fn a_schema_combines_only_so_many_others() {
    let of = |schemas: usize| {
        // It is one of them itself.
        let combined = vec![json!({"type": "string"}); schemas - 1];
        json!({
            "typeName": "Acme::Test::Thing",
            "properties": {"Name": {"allOf": combined}},
            "primaryIdentifier": ["/properties/Id"],
        })
    };
    assert!(ResourceSchema::parse(&of(10_000).to_string()).is_ok());
    let refused = ResourceSchema::parse(&of(10_001).to_string()).expect_err("it is refused");
    assert_eq!(
        refused.to_string(),
        "the schema of Acme::Test::Thing combines more than 10000 schemas at `/properties/Name`"
    );
}

/// Each level of the value doubles the work: eight alternatives, each of which has the next level.
#[test]
fn a_value_that_multiplies_is_refused_with_its_place() {
    let next = json!({"type": "object", "properties": {"Next": {"$ref": "#/definitions/Node"}}});
    let schema = json!({
        "typeName": "Acme::Test::Thing",
        "definitions": {"Node": {"anyOf": vec![next; 8]}},
        "properties": {"Name": {"type": "string"}, "Node": {"$ref": "#/definitions/Node"}},
        "primaryIdentifier": ["/properties/Id"],
    });
    let schema = ResourceSchema::parse(&schema.to_string()).expect("a schema");
    let nested = |depth: usize| (0..depth).fold(json!("x"), |value, _| json!({"Next": value}));
    let said: Vec<String> = judged("alternatives", &schema, &json!({"Node": nested(40)}))
        .iter()
        .map(Violation::to_string)
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
    let expected = "would take more than 1000000 checks, since the schema combines many schemas here; declare less";
    assert!(
        said[0].starts_with("`/Node/Next/") && said[0].ends_with(expected),
        "{said:?}"
    );
    assert_ne!(judged("few", &schema, &json!({"Node": nested(3)})).len(), 0);
}
