//! Compiled schemas.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use serde_json::json;
use ucp_schema::{Catalogue, Classes, ResourceSchema};

/// Paths in the embedded schemas that do not resolve.
const EXCEPTIONS: [(&str, &str); 3] = [
    // The property is called `KMSKeyId`.
    ("AWS::RDS::Integration", "/properties/KmsKeyId"),
    // The property is called `KMSKeyId`.
    ("AWS::Redshift::Integration", "/properties/KmsKeyId"),
    // `OutputConfig` is missing before it: `AsyncInferenceConfig/OutputConfig/KmsKeyId`.
    (
        "AWS::SageMaker::EndpointConfig",
        "/properties/AsyncInferenceOutputConfig/KmsKeyId",
    ),
];

/// The keywords that contain property paths.
const KEYWORDS: [&str; 7] = [
    "primaryIdentifier",
    "readOnlyProperties",
    "createOnlyProperties",
    "conditionalCreateOnlyProperties",
    "writeOnlyProperties",
    "deprecatedProperties",
    "nonPublicProperties",
];

#[test]
fn every_property_path_resolves() {
    let catalogue = Catalogue::embedded();
    let names = catalogue.type_names();
    let schemas: Vec<Arc<ResourceSchema>> = names.filter_map(|name| catalogue.get(name)).collect();
    let mut paths = 0;
    let mut unresolved = Vec::new();
    for schema in &schemas {
        let document = schema.document();
        for keyword in KEYWORDS {
            paths += document[keyword].as_array().map_or(0, Vec::len);
        }
        paths += document["propertyTransform"]
            .as_object()
            .map_or(0, serde_json::Map::len);
        unresolved.extend(
            schema
                .warnings()
                .iter()
                .map(|warning| (schema.type_name().as_str(), warning.message.clone())),
        );
    }
    println!(
        "{} of {paths} property paths of {} types resolve",
        paths - unresolved.len(),
        schemas.len()
    );
    let expected: Vec<(&str, String)> = EXCEPTIONS
        .iter()
        .map(|(name, path)| (*name, format!("{path} leads to no property")))
        .collect();
    assert_eq!(unresolved, expected);
    assert!(paths > 10_000, "{paths}");
}

fn schema(rest: serde_json::Value) -> ResourceSchema {
    let mut document = json!({
        "typeName": "Acme::Thing::Tree",
        "primaryIdentifier": ["/properties/Id"],
    });
    for (keyword, value) in rest.as_object().unwrap() {
        document[keyword] = value.clone();
    }
    ResourceSchema::parse(&document.to_string()).unwrap()
}

#[test]
fn paths_resolve_in_every_spelling_of_the_wild() {
    let schema = schema(json!({
        "properties": {
            "Id": {"type": "string"},
            "Rules": {"type": "array", "items": {"$ref": "#/definitions/Rule"}},
            "Nested": {"type": "object", "properties": {"Rule": {"$ref": "#/definitions/Rule"}}},
            "Map": {"type": "object", "patternProperties": {".*": {"$ref": "#/definitions/Rule"}}},
            "Dotted": {"type": "object", "properties": {"Key": {"type": "string"}}},
            "Set": {"type": "array", "uniqueItems": true, "insertionOrder": false, "items": {}},
        },
        "definitions": {"Rule": {"type": "object", "properties": {
            "A": {"type": "string"}, "B": {"type": "string"}, "C": {"type": "string"},
            "D": {"type": "string"}, "E": {"type": "string"},
        }}},
        "readOnlyProperties": ["/properties/Rules/items/A", "/properties/Map/*/A"],
        "createOnlyProperties": ["properties/Rules/B", "/properties/Nested/properties/Rule/B"],
        "writeOnlyProperties": ["/definitions/Rule/properties/C"],
        "conditionalCreateOnlyProperties": ["/properties/Rules/[*]/D", "/properties/Dotted.Key"],
        "deprecatedProperties": ["/properties/Nowhere"],
    }));
    let rules = schema.root().member("Rules").unwrap().element();
    let nested = schema
        .root()
        .member("Nested")
        .unwrap()
        .member("Rule")
        .unwrap();
    let mapped = schema.root().member("Map").unwrap().member("any").unwrap();
    assert!(rules.member("A").unwrap().is(Classes::READ_ONLY));
    assert!(mapped.member("A").unwrap().is(Classes::READ_ONLY));
    assert!(!nested.member("A").unwrap().is(Classes::READ_ONLY));
    assert!(rules.member("B").unwrap().is(Classes::CREATE_ONLY));
    assert!(nested.member("B").unwrap().is(Classes::CREATE_ONLY));
    for place in [rules, nested, mapped] {
        assert!(place.member("C").unwrap().is(Classes::WRITE_ONLY));
        assert!(place.holds(Classes::WRITE_ONLY));
        assert!(!place.member("E").unwrap().is(Classes::WRITE_ONLY));
    }
    assert!(
        rules
            .member("D")
            .unwrap()
            .is(Classes::CONDITIONAL_CREATE_ONLY)
    );
    let list = |name: &str| schema.root().member(name).unwrap().list();
    assert!(list("Set").is_unique && list("Set").is_unordered);
    assert!(!list("Rules").is_unique && !list("Rules").is_unordered);
    let dotted = schema.root().member("Dotted").unwrap();
    assert!(
        dotted
            .member("Key")
            .unwrap()
            .is(Classes::CONDITIONAL_CREATE_ONLY)
    );
    let warnings: Vec<String> = schema.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["`/deprecatedProperties/0`: /properties/Nowhere leads to no property"]
    );
}

