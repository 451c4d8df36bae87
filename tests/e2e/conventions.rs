//! Conventions that hold on every route (contract section 1).

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use ucp_testkit::{ACCOUNT, GROUP, REGION, Reply, World, apply, on_every_store, tracked_by};

const API_VERSION: &str = "api-version=2023-10-01-preview";
const BASE: &str = "/apis/api.ucp.dev/v1alpha3";

fn vpcs() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC")
}

fn put_body(alias: &str) -> String {
    let tracked_by = tracked_by("AWS.EC2/VPC", alias);
    json!({"trackedBy": tracked_by, "properties": {"CidrBlock": "10.0.0.0/16"}}).to_string()
}

async fn under_base() -> World {
    let base = BASE.parse().expect("a path base");
    World::builder().path_base(base).build().await
}

/// Rows "Path base" and "Resource id": the base is part of `Location` and `Azure-AsyncOperation`, but not of ids.
#[tokio::test]
async fn the_path_base_is_in_urls_and_not_in_ids() {
    let world = under_base().await;
    let group = world
        .get(&format!("{BASE}{GROUP}?{API_VERSION}"))
        .await
        .expect(200);
    assert_eq!(group.body["id"], "/planes/radius/local/resourcegroups/rg");

    let put = format!("{BASE}{}/:put", vpcs());
    let reply = world.call("POST", &put, &put_body("a")).await.expect(201);
    let url = format!("http://localhost:8787{BASE}/planes/aws/aws/accounts/{ACCOUNT}");
    for header in ["azure-asyncoperation", "location"] {
        let value = reply.header(header).unwrap();
        assert!(value.starts_with(&url), "{value}");
    }
    let status = world.status(&reply).await;
    assert!(
        status["id"]
            .as_str()
            .unwrap()
            .starts_with("/planes/aws/aws/")
    );
    let path = reply
        .header("location")
        .unwrap()
        .strip_prefix("http://localhost:8787")
        .unwrap();
    let running = world.get(path).await.expect(202);
    assert_eq!(running.header("location"), reply.header("location"));
    world.settle().await;
    let resource = world.get(path).await.expect(200);
    let id = resource.body["id"].as_str().unwrap();
    assert!(id.starts_with(&vpcs()), "{id}");

    let shouted = BASE.to_uppercase();
    world
        .get(&format!("{shouted}{GROUP}/?{API_VERSION}"))
        .await
        .expect(200);
}

/// With a path base, planes are served only under it; elsewhere the message says where they are.
#[tokio::test]
async fn planes_are_served_under_the_path_base_alone() {
    let world = under_base().await;
    for path in [
        GROUP.to_owned(),
        format!("/{GROUP}"),
        format!("/apis{GROUP}"),
        format!("{BASE}x{GROUP}"),
    ] {
        let elsewhere = world
            .get(&format!("{path}?{API_VERSION}"))
            .await
            .expect(404);
        assert_eq!(elsewhere.code(), "NotFound");
        if path == GROUP {
            assert!(
                elsewhere.text.contains(&format!("{BASE}{GROUP}")),
                "{}",
                elsewhere.text
            );
        }
    }
    world.get("/healthz").await.expect(200);
    world.get("/readyz").await.expect(200);
    let document = world.get("/openapi.json").await.expect(200);
    assert_eq!(document.body["servers"], json!([{"url": BASE}]));
}

/// Row "Server root": the discovery documents, which exist only with a path base.
#[tokio::test]
async fn a_path_base_can_be_discovered() {
    let world = under_base().await;
    for path in [BASE.to_owned(), format!("{BASE}/")] {
        let root = world.get(&path).await.expect(200);
        assert_eq!(
            root.body,
            json!({"kind": "APIResourceList", "apiVersion": "v1alpha3",
                "groupVersion": "api.ucp.dev/v1alpha3", "resources": []})
        );
    }
    assert_eq!(
        world.get("/openapi/v2").await.expect(200).body["swagger"],
        "2.0"
    );
    assert_eq!(
        world.get("/openapi/v3").await.expect(200).body,
        json!({"paths": {}})
    );
    world.call("POST", BASE, "{}").await.expect(405);

    let without = World::builder().build().await;
    for path in [BASE, "/openapi/v2", "/openapi/v3"] {
        without.get(path).await.expect(404);
    }
}

