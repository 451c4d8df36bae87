use std::time::Duration;

use serde_json::json;
use ucp_simulator::{Caller, ExceptionCode, ListResourceRequests, ListResources, OperationStatus};

use crate::aws::{Aws, LOG_GROUP, create, delete, with_token};

const GROUP: &str = "AWS::IAM::Group";

fn elsewhere(aws: &mut Aws, region: &str) {
    aws.caller = Caller::new("123456789012", region);
}

#[test]
fn a_global_service_is_the_same_in_every_region_of_an_account() {
    let mut aws = Aws::new();
    aws.succeed(&create(GROUP, &json!({"GroupName": "g"})));
    elsewhere(&mut aws, "eu-west-1");
    assert_eq!(aws.get(GROUP, "g").unwrap()["GroupName"], "g");
    let list = ListResources {
        type_name: GROUP.to_owned(),
        ..ListResources::default()
    };
    assert_eq!(aws.list(&list).unwrap().0, ["g"]);
    let taken = aws.finish(&create(GROUP, &json!({"GroupName": "g"})));
    assert_eq!(taken.operation_status, OperationStatus::Failed);
    let seen = aws.world.resources(aws.now, &aws.entropy);
    assert_eq!((seen.len(), seen[0].region.as_str()), (1, "us-east-1"));

    aws.caller = Caller::new("210987654321", "eu-west-1");
    assert!(aws.get(GROUP, "g").is_err());
    elsewhere(&mut aws, "ap-south-1");
    aws.world
        .delete_out_of_band(
            None,
            Some("ap-south-1"),
            (GROUP, "g"),
            aws.now,
            &aws.entropy,
        )
        .unwrap();
    assert!(aws.get(GROUP, "g").is_err());
}

#[test]
fn a_change_of_a_global_service_locks_its_resource_in_every_region() {
    let mut aws = Aws::new();
    aws.succeed(&create(GROUP, &json!({"GroupName": "g"})));
    aws.change(&delete(GROUP, "g")).unwrap();
    elsewhere(&mut aws, "eu-west-1");
    let busy = aws.change(&delete(GROUP, "g")).unwrap_err();
    assert_eq!(busy.code, ExceptionCode::ConcurrentOperation);
    aws.pass(Duration::from_secs(1));
    assert!(aws.get(GROUP, "g").is_err());
}

#[test]
fn requests_belong_to_the_region_that_was_asked() {
    let mut aws = Aws::new();
    let group = with_token(create(GROUP, &json!({"GroupName": "g"})), "t");
    let event = aws.change(&group).unwrap();
    aws.change(&create(LOG_GROUP, &json!({"LogGroupName": "a"})))
        .unwrap();
    assert_eq!(
        aws.change(&group).unwrap().request_token,
        event.request_token
    );
    let conflict = with_token(create(LOG_GROUP, &json!({"LogGroupName": "b"})), "t");
    let conflict = aws.change(&conflict).unwrap_err();
    assert_eq!(conflict.code, ExceptionCode::ClientTokenConflict);
    aws.pass(Duration::from_secs(1));
    let types = |aws: &mut Aws| -> Vec<String> {
        let (requests, _) = aws.requests(&ListResourceRequests::default()).unwrap();
        requests.into_iter().map(|event| event.type_name).collect()
    };
    assert_eq!(types(&mut aws), [LOG_GROUP, GROUP]);
    let event = aws.status(&event.request_token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::Success);
    for region in ["us-east-1", "eu-west-1"] {
        elsewhere(&mut aws, region);
        assert!(types(&mut aws).is_empty());
        let unknown = aws.status(&event.request_token).unwrap_err();
        assert_eq!(unknown.code, ExceptionCode::RequestTokenNotFound);
    }
}
