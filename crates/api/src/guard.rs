//! Protection against requests from web pages. Any page can post to a server on loopback, so requests from other sites
//! are refused, and so are unknown values of `Host` (DNS rebinding).

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use ucp_model::{ErrorCode, Failure};

use crate::problem::Problem;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The accepted values of `Host`.
#[derive(Clone, Debug)]
pub struct AllowedHosts {
    names: Vec<String>,
    any: bool,
}

impl AllowedHosts {
    /// Allows loopback and `names`; `*` allows every host.
    pub fn loopback_and(names: impl IntoIterator<Item = String>) -> Self {
        let mut hosts = Self {
            names: Vec::new(),
            any: false,
        };
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        for name in loopback.into_iter().chain(names) {
            hosts.any |= name == "*";
            hosts.names.push(name.to_ascii_lowercase());
        }
        hosts
    }

    fn allow(&self, authority: &Authority) -> bool {
        let (host, whole) = (
            authority.host().to_ascii_lowercase(),
            authority.as_str().to_ascii_lowercase(),
        );
        self.any
            || self
                .names
                .iter()
                .any(|name| *name == host || *name == whole)
    }
}

/// Refuses requests from other sites and to hosts that are not allowed.
pub(crate) async fn refuse_strangers(
    State(allowed): State<AllowedHosts>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match objection(request.headers(), &allowed) {
        Some(message) => Err(Problem::new(
            StatusCode::FORBIDDEN,
            Failure::new(ErrorCode::AuthorizationFailed, message),
        )),
        None => Ok(next.run(request).await),
    }
}

fn objection(headers: &HeaderMap, allowed: &AllowedHosts) -> Option<String> {
    let text = |name: &HeaderName| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    let host = text(&HOST).and_then(|host| host.parse::<Authority>().ok());
    let Some(host) = host.filter(|host| allowed.allow(host)) else {
        return Some("The Host header names a host that is not allowed. Start ucp with --allowed-host to allow it.".to_owned());
    };
    if text(&SEC_FETCH_SITE).is_some_and(|site| site.eq_ignore_ascii_case("cross-site")) {
        return Some("The request comes from a page of another site.".to_owned());
    }
    let origin = text(&ORIGIN)?;
    let authority = origin
        .parse::<Uri>()
        .ok()
        .and_then(|origin| origin.authority().cloned());
    let same = authority.is_some_and(|origin| origin.as_str().eq_ignore_ascii_case(host.as_str()));
    (!same).then(|| "The request comes from a page of another origin.".to_owned())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn refused(headers: &[(&'static str, &'static str)]) -> bool {
        let allowed = AllowedHosts::loopback_and(["ucp.example".to_owned()]);
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        objection(&headers.collect(), &allowed).is_some()
    }

    #[test]
    fn only_our_hosts_are_served() {
        for host in [
            "localhost",
            "127.0.0.1:8787",
            "[::1]:8787",
            "LOCALHOST:1",
            "ucp.example",
            "ucp.example:443",
        ] {
            assert!(!refused(&[("host", host)]), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8787",
        ] {
            assert!(refused(&[("host", host)]), "{host}");
        }
        assert!(refused(&[]));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let host = ("host", "localhost:8787");
        assert!(!refused(&[
            host,
            ("origin", "http://localhost:8787"),
            ("sec-fetch-site", "same-origin")
        ]));
        assert!(refused(&[host, ("origin", "https://evil.example")]));
        assert!(refused(&[host, ("origin", "http://localhost:3000")]));
        assert!(refused(&[host, ("origin", "null")]));
        assert!(refused(&[host, ("sec-fetch-site", "cross-site")]));
    }
}
