//! User-supplied schemas, in lines and in folders.

use std::fs;

use serde_json::{Value, json};

use super::process::{Dialogue, ask, ask_one, ask_with, run};

/// A schema whose only property is create-only.
fn thing() -> Value {
    json!({
        "typeName": "Acme::Things::Thing",
        "properties": {"Name": {"type": "string"}, "Size": {"type": "integer"}},
        "createOnlyProperties": ["/properties/Name"],
        "primaryIdentifier": ["/properties/Name"],
        "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}},
    })
}

fn question(schema: &Value) -> Value {
    json!({
        "id": 1, "typeName": "Acme::Things::Thing", "schema": schema,
        "current": {"Name": "a", "Size": 1}, "desired": {"Name": "a", "Size": 2},
    })
}

#[test]
fn a_schema_in_a_line_is_used_in_place_of_the_known_one() {
    assert_eq!(ask_one(&question(&thing()))["action"], "update");
    let mut fixed = thing();
    fixed["createOnlyProperties"] = json!(["/properties/Name", "/properties/Size"]);
    assert_eq!(
        ask_one(&question(&fixed))["replacePaths"],
        json!(["/properties/Size"])
    );

    // The next line does not have the schema any more.
    let vpc = json!({
        "typeName": "AWS::EC2::VPC", "properties": {"Id": {}, "Name": {"type": "string"}},
        "primaryIdentifier": ["/properties/Id"],
    });
    let mut own = json!({"typeName": "aws::ec2::vpc", "current": {}, "desired": {"Name": "a"}, "schema": vpc});
    let with = own.to_string();
    own["schema"] = Value::Null;
    let answers = ask(format!("{with}\n{own}\n{with}\n"));
    let actions: Vec<&Value> = answers.lines.iter().map(|line| &line["action"]).collect();
    assert_eq!(actions, ["update", "error", "update"]);
    assert_eq!(answers.status, 0);
}

#[test]
fn a_schema_names_its_type_itself() {
    let mut question = question(&thing());
    question["typeName"] = Value::Null;
    assert_eq!(ask_one(&question)["action"], "update");
    question["typeName"] = json!("Acme::Things::Other");
    let answer = ask_one(&question);
    assert_eq!(answer["error"]["code"], "InvalidSchema");
    assert_eq!(
        answer["error"]["message"],
        "line 1: `schema` describes Acme::Things::Thing, but `typeName` is \"Acme::Things::Other\""
    );
}

