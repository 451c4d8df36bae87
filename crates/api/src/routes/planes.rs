use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use ucp_model::{Failure, NewPlane, PlaneId, PlaneKind};

use crate::Api;
use crate::context::RequestContext;
use crate::precondition::{Conditions, tagged};
use crate::problem::Problem;
use crate::routes::ApiVersion;
use crate::validation::{Payload, Violations, named};
use crate::wire::{
    ErrorResponse, List, PlaneBody, PlaneSummary, PutPlaneRequest, ResourceProviderSummary,
};

/// Lists all planes, without their settings.
#[utoipa::path(get, path = "/planes", tag = "Planes",
    params(("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = List<PlaneSummary>), (status = 400, body = ErrorResponse)))]
pub(crate) async fn list_planes(
    State(api): State<Arc<Api>>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Json<List<PlaneSummary>>, Problem> {
    let planes = api.app.list_planes(None).await;
    let planes = planes.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(planes.into_iter().map(PlaneSummary::from).collect()))
}

/// Lists the planes of a type.
#[utoipa::path(get, path = "/planes/{type}", tag = "Planes",
    params(("type" = String, Path, example = "aws"),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = List<PlaneBody>), (status = 400, body = ErrorResponse)))]
pub(crate) async fn list_planes_of_type(
    State(api): State<Arc<Api>>,
    Path(kind): Path<String>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Json<List<PlaneBody>>, Problem> {
    let planes = api.app.list_planes(Some(plane_kind(&kind)?)).await;
    let planes = planes.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(planes.into_iter().map(PlaneBody::from).collect()))
}

/// Answers one plane.
#[utoipa::path(get, path = "/planes/{type}/{plane}", tag = "Planes",
    params(("type" = String, Path, example = "aws"), ("plane" = String, Path, example = "aws"),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = PlaneBody, headers(("ETag" = String))),
        (status = 400, body = ErrorResponse), (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_plane(
    State(api): State<Arc<Api>>,
    Path((kind, plane)): Path<(String, String)>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Response, Problem> {
    let plane = api.app.get_plane(&plane_id(&kind, &plane)?).await;
    let plane = plane.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(tagged(&plane.etag(), Json(PlaneBody::from(plane))))
}

/// Creates a plane, or replaces its location, tags and settings.
#[utoipa::path(put, path = "/planes/{type}/{plane}", tag = "Planes",
    params(("type" = String, Path, example = "aws"), ("plane" = String, Path, example = "aws"),
        ("api-version" = String, Query, example = "2023-10-01-preview"),
        ("If-Match" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    request_body = PutPlaneRequest,
    responses((status = 200, body = PlaneBody, headers(("ETag" = String))),
        (status = 400, body = ErrorResponse), (status = 412, body = ErrorResponse),
        (status = 413, body = ErrorResponse), (status = 415, body = ErrorResponse)))]
pub(crate) async fn put_plane(
    State(api): State<Arc<Api>>,
    Path((kind, plane)): Path<(String, String)>,
    _: ApiVersion,
    Conditions(precondition): Conditions,
    context: RequestContext,
    payload: Payload,
) -> Result<Response, Problem> {
    let kind = plane_kind(&kind)?;
    let mut violations = Violations::default();
    let id = violations.name(PlaneId::new(kind, &plane));
    let body = violations.body(payload);
    let request = body.map(|body| PutPlaneRequest::read(&body, kind, &mut violations));
    let (id, request) = violations.judge(id.zip(request))?;
    let put = NewPlane {
        id,
        location: request.location,
        tags: request.tags,
        body: request.properties,
    };
    let plane = api.app.put_plane(put, &precondition).await;
    let plane = plane.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(tagged(&plane.etag(), Json(PlaneBody::from(plane))))
}

/// Deletes a plane, and nothing below it.
#[utoipa::path(delete, path = "/planes/{type}/{plane}", tag = "Planes",
    params(("type" = String, Path, example = "aws"), ("plane" = String, Path, example = "aws"),
        ("api-version" = String, Query, example = "2023-10-01-preview"),
        ("If-Match" = Option<String>, Header), ("If-None-Match" = Option<String>, Header)),
    responses((status = 200, description = "Deleted"), (status = 204, description = "There was none"),
        (status = 400, body = ErrorResponse), (status = 412, body = ErrorResponse)))]
pub(crate) async fn delete_plane(
    State(api): State<Arc<Api>>,
    Path((kind, plane)): Path<(String, String)>,
    _: ApiVersion,
    Conditions(precondition): Conditions,
    context: RequestContext,
) -> Result<StatusCode, Problem> {
    let id = plane_id(&kind, &plane)?;
    let was_there = api.app.delete_plane(&id, &precondition).await;
    let was_there = was_there.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(if was_there {
        StatusCode::OK
    } else {
        StatusCode::NO_CONTENT
    })
}

/// Lists the resource providers that a radius plane knows: none, since AWS resources need none.
#[utoipa::path(get, path = "/planes/radius/{plane}/providers", tag = "Planes",
    params(("plane" = String, Path, example = "local"),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 200, body = List<ResourceProviderSummary>), (status = 400, body = ErrorResponse),
        (status = 404, body = ErrorResponse)))]
pub(crate) async fn list_resource_providers(
    State(api): State<Arc<Api>>,
    Path(plane): Path<String>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Json<List<ResourceProviderSummary>>, Problem> {
    let plane = api.app.get_plane(&radius_plane(&plane)?).await;
    plane.map_err(|rejection| Problem::of(rejection, &context))?;
    Ok(Json(List::from_iter([])))
}

/// Answers one resource provider of a radius plane; there is none.
#[utoipa::path(get, path = "/planes/radius/{plane}/providers/{namespace}", tag = "Planes",
    params(("plane" = String, Path, example = "local"), ("namespace" = String, Path, example = "AWS.EC2"),
        ("api-version" = String, Query, example = "2023-10-01-preview")),
    responses((status = 400, body = ErrorResponse), (status = 404, body = ErrorResponse)))]
pub(crate) async fn get_resource_provider(
    State(api): State<Arc<Api>>,
    Path((plane, namespace)): Path<(String, String)>,
    _: ApiVersion,
    context: RequestContext,
) -> Result<Response, Problem> {
    let plane = api.app.get_plane(&radius_plane(&plane)?).await;
    let plane = plane.map_err(|rejection| Problem::of(rejection, &context))?;
    let shown: String = namespace.chars().take(80).collect();
    let message = format!(
        "The plane '{}' has no resource provider '{shown}'.",
        plane.id.name
    );
    let failure = Failure::new("NotFound", message);
    let target = format!("{}/providers/{shown}", plane.id);
    Ok(Problem::new(StatusCode::NOT_FOUND, failure.with_target(target)).into_response())
}

pub(crate) fn radius_plane(name: &str) -> Result<PlaneId, Problem> {
    named(PlaneId::new(PlaneKind::Radius, name))
}

fn plane_id(kind: &str, name: &str) -> Result<PlaneId, Problem> {
    named(PlaneId::new(plane_kind(kind)?, name))
}

fn plane_kind(word: &str) -> Result<PlaneKind, Problem> {
    word.parse().map_err(|error: ucp_model::ids::InvalidId| {
        let failure = Failure::new("InvalidPlaneType", error.to_string());
        Problem::new(StatusCode::BAD_REQUEST, failure)
    })
}
