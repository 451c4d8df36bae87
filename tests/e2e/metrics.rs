//! What operators read of a server: counts of requests, of calls to AWS, of operations, and of what is left behind.

use serde_json::json;
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{GROUP, World, apply, on_every_store, tracked_by};

const VPC: &str = "AWS.EC2/VPC";

/// Returns the value of a metric, if the text has it.
async fn metric(world: &World, name: &str) -> Option<u64> {
    let reply = world.get("/metrics").await.expect(200);
    let content_type = reply.header("content-type").unwrap_or_default();
    assert!(content_type.starts_with("application/openmetrics-text"));
    let line = reply.text.lines().find_map(|line| {
        let (metric, value) = line.rsplit_once(' ')?;
        (metric == name).then_some(value)
    });
    line.map(|value| value.parse().expect("a count"))
}

#[apply(on_every_store)]
async fn requests_calls_and_operations_are_counted(world: &World) {
    let properties = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", properties.clone()).await;
    let body = json!({"trackedBy": tracked_by(VPC, "main"), "properties": properties});
    world.post(VPC, "put", &body).await.expect(200);
    world.get("/nowhere").await.expect(404);
    world.call("BREW", &format!("{GROUP}/pot"), "").await;
    let put =
        "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}/:put";
    for (name, expected) in [
        (
            format!(r#"ucp_http_requests_total{{route="{put}",method="POST",status="201"}}"#),
            1,
        ),
        (
            format!(r#"ucp_http_requests_total{{route="{put}",method="POST",status="200"}}"#),
            1,
        ),
        (
            format!(r#"ucp_http_request_duration_seconds_count{{route="{put}",method="POST"}}"#),
            2,
        ),
        (
            r#"ucp_http_requests_total{route="unserved",method="GET",status="404"}"#.to_owned(),
            1,
        ),
        (
            r#"ucp_http_requests_total{route="unserved",method="other",status="404"}"#.to_owned(),
            1,
        ),
        (
            r#"ucp_aws_calls_total{call="CreateResource",outcome="ok"}"#.to_owned(),
            1,
        ),
        (
            r#"ucp_operations_ended_total{kind="put",status="Succeeded"}"#.to_owned(),
            1,
        ),
        ("ucp_operations_live".to_owned(), 0),
        ("ucp_leftovers".to_owned(), 0),
    ] {
        assert_eq!(metric(world, &name).await, Some(expected), "{name}");
    }
}

/// What the store has is counted at most once in ten seconds.
#[apply(on_every_store)]
async fn what_is_left_behind_is_counted(world: &World) {
    let first = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", first).await;
    assert_eq!(metric(world, "ucp_leftovers").await, Some(0));
    let kept = fail(HandlerErrorCode::InvalidRequest).saying("has dependencies");
    world
        .aws
        .add_fault(fault(kept).on(Action::DeleteResource).times(5));
    let body = json!({
        "trackedBy": tracked_by(VPC, "main"),
        "replacementPolicy": "createBeforeDelete",
        "properties": {"CidrBlock": "10.1.0.0/16"},
    });
    world.post(VPC, "put", &body).await.expect(201);
    world.settle().await;
    world.clock.advance(std::time::Duration::from_secs(10));
    assert_eq!(metric(world, "ucp_leftovers").await, Some(1));
    let (asked, _) = (
        world.asked_store("count_leftovers"),
        metric(world, "ucp_leftovers").await,
    );
    assert_eq!(world.asked_store("count_leftovers"), asked);
}
