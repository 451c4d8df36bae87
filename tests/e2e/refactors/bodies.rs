//! What is wrong with a body is told at once, each in its place.

use super::*;

#[apply(on_every_store)]
async fn all_that_is_wrong_is_told_at_once(world: &World) {
    world.put_and_settle(LOGS, "a", logs("main")).await;
    let resources = json!([
        {"alias": "a", "type": LOGS, "properties": {"LogGroupName": {"$reference": "AWS.EC2/VPC/none#/VpcId"}}},
        {"alias": "b", "type": "AWS.EC2/Nonsense"},
        {"alias": "no/alias", "type": LOGS},
        {"type": LOGS},
        {"alias": "c", "type": LOGS, "trackedBy": GROUP},
        {"alias": "a", "type": LOGS},
        7,
    ]);
    let body = json!({"mode": "plan", "scope": scope(),
        "groups": [{"name": OLD, "resources": resources}, {"name": "x/y", "resources": []}, {"name": "q"},
            {"name": "tagged", "resources": [], "tags": 7}],
        "moves": [{"from": "nonsense", "to": "rg/AWS.Logs/LogGroup/a"}],
        "exclude": ["?"], "onAmbiguity": "guess", "emptiedGroups": 7});
    world.expect_log("no schema");
    let refused = post(world, PLANE, &body).await.expect(400);
    assert_eq!(refused.code(), "BadRequest");
    let details = refused.body["error"]["details"]
        .as_array()
        .expect("details");
    let mut targets: Vec<&str> = details
        .iter()
        .filter_map(|detail| detail["target"].as_str())
        .collect();
    targets.sort_unstable();
    let expected = [
        "/emptiedGroups",
        "/exclude/0",
        "/groups/0/resources/0/properties/LogGroupName",
        "/groups/0/resources/1/type",
        "/groups/0/resources/2/alias",
        "/groups/0/resources/3/alias",
        "/groups/0/resources/4/trackedBy",
        "/groups/0/resources/5",
        "/groups/0/resources/6",
        "/groups/1/name",
        "/groups/2/resources",
        "/groups/3",
        "/moves/0/from",
        "/onAmbiguity",
    ];
    assert_eq!(targets, expected, "{}", refused.text);
}

#[apply(on_every_store)]
async fn words_and_members_are_those_of_the_route(world: &World) {
    let resources = json!([]);
    for (path, body, told) in [
        (PLANE.to_owned(), json!({"groups": []}), "/mode"),
        (PLANE.to_owned(), json!({"mode": "plan"}), "/groups"),
        (
            PLANE.to_owned(),
            json!({"mode": "plan", "groups": [{"name": "rg", "resources": []}], "resources": resources}),
            "/resources",
        ),
        (
            PLANE.to_owned(),
            json!({"mode": "now", "groups": []}),
            "mode",
        ),
        (
            PLANE.to_owned(),
            json!({"mode": "plan", "groups": [], "onAmbiguity": "guess"}),
            "onAmbiguity",
        ),
        (
            PLANE.to_owned(),
            json!({"mode": "plan", "groups": [], "more": 1}),
            "/more",
        ),
        (
            format!("{GROUP}/:refactor"),
            json!({"mode": "plan"}),
            "/resources",
        ),
        (
            format!("{GROUP}/:refactor"),
            json!({"mode": "plan", "groups": [], "resources": []}),
            "/groups",
        ),
    ] {
        let refused = post(world, &path, &body).await.expect(400);
        assert!(refused.text.contains(told), "{body}: {}", refused.text);
    }
}

/// Far more than the body of any other request.
#[apply(on_every_store)]
async fn a_body_may_be_large(world: &World) {
    world.put_and_settle(LOGS, "a", logs("main")).await;
    let mut resources = vec![resource("b", LOGS, logs("main"))];
    let text = "x".repeat(500);
    let queue = |index: usize| {
        let properties =
            json!({"QueueName": format!("q{index}"), "Tags": [{"Key": "text", "Value": text}]});
        resource(&format!("q{index}"), "AWS.SQS/Queue", properties)
    };
    resources.extend((0..3_000).map(queue));
    let large = body("plan", &[(OLD, resources)]);
    assert!(large.to_string().len() > 1 << 20);
    let plan = refactor(world, &large).await;
    assert_eq!(moves(&plan).len(), 1);
    assert_eq!(
        plan["changes"]["create"].as_array().expect("creates").len(),
        3_000
    );
    let too_large = with(
        body("plan", &[]),
        json!({"fingerprint": "x".repeat(16 << 20)}),
    );
    let refused = post(world, PLANE, &too_large).await.expect(413);
    assert_eq!(refused.code(), "RequestEntityTooLarge");
}
