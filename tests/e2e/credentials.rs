//! Credentials (contract section 6, with section 9 "ETags" and section 10 "Paging").

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use ucp_model::CredentialId;
use ucp_testkit::{Reply, World, apply, on_every_store};

const K: &str = "/planes/aws/aws/providers/System.AWS/credentials";
const API_VERSION: &str = "api-version=2023-10-01-preview";
const CANARY: &str = "wJalrXUtnFEMI/K7MDENG/canary";

fn url(name: &str) -> String {
    format!("{K}/{name}?{API_VERSION}")
}

fn access_key() -> Value {
    json!({"location": "global", "tags": {"env": "dev"}, "properties": {"kind": "AccessKey",
        "accessKeyId": "AKIA1", "secretAccessKey": CANARY,
        "storage": {"kind": "Internal", "secretName": "the-client-s"}}})
}

fn role() -> Value {
    json!({"location": "global", "properties": {"kind": "IRSA", "roleARN": "arn:aws:iam::1:role/r",
        "storage": {"kind": "Internal"}}})
}

async fn put(world: &World, name: &str, body: &Value) -> Reply {
    world.call("PUT", &url(name), &body.to_string()).await
}

/// A request with an additional header.
async fn send(world: &World, method: &str, path: &str, header: (&str, &str), body: &str) -> Reply {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header(header.0, header.1)
        .body(Body::from(body.to_owned()))
        .expect("a request");
    world.send(request).await
}

#[apply(on_every_store)]
async fn an_access_key_is_put_read_and_listed_without_its_secret(world: &World) {
    let created = put(world, "Default", &access_key()).await.expect(200);
    assert_eq!(
        created.body,
        json!({"id": format!("{K}/Default"), "name": "Default", "type": "System.AWS/credentials",
            "location": "global", "tags": {"env": "dev"}, "properties": {"kind": "AccessKey",
            "accessKeyId": "AKIA1", "storage": {"kind": "Internal", "secretName": "aws-aws-default"}}})
    );
    let read = world.get(&url("Default")).await.expect(200);
    assert_eq!(read.body, created.body);
    assert_eq!(read.header("etag"), created.header("etag"));
    let listed = world.get(&format!("{K}?{API_VERSION}")).await.expect(200);
    assert_eq!(listed.body, json!({"value": [created.body]}));
    for reply in [created, read, listed] {
        assert!(
            !reply.text.contains("canary") && !format!("{:?}", reply.headers).contains("canary")
        );
    }
}

#[apply(on_every_store)]
async fn a_put_replaces_all_and_keeps_the_first_casing(world: &World) {
    let created = put(world, "My-Key", &access_key()).await.expect(200);
    let replaced = put(world, "mY-kEY", &role()).await.expect(200);
    assert_eq!(
        replaced.body,
        json!({"id": format!("{K}/My-Key"), "name": "My-Key", "type": "System.AWS/credentials",
            "location": "global", "tags": {}, "properties": {"kind": "IRSA",
            "roleARN": "arn:aws:iam::1:role/r", "storage": {"kind": "Internal", "secretName": "aws-aws-my-key"}}})
    );
    assert_ne!(replaced.header("etag"), created.header("etag"));
    let anywhere = format!("/Planes/AWS/aws/Providers/system.aws/CREDENTIALS/MY-KEY?{API_VERSION}");
    assert_eq!(world.get(&anywhere).await.expect(200).body, replaced.body);
    let stored = CredentialId::new("aws", "my-key").unwrap();
    let stored = world.store.get_credential(&stored).await.unwrap().unwrap();
    assert_eq!(stored.secret, None, "the secret went with the access key");
}

/// A client that reads, changes and puts back has no secret to send. It gets an error; the old secret is not kept,
/// since the key may be a different one.
#[apply(on_every_store)]
async fn an_access_key_needs_its_secret_each_time(world: &World) {
    let created = put(world, "default", &access_key()).await.expect(200);
    let again = put(world, "default", &created.body).await.expect(400);
    assert_eq!(again.code(), "HttpRequestPayloadAPISpecValidationFailed");
    assert!(
        again.text.contains("$.properties.secretAccessKey"),
        "{}",
        again.text
    );
    let unchanged = world.get(&url("default")).await.expect(200);
    assert_eq!(unchanged.header("etag"), created.header("etag"));
}

