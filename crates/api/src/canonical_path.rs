//! Canonical request paths: one spelling for each route.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ucp_listen::AllowedHosts;

use crate::origin::{self, BaseUrl, Referrer, Scheme};
use crate::path_base::PathBase;
use crate::problem::{self, Problem};
use crate::query;
use crate::segments::Segments;
use crate::state::Api;

/// The maximum length of path and query, in bytes. Proxies accept no more as a rule.
pub(crate) const URI_MAX_BYTES: usize = 8 * 1024;

/// Rewrites each request to its canonical path before routing, and renders errors, its own and those of handlers: the
/// base URL that the client sees is known here.
pub(crate) async fn answer(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (base, allowed) = (&api.settings.path_base, &api.settings.allowed_hosts);
    let scheme = Scheme::of(request.extensions());
    let canonical = canonical(scheme, request.uri(), request.headers(), base, allowed);
    let (response, base_url) = match canonical {
        Ok((uri, base_url)) => {
            *request.uri_mut() = uri;
            request.extensions_mut().insert(base_url.clone());
            (next.run(request).await, base_url)
        }
        Err(problem) => {
            let base_url = origin::base_url(scheme, request.headers(), None, base);
            (problem.into_response(), base_url)
        }
    };
    problem::rendered(response, &base_url, api.settings.retry_after_seconds())
}

/// Returns the URI without the path base, with names in the client's casing, and the base URL that the client sees.
fn canonical(
    scheme: Scheme,
    uri: &Uri,
    headers: &HeaderMap,
    base: &PathBase,
    allowed: &AllowedHosts,
) -> Result<(Uri, BaseUrl), Problem> {
    let length = uri.path_and_query().map_or(0, |path| path.as_str().len());
    if length > URI_MAX_BYTES {
        let message = format!("The URL is {length} bytes long; the maximum is {URI_MAX_BYTES}.");
        return Err(Problem::bad_request(message));
    }
    query::judge(uri)?;
    let given = with_one_slash(uri.path());
    let path = match base.strip(given).map(with_one_slash) {
        Some("" | "/") => base.as_str(),
        Some(path) => path,
        None if is_id(given) => return Err(outside(base, given)),
        None => given,
    };
    if !is_id(path) {
        let base_url = origin::base_url(scheme, headers, None, base);
        return Ok((with_path(uri, path)?, base_url));
    }
    let mut segments = Segments::of(path)?;
    let referrer = Referrer::of(headers, &segments, allowed);
    let base_url = origin::base_url(scheme, headers, referrer.as_ref(), base);
    if let Some(referrer) = referrer {
        segments = referrer.segments;
    }
    Ok((with_path(uri, &segments.path())?, base_url))
}

/// Reduces the slashes at the start of the path to one. Clients that join an endpoint and an id send two.
fn with_one_slash(path: &str) -> &str {
    let rest = path.trim_start_matches('/');
    let slashes = path.len() - rest.len();
    &path[slashes.saturating_sub(1)..]
}

/// Whether the path is at or under `/planes`.
fn is_id(path: &str) -> bool {
    let mut segments = path.split('/').skip(1);
    segments
        .next()
        .is_some_and(|first| first.eq_ignore_ascii_case("planes"))
}

fn outside(base: &PathBase, path: &str) -> Problem {
    let shown = problem::shown_path(path);
    Problem::not_found(format!(
        "Planes are served under {base}. Use {base}{shown}."
    ))
}

fn with_path(uri: &Uri, path: &str) -> Result<Uri, Problem> {
    let query = uri
        .query()
        .map_or_else(String::new, |query| format!("?{query}"));
    let path = if path.is_empty() { "/" } else { path };
    let path_and_query: PathAndQuery = format!("{path}{query}")
        .parse()
        .map_err(|_| Problem::bad_request("The path is malformed."))?;
    Ok(Uri::from(path_and_query))
}

#[cfg(test)]
mod tests {
    use axum::http::Extensions;

    use super::*;

    fn route(text: &str) -> Result<Uri, Problem> {
        let headers = HeaderMap::new();
        let (base, allowed) = (PathBase::default(), AllowedHosts::loopback_and([]));
        let scheme = Scheme::of(&Extensions::new());
        let uri = text.parse().unwrap();
        canonical(scheme, &uri, &headers, &base, &allowed).map(|(uri, _)| uri)
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
    fn slashes_at_the_start_count_as_one() {
        assert_eq!(path("//planes/aws/aws"), "/planes/aws/aws");
        assert_eq!(path("///planes/aws/aws/"), "/planes/aws/aws");
        assert_eq!(path("//docs/"), "/docs/");
        let (headers, base) = (HeaderMap::new(), "/base".parse().unwrap());
        let allowed = AllowedHosts::loopback_and([]);
        for text in ["//base//planes/aws", "/base///planes/aws"] {
            let uri = text.parse().unwrap();
            let scheme = Scheme::of(&Extensions::new());
            let (uri, _) = canonical(scheme, &uri, &headers, &base, &allowed).unwrap();
            assert_eq!(uri, "/planes/aws", "{text}");
        }
    }

    #[test]
    fn what_no_id_can_hold_is_refused() {
        for text in [
            "/planes//aws",
            "//planes//aws",
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
