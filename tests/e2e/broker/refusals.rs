//! What is wrong with a request, and in which order that is told.

use serde_json::{Value, json};
use ucp_testkit::{World, apply, on_every_store};

use super::*;

#[apply(on_every_store)]
async fn an_order_is_told_what_is_wrong_with_it(world: &World) {
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let right = order(LOGS, SMALL, json!({}));
    for member in ["service_id", "plan_id", "organization_guid", "space_guid"] {
        let mut body = right.clone();
        body.as_object_mut().unwrap().remove(member);
        let missing = ask(world, "PUT", &path, &body).await;
        refused(&missing, 400, "BadRequest");
        assert!(missing.text.contains(member), "{}", missing.text);
        for wrong in [json!(1), json!(""), json!("no such one!")] {
            body[member] = wrong;
            let wrong = ask(world, "PUT", &path, &body).await;
            refused(&wrong, 400, "BadRequest");
        }
    }
    for (member, wrong) in [
        ("parameters", json!([])),
        ("context", json!("x")),
        ("maintenance_info", json!({})),
        ("maintenance_info", json!({"version": 1})),
    ] {
        let mut body = right.clone();
        body[member] = wrong;
        refused(&ask(world, "PUT", &path, &body).await, 400, "BadRequest");
    }
    for parameters in [
        json!({"retention": "x"}),
        json!({"class": "other"}),
        json!({"other": 1}),
        json!({"note": {"$reference": "x"}}),
    ] {
        let wrong = ask(world, "PUT", &path, &order(LOGS, SMALL, parameters)).await;
        refused(&wrong, 400, "BadRequest");
    }
    for id in ["a%20b", "a:b", &"a".repeat(51), "%C3%A4", ".."] {
        let path = format!("/v2/service_instances/{id}?accepts_incomplete=true");
        let reply = ask(world, "PUT", &path, &right).await;
        assert!(matches!(reply.status, 400 | 404), "{id}: {}", reply.text);
    }
    let text = world
        .send_with(
            &[
                ("authorization", &headers("cf")[0].1),
                ("x-broker-api-version", "2.17"),
                ("content-type", "text/plain"),
            ],
            "PUT",
            &path,
            &right.to_string(),
        )
        .await;
    refused(&text, 400, "BadRequest");
    let headers = headers("cf");
    let headers: Vec<(&'static str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    refused(
        &world.send_with(&headers, "PUT", &path, "{").await,
        400,
        "BadRequest",
    );
    let large = order(LOGS, SMALL, json!({"note": "x".repeat(300_000)}));
    refused(&ask(world, "PUT", &path, &large).await, 400, "BadRequest");
    // Nothing was stored or sent.
    assert!(world.aws.resources().is_empty());
    refused(
        &get(world, &format!("{}/last_operation", at("one"))).await,
        404,
        "NotFound",
    );
    world
        .get("/planes/radius/local/resourceGroups/cf-space?api-version=2023-10-01-preview")
        .await
        .expect(404);
}

