//! The discovery document of an issuer (OpenID Connect Discovery 1.0, section 4), which says where its keys are.

use hyper::Uri;
use serde::Deserialize;

use crate::settings::is_trustworthy;

/// Returns where the discovery document is.
pub(crate) fn url(issuer: &str) -> String {
    let issuer = issuer.strip_suffix('/').unwrap_or(issuer);
    format!("{issuer}/.well-known/openid-configuration")
}

/// Why a discovery document says nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    #[error("its discovery document cannot be read")]
    Unreadable(#[source] serde_json::Error),
    #[error("its discovery document is of the issuer {0}")]
    Another(String),
    #[error("its discovery document names the keys at {0}, which is not a URL over TLS")]
    Insecure(String),
}

#[derive(Deserialize)]
struct Document {
    issuer: String,
    jwks_uri: String,
}

/// Returns where the keys are.
pub(crate) fn keys(document: &[u8], issuer: &str) -> Result<Uri, Wrong> {
    let document: Document = serde_json::from_slice(document).map_err(Wrong::Unreadable)?;
    if document.issuer != issuer {
        return Err(Wrong::Another(document.issuer));
    }
    let url: Option<Uri> = document.jwks_uri.parse().ok();
    // An issuer on this machine may be asked in clear, but does not send anybody elsewhere in clear.
    url.filter(is_trustworthy)
        .ok_or(Wrong::Insecure(document.jwks_uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://issuer.example.com";

    #[test]
    fn the_document_is_below_the_issuer() {
        let expected = "https://a/b/.well-known/openid-configuration";
        assert_eq!(url("https://a/b"), expected);
        assert_eq!(url("https://a/b/"), expected);
    }

    #[test]
    fn keys_are_where_a_document_of_the_same_issuer_says() {
        let document = r#"{"issuer":"https://issuer.example.com","jwks_uri":"https://keys.example.com/jwks?v=1","more":1}"#;
        let url = keys(document.as_bytes(), ISSUER).unwrap();
        assert_eq!(url, "https://keys.example.com/jwks?v=1");
        for (document, expected) in [
            ("", "cannot be read"),
            ("[]", "cannot be read"),
            (
                r#"{"issuer":"https://issuer.example.com"}"#,
                "cannot be read",
            ),
            (
                r#"{"issuer":"https://issuer.example.com/","jwks_uri":"https://issuer.example.com/jwks"}"#,
                "of the issuer https://issuer.example.com/",
            ),
            (
                r#"{"issuer":"https://issuer.example.com","jwks_uri":"http://issuer.example.com/jwks"}"#,
                "not a URL over TLS",
            ),
            (
                r#"{"issuer":"https://issuer.example.com","jwks_uri":"/jwks"}"#,
                "not a URL over TLS",
            ),
        ] {
            let error = keys(document.as_bytes(), ISSUER).unwrap_err().to_string();
            assert!(error.contains(expected), "{document}: {error}");
        }
    }
}