#[test]
fn a_class_covers_what_is_below_and_reaches_into_cycles() {
    let schema = schema(json!({
        "properties": {
            "Id": {"type": "string"},
            "Tree": {"$ref": "#/definitions/Node"},
        },
        "definitions": {"Node": {"type": "object", "properties": {
            "Name": {"type": "string"},
            "Children": {"type": "array", "items": {"$ref": "#/definitions/Node"}},
        }}},
        "createOnlyProperties": ["/properties/Tree/Children"],
    }));
    let tree = schema.root().member("Tree").unwrap();
    assert!(!tree.member("Name").unwrap().is(Classes::CREATE_ONLY));
    let mut node = tree;
    for _ in 0..100 {
        node = node.member("Children").unwrap().element();
        assert!(node.member("Name").unwrap().is(Classes::CREATE_ONLY));
    }
    let path = node.create_only_path().unwrap();
    assert_eq!(path.to_string(), "/properties/Tree/Children");
}

#[test]
fn schemas_that_combine_without_end_are_refused() {
    let link = |index: usize, rest: serde_json::Value| {
        let mut link = rest;
        link["allOf"] = json!([{"$ref": format!("#/definitions/D{index}")}]);
        link
    };
    let beside = |index: usize| link(index, json!({"$ref": "#/definitions/Leaf"}));
    let plain = |index: usize| link(index, json!({}));
    let links: [&dyn Fn(usize) -> serde_json::Value; 2] = [&beside, &plain];
    for link in links {
        let mut definitions = serde_json::Map::new();
        definitions.insert("Leaf".to_owned(), json!({"type": "object"}));
        definitions.insert("D0".to_owned(), json!({"type": "object"}));
        for index in 1..9_000 {
            definitions.insert(format!("D{index}"), link(index - 1));
        }
        // The shortest chains first, so that each is one longer than one that was accepted.
        let property = |index: usize| {
            let name = format!("P{index:05}");
            (name, json!({"$ref": format!("#/definitions/D{index}")}))
        };
        let properties: serde_json::Map<_, _> = (0..9_000).map(property).collect();
        let document = json!({
            "typeName": "Acme::Thing::Chain", "primaryIdentifier": ["/properties/P00000"],
            "properties": properties, "definitions": definitions,
        });
        assert!(ResourceSchema::parse(&document.to_string()).is_err());
    }
}

#[test]
fn lists_are_judged_by_what_schemas_say_and_by_their_names() {
    let catalogue = Catalogue::embedded();
    let list = |type_name: &str, names: &[&str]| {
        let name = ucp_model::TypeName::from_cloudformation(type_name).unwrap();
        let schema = catalogue.get(&name).unwrap();
        let mut cursor = schema.root();
        for name in names {
            cursor = match *name {
                "*" => cursor.element(),
                name => cursor.member(name).unwrap(),
            };
        }
        (cursor.is_unordered(), cursor.list().key.clone())
    };
    let key = |name: &str| Some(name.to_owned());
    const LAMBDA: &str = "AWS::Lambda::Function";
    assert_eq!(list(LAMBDA, &["Layers"]), (false, None));
    assert_eq!(list(LAMBDA, &["VpcConfig", "SubnetIds"]), (true, None));
    assert_eq!(list(LAMBDA, &["Tags"]), (true, key("Key")));
    assert_eq!(
        list("AWS::EFS::FileSystem", &["FileSystemTags"]),
        (true, key("Key"))
    );
    assert_eq!(
        list("AWS::IAM::Role", &["Policies"]),
        (true, key("PolicyName"))
    );
    let targets = list("AWS::ElasticLoadBalancingV2::TargetGroup", &["Targets"]);
    assert_eq!(targets.1, None, "one id may stand for several ports");
}
