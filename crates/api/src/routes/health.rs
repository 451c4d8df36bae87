use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use ucp_audit::Trouble;
use ucp_authentication::Way;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::replies::Json;
use crate::router::router;
use crate::state::Api;

/// Registers the handlers.
pub(crate) fn routes() -> OpenApiRouter<Arc<Api>> {
    router()
        .routes(routes!(get_health))
        .routes(routes!(get_readiness))
}

/// Whether the path is that of a probe.
pub(crate) fn is_probe(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// The health of the process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// The status of the process.
    status: HealthStatus,
}

/// The readiness of the process.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Readiness {
    /// The status of the process.
    status: HealthStatus,
    /// Whether callers have to be known. Otherwise whoever reaches the server can change AWS.
    authentication: Authentication,
    /// The ways in which a caller can be known.
    accepts: Vec<Accepted>,
    /// Whether tokens and passwords travel to the server in clear: it listens beyond loopback without TLS, and nothing says that a
    /// proxy speaks it (`--tls-at-proxy`). Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(value_type = Option<bool>)]
    in_clear: bool,
    /// Whether the audit records requests.
    audit: AuditStatus,
    /// Why it does not; absent if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    audit_trouble: Option<AuditTrouble>,
    /// How many events the store has refused for what is in them since the start. The log has them. Absent if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(value_type = Option<u64>)]
    audit_given_up: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether the audit records requests.
#[derive(Debug, Serialize, ToSchema)]
enum AuditStatus {
    /// It does.
    Recording,
    /// The latest could not be recorded yet. If the audit is required, the process is not ready.
    Failing,
}

/// Why the audit does not record requests.
#[derive(Debug, Serialize, ToSchema)]
enum AuditTrouble {
    /// The database or the file refused the latest. It is tried again.
    Refused,
    /// The database or the file has not answered for 5 seconds.
    Hanging,
    /// The process does not record any more. Restart it.
    Stopped,
}

impl From<Trouble> for AuditTrouble {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Refused => Self::Refused,
            Trouble::Hanging => Self::Hanging,
            Trouble::Stopped => Self::Stopped,
        }
    }
}

/// Whether callers have to be known.
#[derive(Debug, Serialize, ToSchema)]
enum Authentication {
    /// They do not.
    None,
    /// They do.
    Required,
}

/// A way in which a caller can be known.
#[derive(Debug, Serialize, ToSchema)]
enum Accepted {
    /// By a token of this server.
    Token,
    /// By a token of an OpenID Connect issuer.
    Oidc,
    /// By the certificate of the client.
    Certificate,
    /// By the word of a trusted proxy.
    RequestHeader,
}

impl From<Way> for Accepted {
    fn from(way: Way) -> Self {
        match way {
            Way::Token => Self::Token,
            Way::Oidc => Self::Oidc,
            Way::Certificate => Self::Certificate,
            Way::RequestHeader => Self::RequestHeader,
        }
    }
}

/// The status of a process.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum HealthStatus {
    /// The process is healthy.
    Ok,
    /// A service that the process depends on is unavailable.
    Unavailable,
}

/// Liveness of the process.
///
/// Dependencies are not checked.
#[utoipa::path(get, path = "/healthz", tag = "Health", responses((status = 200, body = Health)))]
async fn get_health() -> Json<Health> {
    let status = HealthStatus::Ok;
    Json(Health { status })
}

/// Readiness of the process.
///
/// The process is ready when the store is available, its workers, if it has any, claim operations, and the clock of its
/// machine agrees with the database's. If the audit is required, it must also record requests.
#[utoipa::path(get, path = "/readyz", tag = "Health",
    responses((status = 200, body = Readiness), (status = 503, body = Readiness)))]
async fn get_readiness(State(api): State<Arc<Api>>) -> (StatusCode, Json<Readiness>) {
    let app = Arc::clone(&api.app);
    let asked = api.runtime.spawn(async move { app.is_ready().await });
    let (code, status) = match asked.await {
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::Unavailable),
        Ok(Ok(())) if !api.auditor.is_able() => {
            tracing::warn!("not ready: the audit, which is required, does not record requests");
            (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::Unavailable)
        }
        Ok(Ok(())) => (StatusCode::OK, HealthStatus::Ok),
        Ok(Err(rejection)) => {
            tracing::warn!(error = %ucp_model::chain(&rejection), "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::Unavailable)
        }
    };
    let authentication = if api.authenticator.is_required() {
        Authentication::Required
    } else {
        Authentication::None
    };
    let trouble = api.auditor.trouble();
    let ways = api.authenticator.ways().into_iter();
    let readiness = Readiness {
        status,
        authentication,
        accepts: ways.map(Accepted::from).collect(),
        in_clear: api.settings.in_clear,
        audit: match trouble {
            Some(_) => AuditStatus::Failing,
            None => AuditStatus::Recording,
        },
        audit_trouble: trouble.map(AuditTrouble::from),
        audit_given_up: api.auditor.given_up(),
    };
    (code, Json(readiness))
}
