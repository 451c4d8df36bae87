use std::time::Duration;

use serde_json::json;
use ucp_simulator::faults::Fault;
use ucp_simulator::{ExceptionCode, HandlerErrorCode, OperationStatus, Outcome};

use crate::aws::{Aws, LOG_GROUP, VPC, create, delete, update, with_token};

#[test]
fn throttling_is_a_bucket_that_refills() {
    let mut aws = Aws::new();
    aws.fault(json!({
        "match": {"operation": "GetResource"},
        "effect": {"kind": "throttle", "rate": 2.0, "burst": 3},
    }));
    let get = |aws: &mut Aws| aws.get(VPC, "vpc-0").unwrap_err().code;
    let burst = [(); 4].map(|()| get(&mut aws));
    assert_eq!(burst[2], ExceptionCode::ResourceNotFound);
    assert_eq!(burst[3], ExceptionCode::Throttling);
    aws.pass(Duration::from_millis(500));
    assert_eq!(get(&mut aws), ExceptionCode::ResourceNotFound);
    assert_eq!(get(&mut aws), ExceptionCode::Throttling);
    // Other operations have buckets of their own.
    assert!(aws.change(&create(VPC, &json!({}))).is_ok());
}

#[test]
fn a_fault_strikes_what_it_matches_and_as_often_as_it_says() {
    let mut aws = Aws::new();
    aws.fault(json!({
        "match": {"operation": "CreateResource", "typeName": LOG_GROUP, "account": "123456789012"},
        "count": 2,
        "effect": {"kind": "refuse", "exception": "AccessDeniedException", "message": "no"},
    }));
    aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    let request = create(LOG_GROUP, &json!({"LogGroupName": "a"}));
    for _ in 0..2 {
        assert_eq!(
            aws.change(&request).unwrap_err().code,
            ExceptionCode::AccessDenied
        );
    }
    aws.succeed(&request);
    assert_eq!(aws.world.faults().count(), 0);
}

#[test]
fn an_unlikely_fault_strikes_sometimes() {
    let mut aws = Aws::new();
    aws.fault(json!({
        "probability": 0.5,
        "effect": {"kind": "refuse", "exception": "ServiceInternalErrorException"},
    }));
    let struck = (0..100)
        .filter(|_| aws.get(VPC, "v").unwrap_err().code == ExceptionCode::ServiceInternalError)
        .count();
    assert!((30..70).contains(&struck), "{struck}");
}

#[test]
fn a_create_fails_with_and_without_identifier_and_resource() {
    for (identifier, change) in [
        ("revealed", "made"),
        ("revealed", "notMade"),
        ("hidden", "made"),
        ("hidden", "notMade"),
    ] {
        let mut aws = Aws::new();
        aws.fault(json!({
            "count": 1,
            "effect": {
                "kind": "fail", "errorCode": "NotStabilized", "message": "too slow",
                "identifier": identifier, "change": change,
            },
        }));
        let event = aws.finish(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
        assert_eq!(event.operation_status, OperationStatus::Failed);
        assert_eq!(event.error_code, Some(HandlerErrorCode::NotStabilized));
        assert_eq!(event.status_message.as_deref(), Some("too slow"));
        assert_eq!(event.identifier.is_some(), identifier == "revealed");
        assert_eq!(aws.get(LOG_GROUP, "a").is_ok(), change == "made");
        // Whatever happened, the resource is not busy.
        aws.finish(&delete(LOG_GROUP, "a"));
        aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    }
}

#[test]
fn updates_and_deletes_fail_before_or_after_their_change() {
    for change in ["made", "notMade"] {
        let mut aws = Aws::new();
        aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
        aws.fault(json!({
            "effect": {"kind": "fail", "errorCode": "ServiceInternalError", "change": change},
        }));
        let patch = json!([{"op": "add", "path": "/RetentionInDays", "value": 7}]);
        let event = aws.finish(&update(LOG_GROUP, "a", &patch));
        assert_eq!(event.operation_status, OperationStatus::Failed);
        let was_made = aws
            .get(LOG_GROUP, "a")
            .unwrap()
            .get("RetentionInDays")
            .is_some();
        assert_eq!(was_made, change == "made");
        aws.finish(&delete(LOG_GROUP, "a"));
        assert_eq!(aws.get(LOG_GROUP, "a").is_err(), change == "made");
    }
}

#[test]
fn a_change_takes_as_long_as_ordered() {
    let mut aws = Aws::new();
    aws.fault(json!({"effect": {"kind": "latency", "leastMillis": 60_000, "mostMillis": 90_000}}));
    let event = aws.finish(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    assert_eq!(event.operation_status, OperationStatus::Pending);
    aws.pass(Duration::from_secs(90));
    let event = aws.status(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::Success);
}

#[test]
fn a_call_whose_reply_is_dropped_is_carried_out() {
    let mut aws = Aws::new();
    aws.fault(json!({
        "match": {"operation": "CreateResource"}, "count": 1, "effect": {"kind": "dropReply"},
    }));
    let request = with_token(create(LOG_GROUP, &json!({"LogGroupName": "a"})), "t");
    assert_eq!(aws.step(&request), Outcome::Dropped);
    let repeated = aws.change(&request).unwrap();
    aws.pass(Duration::from_secs(1));
    let event = aws.status(&repeated.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::Success);
    let log: Vec<_> = aws.world.log().map(|entry| entry.outcome).collect();
    assert_eq!(log, ["dropped", "replied", "replied"]);
    let tokens = aws.world.log().map(|entry| entry.client_token.as_deref());
    assert_eq!(tokens.flatten().collect::<Vec<_>>(), ["t", "t"]);
}

#[test]
fn a_repetition_does_not_use_up_a_failure() {
    let mut aws = Aws::new();
    let request = with_token(create(LOG_GROUP, &json!({"LogGroupName": "a"})), "t");
    aws.change(&request).unwrap();
    aws.fault(json!({"count": 1, "effect": {"kind": "fail", "errorCode": "NetworkFailure"}}));
    aws.change(&request).unwrap();
    assert_eq!(aws.world.faults().count(), 1);
}

#[test]
fn a_fault_is_read_as_it_is_written() {
    let document = json!({
        "match": {"operation": "CreateResource", "region": "us-west-2"},
        "count": 3,
        "probability": 0.25,
        "effect": {"kind": "fail", "errorCode": "Throttling", "message": "", "identifier": "hidden", "change": "made"},
    });
    let fault: Fault = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(serde_json::to_value(fault).unwrap(), document);
    for wrong in [
        json!({}),
        json!({"effect": {"kind": "explode"}}),
        json!({"effect": {"kind": "dropReply"}, "matches": {}}),
        json!({"effect": {"kind": "fail", "errorCode": "NoSuchCode"}}),
    ] {
        assert!(
            serde_json::from_value::<Fault>(wrong.clone()).is_err(),
            "{wrong}"
        );
    }
}
