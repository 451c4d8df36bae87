//! The OpenAPI document and the page that displays it.

use serde_json::json;
use ucp_testkit::{World, apply, on_every_store};

#[test]
fn the_committed_openapi_document_is_the_codes() {
    let committed = include_str!("../../api/openapi.json");
    let generated = ucp_api::openapi_json();
    assert!(
        committed.trim_end() == generated.trim_end(),
        "api/openapi.json is out of date; write it anew with `cargo run -- openapi > api/openapi.json`"
    );
}

/// Errors that any route may return are described on each route.
#[test]
fn every_operation_describes_what_any_may_answer() {
    let document: serde_json::Value = serde_json::from_str(&ucp_api::openapi_json()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let planes = paths.iter().filter(|(path, _)| path.starts_with("/planes"));
    for (path, operations) in planes {
        for (method, operation) in operations.as_object().unwrap() {
            let mut expected = vec!["400", "403", "500", "503"];
            if operation.get("requestBody").is_some() {
                expected.extend(["408", "413", "415"]);
            }
            for status in expected {
                let body = &operation["responses"][status]["content"]["application/json"];
                let schema = &body["schema"]["$ref"];
                assert_eq!(
                    schema, "#/components/schemas/ErrorResponse",
                    "{method} {path} {status}"
                );
            }
        }
    }
}

/// Each operation has everything that a generated client or a reader needs.
#[test]
fn every_operation_is_described_in_full() {
    let document: serde_json::Value = serde_json::from_str(&ucp_api::openapi_json()).unwrap();
    let mut ids = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let place = format!("{method} {path}");
            let id = operation["operationId"].as_str().unwrap();
            let verb = id.split_once('_').expect(id).0;
            let verbs = [
                "list", "get", "put", "update", "delete", "import", "cancel", "apply", "validate",
                "what", "approve", "reject", "refactor", "undo", "release",
            ];
            assert!(verbs.contains(&verb), "{place}: {id}");
            assert!(operation["summary"].is_string(), "{place}");
            ids.push(id);
            let parameters = operation["parameters"].as_array();
            for parameter in parameters.into_iter().flatten() {
                let has_example = parameter.get("example").is_some()
                    || parameter["schema"].get("examples").is_some();
                assert!(has_example, "{place}: {}", parameter["name"]);
            }
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert_ne!(response["description"], "", "{place} {status}");
                assert!(response["description"].is_string(), "{place} {status}");
                for header in ["x-ms-request-id", "x-ms-correlation-request-id"] {
                    assert!(response["headers"][header].is_object(), "{place} {status}");
                }
                if status == "202" {
                    for header in ["Location", "Retry-After"] {
                        assert!(response["headers"][header].is_object(), "{place} {status}");
                    }
                }
            }
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "operation ids are unique");
}

/// Every parameter, header, schema and property has a description, and every tag is declared.
#[test]
fn nothing_in_the_document_goes_without_description() {
    let document: serde_json::Value = serde_json::from_str(&ucp_api::openapi_json()).unwrap();
    let is_described = |place: String, described: &serde_json::Value| {
        let text = described["description"].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "{place} has no description");
    };
    let tags = document["tags"].as_array().unwrap();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let place = format!("{method} {path}");
            is_described(place.clone(), operation);
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                is_described(format!("{place} {}", parameter["name"]), parameter);
            }
            for (status, response) in operation["responses"].as_object().unwrap() {
                for (name, header) in response["headers"].as_object().unwrap() {
                    is_described(format!("{place} {status} {name}"), header);
                }
            }
            let tag = &operation["tags"][0];
            assert!(tags.iter().any(|known| known["name"] == *tag), "{place}");
        }
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        is_described(name.clone(), schema);
        let variants = schema["oneOf"].as_array().into_iter().flatten();
        for variant in variants.chain([schema]) {
            for (property, schema) in variant["properties"].as_object().into_iter().flatten() {
                is_described(format!("{name}.{property}"), schema);
            }
        }
    }
}

#[apply(on_every_store)]
async fn the_document_and_its_page_are_served_and_need_no_network(world: &World) {
    let document = world.get("/openapi.json").await.expect(200).body;
    assert_eq!(
        document,
        serde_json::from_str::<serde_json::Value>(&ucp_api::openapi_json()).unwrap()
    );
    let page = world.get("/docs/").await.expect(200).text;
    assert!(page.contains("swagger"), "{page}");
    for asset in page
        .split(['"', '\''])
        .filter(|text| text.ends_with(".js") || text.ends_with(".css"))
    {
        world
            .get(&format!("/docs/{}", asset.trim_start_matches("./")))
            .await
            .expect(200);
    }
    for line in page.lines() {
        assert!(
            !line.contains("://") && !line.contains("\"//"),
            "the page names another host: {line}"
        );
    }
}