#[apply(on_every_store)]
async fn a_credential_is_deleted_once(world: &World) {
    put(world, "default", &access_key()).await.expect(200);
    let deleted = world.call("DELETE", &url("DEFAULT"), "").await.expect(200);
    assert!(deleted.text.is_empty());
    let again = world.call("DELETE", &url("default"), "").await.expect(204);
    assert!(again.text.is_empty());
    let missing = world.get(&url("default")).await.expect(404);
    assert_eq!(missing.code(), "NotFound");
    assert_eq!(missing.body["error"]["target"], format!("{K}/default"));
    let listed = world.get(&format!("{K}?{API_VERSION}")).await.expect(200);
    assert_eq!(listed.body, json!({"value": []}));
}

/// The table "ETags" of section 9.
#[apply(on_every_store)]
async fn etags_guard_writes_and_deletes(world: &World) {
    let body = access_key().to_string();
    let put_if =
        async |header, value| send(world, "PUT", &url("default"), (header, value), &body).await;
    let delete_if =
        async |value| send(world, "DELETE", &url("default"), ("if-match", value), "").await;

    for value in ["*", "\"1\""] {
        let refused = put_if("if-match", value).await.expect(412);
        assert_eq!(refused.code(), "PreconditionFailed");
        assert_eq!(refused.body["error"]["target"], format!("{K}/default"));
    }
    delete_if("\"1\"").await.expect(204);
    world.get(&url("default")).await.expect(404);

    let first = put_if("if-none-match", "*").await.expect(200);
    let first = first.header("etag").expect("an ETag").to_owned();
    put_if("if-none-match", "*").await.expect(412);
    let second = put_if("if-match", &first).await.expect(200);
    let second = second.header("etag").expect("an ETag").to_owned();
    assert_ne!(first, second);
    put_if("if-match", &first).await.expect(412);
    assert_eq!(
        delete_if(&first).await.expect(412).code(),
        "PreconditionFailed"
    );
    let third = put_if("if-match", "*").await.expect(200);
    delete_if(third.header("etag").expect("an ETag"))
        .await
        .expect(200);
}

#[apply(on_every_store)]
async fn the_list_is_paged(world: &World) {
    let names: Vec<String> = (0..12).map(|number| format!("Key-{number:02}")).collect();
    for name in &names {
        put(world, name, &role()).await.expect(200);
    }
    let other = format!("/planes/aws/other/providers/System.AWS/credentials/key-00?{API_VERSION}");
    world
        .call("PUT", &other, &role().to_string())
        .await
        .expect(200);

    for (query, sizes) in [
        ("", vec![12]),
        ("&top=5", vec![5, 5, 2]),
        ("&$top=6", vec![6, 6]),
        ("&top=20", vec![12]),
    ] {
        let mut next = Some(format!("{K}?{API_VERSION}{query}"));
        let (mut seen, mut found) = (Vec::new(), Vec::new());
        while let Some(path) = next {
            let page = world.get(&path).await.expect(200).body;
            let value = page["value"].as_array().unwrap();
            seen.push(value.len());
            found.extend(
                value
                    .iter()
                    .map(|item| item["name"].as_str().unwrap().to_owned()),
            );
            next = page.get("nextLink").map(|link| {
                let link = link.as_str().unwrap();
                assert!(
                    link.contains(API_VERSION) && link.contains("top="),
                    "{link}"
                );
                link.strip_prefix("http://localhost:8787")
                    .expect("an absolute link")
                    .to_owned()
            });
        }
        assert_eq!(seen, sizes, "{query}");
        assert_eq!(found, names, "{query}");
    }
    for query in [
        "top=0",
        "top=1001",
        "top=x",
        "skipToken=%2F",
        "skipToken=bogus",
    ] {
        let refused = world
            .get(&format!("{K}?{API_VERSION}&{query}"))
            .await
            .expect(400);
        assert_eq!(refused.code(), "BadRequest", "{query}");
    }
}