#[test]
fn a_schema_that_is_none_is_an_error() {
    let without = |keyword: &str| {
        let mut schema = thing();
        schema.as_object_mut().expect("an object").remove(keyword);
        schema
    };
    let with = |keyword: &str, value: Value| {
        let mut schema = thing();
        schema[keyword] = value;
        schema
    };
    let lead_to = |target: &str, definitions: Value| {
        let mut schema = with("definitions", definitions);
        schema["properties"]["Size"] = json!({"$ref": target});
        schema
    };
    let chain: serde_json::Map<String, Value> = (0..500)
        .map(|n| {
            (
                format!("D{n}"),
                json!({"$ref": format!("#/definitions/D{}", n + 1)}),
            )
        })
        .collect();
    let bad = [
        (json!(true), "typeName"),
        (json!("text"), "typeName"),
        (json!({}), "typeName"),
        (with("typeName", json!("Thing")), "'Thing'"),
        (without("properties"), "properties"),
        (with("properties", json!([])), "properties"),
        (without("primaryIdentifier"), "primaryIdentifier"),
        (
            with("createOnlyProperties", json!("/properties/Name")),
            "createOnlyProperties",
        ),
        (with("readOnlyProperties", json!([7])), "readOnlyProperties"),
        (
            lead_to("#/definitions/A", json!({"A": {"$ref": "#/definitions/A"}})),
            "without end",
        ),
        (
            lead_to(
                "#/definitions/A",
                json!({
                    "A": {"allOf": [{"$ref": "#/definitions/B"}]}, "B": {"oneOf": [{}, {"$ref": "#/definitions/A"}]},
                }),
            ),
            "without end",
        ),
        (
            lead_to("#/definitions/D0", Value::Object(chain)),
            "without end",
        ),
        (
            with("description", json!("x".repeat(2 * 1024 * 1024))),
            "at most 2097152",
        ),
    ];
    for (schema, says) in bad {
        let answers = ask(format!("{}\n", question(&schema)));
        let excerpt: String = schema.to_string().chars().take(200).collect();
        assert_eq!(answers.status, 1, "{excerpt}");
        let error = &answers.lines[0]["error"];
        assert_eq!(error["code"], "InvalidSchema", "{excerpt}: {error}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(says), "{excerpt}: {message}");
        assert_eq!(answers.lines[0]["id"], 1);
    }
}

#[test]
fn nesting_without_end_is_an_error_and_not_a_crash() {
    let nested = |depth: usize| {
        let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(depth), "}".repeat(depth));
        question(&thing())
            .to_string()
            .replacen(r#"{"type":"integer"}"#, &deep, 1)
            + "\n"
    };
    assert_eq!(ask(nested(100)).lines[0]["action"], "update");
    for depth in [200, 100_000, 2_000_000] {
        let answers = ask(nested(depth));
        assert_eq!(answers.lines[0]["error"]["code"], "InvalidSchema");
        assert_eq!(answers.lines[0]["id"], 1);
    }
}

#[test]
fn a_schema_that_comes_back_further_down_is_fine() {
    let mut schema = thing();
    schema["properties"]["Size"] = json!({"$ref": "#/definitions/Tree"});
    schema["definitions"] = json!({
        "Tree": {"type": "object", "properties": {"Left": {"$ref": "#/definitions/Tree"}, "Size": {"type": "integer"}}},
    });
    let mut question = question(&schema);
    question["current"]["Size"] = json!({"Left": {"Left": {"Size": 1}}});
    question["desired"]["Size"] = json!({"Left": {"Left": {"Size": 2}}});
    let patch = json!([{"op": "replace", "path": "/Size/Left/Left/Size", "value": 2}]);
    assert_eq!(ask_one(&question)["patch"], patch);
}

/// Input that would take unlimited time or memory to evaluate completely.
#[test]
fn a_schema_takes_no_more_work_than_is_good_for_it() {
    let tree = |definition: Value, read_only: &[String]| {
        let mut schema = thing();
        schema["properties"]["Tree"] = json!({"$ref": "#/definitions/Tree"});
        schema["definitions"] = json!({"Tree": definition});
        schema["readOnlyProperties"] = json!(read_only);
        schema
    };
    let itself = json!({"$ref": "#/definitions/Tree"});
    let branches: serde_json::Map<String, Value> = ('a'..='j')
        .map(|name| (name.to_string(), itself.clone()))
        .collect();
    let nowhere = ["/properties/Tree/Nowhere".to_owned()];
    let anywhere: Vec<String> = (0..25)
        .map(|n| {
            format!(
                "/properties/Tree{}/a{}",
                "/*".repeat(n),
                "/*".repeat(24 - n)
            )
        })
        .collect();
    let far = ["/definitions/Tree/properties/a".to_owned() + &"/b".repeat(60)];
    let mut wide = thing();
    for n in 0..2000 {
        wide["properties"][format!("P{n}")] = json!({"$ref": "#/definitions/All"});
        wide["definitions"][format!("D{n}")] = json!({});
    }
    let all: Vec<Value> = (0..2000)
        .map(|n| json!({"$ref": format!("#/definitions/D{n}")}))
        .collect();
    wide["definitions"]["All"] = json!({"anyOf": all});
    let mut dialogue = Dialogue::start();
    for schema in [
        tree(json!({"type": "array", "items": itself}), &nowhere),
        tree(
            json!({"type": "object", "additionalProperties": itself}),
            &nowhere,
        ),
        tree(
            json!({"properties": branches, "additionalProperties": itself}),
            &anywhere,
        ),
        tree(json!({"properties": branches}), &far),
        wide,
    ] {
        dialogue.say(&format!("{}\n", question(&schema)));
        let action = &dialogue.hear()["action"];
        assert!(action == "update" || action == "replace", "{action}");
    }
    assert_eq!(dialogue.end(), 0);
}

#[test]
fn lists_in_lists_without_order_are_compared_once() {
    let mut schema = thing();
    schema["properties"]["Size"] = json!({"$ref": "#/definitions/Sets"});
    schema["definitions"] = json!({
        "Sets": {
            "type": "array",
            "insertionOrder": false,
            "items": {"type": "object", "properties": {"Size": {"$ref": "#/definitions/Sets"}}},
        },
    });
    let nested = |leaf: u32| {
        let mut value = json!({"Size": [{"Leaf": leaf}]});
        for _ in 0..50 {
            value = json!({"Size": [value]});
        }
        value
    };
    let mut question = question(&schema);
    question["current"] = nested(1);
    question["desired"] = nested(2);
    let mut dialogue = Dialogue::start();
    dialogue.say(&format!("{question}\n"));
    assert_eq!(dialogue.hear()["action"], "update");
    assert_eq!(dialogue.end(), 0);
}

#[test]
fn more_schemas_than_are_remembered() {
    let line = |n: usize| {
        let mut schema = thing();
        schema["description"] = json!(n);
        format!("{}\n", question(&schema))
    };
    let input: String = (0..300).chain(0..300).map(line).collect();
    let answers = ask(input);
    assert_eq!(answers.lines.len(), 600);
    assert!(answers.lines.iter().all(|line| line["action"] == "update"));
}

#[test]
fn a_folder_of_schemas_adds_types_and_replaces_known_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_str().expect("UTF-8");
    let mut vpc = thing();
    vpc["typeName"] = json!("AWS::EC2::VPC");
    fs::write(folder.path().join("any name.json"), thing().to_string()).expect("a file");
    fs::write(folder.path().join("b.json"), vpc.to_string()).expect("a file");
    fs::write(folder.path().join("README.md"), "not a schema").expect("a file");
    let mut question = question(&Value::Null);
    let own = question.to_string();
    question["typeName"] = json!("AWS::EC2::VPC");
    let input = format!("{own}\n{question}\n");
    let actions = |answers: super::process::Answers| {
        let actions = answers.lines.iter().map(|line| line["action"].clone());
        (actions.collect::<Vec<Value>>(), answers.status)
    };
    let given = ask_with(&["--offline", "--schema-dir", path], input.clone());
    assert_eq!(actions(given), (vec![json!("update"), json!("update")], 0));
    assert_eq!(
        actions(ask(input)),
        (vec![json!("error"), json!("error")], 1)
    );

    for text in ["not JSON", "{}", "[]"] {
        fs::write(folder.path().join("wrong.json"), text).expect("a file");
        let output = run(&["--offline", "--schema-dir", path], "");
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("wrong.json"), "{said}");
    }
    let output = run(&["--offline", "--schema-dir", "/no/such/folder"], "");
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/folder"));
}
