//! The Open Service Broker API: instances and bindings that platforms order.

mod bindings;
mod counting;
mod deletions;
mod edited_files;
mod instances;
mod polling;
mod refusals;
mod signing_in;
mod survival;
mod updates;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use ucp_testkit::{Reply, World};

const BUCKET: &str = "5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a01";
const DEV: &str = "5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a02";
const GOLD: &str = "5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a03";
const LOGS: &str = "logs-service";
const SMALL: &str = "logs-small";
const LARGE: &str = "logs-large";
const NAMED: &str = "named-service";
const NET: &str = "net-service";
const PRINCIPAL: &str = "arn:aws:iam::123456789012:root";

/// The path of an instance.
fn at(instance: &str) -> String {
    format!("/v2/service_instances/{instance}")
}

/// The path of a binding.
fn bound(instance: &str, binding: &str) -> String {
    format!("{}/service_bindings/{binding}", at(instance))
}

fn headers(platform: &str) -> Vec<(&'static str, String)> {
    use base64::Engine as _;
    let encode = |text: String| base64::engine::general_purpose::STANDARD.encode(text);
    vec![
        (
            "authorization",
            format!("Basic {}", encode(format!("{platform}:password"))),
        ),
        ("x-broker-api-version", "2.17".to_owned()),
        ("content-type", "application/json".to_owned()),
    ]
}

/// Sends a request of a platform. Nothing is carried out meanwhile.
async fn ask_as(world: &World, platform: &str, method: &str, path: &str, body: &Value) -> Reply {
    let headers = headers(platform);
    let headers: Vec<(&'static str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    world.send_with(&headers, method, path, &body).await
}

async fn ask(world: &World, method: &str, path: &str, body: &Value) -> Reply {
    ask_as(world, "cf", method, path, body).await
}

async fn get(world: &World, path: &str) -> Reply {
    ask(world, "GET", path, &Value::Null).await
}

/// Sends a request of a platform that does not poll, while everything is carried out.
async fn wait(world: &World, method: &str, path: &str, body: &Value) -> Reply {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers("cf") {
        request = request.header(name, value);
    }
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    world
        .send_until_settled(request.body(Body::from(body)).expect("a request"))
        .await
}

/// Sends a change of a platform that polls, and carries it out. Returns the last operation.
async fn change(world: &World, method: &str, path: &str, body: &Value) -> Value {
    let operation = begin(world, method, path, body).await;
    world.settle().await;
    last(world, path, &operation).await
}

/// Sends a change of a platform that polls. Returns the operation.
async fn begin(world: &World, method: &str, path: &str, body: &Value) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    let path = format!("{path}{mark}accepts_incomplete=true");
    let reply = ask(world, method, &path, body).await.expect(202);
    assert_eq!(reply.header("retry-after"), Some("1"));
    reply.body["operation"]
        .as_str()
        .expect("an operation")
        .to_owned()
}

async fn last(world: &World, path: &str, operation: &str) -> Value {
    let path = path.split('?').next().expect("a path");
    let reply = get(
        world,
        &format!("{path}/last_operation?operation={operation}"),
    )
    .await;
    reply.expect(200).body
}

fn succeeded() -> Value {
    json!({"state": "succeeded"})
}

/// The body of a PUT of an instance.
fn order(service: &str, plan: &str, parameters: Value) -> Value {
    json!({"service_id": service, "plan_id": plan, "organization_guid": "org", "space_guid": "space",
        "parameters": parameters})
}

/// Makes an instance of logs.
async fn logs(world: &World, instance: &str, parameters: Value) {
    let made = change(world, "PUT", &at(instance), &order(LOGS, SMALL, parameters)).await;
    assert_eq!(made, succeeded());
}

/// Makes an instance of a bucket.
async fn bucket(world: &World, instance: &str) {
    let made = change(world, "PUT", &at(instance), &order(BUCKET, DEV, json!({}))).await;
    assert_eq!(made, succeeded());
}

/// The body of a PUT of a binding of logs.
fn bind_logs() -> Value {
    json!({"service_id": LOGS, "plan_id": SMALL, "bind_resource": {"app_guid": "app"}})
}

/// The body of a PUT of a binding of a bucket.
fn bind_bucket() -> Value {
    json!({"service_id": BUCKET, "plan_id": DEV, "parameters": {"principal": PRINCIPAL}})
}

/// Deletes an instance, with what it has.
async fn delete(world: &World, instance: &str, service: &str, plan: &str) {
    let path = format!("{}?service_id={service}&plan_id={plan}", at(instance));
    assert_eq!(
        change(world, "DELETE", &path, &Value::Null).await,
        succeeded()
    );
}

#[track_caller]
fn refused(reply: &Reply, status: u16, error: &str) {
    assert_eq!(reply.status, status, "{}", reply.text);
    assert_eq!(reply.body["error"], error, "{}", reply.text);
    assert!(
        reply.body["description"]
            .as_str()
            .is_some_and(|said| said.ends_with('.')),
        "{}",
        reply.text
    );
}

fn live(world: &World, type_name: &str) -> Vec<Value> {
    let resources = world.aws.resources().into_iter();
    let resources = resources.filter(|it| it.type_name.as_str() == type_name);
    resources.map(|it| it.properties).collect()
}