/// Rows "Path case" and "Ids compare": keywords in any letter case, one trailing slash, and ids in the casing of the
/// contract.
#[apply(on_every_store)]
async fn keywords_are_taken_in_any_case_and_given_in_one(world: &World) {
    let paths = [
        "/PLANES/RADIUS/LOCAL/RESOURCEGROUPS/RG",
        "/planes/radius/local/resourceGroups/rg/",
        "/Planes/Radius/Local/ResourceGroups/Rg/",
    ];
    for path in paths {
        let group = world
            .get(&format!("{path}?API-Version=2023-10-01-PREVIEW"))
            .await
            .expect(200);
        assert_eq!(group.body["id"], "/planes/radius/local/resourcegroups/rg");
    }
    world
        .get(&format!("{}/RESOURCES/?{API_VERSION}", paths[0]))
        .await
        .expect(200);

    let put = format!("{}/:put", vpcs())
        .replace("planes", "Planes")
        .replace("accounts", "ACCOUNTS")
        .replace("regions", "Regions")
        .replace("providers", "pRoviders");
    let reply = world.call("POST", &put, &put_body("a")).await.expect(201);
    let path = reply
        .status_url()
        .strip_prefix("http://localhost:8787")
        .unwrap();
    let shouted = path
        .replace("accounts", "ACCOUNTS")
        .replace("locations", "LOCATIONS")
        .replace("operationStatuses", "operationstatuses");
    let status = world.get(&shouted).await.expect(200);
    assert_eq!(status.body["id"], path);
    world.settle().await;
}

/// D41: clients that join an endpoint and an id send several slashes at the start, which count as one.
#[apply(on_every_store)]
async fn slashes_at_the_start_count_as_one(world: &World) {
    for path in [format!("/{GROUP}"), format!("//{GROUP}")] {
        let group = world
            .get(&format!("http://localhost:8787{path}?{API_VERSION}"))
            .await
            .expect(200);
        assert_eq!(group.body["id"], "/planes/radius/local/resourcegroups/rg");
    }
    let put = format!("http://localhost:8787/{}/:put", vpcs());
    let reply = world.call("POST", &put, &put_body("a")).await.expect(201);
    let url = reply.status_url();
    assert!(
        url.starts_with("http://localhost:8787/planes/aws/"),
        "{url}"
    );
    world.settle().await;
    let based = under_base().await;
    for path in [format!("{BASE}/{GROUP}"), format!("/{BASE}/{GROUP}")] {
        let url = format!("http://localhost:8787{path}?{API_VERSION}");
        let group = based.get(&url).await.expect(200);
        assert_eq!(group.body["id"], "/planes/radius/local/resourcegroups/rg");
    }
}

/// Row "Resource id": an empty segment is invalid, since it would allow open redirects.
#[apply(on_every_store)]
async fn an_empty_segment_is_refused(world: &World) {
    for path in [
        "//planes//aws",
        "/planes//aws",
        "/planes/aws/aws//",
        "/planes/radius//resourceGroups/rg",
    ] {
        let request = Request::get(format!("http://localhost:8787{path}?{API_VERSION}"));
        let request = request
            .header("host", "localhost:8787")
            .body(Body::empty())
            .unwrap();
        let refused = world.send(request).await.expect(400);
        assert_eq!(refused.code(), "BadRequest", "{path}");
    }
}

