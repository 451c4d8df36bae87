//! The audit: who asked for what, and whether they were let.

mod lists;
mod required;

use serde_json::{Value, json};
use ucp_store::{AuditEvent, AuditOutcome};
use ucp_testkit::{ACCOUNT, GROUP, REGION, StoreKind, World, apply, on_every_store, tracked_by};

const API: &str = "api-version=2023-10-01-preview";
const VPC: &str = "AWS.EC2/VPC";

/// The path of the group `rg`, as it is recorded.
const RG: &str = "/planes/radius/local/resourcegroups/rg";

/// The events since the world was built.
async fn since_built(world: &World) -> Vec<AuditEvent> {
    world.audited().await.split_off(1)
}

/// Each route of the document, with a value for each part of the path.
fn routes() -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(&ucp_api::openapi_json()).expect("a value");
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("a value") {
        let plane = match path.split('/').nth(2) {
            Some("aws" | "azure") => "aws",
            _ => "local",
        };
        let sample = path
            .replace("/planes/{type}", "/planes/radius")
            .replace(
                "/resourcegroups/{group}/providers/{namespace}/{type}",
                "/resourcegroups/rg/providers/AWS.EC2/VPC:reference",
            )
            .replace("{plane}", plane)
            .replace("{group}", "rg")
            .replace("{account}", ACCOUNT)
            .replace("{region}", REGION)
            .replace("{namespace}", "AWS.EC2")
            .replace("{type}", "VPC")
            .replace("{identifier}", "vpc-1")
            .replace("{alias}", "a")
            .replace("{credential}", "default")
            .replace("{assignment}", "bob")
            .replace("{refactor}", "2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e")
            .replace("{plan}", "2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e")
            .replace("{code}", "Conflict")
            .replace("{id}", "2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e");
        assert!(!sample.contains('{'), "{sample}");
        for method in methods.as_object().expect("a value").keys() {
            let is_method =
                ["get", "put", "post", "patch", "delete", "head"].contains(&method.as_str());
            if is_method {
                routes.push((method.to_uppercase(), sample.clone()));
            }
        }
    }
    routes
}

/// Whatever comes of it, a request that may change something is one event, and a read is none.
#[apply(on_every_store)]
async fn every_write_is_an_event_and_no_read_is(world: &World) {
    world.tolerate_log("AWS did not answer a read");
    let mut count = world.audited().await.len();
    let routes = routes();
    assert!(routes.len() > 40, "{routes:?}");
    for (method, path) in routes {
        let reads = [":get", ":validate", ":whatIf"];
        let is_write = method != "GET" && !reads.iter().any(|action| path.ends_with(action));
        let body = if method == "GET" {
            ""
        } else {
            r#"{"location":"global"}"#
        };
        let reply = world.call(&method, &format!("{path}?{API}"), body).await;
        let events = world.audited().await;
        assert_eq!(
            events.len() - count,
            usize::from(is_write),
            "{method} {path}: {}",
            reply.status
        );
        count = events.len();
        let Some(event) = events.last().filter(|_| is_write) else {
            continue;
        };
        assert_eq!(event.status, Some(reply.status));
        assert_eq!(Some(&*event.request_id), reply.header("x-ms-request-id"));
        let expected = path.split("/:").next().expect("a value");
        assert_eq!(event.id, expected, "{method} {path}");
        let verb = event.action.rsplit('/').next().expect("a value");
        assert!(
            ["write", "delete", "action"].contains(&verb),
            "{}",
            event.action
        );
        let is_done = (200..300).contains(&reply.status);
        let outcome = if is_done {
            AuditOutcome::Allowed
        } else {
            AuditOutcome::Failed
        };
        assert_eq!(event.outcome, outcome, "{method} {path}: {}", reply.text);
        assert_eq!(event.code.as_deref(), (!is_done).then(|| reply.code()));
    }
    world.settle().await;
    let count = world.audited().await.len();
    for path in ["/healthz", "/version", "/planes", "/docs/"] {
        world.send_with(&[], "POST", path, "").await.expect(405);
    }
    assert_eq!(
        world.audited().await.len(),
        count,
        "a method that is not served"
    );
}

