//! The examples of the OpenAPI document, as the page at `/docs` fills them in: they work at a click.

use serde_json::{Value, json};
use ucp_testkit::{World, apply, on_every_store};

/// An operation of the document.
struct Example {
    id: String,
    method: String,
    /// The path and the query, with the parameters that the page fills in.
    target: String,
    body: Option<Value>,
    may_succeed: bool,
}

fn examples() -> Vec<Example> {
    let document: Value = serde_json::from_str(&ucp_api::openapi_json()).expect("JSON");
    let mut examples = Vec::new();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            examples.push(example(path, method, operation));
        }
    }
    examples
}

fn example(path: &str, method: &str, operation: &Value) -> Example {
    let place = format!("{method} {path}");
    let (mut target, mut query) = (path.to_owned(), Vec::new());
    let parameters = operation["parameters"].as_array();
    for parameter in parameters.into_iter().flatten() {
        let name = parameter["name"].as_str().expect("a name");
        let value = match &parameter["example"] {
            Value::Null if parameter["required"] != true => continue,
            Value::Null => panic!("{place}: {name} has no example"),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match parameter["in"].as_str() {
            Some("path") => target = target.replace(&format!("{{{name}}}"), &value),
            Some("query") => query.push(format!("{name}={value}")),
            other => panic!("{place}: {name} is filled in in {other:?}"),
        }
    }
    if !query.is_empty() {
        target += &format!("?{}", query.join("&"));
    }
    let content = operation.pointer("/requestBody/content/application~1json");
    let body = content.map(|content| content["example"].clone());
    assert_ne!(body, Some(Value::Null), "{place}: the body has no example");
    let responses = operation["responses"].as_object().expect("responses");
    Example {
        id: operation["operationId"].as_str().expect("an id").to_owned(),
        method: method.to_uppercase(),
        target,
        body,
        // An operation, a plan and a refactor have an id that nobody knows beforehand.
        may_succeed: !path.contains("{id}")
            && !path.contains("{plan}")
            && !path.contains("{refactor}")
            // It would be left in AWS, and nobody would own it.
            && !path.ends_with("/:release")
            && responses.keys().any(|status| status.starts_with('2')),
    }
}

/// The order in which a reader would try them.
fn rank(example: &Example) -> u8 {
    match (example.id.as_str(), example.method.as_str()) {
        ("put_resource_group", _) => 0,
        (_, "PUT") => 1,
        ("put_aws_resource", _) => 2,
        ("import_aws_resource" | "import_resource_group_resources", _) => 3,
        (_, "PATCH") => 4,
        (_, "GET") | ("get_aws_resource", _) => 5,
        ("delete_resource_group" | "delete_resource_group_as_said", _) => 8,
        ("release_reference", _) => 9,
        (_, "DELETE") | ("delete_aws_resource", _) => 7,
        (_, _) => 6,
    }
}

#[apply(on_every_store)]
async fn each_works_at_a_click(world: &World) {
    let mut examples = examples();
    examples.sort_by_key(rank);
    for example in &examples {
        let body = example.body.as_ref().map(Value::to_string);
        let body = body.unwrap_or_default();
        let reply = world
            .call_until_settled(&example.method, &example.target, &body)
            .await;
        world.settle().await;
        let worked = (200..300).contains(&reply.status);
        assert!(
            worked || !example.may_succeed && reply.status == 404,
            "{} {}: {}",
            example.method,
            example.target,
            reply.text
        );
    }
    // The planes that a server needs are still as they were.
    let version = "api-version=2023-10-01-preview";
    let planes = world
        .get(&format!("/planes?{version}"))
        .await
        .expect(200)
        .body;
    let names: Vec<&Value> = planes["value"]
        .as_array()
        .expect("planes")
        .iter()
        .map(|plane| &plane["id"])
        .collect();
    assert_eq!(
        names,
        [&json!("/planes/aws/aws"), &json!("/planes/radius/local")]
    );
}

#[test]
fn none_has_an_option_that_was_not_asked_for() {
    for example in examples() {
        for option in [
            "ownedResource",
            "replacementPolicy",
            "updateMode",
            "adoptionPolicy",
            "defaultTags",
        ] {
            let has = example
                .body
                .as_ref()
                .is_some_and(|body| body.get(option).is_some());
            assert!(!has, "{}: {option}", example.id);
        }
        let is_signing = example.target.contains("/credentials/default");
        assert!(!is_signing, "{} names the credential in use", example.id);
    }
}
