//! The OpenAPI document: what the routes say of themselves, and what holds for all of them.

use utoipa::OpenApi;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder};

use crate::path_base::PathBase;

#[derive(OpenApi)]
#[openapi(info(
    title = "ucp",
    description = "Declares AWS resources under aliases of your own, over ARM's REST conventions. Sending the same declaration again gives the same resource.",
    license(name = "Apache-2.0", identifier = "Apache-2.0")
))]
pub(crate) struct Document;

/// What any request may be answered, whatever its route.
const ANYWHERE: &[(&str, &str)] = &[
    ("400", "The URL cannot be read"),
    (
        "403",
        "The host is not ours, or a page of another site asks",
    ),
    ("500", "A defect"),
    (
        "503",
        "The store, STS or the registry of resource types cannot be reached; try again",
    ),
];
/// What any request with a body may be answered.
const WITH_BODY: &[(&str, &str)] = &[
    ("408", "The body did not arrive in time"),
    ("413", "The body is too large"),
    ("415", "The body has a Content-Encoding"),
];

/// Adds the refusals that a route need not mention, since every one of them has them.
pub(crate) fn add_common_refusals(document: &mut utoipa::openapi::OpenApi) {
    for path in document.paths.paths.values_mut() {
        let operations = [
            &mut path.get,
            &mut path.put,
            &mut path.post,
            &mut path.patch,
            &mut path.delete,
        ];
        for operation in operations.into_iter().flatten() {
            add_refusals(operation, ANYWHERE);
            if operation.request_body.is_some() {
                add_refusals(operation, WITH_BODY);
            }
        }
    }
}

fn add_refusals(operation: &mut Operation, refusals: &[(&str, &str)]) {
    for (status, description) in refusals {
        let responses = &mut operation.responses.responses;
        responses
            .entry((*status).to_owned())
            .or_insert_with(|| RefOr::T(refusal(description)));
    }
}

fn refusal(description: &str) -> Response {
    let body = Content::new(Some(Ref::from_schema_name("ErrorResponse")));
    ResponseBuilder::new()
        .description(description)
        .content("application/json", body)
        .build()
}

/// The document as a server with this path base serves it.
pub(crate) fn served_under(
    base: &PathBase,
    mut document: utoipa::openapi::OpenApi,
) -> utoipa::openapi::OpenApi {
    if !base.is_empty() {
        document.servers = Some(vec![utoipa::openapi::Server::new(base.as_str())]);
    }
    document
}
