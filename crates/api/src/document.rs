//! The OpenAPI document: the descriptions of the routes, and what is common to all of them.

use ucp_app::Status;
use ucp_model::ids::{
    ACCOUNT_MAX_CHARS, ALIAS_MAX_CHARS, GROUP_NAME_MAX_CHARS, PLANE_NAME_MAX_CHARS,
    REGION_MAX_CHARS,
};
use utoipa::OpenApi as _;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Content, Object, ObjectBuilder, OpenApi, Ref, RefOr, Required, ResponseBuilder, Schema, Type,
};

use crate::authentication;
use crate::examples;
use crate::query::API_VERSION;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "ucp",
        description = "Manages AWS resources under aliases of your choice, with ARM's REST conventions. Sending the same declaration again yields the same resource. HEAD on a single resource replies with 204 if it exists, and 404 if not. A body with a member that its schema does not have is refused, except for `id`, `name`, `type`, `location`, `etag`, `systemData`, `kind` and `sku`, which are ignored.\n\nRead about the [concepts](concepts.md), [how to](how-to/README.md) do common tasks, the [simulated AWS](simulator.md), the [limits](limits.md), and [each error code](errors/README.md).",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    servers((url = "/", description = "The server that serves this document")),
    tags(
        (name = "AWS resources", description = "Put, read, list, delete and import AWS resources, by alias or by name."),
        (name = "Audit", description = "Who asked for what, and whether they were let."),
        (name = "Credentials", description = "The credentials that ucp signs AWS calls with."),
        (name = "Errors", description = "The meaning of each error code."),
        (name = "Health", description = "Liveness, readiness, metrics and version."),
        (name = "Leftovers", description = "What lives in AWS because of ucp, or may, although no alias stands for it."),
        (name = "Operations", description = "Asynchronous operations: status, result and cancellation."),
        (name = "Planes", description = "The roots of all ids. A radius plane contains resource groups, an AWS plane accounts and credentials."),
        (name = "Plans", description = "What a what-if has shown, for those who approve it and carry it out."),
        (name = "Refactors", description = "Which aliases stand for resources that had others, and who moved them."),
        (name = "References", description = "Aliases and the AWS resources they stand for."),
        (name = "Predictions", description = "How good the plans of puts were, compared with what AWS showed afterwards."),
        (name = "Resource types", description = "The resource types that AWS has, and what they consist of."),
        (name = "Resource groups", description = "Scopes in which aliases are unique per resource type."),
        (name = "Role assignments", description = "Who may do what, as far as callers have said so.")
    )
)]
struct Document;

/// Error statuses of every route.
const ANYWHERE: &[&str] = &["400", "403", "500", "503"];
/// Error statuses of every route that takes a body.
const WITH_BODY: &[&str] = &["408", "413", "415"];
/// Error statuses of every route that is not for everybody.
const TO_CALLERS: &[&str] = &["401", "403", "429"];
/// The names of the ways in which callers are known.
const TOKEN: &str = "token";
const CERTIFICATE: &str = "certificate";

/// Statuses that may carry `Retry-After`.
const TEMPORARY: &[&str] = &["409", "429", "503"];
const RETRY_AFTER: &str = "Retry-After";
/// Headers of every reply.
const EVERYWHERE: &[&str] = &["x-ms-request-id", "x-ms-correlation-request-id"];

/// The pattern of names of planes and credentials.
const NAME: &str = "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$";
/// The pattern of names of role assignments.
const ROLE_ASSIGNMENT_NAME: &str = "^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$";
/// Text without control characters.
const VISIBLE: &str = r"^[^\x00-\x1F\x7F-\x9F]+$";