/// The guides link to each other and to the pages about error codes; the description of the API links to the guides.
#[apply(on_every_store)]
async fn the_guides_are_served_and_their_links_resolve(world: &World) {
    let description = world.get("/openapi.json").await.expect(200).body;
    let description = description["info"]["description"].as_str().unwrap();
    let mut paths: Vec<String> = links(description)
        .map(|link| path_of("/docs/", link))
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    while let Some(path) = paths.pop() {
        if seen.insert(path.clone()) && !path.starts_with("/docs/errors/") {
            let page = world.get(&path).await.expect(200).text;
            paths.extend(links(&page).map(|link| path_of(&path, link)));
        } else {
            world.get(&path).await.expect(200);
        }
    }
    let guides = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to"));
    for guide in guides.unwrap() {
        let name = guide.unwrap().file_name().into_string().unwrap();
        assert!(seen.contains(&format!("/docs/how-to/{name}")), "{name}");
    }
    for page in [
        "/docs/concepts.md",
        "/docs/limits.md",
        "/docs/offerings.md",
        "/docs/simulator.md",
    ] {
        assert!(seen.contains(page), "{page}");
    }
}

/// The links of a page to other pages of the server.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let targets = page.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.starts_with('#') && !target.contains("://"))
}

/// The path of what a page links to.
fn path_of(page: &str, link: &str) -> String {
    let link = link.split_once('#').map_or(link, |(page, _)| page);
    let mut folders: Vec<&str> = page.split('/').collect();
    folders.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(folders.pop()),
            part => folders.push(part),
        }
    }
    folders.join("/")
}

#[apply(on_every_store)]
async fn the_root_leads_to_the_page(world: &World) {
    let root = world.get("/").await.expect(307);
    assert_eq!(root.header("location"), Some("docs/"));
}

#[apply(on_every_store)]
async fn the_version_is_told(world: &World) {
    let told = world.get("/version").await.expect(200).body;
    let commit = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(told, json!({"version": "0.0.0", "commit": commit}));
}

/// Browsers keep no reply, take each for what its type says, and show none inside a page of others. The files of the page
/// are the same for everybody and may be kept.
#[apply(on_every_store)]
async fn every_reply_has_the_headers_that_browsers_heed(world: &World) {
    let document: serde_json::Value = serde_json::from_str(&ucp_api::openapi_json()).unwrap();
    let mut requests = vec![
        ("GET".to_owned(), "/docs/".to_owned()),
        ("GET".to_owned(), "/openapi.json".to_owned()),
        ("GET".to_owned(), "/docs/concepts.md".to_owned()),
        ("GET".to_owned(), "/nowhere".to_owned()),
        ("GET".to_owned(), "/planes//x".to_owned()),
        ("BREW".to_owned(), "/planes".to_owned()),
        ("GET".to_owned(), "/".to_owned()),
    ];
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let filled = path.replace("{type}", "aws").replace(['{', '}'], "");
            requests.push((method.to_uppercase(), filled));
        }
    }
    assert!(requests.len() > 50, "{requests:?}");
    for (method, path) in requests {
        let reply = world.send_without_waiting(&method, &path, "").await;
        let header = |name| reply.header(name).unwrap_or_default();
        assert_eq!(header("cache-control"), "no-store", "{method} {path}");
        assert_eq!(
            header("x-content-type-options"),
            "nosniff",
            "{method} {path}"
        );
        assert_eq!(
            header("content-security-policy"),
            "frame-ancestors 'none'",
            "{method} {path}"
        );
    }
    let script = world.get("/docs/swagger-ui-bundle.js").await.expect(200);
    assert_eq!(script.header("cache-control"), None);
    assert_eq!(script.header("x-content-type-options"), Some("nosniff"));
}

#[apply(on_every_store)]
async fn a_page_whose_name_is_not_text_is_refused_in_arms_form(world: &World) {
    for page in ["/docs/%FF", "/docs/how-to/%FF"] {
        let reply = world.get(page).await.expect(400);
        assert_eq!(reply.code(), "BadRequest", "{page}");
    }
}