/// Row "Referer": a Referer with the same resource determines scheme, host, base path, and the casing of `id`; any
/// other is ignored.
#[apply(on_every_store)]
async fn a_referer_tells_what_the_client_asked_for(world: &World) {
    let body = r#"{"location":"global"}"#;
    let path = format!("/planes/radius/local/resourcegroups/my-group?{API_VERSION}");
    let same = [(
        "referer",
        "https://front.example/apis/x/Planes/radius/local/ResourceGroups/My-Group?a=b",
    )];
    let created = world.send_with(&same, "PUT", &path, body).await.expect(200);
    assert_eq!(
        created.body["id"],
        "/planes/radius/local/resourcegroups/My-Group"
    );
    assert_eq!(created.body["name"], "My-Group");
    let plane = format!("/planes/aws/my-plane?{API_VERSION}");
    let other = [("referer", "https://front.example/planes/aws/Your-Plane")];
    let created = world
        .send_with(&other, "PUT", &plane, body)
        .await
        .expect(200);
    assert_eq!(created.body["name"], "my-plane");

    let put = format!("{}/:put", vpcs());
    let referer = format!("https://front.example/apis/x{put}");
    // Not allowed by --allowed-host.
    let stranger = format!("https://evil.example/apis/x{put}");
    for (headers, url) in [
        (
            vec![("referer", referer.as_str())],
            "https://front.example/apis/x/planes/aws/aws/",
        ),
        (
            vec![("referer", referer.as_str()), ("x-forwarded-proto", "http")],
            "http://front.example/apis/x/planes/aws/aws/",
        ),
        (
            vec![("x-forwarded-proto", "https")],
            "https://localhost:8787/planes/aws/aws/",
        ),
        (
            vec![("referer", "https://front.example/")],
            "http://localhost:8787/planes/aws/aws/",
        ),
        (
            vec![("referer", stranger.as_str())],
            "http://localhost:8787/planes/aws/aws/",
        ),
    ] {
        let body = json!({"properties": {"CidrBlock": "10.0.0.0/16"}}).to_string();
        let reply = world
            .send_with(&headers, "POST", &put, &body)
            .await
            .expect(201);
        assert!(
            reply.status_url().starts_with(url),
            "{}",
            reply.status_url()
        );
        assert!(reply.header("location").unwrap().starts_with(url));
    }
    world.settle().await;
}

