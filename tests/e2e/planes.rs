//! Planes (contract section 2).

use axum::http::Method;
use serde_json::{Value, json};
use ucp_testkit::{Reply, World, apply, on_every_store};

const API_VERSION: &str = "api-version=2023-10-01-preview";

fn url(path: &str) -> String {
    format!("{path}?{API_VERSION}")
}

async fn put(world: &World, path: &str, body: &Value) -> Reply {
    world.call("PUT", &url(path), &body.to_string()).await
}

fn ids(list: &Reply) -> Vec<&str> {
    let value = list.body["value"].as_array().expect("a list");
    value
        .iter()
        .map(|plane| plane["id"].as_str().expect("an id"))
        .collect()
}

#[apply(on_every_store)]
async fn the_server_ensures_its_planes(world: &World) {
    let aws = world.get(&url("/planes/aws/aws")).await.expect(200);
    assert_eq!(
        aws.body,
        json!({"id": "/planes/aws/aws", "name": "aws", "type": "System.AWS/planes", "location": "global",
            "tags": {}, "properties": {"credentials": "ambient", "provisioningState": "Succeeded"}})
    );
    let radius = world.get(&url("/planes/radius/local")).await.expect(200);
    assert_eq!(
        radius.body,
        json!({"id": "/planes/radius/local", "name": "local", "type": "System.Radius/planes",
            "location": "global", "tags": {},
            "properties": {"resourceProviders": {}, "provisioningState": "Succeeded"}})
    );
}

/// GET `/planes`: all types, with `provisioningState` as the only property. GET `/planes/{type}`: all properties.
#[apply(on_every_store)]
async fn planes_are_listed_with_and_without_their_settings(world: &World) {
    let settings = json!({"location": "global", "properties": {"resourceProviders": {"A.B": "http://b"}, "secret": "s3cret"}});
    put(world, "/planes/radius/other", &settings)
        .await
        .expect(200);
    let all = world.get(&url("/planes")).await.expect(200);
    assert_eq!(
        ids(&all),
        [
            "/planes/aws/aws",
            "/planes/radius/local",
            "/planes/radius/other"
        ]
    );
    for plane in all.body["value"].as_array().unwrap() {
        assert_eq!(
            plane["properties"],
            json!({"provisioningState": "Succeeded"})
        );
        assert_eq!(plane["location"], "global");
    }
    let radius = world.get(&url("/Planes/RADIUS/")).await.expect(200);
    assert_eq!(
        ids(&radius),
        ["/planes/radius/local", "/planes/radius/other"]
    );
    assert_eq!(radius.body["value"][1]["properties"]["secret"], "s3cret");
    assert!(radius.body.get("nextLink").is_none());
    let aws = world.get(&url("/planes/aws")).await.expect(200);
    assert_eq!(ids(&aws), ["/planes/aws/aws"]);
}

/// PUT: 200 also on first create (D24); replaces tags and properties; id, name and type in the body are ignored.
#[apply(on_every_store)]
async fn a_plane_is_created_and_replaced_in_the_casing_of_its_first_write(world: &World) {
    let body = json!({"id": "/planes/aws/x", "name": "x", "type": "y", "location": "global",
        "tags": {"a": "b"}, "properties": {"setting": [1.10], "provisioningState": "Failed"}});
    let created = put(world, "/planes/AWS/My-Plane", &body).await.expect(200);
    let expected = json!({"id": "/planes/aws/My-Plane", "name": "My-Plane", "type": "System.AWS/planes",
        "location": "global", "tags": {"a": "b"},
        "properties": {"setting": [1.10], "provisioningState": "Succeeded"}});
    assert_eq!(created.body, expected);
    assert_eq!(
        world
            .get(&url("/planes/aws/MY-plane"))
            .await
            .expect(200)
            .body,
        expected
    );
    let replaced = put(world, "/planes/aws/my-plane", &json!({"location": "west"}))
        .await
        .expect(200);
    assert_eq!(
        replaced.body,
        json!({"id": "/planes/aws/My-Plane", "name": "My-Plane", "type": "System.AWS/planes",
            "location": "west", "tags": {}, "properties": {"provisioningState": "Succeeded"}})
    );
}