#[apply(on_every_store)]
async fn the_api_version_is_checked(world: &World) {
    for (method, path) in [
        ("GET", K.to_owned()),
        ("GET", format!("{K}/default")),
        ("PUT", format!("{K}/default")),
        ("DELETE", format!("{K}/default?api-version=2022-01-01")),
    ] {
        let refused = world
            .call(method, &path, &access_key().to_string())
            .await
            .expect(400);
        assert_eq!(
            refused.code(),
            "InvalidApiVersionParameter",
            "{method} {path}"
        );
    }
    world.call("PATCH", &url("default"), "{}").await.expect(405);
}

#[apply(on_every_store)]
async fn a_body_that_is_wrong_is_refused_and_its_secret_not_repeated(world: &World) {
    let without = |member: &str| {
        let mut body = access_key();
        body["properties"].as_object_mut().unwrap().remove(member);
        body
    };
    let with = |member: &str, value: Value| {
        let mut body = access_key();
        body["properties"][member] = value;
        body
    };
    let mut no_location = access_key();
    no_location.as_object_mut().unwrap().remove("location");
    let mut no_role = role();
    no_role["properties"]
        .as_object_mut()
        .unwrap()
        .remove("roleARN");
    let wrong = [
        (no_location, "$.location"),
        (json!({"location": "global"}), "$.properties"),
        (
            json!({"location": "global", "properties": null}),
            "$.properties",
        ),
        (
            json!({"location": "global", "properties": [CANARY]}),
            "$.properties",
        ),
        (without("storage"), "$.properties.storage"),
        (
            with("storage", json!({"kind": CANARY})),
            "$.properties.storage.kind",
        ),
        (with("storage", json!({})), "$.properties.storage.kind"),
        (without("kind"), "$.properties.kind"),
        (with("kind", json!("")), "$.properties.kind"),
        (without("accessKeyId"), "$.properties.accessKeyId"),
        (without("secretAccessKey"), "$.properties.secretAccessKey"),
        (
            with("secretAccessKey", json!("")),
            "$.properties.secretAccessKey",
        ),
        (
            with("secretAccessKey", json!(["canary"])),
            "$.properties.secretAccessKey",
        ),
        (
            with("secretAccessKey", json!("canary\n")),
            "$.properties.secretAccessKey",
        ),
        (no_role, "$.properties.roleARN"),
    ];
    for (body, place) in wrong {
        let refused = put(world, "default", &body).await.expect(400);
        assert_eq!(
            refused.code(),
            "HttpRequestPayloadAPISpecValidationFailed",
            "{body}"
        );
        assert_eq!(refused.body["error"]["target"], "ucp/openapi");
        let detail = &refused.body["error"]["details"][0];
        assert_eq!(detail["code"], "InvalidProperties");
        let message = detail["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("{place} ")), "{message}");
        assert!(!refused.text.contains("canary"), "{}", refused.text);
    }
    let unknown = put(world, "default", &with("kind", json!("canary")))
        .await
        .expect(400);
    assert_eq!(unknown.code(), "BadRequest");
    assert!(!unknown.text.contains("canary"), "{}", unknown.text);

    let broken = format!(
        "{{\"properties\":{{\"secretAccessKey\":\"{CANARY}\",\"secretAccessKey\":\"{CANARY}\"}}}}"
    );
    let broken = [
        broken,
        format!("{{\"properties\":{{\"secretAccessKey\":\"{CANARY}"),
    ];
    for body in broken {
        let refused = world.call("PUT", &url("default"), &body).await.expect(400);
        assert_eq!(
            refused.body["error"]["details"][0]["code"],
            "InvalidRequestContent"
        );
        assert!(!refused.text.contains("canary"), "{}", refused.text);
    }
    let text = ("content-type", "text/plain");
    let untyped = Request::builder()
        .method("PUT")
        .uri(url("default"))
        .header("host", "localhost")
        .header(text.0, text.1);
    let untyped = untyped.body(Body::from(access_key().to_string())).unwrap();
    let refused = world.send(untyped).await.expect(400);
    assert_eq!(
        refused.body["error"]["details"][0]["code"],
        "InvalidRequestContent"
    );
    for name in ["1st", "-a", "a_b", "a".repeat(64).as_str()] {
        let refused = put(world, name, &access_key()).await.expect(400);
        assert_eq!(
            refused.code(),
            "HttpRequestPayloadAPISpecValidationFailed",
            "{name}"
        );
    }
    world.get(&url("default")).await.expect(404);
}
