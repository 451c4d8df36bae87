//! The OpenAPI document: what the routes say of themselves, and what holds for all of them.

use ucp_app::Status;
use ucp_model::ids::ALIAS_MAX_CHARS;
use utoipa::OpenApi as _;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter};
use utoipa::openapi::schema::SchemaFormat;
use utoipa::openapi::{
    Content, Object, ObjectBuilder, OpenApi, Ref, RefOr, ResponseBuilder, Schema, Type,
};

use crate::path_base::PathBase;
use crate::query::API_VERSION;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "ucp",
        description = "Declares AWS resources under aliases of your own, over ARM's REST conventions. Sending the same declaration again gives the same resource.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    servers((url = "/", description = "The server that the document comes from")),
    tags(
        (name = "AWS resources", description = "What AWS has: put, read, deleted and imported by action or by name."),
        (name = "Credentials", description = "What ucp signs in to AWS with."),
        (name = "Errors", description = "What each error code means."),
        (name = "Health", description = "What an orchestrator asks."),
        (name = "Operations", description = "What goes on in the background, and what it came to."),
        (name = "Planes", description = "What resource groups, credentials and AWS accounts are below of."),
        (name = "References", description = "Aliases, and the AWS resources that they stand for."),
        (name = "Resource groups", description = "The scopes in which aliases are unique per type.")
    )
)]
struct Document;

/// What any request may be answered, whatever its route.
const ANYWHERE: &[&str] = &["400", "403", "500", "503"];
/// What any request with a body may be answered.
const WITH_BODY: &[&str] = &["408", "413", "415"];
/// What a request may be answered that AWS has a say in.
const FROM_AWS: &[&str] = &["429"];

/// Which statuses ask for another try later.
const TEMPORARY: &[&str] = &["409", "429", "503"];
const RETRY_AFTER: &str = "Retry-After";
/// What every reply carries.
const EVERYWHERE: &[&str] = &["x-ms-request-id", "x-ms-correlation-request-id"];

/// The rule for the names of planes, groups and credentials.
const NAME: &str = "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$";
/// What is left of a text without control characters.
const VISIBLE: &str = r"^[^\x00-\x1F\x7F-\x9F]+$";

/// What a status means where a route says nothing more particular.
fn meaning(status: &str) -> &'static str {
    match status {
        "200" => "Done, or as it is",
        "400" => "The request cannot be read, or asks for what cannot be",
        "403" => {
            "The host is not ours, another site's page asks, or the account is not the credentials'"
        }
        "404" => "Not found",
        "408" => "The body did not arrive in time",
        "409" => "What is there stands in the way, or an operation is under way",
        "412" => "The condition of the request does not hold",
        "413" => "The body, or what it declares, is too large",
        "415" => "The body has a Content-Encoding",
        "429" => "AWS throttles; try again",
        "500" => "AWS failed or did not answer in time, or a defect",
        "503" => "What ucp depends on cannot be reached; try again",
        _ => "",
    }
}

/// What a header of a reply says.
fn header_meaning(name: &str) -> Option<&'static str> {
    Some(match name {
        "Azure-AsyncOperation" => "Where the operation's status is, as an absolute URL",
        "ETag" => "Names what the reply shows, for `If-Match`",
        "Location" => "Where the operation's result will be, as an absolute URL",
        RETRY_AFTER => {
            "How many seconds to wait before asking again; absent when waiting is no use"
        }
        "x-ms-request-id" => "Names this reply in the log",
        "x-ms-correlation-request-id" => "As the request had it, or a fresh one",
        _ => return None,
    })
}

/// The document of the API's routes and of the probes.
pub(crate) fn of(mut described: OpenApi, probes: OpenApi) -> OpenApi {
    add_common_refusals(&mut described);
    let mut document = Document::openapi();
    // Callers are not authenticated yet.
    document.security = Some(Vec::new());
    document.merge(described);
    document.merge(probes);
    describe_conventions(&mut document);
    describe_choices(&mut document);
    document
}

/// Adds the refusals that a route need not mention, since every one of them has them.
fn add_common_refusals(document: &mut OpenApi) {
    each_operation(document, |path, operation| {
        if path.contains("/accounts/") {
            add_refusals(operation, FROM_AWS);
        }
        if operation.request_body.is_some() {
            add_refusals(operation, WITH_BODY);
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

/// Describes what all routes share: parameters by their names, statuses by what they mean, and the headers of replies.
fn describe_conventions(document: &mut OpenApi) {
    each_operation(document, |path, operation| {
        for parameter in operation.parameters.iter_mut().flatten() {
            let RefOr::T(parameter) = parameter else {
                continue;
            };
            if let Some((schema, example)) = shape(path, parameter) {
                let schema = schema.examples([example]).build();
                parameter.schema = Some(schema.into());
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

/// Says of each choice what the derived schema says elsewhere: of an optional member, at the type that it refers to, and of
/// the tag of an enum, nowhere.
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
                    tag.description = Some("Which of them it is.".to_owned());
                }
                _ => {}
            }
        }
    }
}

/// What a parameter may hold, and an example, for those that mean the same wherever they are.
fn shape(path: &str, parameter: &Parameter) -> Option<(ObjectBuilder, &'static str)> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let matching = |pattern: &str| text().pattern(Some(pattern));
    let name = || matching(NAME).max_length(Some(63));
    Some(match parameter.name.as_str() {
        // Not an enum: generated clients would make a type of the one version.
        "api-version" => (
            text().pattern(Some(format!("^{API_VERSION}$"))),
            API_VERSION,
        ),
        "plane" => (name(), "local"),
        "group" => (name(), "demo"),
        "credential" => (name(), "default"),
        "account" => (matching("^[A-Za-z0-9]{1,63}$"), "123456789012"),
        "region" => {
            let pattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$";
            (matching(pattern).max_length(Some(63)), "us-west-2")
        }
        "namespace" => (matching(r"^[A-Za-z0-9]+\.[A-Za-z0-9]+$"), "AWS.EC2"),
        "type" if path.contains("/resourcegroups/") => {
            (matching("^[A-Za-z0-9]+:reference$"), "VPC:reference")
        }
        "type" if path.contains("/accounts/") => (matching("^[A-Za-z0-9]+$"), "VPC"),
        "type" => (text().enum_values(Some(["aws", "radius"])), "aws"),
        "identifier" => (matching(VISIBLE), "my-group"),
        "alias" => (
            matching(VISIBLE).max_length(Some(ALIAS_MAX_CHARS)),
            "my-vpc",
        ),
        "id" => (
            text().format(Some(SchemaFormat::Custom("uuid".to_owned()))),
            "2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e",
        ),
        "status" => (
            text().enum_values(Some(Status::ALL.map(Status::as_str))),
            Status::Failed.as_str(),
        ),
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

/// The document as a server with this path base serves it.
pub(crate) fn served_under(base: &PathBase, mut document: OpenApi) -> OpenApi {
    if !base.is_empty() {
        document.servers = Some(vec![utoipa::openapi::Server::new(base.as_str())]);
    }
    document
}
