use serde_json::{Value, json};
use ucp_simulator::{
    ExceptionCode, GetResource, HandlerErrorCode, ListResources, OperationStatus, Reply, Request,
};

use crate::aws::{Aws, LOG_GROUP, create, delete, update};

const SUBNET_GROUP: &str = "AWS::RDS::DBSubnetGroup";
const LOG_STREAM: &str = "AWS::Logs::LogStream";

fn subnet_group(name: &str) -> Value {
    json!({"DBSubnetGroupName": name, "DBSubnetGroupDescription": "d", "SubnetIds": ["subnet-1"]})
}

fn answered(aws: &mut Aws, type_name: &str, identifier: &str) -> String {
    let request = Request::GetResource(GetResource {
        type_name: type_name.to_owned(),
        identifier: identifier.to_owned(),
        ..GetResource::default()
    });
    match aws.call(&request).unwrap() {
        Reply::Resource { resource, .. } => resource.identifier,
        other => panic!("{other:?}"),
    }
}

#[test]
fn some_types_do_not_keep_the_letter_case_of_identifiers() {
    let mut aws = Aws::new();
    let created = aws.succeed(&create(SUBNET_GROUP, &subnet_group("MyDB")));
    assert_eq!(created, "mydb");
    for name in ["MyDB", "mydb", "MYDB"] {
        assert_eq!(answered(&mut aws, SUBNET_GROUP, name), "mydb");
        let live = aws.get(SUBNET_GROUP, name).unwrap();
        assert_eq!(live["DBSubnetGroupName"], "mydb");
    }
    let again = aws.finish(&create(SUBNET_GROUP, &subnet_group("mydb")));
    assert_eq!(again.error_code, Some(HandlerErrorCode::AlreadyExists));

    let patch = json!([{"op": "replace", "path": "/DBSubnetGroupDescription", "value": "e"}]);
    aws.change(&update(SUBNET_GROUP, "MYDB", &patch)).unwrap();
    let busy = aws.change(&delete(SUBNET_GROUP, "mydb")).unwrap_err();
    assert_eq!(busy.code, ExceptionCode::ConcurrentOperation);
    aws.pass(std::time::Duration::from_secs(1));
    let gone = aws.finish(&delete(SUBNET_GROUP, "MyDb"));
    assert_eq!(gone.identifier.as_deref(), Some("mydb"));
    assert!(aws.get(SUBNET_GROUP, "mydb").is_err());
}

#[test]
fn the_others_keep_it() {
    let mut aws = Aws::new();
    for name in ["Foo", "foo"] {
        let group = json!({"LogGroupName": name});
        assert_eq!(aws.succeed(&create(LOG_GROUP, &group)), name);
    }
    assert_eq!(answered(&mut aws, LOG_GROUP, "Foo"), "Foo");
    assert!(aws.get(LOG_GROUP, "FOO").is_err());
}

#[test]
fn a_compound_identifier_is_joined_text_or_json() {
    let metadata = "AWS::Glue::SchemaVersionMetadata";
    let version = "00000000-0000-0000-0000-000000000001";
    let pair =
        |key: &str, value: &str| json!({"SchemaVersionId": version, "Key": key, "Value": value});
    let mut aws = Aws::new();
    for (key, value) in [("a", "b|c"), ("a|b", "c"), ("a", "b")] {
        let parts = pair(key, value);
        let joined = format!("{version}|{key}|{value}");
        assert_eq!(aws.succeed(&create(metadata, &parts)), joined);
        let told = answered(&mut aws, metadata, &parts.to_string());
        assert_eq!(told, joined, "an answer is always joined");
        let live = aws.get(metadata, &parts.to_string()).unwrap();
        assert_eq!((&live["Key"], &live["Value"]), (&json!(key), &json!(value)));
    }
    let joined = |rest: &str| format!("{version}|{rest}");
    assert!(aws.get(metadata, &joined("a|b")).is_ok());
    let ambiguous = aws.get(metadata, &joined("a|b|c"));
    assert!(ambiguous.is_err(), "which of the two?");

    let turned = json!({"Value": "b|c", "Key": "a", "SchemaVersionId": version}).to_string();
    let gone = aws.finish(&delete(metadata, &turned));
    assert_eq!(gone.operation_status, OperationStatus::Success);
    assert_eq!(gone.identifier, Some(joined("a|b|c")));
    assert!(aws.get(metadata, &pair("a|b", "c").to_string()).is_ok());
}

#[test]
fn a_page_may_end_at_an_ambiguous_identifier() {
    let mut aws = Aws::new();
    for name in ["b|c", "b", "d|e"] {
        let stream = json!({"LogGroupName": "a", "LogStreamName": name});
        aws.succeed(&create(LOG_STREAM, &stream));
    }
    let mut page = ListResources {
        type_name: LOG_STREAM.to_owned(),
        resource_model: Some(json!({"LogGroupName": "a"}).to_string()),
        max_results: Some(1),
        ..ListResources::default()
    };
    let mut listed = Vec::new();
    for is_last in [false, false, true] {
        let (resources, next_token) = aws.list(&page).unwrap();
        listed.extend(resources);
        assert_eq!(next_token.is_none(), is_last);
        page.next_token = next_token;
    }
    listed.sort();
    assert_eq!(listed, ["a|b", "a|b|c", "a|d|e"]);
}
