use std::time::Duration;

use serde_json::json;
use ucp_simulator::{
    ExceptionCode, ListResourceRequests, Operation, OperationStatus, StatusFilter,
};

use crate::aws::{Aws, LOG_GROUP, create, delete, update};

#[test]
fn a_change_goes_from_pending_over_in_progress_to_its_end() {
    let mut aws = Aws::new();
    let accepted_at = aws.now;
    let event = aws
        .change(&create(LOG_GROUP, &json!({"LogGroupName": "a"})))
        .unwrap();
    assert_eq!(event.operation, Operation::Create);
    assert_eq!(event.operation_status, OperationStatus::Pending);
    assert_eq!(event.identifier, None);
    let ends_at = event.retry_after.unwrap();
    let takes = ends_at.since(accepted_at);
    assert!((Duration::from_millis(300)..=Duration::from_millis(800)).contains(&takes));

    aws.pass(takes / 2);
    let event = aws.status(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::InProgress);
    assert_eq!(event.identifier.as_deref(), Some("a"));
    assert_eq!(
        aws.get(LOG_GROUP, "a").unwrap_err().code,
        ExceptionCode::ResourceNotFound
    );

    aws.pass(takes);
    let event = aws.status(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::Success);
    assert_eq!(event.event_time, ends_at);
    assert_eq!(event.retry_after, None);
    assert!(aws.get(LOG_GROUP, "a").is_ok());
}

#[test]
fn a_busy_resource_takes_no_other_change() {
    let mut aws = Aws::new();
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    let patch = json!([{"op": "add", "path": "/RetentionInDays", "value": 7}]);
    let first = aws.change(&update(LOG_GROUP, "a", &patch)).unwrap();
    for second in [delete(LOG_GROUP, "a"), update(LOG_GROUP, "a", &patch)] {
        let refusal = aws.change(&second).unwrap_err();
        assert_eq!(refusal.code, ExceptionCode::ConcurrentOperation);
        assert!(refusal.message.contains(&first.request_token));
    }
    aws.pass(Duration::from_secs(1));
    aws.succeed(&delete(LOG_GROUP, "a"));
}

#[test]
fn a_request_is_remembered_for_seven_days() {
    let mut aws = Aws::new();
    let event = aws
        .change(&create(LOG_GROUP, &json!({"LogGroupName": "a"})))
        .unwrap();
    aws.pass(Duration::from_hours(7 * 24) - Duration::from_millis(1));
    assert!(aws.status(&event.request_token).is_ok());
    aws.pass(Duration::from_millis(1));
    let refusal = aws.status(&event.request_token).unwrap_err();
    assert_eq!(refusal.code, ExceptionCode::RequestTokenNotFound);
    assert!(aws.get(LOG_GROUP, "a").is_ok());
}

#[test]
fn a_cancelled_request_changes_nothing() {
    let mut aws = Aws::new();
    let event = aws
        .change(&create(LOG_GROUP, &json!({"LogGroupName": "a"})))
        .unwrap();
    aws.pass(Duration::from_millis(250));
    let event = aws.cancel(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::CancelInProgress);
    assert_eq!(aws.cancel(&event.request_token).unwrap(), event);
    aws.pass(Duration::from_secs(1));
    let event = aws.status(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::CancelComplete);
    assert!(aws.get(LOG_GROUP, "a").is_err());
    let refusal = aws.cancel(&event.request_token).unwrap_err();
    assert_eq!(refusal.code, ExceptionCode::Validation);
    // The name is free again.
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
}

#[test]
fn requests_are_listed_the_latest_first_and_in_pages() {
    let mut aws = Aws::new();
    for number in 0..5 {
        aws.succeed(&create(
            LOG_GROUP,
            &json!({"LogGroupName": format!("g{number}")}),
        ));
    }
    aws.change(&delete(LOG_GROUP, "g0")).unwrap();
    let names = |events: &[ucp_simulator::ProgressEvent]| -> Vec<String> {
        events
            .iter()
            .filter_map(|event| event.identifier.clone())
            .collect()
    };
    let mut page = ListResourceRequests {
        max_results: Some(4),
        ..ListResourceRequests::default()
    };
    let (first, next_token) = aws.requests(&page).unwrap();
    assert_eq!(names(&first), ["g0", "g4", "g3", "g2"]);
    // Requests that arrive meanwhile do not affect the pages.
    aws.change(&delete(LOG_GROUP, "g1")).unwrap();
    page.next_token = next_token;
    let (second, next_token) = aws.requests(&page).unwrap();
    assert_eq!(names(&second), ["g1", "g0"]);
    assert_eq!(next_token, None);

    let filter = |operations, operation_statuses| ListResourceRequests {
        resource_request_status_filter: Some(StatusFilter {
            operations,
            operation_statuses,
        }),
        ..ListResourceRequests::default()
    };
    let (deletes, _) = aws
        .requests(&filter(Some(vec![Operation::Delete]), None))
        .unwrap();
    assert_eq!(names(&deletes), ["g1", "g0"]);
    let done = filter(None, Some(vec![OperationStatus::Success]));
    assert_eq!(aws.requests(&done).unwrap().0.len(), 5);
    for max_results in [0, 101, -1] {
        page.max_results = Some(max_results);
        assert_eq!(
            aws.requests(&page).unwrap_err().code,
            ExceptionCode::Validation
        );
    }
    page.max_results = None;
    page.next_token = Some("nonsense".into());
    assert_eq!(
        aws.requests(&page).unwrap_err().code,
        ExceptionCode::InvalidRequest
    );
}
