//! The routes, and the document that describes them.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use utoipa::openapi::{OpenApi, Server};

use crate::document;
use crate::path_base::PathBase;
use crate::routes;
use crate::state::Api;

/// What each server of a process has.
///
/// A route describes itself whenever it is built, which takes far longer than a copy of the route.
struct Described {
    api: Router<Arc<Api>>,
    probes: Router<Arc<Api>>,
    document: OpenApi,
}

static DESCRIBED: LazyLock<Described> = LazyLock::new(|| {
    let (api, described) = routes::described().split_for_parts();
    let (probes, described_probes) = routes::probes().split_for_parts();
    Described {
        api,
        probes,
        document: document::of(described, described_probes),
    }
});

/// The routes of the API.
pub(crate) fn api() -> Router<Arc<Api>> {
    DESCRIBED.api.clone()
}

/// The routes of the health probes, which accept any `Host`.
pub(crate) fn probes() -> Router<Arc<Api>> {
    DESCRIBED.probes.clone()
}

/// The document of a server without a path base.
pub(crate) fn document() -> &'static OpenApi {
    &DESCRIBED.document
}

/// The route of the document of a server with this path base. The document is written at the first request.
pub(crate) fn document_route(path: &str, base: &PathBase) -> Router<Arc<Api>> {
    let (base, text) = (base.clone(), Arc::new(OnceLock::<Bytes>::new()));
    let reply = move || {
        let text = text.get_or_init(|| text_under(&base)).clone();
        std::future::ready(([(CONTENT_TYPE, "application/json")], text))
    };
    let router = Router::new().without_v07_checks();
    router.route(path, get(reply))
}

fn text_under(base: &PathBase) -> Bytes {
    let mut document = Cow::Borrowed(document());
    if !base.is_empty() {
        document.to_mut().servers = Some(vec![Server::new(base.as_str())]);
    }
    document.to_json().unwrap_or_default().into()
}
