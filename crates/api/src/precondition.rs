//! `If-Match` and `If-None-Match` (RFC 9110, section 13.1), and the `ETag` header.

use axum::extract::FromRequestParts;
use axum::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use ucp_app::{Precondition, Tags};
use ucp_model::ETag;
use utoipa::IntoParams;

use crate::problem::Problem;
use crate::replies::Json;

/// Preconditions of the request.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct Conditions {
    /// Apply the change only if the current ETag is one of these; `*` matches any.
    #[param(rename = "If-Match", value_type = Option<String>)]
    if_match: Option<Tags>,
    /// Apply the change only if the current ETag is none of these; `*` creates but never replaces.
    #[param(rename = "If-None-Match", value_type = Option<String>)]
    if_none_match: Option<Tags>,
}

impl From<Conditions> for Precondition {
    fn from(conditions: Conditions) -> Self {
        Self {
            if_match: conditions.if_match,
            if_none_match: conditions.if_none_match,
            ..Self::NONE
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Conditions {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self {
            if_match: tags(&parts.headers, IF_MATCH, |tag| tag)?,
            // The comparison is weak (RFC 9110, section 13.1.2).
            if_none_match: tags(&parts.headers, IF_NONE_MATCH, |tag| {
                tag.strip_prefix("W/").unwrap_or(tag)
            })?,
        })
    }
}

/// Parses the tags of a header, with or without quotes. A foreign tag is accepted and matches nothing.
fn tags(
    headers: &HeaderMap,
    name: HeaderName,
    spelled: fn(&str) -> &str,
) -> Result<Option<Tags>, Problem> {
    let mut named = None;
    for value in headers.get_all(&name) {
        let list = value.to_str().map_err(|_| {
            Problem::bad_request(format!(
                "{name} contains characters other than visible ASCII."
            ))
        })?;
        let tags: &mut Vec<ETag> = named.get_or_insert_default();
        for tag in list.split(',').map(str::trim) {
            if tag == "*" {
                return Ok(Some(Tags::Any));
            }
            tags.push(ETag::new(spelled(tag).trim_matches('"')));
        }
    }
    Ok(named.map(Tags::Of))
}

/// A body with its ETag.
pub(crate) struct Tagged<T>(pub(crate) ETag, pub(crate) T);

impl<T: Serialize> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        let Self(etag, body) = self;
        ([(ETAG, format!("\"{etag}\""))], Json(body)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    async fn named(values: &[&str], name: HeaderName) -> Option<Tags> {
        let request = values.iter().fold(Request::builder(), |request, value| {
            request.header(&name, *value)
        });
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let Ok(conditions) = Conditions::from_request_parts(&mut parts, &()).await else {
            panic!("{name} is refused: {values:?}");
        };
        if name == IF_MATCH {
            conditions.if_match
        } else {
            conditions.if_none_match
        }
    }

    #[tokio::test]
    async fn headers_name_tags() {
        let of = |tags: &[&str]| Some(Tags::Of(tags.iter().map(|tag| ETag::new(*tag)).collect()));
        assert_eq!(named(&[], IF_MATCH).await, None);
        assert_eq!(named(&["*"], IF_MATCH).await, Some(Tags::Any));
        assert_eq!(named(&["\"a\""], IF_MATCH).await, of(&["a"]));
        assert_eq!(named(&["a"], IF_MATCH).await, of(&["a"]));
        assert_eq!(
            named(&["\"a\", \"b\"", "\"c\""], IF_MATCH).await,
            of(&["a", "b", "c"])
        );
        assert_eq!(named(&["W/\"a\""], IF_NONE_MATCH).await, of(&["a"]));
        assert_ne!(named(&["W/\"a\""], IF_MATCH).await, of(&["a"]));
    }
}
