use std::sync::Arc;

use axum::extract::State;
use ucp_app::AuditFilter;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::audit_query::AuditQuery;
use crate::context::RequestContext;
use crate::path::{AwsPlanePath, RadiusPlanePath};
use crate::problem::Problem;
use crate::query::Page;
use crate::replies::Json;
use crate::router::router;
use crate::state::Api;
use crate::wire::{AuditEventList, List};

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(list_audit_events))
        .routes(routes!(list_audit_events_of_aws_plane))
}

/// Lists who asked for what, latest first.
///
/// Every request that changes something, and every refusal, is an event. The events of all planes are listed under each
/// radius plane, as far as the caller owns what they are about. A page may have fewer events than `top`, or none, although
/// there are more: go on while there is a `nextLink`.
#[utoipa::path(get, tag = "Audit",
    path = "/planes/radius/{plane}/providers/System.Resources/auditEvents",
    params(RadiusPlanePath, AuditQuery, Page),
    responses((status = 200, body = AuditEventList)))]
async fn list_audit_events(
    State(api): State<Arc<Api>>,
    path: RadiusPlanePath,
    query: AuditQuery,
    page: Page,
    context: RequestContext,
) -> Result<Json<AuditEventList>, Problem> {
    path.id()?;
    let filter = query.filter()?;
    list(&api, &filter, &query, &page, &context).await
}

/// Lists who asked for what in an AWS plane, latest first.
///
/// Every request about the plane or what is in it that changes something, and every refusal, is an event. A page may have
/// fewer events than `top`, or none, although there are more: go on while there is a `nextLink`.
#[utoipa::path(get, tag = "Audit",
    path = "/planes/aws/{plane}/providers/System.AWS/auditEvents",
    params(AwsPlanePath, AuditQuery, Page),
    responses((status = 200, body = AuditEventList)))]
async fn list_audit_events_of_aws_plane(
    State(api): State<Arc<Api>>,
    path: AwsPlanePath,
    query: AuditQuery,
    page: Page,
    context: RequestContext,
) -> Result<Json<AuditEventList>, Problem> {
    let filter = AuditFilter {
        plane: Some(path.id()?),
        ..query.filter()?
    };
    list(&api, &filter, &query, &page, &context).await
}

async fn list(
    api: &Api,
    filter: &AuditFilter,
    query: &AuditQuery,
    page: &Page,
    context: &RequestContext,
) -> Result<Json<AuditEventList>, Problem> {
    // Who has seen a reply of this process finds its event.
    api.auditor.flush().await;
    let rights = &context.caller.rights;
    let listed = api
        .app
        .permissions
        .list_audit_events(rights, filter, page.after()?, page.top);
    let listed = listed.await?;
    let next_link = listed.next.map(|place| {
        let link = page.next_link_after(place, context);
        format!("{link}{}", query.repeated())
    });
    Ok(Json(List {
        next_link,
        ..List::of(listed.events)
    }))
}