/// Whoever reads may say what they take it for.
#[apply(on_every_store)]
async fn what_is_read_is_what_is_named(world: &World) {
    logs(world, "one", json!({})).await;
    wait(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(201);
    for path in [at("one"), bound("one", "b")] {
        let named = |query: &str| format!("{path}?{query}");
        let same = named(&format!("service_id={LOGS}&plan_id={SMALL}"));
        get(world, &same).await.expect(200);
        for other in [format!("service_id={BUCKET}"), format!("plan_id={LARGE}")] {
            refused(&get(world, &named(&other)).await, 400, "BadRequest");
        }
    }
    let missing = |query: &str| format!("{}?{query}", at("two"));
    let unknown = get(world, &missing("service_id=?")).await;
    refused(&unknown, 400, "BadRequest");
    let known = get(world, &missing(&format!("service_id={LOGS}"))).await;
    refused(&known, 404, "NotFound");
}

#[apply(on_every_store)]
async fn texts_of_parameters_are_texts(world: &World) {
    logs(
        world,
        "one",
        json!({"note": "((random/password)) ((bucket/Arn))"}),
    )
    .await;
    let secret = live(world, "AWS::SecretsManager::Secret").remove(0);
    assert_eq!(secret["Description"], "((random/password)) ((bucket/Arn))");
}

#[apply(on_every_store)]
async fn updates_of_nothing_are_refused(world: &World) {
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let patch = json!({"service_id": LOGS});
    refused(&ask(world, "PATCH", &path, &patch).await, 404, "NotFound");
    refused(
        &ask(world, "PATCH", &path, &json!({})).await,
        400,
        "BadRequest",
    );
    logs(world, "one", json!({})).await;
    for wrong in [
        json!({"service_id": BUCKET}),
        json!({"service_id": "x"}),
        json!({"service_id": LOGS, "plan_id": DEV}),
    ] {
        refused(&ask(world, "PATCH", &path, &wrong).await, 400, "BadRequest");
    }
    // Invalid ones are told before those that cannot change.
    let both =
        json!({"service_id": LOGS, "parameters": {"class": "INFREQUENT_ACCESS", "retention": "x"}});
    refused(&ask(world, "PATCH", &path, &both).await, 400, "BadRequest");
}

#[apply(on_every_store)]
async fn what_is_asked_is_in_the_audit(world: &World) {
    logs(world, "one", json!({})).await;
    let wrong = order(LOGS, SMALL, json!({"retention": "canary"}));
    ask(
        world,
        "PUT",
        &format!("{}?accepts_incomplete=true", at("two")),
        &wrong,
    )
    .await
    .expect(400);
    world
        .send_with(&[("x-broker-api-version", "2.17")], "PUT", &at("three"), "")
        .await
        .expect(401);
    let path = "/planes/radius/local/providers/System.Resources/auditEvents?api-version=2023-10-01-preview";
    let events = world.get(path).await.expect(200).body;
    let events: Vec<Value> = events["value"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["properties"].clone())
        .collect();
    let of = |id: &str| {
        events
            .iter()
            .find(|it| it["resourceId"] == id || it["id"] == id || it.to_string().contains(id))
            .cloned()
    };
    let made = of("/v2/service_instances/one").unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(
        (&made["caller"], &made["action"]),
        (&json!("broker:cf"), &json!("broker/serviceInstances/write")),
        "{made}"
    );
    assert!(of("/v2/service_instances/two").is_some());
    let refused = of("/v2/service_instances/three").unwrap();
    assert_eq!(refused["caller"], "anonymous", "{refused}");
    assert!(!format!("{events:?}").contains("canary"));
}

#[apply(on_every_store)]
async fn so_large_a_body_is_read_and_no_larger_one(world: &World) {
    const MOST: usize = 256 * 1024;
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let body = |size: usize| {
        let mut body = order(LOGS, SMALL, json!({}));
        body["padding"] = json!("");
        let rest = size - body.to_string().len();
        body["padding"] = json!("x".repeat(rest));
        assert_eq!(body.to_string().len(), size);
        body
    };
    let more = ask(world, "PUT", &path, &body(MOST + 1)).await;
    refused(&more, 400, "BadRequest");
    assert!(more.text.contains("262144 bytes"), "{}", more.text);
    ask(world, "PUT", &path, &body(MOST)).await.expect(202);
    world.settle().await;
}

#[apply(on_every_store)]
async fn an_id_has_so_many_characters_and_no_more(world: &World) {
    let path = |id: &str| format!("{}?accepts_incomplete=true", at(id));
    let more = ask(
        world,
        "PUT",
        &path(&"a".repeat(51)),
        &order(LOGS, SMALL, json!({})),
    )
    .await;
    refused(&more, 400, "BadRequest");
    let mut body = order(LOGS, SMALL, json!({}));
    body["space_guid"] = json!("s".repeat(50));
    body["organization_guid"] = json!("o".repeat(50));
    ask(world, "PUT", &path(&"a".repeat(50)), &body)
        .await
        .expect(202);
    world.settle().await;
    let binding = bound(&"a".repeat(50), &"b".repeat(51));
    refused(
        &ask(world, "PUT", &binding, &bind_logs()).await,
        400,
        "BadRequest",
    );
    let binding = bound(&"a".repeat(50), &"b".repeat(50));
    wait(world, "PUT", &binding, &bind_logs()).await.expect(201);
}

/// The tags that say whose a resource is, are not of those who order it.
#[apply(on_every_store)]
async fn a_parameter_gives_no_tag_of_the_broker(world: &World) {
    world.offer(&[(
        "logs.toml",
        "[parameters.note]",
        "[parameters.labels]\nat = \"secret/Tags\"\nupdatable = true\n[parameters.note]",
    )]);
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let tagged = |key: &str, value: &str| {
        let labels = json!([{"Key": "of", "Value": "me"}, {"Key": key, "Value": value}]);
        order(LOGS, SMALL, json!({"labels": labels}))
    };
    for key in [
        "osb-platform",
        "osb-organization",
        "osb-space",
        "osb-instance",
    ] {
        let wrong = ask(world, "PUT", &path, &tagged(key, "another")).await;
        refused(&wrong, 400, "BadRequest");
        assert!(wrong.text.contains(key), "{}", wrong.text);
    }
    let without = json!([{"Key": "osb-space"}]);
    let wrong = ask(
        world,
        "PUT",
        &path,
        &order(LOGS, SMALL, json!({"labels": without})),
    )
    .await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    assert_eq!(world.creates(), 0);
    let own = tagged("osb-instance", "one");
    ask(world, "PUT", &path, &own).await.expect(202);
    world.settle().await;
    let other =
        json!({"service_id": LOGS, "parameters": {"labels": [{"Key": "osb-space", "Value": "x"}]}});
    let wrong = ask(world, "PATCH", &path, &other).await;
    refused(&wrong, 400, "BadRequest");
}