/// The description of a status on routes that give none.
fn meaning(status: &str) -> &'static str {
    match status {
        "200" => "Success",
        "400" => "The request is malformed or invalid",
        "401" => "The server has to know who calls, or the credential of the caller is not valid",
        "403" => {
            "The caller may not do this, the host or origin is not allowed, AWS denies access, or the credentials are of another account"
        }
        "404" => "Not found",
        "408" => "The body did not arrive in time",
        "409" => "Conflict with the current state, or with an operation in progress",
        "412" => "A precondition of the request does not hold",
        "413" => "The body, or the declaration in it, is too large",
        "415" => "The body has a Content-Encoding",
        "429" => {
            "The caller sends too many requests, or its address too many that fail to log in, or AWS throttles the request; try again later"
        }
        "500" => "AWS failed or did not answer in time, or an internal error",
        "503" => "A service that ucp depends on is unavailable; try again later",
        _ => "",
    }
}

/// The description of a reply header.
fn header_meaning(name: &str) -> Option<&'static str> {
    Some(match name {
        "Azure-AsyncOperation" => "The absolute URL of the operation's status",
        "ETag" => "The entity tag of the resource, for `If-Match`",
        "Location" => "The absolute URL of the operation's result",
        RETRY_AFTER => {
            "How many seconds to wait before the next request; absent when waiting does not help"
        }
        "x-ms-request-id" => "Identifies the request in the log",
        "x-ms-correlation-request-id" => "The value from the request, or a generated one",
        _ => return None,
    })
}

/// Builds the document from the routes of the API and the probes.
pub(crate) fn of(mut described: OpenApi, probes: OpenApi) -> OpenApi {
    add_common_refusals(&mut described);
    let mut document = Document::openapi();
    document.merge(described);
    document.merge(probes);
    describe_authentication(&mut document);
    describe_conventions(&mut document);
    describe_choices(&mut document);
    document
}

/// A body that may be left out is described as one that may be null, which it may not.
fn not_null(schema: RefOr<Schema>) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::OneOf(mut one)) => match &one.items[..] {
            [RefOr::Ref(_), RefOr::T(Schema::Object(_))] => one.items.swap_remove(0),
            _ => RefOr::T(Schema::OneOf(one)),
        },
        other => other,
    }
}

/// Adds the error responses that are common to all routes.
fn add_common_refusals(document: &mut OpenApi) {
    each_operation(document, |path, operation| {
        if !authentication::is_public(path) {
            add_refusals(operation, TO_CALLERS);
        }
        if operation.request_body.is_some() {
            add_refusals(operation, WITH_BODY);
        }
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            for content in body.content.values_mut() {
                if let RefOr::T(content) = content {
                    content.schema = content.schema.take().map(not_null);
                }
            }
        }
        add_refusals(operation, ANYWHERE);
        for status in TEMPORARY {
            if let Some(RefOr::T(response)) = operation.responses.responses.get_mut(*status) {
                let header = HeaderBuilder::new().schema(Some(Object::with_type(Type::Integer)));
                let headers = &mut response.headers;
                headers.insert(RETRY_AFTER.to_owned(), header.build().into());
            }
        }
    });
}

/// Describes how callers are known, and which routes are for everybody.
fn describe_authentication(document: &mut OpenApi) {
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "A token of this server, or one of its OpenID Connect issuer.",
        ));
    let certificate = SecurityScheme::MutualTls {
        description: Some("A certificate of an authority that this server accepts.".to_owned()),
        deprecated: None,
        extensions: None,
    };
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(TOKEN, SecurityScheme::Http(token.build()));
    components.add_security_scheme(CERTIFICATE, certificate);
    let no_scopes: [&str; 0] = [];
    document.security = Some(vec![
        SecurityRequirement::new(TOKEN, no_scopes),
        SecurityRequirement::new(CERTIFICATE, no_scopes),
        // A server on loopback need not know who calls.
        SecurityRequirement::default(),
    ]);
    each_operation(document, |path, operation| {
        if authentication::is_public(path) {
            operation.security = Some(Vec::new());
        }
    });
}

