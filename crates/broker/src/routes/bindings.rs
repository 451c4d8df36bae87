//! Service bindings.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};
use ucp_app::{BindService, BoundService, Ordered};

use super::{Context, operation};
use crate::answered::CameOf;
use crate::bodies::{Asked, Bind, BindingPath, Body, judge_id, named};
use crate::problem::Problem;

pub(crate) async fn put(
    context: Context,
    path: BindingPath,
    asked: Asked,
    Body(body): Body<Bind>,
) -> Result<Response, Problem> {
    if let Some(predecessor) = &body.predecessor_binding_id {
        judge_id("predecessor_binding_id", predecessor)?;
    } else {
        named("service_id", body.service_id.as_ref())?;
        named("plan_id", body.plan_id.as_ref())?;
    }
    let new = BindService {
        instance: path.instance,
        binding: path.binding,
        service: body.service_id,
        plan: body.plan_id,
        app: body.app_guid,
        bind_resource: body.bind_resource.map(Value::Object),
        parameters: body.parameters.unwrap_or_default(),
        predecessor: body.predecessor_binding_id,
    };
    let request = context.request(asked.accepts_incomplete());
    let app = &context.broker.parts.app;
    let ordered = app.services.bind_service(&request, &new).await;
    let ordered = ordered.map_err(|refused| context.refused(refused))?;
    let status = match ordered {
        Ordered::UnderWay(operation) => return Ok(context.under_way(operation)),
        Ordered::Done(_) => StatusCode::CREATED,
        Ordered::Unchanged => StatusCode::OK,
    };
    let bound = app
        .services
        .bound_service(&request, (&new.instance, &new.binding), (None, None))
        .await;
    let bound = bound.map_err(|refused| context.refused(refused))?;
    let reply = (status, Json(shown(&bound)));
    Ok(match ordered {
        Ordered::Unchanged => (Extension(CameOf::Unchanged), reply).into_response(),
        Ordered::Done(_) | Ordered::UnderWay(_) => reply.into_response(),
    })
}

pub(crate) async fn get(
    context: Context,
    path: BindingPath,
    asked: Asked,
) -> Result<Response, Problem> {
    let request = context.request(false);
    let app = &context.broker.parts.app;
    let bound = app
        .services
        .bound_service(&request, (&path.instance, &path.binding), asked.named())
        .await;
    let bound = bound.map_err(|refused| context.refused(refused))?;
    let mut body = shown(&bound);
    body["parameters"] = json!(bound.parameters);
    Ok(Json(body).into_response())
}

pub(crate) async fn delete(
    context: Context,
    path: BindingPath,
    asked: Asked,
) -> Result<Response, Problem> {
    let named = asked.names()?;
    let request = context.request(asked.accepts_incomplete());
    let app = &context.broker.parts.app;
    let ordered = app
        .services
        .unbind_service(&request, (&path.instance, &path.binding), named)
        .await;
    let ordered = ordered.map_err(|refused| context.refused(refused))?;
    Ok(context.ordered(ordered, StatusCode::OK))
}

pub(crate) async fn last_operation(
    context: Context,
    path: BindingPath,
    asked: Asked,
) -> Result<Response, Problem> {
    let request = context.request(true);
    let app = &context.broker.parts.app;
    let operation = operation(asked.operation.as_deref());
    let last = app
        .services
        .last_operation_of_binding(&request, &path.instance, &path.binding, operation)
        .await;
    let last = last.map_err(|refused| context.refused(refused))?;
    Ok(context.last_operation(last))
}

/// What a binding hands out.
fn shown(bound: &BoundService) -> Value {
    let mut body = json!({});
    if let Some(credentials) = &bound.access.credentials {
        body["credentials"] = credentials.clone();
    }
    if let Some(endpoints) = &bound.access.endpoints {
        body["endpoints"] = endpoints.clone();
    }
    let mut metadata = json!({});
    if let Some(at) = bound.expires_at {
        metadata["expires_at"] = json!(at.to_string());
    }
    if let Some(at) = bound.renew_before {
        metadata["renew_before"] = json!(at.to_string());
    }
    if metadata != json!({}) {
        body["metadata"] = metadata;
    }
    body
}