/// DELETE: 200 without a body; 204 if absent. Records below the plane do not require it.
#[apply(on_every_store)]
async fn a_plane_is_deleted_and_what_lies_below_it_stays(world: &World) {
    let path = url("/planes/radius/Local");
    let deleted = world.call("DELETE", &path, "").await.expect(200);
    assert_eq!(deleted.text, "");
    let again = world.call("DELETE", &path, "").await.expect(204);
    assert_eq!(again.text, "");
    let gone = world.get(&path).await.expect(404);
    assert_eq!(gone.code(), "NotFound");
    assert_eq!(gone.body["error"]["target"], "/planes/radius/Local");
    world.group().await;
    world.put_group("another").await;
    let vpc = world.put_and_settle("AWS.EC2/VPC", "a", json!({"CidrBlock": "10.0.0.0/16"}));
    assert_eq!(vpc.await["status"], "Succeeded");
    let nowhere = url("/planes/radius/nowhere/resourceGroups");
    assert_eq!(
        world.get(&nowhere).await.expect(200).body,
        json!({"value": []})
    );
}

/// 400 `HttpRequestPayloadAPISpecValidationFailed` with every violation (section 9); nothing is written.
#[apply(on_every_store)]
async fn a_plane_is_checked_all_at_once(world: &World) {
    for (path, body, places) in [
        ("/planes/aws/new", json!({}), &["$.location in body"][..]),
        (
            "/planes/aws/-new",
            json!({"location": 7, "tags": {"a": 1}, "properties": "x"}),
            &[
                "'-new'",
                "$.properties in body",
                "$.location in body",
                "$.tags['a'] in body",
            ],
        ),
        (
            "/planes/radius/new",
            json!({"location": "global"}),
            &["$.properties.resourceProviders in body is required"],
        ),
        (
            "/planes/radius/new",
            json!({"location": "global", "properties": {"resourceProviders": {"A.B": 1}}}),
            &["$.properties.resourceProviders['A.B'] in body"],
        ),
        (
            "/planes/radius/new",
            json!({"location": "global", "properties": {"resourceProviders": []}}),
            &["$.properties.resourceProviders in body must be an object"],
        ),
    ] {
        let refused = put(world, path, &body).await.expect(400);
        assert_eq!(refused.code(), "HttpRequestPayloadAPISpecValidationFailed");
        assert_eq!(refused.body["error"]["target"], "ucp/openapi");
        let details = refused.body["error"]["details"].as_array().unwrap();
        assert_eq!(details.len(), places.len(), "{}", refused.text);
        for (detail, place) in details.iter().zip(places) {
            assert_eq!(detail["code"], "InvalidProperties");
            let message = detail["message"].as_str().unwrap();
            assert!(message.starts_with(place), "{message}");
        }
    }
    for (headers, body) in [
        (&[][..], "{"),
        (&[], ""),
        (&[], "[]"),
        (&[], r#"{"location":"a","location":"b"}"#),
        (
            &[("content-type", "text/plain")],
            r#"{"location":"global"}"#,
        ),
    ] {
        let path = url("/planes/aws/new");
        let refused = world
            .send_with(headers, "PUT", &path, body)
            .await
            .expect(400);
        assert_eq!(refused.code(), "HttpRequestPayloadAPISpecValidationFailed");
        let detail = &refused.body["error"]["details"][0];
        assert_eq!(detail["code"], "InvalidRequestContent", "{body}");
    }
    let charset = [("content-type", "Application/JSON; charset=utf-8")];
    let body = r#"{"location":"global"}"#;
    let path = url("/planes/aws/other");
    world
        .send_with(&charset, "PUT", &path, body)
        .await
        .expect(200);
    assert_eq!(
        ids(&world.get(&url("/planes/aws")).await),
        ["/planes/aws/aws", "/planes/aws/other"]
    );
}

/// Other types than `aws` and `radius`: 400 `InvalidPlaneType`.
#[apply(on_every_store)]
async fn unknown_types_of_planes_are_refused(world: &World) {
    for path in ["/planes/azure", "/planes/azure/x", "/planes/%2F/x"] {
        assert_eq!(
            world.get(&url(path)).await.expect(400).code(),
            "InvalidPlaneType"
        );
    }
    let body = json!({"location": "global"});
    let refused = put(world, "/planes/azure/x", &body).await.expect(400);
    assert_eq!(refused.code(), "InvalidPlaneType");
}

/// 400 `InvalidPlaneType` on every path below an unknown plane type, whatever the method.
#[apply(on_every_store)]
async fn nothing_is_served_below_an_unknown_plane_type(world: &World) {
    for path in [
        "/planes/gcp",
        "/planes/gcp/x",
        "/planes/gcp/x/resourcegroups",
        "/planes/gcp/x/resourcegroups/rg/resources",
        "/planes/gcp/x/providers/System.GCP/credentials/default",
        "/Planes/r%C3%A4dius/local/providers",
    ] {
        for method in ["GET", "PUT", "POST", "DELETE"] {
            let body = r#"{"location":"global"}"#;
            let refused = world.call(method, &url(path), body).await.expect(400);
            assert_eq!(refused.code(), "InvalidPlaneType", "{method} {path}");
        }
    }
    for path in ["/planes/aws/aws/nothing", "/planes/radius/local/nothing/x"] {
        let absent = world.get(&url(path)).await.expect(404);
        assert_eq!(absent.code(), "NotFound");
    }
}

/// 400 `InvalidApiVersionParameter` on every route of planes.
#[apply(on_every_store)]
async fn planes_want_an_api_version(world: &World) {
    for path in [
        "/planes",
        "/planes/aws",
        "/planes/aws/aws",
        "/planes/radius/local/providers",
        "/planes/radius/local/providers/AWS.EC2",
    ] {
        for query in ["", "?api-version=2020-01-01"] {
            let refused = world.get(&format!("{path}{query}")).await.expect(400);
            assert_eq!(refused.code(), "InvalidApiVersionParameter");
            assert!(refused.text.contains("2023-10-01-preview"));
        }
    }
    for method in ["PUT", "DELETE"] {
        let refused = world.call(method, "/planes/aws/aws", r#"{"location":"global"}"#);
        assert_eq!(
            refused.await.expect(400).code(),
            "InvalidApiVersionParameter"
        );
    }
}

/// The upstream specification has PATCH, but it is not supported (D25): 405 with the code `BadRequest`.
#[apply(on_every_store)]
async fn a_patch_of_a_plane_is_not_served(world: &World) {
    let path = url("/planes/aws/aws");
    let refused = world
        .call(Method::PATCH.as_str(), &path, "{}")
        .await
        .expect(405);
    assert_eq!(refused.code(), "BadRequest");
    let allowed = refused.header("allow").unwrap();
    for method in ["GET", "HEAD", "PUT", "DELETE"] {
        assert!(allowed.split(',').any(|given| given == method), "{allowed}");
    }
}

/// GET `/planes/radius/{name}/providers` is an empty list, or 404 if the plane is absent. GET of one provider is 404.
#[apply(on_every_store)]
async fn a_radius_plane_has_no_resource_providers(world: &World) {
    let none = world
        .get(&url("/planes/radius/local/Providers"))
        .await
        .expect(200);
    assert_eq!(none.body, json!({"value": []}));
    let one = world
        .get(&url("/planes/radius/local/providers/AWS.EC2"))
        .await
        .expect(404);
    assert_eq!(one.code(), "NotFound");
    for path in [
        "/planes/radius/nowhere/providers",
        "/planes/radius/nowhere/providers/AWS.EC2",
    ] {
        let absent = world.get(&url(path)).await.expect(404);
        assert_eq!(absent.code(), "NotFound");
        assert_eq!(absent.body["error"]["target"], "/planes/radius/nowhere");
    }
}
