//! Who calls, the headers of a request, and the catalog.

use serde_json::{Value, json};
use ucp_testkit::{World, apply, on_every_store};

use super::*;

const CATALOG: &str = "/v2/catalog";

fn basic(text: &str) -> String {
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::STANDARD.encode(text);
    format!("Basic {encoded}")
}

#[apply(on_every_store)]
async fn only_platforms_are_served(world: &World) {
    let version = ("x-broker-api-version", "2.17");
    let none = world.send_with(&[version], "GET", CATALOG, "").await;
    refused(&none, 401, "Unauthorized");
    assert!(
        none.header("www-authenticate")
            .unwrap()
            .starts_with("Basic realm=")
    );
    for wrong in [
        basic("cf:wrong"),
        basic("nobody:password"),
        basic("cf"),
        "Basic ???".to_owned(),
        "Bearer password".to_owned(),
    ] {
        let reply = world
            .send_with(&[version, ("authorization", &wrong)], "GET", CATALOG, "")
            .await;
        refused(&reply, 401, "Unauthorized");
    }
    // Each line of the file is valid.
    for right in ["cf:password", "cf:older"] {
        let right = basic(right);
        let reply = world
            .send_with(&[version, ("authorization", &right)], "GET", CATALOG, "")
            .await;
        reply.expect(200);
    }
    // Who may use ARM may not use this.
    let arm = world.call("GET", CATALOG, "").await;
    refused(&arm, 401, "Unauthorized");
}

#[apply(on_every_store)]
async fn the_version_is_two(world: &World) {
    let password = basic("cf:password");
    let signed_in = ("authorization", password.as_str());
    let none = world.send_with(&[signed_in], "GET", CATALOG, "").await;
    refused(&none, 412, "PreconditionFailed");
    for (version, status) in [
        ("2.0", 200),
        ("2.13", 200),
        ("2.99", 200),
        ("3.0", 412),
        ("2", 412),
        ("2.x", 412),
        ("2.", 412),
    ] {
        let headers = [signed_in, ("x-broker-api-version", version)];
        world
            .send_with(&headers, "GET", CATALOG, "")
            .await
            .expect(status);
    }
    let wrong = world
        .send_with(&[("x-broker-api-version", "9.9")], "GET", CATALOG, "")
        .await;
    assert_eq!(wrong.status, 401, "credentials come first");
}

#[apply(on_every_store)]
async fn a_platform_is_shown_what_it_may_order(world: &World) {
    let names = |catalog: &Value| -> Vec<String> {
        let services = catalog["services"].as_array().unwrap().iter();
        services
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = get(world, CATALOG).await.expect(200);
    assert_eq!(names(&all.body), ["bucket", "logs", "named", "net"]);
    let some = ask_as(world, "k8s", "GET", CATALOG, &Value::Null)
        .await
        .expect(200);
    assert_eq!(names(&some.body), ["bucket"]);
    let hidden = order(LOGS, SMALL, json!({}));
    let path = format!("{}?accepts_incomplete=true", at("a"));
    let hidden = ask_as(world, "k8s", "PUT", &path, &hidden).await;
    refused(&hidden, 400, "BadRequest");
    let etag = all.header("etag").unwrap();
    assert_ne!(some.header("etag"), Some(etag));
    let mut headers = headers("cf");
    headers.push(("if-none-match", etag.to_owned()));
    let headers: Vec<(&'static str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let same = world
        .send_with(&headers, "GET", CATALOG, "")
        .await
        .expect(304);
    assert_eq!((same.text.as_str(), same.header("etag")), ("", Some(etag)));
}

#[apply(on_every_store)]
async fn the_identity_of_a_request_comes_back_and_that_of_a_person_is_kept(world: &World) {
    let password = basic("cf:password");
    let person = basic(r#"{"user_id":"ada"}"#).replace("Basic", "cloudfoundry");
    let headers = [
        ("authorization", password.as_str()),
        ("x-broker-api-version", "2.17"),
        ("content-type", "application/json"),
        ("x-broker-api-request-identity", "request-1"),
        ("x-broker-api-originating-identity", person.as_str()),
    ];
    let path = format!("{}?accepts_incomplete=true", at("a"));
    let body = order(BUCKET, DEV, json!({})).to_string();
    let reply = world
        .send_with(&headers, "PUT", &path, &body)
        .await
        .expect(202);
    assert_eq!(
        reply.header("x-broker-api-request-identity"),
        Some("request-1")
    );
    let id = reply.body["operation"].as_str().unwrap();
    let status = format!(
        "/planes/radius/local/providers/System.Resources/locations/global/operationStatuses/{id}?api-version=2023-10-01-preview"
    );
    let status = world.get(&status).await.expect(200).body;
    assert_eq!(status["caller"], "broker:cf");
    assert_eq!(
        status["originatingIdentity"],
        json!({"platform": "cloudfoundry", "value": {"user_id": "ada"}})
    );
    world.settle().await;
    for wrong in [
        "cloudfoundry",
        "cloudfoundry ???",
        &basic("[]").replace("Basic", "x"),
        &basic("no").replace("Basic", "x"),
    ] {
        let mut headers = headers;
        headers[4].1 = wrong;
        let reply = world.send_with(&headers, "PUT", &path, &body).await;
        refused(&reply, 400, "BadRequest");
    }
}

#[apply(on_every_store)]
async fn what_is_not_served_is_said_so(world: &World) {
    refused(&get(world, "/v2/other").await, 404, "NotFound");
    refused(
        &ask(world, "POST", CATALOG, &Value::Null).await,
        405,
        "MethodNotAllowed",
    );
    refused(&get(world, "/v2").await, 404, "NotFound");
}
