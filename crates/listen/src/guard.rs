//! Protection against requests from web pages. Any page can post to a server on loopback, so requests from other sites
//! are refused, and so are unknown values of `Host` (DNS rebinding).

use hyper::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Uri};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stranger {
    /// It has several `Host` headers, or one with a user name. RFC 9110, section 7.2: servers must not serve it.
    NoHost,
    /// Its `Host` is not allowed.
    OtherHost,
    /// It comes from a page of another site.
    OtherSite,
    /// It comes from a page of another origin.
    OtherOrigin,
}

impl Stranger {
    /// Says why, in a sentence.
    pub fn message(self) -> &'static str {
        match self {
            Self::NoHost => {
                "The request has several Host headers, or one that is not a host with a port. Send one: the host and the port of the server."
            }
            Self::OtherHost => {
                "The Host header names a host that is not allowed. Start ucp with --allowed-host to allow it."
            }
            Self::OtherSite => "The request comes from a page of another site.",
            Self::OtherOrigin => "The request comes from a page of another origin.",
        }
    }
}

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

    /// Returns whether a host is allowed, with or without its port.
    pub fn allow(&self, authority: &Authority) -> bool {
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

    /// Returns why a request with these headers is refused: it comes from another site, or goes to a host that is not
    /// allowed.
    pub fn objection(&self, headers: &HeaderMap) -> Option<Stranger> {
        if let Some(stranger) = of_no_host(headers) {
            return Some(stranger);
        }
        let host = text(headers, &HOST).and_then(|host| host.parse::<Authority>().ok());
        let Some(host) = host.filter(|host| self.allow(host)) else {
            return Some(Stranger::OtherHost);
        };
        let site = text(headers, &SEC_FETCH_SITE);
        if site.is_some_and(|site| site.eq_ignore_ascii_case("cross-site")) {
            return Some(Stranger::OtherSite);
        }
        let origin = text(headers, &ORIGIN)?;
        let origin = origin.parse::<Uri>().ok();
        let origin = origin.as_ref().and_then(Uri::authority);
        let is_same =
            origin.is_some_and(|origin| origin.as_str().eq_ignore_ascii_case(host.as_str()));
        (!is_same).then_some(Stranger::OtherOrigin)
    }
}

/// Returns why a request with these headers is refused by everybody: it says several hosts, or a user with one (RFC 9112, section 3.2;
/// RFC 9110, section 4.2.4).
pub fn of_no_host(headers: &HeaderMap) -> Option<Stranger> {
    let given: Vec<&HeaderValue> = headers.get_all(&HOST).iter().collect();
    let has_user = |host: &&HeaderValue| host.as_bytes().contains(&b'@');
    (given.len() > 1 || given.iter().any(has_user)).then_some(Stranger::NoHost)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers
        .get(name)
        .map(|value| value.to_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objection(headers: &[(&'static str, &'static str)]) -> Option<Stranger> {
        let allowed = AllowedHosts::loopback_and(["ucp.example".to_owned()]);
        let mut given = HeaderMap::new();
        for (name, value) in headers {
            given.append(*name, HeaderValue::from_static(value));
        }
        allowed.objection(&given)
    }

    fn refused(headers: &[(&'static str, &'static str)]) -> bool {
        objection(headers).is_some()
    }

    #[test]
    fn a_request_has_one_host_without_a_user() {
        let own = ("host", "localhost:8787");
        for headers in [
            &[own, own][..],
            &[("host", "evil.example"), own],
            &[("host", "localhost@evil.example")],
            &[("host", "evil.example@localhost:8787")],
        ] {
            assert_eq!(objection(headers), Some(Stranger::NoHost), "{headers:?}");
        }
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
