//! Bad input: a 4xx in ARM's error format that says what is wrong and where. Nothing is stored or sent.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, apply, on_every_store, tracked_by};

const API_VERSION: &str = "api-version=2023-10-01-preview";

fn vpcs() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC")
}

/// Expects that nothing was stored or sent.
async fn assert_untouched(world: &World) {
    assert!(world.references().await.is_empty(), "something was stored");
    assert_eq!(
        world
            .store
            .next_claimable_at()
            .await
            .expect("the store answers"),
        None,
        "an operation was recorded"
    );
    let calls = world.calls_on_resources();
    assert!(calls.is_empty(), "AWS was called: {calls:?}");
}

#[apply(on_every_store)]
async fn bodies_that_cannot_be_read_are_refused(world: &World) {
    let deep = format!("{{\"properties\":{}{}}}", "[".repeat(80), "]".repeat(80));
    for (body, says) in [
        ("{", "EOF"),
        ("", "declares nothing"),
        (r#"{"trackedby":"x"}"#, "did you mean 'trackedBy'?"),
        ("[]", "an array, not an object"),
        ("\"x\"", "a string, not an object"),
        (
            r#"{"properties":{"a":{"$serde_json::private::Number":"1"}}}"#,
            "member /properties/a/$serde_json::private::Number begins with",
        ),
        (
            r#"{"properties":{"a":1,"a":2}}"#,
            "'a' appears twice at /properties",
        ),
        (
            r#"{"properties":[]}"#,
            "/properties: expected an object, got an array",
        ),
        (
            r#"{"trackedBy":7}"#,
            "/trackedBy: expected a string, got a number",
        ),
        (
            r#"{"alias":{}}"#,
            "/alias: expected a string, got an object",
        ),
        (
            r#"{"ownedResource":"yes"}"#,
            "/ownedResource: expected a boolean, got a string",
        ),
        (r#"{"adoptionPolicy":"maybe"}"#, "'adopt' or 'fail'"),
        (r#"{"updateMode":"maybe"}"#, "'merge' or 'replace'"),
        (deep.as_str(), "nested deeper than 64 levels"),
        (
            "{\"properties\":{\"CidrBlock\":\"\u{1}\"}}",
            "control character",
        ),
    ] {
        let reply = world
            .call("POST", &format!("{}/:put", vpcs()), body)
            .await
            .expect(400);
        assert_eq!(reply.code(), "BadRequest", "{body}");
        assert!(reply.text.contains(says), "{body}: {}", reply.text);
    }
    assert_untouched(world).await;
}

/// A body of the worst shape is answered in a few kilobytes, whatever it is wrong about.
#[apply(on_every_store)]
async fn a_refusal_does_not_repeat_the_body(world: &World) {
    let members: Vec<String> = (0..40_000)
        .map(|number| format!("\"m{number}\":1"))
        .collect();
    let many = format!("{{{}}}", members.join(","));
    let long = format!("{{\"{}\":1}}", "x".repeat(500_000));
    let nested = format!("{{\"location\":\"global\",\"tags\":{many}}}");
    let group = format!("{GROUP}-new?{API_VERSION}");
    let put = format!("{}/:put", vpcs());
    for (method, path, body) in [
        ("POST", &put, &many),
        ("POST", &put, &long),
        ("PUT", &group, &many),
        ("PUT", &group, &long),
        ("PUT", &group, &nested),
    ] {
        let reply = world.call(method, path, body).await.expect(400);
        let length = reply.text.len();
        assert!(length < 64 * 1024, "{method} {path}: {length} bytes");
    }
    let all = world.call("PUT", &group, &nested).await;
    let listed = all.body["error"]["details"].as_array().expect("details");
    assert!(listed.len() <= 101, "{} details", listed.len());
    assert!(
        all.text.contains("the first 100 of 40000 violations"),
        "{}",
        all.text
    );
    let violations = json!({"trackedBy": tracked_by("AWS.EC2/VPC", "a"), "properties": {"Tags": vec![1; 40_000]}});
    let put = world
        .call("POST", &put, &violations.to_string())
        .await
        .expect(400);
    let listed = put.body["error"]["details"].as_array().expect("details");
    assert_eq!(listed.len(), 101);
    assert_eq!(listed[100]["message"], "and 39900 more");
    assert_untouched(world).await;
}

/// D44: members that nobody reads are refused with their place, except for those that every ARM resource has.
#[apply(on_every_store)]
async fn members_that_nobody_reads_are_refused(world: &World) {
    let logs = vpcs().replace("AWS.EC2/VPC", "AWS.Logs/LogGroup");
    let group = format!("{GROUP}?{API_VERSION}");
    let plane = format!("/planes/radius/other?{API_VERSION}");
    let aws = format!("/planes/aws/other?{API_VERSION}");
    let credential =
        format!("/planes/aws/aws/providers/System.AWS/credentials/default?{API_VERSION}");
    let import = json!({"resources": [{"alias": "a", "type": "AWS.Logs/LogGroup", "surprise": 1,
        "scope": logs, "primaryIdentifier": "x"}]});
    let role = json!({"location": "global", "properties": {"kind": "IRSA", "roleARN": "arn:x",
        "secretAccessKey": "s3cret", "storage": {"kind": "Internal", "surprise": 1}}});
    for (method, path, body, places) in [
        (
            "PUT",
            format!("{logs}/x"),
            json!({"surprise": 1}),
            vec!["/surprise"],
        ),
        (
            "PATCH",
            format!("{logs}/x"),
            json!({"surprise": 1}),
            vec!["/surprise"],
        ),
        (
            "POST",
            format!("{logs}/:put"),
            json!({"a/b": null, "resources": [], "properties": {}}),
            vec!["/a~1b", "/resources"],
        ),
        (
            "POST",
            format!("{logs}/:get"),
            json!({"surprise": 1}),
            vec!["/surprise"],
        ),
        (
            "POST",
            format!("{logs}/:delete"),
            json!({"surprise": 1}),
            vec!["/surprise"],
        ),
        (
            "POST",
            format!("{logs}/:import"),
            json!({"tags": {}}),
            vec!["/tags"],
        ),
        (
            "POST",
            format!("{GROUP}/:import"),
            import,
            vec!["/resources/0", "/surprise"],
        ),
        (
            "PATCH",
            tracked_by("AWS.EC2/VPC", "x"),
            json!({"owned": true}),
            vec!["/owned"],
        ),
        (
            "PUT",
            group.clone(),
            json!({"location": "global", "surprise": 1, "properties": {"surprise": 1}}),
            vec!["$['surprise']", "$.properties['surprise']"],
        ),
        (
            "PATCH",
            group.clone(),
            json!({"surprise": 1}),
            vec!["$['surprise']"],
        ),
        (
            "PUT",
            plane,
            json!({"location": "global", "surprise": 1, "properties": {"resourceProviders": {}}}),
            vec!["$['surprise']"],
        ),
        (
            "PUT",
            credential,
            role,
            vec![
                "$.properties['secretAccessKey']",
                "$.properties.storage['surprise']",
            ],
        ),
    ] {
        let refused = world
            .call(method, &path, &body.to_string())
            .await
            .expect(400);
        for place in places {
            assert!(
                refused.text.contains(place),
                "{method} {path}: {}",
                refused.text
            );
        }
        assert!(!refused.text.contains("s3cret"), "{}", refused.text);
    }
    assert_untouched(world).await;

    let common = json!({"id": "x", "name": "x", "type": "x", "location": "global", "etag": "x",
        "systemData": {}, "kind": "x", "sku": {}});
    for path in [group, aws] {
        world
            .call("PUT", &path, &common.to_string())
            .await
            .expect(200);
    }
    let put = world
        .call("PUT", &format!("{logs}/x"), &common.to_string())
        .await;
    put.expect(201);
    world.settle().await;
}

/// D44: what was read of a group can be put back.
#[apply(on_every_store)]
async fn a_group_can_be_put_as_it_was_read(world: &World) {
    world
        .put_and_settle("AWS.EC2/VPC", "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let path = format!("{GROUP}?{API_VERSION}");
    let read = world.get(&format!("{path}&top=1")).await.expect(200);
    assert!(read.body["resources"].is_array(), "{}", read.text);
    world.call("PUT", &path, &read.text).await.expect(200);
    let again = world.group().await;
    assert_eq!(again, read.body);
}

#[apply(on_every_store)]
async fn properties_are_judged_all_at_once_with_their_places(world: &World) {
    let reply = world
        .put(
            "AWS.EC2/VPC",
            "main",
            json!({"Cidrblock": "x", "EnableDnsSupport": {"a": 1}}),
        )
        .await;
    let reply = reply.expect(400);
    assert_eq!(reply.code(), "InvalidRequest");
    let mut targets: Vec<&str> = reply.body["error"]["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|detail| detail["target"].as_str().unwrap())
        .collect();
    targets.sort_unstable();
    assert_eq!(
        targets,
        ["/properties/Cidrblock", "/properties/EnableDnsSupport"]
    );
    assert!(
        reply.text.contains("CidrBlock"),
        "it suggests the right spelling: {}",
        reply.text
    );

    let control = json!({"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "a", "Value": "b\u{0}"}]});
    let control = world.put("AWS.EC2/VPC", "main", control).await.expect(400);
    assert_eq!(
        control.body["error"]["details"][0]["target"],
        "/properties/Tags/0/Value"
    );

    let missing = world
        .put("AWS.EC2/Subnet", "net", json!({"CidrBlock": "10.0.0.0/24"}))
        .await
        .expect(400);
    assert!(missing.text.contains("VpcId"), "{}", missing.text);
    assert_untouched(world).await;
}

#[apply(on_every_store)]
async fn types_that_do_not_exist_or_cannot_be_managed_are_refused(world: &World) {
    world.expect_log("no schema");
    let unknown = world
        .put("AWS.EC2/VPCC", "main", json!({}))
        .await
        .expect(400);
    assert_eq!(unknown.code(), "TypeNotFoundException");
    assert!(unknown.text.contains("AWS.EC2/VPC"), "{}", unknown.text);
    let unmanaged = ucp_schema::Catalogue::embedded();
    let unmanaged = unmanaged
        .type_names()
        .find(|name| !unmanaged.get(name).unwrap().is_provisionable())
        .unwrap()
        .clone();
    let refused = world
        .put(&unmanaged.arm(), "main", json!({}))
        .await
        .expect(400);
    assert_eq!(refused.code(), "UnsupportedActionException");
    assert_untouched(world).await;
}

#[apply(on_every_store)]
async fn reference_ids_are_checked(world: &World) {
    let long = "a".repeat(129);
    for (tracked, status) in [
        ("main".to_owned(), 400),
        (String::new(), 400),
        (tracked_by("AWS.EC2/Subnet", "main"), 400),
        (format!("{GROUP}/providers/AWS.EC2/VPC/main"), 400),
        (tracked_by("AWS.EC2/VPC", &long), 400),
        (tracked_by("AWS.EC2/VPC", "a\u{0}b"), 400),
        (tracked_by("AWS.EC2/VPC", "a%0Ab"), 400),
        (format!("{}//x", tracked_by("AWS.EC2/VPC", "main")), 400),
        (
            tracked_by("AWS.EC2/VPC", "main").replace("/rg/", "/nobody/"),
            404,
        ),
    ] {
        for action in ["put", "delete"] {
            let body = json!({"trackedBy": tracked, "properties": {"CidrBlock": "10.0.0.0/16"}});
            let reply = world
                .post("AWS.EC2/VPC", action, &body)
                .await
                .expect(status);
            assert!(!reply.body["error"]["message"].as_str().unwrap().is_empty());
        }
    }
    assert_untouched(world).await;
}

#[apply(on_every_store)]
async fn paths_are_checked(world: &World) {
    let body = json!({"properties": {"CidrBlock": "10.0.0.0/16"}}).to_string();
    for (path, status) in [
        (format!("{}/:put", vpcs().replace(REGION, "US_WEST")), 400),
        (format!("{}/:put", vpcs().replace(ACCOUNT, "12%2034")), 400),
        (format!("{}/:put", vpcs().replace("AWS.EC2", "EC2")), 400),
        (format!("{}/:put", vpcs().replace("VPC", "V%00PC")), 400),
        (
            format!("{}/:put", vpcs().replace("/accounts", "//accounts")),
            400,
        ),
        (format!("{}/:put", vpcs().replace("/VPC", "/%ff")), 400),
        (format!("{}/:put", vpcs().replace("aws/aws", "aws/..")), 400),
        (format!("{}/:putt", vpcs()), 405),
        (
            format!("/planes/aws/aws/accounts/{ACCOUNT}/providers/AWS.EC2/VPC/:put"),
            404,
        ),
        ("/nothing".to_owned(), 404),
        (
            format!("{}/:put", vpcs().replace("VPC", &"V".repeat(9000))),
            400,
        ),
    ] {
        let reply = world.call("POST", &path, &body).await.expect(status);
        assert!(
            reply.body["error"]["code"].is_string(),
            "{path}: {}",
            reply.text
        );
    }
    assert_eq!(
        world
            .call("PATCH", &format!("{}/:put", vpcs()), &body)
            .await
            .expect(405)
            .code(),
        "BadRequest"
    );
    assert_untouched(world).await;
}

#[apply(on_every_store)]
async fn sizes_are_bounded(world: &World) {
    let declare =
        |length: usize| json!({"properties": {"CidrBlock": "1".repeat(length)}}).to_string();
    let too_large = world
        .call("POST", &format!("{}/:put", vpcs()), &declare(1 << 20))
        .await
        .expect(413);
    assert_eq!(too_large.code(), "RequestEntityTooLarge");
    let beyond_aws = world
        .call("POST", &format!("{}/:put", vpcs()), &declare(300_000))
        .await
        .expect(413);
    assert!(beyond_aws.text.contains("262144"), "{}", beyond_aws.text);
    assert_untouched(world).await;
}

#[apply(on_every_store)]
async fn strangers_are_refused(world: &World) {
    for (name, value) in [
        ("host", "evil.example"),
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let mut request = Request::post(format!("{}/:put", vpcs()))
            .header("host", "localhost:8787")
            .body(Body::from(r#"{"properties":{"CidrBlock":"10.0.0.0/16"}}"#))
            .unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
        assert_eq!(
            world.send(request).await.expect(403).code(),
            "AuthorizationFailed"
        );
    }
    let compressed = Request::post(format!("{}/:put", vpcs()))
        .header("host", "localhost:8787")
        .header("content-encoding", "gzip")
        .body(Body::from("x"))
        .unwrap();
    assert_eq!(
        world.send(compressed).await.expect(415).code(),
        "UnsupportedMediaType"
    );
    assert_untouched(world).await;
    world.get("/healthz").await.expect(200);
    world.get("/readyz").await.expect(200);
}

#[apply(on_every_store)]
async fn groups_are_checked(world: &World) {
    let version = "api-version=2023-10-01-preview";
    let path = |name: &str| format!("/planes/radius/local/resourceGroups/{name}?{version}");
    for (body, says) in [
        ("{}", "$.location"),
        (r#"{"location":7}"#, "$.location"),
        (r#"{"location":"x","tags":{"a":1}}"#, "$.tags"),
    ] {
        let reply = world.call("PUT", &path("new"), body).await.expect(400);
        assert_eq!(reply.code(), "HttpRequestPayloadAPISpecValidationFailed");
        assert_eq!(reply.body["error"]["target"], "ucp/openapi");
        assert!(
            reply.body["error"]["details"][0]["message"]
                .as_str()
                .unwrap()
                .starts_with(says)
        );
    }
    for name in ["a.", "a+b", &"a".repeat(91), "a%20b"] {
        world
            .call("PUT", &path(name), r#"{"location":"global"}"#)
            .await
            .expect(400);
    }
    for query in [
        "",
        "?api-version=2020-01-01",
        "?api-version=a&api-version=b",
        "?%ff=%ff",
    ] {
        let bare = format!("{GROUP}{query}");
        assert_eq!(
            world.get(&bare).await.expect(400).code(),
            "InvalidApiVersionParameter"
        );
    }
    let list: Value = world
        .get(&format!("/planes/radius/local/resourcegroups?{version}"))
        .await
        .expect(200)
        .body;
    assert_eq!(list["value"].as_array().unwrap().len(), 1);
}

#[apply(on_every_store)]
async fn what_no_url_can_lead_to_is_refused(world: &World) {
    for alias in [".", ".."] {
        let put = world.put("AWS.EC2/VPC", alias, json!({"CidrBlock": "10.0.0.0/16"}));
        assert_eq!(put.await.expect(400).code(), "BadRequest");
    }
    let logs = json!({"LogGroupName": ".."});
    let put = world.put("AWS.Logs/LogGroup", "logs", logs).await;
    assert_eq!(put.expect(400).code(), "BadRequest");
    assert!(world.references().await.is_empty());
}

#[apply(on_every_store)]
async fn numbers_are_kept_exactly(world: &World) {
    let policy = r#"{"Big":9007199254740993,"Long":0.12345678901234567890123456789}"#;
    let body = format!(
        r#"{{"trackedBy":"{}","properties":{{"LogGroupName":"logs","DataProtectionPolicy":{policy}}}}}"#,
        ucp_testkit::tracked_by("AWS.Logs/LogGroup", "main")
    );
    let path = format!(
        "/planes/aws/aws/accounts/{}/regions/{}/providers/AWS.Logs/LogGroup/:put",
        ucp_testkit::ACCOUNT,
        ucp_testkit::REGION
    );
    let reply = world.call("POST", &path, &body).await.expect(201);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    let live = serde_json::to_string(&world.aws.resources()).expect("JSON");
    for number in ["9007199254740993", "0.12345678901234567890123456789"] {
        assert!(live.contains(number), "{live}");
    }
}
