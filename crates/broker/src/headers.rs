//! The headers of a request that the Open Service Broker API defines.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;
use ucp_listen::of_no_host;
use ucp_model::Originator;
use ucp_model::json::private_name;

use crate::problem::Problem;

const VERSION: HeaderName = HeaderName::from_static("x-broker-api-version");
const ORIGINATING_IDENTITY: HeaderName =
    HeaderName::from_static("x-broker-api-originating-identity");

/// In the extensions of a request: the person at whose request the platform calls.
#[derive(Clone, Debug)]
pub(crate) struct Person(pub(crate) Option<Originator>);

/// Judges the host, the version and the originating identity.
pub(crate) async fn judged(mut request: Request, next: Next) -> Result<Response, Problem> {
    if let Some(stranger) = of_no_host(request.headers()) {
        return Err(Problem::bad_request(stranger.message()));
    }
    judge_version(request.headers())?;
    let originator = originator(request.headers())?;
    request.extensions_mut().insert(Person(originator));
    Ok(next.run(request).await)
}

fn judge_version(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(VERSION).and_then(|value| value.to_str().ok());
    let minor = given.and_then(|version| version.trim().strip_prefix("2."));
    let is_number =
        |minor: &str| !minor.is_empty() && minor.bytes().all(|digit| digit.is_ascii_digit());
    if minor.is_some_and(is_number) {
        Ok(())
    } else {
        Err(Problem::new(
            StatusCode::PRECONDITION_FAILED,
            "PreconditionFailed",
            "X-Broker-API-Version: this broker serves version 2.17 of the API, and any 2.x. Send the version.",
        ))
    }
}

fn originator(headers: &HeaderMap) -> Result<Option<Originator>, Problem> {
    let Some(given) = headers.get(ORIGINATING_IDENTITY) else {
        return Ok(None);
    };
    let wrong = || {
        Problem::bad_request(
            "X-Broker-API-Originating-Identity: send the platform, a space, and a JSON object in Base64.",
        )
    };
    let given = given.to_str().map_err(|_| wrong())?;
    let (platform, value) = given.trim().split_once(' ').ok_or_else(wrong)?;
    let value = BASE64.decode(value.trim()).map_err(|_| wrong())?;
    let value: Value = match private_name(&value) {
        Some(_) => return Err(wrong()),
        None => serde_json::from_slice(&value).map_err(|_| wrong())?,
    };
    if value.is_object() {
        Ok(Some(Originator {
            platform: platform.to_owned(),
            value,
        }))
    } else {
        Err(wrong())
    }
}
