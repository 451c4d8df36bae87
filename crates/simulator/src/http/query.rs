//! The protocol of CloudFormation and STS, AWS Query: forms in, XML out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::request_id::REQUEST_ID;
use crate::exception::{Exception, ExceptionCode};
use crate::request::{
    Action, AssumeRole, AssumeRoleWithWebIdentity, DescribeType, GetCallerIdentity, ListTypes,
    Reply, Request, Session, TypeDescription,
};

const CLOUDFORMATION: &str = "http://cloudformation.amazonaws.com/doc/2010-05-15/";
const STS: &str = "https://sts.amazonaws.com/doc/2011-06-15/";

/// Parses the call in a request that is signed with `access_key_id`.
pub(super) fn parse(access_key_id: &str, body: &[u8]) -> Result<Request, Exception> {
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
            max_results: number(text("MaxResults"), "maxResults")?,
            next_token: text("NextToken"),
        })),
        Some(Action::GetCallerIdentity) => Ok(Request::GetCallerIdentity(GetCallerIdentity {
            access_key_id: access_key_id.to_owned(),
        })),
        Some(Action::AssumeRole) => Ok(Request::AssumeRole(AssumeRole {
            role_arn: text("RoleArn").unwrap_or_default(),
            role_session_name: text("RoleSessionName").unwrap_or_default(),
            external_id: text("ExternalId"),
            duration_seconds: number(text("DurationSeconds"), "durationSeconds")?,
        })),
        Some(Action::AssumeRoleWithWebIdentity) => Ok(Request::AssumeRoleWithWebIdentity(
            AssumeRoleWithWebIdentity {
                role_arn: text("RoleArn").unwrap_or_default(),
                role_session_name: text("RoleSessionName").unwrap_or_default(),
                web_identity_token: text("WebIdentityToken").unwrap_or_default(),
                duration_seconds: number(text("DurationSeconds"), "durationSeconds")?,
            },
        )),
        _ => Err(Exception::new(
            ExceptionCode::InvalidAction,
            format!(
                "Could not find operation {} for version 2010-05-15",
                action.unwrap_or_default()
            ),
        )),
    }
}

fn number(text: Option<String>, member: &str) -> Result<Option<i64>, Exception> {
    let Some(text) = text else { return Ok(None) };
    let number = text.parse().map_err(|_| {
        Exception::constraint(&format!("'{text}'"), member, "Member must be a number")
    });
    number.map(Some)
}

/// Converts a reply to a response.
pub(super) fn reply(reply: &Reply) -> Response {
    let (namespace, action, result) = match reply {
        Reply::Type {
            description,
            schema,
        } => (
            CLOUDFORMATION,
            Action::DescribeType,
            described(description, schema),
        ),
        Reply::Types { types, next_token } => {
            let members: String = types.iter().map(summary).collect();
            let next_token = next_token
                .as_deref()
                .map(|token| element("NextToken", token));
            let next_token = next_token.unwrap_or_default();
            (
                CLOUDFORMATION,
                Action::ListTypes,
                format!("<TypeSummaries>{members}</TypeSummaries>{next_token}"),
            )
        }
        Reply::Identity {
            account,
            arn,
            user_id,
        } => {
            let members = [
                element("Arn", arn),
                element("UserId", user_id),
                element("Account", account),
            ];
            (STS, Action::GetCallerIdentity, members.concat())
        }
        Reply::Session { action, session } => (STS, *action, begun(session)),
        _ => return error(&Exception::new(ExceptionCode::InternalFailure, "")),
    };
    respond(
        StatusCode::OK,
        format!(
            "<{action}Response xmlns=\"{namespace}\"><{action}Result>{result}</{action}Result>\
             <ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata></{action}Response>"
        ),
    )
}

/// Converts an exception to a response.
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
    // The Query protocol has its own names for these.
    let code = match exception.code {
        ExceptionCode::AccessDenied => "AccessDenied",
        ExceptionCode::ExpiredToken => "ExpiredToken",
        ExceptionCode::ServiceUnavailable => "ServiceUnavailable",
        ExceptionCode::UnrecognizedClient => "InvalidClientTokenId",
        ExceptionCode::Throttling => "Throttling",
        ExceptionCode::Validation => "ValidationError",
        code => code.as_str(),
    };
    respond(
        status,
        format!(
            "<ErrorResponse xmlns=\"{CLOUDFORMATION}\"><Error>{}{}{}</Error><RequestId>{REQUEST_ID}</RequestId></ErrorResponse>",
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

/// The credentials of a session. The secret and the token are dummies, since signatures are not verified.
fn begun(session: &Session) -> String {
    let credentials = [
        element("AccessKeyId", &session.access_key_id),
        element("SecretAccessKey", "simulated"),
        element("SessionToken", "simulated"),
        element("Expiration", &session.expires_at.to_string()),
    ];
    let user = [
        element("AssumedRoleId", &session.user_id),
        element("Arn", &session.arn),
    ];
    format!(
        "<Credentials>{}</Credentials><AssumedRoleUser>{}</AssumedRoleUser>",
        credentials.concat(),
        user.concat()
    )
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

/// Escapes a text for XML. Characters that XML does not allow are removed, and line ends are escaped so that parsers
/// keep them.
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
