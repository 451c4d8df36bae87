use serde_json::{Value, json};
use ucp_schema::Catalogue;
use ucp_simulator::{ExceptionCode, HandlerErrorCode, OperationStatus};

use crate::aws::{Aws, LOG_GROUP, VPC, create, update};

/// A type with a property of every class.
const BROKER: &str = "Test::Queue::Broker";

fn broker() -> (Aws, String) {
    let mut catalogue = Catalogue::embedded();
    let schema = json!({
        "typeName": BROKER,
        "description": "for tests",
        "additionalProperties": false,
        "properties": {
            "Id": {"type": "string"},
            "Name": {"type": "string"},
            "Size": {"type": "integer", "maximum": 10},
            "Password": {"type": "string"},
            "Users": {"type": "array", "items": {"$ref": "#/definitions/User"}},
        },
        "definitions": {"User": {
            "type": "object",
            "additionalProperties": false,
            "required": ["Name"],
            "properties": {
                "Name": {"type": "string"},
                "UserId": {"type": "string"},
                "Secret": {"type": "string"},
                "Kind": {"type": "string"},
            },
        }},
        "required": ["Name", "Password"],
        "primaryIdentifier": ["/properties/Id"],
        "readOnlyProperties": ["/properties/Id", "/properties/Users/*/UserId"],
        "createOnlyProperties": ["/properties/Name", "/properties/Users/*/Kind"],
        "writeOnlyProperties": ["/properties/Password", "/properties/Users/*/Secret"],
        "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}, "list": {}},
    });
    catalogue.with_schema(&schema.to_string()).unwrap();
    let mut aws = Aws::with(catalogue);
    let model = json!({
        "Name": "n",
        "Password": "p",
        "Users": [{"Name": "a", "Secret": "s", "Kind": "k"}, {"Name": "b"}],
    });
    let identifier = aws.succeed(&create(BROKER, &model));
    (aws, identifier)
}

#[test]
fn a_patch_is_applied_in_order_to_what_can_be_read() {
    let (mut aws, id) = broker();
    let before = aws.get(BROKER, &id).unwrap();
    assert_eq!(before.get("Password"), None);
    assert_eq!(before["Users"][0].get("Secret"), None);
    let patch = json!([
        {"op": "test", "path": "/Name", "value": "n"},
        {"op": "add", "path": "/Size", "value": 1},
        {"op": "replace", "path": "/Size", "value": 2},
        {"op": "remove", "path": "/Users/0"},
        {"op": "add", "path": "/Users/-", "value": {"Name": "c", "Kind": "k"}},
    ]);
    aws.succeed(&update(BROKER, &id, &patch));
    let after = aws.get(BROKER, &id).unwrap();
    assert_eq!(after["Size"], 2);
    assert_eq!(after["Users"][0], before["Users"][1]);
    assert!(after["Users"][1]["UserId"].is_string());
}

#[test]
fn write_only_properties_are_kept_and_never_seen() {
    let (mut aws, id) = broker();
    let resize = json!([{"op": "add", "path": "/Size", "value": 3}]);
    // `Password` is required: the update is valid only because the password is kept.
    aws.succeed(&update(BROKER, &id, &resize));
    let renew = json!([{"op": "add", "path": "/Password", "value": "new"}]);
    let event = aws.finish(&update(BROKER, &id, &renew));
    assert_eq!(event.operation_status, OperationStatus::Success);
    assert!(!event.resource_model.unwrap().contains("new"));
    assert_eq!(aws.get(BROKER, &id).unwrap().get("Password"), None);
    let seen = aws.world.resources(aws.now, &aws.entropy);
    assert_eq!(seen[0].properties.get("Password"), None);
    // It cannot be read, so it cannot be replaced.
    let replace = json!([{"op": "replace", "path": "/Password", "value": "x"}]);
    let refusal = aws.change(&update(BROKER, &id, &replace)).unwrap_err();
    assert_eq!(refusal.code, ExceptionCode::InvalidRequest);
}

