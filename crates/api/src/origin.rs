//! The server as the client sees it: scheme, host and path base of URLs in replies, and the casing of ids.

use std::fmt;

use axum::http::header::{HOST, REFERER};
use axum::http::{Extensions, HeaderMap, HeaderName, Uri};
use ucp_listen::{AllowedHosts, OverTls};

use crate::path_base::PathBase;
use crate::segments::Segments;

const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The part before the id in the URLs of a reply.
#[derive(Clone, Debug)]
pub(crate) struct BaseUrl(pub(crate) String);

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A `Referer` that names the same resource as the URL: a proxy passes the URL that the client requested in it.
pub(crate) struct Referrer {
    scheme: String,
    authority: String,
    base: String,
    /// The id, in the client's casing.
    pub(crate) segments: Segments,
}

impl Referrer {
    /// Returns the `Referer` if it names the same resource as `own`, at a host that is allowed: polling URLs lead there.
    pub(crate) fn of(headers: &HeaderMap, own: &Segments, allowed: &AllowedHosts) -> Option<Self> {
        let uri: Uri = text(headers, &REFERER)?.parse().ok()?;
        let scheme = uri.scheme_str().filter(|scheme| is_http(scheme))?;
        let authority = uri.authority().filter(|host| allowed.allow(host))?;
        let authority = authority.as_str();
        let id_at = uri.path().to_ascii_lowercase().find("/planes/")?;
        let (base, path) = uri.path().split_at_checked(id_at)?;
        let base = base.trim_end_matches('/');
        let segments = Segments::of(path).ok()?;
        // A base with an empty segment would produce links to other hosts.
        let same = segments.same_resource(own) && !base.contains("//") && !authority.contains('@');
        same.then(|| Self {
            scheme: scheme.to_owned(),
            authority: authority.to_owned(),
            base: base.to_owned(),
            segments,
        })
    }
}

/// The scheme of the connection that a request came over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheme(&'static str);

impl Scheme {
    pub(crate) fn of(extensions: &Extensions) -> Self {
        Self(match extensions.get::<OverTls>() {
            Some(_) => "https",
            None => "http",
        })
    }
}

/// Scheme, host and path base: from the referrer, otherwise from the connection, `Host` and the configured path base.
/// `X-Forwarded-Proto` overrides the scheme.
pub(crate) fn base_url(
    scheme: Scheme,
    headers: &HeaderMap,
    referrer: Option<&Referrer>,
    own: &PathBase,
) -> BaseUrl {
    let (scheme, authority, base) = match referrer {
        Some(referrer) => (
            referrer.scheme.as_str(),
            referrer.authority.as_str(),
            referrer.base.as_str(),
        ),
        None => {
            let host = text(headers, &HOST).unwrap_or("localhost");
            (scheme.0, host, own.as_str())
        }
    };
    let forwarded = text(headers, &FORWARDED_PROTO);
    let forwarded = forwarded.and_then(|schemes| schemes.split(',').next());
    let scheme = forwarded
        .map(str::trim)
        .filter(|scheme| is_http(scheme))
        .unwrap_or(scheme);
    BaseUrl(format!("{scheme}://{authority}{base}"))
}

fn is_http(scheme: &str) -> bool {
    matches!(scheme, "http" | "https")
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const PATH: &str = "/planes/radius/local/resourcegroups/rg";
    const HOST: (&str, &str) = ("host", "10.0.0.1:80");

    /// Returns the base URL, and the id in the client's casing if there is a valid `Referer`.
    fn seen(headers: &[(&'static str, &'static str)], path: &str) -> (String, Option<String>) {
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        let headers = headers.collect();
        let allowed = ["front.example", "x"].map(str::to_owned);
        let allowed = AllowedHosts::loopback_and(allowed);
        let referrer = Referrer::of(&headers, &Segments::of(path).unwrap(), &allowed);
        let base = "/base".parse().unwrap();
        let BaseUrl(url) = base_url(Scheme("http"), &headers, referrer.as_ref(), &base);
        (url, referrer.map(|referrer| referrer.segments.path()))
    }

    #[test]
    fn the_host_is_where_the_client_came_in() {
        assert_eq!(seen(&[HOST], PATH).0, "http://10.0.0.1:80/base");
        let forwarded = ("x-forwarded-proto", "https, http");
        assert_eq!(seen(&[HOST, forwarded], PATH).0, "https://10.0.0.1:80/base");
        let odd = ("x-forwarded-proto", "gopher");
        assert_eq!(seen(&[HOST, odd], PATH).0, "http://10.0.0.1:80/base");
    }

    #[test]
    fn a_referer_counts_when_it_names_the_same_resource() {
        let same = (
            "referer",
            "https://front.example/apis/v1/Planes/Radius/LOCAL/resourceGroups/My%2dRG/?a=b",
        );
        let path = "/planes/radius/local/resourcegroups/my-rg";
        let (url, id) = seen(&[HOST, same], path);
        assert_eq!(url, "https://front.example/apis/v1");
        let id = id.unwrap();
        assert_eq!(id, "/planes/radius/LOCAL/resourcegroups/My-RG");
        let doubled = (
            "referer",
            "https://front.example/apis/v1//planes/radius/local/resourcegroups/my-rg",
        );
        assert_eq!(
            seen(&[HOST, doubled], path).0,
            "https://front.example/apis/v1"
        );
        let forwarded = ("x-forwarded-proto", "http");
        let (url, _) = seen(&[HOST, same, forwarded], path);
        assert_eq!(url, "http://front.example/apis/v1");
        for other in [
            "https://front.example/planes/radius/local/resourcegroups/other",
            "https://front.example/planes/radius/local/resourcegroups/rg/resources",
            "https://front.example//evil.example/planes/radius/local/resourcegroups/rg",
            "https://user@front.example/planes/radius/local/resourcegroups/rg",
            "https://evil.example/planes/radius/local/resourcegroups/rg",
            "https://front.example.evil.example/planes/radius/local/resourcegroups/rg",
            "ftp://front.example/planes/radius/local/resourcegroups/rg",
            "/planes/radius/local/resourcegroups/rg",
            "https://front.example/docs/",
            "nonsense",
        ] {
            let seen = seen(&[HOST, ("referer", other)], PATH);
            assert_eq!(
                seen,
                ("http://10.0.0.1:80/base".to_owned(), None),
                "{other}"
            );
        }
    }

    #[test]
    fn identifiers_of_aws_are_told_apart_by_their_casing() {
        let path = "/planes/aws/aws/accounts/1/regions/r/providers/AWS.Logs/LogGroup/Foo";
        let refers = |referer| seen(&[HOST, ("referer", referer)], path).1.is_some();
        assert!(refers(
            "https://x/planes/AWS/Aws/accounts/1/regions/r/providers/aws.logs/loggroup/Foo"
        ));
        assert!(!refers(
            "https://x/planes/aws/aws/accounts/1/regions/r/providers/AWS.Logs/LogGroup/foo"
        ));
    }
}