/// A write of a group, a plane or a credential names where it changed that, and no value.
#[apply(on_every_store)]
async fn a_write_names_where_it_changed_a_resource(world: &World) {
    let group = "/planes/radius/local/resourcegroups/rg2";
    let plane = "/planes/radius/other";
    let credential = "/planes/aws/aws/providers/System.AWS/credentials/spare";
    let access_key = |secret: &str| {
        json!({"location": "global", "properties": {"kind": "AccessKey", "accessKeyId": "AKIA1",
            "secretAccessKey": secret, "storage": {"kind": "Internal"}}})
    };
    let role = json!({"location": "global", "properties": {"kind": "IRSA",
        "roleARN": "arn:aws:iam::123456789012:role/ucp", "storage": {"kind": "Internal"}}});
    let tagged = json!({"location": "global", "tags": {"team": "net"}});
    let strict = json!({"location": "global", "tags": {"team": "web"},
        "properties": {"planPolicy": "required", "defaultTags": {"a/b": "c"}}});
    let providers = |url: &str| json!({"location": "global", "properties": {"resourceProviders": {"A.B": url}}});
    let of_role = [
        "/properties/accessKeyId",
        "/properties/kind",
        "/properties/roleARN",
        "/properties/secretAccessKey",
    ];
    let of_key = [
        "/location",
        "/properties/accessKeyId",
        "/properties/kind",
        "/properties/secretAccessKey",
        "/properties/storage/kind",
        "/properties/storage/secretName",
    ];
    let of_strict = [
        "/properties/defaultTags/a~1b",
        "/properties/planPolicy",
        "/tags/team",
    ];
    let of_plane = ["/location", "/properties/resourceProviders"];
    let changes: [(&str, &str, Value, &[&str]); 14] = [
        ("PUT", group, tagged.clone(), &["/location", "/tags/team"]),
        ("PUT", group, tagged, &[]),
        ("PUT", group, strict.clone(), &of_strict),
        ("PATCH", group, json!({"tags": {"team": "web"}}), &[]),
        (
            "PATCH",
            group,
            json!({"tags": {"team": null}}),
            &["/tags/team"],
        ),
        ("PATCH", group, json!({"tags": 5}), &[]),
        ("PUT", plane, providers("http://one.test"), &of_plane),
        ("PUT", plane, providers("http://one.test"), &[]),
        ("PUT", plane, providers("http://two.test"), &of_plane[1..]),
        ("PUT", credential, access_key("canary-1"), &of_key),
        ("PUT", credential, access_key("canary-1"), &[]),
        (
            "PUT",
            credential,
            access_key("canary-2"),
            &["/properties/secretAccessKey"],
        ),
        ("PUT", credential, role.clone(), &of_role),
        ("PUT", credential, role, &[]),
    ];
    let list = format!("/planes/radius/local/providers/System.Resources/auditEvents?{API}&top=1");
    for (method, path, body, expected) in changes {
        let cell = format!("{method} {path} {body}");
        let path = format!("{path}?{API}");
        let reply = world.call(method, &path, &body.to_string()).await;
        let event = since_built(world).await.pop().expect("an event");
        assert_eq!(event.paths, expected, "{cell}: {}", reply.text);
        let listed = world.get(&list).await.expect(200);
        let told = &listed.body["value"][0]["properties"]["paths"];
        let expected = (!expected.is_empty()).then_some(expected);
        assert_eq!(*told, json!(expected), "{cell}");
        assert!(!listed.text.contains("canary"), "{}", listed.text);
    }
}

#[apply(on_every_store)]
async fn an_event_says_who_asked_for_what_and_what_came_of_it(world: &World) {
    let headers = [("x-ms-correlation-request-id", "deployment-7")];
    let path = "/planes/radius/LOCAL/resourceGroups/RG2";
    let group = world
        .send_with(
            &headers,
            "PUT",
            &format!("{path}?{API}"),
            r#"{"location":"global"}"#,
        )
        .await;
    let group = group.expect(200);
    let put = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    let refused = world
        .put(
            VPC,
            "main",
            json!({"CidrBlock": "10.0.0.0/16", "Nonsense": 1}),
        )
        .await;
    world.settle().await;
    let events = since_built(world).await;
    let [of_group, put_in_aws, of_put, refused_in_aws, of_refused] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(of_group.caller, "anonymous");
    assert_eq!(of_group.action, "System.Resources/resourceGroups/write");
    assert_eq!(of_group.id, "/planes/radius/LOCAL/resourcegroups/RG2");
    assert_eq!(of_group.outcome, AuditOutcome::Allowed);
    assert_eq!(of_group.correlation_id.as_str(), "deployment-7");
    assert_eq!(Some(&*of_group.request_id), group.header("x-ms-request-id"));
    assert_eq!(of_group.operation, None);
    let reference = format!("{RG}/providers/AWS.EC2/VPC:reference/main");
    assert_eq!(of_put.action, "AWS.EC2/VPC/write");
    assert_eq!(of_put.id, reference);
    assert_eq!(of_put.status, Some(201));
    let operation = of_put.operation.expect("a value").to_string();
    assert!(put.status_url().ends_with(&operation));
    assert_eq!(of_refused.id, reference);
    assert_eq!(of_refused.outcome, AuditOutcome::Failed);
    assert_eq!(of_refused.code.as_deref(), Some(refused.code()));
    // Who owns the account sees it, too.
    let vpcs = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}");
    for (event, in_aws) in [(of_put, put_in_aws), (of_refused, refused_in_aws)] {
        let id = vpcs.clone();
        assert_eq!(
            *in_aws,
            AuditEvent {
                id,
                ..event.clone()
            }
        );
    }
}