async fn refusals(world: &World) -> Vec<Reply> {
    let compressed = [("content-encoding", "gzip")];
    let put = format!("{}/:put", vpcs());
    let condition = [("if-match", "*")];
    let absent = format!("{GROUP}x?{API_VERSION}");
    vec![
        world.get("/planes").await.expect(400),
        world.get("/planes//aws").await.expect(400),
        world.get("/planes?top=0").await.expect(400),
        world
            .send_with(&[("host", "evil.example")], "GET", "/planes", "")
            .await
            .expect(403),
        world.get(&absent).await.expect(404),
        world.get("/nothing").await.expect(404),
        world.call("PATCH", "/planes/aws/aws", "").await.expect(405),
        world.call("DELETE", "/planes", "").await.expect(405),
        world.call("POST", "/healthz", "").await.expect(405),
        world.call("POST", "/docs/", "").await.expect(405),
        world
            .send_with(&condition, "PUT", &absent, r#"{"location":"global"}"#)
            .await
            .expect(412),
        world
            .call("POST", &put, &" ".repeat(2 << 20))
            .await
            .expect(413),
        world
            .send_with(&compressed, "POST", &put, "x")
            .await
            .expect(415),
    ]
}

/// Rows "Response type", `x-ms-request-id` and `x-ms-correlation-request-id`: on every reply, including errors, which
/// have ARM's error format.
#[apply(on_every_store)]
async fn every_reply_has_its_ids_and_is_json(world: &World) {
    let mut replies = refusals(world).await;
    for reply in &replies {
        assert!(!reply.code().is_empty());
        assert!(!reply.body["error"]["message"].as_str().unwrap().is_empty());
    }
    let planes = format!("/planes?{API_VERSION}");
    replies.push(world.get(&planes).await.expect(200));
    replies.push(
        world
            .call("DELETE", &format!("/planes/aws/none?{API_VERSION}"), "")
            .await
            .expect(204),
    );
    let mut seen = std::collections::BTreeSet::new();
    for reply in &replies {
        let id = reply.header("x-ms-request-id").unwrap();
        assert!(seen.insert(id.to_owned()), "{id} was given twice");
        assert_eq!(
            reply.header("x-ms-correlation-request-id").unwrap().len(),
            36
        );
        assert_eq!(reply.header("x-ms-client-request-id"), None);
        let content = reply.header("content-type");
        assert_eq!(
            content,
            (!reply.text.is_empty()).then_some("application/json")
        );
    }

    let mut ids = vec![
        ("x-ms-correlation-request-id", "deployment-7"),
        ("x-ms-client-request-id", "client-7"),
    ];
    let echoed = world.send_with(&ids, "GET", &planes, "").await.expect(200);
    assert_eq!(
        echoed.header("x-ms-correlation-request-id"),
        Some("deployment-7")
    );
    assert_eq!(echoed.header("x-ms-client-request-id"), None);
    ids.push(("x-ms-return-client-request-id", "true"));
    let echoed = world
        .send_with(&ids, "GET", "/nothing", "")
        .await
        .expect(404);
    assert_eq!(echoed.header("x-ms-client-request-id"), Some("client-7"));
}

/// D40: HEAD on a single resource answers 204 if it exists and 404 if not, always without a body.
#[apply(on_every_store)]
async fn head_tells_whether_a_resource_exists(world: &World) {
    world
        .put_and_settle("AWS.Logs/LogGroup", "a", json!({"LogGroupName": "logs"}))
        .await;
    let credentials = "/planes/aws/aws/providers/System.AWS/credentials";
    let credential = json!({"location": "global", "properties": {"kind": "IRSA",
        "roleARN": "arn:aws:iam::123456789012:role/ucp", "storage": {"kind": "Internal"}}});
    world
        .call(
            "PUT",
            &format!("{credentials}/default?{API_VERSION}"),
            &credential.to_string(),
        )
        .await
        .expect(200);
    let log_groups = vpcs().replace("AWS.EC2/VPC", "AWS.Logs/LogGroup");
    for path in [
        GROUP.to_owned(),
        "/planes/radius/local".to_owned(),
        format!("{credentials}/default"),
        tracked_by("AWS.Logs/LogGroup", "a"),
        format!("{log_groups}/logs"),
    ] {
        let path = format!("{path}?{API_VERSION}");
        let get = world.get(&path).await.expect(200);
        let head = world.call("HEAD", &path, "").await.expect(204);
        assert_eq!(head.text, "");
        assert_eq!(head.header("content-type"), None, "{path}");
        assert_eq!(head.header("etag"), get.header("etag"), "{path}");
        let absent = path.replace('?', "-absent?");
        let absent = world.call("HEAD", &absent, "").await.expect(404);
        assert_eq!(absent.text, "");
    }
}

/// Methods: HEAD on a list is GET without a body; methods that a path does not serve are 405 with `Allow` (section 9).
#[apply(on_every_store)]
async fn head_and_options_are_sane(world: &World) {
    for path in [
        format!("/planes?{API_VERSION}"),
        format!("{GROUP}/resources?{API_VERSION}"),
        "/healthz".to_owned(),
    ] {
        let (get, head) = (
            world.get(&path).await.expect(200),
            world.call("HEAD", &path, "").await.expect(200),
        );
        assert_eq!(head.text, "");
        for header in ["content-type", "etag", "content-length"] {
            assert_eq!(head.header(header), get.header(header), "{path} {header}");
        }
    }
    let absent = world
        .call("HEAD", &format!("{GROUP}x?{API_VERSION}"), "")
        .await
        .expect(404);
    assert_eq!(absent.text, "");
    for (method, path, allow) in [
        ("OPTIONS", "/planes".to_owned(), "GET,HEAD"),
        ("OPTIONS", format!("{}/:put", vpcs()), "POST"),
        ("GET", format!("{}/:put", vpcs()), "POST"),
        ("BREW", "/planes".to_owned(), "GET,HEAD"),
        ("TRACE", "/healthz".to_owned(), "GET,HEAD"),
    ] {
        let refused = world.call(method, &path, "").await.expect(405);
        assert_eq!(refused.code(), "BadRequest");
        assert_eq!(refused.header("allow"), Some(allow), "{method} {path}");
    }
    assert_eq!(
        world
            .call("OPTIONS", "/nothing", "")
            .await
            .expect(404)
            .code(),
        "NotFound"
    );
    assert_eq!(
        world.call("OPTIONS", "*", "").await.expect(404).code(),
        "NotFound"
    );
}
