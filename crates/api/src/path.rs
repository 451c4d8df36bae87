//! Paths as ARM means them: split and decoded once, with ARM's own keywords in any letter case.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use tower::Service;
use ucp_model::Failure;
use ucp_model::ids::encode_segment;

use crate::origin::{self, BaseUrl, Referrer};
use crate::path_base::PathBase;
use crate::problem::{self, Problem};
use crate::query::judge_top;

/// The longest path and query.
const URI_MAX_BYTES: usize = 8 * 1024;

/// ARM's keywords, as they are routed.
const KEYWORDS: &[&str] = &[
    "accounts",
    "locations",
    "operations",
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
const ACTIONS: &[&str] = &[":cancel", ":delete", ":get", ":import", ":put"];

/// Rewrites each request to its canonical route before `inner` matches it. `Router::layer` would run after matching.
#[derive(Clone, Debug)]
pub(crate) struct CanonicalPath<S> {
    pub(crate) inner: S,
    pub(crate) base: PathBase,
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
        match canonical(request.uri(), request.headers(), &self.base) {
            Ok((uri, base_url)) => {
                *request.uri_mut() = uri;
                request.extensions_mut().insert(base_url);
                Box::pin(self.inner.call(request))
            }
            Err(problem) => {
                let base_url = origin::base_url(request.headers(), None, &self.base);
                let response = problem::explained(problem.into_response(), &base_url);
                Box::pin(std::future::ready(Ok(response)))
            }
        }
    }
}

/// The route without the path base, in the casing that the client gave it, and where the client sees us.
fn canonical(uri: &Uri, headers: &HeaderMap, base: &PathBase) -> Result<(Uri, BaseUrl), Problem> {
    let length = uri.path_and_query().map_or(0, |path| path.as_str().len());
    if length > URI_MAX_BYTES {
        let message = format!("The URL is {length} bytes long; ids fit into {URI_MAX_BYTES}.");
        return Err(Problem::bad_request(message));
    }
    judge_top(uri)?;
    let path = match base.strip(uri.path()) {
        Some("" | "/") => base.as_str(),
        Some(path) => path,
        None if is_id(uri.path()) => return Err(outside(base, uri.path())),
        None => uri.path(),
    };
    if !is_id(path) {
        let base_url = origin::base_url(headers, None, base);
        return Ok((with_path(uri, path)?, base_url));
    }
    let mut segments = Segments::of(path)?;
    let referrer = Referrer::of(headers, &segments);
    let base_url = origin::base_url(headers, referrer.as_ref(), base);
    if let Some(referrer) = referrer {
        segments = referrer.segments;
    }
    Ok((with_path(uri, &segments.path())?, base_url))
}

/// Whether the path is below `/planes`, however many slashes it begins with.
fn is_id(path: &str) -> bool {
    let mut segments = path.trim_start_matches('/').split('/');
    segments
        .next()
        .is_some_and(|first| first.eq_ignore_ascii_case("planes"))
}

fn outside(base: &PathBase, path: &str) -> Problem {
    let shown: String = path.chars().take(200).collect();
    let message = format!("Planes are served under {base}. Ask for {base}{shown}.");
    Problem::new(StatusCode::NOT_FOUND, Failure::new("NotFound", message))
}

fn with_path(uri: &Uri, path: &str) -> Result<Uri, Problem> {
    let query = uri
        .query()
        .map_or_else(String::new, |query| format!("?{query}"));
    let path = if path.is_empty() { "/" } else { path };
    let path_and_query: PathAndQuery = format!("{path}{query}")
        .parse()
        .map_err(|_| Problem::bad_request("The path cannot be read."))?;
    Ok(Uri::from(path_and_query))
}

/// The decoded segments of an id, its keywords as they are routed.
#[derive(Clone, Debug)]
pub(crate) struct Segments(Vec<String>);

impl Segments {
    /// Splits and decodes a path that begins with `/planes`.
    pub(crate) fn of(path: &str) -> Result<Self, Problem> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let path = path.strip_prefix('/').unwrap_or(path);
        let mut segments = path.split('/').map(decode).collect::<Result<Vec<_>, _>>()?;
        fold_keywords(&mut segments);
        Ok(Self(segments))
    }

    /// The path, escaped in one way.
    pub(crate) fn path(&self) -> String {
        self.0.iter().fold(String::new(), |path, segment| {
            path + "/" + &encode_segment(segment)
        })
    }

    /// Whether both name one resource: ARM's segments in any letter case, the identifier of an AWS resource as it is.
    pub(crate) fn same_resource(&self, other: &Self) -> bool {
        let Self(segments) = self;
        let providers = segments.iter().position(|segment| segment == "providers");
        let is_aws = |at: &usize| {
            let namespace = segments.get(at + 1);
            segments.get(1).is_some_and(|kind| kind == "aws")
                && namespace.is_some_and(|namespace| !NAMESPACES.contains(&namespace.as_str()))
        };
        let identifier = providers.filter(is_aws).map(|at| at + 3);
        let same = |(place, (mine, theirs)): (usize, (&String, &String))| {
            if identifier.is_some_and(|at| place >= at) {
                mine == theirs
            } else {
                mine.to_lowercase() == theirs.to_lowercase()
            }
        };
        segments.len() == other.0.len() && segments.iter().zip(&other.0).enumerate().all(same)
    }
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
/// `providers` stand a namespace and a type, where only `credentials` and `locations` are keywords.
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
    let mut is_location = false;
    for (place, segment) in segments.iter_mut().enumerate() {
        match (place, providers) {
            (0, _) => fold(segment, &["planes"]),
            (1, _) => fold(segment, &["aws", "radius"]),
            (_, Some(at)) if place == at + 1 => fold(segment, NAMESPACES),
            (_, Some(at)) if place == at + 2 => {
                fold(segment, &["credentials", "locations"]);
                is_location = segment == "locations";
            }
            (_, Some(at)) if place == at + 3 && is_location => fold(segment, &["global"]),
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

    fn route(text: &str) -> Result<Uri, Problem> {
        let headers = HeaderMap::new();
        canonical(&text.parse().unwrap(), &headers, &PathBase::default()).map(|(uri, _)| uri)
    }

    fn path(text: &str) -> String {
        route(text).unwrap().to_string()
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
                "/planes/aws/aws/accounts/1/regions/r/providers/AWS.X/LOCATIONS/Global/OPERATIONSTATUSES/7"
            ),
            "/planes/aws/aws/accounts/1/regions/r/providers/AWS.X/locations/global/operationStatuses/7"
        );
    }

    #[test]
    fn the_words_of_credentials_fold() {
        assert_eq!(
            path("/planes/AWS/aws/Providers/system.aws/Credentials/Default"),
            "/planes/aws/aws/providers/System.AWS/credentials/Default"
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
            assert!(route(text).is_err(), "{text}");
        }
        assert!(route(&format!("/planes/{}", "a".repeat(URI_MAX_BYTES))).is_err());
    }
}
