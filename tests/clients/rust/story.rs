//! A client that openapi-generator makes of `api/openapi.json` tells one whole story.

use std::time::{Duration, Instant};

use serde_json::json;
use ucp_client::apis::configuration::Configuration;
use ucp_client::apis::{Error, aws_resources_api as aws, operations_api, resource_groups_api};
use ucp_client::models::operation_status::Status;
use ucp_client::models::{ActionRequest, PutResourceGroupRequest};

const VERSION: &str = "2023-10-01-preview";
const PLANE: &str = "local";
const GROUP: &str = "rust";
const ACCOUNT: &str = "123456789012";
const REGION: &str = "us-west-2";
const PATIENCE: Duration = Duration::from_secs(60);

/// The body of an action on the VPC.
fn declared(properties: serde_json::Value) -> ActionRequest {
    let reference = "/planes/radius/local/resourceGroups/rust/providers/AWS.EC2/VPC:reference/main";
    ActionRequest {
        alias: Some(Some("main".to_owned())),
        tracked_by: Some(Some(reference.to_owned())),
        properties: Some(Some(properties)),
        ..ActionRequest::new()
    }
}

/// The status of an error reply, and its body.
fn refused<T: std::fmt::Debug, E: std::fmt::Debug>(reply: Result<T, Error<E>>) -> (u16, String) {
    match reply {
        Err(Error::ResponseError(reply)) => (reply.status.as_u16(), reply.content),
        other => panic!("expected a refusal: {other:?}"),
    }
}

/// Waits until no operation of the group is in progress. The generated functions do not return headers, and so no URL
/// to poll.
fn settle(ucp: &Configuration) {
    let begun = Instant::now();
    loop {
        let operations =
            operations_api::list_resource_group_operations(ucp, PLANE, GROUP, None, None, None)
                .unwrap();
        let ended = |status| {
            matches!(
                status,
                Status::Succeeded | Status::Failed | Status::Canceled
            )
        };
        if operations
            .value
            .iter()
            .all(|operation| ended(operation.status))
        {
            assert!(
                operations
                    .value
                    .iter()
                    .all(|operation| operation.status == Status::Succeeded)
            );
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "the operations do not end");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_group_a_put_the_same_put_again_a_read_and_a_delete() {
    let ucp = &Configuration {
        base_path: std::env::var("UCP_URL").unwrap(),
        ..Configuration::new()
    };
    let put = |properties| {
        let body = declared(properties);
        aws::put_aws_resource(ucp, "aws", ACCOUNT, REGION, "AWS.EC2", "VPC", body, None)
    };

    let global = PutResourceGroupRequest::new("global".to_owned());
    let group =
        resource_groups_api::put_resource_group(ucp, PLANE, GROUP, VERSION, global, None, None);
    assert_eq!(
        group.unwrap().id,
        "/planes/radius/local/resourcegroups/rust"
    );

    let created = put(json!({"CidrBlock": "10.0.0.0/16"})).unwrap();
    assert_eq!(created.properties["provisioningState"], "Provisioning");
    settle(ucp);

    let again = put(json!({"CidrBlock": "10.0.0.0/16"})).unwrap();
    assert_eq!(again.properties["provisioningState"], "Succeeded");
    let vpc = again.name.flatten().unwrap();

    let get = || aws::get_named_aws_resource(ucp, "aws", ACCOUNT, REGION, "AWS.EC2", "VPC", &vpc);
    assert_eq!(get().unwrap().properties["CidrBlock"], "10.0.0.0/16");

    let (status, body) = refused(put(json!({"Nothing": 1})));
    assert_eq!(status, 400);
    assert!(body.contains("InvalidRequest"), "{body}");

    let body = declared(json!({}));
    aws::delete_aws_resource(ucp, "aws", ACCOUNT, REGION, "AWS.EC2", "VPC", body).unwrap();
    settle(ucp);
    assert_eq!(refused(get()).0, 404);
    resource_groups_api::delete_resource_group(ucp, PLANE, GROUP, VERSION, None, None, None)
        .unwrap();
    let (status, body) = refused(put(json!({"CidrBlock": "10.0.0.0/16"})));
    assert_eq!(status, 404);
    assert!(body.contains("ResourceGroupNotFound"), "{body}");
}
