use std::collections::BTreeSet;

use serde_json::json;
use ucp_simulator::{
    Caller, CreateResource, ExceptionCode, HandlerErrorCode, ListResourceRequests, OperationStatus,
    Request,
};

use crate::aws::{Aws, LOG_GROUP, VPC, create, delete};

#[test]
fn a_vpc_gets_an_identifier_of_aws() {
    let mut aws = Aws::new();
    let identifier = aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    let digits = identifier.strip_prefix("vpc-").unwrap();
    assert!(digits.len() == 17 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let properties = aws.get(VPC, &identifier).unwrap();
    assert_eq!(properties["VpcId"], identifier);
    assert_eq!(properties["CidrBlock"], "10.0.0.0/16");
}

#[test]
fn a_name_that_the_user_omits_is_made_up() {
    let mut aws = Aws::new();
    let name = aws.succeed(&create(LOG_GROUP, &json!({"RetentionInDays": 7})));
    let properties = aws.get(LOG_GROUP, &name).unwrap();
    assert_eq!(properties["LogGroupName"], name);
    assert_eq!(
        properties["Arn"],
        format!("arn:aws:logs:us-west-2:123456789012:log-group:{name}:*")
    );
}

#[test]
fn values_that_aws_assigns_agree_with_the_declared_ones() {
    let mut aws = Aws::new();
    let declared = json!({"DBInstanceIdentifier": "Main-DB", "Port": "5433"});
    let id = aws.succeed(&create("AWS::RDS::DBInstance", &declared));
    assert_eq!(id, "main-db");
    let live = aws.get("AWS::RDS::DBInstance", &id).unwrap();
    assert_eq!(live["Endpoint"]["Port"], "5433");
    assert_eq!(
        live["DBInstanceArn"],
        "arn:aws:rds:us-west-2:123456789012:db:main-db"
    );
    let undeclared = json!({"DBInstanceIdentifier": "other"});
    let id = aws.succeed(&create("AWS::RDS::DBInstance", &undeclared));
    let live = aws.get("AWS::RDS::DBInstance", &id).unwrap();
    let port = live["Endpoint"]["Port"].as_str().unwrap();
    assert!(port.parse::<u16>().is_ok(), "{port}");
}

#[test]
fn parts_of_an_identifier_are_joined_in_schema_order() {
    let mut aws = Aws::new();
    let stage = json!({"RestApiId": "abcdef1234", "StageName": "prod"});
    let identifier = aws.succeed(&create("AWS::ApiGateway::Stage", &stage));
    assert_eq!(identifier, "abcdef1234|prod");
}

/// Some handlers name what is in the way, and some do not.
#[test]
fn a_taken_identifier_fails_and_is_named_or_not() {
    let mut aws = Aws::new();
    let request = create(
        LOG_GROUP,
        &json!({"LogGroupName": "a", "RetentionInDays": 7}),
    );
    aws.succeed(&request);
    let identifiers = [(); 32].map(|()| {
        let refused = aws.finish(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
        assert_eq!(refused.operation_status, OperationStatus::Failed);
        assert_eq!(refused.error_code, Some(HandlerErrorCode::AlreadyExists));
        refused.identifier
    });
    let named: BTreeSet<Option<&str>> = identifiers.iter().map(|name| name.as_deref()).collect();
    assert_eq!(named, BTreeSet::from([None, Some("a")]));
    assert_eq!(aws.get(LOG_GROUP, "a").unwrap()["RetentionInDays"], 7);
}

/// AWS keeps the earlier revision under its own number, or replaces it under the name.
#[test]
fn a_create_of_what_has_revisions_makes_the_next_one() {
    let mut aws = Aws::new();
    let task =
        json!({"Family": "web", "ContainerDefinitions": [{"Name": "web", "Image": "nginx"}]});
    let revisions = [(); 2].map(|()| aws.succeed(&create("AWS::ECS::TaskDefinition", &task)));
    let arn = "arn:aws:ecs:us-west-2:123456789012:task-definition/web";
    assert_eq!(revisions, [format!("{arn}:1"), format!("{arn}:2")]);
    for revision in &revisions {
        aws.get("AWS::ECS::TaskDefinition", revision).unwrap();
    }
    let job = json!({"Type": "container", "JobDefinitionName": "nightly"});
    let [first, second] = [(); 2].map(|()| aws.succeed(&create("AWS::Batch::JobDefinition", &job)));
    assert_eq!(first, second);
}

#[test]
fn of_two_creates_of_one_name_only_one_succeeds() {
    let mut aws = Aws::new();
    let request = create(LOG_GROUP, &json!({"LogGroupName": "a"}));
    let tokens = [(); 2].map(|()| aws.change(&request).unwrap().request_token);
    aws.pass(std::time::Duration::from_secs(1));
    let mut statuses = tokens.map(|token| aws.status(&token).unwrap().operation_status);
    statuses.sort();
    assert_eq!(
        statuses,
        [OperationStatus::Success, OperationStatus::Failed]
    );
}

#[test]
fn a_document_that_does_not_fit_the_schema_is_refused_and_says_why() {
    let mut aws = Aws::new();
    for (type_name, document, why) in [
        (
            VPC,
            json!({"CidrBlock": 7}),
            "#/CidrBlock: expected type: String, found: Integer",
        ),
        (
            VPC,
            json!({"CidrBlok": "x"}),
            "#: extraneous key [CidrBlok] is not permitted",
        ),
        (
            VPC,
            json!({"VpcId": "vpc-1"}),
            "#/VpcId: read-only property cannot be specified",
        ),
        (
            VPC,
            json!([]),
            "#: expected type: JSONObject, found: JSONArray",
        ),
        (
            LOG_GROUP,
            json!({"RetentionInDays": 2}),
            "#/RetentionInDays: failed validation constraint for keyword [enum]",
        ),
        (
            LOG_GROUP,
            json!({"LogGroupName": "a b"}),
            "#/LogGroupName: failed validation constraint for keyword [pattern]",
        ),
        (
            "AWS::EC2::Subnet",
            json!({}),
            "#: required key [VpcId] not found",
        ),
    ] {
        let refused = aws.change(&create(type_name, &document)).unwrap_err();
        assert_eq!(refused.code, ExceptionCode::Validation, "{document}");
        let message = refused.message;
        assert!(message.starts_with("Model validation failed"), "{message}");
        assert!(message.contains(why), "{message}");
    }
    let refused = aws.change(&create(VPC, &json!(null))).unwrap_err();
    assert_eq!(refused.code, ExceptionCode::Validation);
    let garbage = Request::CreateResource(CreateResource {
        type_name: VPC.to_owned(),
        desired_state: "{".to_owned(),
        ..CreateResource::default()
    });
    let refused = aws.change(&garbage).unwrap_err();
    assert_eq!(refused.code, ExceptionCode::InvalidRequest);
    // A refused call is no request.
    let (requests, _) = aws.requests(&ListResourceRequests::default()).unwrap();
    assert!(requests.is_empty());
    assert!(aws.world.resources(aws.now, &aws.entropy).is_empty());
}

#[test]
fn a_violation_never_repeats_the_value() {
    let mut aws = Aws::new();
    let secret = json!({"Name": "s", "SecretString": {"password": "hunter2"}, "hunter2": 1, "Description": ["hunter2"]});
    let refused = aws.change(&create("AWS::SecretsManager::Secret", &secret));
    let message = refused.unwrap_err().message;
    assert!(
        !message
            .replace("extraneous key [hunter2]", "")
            .contains("hunter2"),
        "{message}"
    );
}

#[test]
fn types_and_handlers_that_are_missing_are_told_apart() {
    let mut aws = Aws::new();
    let refusal =
        |aws: &mut Aws, type_name| aws.change(&create(type_name, &json!({}))).unwrap_err();
    assert_eq!(
        refusal(&mut aws, "AWS::EC2::Vpc").code,
        ExceptionCode::TypeNotFound
    );
    assert_eq!(
        refusal(&mut aws, "nonsense").code,
        ExceptionCode::TypeNotFound
    );
    assert_eq!(refusal(&mut aws, "").code, ExceptionCode::Validation);
    let not_provisionable = refusal(&mut aws, "AWS::IAM::AccessKey");
    assert_eq!(not_provisionable.code, ExceptionCode::UnsupportedAction);
}

#[test]
fn documents_have_a_greatest_length() {
    let mut aws = Aws::new();
    let long = json!({"LogGroupName": "a".repeat(262_144)});
    let refusal = aws.change(&create(LOG_GROUP, &long)).unwrap_err();
    assert_eq!(refusal.code, ExceptionCode::Validation);
    assert!(!refusal.message.contains("aaaa"));
}

#[test]
fn accounts_and_regions_have_worlds_of_their_own() {
    let mut aws = Aws::new();
    let request = create(LOG_GROUP, &json!({"LogGroupName": "a"}));
    aws.succeed(&request);
    for (account, region) in [("123456789012", "eu-west-1"), ("AKIAEXAMPLE", "us-west-2")] {
        aws.caller = Caller::new(account, region);
        aws.succeed(&request);
    }
    assert_eq!(aws.caller.account, "000000000000");
    assert_eq!(aws.world.resources(aws.now, &aws.entropy).len(), 3);
}

#[test]
fn what_is_deleted_is_gone_and_what_is_absent_cannot_be_deleted() {
    let mut aws = Aws::new();
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    aws.succeed(&delete(LOG_GROUP, "a"));
    assert_eq!(
        aws.get(LOG_GROUP, "a").unwrap_err().code,
        ExceptionCode::ResourceNotFound
    );
    let event = aws.finish(&delete(LOG_GROUP, "a"));
    assert_eq!(event.error_code, Some(HandlerErrorCode::NotFound));
    assert_eq!(event.identifier.as_deref(), Some("a"));
}
