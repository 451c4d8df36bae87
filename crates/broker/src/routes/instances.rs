//! Service instances.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use ucp_app::{ProvisionService, UpdateService};

use super::{Context, operation};
use crate::bodies::{
    Asked, Body, InstancePath, Provision, Update, instance_name, judge_id, named, version,
};
use crate::problem::Problem;

pub(crate) async fn put(
    context: Context,
    path: InstancePath,
    asked: Asked,
    Body(body): Body<Provision>,
) -> Result<Response, Problem> {
    let space = named("space_guid", body.space_guid.as_ref())?.to_owned();
    let organization = named("organization_guid", body.organization_guid.as_ref())?.to_owned();
    judge_id("space_guid", &space)?;
    judge_id("organization_guid", &organization)?;
    let new = ProvisionService {
        instance: path.instance,
        service: named("service_id", body.service_id.as_ref())?.to_owned(),
        plan: named("plan_id", body.plan_id.as_ref())?.to_owned(),
        organization,
        space,
        parameters: body.parameters.unwrap_or_default(),
        version: version(body.maintenance_info)?,
        name: instance_name(body.context.as_ref())?,
    };
    let request = context.request(asked.accepts_incomplete());
    let ordered = context
        .broker
        .parts
        .app
        .services
        .provision_service(&request, &new)
        .await;
    let ordered = ordered.map_err(|refused| context.refused(refused))?;
    Ok(context.ordered(ordered, StatusCode::CREATED))
}

pub(crate) async fn get(
    context: Context,
    path: InstancePath,
    asked: Asked,
) -> Result<Response, Problem> {
    let request = context.request(false);
    let app = &context.broker.parts.app;
    let stands = app
        .services
        .provisioned_service(&request, &path.instance, asked.named())
        .await;
    let stands = stands.map_err(|refused| context.refused(refused))?;
    let mut body = json!({
        "service_id": stands.service,
        "plan_id": stands.applied.plan,
        "parameters": stands.applied.parameters,
    });
    if let Some(version) = stands.applied.version {
        body["maintenance_info"] = json!({ "version": version });
    }
    Ok(Json(body).into_response())
}

pub(crate) async fn patch(
    context: Context,
    path: InstancePath,
    asked: Asked,
    Body(body): Body<Update>,
) -> Result<Response, Problem> {
    let update = UpdateService {
        instance: path.instance,
        service: named("service_id", body.service_id.as_ref())?.to_owned(),
        plan: body.plan_id,
        parameters: body.parameters.unwrap_or_default(),
        version: version(body.maintenance_info)?,
        has_context: body.context.is_some(),
        name: instance_name(body.context.as_ref())?,
    };
    let request = context.request(asked.accepts_incomplete());
    let ordered = context
        .broker
        .parts
        .app
        .services
        .update_service(&request, &update)
        .await;
    let ordered = ordered.map_err(|refused| context.refused(refused))?;
    Ok(context.ordered(ordered, StatusCode::OK))
}

pub(crate) async fn delete(
    context: Context,
    path: InstancePath,
    asked: Asked,
) -> Result<Response, Problem> {
    let (service, plan) = asked.names()?;
    let request = context.request(asked.accepts_incomplete());
    let app = &context.broker.parts.app;
    let ordered = app
        .services
        .deprovision_service(&request, &path.instance, service, plan)
        .await;
    let ordered = ordered.map_err(|refused| context.refused(refused))?;
    Ok(context.ordered(ordered, StatusCode::OK))
}

pub(crate) async fn last_operation(
    context: Context,
    path: InstancePath,
    asked: Asked,
) -> Result<Response, Problem> {
    let request = context.request(true);
    let app = &context.broker.parts.app;
    let operation = operation(asked.operation.as_deref());
    let last = app
        .services
        .last_operation_of_service(&request, &path.instance, operation)
        .await;
    let last = last.map_err(|refused| context.refused(refused))?;
    Ok(context.last_operation(last))
}
