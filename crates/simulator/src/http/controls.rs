//! The control API of the simulator: faults, types, the log, and changes out of band.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::faults::Fault;
use crate::log::LogEntry;
use crate::simulator::Simulator;
use crate::world::{NotInWorld, ResourceSnapshot, Trust};

/// The account and region of a resource, to resolve ambiguity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Whereabouts {
    account: Option<String>,
    region: Option<String>,
}

pub(super) async fn list_faults(State(simulator): State<Simulator>) -> Json<Vec<Fault>> {
    Json(simulator.faults())
}

pub(super) async fn add_faults(State(simulator): State<Simulator>, body: Bytes) -> Response {
    let faults = match parse_faults(&body) {
        Ok(faults) => faults,
        Err(problem) => return refuse(StatusCode::BAD_REQUEST, &problem),
    };
    for fault in faults {
        simulator.add_fault(fault);
    }
    (StatusCode::CREATED, Json(simulator.faults())).into_response()
}

/// Parses one fault or an array. Elements are parsed one by one, since an untagged enum would give a vague error.
fn parse_faults(body: &[u8]) -> Result<Vec<Fault>, String> {
    let document: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let several = match document {
        Value::Array(several) => several,
        one => vec![one],
    };
    let parsed = several.into_iter().map(serde_json::from_value);
    parsed
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

pub(super) async fn clear_faults(State(simulator): State<Simulator>) -> StatusCode {
    simulator.clear_faults();
    StatusCode::NO_CONTENT
}

pub(super) async fn list_calls(State(simulator): State<Simulator>) -> Json<Vec<LogEntry>> {
    Json(simulator.log())
}

pub(super) async fn trust(State(simulator): State<Simulator>, body: Bytes) -> Response {
    match serde_json::from_slice::<Trust>(&body) {
        Ok(trust) => {
            simulator.trust(trust);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

pub(super) async fn list_resources(
    State(simulator): State<Simulator>,
) -> Json<Vec<ResourceSnapshot>> {
    Json(simulator.resources())
}

pub(super) async fn delete_resource(
    State(simulator): State<Simulator>,
    Path((type_name, identifier)): Path<(String, String)>,
    Query(at): Query<Whereabouts>,
) -> Response {
    let resource = (type_name.as_str(), identifier.as_str());
    match simulator.delete_out_of_band(at.account.as_deref(), at.region.as_deref(), resource) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(problem) => not_in_world(problem),
    }
}

pub(super) async fn patch_resource(
    State(simulator): State<Simulator>,
    Path((type_name, identifier)): Path<(String, String)>,
    Query(at): Query<Whereabouts>,
    body: Bytes,
) -> Response {
    let patch: Value = match serde_json::from_slice(&body) {
        Ok(patch) => patch,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let resource = (type_name.as_str(), identifier.as_str());
    let (account, region) = (at.account.as_deref(), at.region.as_deref());
    match simulator.patch_out_of_band(account, region, resource, &patch) {
        Ok(snapshot) => Json(snapshot).into_response(),
        Err(problem) => not_in_world(problem),
    }
}

/// Registers the type whose schema is the body.
pub(super) async fn register_type(State(simulator): State<Simulator>, body: String) -> Response {
    match simulator.register_type(&body) {
        Ok(name) => (StatusCode::CREATED, Json(json!({ "typeName": name }))).into_response(),
        Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

fn not_in_world(problem: NotInWorld) -> Response {
    match problem {
        NotInWorld::Absent => refuse(StatusCode::NOT_FOUND, "resource not found"),
        NotInWorld::Ambiguous => refuse(
            StatusCode::CONFLICT,
            "several resources match: give ?account=…&region=…",
        ),
        NotInWorld::Unpatchable(problem) => refuse(StatusCode::BAD_REQUEST, &problem),
    }
}

fn refuse(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "message": message }))).into_response()
}