/// Describes what the routes share: parameters, by name; statuses; and reply headers.
fn describe_conventions(document: &mut OpenApi) {
    each_operation(document, |path, operation| {
        let id = operation.operation_id.clone().unwrap_or_default();
        for parameter in operation.parameters.iter_mut().flatten() {
            let RefOr::T(parameter) = parameter else {
                continue;
            };
            if let Some((schema, example)) = shape(path, parameter) {
                let example = examples::of_parameter(&id, &parameter.name).unwrap_or(example);
                let schema = schema.examples([example]).build();
                parameter.schema = Some(schema.into());
                // The page at /docs fills in this one and not those of the schema. An optional parameter stays out
                // until a reader asks for it.
                if parameter.required == Required::True {
                    let described = std::mem::take(parameter);
                    *parameter = ParameterBuilder::from(described)
                        .example(Some(example.into()))
                        .build();
                }
            }
        }
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            for content in body.content.values_mut() {
                if let RefOr::T(content) = content {
                    content.example = examples::of_body(&id);
                }
            }
        }
        for (status, response) in &mut operation.responses.responses {
            let RefOr::T(response) = response else {
                continue;
            };
            if response.description.is_empty() {
                response.description = meaning(status).to_owned();
            }
            for name in EVERYWHERE {
                let header = HeaderBuilder::new().schema(Some(Object::with_type(Type::String)));
                let headers = &mut response.headers;
                headers.insert((*name).to_owned(), header.build().into());
            }
            for (name, header) in &mut response.headers {
                if let RefOr::T(header) = header {
                    header.description = header_meaning(name).map(str::to_owned);
                }
            }
        }
    });
}

/// Fixes descriptions that the derived schema misplaces or lacks: an optional member has its description at the `$ref`,
/// and the tag of an enum has none.
fn describe_choices(document: &mut OpenApi) {
    for schema in document
        .components
        .iter_mut()
        .flat_map(|all| all.schemas.values_mut())
    {
        let variants = match schema {
            RefOr::T(Schema::OneOf(choice)) => &mut choice.items[..],
            schema => std::slice::from_mut(schema),
        };
        let objects = variants.iter_mut().filter_map(|variant| match variant {
            RefOr::T(Schema::Object(object)) => Some(object),
            _ => None,
        });
        for (name, property) in objects.flat_map(|object| &mut object.properties) {
            match property {
                RefOr::T(Schema::OneOf(choice)) => {
                    let referred = choice.items.iter_mut().find_map(|item| match item {
                        RefOr::Ref(referred) => Some(std::mem::take(&mut referred.description)),
                        RefOr::T(_) => None,
                    });
                    choice.description = referred;
                }
                RefOr::T(Schema::Object(tag)) if name == "kind" => {
                    tag.description = Some("Selects the variant.".to_owned());
                }
                _ => {}
            }
        }
    }
}