/// A reference is named whichever way the body names it.
#[apply(on_every_store)]
async fn the_reference_is_named_that_the_body_names(world: &World) {
    for (action, body) in [
        (
            "put",
            json!({"alias": "a", "trackedBy": GROUP, "properties": {}}),
        ),
        ("delete", json!({"trackedBy": tracked_by(VPC, "a")})),
        (
            "import",
            json!({"alias": "a", "trackedBy": GROUP, "primaryIdentifier": "vpc-0"}),
        ),
    ] {
        world.post(VPC, action, &body).await;
        world.settle().await;
        let events = world.audited().await;
        let id = &events.last().expect("a value").id;
        assert_eq!(
            *id,
            format!("{RG}/providers/AWS.EC2/VPC:reference/a"),
            "{action}"
        );
    }
}

/// Not even a statement. Whoever adopts a resource changes what the alias stands for.
#[apply(on_every_store)]
async fn a_put_that_changes_nothing_is_no_event(world: &World) {
    let properties = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", properties.clone()).await;
    let (count, statements) = (
        world.audited().await.len(),
        world.asked_store("append_audit_events"),
    );
    for _ in 0..3 {
        world.put(VPC, "main", properties.clone()).await.expect(200);
        world.clock.advance(std::time::Duration::from_secs(120));
    }
    assert_eq!(world.audited().await.len(), count);
    assert_eq!(world.asked_store("append_audit_events"), statements);
    let name = json!({"LogGroupName": "logs"});
    world
        .put_and_settle("AWS.Logs/LogGroup", "one", name.clone())
        .await;
    let count = world.audited().await.len();
    world
        .put("AWS.Logs/LogGroup", "two", name.clone())
        .await
        .expect(200);
    let events = world.audited().await;
    assert_eq!(events.len(), count + 2, "it was adopted");
    assert!(events.last().expect("a value").id.ends_with("/two"));
    world
        .put("AWS.Logs/LogGroup", "two", name)
        .await
        .expect(200);
    assert_eq!(world.audited().await.len(), count + 2);
}

#[apply(on_every_store)]
async fn a_refusal_is_an_event_even_of_a_read(world: &World) {
    let headers = [("origin", "https://evil.example")];
    world
        .send_with(&headers, "GET", GROUP, "")
        .await
        .expect(403);
    let events = since_built(world).await;
    let [refused] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(refused.outcome, AuditOutcome::Refused);
    assert_eq!(refused.code.as_deref(), Some("AuthorizationFailed"));
    assert_eq!(
        (&*refused.action, &*refused.id),
        ("System.Resources/resourceGroups/read", RG)
    );
}

/// A client that leaves does not get around the audit. What it has begun goes on, and is recorded when it has ended.
#[apply(on_every_store)]
async fn a_request_whose_client_leaves_is_an_event(world: &World) {
    world.hold_next_read();
    let properties = json!({"LogGroupName": "logs"});
    let put = world.put("AWS.Logs/LogGroup", "one", properties);
    tokio::select! {
        reply = put => panic!("{reply:?}"),
        () = world.is_read_held() => {}
    }
    assert_eq!(since_built(world).await, [], "it has not ended");
    world.release_reads();
    let left = loop {
        world.step().await;
        match since_built(world).await.pop() {
            Some(event) => break event,
            None => tokio::task::yield_now().await,
        }
    };
    assert_eq!(
        (left.outcome, left.status),
        (AuditOutcome::Allowed, Some(201))
    );
    assert!(left.operation.is_some());
    assert!(left.id.ends_with("/one"));
    world.settle().await;
}

