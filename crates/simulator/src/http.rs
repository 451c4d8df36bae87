//! The simulator over AWS's wire protocols, and its control API under `/_simulator`.

mod controls;
mod guard;
mod json;
mod query;
mod request_id;
mod serve;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::exception::{Exception, ExceptionCode};
use crate::request::{Caller, Request};
use crate::simulator::Simulator;
use crate::world::Outcome;
use request_id::REQUEST_ID;

/// The maximum size of a body. A document of the maximum length has up to four bytes per character, which JSON may
/// escape.
const BODY_MAX: usize = 8 * 1024 * 1024;
/// The region of unsigned calls.
const DEFAULT_REGION: &str = "us-east-1";

/// Marks a dropped reply: [`Simulator::serve`] closes the connection instead of sending it.
#[derive(Clone, Copy)]
struct Dropped;

impl Simulator {
    /// Returns the router. Only [`Simulator::serve`] can drop replies; on another server, a dropped reply is a 500.
    pub fn router(&self) -> Router {
        let controls = Router::new()
            .route(
                "/_simulator/faults",
                get(controls::list_faults)
                    .post(controls::add_faults)
                    .delete(controls::clear_faults),
            )
            .route("/_simulator/types", post(controls::register_type))
            .route("/_simulator/log", get(controls::list_calls))
            .route("/_simulator/roles", post(controls::trust))
            .route("/_simulator/resources", get(controls::list_resources))
            .route(
                "/_simulator/resources/{type_name}/{identifier}",
                axum::routing::delete(controls::delete_resource).patch(controls::patch_resource),
            )
            .layer(from_fn(guard::judge_body));
        Router::new()
            .route("/", post(call))
            .merge(controls)
            .layer(from_fn_with_state(self.allowed_hosts(), guard::judge_host))
            .layer(DefaultBodyLimit::max(BODY_MAX))
            .with_state(self.clone())
    }
}

/// Handles a call in either protocol: JSON names the operation in a header, Query in the body.
async fn call(
    State(simulator): State<Simulator>,
    headers: HeaderMap,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Response {
    let (access_key_id, region) = signer(&headers);
    let caller = simulator.caller(access_key_id, region);
    let target = headers.get("x-amz-target");
    let body = body.map_err(|rejection| {
        let code = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ExceptionCode::RequestEntityTooLarge,
            _ => ExceptionCode::Serialization,
        };
        Exception::new(code, rejection.body_text())
    });
    let is_form = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("application/x-www-form-urlencoded"));
    if target.is_none() && is_form {
        let request = body.and_then(|body| query::parse(access_key_id, &body));
        let outcome = carried_out(&simulator, caller, request).await;
        respond(outcome, query::reply, query::error)
    } else {
        let request = body.and_then(|body| json::parse(target, &body));
        let outcome = carried_out(&simulator, caller, request).await;
        respond(outcome, json::reply, json::error)
    }
}

async fn carried_out(
    simulator: &Simulator,
    caller: Result<Caller, Exception>,
    request: Result<Request, Exception>,
) -> Result<Outcome, Exception> {
    let request = request?;
    Ok(simulator.answer(&caller?, &request).await)
}

fn respond(
    outcome: Result<Outcome, Exception>,
    reply: fn(&crate::request::Reply) -> Response,
    error: fn(&Exception) -> Response,
) -> Response {
    let mut response = match outcome {
        Ok(Outcome::Replied(answer)) => reply(&answer),
        Ok(Outcome::Refused(exception)) | Err(exception) => error(&exception),
        Ok(Outcome::Dropped | Outcome::Hung) => {
            let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
            response.extensions_mut().insert(Dropped);
            return response;
        }
    };
    response
        .headers_mut()
        .insert("x-amzn-requestid", HeaderValue::from_static(REQUEST_ID));
    response
}

/// The access key and the region from the signature, which is not verified:
/// `AWS4-HMAC-SHA256 Credential=123456789012/20260101/us-west-2/cloudcontrolapi/aws4_request, …`.
fn signer(headers: &HeaderMap) -> (&str, &str) {
    let authorization = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let credential = authorization
        .split_once("Credential=")
        .map_or("", |(_, rest)| rest)
        .split([',', ' '])
        .next()
        .unwrap_or_default();
    let mut scope = credential.split('/');
    let key_id = scope.next().unwrap_or_default();
    let region = scope.nth(1).filter(|region| !region.is_empty());
    (key_id, region.unwrap_or(DEFAULT_REGION))
}
