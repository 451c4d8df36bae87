//! What is known of an issuer before it is asked.

use std::path::PathBuf;

use hyper::Uri;
use hyper::http::uri::InvalidUri;
use ucp_https::NoAuthorities;

/// Which tokens are good, and what they say.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The URL of the issuer, as its tokens spell it.
    pub issuer: String,
    /// The audiences. A token must be for one of them.
    pub audiences: Vec<String>,
    /// The claim that names the user.
    pub username_claim: String,
    /// The claim that names the groups of the user: a string, or an array of strings.
    pub groups_claim: String,
    /// Put before the name of each user and of each group, so that they are not those of another way to authenticate.
    pub prefix: String,
    /// The certificates of the authorities that may vouch for the issuer, in PEM. Those of the machine if `None`.
    pub ca: Option<PathBuf>,
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The issuer is not a URL.
    #[error("the issuer {issuer} is not a URL")]
    NoUrl {
        /// The issuer.
        issuer: String,
        /// Why.
        #[source]
        source: InvalidUri,
    },
    /// The issuer would be asked in clear.
    #[error(
        "the issuer {0} cannot be trusted: its URL must begin with https://, or name a loopback address"
    )]
    Insecure(String),
    /// The URL has a query or a fragment.
    #[error("the issuer {0} cannot be used: its URL must have neither a query nor a fragment")]
    NotPlain(String),
    /// No token could be for an audience.
    #[error("an audience is needed, so that tokens for others are refused")]
    NoAudience,
    /// The certificates of the authorities cannot be read.
    #[error(transparent)]
    Authorities(#[from] NoAuthorities),
}

impl Settings {
    /// Checks what can be checked without asking the issuer, and returns its URL.
    pub(crate) fn checked(&self) -> Result<Uri, Unusable> {
        let issuer = || self.issuer.clone();
        if self.audiences.iter().all(String::is_empty) {
            return Err(Unusable::NoAudience);
        }
        if self.issuer.contains(['?', '#']) {
            return Err(Unusable::NotPlain(issuer()));
        }
        let url: Uri = self.issuer.parse().map_err(|source| Unusable::NoUrl {
            issuer: issuer(),
            source,
        })?;
        if is_trustworthy(&url) {
            Ok(url)
        } else {
            Err(Unusable::Insecure(issuer()))
        }
    }
}

/// Returns whether nobody else can answer for a URL: it is spoken to over TLS, or on this machine.
pub(crate) fn is_trustworthy(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default();
    match url.scheme_str() {
        Some("https") => !host.is_empty(),
        Some("http") => is_loopback(host),
        _ => false,
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let address = address.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(issuer: &str, audience: &str) -> Result<Uri, Unusable> {
        let settings = Settings {
            issuer: issuer.to_owned(),
            audiences: vec![audience.to_owned()],
            username_claim: "sub".to_owned(),
            groups_claim: "groups".to_owned(),
            prefix: "oidc:".to_owned(),
            ca: None,
        };
        settings.checked()
    }

    #[test]
    fn an_issuer_is_asked_over_tls_or_on_this_machine() {
        for issuer in [
            "https://issuer.example.com",
            "https://issuer.example.com/realms/one/",
            "http://127.0.0.1:80",
            "http://127.8.8.8/x",
            "http://localhost:8080",
            "http://[::1]:8080/",
        ] {
            assert!(checked(issuer, "ucp").is_ok(), "{issuer}");
        }
        for issuer in [
            "http://issuer.example.com",
            "http://10.0.0.1",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "ftp://127.0.0.1",
            "issuer.example.com",
            "/issuer",
        ] {
            let refused = checked(issuer, "ucp");
            assert!(matches!(refused, Err(Unusable::Insecure(_))), "{issuer}");
        }
    }

    #[test]
    fn settings_that_cannot_be_used_say_why() {
        for (issuer, audience, expected) in [
            ("https://a b", "ucp", "is not a URL"),
            ("", "ucp", "is not a URL"),
            ("https://a?b=c", "ucp", "neither a query nor a fragment"),
            ("https://a#b", "ucp", "neither a query nor a fragment"),
            ("https://a", "", "an audience is needed"),
        ] {
            let error = checked(issuer, audience).unwrap_err().to_string();
            assert!(error.contains(expected), "{issuer}: {error}");
        }
    }
}
