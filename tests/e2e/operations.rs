//! `operationStatuses` and `operationResults` (contract section 5, D1 to D6), as Azure's pollers read them.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{ACCOUNT, REGION, World, apply, on_every_store, tracked_by};

fn local(url: &str) -> &str {
    url.strip_prefix("http://localhost:8787")
        .expect("an absolute URL")
}

#[apply(on_every_store)]
async fn a_put_is_followed_to_its_result(world: &World) {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC/:put");
    let body = json!({"trackedBy": tracked_by("AWS.EC2/VPC", "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    let reply = world
        .send_without_waiting("POST", &path, &body.to_string())
        .await
        .expect(201);
    let (status_url, result_url) = (reply.status_url(), reply.header("location").unwrap());
    let running = world.get(local(status_url)).await.expect(200);
    assert_eq!(running.body["status"], "Accepted");
    assert!(running.body["startTime"].as_str().unwrap().ends_with('Z'));
    assert_eq!(running.header("retry-after"), Some("1"));
    let running = world.get(local(result_url)).await.expect(202);
    assert_eq!(running.header("location"), Some(result_url));
    assert_eq!(running.header("retry-after"), Some("1"));
    assert_eq!(running.text, "");

    world.settle().await;
    let done = world.get(local(status_url)).await.expect(200);
    assert_eq!(done.body["status"], "Succeeded");
    assert!(done.body["endTime"].is_string() && done.header("retry-after").is_none());
    let result = world.get(local(result_url)).await.expect(200);
    assert_eq!(result.body["id"], done.body["resourceId"]);
    assert_eq!(result.body["properties"]["provisioningState"], "Succeeded");
    for named in [&done.body, &result.body] {
        assert!(
            named.get("resourceLocation").is_none(),
            "the Python poller would follow it"
        );
    }
}

/// D49: a running operation says what it is doing, what AWS answered last, and when it goes on.
#[apply(on_every_store)]
async fn a_running_operation_tells_its_progress(world: &World) {
    world.expect_log("the call did not succeed action=create fault=throttled");
    world.aws.add_fault(
        fault(refuse(ExceptionCode::Throttling))
            .on(Action::CreateResource)
            .times(1),
    );
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC/:put");
    let body = json!({"trackedBy": tracked_by("AWS.EC2/VPC", "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    let reply = world
        .send_without_waiting("POST", &path, &body.to_string())
        .await
        .expect(201);
    let progress = async || world.status(&reply).await["properties"]["progress"].clone();
    let accepted = progress().await;
    assert_eq!(accepted["phase"], "accepted");
    assert_eq!(accepted["attempt"], 0);
    assert_eq!(accepted["waitingFor"], "a look at the resource in AWS");
    assert_eq!(accepted.get("lastError"), None);

    world.step().await;
    let throttled = progress().await;
    assert_eq!(throttled["phase"], "submitting");
    assert_eq!(throttled["attempt"], 1);
    assert_eq!(throttled["waitingFor"], "AWS to accept the create");
    assert_eq!(throttled["lastError"]["code"], "ThrottlingException");
    assert!(throttled["lastError"]["message"].is_string(), "{throttled}");
    let due_at = world
        .store
        .next_claimable_at()
        .await
        .expect("the store answers");
    let due_at = due_at.expect("it is due");
    assert_eq!(throttled["nextTryAt"], due_at.to_string());
    assert_ne!(throttled["nextTryAt"], accepted["nextTryAt"]);
    world.clock.move_to(due_at);
    world.step().await;
    let waiting = progress().await;
    assert_eq!(waiting["phase"], "waiting");
    assert_eq!(waiting.get("lastError"), None, "AWS has accepted it");
    let waited = waiting["waitingFor"].as_str().expect("a sentence");
    assert!(
        waited.starts_with("AWS to finish the create (request "),
        "{waited}"
    );
    world.settle().await;
    let ended = world.status(&reply).await;
    assert_eq!(ended["properties"].get("progress"), None, "{ended}");
    assert_eq!(ended["properties"]["CidrBlock"], "10.0.0.0/16");
}

#[apply(on_every_store)]
async fn results_of_failures_are_the_mapped_errors_and_statuses_are_always_200(world: &World) {
    for (code, status) in [
        ("AlreadyExists", 409),
        ("AccessDenied", 403),
        ("Throttling", 429),
        ("InvalidRequest", 400),
        ("InternalFailure", 500),
    ] {
        world.aws.add_fault(
            fault(fail(HandlerErrorCode::from_word(code).expect("a code")).hidden())
                .on(Action::CreateResource),
        );
        let reply = world
            .put("AWS.EC2/VPC", "main", json!({"CidrBlock": "10.0.0.0/16"}))
            .await
            .expect(201);
        world.settle().await;
        world.aws.clear_faults();
        assert_eq!(world.status(&reply).await["error"]["code"], code);
        let result = world
            .get(local(reply.header("location").unwrap()))
            .await
            .expect(status);
        assert_eq!(result.code(), code);
    }
}

#[apply(on_every_store)]
async fn a_finished_delete_has_no_result(world: &World) {
    world
        .put_and_settle("AWS.EC2/VPC", "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    let reply = world.delete("AWS.EC2/VPC", "main").await.expect(202);
    world.step().await;
    assert_eq!(world.status(&reply).await["status"], "Deleting");
    world.settle().await;
    world
        .get(local(reply.header("location").unwrap()))
        .await
        .expect(204);
    assert_eq!(
        world.get(local(reply.status_url())).await.expect(200).body["status"],
        "Succeeded"
    );
}

#[apply(on_every_store)]
async fn unknown_operations_are_404(world: &World) {
    let reply = world
        .put("AWS.EC2/VPC", "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await
        .expect(201);
    let status = local(reply.status_url());
    let base = status.rsplit_once('/').unwrap().0;
    for path in [
        format!("{base}/11111111-2222-4333-8444-555555555555"),
        format!("{base}/not-a-uuid"),
        status.replace(REGION, "eu-west-1"),
        status.replace(ACCOUNT, "999999999999"),
    ] {
        assert_eq!(world.get(&path).await.expect(404).code(), "NotFound");
        assert_eq!(
            world
                .get(&path.replace("operationStatuses", "operationResults"))
                .await
                .expect(404)
                .code(),
            "NotFound"
        );
    }
    world.settle().await;
}

#[apply(on_every_store)]
async fn polling_urls_lead_where_the_client_came_in(world: &World) {
    let path =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC/:put");
    let body = json!({"trackedBy": tracked_by("AWS.EC2/VPC", "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    let request = Request::post(&path)
        .header("host", "localhost:8787")
        .header(
            "referer",
            format!("https://front.example/apis/api.ucp.dev/v1alpha3{path}"),
        )
        .header("x-ms-correlation-request-id", "deployment-7")
        .header("x-ms-client-request-id", "call-9")
        .header("x-ms-return-client-request-id", "true")
        .body(Body::from(body.to_string()))
        .unwrap();
    let reply = world.send(request).await.expect(201);
    assert!(
        reply
            .status_url()
            .starts_with("https://front.example/apis/api.ucp.dev/v1alpha3/planes/aws/")
    );
    assert_eq!(
        reply.header("x-ms-correlation-request-id"),
        Some("deployment-7")
    );
    assert_eq!(reply.header("x-ms-client-request-id"), Some("call-9"));
    assert!(reply.header("x-ms-request-id").is_some());
    world.settle().await;
    assert_eq!(
        world.events("AWS.EC2/VPC", "main").await[0]
            .correlation_id
            .as_str(),
        "deployment-7"
    );
}
