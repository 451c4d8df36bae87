//! The URL of a server, and of what is on it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use hyper::Uri;

/// The URL of a server, with its path base and without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    /// Whether it is on this machine.
    is_here: bool,
}

impl BaseUrl {
    /// Returns the URL of what a reply names: a path, or a URL. The request goes to this server whatever host the URL
    /// names: a server behind a proxy or a tunnel may know itself by another name, and nobody else may see the token.
    pub(crate) fn of(&self, target: &str) -> String {
        let path = match target.find("/planes/").or_else(|| target.find("/planes?")) {
            Some(at) => &target[at..],
            None => target,
        };
        // Otherwise it might go on with the host.
        format!("{}/{}", self.text, path.trim_start_matches('/'))
    }

    /// Returns whether it is the server on this machine that another URL names: one with the same host and port.
    pub fn is_here_as(&self, other: &str) -> bool {
        let authority = |text: &str| text.parse::<Uri>().ok()?.into_parts().authority;
        let (own, other) = (authority(&self.text), authority(other.trim()));
        self.is_here && own.is_some() && own == other
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for BaseUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        const SHAPE: &str = "expected a URL such as https://ucp.example.com";
        let url: Uri = text.parse().map_err(|_| SHAPE)?;
        let has_scheme = matches!(url.scheme_str(), Some("http" | "https"));
        let host = url.host().unwrap_or_default();
        if !has_scheme || host.is_empty() || url.query().is_some() || text.contains('@') {
            return Err(SHAPE);
        }
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let address = address.parse::<IpAddr>();
        Ok(Self {
            text: text.trim_end_matches('/').to_owned(),
            is_here: host.eq_ignore_ascii_case("localhost")
                || address.is_ok_and(|address| address.is_loopback()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_scheme_and_a_host() {
        for given in [
            "127.0.0.1:8787",
            "ftp://a",
            "http://",
            "http://a?b",
            "http://u:p@a",
        ] {
            assert!(given.parse::<BaseUrl>().is_err(), "{given}");
        }
        for (given, is_here) in [
            ("http://127.0.0.1:8787", true),
            ("https://LOCALHOST/base/", true),
            ("http://[::1]:80", true),
            ("https://ucp.example.com", false),
        ] {
            let url = given.parse::<BaseUrl>().expect("a URL");
            assert_eq!(url.is_here_as(given), is_here, "{given}");
        }
        let url: BaseUrl = "http://127.0.0.1:8787/base".parse().expect("a URL");
        assert!(url.is_here_as("http://127.0.0.1:8787\n"));
        for other in [
            "http://127.0.0.1:8788",
            "http://[::1]:8787",
            "http://localhost:8787",
            "",
            "x",
        ] {
            assert!(!url.is_here_as(other), "{other}");
        }
    }

    #[test]
    fn whatever_a_reply_names_is_asked_of_the_same_server() {
        let base: BaseUrl = "https://proxy/apis/v1/".parse().expect("a URL");
        let asked = "https://proxy/apis/v1/planes/radius/local?api-version=1";
        for named in [
            "/planes/radius/local?api-version=1",
            "http://10.0.0.5:8787/planes/radius/local?api-version=1",
            "http://elsewhere/apis/v1/planes/radius/local?api-version=1",
        ] {
            assert_eq!(base.of(named), asked);
        }
        assert_eq!(base.of("/version"), "https://proxy/apis/v1/version");
        assert_eq!(
            base.of("@elsewhere/x"),
            "https://proxy/apis/v1/@elsewhere/x"
        );
    }
}