#[test]
fn what_the_patch_must_not_do_is_refused_and_changes_nothing() {
    let (mut aws, id) = broker();
    let before = aws.get(BROKER, &id).unwrap();
    let refused = |aws: &mut Aws, op: &str, path: &str, value: Value| {
        let patch = json!([
            {"op": "add", "path": "/Size", "value": 5},
            {"op": op, "path": path, "value": value},
        ]);
        aws.change(&update(BROKER, &id, &patch)).unwrap_err()
    };
    for (op, path, value, code) in [
        ("replace", "/Name", json!("m"), ExceptionCode::NotUpdatable),
        ("remove", "/Name", json!(null), ExceptionCode::NotUpdatable),
        (
            "replace",
            "/Users/0/Kind",
            json!("l"),
            ExceptionCode::NotUpdatable,
        ),
        (
            "replace",
            "/Id",
            json!("other"),
            ExceptionCode::InvalidRequest,
        ),
        ("replace", "/Id", json!(id), ExceptionCode::InvalidRequest),
        ("remove", "/Id", json!(null), ExceptionCode::InvalidRequest),
        (
            "add",
            "/Users/1/UserId",
            json!("u"),
            ExceptionCode::InvalidRequest,
        ),
        (
            "replace",
            "/Users",
            json!([{"Name": "a", "UserId": "u"}]),
            ExceptionCode::InvalidRequest,
        ),
        ("test", "/Name", json!("m"), ExceptionCode::InvalidRequest),
        (
            "replace",
            "/Absent",
            json!(1),
            ExceptionCode::InvalidRequest,
        ),
        ("replace", "/Size", json!(11), ExceptionCode::Validation),
        ("add", "/Unknown", json!(1), ExceptionCode::Validation),
        ("explode", "/Size", json!(1), ExceptionCode::InvalidRequest),
    ] {
        let refusal = refused(&mut aws, op, path, value.clone());
        assert_eq!(
            refusal.code, code,
            "{op} {path} {value}: {}",
            refusal.message
        );
    }
    assert_eq!(aws.get(BROKER, &id).unwrap(), before);
}

#[test]
fn the_same_value_for_a_create_only_property_is_no_change() {
    let mut aws = Aws::new();
    let id = aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    let patch = json!([
        {"op": "replace", "path": "/CidrBlock", "value": "10.0.0.0/16"},
        {"op": "add", "path": "/EnableDnsSupport", "value": false},
    ]);
    aws.succeed(&update(VPC, &id, &patch));
    assert_eq!(aws.get(VPC, &id).unwrap()["EnableDnsSupport"], false);
    let change = json!([{"op": "replace", "path": "/CidrBlock", "value": "10.1.0.0/16"}]);
    let refusal = aws.change(&update(VPC, &id, &change)).unwrap_err();
    assert_eq!(
        refusal.message,
        "Invalid patch update: createOnlyProperties [/properties/CidrBlock] cannot be updated"
    );
}

#[test]
fn an_empty_patch_stays_pending_for_ever() {
    let mut aws = Aws::new();
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    let token = aws
        .change(&update(LOG_GROUP, "a", &json!([])))
        .unwrap()
        .request_token;
    aws.pass(std::time::Duration::from_hours(24 * 6));
    let event = aws.status(&token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::Pending);
    assert_eq!(event.retry_after, None);
    let refusal = aws.change(&update(LOG_GROUP, "a", &json!([]))).unwrap_err();
    assert_eq!(refusal.code, ExceptionCode::ConcurrentOperation);
    aws.cancel(&token).unwrap();
    aws.pass(std::time::Duration::from_secs(1));
    let event = aws.status(&token).unwrap();
    assert_eq!(event.operation_status, OperationStatus::CancelComplete);
}

#[test]
fn what_is_absent_or_cannot_be_updated_is_not() {
    let mut aws = Aws::new();
    let patch = json!([{"op": "add", "path": "/RetentionInDays", "value": 7}]);
    let event = aws.finish(&update(LOG_GROUP, "absent", &patch));
    assert_eq!(event.error_code, Some(HandlerErrorCode::NotFound));
    let refusal = aws
        .change(&update("AWS::Logs::LogStream", "a|b", &patch))
        .unwrap_err();
    assert_eq!(refusal.code, ExceptionCode::UnsupportedAction);
}

#[test]
fn a_resource_that_changes_under_the_update_is_patched_as_it_then_is() {
    let mut aws = Aws::new();
    aws.succeed(&create(
        LOG_GROUP,
        &json!({"LogGroupName": "a", "RetentionInDays": 7}),
    ));
    let patch = json!([{"op": "replace", "path": "/RetentionInDays", "value": 14}]);
    let token = aws
        .change(&update(LOG_GROUP, "a", &patch))
        .unwrap()
        .request_token;
    aws.world
        .delete_out_of_band(None, None, (LOG_GROUP, "a"), aws.now, &aws.entropy)
        .unwrap();
    aws.pass(std::time::Duration::from_secs(1));
    let event = aws.status(&token).unwrap();
    assert_eq!(event.error_code, Some(HandlerErrorCode::NotFound));
}
