//! Every reply is counted, with the route that gave it.

use std::sync::{Arc, OnceLock};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;

use crate::state::Api;

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
    let method = request.method().clone();
    request.extensions_mut().insert(matched.clone());
    let response = next.run(request).await;
    let route = matched.0.get().map(MatchedPath::as_str);
    let status = response.status().as_u16();
    let took = began.elapsed();
    api.metrics.answered(route, method.as_str(), status, took);
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