/// The schema and an example of a parameter that has the same meaning on all routes.
fn shape(path: &str, parameter: &Parameter) -> Option<(ObjectBuilder, &'static str)> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let date_time = || text().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));
    let matching = |pattern: &str| text().pattern(Some(pattern));
    let name = || matching(NAME).max_length(Some(PLANE_NAME_MAX_CHARS));
    Some(match parameter.name.as_str() {
        // Not an enum: generated clients would turn it into a type with a single value.
        "api-version" => (
            text().pattern(Some(format!("^{API_VERSION}$"))),
            API_VERSION,
        ),
        "plane" if path.starts_with("/planes/aws/") => (name(), "aws"),
        "plane" if path.starts_with("/planes/azure/") => (matching(VISIBLE), "azurecloud"),
        "plane" => (name(), "local"),
        // Letters of any script: many readers of the document, browsers among them, do not know Unicode's classes.
        "group" => (
            matching(VISIBLE).max_length(Some(GROUP_NAME_MAX_CHARS)),
            "demo",
        ),
        // Not the one that signs calls to AWS.
        "credential" => (name(), "example"),
        "assignment" => (
            matching(ROLE_ASSIGNMENT_NAME).max_length(Some(PLANE_NAME_MAX_CHARS)),
            "example",
        ),
        "account" => (
            matching("^[A-Za-z0-9]+$").max_length(Some(ACCOUNT_MAX_CHARS)),
            "123456789012",
        ),
        "region" => {
            let pattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$";
            (
                matching(pattern).max_length(Some(REGION_MAX_CHARS)),
                "us-west-2",
            )
        }
        "namespace" => (matching(r"^[A-Za-z0-9]+\.[A-Za-z0-9]+$"), "AWS.EC2"),
        "type" if path.contains("/resourcegroups/") => {
            (matching("^[A-Za-z0-9]+:reference$"), "VPC:reference")
        }
        "type" if path.contains("/accounts/") => (matching("^[A-Za-z0-9]+$"), "VPC"),
        "type" if path.ends_with("/predictions/{type}") => (
            matching("^[A-Za-z0-9]+::[A-Za-z0-9]+::[A-Za-z0-9]+$"),
            "AWS::EC2::VPC",
        ),
        "type" => (text().enum_values(Some(["aws", "radius"])), "radius"),
        "identifier" => (matching(VISIBLE), "my-group"),
        "alias" => (
            matching(VISIBLE).max_length(Some(ALIAS_MAX_CHARS)),
            "my-vpc",
        ),
        "plan" | "planId" | "refactor" => (
            text().format(Some(SchemaFormat::Custom("uuid".to_owned()))),
            "2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e",
        ),
        "id" if parameter.parameter_in == ParameterIn::Path => (
            text().format(Some(SchemaFormat::Custom("uuid".to_owned()))),
            "2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e",
        ),
        "status" => (
            text().enum_values(Some(Status::ALL.map(Status::as_str))),
            Status::Failed.as_str(),
        ),
        "caller" => (text(), "token:ci"),
        "action" => (text(), "System.Resources/resourceGroups/write"),
        "outcome" => (text(), "Refused"),
        "id" => (text(), "/planes/radius/local/resourcegroups/demo"),
        "from" => (date_time(), "2026-01-02T03:04:05Z"),
        "to" => (date_time(), "2026-01-03T00:00:00Z"),
        "skipToken" => (text(), "a-token"),
        "If-Match" => (text(), "\"2b1c5a52\""),
        "If-None-Match" => (text(), "*"),
        "Prefer" => (text(), "respond-async"),
        _ => return None,
    })
}

fn each_operation(document: &mut OpenApi, mut change: impl FnMut(&str, &mut Operation)) {
    for (path, item) in &mut document.paths.paths {
        let operations = [
            &mut item.get,
            &mut item.put,
            &mut item.post,
            &mut item.patch,
            &mut item.delete,
        ];
        for operation in operations.into_iter().flatten() {
            change(path, operation);
        }
    }
}

fn add_refusals(operation: &mut Operation, statuses: &[&str]) {
    for status in statuses {
        let body = Content::new(Some(Ref::from_schema_name("ErrorResponse")));
        let refusal = ResponseBuilder::new().content("application/json", body);
        let responses = &mut operation.responses.responses;
        responses
            .entry((*status).to_owned())
            .or_insert_with(|| RefOr::T(refusal.build()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn each_route_says_whether_callers_have_to_be_known() {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        let ways = json!([{"token": []}, {"certificate": []}, {}]);
        assert_eq!(document["security"], ways);
        let schemes = &document["components"]["securitySchemes"];
        assert_eq!(schemes["token"]["scheme"], "bearer");
        assert_eq!(schemes["certificate"]["type"], "mutualTLS");
        let mut public = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            let methods = methods.as_object().unwrap().iter();
            for (method, operation) in methods.filter(|(word, _)| *word != "parameters") {
                let has = |status: &str| operation["responses"].get(status).is_some();
                let is_public = operation["security"] == json!([]);
                assert_eq!(has("401"), !is_public, "{method} {path}");
                assert!(is_public || has("403") && has("429"), "{method} {path}");
                assert!(is_public || operation["security"] == Value::Null);
                if is_public {
                    public.push(path.as_str());
                }
            }
        }
        assert_eq!(public, ["/docs/errors/{code}", "/healthz", "/readyz"]);
    }
}
