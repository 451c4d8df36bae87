use std::time::Duration;

use serde_json::json;
use ucp_simulator::faults::{
    Cancelling, Change, Disclosure, Effect, Failure, Fault, Sharing, fail, fault, refuse,
};
use ucp_simulator::{
    Action, Caller, ExceptionCode, HandlerErrorCode, OperationStatus, Outcome, Request,
};

use crate::aws::{Aws, LOG_GROUP, VPC, create, delete, update, with_token};

#[test]
fn throttling_is_a_bucket_that_refills() {
    let mut aws = Aws::new();
    aws.world.add_fault(
        fault(Effect::Throttle {
            rate: 2.0,
            burst: 3,
        })
        .on(Action::GetResource),
    );
    let get = |aws: &mut Aws| aws.get(VPC, "vpc-0").unwrap_err().code;
    let burst = [(); 4].map(|()| get(&mut aws));
    assert_eq!(burst[2], ExceptionCode::ResourceNotFound);
    assert_eq!(burst[3], ExceptionCode::Throttling);
    aws.pass(Duration::from_millis(500));
    assert_eq!(get(&mut aws), ExceptionCode::ResourceNotFound);
    assert_eq!(get(&mut aws), ExceptionCode::Throttling);
    // Other operations have their own buckets.
    assert!(aws.change(&create(VPC, &json!({}))).is_ok());
}

