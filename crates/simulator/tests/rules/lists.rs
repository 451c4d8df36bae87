use serde_json::json;
use ucp_simulator::{
    Caller, DescribeType, ExceptionCode, ListResources, ListTypes, Reply, Request,
};

use crate::aws::{Aws, LOG_GROUP, VPC, create};

fn list(type_name: &str) -> ListResources {
    ListResources {
        type_name: type_name.to_owned(),
        ..ListResources::default()
    }
}

#[test]
fn resources_are_listed_in_pages() {
    let mut aws = Aws::new();
    for name in ["c", "a", "b"] {
        aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": name})));
    }
    aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    let mut page = list(LOG_GROUP);
    page.max_results = Some(2);
    let (first, next_token) = aws.list(&page).unwrap();
    assert_eq!(first, ["a", "b"]);
    page.next_token = next_token;
    assert_eq!(aws.list(&page).unwrap(), (vec!["c".to_owned()], None));
    aws.caller = Caller::new("123456789012", "eu-west-1");
    assert!(aws.list(&list(LOG_GROUP)).unwrap().0.is_empty());
}

#[test]
fn some_types_are_listed_below_a_parent() {
    let mut aws = Aws::new();
    for group in ["a", "b"] {
        let stream = json!({"LogGroupName": group, "LogStreamName": "s"});
        aws.succeed(&create("AWS::Logs::LogStream", &stream));
    }
    let mut page = list("AWS::Logs::LogStream");
    let refusal = aws.list(&page).unwrap_err();
    assert_eq!(refusal.code, ExceptionCode::InvalidRequest);
    assert!(
        refusal
            .message
            .contains("Required property: [LogGroupName]")
    );
    page.resource_model = Some(json!({"LogGroupName": "b"}).to_string());
    assert_eq!(aws.list(&page).unwrap().0, ["b|s"]);
}

fn types(aws: &mut Aws, request: &ListTypes) -> (Vec<String>, Option<String>) {
    match aws.call(&Request::ListTypes(request.clone())).unwrap() {
        Reply::Types { types, next_token } => (
            types.into_iter().map(|each| each.type_name).collect(),
            next_token,
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_registry_lists_every_public_type_once() {
    let mut aws = Aws::new();
    let mut request = ListTypes {
        visibility: Some("PUBLIC".into()),
        ..ListTypes::default()
    };
    let mut listed = Vec::new();
    loop {
        let (page, next_token) = types(&mut aws, &request);
        assert!(page.len() <= 100);
        listed.extend(page);
        if next_token.is_none() {
            break;
        }
        request.next_token = next_token;
    }
    assert_eq!(listed.len(), 1_854);
    assert!(listed.is_sorted());

    request.next_token = None;
    request.type_name_prefix = Some("AWS::Logs::Log".into());
    request.provisioning_type = Some("FULLY_MUTABLE".into());
    assert_eq!(
        types(&mut aws, &request).0,
        ["AWS::Logs::LogAnomalyDetector", LOG_GROUP]
    );
    request.provisioning_type = Some("IMMUTABLE".into());
    assert_eq!(types(&mut aws, &request).0, ["AWS::Logs::LogStream"]);
    // Without a visibility, AWS lists the account's own types.
    assert!(types(&mut aws, &ListTypes::default()).0.is_empty());
}

#[test]
fn the_registry_describes_types_by_name_and_by_arn() {
    let mut aws = Aws::new();
    let by_name = DescribeType {
        kind: Some("RESOURCE".into()),
        type_name: Some(VPC.into()),
        arn: None,
    };
    let Reply::Type {
        description,
        schema,
    } = aws.call(&Request::DescribeType(by_name)).unwrap()
    else {
        panic!("not a type");
    };
    assert_eq!(description.provisioning_type, "FULLY_MUTABLE");
    assert!(schema.contains("\"/properties/VpcId\""));
    assert_eq!(
        description.arn,
        "arn:aws:cloudformation:us-west-2::type/resource/AWS-EC2-VPC"
    );
    let by_arn = DescribeType {
        arn: Some(description.arn.clone()),
        ..DescribeType::default()
    };
    let reply = aws.call(&Request::DescribeType(by_arn)).unwrap();
    assert_eq!(
        reply,
        Reply::Type {
            description,
            schema
        }
    );
    for wrong in [Some("AWS::No::Such".to_owned()), Some("x".to_owned())] {
        let request = DescribeType {
            type_name: wrong,
            ..DescribeType::default()
        };
        let refusal = aws.call(&Request::DescribeType(request)).unwrap_err();
        assert_eq!(refusal.code, ExceptionCode::TypeNotFound);
    }
}
