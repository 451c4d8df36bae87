//! The schemas of parameters: what becomes of those of types, and how keywords narrow them.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]

use serde_json::{Map, Value, json};
use ucp_offerings::{Offerings, SourceFile};
use ucp_schema::Catalogue;

fn catalogue(properties: &Value, definitions: &Value) -> Catalogue {
    let schema = json!({
        "typeName": "AWS::A::B", "description": "", "properties": properties, "definitions": definitions,
        "additionalProperties": false, "primaryIdentifier": ["/properties/Id"],
        "readOnlyProperties": ["/properties/Id", "/properties/Part/Arn", "/properties/List/*/Arn", "/properties/Either/Arn"],
        "handlers": {"create": {}, "update": {}, "delete": {}},
    });
    let mut catalogue = Catalogue::embedded();
    catalogue.with_schema(&schema.to_string()).unwrap();
    catalogue
}

/// Reads an offering with one parameter.
fn read(
    property: Value,
    definitions: Value,
    at: &str,
    keywords: &str,
    plan: &str,
) -> Result<Offerings, Vec<String>> {
    let name = at.split('/').next().unwrap();
    let properties = json!({"Id": {"type": "string"}, name: property});
    let text = format!(
        "name = \"a\"\nid = \"a\"\ndescription = \"a\"\n[resources.r]\ntype = \"AWS::A::B\"\n[parameters.p]\nat = \"r/{at}\"\n{keywords}\n[[plans]]\nid = \"b\"\nname = \"b\"\ndescription = \"b\"\n{plan}\n"
    );
    let name = "a.toml".to_owned();
    let read = Offerings::read(
        &[SourceFile { name, text }],
        &catalogue(&properties, &definitions),
    );
    read.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

fn shown(offerings: &Offerings) -> Value {
    let catalog = offerings.catalog(|_| true);
    let place = "/services/0/plans/0/schemas/service_instance/create/parameters";
    let schema = catalog.pointer(place).unwrap();
    assert!(jsonschema::draft4::meta::is_valid(schema), "{schema}");
    schema["properties"]["p"].clone()
}

fn flat(property: Value, definitions: Value, at: &str) -> Value {
    shown(&read(property, definitions, at, "", "").unwrap())
}

#[test]
fn a_type_is_shown_in_draft_04_without_references() {
    for (property, expected) in [
        (json!({"const": 5}), json!({"enum": [5]})),
        (
            json!({"type": "number", "exclusiveMinimum": 3, "maximum": 9, "exclusiveMaximum": 7}),
            json!({"type": "number", "minimum": 3, "exclusiveMinimum": true, "maximum": 7, "exclusiveMaximum": true}),
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 3, "minimum": 5}),
            json!({"type": "number", "minimum": 5}),
        ),
        (
            json!({"type": "string", "format": "uri", "examples": ["a"], "default": "b", "insertionOrder": false}),
            json!({"type": "string"}),
        ),
        (
            json!({"type": "object", "required": [], "if": {"required": ["A"]}, "then": false, "properties": {"A": true}}),
            json!({"type": "object", "properties": {"A": {}}}),
        ),
        (
            json!({"enum": ["a", "a", "b"], "type": "string"}),
            json!({"enum": ["a", "b"], "type": "string"}),
        ),
        // A pattern that only Java reads would be of no use to platforms.
        (
            json!({"type": "string", "pattern": "^(?s).+$"}),
            json!({"type": "string"}),
        ),
        (json!({"$ref": "#/definitions/Missing"}), json!({})),
        (
            json!({"$ref": "#/definitions/Name"}),
            json!({"type": "string", "maxLength": 3}),
        ),
    ] {
        let definitions = json!({"Name": {"type": "string", "maxLength": 3}});
        assert_eq!(
            flat(property.clone(), definitions, "X"),
            expected,
            "{property}"
        );
    }
}

#[test]
fn read_only_members_are_taken_out() {
    let part = json!({"type": "object", "additionalProperties": false, "required": ["Arn", "Name"],
        "properties": {"Arn": {"type": "string"}, "Name": {"type": "string"}}});
    let expected = json!({"type": "object", "additionalProperties": false, "required": ["Name"],
        "properties": {"Name": {"type": "string"}}});
    assert_eq!(flat(part.clone(), json!({}), "Part"), expected);
    let list = json!({"type": "array", "items": {"$ref": "#/definitions/Part"}});
    let listed = flat(list, json!({"Part": part}), "List");
    assert_eq!(listed, json!({"type": "array", "items": expected}));
    // Alternatives that exclude each other by it do so no more, and what is not allowed may be.
    let either = json!({"type": "object", "properties": {"Arn": {}, "Name": {}}, "not": {"required": ["Arn"]},
        "oneOf": [{"required": ["Arn"]}, {"required": ["Name"]}]});
    let expected = json!({"type": "object", "properties": {"Name": {}}, "anyOf": [{}, {"required": ["Name"]}]});
    assert_eq!(flat(either, json!({}), "Either"), expected);
}

#[test]
fn what_contains_itself_is_cut_off() {
    let tree = json!({"type": "object", "additionalProperties": false,
        "properties": {"Value": {"type": "string"}, "Children": {"type": "array", "items": {"$ref": "#/definitions/Tree"}}}});
    let expected = json!({"type": "object", "additionalProperties": false,
        "properties": {"Value": {"type": "string"}, "Children": {"type": "array", "items": {"type": "object"}}}});
    let property = json!({"$ref": "#/definitions/Tree"});
    assert_eq!(flat(property, json!({"Tree": tree}), "X"), expected);
}

