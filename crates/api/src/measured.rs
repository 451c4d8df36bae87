//! Every reply is counted, with the route that gave it.

use std::sync::{Arc, OnceLock};

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

use crate::state::Api;

/// The route of what no route serves.
const UNSERVED: &str = "unserved";

/// The route of a request, once it is matched.
#[derive(Clone, Debug, Default)]
struct Matched(Arc<OnceLock<MatchedPath>>);

/// Counts the reply.
pub(crate) async fn counted(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let matched = Matched::default();
    let method = name(request.method());
    request.extensions_mut().insert(matched.clone());
    let response = next.run(request).await;
    let route = matched.0.get().map_or(UNSERVED, MatchedPath::as_str);
    let status = response.status().as_u16();
    api.metrics.answered(route, method, status, began.elapsed());
    response
}

/// Notes the route.
pub(crate) async fn matched(request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    if let (Some(Matched(cell)), Some(route)) = (extensions.get(), extensions.get::<MatchedPath>())
    {
        // A request is matched again within the documentation.
        let _ = cell.set(route.clone());
    }
    next.run(request).await
}

/// Returns the name of a method that routes serve. Clients may send any other.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::PUT => "PUT",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}
