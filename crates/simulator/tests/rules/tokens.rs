use std::time::Duration;

use serde_json::json;
use ucp_simulator::faults::{Effect, fault};
use ucp_simulator::{Action, ExceptionCode, OperationStatus};

use crate::aws::{Aws, LOG_GROUP, VPC, create, delete, with_token};

#[test]
fn a_repeated_request_is_the_same_request() {
    let mut aws = Aws::new();
    let request = with_token(create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})), "t");
    let first = aws.change(&request).unwrap();
    assert_eq!(aws.change(&request).unwrap(), first);
    aws.pass(Duration::from_hours(35));
    let repeated = aws.change(&request).unwrap();
    assert_eq!(repeated.request_token, first.request_token);
    assert_eq!(repeated.operation_status, OperationStatus::Success);
    assert_eq!(aws.world.resources(aws.now, &aws.entropy).len(), 1);
}

#[test]
fn a_token_that_means_something_else_conflicts() {
    let mut aws = Aws::new();
    let first = with_token(create(LOG_GROUP, &json!({"LogGroupName": "a"})), "t");
    let first = aws.change(&first).unwrap();
    for other in [
        create(LOG_GROUP, &json!({"LogGroupName": "b"})),
        create(VPC, &json!({})),
        delete(LOG_GROUP, "a"),
    ] {
        let refusal = aws.change(&with_token(other, "t")).unwrap_err();
        assert_eq!(refusal.code, ExceptionCode::ClientTokenConflict);
        assert!(refusal.message.contains(&first.request_token));
    }
}

#[test]
fn a_call_conflicts_with_its_own_token_although_it_is_carried_out() {
    let mut aws = Aws::new();
    let conflict = fault(Effect::ConflictToken {}).on(Action::CreateResource);
    aws.world.add_fault(conflict.times(2));
    let request = with_token(create(LOG_GROUP, &json!({"LogGroupName": "a"})), "t");
    let first = aws.change(&request).unwrap_err();
    assert_eq!(first.code, ExceptionCode::ClientTokenConflict);
    // A repetition conflicts with the same request.
    assert_eq!(aws.change(&request).unwrap_err(), first);
    let event = aws.change(&request).unwrap();
    assert!(
        first.message.contains(&event.request_token),
        "{}",
        first.message
    );
    aws.pass(Duration::from_secs(1));
    let event = aws.status(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::Success);
    assert!(aws.get(LOG_GROUP, "a").is_ok());
}

#[test]
fn a_token_is_forgotten_after_36_hours() {
    let mut aws = Aws::new();
    let request = with_token(create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})), "t");
    let first = aws.change(&request).unwrap();
    aws.pass(Duration::from_hours(36));
    assert_ne!(
        aws.change(&request).unwrap().request_token,
        first.request_token
    );
    aws.pass(Duration::from_secs(1));
    assert_eq!(aws.world.resources(aws.now, &aws.entropy).len(), 2);
    // The token identifies the newer request, even after the older one has expired.
    aws.pass(Duration::from_hours(35));
    let repeated = aws.change(&request).unwrap();
    assert_ne!(repeated.request_token, first.request_token);
}

#[test]
fn a_refused_request_does_not_use_up_its_token() {
    let mut aws = Aws::new();
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    aws.change(&delete(LOG_GROUP, "a")).unwrap();
    let again = with_token(delete(LOG_GROUP, "a"), "t");
    let refusal = aws.change(&again).unwrap_err();
    assert_eq!(refusal.code, ExceptionCode::ConcurrentOperation);
    aws.pass(Duration::from_secs(1));
    assert_eq!(
        aws.change(&again).unwrap().operation_status,
        OperationStatus::Pending
    );
}

#[test]
fn a_repetition_is_recognised_while_the_resource_is_busy() {
    let mut aws = Aws::new();
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    let request = with_token(delete(LOG_GROUP, "a"), "t");
    let first = aws.change(&request).unwrap();
    assert_eq!(aws.change(&request).unwrap(), first);
}

#[test]
fn a_token_has_the_form_that_aws_wants() {
    let mut aws = Aws::new();
    for token in ["", "a b", &"x".repeat(129)] {
        let request = with_token(create(VPC, &json!({})), token);
        assert_eq!(
            aws.change(&request).unwrap_err().code,
            ExceptionCode::Validation
        );
    }
}
