//! CloudFormation's protocol, AWS Query: forms in, XML out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::REQUEST_ID;
use crate::exception::{Exception, ExceptionCode};
use crate::request::{Action, DescribeType, ListTypes, Reply, Request, TypeDescription};

const NAMESPACE: &str = "http://cloudformation.amazonaws.com/doc/2010-05-15/";

/// The call that a request is.
pub(super) fn parse(body: &[u8]) -> Result<Request, Exception> {
    let form: BTreeMap<Cow<'_, str>, Cow<'_, str>> = form_urlencoded::parse(body).collect();
    let text = |name: &str| form.get(name).map(|value| value.to_string());
    let action = text("Action");
    match action.as_deref().and_then(Action::from_word) {
        Some(Action::DescribeType) => Ok(Request::DescribeType(DescribeType {
            kind: text("Type"),
            type_name: text("TypeName"),
            arn: text("Arn"),
        })),
        Some(Action::ListTypes) => Ok(Request::ListTypes(ListTypes {
            kind: text("Type"),
            visibility: text("Visibility"),
            provisioning_type: text("ProvisioningType"),
            deprecated_status: text("DeprecatedStatus"),
            category: text("Filters.Category"),
            type_name_prefix: text("Filters.TypeNamePrefix"),
            max_results: text("MaxResults").map(|text| number(&text)).transpose()?,
            next_token: text("NextToken"),
        })),
        _ => Err(Exception::new(
            ExceptionCode::InvalidAction,
            format!(
                "Could not find operation {} for version 2010-05-15",
                action.unwrap_or_default()
            ),
        )),
    }
}

fn number(text: &str) -> Result<i64, Exception> {
    text.parse().map_err(|_| {
        Exception::constraint(
            &format!("'{text}'"),
            "maxResults",
            "Member must be a number",
        )
    })
}

/// The reply on the wire.
pub(super) fn reply(reply: &Reply) -> Response {
    let (action, result) = match reply {
        Reply::Type {
            description,
            schema,
        } => (Action::DescribeType, described(description, schema)),
        Reply::Types { types, next_token } => {
            let members: String = types.iter().map(summary).collect();
            let next_token = next_token
                .as_deref()
                .map(|token| element("NextToken", token));
            let next_token = next_token.unwrap_or_default();
            (
                Action::ListTypes,
                format!("<TypeSummaries>{members}</TypeSummaries>{next_token}"),
            )
        }
        _ => return error(&Exception::new(ExceptionCode::InternalFailure, "")),
    };
    respond(
        StatusCode::OK,
        format!(
            "<{action}Response xmlns=\"{NAMESPACE}\"><{action}Result>{result}</{action}Result>\
             <ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata></{action}Response>"
        ),
    )
}

/// The refusal on the wire.
pub(super) fn error(exception: &Exception) -> Response {
    let status = match exception.code {
        ExceptionCode::TypeNotFound => 404,
        code => code.http_status(),
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let blamed = if status.is_server_error() {
        "Receiver"
    } else {
        "Sender"
    };
    // The Query protocol has names of its own for these two.
    let code = match exception.code {
        ExceptionCode::Throttling => "Throttling",
        ExceptionCode::Validation => "ValidationError",
        code => code.as_str(),
    };
    respond(
        status,
        format!(
            "<ErrorResponse xmlns=\"{NAMESPACE}\"><Error>{}{}{}</Error><RequestId>{REQUEST_ID}</RequestId></ErrorResponse>",
            element("Type", blamed),
            element("Code", code),
            element("Message", &exception.message),
        ),
    )
}

fn respond(status: StatusCode, xml: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/xml")], xml).into_response()
}

fn described(description: &TypeDescription, schema: &str) -> String {
    let TypeDescription {
        type_name,
        arn,
        provisioning_type,
        last_updated,
        ..
    } = description;
    let last_updated = last_updated.to_string();
    [
        element("Arn", arn),
        element("Type", "RESOURCE"),
        element("TypeName", type_name),
        element("IsDefaultVersion", "true"),
        optional("Description", description.description.as_deref()),
        element("Schema", schema),
        element("ProvisioningType", provisioning_type),
        element("DeprecatedStatus", "LIVE"),
        element("Visibility", "PUBLIC"),
        optional("SourceUrl", description.source_url.as_deref()),
        optional("DocumentationUrl", description.documentation_url.as_deref()),
        element("LastUpdated", &last_updated),
        element("TimeCreated", &last_updated),
    ]
    .concat()
}

fn summary(description: &TypeDescription) -> String {
    let members = [
        element("Type", "RESOURCE"),
        element("TypeName", &description.type_name),
        element("TypeArn", &description.arn),
        element("LastUpdated", &description.last_updated.to_string()),
        optional("Description", description.description.as_deref()),
    ];
    format!("<member>{}</member>", members.concat())
}

fn optional(name: &str, text: Option<&str>) -> String {
    text.map(|text| element(name, text)).unwrap_or_default()
}

fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escape(text))
}

/// A text as XML has it. Characters that XML cannot hold are left out, and line ends are written so that parsers leave
/// them alone.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\r' => escaped.push_str("&#13;"),
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() && !matches!(letter, '\n' | '\t') => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
