use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fault};
use ucp_simulator::{
    Action, AssumeRole, ExceptionCode, HandlerErrorCode, OperationStatus, Reply, Request,
};

use crate::aws::{Aws, LOG_GROUP, VPC, create, delete, update};

const SUBNET: &str = "AWS::EC2::Subnet";
const ROLE: &str = "AWS::IAM::Role";
const FUNCTION: &str = "AWS::Lambda::Function";
const CLUSTER: &str = "AWS::ECS::Cluster";
const SERVICE: &str = "AWS::ECS::Service";
const ROLE_ARN: &str = "arn:aws:iam::123456789012:role/r";

fn role(aws: &mut Aws) {
    let role = json!({"RoleName": "r", "AssumeRolePolicyDocument": {}});
    aws.succeed(&create(ROLE, &role));
    assert_eq!(aws.get(ROLE, "r").unwrap()["Arn"], ROLE_ARN);
}

fn function(name: &str) -> Value {
    json!({"FunctionName": name, "Role": ROLE_ARN, "Code": {"ZipFile": "x"}})
}

fn assume() -> Request {
    Request::AssumeRole(AssumeRole {
        role_arn: ROLE_ARN.to_owned(),
        role_session_name: "ucp".to_owned(),
        ..AssumeRole::default()
    })
}

/// Makes a create that fails. Returns its code and message.
fn failed(aws: &mut Aws, request: &Request) -> (HandlerErrorCode, String) {
    let event = aws.finish(request);
    assert_eq!(event.operation_status, OperationStatus::Failed);
    assert_eq!(event.identifier, None);
    (event.error_code.unwrap(), event.status_message.unwrap())
}

#[test]
fn what_a_property_names_must_exist() {
    let mut aws = Aws::new();
    aws.world.add_fault(fault(Effect::RequireExisting {}));
    let stranger = json!({"VpcId": "vpc-0123456789abcdef0", "CidrBlock": "10.0.0.0/24"});
    let (code, message) = failed(&mut aws, &create(SUBNET, &stranger));
    assert_eq!(code, HandlerErrorCode::NotFound);
    assert_eq!(message, "The vpc ID 'vpc-0123456789abcdef0' does not exist");
    let vpc = aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    let subnet = json!({"VpcId": vpc, "CidrBlock": "10.0.0.0/24"});
    let subnet = aws.succeed(&create(SUBNET, &subnet));
    let (code, message) = failed(&mut aws, &create(FUNCTION, &function("f")));
    assert_eq!(code, HandlerErrorCode::NotFound);
    assert_eq!(message, "The role with name r cannot be found.");
    role(&mut aws);
    aws.succeed(&create(FUNCTION, &function("f")));
    let patch = |subnet: &str| {
        let within = json!({"SubnetIds": [subnet], "SecurityGroupIds": ["sg-01234567"]});
        let patch = json!([{"op": "add", "path": "/VpcConfig", "value": within}]);
        update(FUNCTION, "f", &patch)
    };
    let event = aws.finish(&patch("subnet-01234567"));
    assert_eq!(event.error_code, Some(HandlerErrorCode::NotFound));
    aws.succeed(&patch(&subnet));
    // Roles of other accounts and of services are not looked for.
    for arn in [
        "arn:aws:iam::210987654321:role/r",
        "arn:aws:iam::123456789012:role/aws-service-role/ecs.amazonaws.com/x",
    ] {
        let mut other = function("g");
        other["Role"] = json!(arn);
        aws.succeed(&create(FUNCTION, &other));
        aws.succeed(&delete(FUNCTION, "g"));
    }
}

#[test]
fn a_fresh_role_is_refused_for_a_while() {
    let mut aws = Aws::new();
    aws.world.add_fault(fault(Effect::FreshRole {
        least_millis: 5_000,
        most_millis: 10_000,
    }));
    role(&mut aws);
    let (code, message) = failed(&mut aws, &create(FUNCTION, &function("f")));
    assert_eq!(code, HandlerErrorCode::AccessDenied);
    assert!(message.contains(ROLE_ARN), "{message}");
    let refused = aws.call(&assume()).unwrap_err();
    assert_eq!(refused.code, ExceptionCode::AccessDenied);
    aws.pass(Duration::from_secs(10));
    aws.succeed(&create(FUNCTION, &function("f")));
    assert!(aws.call(&assume()).is_ok());
    // A new policy makes its role fresh again.
    let policy = json!({"PolicyName": "p", "RoleName": "r", "PolicyDocument": {}});
    aws.succeed(&create("AWS::IAM::RolePolicy", &policy));
    let (code, _) = failed(&mut aws, &create(FUNCTION, &function("g")));
    assert_eq!(code, HandlerErrorCode::AccessDenied);
    aws.pass(Duration::from_secs(10));
    aws.succeed(&create(FUNCTION, &function("g")));
}

#[test]
fn sessions_are_as_short_as_ordered() {
    let mut aws = Aws::new();
    aws.world
        .add_fault(fault(Effect::SessionLife { millis: 5_000 }));
    let Ok(Reply::Session { session, .. }) = aws.call(&assume()) else {
        panic!("no session");
    };
    assert_eq!(session.expires_at.since(aws.now), Duration::from_secs(5));
    aws.pass(Duration::from_secs(5));
    let expired = aws
        .world
        .caller(&session.access_key_id, "us-west-2", aws.now);
    assert_eq!(expired.unwrap_err().code, ExceptionCode::ExpiredToken);
}

#[test]
fn what_others_refer_to_is_not_deleted() {
    let mut aws = Aws::new();
    aws.world
        .add_fault(fault(Effect::InUse {}).on(Action::DeleteResource));
    let vpc = aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    let subnet = json!({"VpcId": vpc, "CidrBlock": "10.0.0.0/24"});
    let subnet = aws.succeed(&create(SUBNET, &subnet));
    let event = aws.finish(&delete(VPC, &vpc));
    assert_eq!(event.error_code, Some(HandlerErrorCode::ResourceConflict));
    assert!(event.status_message.unwrap().contains(&subnet));
    aws.succeed(&delete(SUBNET, &subnet));
    aws.succeed(&delete(VPC, &vpc));

    // A service may name its cluster by name or by ARN.
    aws.succeed(&create(CLUSTER, &json!({"ClusterName": "main"})));
    let arn = aws.get(CLUSTER, "main").unwrap()["Arn"].clone();
    for cluster in [json!("main"), arn] {
        let service = json!({"Cluster": cluster, "ServiceName": "s"});
        let service = aws.succeed(&create(SERVICE, &service));
        let event = aws.finish(&delete(CLUSTER, "main"));
        assert_eq!(event.error_code, Some(HandlerErrorCode::ResourceConflict));
        aws.succeed(&delete(SERVICE, &service));
    }
    // The same text elsewhere refers to nothing.
    let tags = json!([{"Key": "name", "Value": "main"}]);
    let group = json!({"LogGroupName": "main", "Tags": tags});
    aws.succeed(&create(LOG_GROUP, &group));
    aws.succeed(&delete(CLUSTER, "main"));
}