/// Each level has ten of the next: written out, ten levels would have ten thousand million schemas.
#[test]
fn what_is_too_large_is_shown_less_deep() {
    let mut definitions = Map::new();
    for level in 0..10 {
        let next = json!({"$ref": format!("#/definitions/L{}", level + 1)});
        let members = (0..10).map(|index| (format!("M{index}"), next.clone()));
        let members: Map<String, Value> = members.collect();
        definitions.insert(
            format!("L{level}"),
            json!({"type": "object", "properties": members}),
        );
    }
    definitions.insert("L10".to_owned(), json!({"type": "string"}));
    let property = json!({"$ref": "#/definitions/L0"});
    let schema = flat(property, Value::Object(definitions), "X");
    let size = schema.to_string().len();
    assert!((1_000..64_000).contains(&size), "{size}");
    assert_eq!(
        schema["properties"]["M0"]["properties"]["M1"]["type"],
        "object"
    );
}

#[test]
fn a_place_in_alternatives_is_found() {
    let property = json!({"type": "object", "oneOf": [
        {"properties": {"A": {"type": "string"}}}, {"properties": {"A": {"type": "integer"}, "B": {}}},
    ]});
    let expected =
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "type": ["string", "number"]});
    assert_eq!(flat(property, json!({}), "X/A"), expected);
    let property = json!({"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "boolean"}});
    assert_eq!(
        flat(property.clone(), json!({}), "X/x-a"),
        json!({"type": "string"})
    );
    assert_eq!(flat(property, json!({}), "X/a"), json!({"type": "boolean"}));
}

/// What the narrowed schema shows is what is judged.
#[test]
fn keywords_narrow_and_plans_narrow_further() {
    let property = json!({"type": "string", "pattern": "^a", "minLength": 1});
    let keywords = "pattern = \"b\"\nminLength = 2\ndescription = \"d\"\ntitle = \"t\"";
    let plan = "parameters.p = { pattern = \"c$\", maxLength = 4, default = \"abc\" }";
    let offerings = read(property, json!({}), "X", keywords, plan).unwrap();
    let expected = json!({
        "type": "string", "pattern": "c$", "minLength": 2, "maxLength": 4, "default": "abc",
        "description": "d", "title": "t", "allOf": [{"pattern": "^a"}, {"pattern": "b"}],
    });
    assert_eq!(shown(&offerings), expected);
    let plan = offerings.offering("a").unwrap().plan("b").unwrap();
    let accepts = |text: &str| {
        let given = Map::from_iter([("p".to_owned(), Value::from(text))]);
        plan.judge_create(&given).is_ok()
    };
    for (text, is_right) in [
        ("abc", true),
        ("a-bc", true),
        ("ac", false),
        ("bc", false),
        ("ab", false),
        ("aabbc", false),
    ] {
        assert_eq!(accepts(text), is_right, "{text}");
    }
}

#[test]
fn bounds_narrow_whether_they_are_exclusive_or_not() {
    let of = |keywords: &str| {
        let property = json!({"type": "number", "exclusiveMinimum": 3, "maximum": 9});
        let read = read(property, json!({}), "X", keywords, "");
        read.map(|offerings| shown(&offerings))
    };
    let expected = |minimum: Value| {
        let mut schema = json!({"type": "number", "maximum": 9});
        schema
            .as_object_mut()
            .unwrap()
            .extend(minimum.as_object().cloned().unwrap());
        Ok(schema)
    };
    assert_eq!(
        of("minimum = 3"),
        expected(json!({"minimum": 3, "exclusiveMinimum": true}))
    );
    assert_eq!(of("minimum = 4"), expected(json!({"minimum": 4})));
    assert_eq!(
        of("minimum = 4\nexclusiveMinimum = true"),
        expected(json!({"minimum": 4, "exclusiveMinimum": true}))
    );
    assert_eq!(
        of("minimum = 2"),
        Err(vec![
            "a.toml:8: `minimum` only narrows: it is 3 or more".to_owned()
        ])
    );
    assert_eq!(
        of("exclusiveMinimum = false"),
        Err(vec![
            "a.toml:8: `exclusiveMinimum` only narrows: it is true".to_owned()
        ])
    );
    assert_eq!(
        of("minimum = 10"),
        Err(vec![
            "a.toml:8: no value fits: `minimum` is more than `maximum`".to_owned()
        ])
    );
    assert_eq!(
        of("type = \"integer\"\nmultipleOf = 2").map(|schema| schema["multipleOf"].clone()),
        Ok(json!(2))
    );
}

/// A value that is wrong in each of its many parts is refused in a few words.
#[test]
fn what_is_wrong_everywhere_is_not_told_everywhere() {
    let branches: Vec<Value> = (0..100)
        .map(|index| json!({"type": "object", "required": [format!("M{index}")]}))
        .collect();
    let property = json!({"type": "array", "items": {"type": "object", "anyOf": branches}});
    let offerings = read(property, json!({}), "X", "", "").unwrap();
    let plan = offerings.offering("a").unwrap().plan("b").unwrap();
    let told = |count: usize| {
        let given = Map::from_iter([("p".to_owned(), json!(vec![json!({}); count]))]);
        plan.judge_create(&given).unwrap_err()
    };
    assert_eq!(told(1)[0].to_string(), "`/p/0/M0` is required");
    assert_eq!(told(200).len(), 100);
    let many = told(20_000);
    assert_eq!(
        many[0].to_string(),
        "`/p` does not fit its schema in the catalog, and is too large to say where"
    );
    assert_eq!(many.len(), 1);
}