/// Nothing of bodies, queries and headers is recorded.
#[apply(on_every_store)]
async fn secrets_are_not_recorded(world: &World) {
    const CANARY: &str = "canary-3f9a";
    let credential = json!({"location": "global", "properties": {"kind": "AccessKey",
        "accessKeyId": "AKIA1", "secretAccessKey": CANARY, "storage": {"kind": "Internal"}}});
    let headers = [
        ("authorization", "Bearer canary-3f9a"),
        ("x-remote-user", CANARY),
        ("cookie", CANARY),
    ];
    let credentials = "/planes/aws/aws/providers/System.AWS/credentials/default";
    let vpcs = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}");
    for (method, path, body) in [
        ("PUT", credentials.to_owned(), credential.to_string()),
        (
            "PUT",
            credentials.to_owned(),
            format!("{{\"{CANARY}\": 1}}"),
        ),
        (
            "POST",
            format!("{vpcs}/:put"),
            json!({"trackedBy": CANARY, "properties": {"CidrBlock": CANARY}}).to_string(),
        ),
        ("DELETE", credentials.to_owned(), String::new()),
    ] {
        let path = format!("{path}?{API}&sig={CANARY}");
        world.send_with(&headers, method, &path, &body).await;
    }
    let events = since_built(world).await;
    assert_eq!(events.len(), 4);
    let recorded = format!("{events:?}");
    assert!(!recorded.contains(CANARY), "{recorded}");
}

/// Requests of unknown callers cannot fill the store. What is not stored is counted.
#[apply(on_every_store)]
async fn logins_that_fail_do_not_flood_the_audit(kind: StoreKind) {
    let Some(builder) = World::builder().requiring_authentication().on(kind).await else {
        return;
    };
    let world = builder.build().await;
    let token = [("authorization", "Bearer canary-3f9a")];
    // More wrong tokens would be slowed.
    let logins = [&token[..]; 5].into_iter().chain([&[][..]; 65]);
    for headers in logins {
        let reply = world.send_with(headers, "GET", GROUP, "").await;
        assert_eq!(reply.status, 401, "{}", reply.text);
    }
    world.clock.advance(std::time::Duration::from_secs(60));
    world.send_with(&[], "PUT", GROUP, "{}").await.expect(401);
    let mut events = world.audited().await;
    events.retain(|event| event.outcome == AuditOutcome::Refused);
    assert_eq!(events.len(), 61);
    let (first, last) = (&events[0], &events[60]);
    assert_eq!(first.outcome, AuditOutcome::Refused);
    assert_eq!(first.code.as_deref(), Some("AuthenticationFailed"));
    assert_eq!(
        (&*first.caller, &*first.action, &*first.id),
        ("anonymous", "GET", RG)
    );
    assert_eq!((first.suppressed, last.suppressed), (0, 10));
    assert_eq!(last.action, "PUT");
    assert!(!format!("{events:?}").contains("canary"));
    world.finish().await;
}

/// What goes on after its time is over may be done yet, so it has not failed. Another event says what came of it.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_has_not_failed() {
    let world = World::builder().build().await;
    world.hold_next_accept();
    let path = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put");
    let body = json!({"alias": "main", "trackedBy": tracked_by(VPC, "main"),
        "properties": {"CidrBlock": "10.0.0.0/16"}});
    let late = world.send_with(&[], "POST", &path, &body.to_string()).await;
    let late = late.expect(503);
    assert!(late.text.contains("not answered within"), "{}", late.text);
    let given_up = world.audited().await.pop().expect("an event");
    assert_eq!(
        (given_up.outcome, given_up.status, given_up.code.as_deref()),
        (
            AuditOutcome::Unanswered,
            Some(503),
            Some("ServiceUnavailable")
        )
    );
    world.release_accepts();
    let ended = loop {
        world.settle().await;
        match world.audited().await.pop() {
            Some(event) if event != given_up => break event,
            Some(_) | None => tokio::task::yield_now().await,
        }
    };
    assert_eq!(
        (ended.outcome, ended.status),
        (AuditOutcome::Allowed, Some(201))
    );
    assert_eq!(ended.request_id, given_up.request_id);
    world.settle().await;
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
    world.finish().await;
}
