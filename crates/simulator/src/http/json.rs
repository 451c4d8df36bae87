//! Cloud Control's protocol, AWS JSON 1.0.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value, json};
use ucp_model::Timestamp;

use crate::exception::{Exception, ExceptionCode};
use crate::progress::{HookProgressEvent, ProgressEvent};
use crate::request::{Action, Reply, Request, ResourceDescription};

const CONTENT_TYPE: &str = "application/x-amz-json-1.0";
const TARGET_PREFIX: &str = "CloudApiService.";
const ERROR_NAMESPACE: &str = "com.amazonaws.cloudapi#";

/// Parses the call in a request.
pub(super) fn parse(target: Option<&HeaderValue>, body: &[u8]) -> Result<Request, Exception> {
    let target = target.and_then(|target| target.to_str().ok());
    let name = target.and_then(|target| target.strip_prefix(TARGET_PREFIX));
    let action = name.and_then(Action::from_word);
    match action {
        Some(Action::CreateResource) => input(body).map(Request::CreateResource),
        Some(Action::UpdateResource) => input(body).map(Request::UpdateResource),
        Some(Action::DeleteResource) => input(body).map(Request::DeleteResource),
        Some(Action::GetResource) => input(body).map(Request::GetResource),
        Some(Action::ListResources) => input(body).map(Request::ListResources),
        Some(Action::GetResourceRequestStatus) => {
            input(body).map(Request::GetResourceRequestStatus)
        }
        Some(Action::CancelResourceRequest) => input(body).map(Request::CancelResourceRequest),
        Some(Action::ListResourceRequests) => input(body).map(Request::ListResourceRequests),
        Some(
            Action::DescribeType
            | Action::ListTypes
            | Action::GetCallerIdentity
            | Action::AssumeRole
            | Action::AssumeRoleWithWebIdentity,
        )
        | None => Err(Exception::new(ExceptionCode::UnknownOperation, "")),
    }
}

fn input<T: DeserializeOwned + Default>(body: &[u8]) -> Result<T, Exception> {
    if body.is_empty() {
        return Ok(T::default());
    }
    serde_json::from_slice(body).map_err(|error| {
        // The text of the error may repeat a value, so only its position is given.
        let place = format!("line {} column {}", error.line(), error.column());
        Exception::new(
            ExceptionCode::Serialization,
            format!("The input cannot be read at {place}"),
        )
    })
}

/// Converts a reply to a response.
pub(super) fn reply(reply: &Reply) -> Response {
    let body = match reply {
        Reply::Progress(event) => {
            let mut body = json!({ "ProgressEvent": progress_event(event) });
            if !event.hooks.is_empty() {
                body["HooksProgressEvent"] = event
                    .hooks
                    .iter()
                    .map(|hook| hook_event(event, hook))
                    .collect();
            }
            body
        }
        Reply::Resource {
            type_name,
            resource,
        } => json!({
            "TypeName": type_name,
            "ResourceDescription": description(resource),
        }),
        Reply::Resources {
            type_name,
            resources,
            next_token,
        } => {
            let resources: Vec<Value> = resources.iter().map(description).collect();
            with_next_token(
                json!({ "TypeName": type_name, "ResourceDescriptions": resources }),
                next_token.as_deref(),
            )
        }
        Reply::Requests {
            requests,
            next_token,
        } => {
            let summaries: Vec<Value> = requests.iter().map(progress_event).collect();
            with_next_token(
                json!({ "ResourceRequestStatusSummaries": summaries }),
                next_token.as_deref(),
            )
        }
        Reply::Type { .. }
        | Reply::Types { .. }
        | Reply::Identity { .. }
        | Reply::Session { .. } => json!({}),
    };
    respond(StatusCode::OK, &body)
}

/// Converts an exception to a response.
pub(super) fn error(exception: &Exception) -> Response {
    let status = StatusCode::from_u16(exception.code.http_status());
    let mut response = respond(
        status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        &json!({
            "__type": format!("{ERROR_NAMESPACE}{}", exception.code),
            "Message": exception.message,
        }),
    );
    let code = HeaderValue::from_static(exception.code.as_str());
    response.headers_mut().insert("x-amzn-errortype", code);
    response
}

fn respond(status: StatusCode, body: &Value) -> Response {
    let content_type = [(header::CONTENT_TYPE, CONTENT_TYPE)];
    (status, content_type, body.to_string()).into_response()
}

fn with_next_token(mut body: Value, next_token: Option<&str>) -> Value {
    if let Some(token) = next_token {
        body["NextToken"] = json!(token);
    }
    body
}

fn description(resource: &ResourceDescription) -> Value {
    json!({ "Identifier": resource.identifier, "Properties": resource.properties })
}

fn progress_event(event: &ProgressEvent) -> Value {
    let members = [
        ("TypeName", Some(json!(event.type_name))),
        (
            "Identifier",
            event
                .identifier
                .as_ref()
                .map(|identifier| json!(identifier)),
        ),
        ("RequestToken", Some(json!(event.request_token))),
        ("Operation", Some(json!(event.operation))),
        ("OperationStatus", Some(json!(event.operation_status))),
        ("EventTime", Some(epoch_seconds(event.event_time))),
        (
            "ResourceModel",
            event.resource_model.as_ref().map(|model| json!(model)),
        ),
        (
            "StatusMessage",
            event.status_message.as_ref().map(|message| json!(message)),
        ),
        ("ErrorCode", event.error_code.map(|code| json!(code))),
        ("RetryAfter", event.retry_after.map(epoch_seconds)),
    ];
    let present = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<String, Value>>())
}

fn hook_event(event: &ProgressEvent, hook: &HookProgressEvent) -> Value {
    json!({
        "HookTypeName": hook.hook_type_name,
        "HookTypeArn": hook.hook_type_arn,
        "HookTypeVersionId": hook.hook_type_version_id,
        "InvocationPoint": hook.invocation_point,
        "HookStatus": hook.hook_status,
        "HookEventTime": epoch_seconds(event.event_time),
        "HookStatusMessage": hook.hook_status_message,
        "FailureMode": hook.failure_mode,
    })
}

/// Seconds since the Unix epoch, with three decimals: `1767323045.120`.
fn epoch_seconds(time: Timestamp) -> Value {
    let millis = time.as_millis();
    let text = format!(
        "{}.{:03}",
        millis.div_euclid(1_000),
        millis.rem_euclid(1_000)
    );
    text.parse()
        .map_or(Value::Null, |number: Number| Value::Number(number))
}
