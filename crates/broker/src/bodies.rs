//! The bodies and queries of requests.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use ucp_app::{Room, SET_COPIES, tree_bytes};
use ucp_model::excerpt;
use ucp_model::json::{PRIVATE_NAME, private_name, values_at_most};

use crate::broker::Broker;
use crate::limits::ID_MAX_CHARS;
use crate::problem::Problem;

/// A body in JSON.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<Broker>> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, broker: &Arc<Broker>) -> Result<Self, Problem> {
        let content_type = request.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let media_type = content_type.and_then(|value| value.split(';').next());
        if !media_type.is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json")) {
            return Err(Problem::bad_request("Content-Type: send application/json."));
        }
        let room = request.extensions().get::<Room>().cloned();
        let bytes = Bytes::from_request(request, broker).await?;
        // An order makes several resources.
        let tree = tree_bytes(bytes.len(), values_at_most(&bytes));
        let room = room.unwrap_or_default();
        let entered = room.enter(tree * SET_COPIES).await;
        entered.map_err(|refused| Problem::of_arm(refused, broker.parts.status_of))?;
        if let Some(place) = private_name(&bytes) {
            return Err(Problem::bad_request(format!(
                "The name of the member {} {PRIVATE_NAME}.",
                excerpt(&place)
            )));
        }
        match serde_json::from_slice(&bytes) {
            Ok(body) => Ok(Self(body)),
            Err(error) => Err(Problem::bad_request(format!(
                "The body is not as the API has it: {error}."
            ))),
        }
    }
}

/// The ids in the path of an instance.
#[derive(Deserialize)]
pub(crate) struct InstancePath {
    pub(crate) instance: String,
}

/// The ids in the path of a binding.
#[derive(Deserialize)]
pub(crate) struct BindingPath {
    pub(crate) instance: String,
    pub(crate) binding: String,
}

impl<S: Send + Sync> FromRequestParts<S> for InstancePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(path) = Path::<Self>::from_request_parts(parts, state).await?;
        judge_id("instance_id", &path.instance)?;
        Ok(path)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for BindingPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(path) = Path::<Self>::from_request_parts(parts, state).await?;
        judge_id("instance_id", &path.instance)?;
        judge_id("binding_id", &path.binding)?;
        Ok(path)
    }
}

/// The query of a request.
#[derive(Default, Deserialize)]
pub(crate) struct Asked {
    accepts_incomplete: Option<String>,
    pub(crate) service_id: Option<String>,
    pub(crate) plan_id: Option<String>,
    pub(crate) operation: Option<String>,
}

impl Asked {
    pub(crate) fn accepts_incomplete(&self) -> bool {
        self.accepts_incomplete.as_deref() == Some("true")
    }

    /// Returns the ids of the service and the plan, which a request to read may name.
    pub(crate) fn named(&self) -> (Option<&str>, Option<&str>) {
        (self.service_id.as_deref(), self.plan_id.as_deref())
    }

    /// Returns the ids of the service and the plan, which a deletion names.
    pub(crate) fn names(&self) -> Result<(&str, &str), Problem> {
        Ok((
            named("service_id", self.service_id.as_ref())?,
            named("plan_id", self.plan_id.as_ref())?,
        ))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(asked) = Query::<Self>::from_request_parts(parts, state).await?;
        Ok(asked)
    }
}

/// The body of a PUT of an instance. Members that the API does not define are ignored, as it demands.
#[derive(Deserialize)]
pub(crate) struct Provision {
    pub(crate) service_id: Option<String>,
    pub(crate) plan_id: Option<String>,
    pub(crate) organization_guid: Option<String>,
    pub(crate) space_guid: Option<String>,
    pub(crate) context: Option<Map<String, Value>>,
    pub(crate) parameters: Option<Map<String, Value>>,
    pub(crate) maintenance_info: Option<MaintenanceInfo>,
}

/// The body of a PATCH of an instance.
#[derive(Deserialize)]
pub(crate) struct Update {
    pub(crate) service_id: Option<String>,
    pub(crate) plan_id: Option<String>,
    pub(crate) context: Option<Map<String, Value>>,
    pub(crate) parameters: Option<Map<String, Value>>,
    pub(crate) maintenance_info: Option<MaintenanceInfo>,
    #[serde(rename = "previous_values")]
    pub(crate) _previous_values: Option<Map<String, Value>>,
}

/// The body of a PUT of a binding.
#[derive(Deserialize)]
pub(crate) struct Bind {
    pub(crate) service_id: Option<String>,
    pub(crate) plan_id: Option<String>,
    pub(crate) app_guid: Option<String>,
    pub(crate) bind_resource: Option<Map<String, Value>>,
    #[serde(rename = "context")]
    pub(crate) _context: Option<Map<String, Value>>,
    pub(crate) parameters: Option<Map<String, Value>>,
    pub(crate) predecessor_binding_id: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct MaintenanceInfo {
    pub(crate) version: Option<String>,
}

/// Returns the version that is named.
pub(crate) fn version(info: Option<MaintenanceInfo>) -> Result<Option<String>, Problem> {
    match info {
        None => Ok(None),
        Some(MaintenanceInfo {
            version: Some(version),
        }) => Ok(Some(version)),
        Some(MaintenanceInfo { version: None }) => Err(Problem::bad_request(
            "maintenance_info.version: it is missing. Send the version of the plan in the catalog.",
        )),
    }
}

/// Returns the name of an instance in its context.
pub(crate) fn instance_name(
    context: Option<&Map<String, Value>>,
) -> Result<Option<String>, Problem> {
    match context.and_then(|context| context.get("instance_name")) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err(Problem::bad_request(
            "context.instance_name: send a string.",
        )),
    }
}

/// Returns what is named, or says that it is missing.
pub(crate) fn named<'a>(member: &str, given: Option<&'a String>) -> Result<&'a str, Problem> {
    match given.filter(|given| !given.is_empty()) {
        Some(given) => Ok(given),
        None => Err(Problem::bad_request(format!("{member}: it is missing."))),
    }
}

/// Judges an id, of which aliases are made.
pub(crate) fn judge_id(member: &str, id: &str) -> Result<(), Problem> {
    let is_permitted = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_valid = (1..=ID_MAX_CHARS).contains(&id.len())
        && id.bytes().all(is_permitted)
        && !id.bytes().all(|byte| byte == b'.');
    if is_valid {
        Ok(())
    } else {
        Err(Problem::bad_request(format!(
            "{member}: an id has 1 to {ID_MAX_CHARS} letters, digits, `.`, `_` or `-`."
        )))
    }
}
