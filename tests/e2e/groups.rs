//! Resource groups (contract section 3) and the list of their resources (section 7, D10).

use serde_json::json;
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, apply, on_every_store};

const API_VERSION: &str = "api-version=2023-10-01-preview";

#[apply(on_every_store)]
async fn a_group_is_created_replaced_and_listed(world: &World) {
    let path = format!("/planes/Radius/local/ResourceGroups/Test-RG?{API_VERSION}");
    let created = world
        .call("PUT", &path, r#"{"location":"global","tags":{"a":"b"}}"#)
        .await
        .expect(200);
    assert_eq!(
        created.body,
        json!({"id": "/planes/radius/local/resourcegroups/Test-RG", "name": "Test-RG",
            "type": "System.Resources/resourceGroups", "location": "global", "tags": {"a": "b"}})
    );
    let replaced = world
        .call("PUT", &path.to_lowercase(), r#"{"location":"west"}"#)
        .await
        .expect(200);
    assert_eq!(
        replaced.body["name"], "Test-RG",
        "the casing of the first write stays"
    );
    assert_eq!(replaced.body["tags"], json!({}));
    assert_eq!(
        world.get(&path.to_lowercase()).await.expect(200).body,
        replaced.body
    );
    let list = world
        .get(&format!(
            "/planes/radius/local/resourcegroups?{API_VERSION}"
        ))
        .await
        .expect(200);
    let names: Vec<&str> = list.body["value"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["rg", "Test-RG"]);
    assert_eq!(
        world
            .get(&format!("{GROUP}x?{API_VERSION}"))
            .await
            .expect(404)
            .code(),
        "NotFound"
    );
}

/// D42: PATCH merges tags and settings by key, and `null` removes; only a group that exists is changed.
#[apply(on_every_store)]
async fn a_group_is_patched_by_key(world: &World) {
    let path = format!("{GROUP}?{API_VERSION}");
    let declared = json!({"location": "west", "tags": {"a": "1", "b": "2"},
        "properties": {"defaultTags": {"team": "net", "stage": "test"}}});
    let put = world.call("PUT", &path, &declared.to_string()).await;
    let put = put.expect(200);
    let patch = async |body: serde_json::Value| world.call("PATCH", &path, &body.to_string()).await;

    let patched = patch(json!({"tags": {"b": null, "c": "3"}}))
        .await
        .expect(200);
    assert_eq!(patched.body["tags"], json!({"a": "1", "c": "3"}));
    assert_eq!(patched.body["location"], "west");
    assert_eq!(patched.body["properties"], put.body["properties"]);
    assert_ne!(patched.header("etag"), put.header("etag"));
    let seen = world.get(&path).await.expect(200);
    assert_eq!(
        (&seen.body, seen.header("etag")),
        (&patched.body, patched.header("etag"))
    );

    let settings = json!({"location": "global", "properties": {"defaultTags": {"stage": null}}});
    let patched = patch(settings).await.expect(200);
    assert_eq!(
        patched.body["properties"],
        json!({"defaultTags": {"team": "net"}})
    );
    assert_eq!(patched.body["tags"], json!({"a": "1", "c": "3"}));
    for tags in [json!({"k\u{202e}": "v"}), json!({"k": "v\u{9b}"})] {
        patch(json!({"tags": tags})).await.expect(400);
        let defaults = json!({"properties": {"defaultTags": tags}});
        patch(defaults).await.expect(400);
    }
    let patched = patch(json!({"tags": null, "properties": null}))
        .await
        .expect(200);
    assert_eq!(patched.body["tags"], json!({}));
    assert_eq!(patched.body.get("properties"), None);

    let refused =
        patch(json!({"tags": {"a": 1}, "properties": {"defaultTags": {"aws:x": "y"}}})).await;
    let refused = refused.expect(400);
    for place in ["$.tags['a']", "$.properties.defaultTags['aws:x']"] {
        assert!(refused.text.contains(place), "{}", refused.text);
    }
    let condition = [("if-match", put.header("etag").unwrap())];
    let stale = world.send_with(&condition, "PATCH", &path, "{}").await;
    assert_eq!(stale.expect(412).code(), "PreconditionFailed");
    let absent = format!("{GROUP}x?{API_VERSION}");
    let absent = world.call("PATCH", &absent, "{}").await.expect(404);
    assert_eq!(absent.code(), "NotFound");
}

/// Every violation at once, name and body together.
#[apply(on_every_store)]
async fn a_group_is_checked_all_at_once(world: &World) {
    let path = |name: &str| format!("/planes/radius/local/resourceGroups/{name}?{API_VERSION}");
    let body = r#"{"location":7,"tags":{"a":1,"b":null},"properties":{"defaultTags":{"c":[],"AWS:d":"e"}}}"#;
    let refused = world.call("PUT", &path("x."), body).await.expect(400);
    assert_eq!(refused.code(), "HttpRequestPayloadAPISpecValidationFailed");
    assert_eq!(refused.body["error"]["target"], "ucp/openapi");
    let details = refused.body["error"]["details"].as_array().unwrap();
    let places = [
        "'x.' is not a resource group name",
        "$.properties.defaultTags['c'] in body must be a string",
        "$.properties.defaultTags['AWS:d'] in body must not begin with 'aws:'",
        "$.location in body must be a string",
        "$.tags['a'] in body must be a string",
        "$.tags['b'] in body must be a string",
    ];
    assert_eq!(details.len(), places.len(), "{}", refused.text);
    for (detail, place) in details.iter().zip(places) {
        assert_eq!(detail["code"], "InvalidProperties");
        let message = detail["message"].as_str().unwrap();
        assert!(message.starts_with(place), "{message}");
    }
    let unreadable = world.call("PUT", &path("x."), "{").await.expect(400);
    let codes: Vec<&str> = unreadable.body["error"]["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|detail| detail["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["InvalidProperties", "InvalidRequestContent"]);
    let text = [("content-type", "text/json")];
    let refused = world
        .send_with(&text, "PUT", &path("x"), r#"{"location":"global"}"#)
        .await
        .expect(400);
    assert_eq!(
        refused.body["error"]["details"][0]["code"],
        "InvalidRequestContent"
    );
    world.get(&path("x")).await.expect(404);

    let ignored =
        r#"{"location":"global","tags":null,"properties":{"provisioningState":"Succeeded"}}"#;
    let put = world.call("PUT", &path("x"), ignored).await.expect(200);
    assert_eq!(
        put.text,
        r#"{"id":"/planes/radius/local/resourcegroups/x","name":"x","type":"System.Resources/resourceGroups","location":"global","tags":{}}"#
    );
}

/// `properties.defaultTags` are stored with the group, and returned only if there are any.
#[apply(on_every_store)]
async fn a_group_keeps_default_tags(world: &World) {
    let path = format!("/planes/radius/local/resourceGroups/x?{API_VERSION}");
    let body = r#"{"location":"global","properties":{"defaultTags":{"team":"net","env":""}}}"#;
    let put = world.call("PUT", &path, body).await.expect(200);
    assert_eq!(
        put.body["properties"],
        json!({"defaultTags": {"team": "net", "env": ""}})
    );
    assert_eq!(world.get(&path).await.expect(200).body, put.body);
    let list = world
        .get(&format!(
            "/planes/radius/local/resourceGroups?{API_VERSION}"
        ))
        .await
        .expect(200);
    assert_eq!(list.body["value"][1], put.body);
    for none in [
        r#"{"location":"global"}"#,
        r#"{"location":"global","properties":{"defaultTags":{}}}"#,
    ] {
        world.call("PUT", &path, body).await.expect(200);
        let put = world.call("PUT", &path, none).await.expect(200);
        assert!(put.body.get("properties").is_none(), "{}", put.text);
    }
}

/// POST is not served. An absent group is 404 `NotFound` with its id, and so are its resources.
#[apply(on_every_store)]
async fn what_a_group_does_not_answer(world: &World) {
    let post = world
        .call("POST", &format!("{GROUP}?{API_VERSION}"), "{}")
        .await
        .expect(405);
    assert_eq!(post.code(), "BadRequest");
    for path in [
        "/planes/radius/local/resourceGroups/No-RG",
        "/planes/radius/local/resourceGroups/No-RG/resources",
    ] {
        let absent = world
            .get(&format!("{path}?{API_VERSION}"))
            .await
            .expect(404);
        assert_eq!(absent.code(), "NotFound");
        assert_eq!(
            absent.body["error"]["target"],
            "/planes/radius/local/resourcegroups/No-RG"
        );
    }
    for path in [
        GROUP.to_owned(),
        format!("{GROUP}/resources"),
        "/planes/radius/local/resourceGroups".to_owned(),
    ] {
        assert_eq!(
            world.get(&path).await.expect(400).code(),
            "InvalidApiVersionParameter"
        );
    }
    let bad_name = "/planes/radius/-x/resourceGroups";
    let refused = world
        .get(&format!("{bad_name}?{API_VERSION}"))
        .await
        .expect(400);
    assert_eq!(refused.code(), "HttpRequestPayloadAPISpecValidationFailed");
}

#[apply(on_every_store)]
async fn a_group_shows_what_it_tracks(world: &World) {
    assert!(
        world.group().await.get("resources").is_none(),
        "resources appear only when there are any"
    );
    world
        .put_and_settle("AWS.EC2/VPC", "My-VPC", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
        panic!("expected one VPC")
    };
    let [reference] = &world.references().await[..] else {
        panic!("expected one reference")
    };
    let id = "/planes/radius/local/resourcegroups/rg/providers/AWS.EC2/VPC:reference/My-VPC";
    assert_eq!(reference["id"], id);
    assert_eq!(reference["name"], "My-VPC");
    assert_eq!(reference["type"], "AWS.EC2/VPC:reference");
    let scope =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC");
    assert_eq!(
        reference["mapsTo"],
        json!({"scope": scope, "primaryIdentifier": vpc})
    );
    assert_eq!(reference["properties"]["VpcId"], vpc.as_str());
    assert_eq!(reference["properties"]["CidrBlock"], "10.0.0.0/16");

    let list = world
        .get(&format!("{GROUP}/resources?{API_VERSION}"))
        .await
        .expect(200)
        .body;
    assert_eq!(list["value"][0]["id"], id);
    let one = world
        .get(&id.to_lowercase().replace("aws.ec2/vpc", "AWS.EC2/VPC"))
        .await
        .expect(200)
        .body;
    assert_eq!(&one, reference);
    assert_eq!(one["ownedResource"], true);
    let of_type = world
        .get(&format!("{GROUP}/providers/AWS.EC2/VPC:reference"))
        .await
        .expect(200)
        .body;
    assert_eq!(of_type["value"], json!([reference]));
    let none = world
        .get(&format!("{GROUP}/providers/AWS.Logs/LogGroup:reference"))
        .await
        .expect(200)
        .body;
    assert_eq!(none["value"], json!([]));
    world
        .get(&format!("{GROUP}/providers/AWS.EC2/VPC:reference/other"))
        .await
        .expect(404);
}
