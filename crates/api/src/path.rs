//! Paths as ARM means them: split and decoded once, with ARM's own keywords in any letter case.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use tower::Service;
use ucp_model::ids::encode_segment;

use crate::problem::Problem;
use crate::query::judge_top;

/// The longest path and query.
const URI_MAX_BYTES: usize = 8 * 1024;

/// ARM's keywords, as they are routed.
const KEYWORDS: &[&str] = &[
    "accounts",
    "locations",
    "operationResults",
    "operationStatuses",
    "providers",
    "regions",
    "resourcegroups",
    "resources",
];
/// Provider namespaces of our own.
const NAMESPACES: &[&str] = &["System.AWS", "System.Resources"];
/// POST actions.
const ACTIONS: &[&str] = &[":cancel", ":delete", ":put"];

/// Rewrites each request to its canonical route before `inner` matches it. `Router::layer` would run after matching.
#[derive(Clone, Debug)]
pub(crate) struct CanonicalPath<S> {
    pub(crate) inner: S,
}

impl<S> Service<Request> for CanonicalPath<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        match judge_top(request.uri()).and_then(|()| canonical(request.uri())) {
            Ok(uri) => {
                *request.uri_mut() = uri;
                Box::pin(self.inner.call(request))
            }
            Err(problem) => Box::pin(std::future::ready(Ok(problem.into_response()))),
        }
    }
}

fn canonical(uri: &Uri) -> Result<Uri, Problem> {
    let length = uri.path_and_query().map_or(0, |path| path.as_str().len());
    if length > URI_MAX_BYTES {
        let message = format!("The URL is {length} bytes long; ids fit into {URI_MAX_BYTES}.");
        return Err(Problem::bad_request(message));
    }
    let path = uri.path();
    let first = path
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    if !first.eq_ignore_ascii_case("planes") {
        return Ok(uri.clone());
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut segments = Vec::new();
    for raw in path.strip_prefix('/').unwrap_or(path).split('/') {
        segments.push(decode(raw)?);
    }
    fold_keywords(&mut segments);
    let mut rewritten = String::with_capacity(path.len());
    for segment in &segments {
        rewritten.push('/');
        rewritten.push_str(&encode_segment(segment));
    }
    if let Some(query) = uri.query() {
        rewritten.push('?');
        rewritten.push_str(query);
    }
    let path_and_query: PathAndQuery = rewritten
        .parse()
        .map_err(|_| Problem::bad_request("The path cannot be read."))?;
    Ok(Uri::from(path_and_query))
}

fn decode(raw: &str) -> Result<String, Problem> {
    if raw.is_empty() {
        return Err(Problem::bad_request(
            "The path holds an empty segment ('//').",
        ));
    }
    let segment = percent_decode_str(raw).decode_utf8().map_err(|_| {
        Problem::bad_request("The path is not UTF-8 once its percent-escapes are decoded.")
    })?;
    if segment.chars().any(char::is_control) {
        return Err(Problem::bad_request("The path holds a control character."));
    }
    if segment == "." || segment == ".." {
        return Err(Problem::bad_request(
            "The path holds a '.' or '..' segment.",
        ));
    }
    Ok(segment.into_owned())
}

/// Ids alternate between keywords and names: `planes` and the plane's kind, then keywords at every odd place. Behind
/// `providers` stand a namespace and a type, where only `locations` is a keyword.
fn fold_keywords(segments: &mut [String]) {
    fn fold(segment: &mut String, known: &[&str]) {
        if let Some(keyword) = known
            .iter()
            .find(|keyword| keyword.eq_ignore_ascii_case(segment))
        {
            (*keyword).clone_into(segment);
        }
    }
    let mut providers = None;
    for (place, segment) in segments.iter_mut().enumerate() {
        match (place, providers) {
            (0, _) => fold(segment, &["planes"]),
            (1, _) => fold(segment, &["aws", "radius"]),
            (_, Some(at)) if place == at + 1 => fold(segment, NAMESPACES),
            (_, Some(at)) if place == at + 2 => fold(segment, &["locations"]),
            _ if place % 2 == 1 => fold(segment, KEYWORDS),
            _ => {}
        }
        if providers.is_none() && place % 2 == 1 && segment == "providers" {
            providers = Some(place);
        }
    }
    if let Some(last) = segments.last_mut() {
        fold(last, ACTIONS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> String {
        canonical(&text.parse().unwrap()).unwrap().to_string()
    }

    #[test]
    fn keywords_fold_and_names_do_not() {
        assert_eq!(
            path(
                "/PLANES/Radius/Local/ResourceGroups/My-RG/PROVIDERS/aws.EC2/VPC:reference/Regions/?a=B"
            ),
            "/planes/radius/Local/resourcegroups/My-RG/providers/aws.EC2/VPC:reference/Regions?a=B"
        );
        assert_eq!(
            path("/planes/AWS/aws/Accounts/1/REGIONS/us-west-2/providers/AWS.EC2/VPC/:PUT"),
            "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2/VPC/:put"
        );
        assert_eq!(
            path(
                "/planes/aws/aws/accounts/1/regions/r/providers/AWS.X/LOCATIONS/global/OPERATIONSTATUSES/7"
            ),
            "/planes/aws/aws/accounts/1/regions/r/providers/AWS.X/locations/global/operationStatuses/7"
        );
    }

    #[test]
    fn escapes_survive_in_one_spelling() {
        assert_eq!(path("/planes/aws/a%2fb%7Cc%20d"), "/planes/aws/a%2Fb|c%20d");
        assert_eq!(path("/planes/%61ws/x"), "/planes/aws/x");
    }

    #[test]
    fn what_no_id_can_hold_is_refused() {
        for text in [
            "/planes//aws",
            "/planes/aws/%00",
            "/planes/aws/%ff",
            "/planes/../x",
            "/planes/%2e%2e/x",
        ] {
            assert!(canonical(&text.parse().unwrap()).is_err(), "{text}");
        }
        assert!(
            canonical(
                &format!("/planes/{}", "a".repeat(URI_MAX_BYTES))
                    .parse()
                    .unwrap()
            )
            .is_err()
        );
    }
}