#[test]
fn mutations_and_reads_have_a_quota_each() {
    let mut aws = Aws::new();
    for (calls, rate) in [(Sharing::Mutations, 5.0), (Sharing::Reads, 25.0)] {
        let burst = 2;
        aws.world
            .add_fault(fault(Effect::Quota { calls, rate, burst }));
    }
    let throttled = Err(ExceptionCode::Throttling);
    let made = aws.change(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    let token = made.unwrap().request_token;
    let changed =
        |aws: &mut Aws, request: &Request| aws.change(request).map(drop).map_err(|it| it.code);
    let other = create(VPC, &json!({"CidrBlock": "10.0.0.0/16"}));
    assert_eq!(changed(&mut aws, &other), Ok(()));
    assert_eq!(changed(&mut aws, &delete(LOG_GROUP, "a")), throttled);
    assert_eq!(
        aws.cancel(&token).unwrap_err().code,
        ExceptionCode::Throttling
    );
    // Reads have their own tokens, of which polls take some.
    assert!(aws.status(&token).is_ok());
    let read = |aws: &mut Aws| aws.get(VPC, "vpc-0").unwrap_err().code;
    assert_eq!(read(&mut aws), ExceptionCode::ResourceNotFound);
    assert_eq!(read(&mut aws), ExceptionCode::Throttling);
    aws.pass(Duration::from_millis(40));
    assert_eq!(read(&mut aws), ExceptionCode::ResourceNotFound);
    assert_eq!(changed(&mut aws, &other), throttled);
    aws.pass(Duration::from_millis(160));
    assert_eq!(changed(&mut aws, &other), Ok(()));
    // Other regions have their own tokens.
    aws.caller = Caller::new("123456789012", "eu-west-1");
    assert_eq!(changed(&mut aws, &other), Ok(()));
}

#[test]
fn a_change_does_not_say_when_to_poll_again() {
    let mut aws = Aws::new();
    aws.world.add_fault(fault(Effect::NoRetryAfter {}).times(1));
    let request = create(VPC, &json!({"CidrBlock": "10.0.0.0/16"}));
    let event = aws.change(&request).unwrap();
    assert_eq!(event.retry_after, None);
    aws.pass(Duration::from_millis(250));
    let event = aws.status(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::InProgress);
    assert_eq!(event.retry_after, None);
    assert_eq!(aws.cancel(&event.request_token).unwrap().retry_after, None);
    assert!(aws.change(&request).unwrap().retry_after.is_some());
}

#[test]
fn a_fault_strikes_what_it_matches_and_as_often_as_it_says() {
    let mut aws = Aws::new();
    aws.world.add_fault(
        fault(refuse(ExceptionCode::AccessDenied).saying("no"))
            .on(Action::CreateResource)
            .of_type(LOG_GROUP)
            .by_account("123456789012")
            .times(2),
    );
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
    aws.world
        .add_fault(fault(refuse(ExceptionCode::ServiceInternalError)).with_probability(0.5));
    let struck = (0..100)
        .filter(|_| aws.get(VPC, "v").unwrap_err().code == ExceptionCode::ServiceInternalError)
        .count();
    assert!((30..70).contains(&struck), "{struck}");
}

#[test]
fn an_existing_resource_is_sometimes_not_found() {
    let mut aws = Aws::new();
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    aws.world.add_fault(
        fault(refuse(ExceptionCode::ResourceNotFound))
            .on(Action::GetResource)
            .with_probability(0.5),
    );
    let found: Vec<bool> = (0..100)
        .map(|_| aws.get(LOG_GROUP, "a").map_err(|refused| refused.code))
        .inspect(|read| assert!(matches!(read, Ok(_) | Err(ExceptionCode::ResourceNotFound))))
        .map(|read| read.is_ok())
        .collect();
    let times = found.iter().filter(|found| **found).count();
    assert!((30..70).contains(&times), "{found:?}");
}

#[test]
fn a_create_fails_with_and_without_identifier_and_resource() {
    for (identifier, change) in [
        (Disclosure::Revealed, Change::Made),
        (Disclosure::Revealed, Change::NotMade),
        (Disclosure::Hidden, Change::Made),
        (Disclosure::Hidden, Change::NotMade),
    ] {
        let mut aws = Aws::new();
        let failure = Failure {
            identifier,
            change,
            ..fail(HandlerErrorCode::NotStabilized).saying("too slow")
        };
        aws.world.add_fault(fault(failure).times(1));
        let event = aws.finish(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
        assert_eq!(event.operation_status, OperationStatus::Failed);
        assert_eq!(event.error_code, Some(HandlerErrorCode::NotStabilized));
        assert_eq!(event.status_message.as_deref(), Some("too slow"));
        assert_eq!(
            event.identifier.is_some(),
            identifier == Disclosure::Revealed
        );
        assert_eq!(aws.get(LOG_GROUP, "a").is_ok(), change == Change::Made);
        // In any case, the resource is unlocked.
        aws.finish(&delete(LOG_GROUP, "a"));
        aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    }
}

#[test]
fn updates_and_deletes_fail_before_or_after_their_change() {
    for change in [Change::Made, Change::NotMade] {
        let mut aws = Aws::new();
        aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
        let failure = Failure {
            change,
            ..fail(HandlerErrorCode::ServiceInternalError)
        };
        aws.world.add_fault(fault(failure));
        let patch = json!([{"op": "add", "path": "/RetentionInDays", "value": 7}]);
        let event = aws.finish(&update(LOG_GROUP, "a", &patch));
        assert_eq!(event.operation_status, OperationStatus::Failed);
        let was_made = aws
            .get(LOG_GROUP, "a")
            .unwrap()
            .get("RetentionInDays")
            .is_some();
        assert_eq!(was_made, change == Change::Made);
        aws.finish(&delete(LOG_GROUP, "a"));
        assert_eq!(aws.get(LOG_GROUP, "a").is_err(), change == Change::Made);
    }
}

#[test]
fn a_change_takes_as_long_as_ordered() {
    let mut aws = Aws::new();
    aws.world.add_fault(fault(Effect::Latency {
        least_millis: 60_000,
        most_millis: 90_000,
    }));
    let event = aws.finish(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    assert_eq!(event.operation_status, OperationStatus::Pending);
    aws.pass(Duration::from_secs(90));
    let event = aws.status(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::Success);
}

#[test]
fn a_change_that_stays_pending_keeps_no_name_of_what_has_gone() {
    let patch = json!([{"op": "add", "path": "/RetentionInDays", "value": 7}]);
    for change in [update(LOG_GROUP, "a", &patch), delete(LOG_GROUP, "a")] {
        let mut aws = Aws::new();
        let request = create(LOG_GROUP, &json!({"LogGroupName": "a"}));
        aws.succeed(&request);
        let cancel = Cancelling::Accepted;
        aws.world
            .add_fault(fault(Effect::StayPending { cancel }).times(1));
        aws.change(&change).unwrap();
        aws.pass(Duration::from_secs(1));
        let again = aws.finish(&request);
        assert_eq!(again.error_code, Some(HandlerErrorCode::AlreadyExists));
        aws.world
            .delete_out_of_band(None, None, (LOG_GROUP, "a"), aws.now, &aws.entropy)
            .unwrap();
        // Of two creates, only one gets the name.
        let tokens = [(); 2].map(|()| aws.change(&request).unwrap().request_token);
        aws.pass(Duration::from_secs(1));
        let mut ends = tokens.map(|token| aws.status(&token).unwrap().operation_status);
        ends.sort();
        assert_eq!(ends, [OperationStatus::Success, OperationStatus::Failed]);
        // The request is still in flight.
        let refused = aws.change(&update(LOG_GROUP, "a", &patch)).unwrap_err();
        assert_eq!(refused.code, ExceptionCode::ConcurrentOperation);
    }
}

#[test]
fn a_change_stays_pending_for_ever_unless_its_cancel_is_accepted() {
    for cancel in [
        Cancelling::Accepted,
        Cancelling::Refused,
        Cancelling::Ignored,
    ] {
        let mut aws = Aws::new();
        aws.world
            .add_fault(fault(Effect::StayPending { cancel }).times(1));
        let request = create(LOG_GROUP, &json!({"LogGroupName": "a"}));
        let token = aws.change(&request).unwrap().request_token;
        aws.pass(Duration::from_hours(24 * 6));
        let event = aws.status(&token).unwrap();
        assert_eq!(event.operation_status, OperationStatus::Pending);
        assert_eq!(event.retry_after, None);
        let cancelled = aws.cancel(&token).map(|event| event.operation_status);
        aws.pass(Duration::from_secs(1));
        let end = aws.status(&token).unwrap().operation_status;
        match cancel {
            Cancelling::Accepted => {
                assert_eq!(cancelled, Ok(OperationStatus::CancelInProgress));
                assert_eq!(end, OperationStatus::CancelComplete);
            }
            Cancelling::Refused => {
                let refused = cancelled.unwrap_err();
                assert_eq!(refused.code, ExceptionCode::Validation);
                assert!(refused.message.contains(&token), "{}", refused.message);
                assert_eq!(end, OperationStatus::Pending);
            }
            Cancelling::Ignored => {
                assert_eq!(cancelled, Ok(OperationStatus::Pending));
                assert_eq!(end, OperationStatus::Pending);
            }
        }
        assert!(aws.get(LOG_GROUP, "a").is_err());
        // Another create of the same name is carried out.
        aws.succeed(&request);
    }
}

#[test]
fn an_update_succeeds_and_silently_leaves_the_given_paths_as_they_were() {
    let mut aws = Aws::new();
    let tags = json!([{"Key": "a", "Value": "1"}]);
    let declared = json!({"LogGroupName": "a", "RetentionInDays": 1, "Tags": tags});
    aws.succeed(&create(LOG_GROUP, &declared));
    let before = aws.get(LOG_GROUP, "a").unwrap();
    let paths = [
        "/RetentionInDays",
        "/Tags/0/Value",
        "/DataProtectionPolicy",
        "/KmsKeyId",
    ];
    let paths = paths.map(str::to_owned).to_vec();
    aws.world
        .add_fault(fault(Effect::DropPaths { paths }).times(1));
    let patch = json!([
        {"op": "replace", "path": "/RetentionInDays", "value": 7},
        {"op": "replace", "path": "/Tags/0/Value", "value": "2"},
        {"op": "add", "path": "/DataProtectionPolicy", "value": {}},
        {"op": "add", "path": "/Tags/-", "value": {"Key": "b", "Value": "1"}},
    ]);
    aws.succeed(&update(LOG_GROUP, "a", &patch));
    let mut after = aws.get(LOG_GROUP, "a").unwrap();
    assert_eq!(after["Tags"][1]["Key"], "b");
    after["Tags"].as_array_mut().unwrap().truncate(1);
    assert_eq!(after, before);
    // The fault is used up.
    aws.succeed(&update(LOG_GROUP, "a", &json!([patch[0]])));
    assert_eq!(aws.get(LOG_GROUP, "a").unwrap()["RetentionInDays"], 7);
}

#[test]
fn a_change_silently_leaves_a_drawn_path_as_it_was() {
    let mut aws = Aws::new();
    let paths = Vec::new();
    aws.world.add_fault(fault(Effect::DropPaths { paths }));
    let tags = json!([{"Key": "a", "Value": "1"}]);
    let declared = json!({"LogGroupName": "a", "RetentionInDays": 1, "Tags": tags});
    aws.succeed(&create(LOG_GROUP, &declared));
    let before = aws.get(LOG_GROUP, "a").unwrap();
    let has = |model: &serde_json::Value| {
        ["RetentionInDays", "Tags"].map(|name| model.get(name) == declared.get(name))
    };
    assert!(matches!(has(&before), [true, false] | [false, true]));
    let missing = if has(&before)[0] {
        "Tags"
    } else {
        "RetentionInDays"
    };
    let patch = json!([{"op": "add", "path": format!("/{missing}"), "value": declared[missing]}]);
    aws.succeed(&update(LOG_GROUP, "a", &patch));
    assert_eq!(aws.get(LOG_GROUP, "a").unwrap(), before);
    // What a resource cannot lack is not drawn.
    let subnet = json!({"VpcId": "vpc-0123456789abcdef0", "CidrBlock": "10.0.0.0/24"});
    let id = aws.succeed(&create("AWS::EC2::Subnet", &subnet));
    assert_eq!(
        aws.get("AWS::EC2::Subnet", &id).unwrap()["VpcId"],
        subnet["VpcId"]
    );
}

#[test]
fn a_call_whose_reply_is_dropped_is_carried_out() {
    let mut aws = Aws::new();
    aws.world.add_fault(
        fault(Effect::DropReply {})
            .on(Action::CreateResource)
            .times(1),
    );
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
fn a_call_that_hangs_is_carried_out_or_not() {
    for carried_out in [true, false] {
        let mut aws = Aws::new();
        aws.world
            .add_fault(fault(Effect::Hang { carried_out }).times(1));
        let request = create(LOG_GROUP, &json!({"LogGroupName": "a"}));
        assert_eq!(aws.step(&request), Outcome::Hung);
        aws.pass(Duration::from_secs(1));
        assert_eq!(aws.get(LOG_GROUP, "a").is_ok(), carried_out);
        assert_eq!(aws.world.log().next().unwrap().outcome, "hung");
    }
}

#[test]
fn a_handler_that_runs_twice_meets_its_own_resource() {
    let mut aws = Aws::new();
    aws.world
        .add_fault(fault(Effect::RunTwice {}).on(Action::CreateResource));
    let event = aws.finish(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    assert_eq!(event.operation_status, OperationStatus::Failed);
    assert_eq!(event.error_code, Some(HandlerErrorCode::AlreadyExists));
    assert_eq!(event.identifier.as_deref(), Some("a"));
    assert!(event.status_message.unwrap().contains("already exists"));
    assert!(aws.get(LOG_GROUP, "a").is_ok());
    // AWS assigns the identifier: nothing is in the way.
    aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    assert_eq!(aws.world.resources(aws.now, &aws.entropy).len(), 2);
}

#[test]
fn a_repetition_does_not_use_up_a_failure() {
    let mut aws = Aws::new();
    let request = with_token(create(LOG_GROUP, &json!({"LogGroupName": "a"})), "t");
    aws.change(&request).unwrap();
    aws.world
        .add_fault(fault(fail(HandlerErrorCode::NetworkFailure)).times(1));
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
    let lag = json!({"match": {}, "probability": 0.5, "effect": {"kind": "lag", "leastMillis": 1, "mostMillis": 2}});
    let fault: Fault = serde_json::from_value(lag.clone()).unwrap();
    assert_eq!(serde_json::to_value(fault).unwrap(), lag);
    let pending = json!({"effect": {"kind": "stayPending", "cancel": "ignored"}});
    let fault: Fault = serde_json::from_value(pending).unwrap();
    let cancel = Cancelling::Ignored;
    assert_eq!(fault.effect, Effect::StayPending { cancel });
    let throttle =
        r#"{"probability": 0.5, "effect": {"kind": "throttle", "rate": 2.5, "burst": 1}}"#;
    let fault: Fault = serde_json::from_str(throttle).unwrap();
    let (rate, burst) = (2.5, 1);
    assert_eq!(fault.effect, Effect::Throttle { rate, burst });
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
