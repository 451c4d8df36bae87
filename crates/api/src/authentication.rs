//! Tells who calls before the route is matched, and refuses who is not known where callers have to be.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Span;
use ucp_access::Principal;
use ucp_authentication::{Presented, Refused};
use ucp_listen::{ClientCertificate, OverTls, Peer};
use ucp_model::{ErrorCode, Failure};
use zeroize::Zeroizing;

use crate::audit_notes::{Noted, OneOfMany};
use crate::problem::Problem;
use crate::state::Api;

const REMOTE_USER: HeaderName = HeaderName::from_static("x-remote-user");
const REMOTE_GROUP: HeaderName = HeaderName::from_static("x-remote-group");
/// What the names of all headers begin with by which a proxy says who calls.
const REMOTE: &str = "x-remote-";

/// The challenge to who has no credentials.
const CHALLENGE: HeaderValue = HeaderValue::from_static(r#"Bearer realm="ucp""#);
/// The challenge to who has some that are not valid.
const INVALID: HeaderValue =
    HeaderValue::from_static(r#"Bearer realm="ucp", error="invalid_token""#);

/// Adds the [`Principal`] to the extensions of the request and of the reply. The credentials are taken out of the request.
pub(crate) async fn authenticate(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Response {
    let over_tls = request.extensions().get::<OverTls>();
    let certificate = over_tls.and_then(|over_tls| over_tls.client.clone());
    let trusts = |certificate: &ClientCertificate| api.authenticator.trusts(certificate);
    let presented = take(request.headers_mut(), certificate, trusts);
    if is_public(request.uri().path()) {
        return next.run(request).await;
    }
    let principal = match api.authenticator.identify(presented).await {
        Ok(Some(principal)) => principal,
        Ok(None) if api.authenticator.is_required() => return unknown(),
        Ok(None) => api.authenticator.nobody(),
        Err(refused) => {
            let peer = request.extensions().get::<Peer>();
            let peer = peer.map(|peer| peer.0.ip());
            let noted = request.extensions().get::<Noted>().cloned();
            drop(request);
            return refuse(&api, peer, &noted.unwrap_or_default(), &refused).await;
        }
    };
    Span::current().record("caller.name", principal.name.as_str());
    request.extensions_mut().insert(Arc::clone(&principal));
    let mut response = next.run(request).await;
    response
        .extensions_mut()
        .insert::<Arc<Principal>>(principal);
    response
}

/// Whether a path is served to everybody: the probes, and the documentation, which is that of the release.
pub(crate) fn is_public(path: &str) -> bool {
    matches!(
        path,
        "/" | "/healthz" | "/readyz" | "/openapi.json" | "/docs"
    ) || path.starts_with("/docs/")
}

/// Takes what tells who calls out of a request. On the connection of a proxy only its word counts. A bearer token counts
/// more than a certificate.
fn take(
    headers: &mut HeaderMap,
    certificate: Option<Arc<ClientCertificate>>,
    trusts: impl Fn(&ClientCertificate) -> bool,
) -> Presented {
    let presented = if certificate.as_deref().is_some_and(trusts) {
        word_of_proxy(headers)
    } else {
        match (bearer(headers), certificate) {
            (Some(presented), _) => presented,
            (None, Some(certificate)) => Presented::Certificate(certificate),
            (None, None) => Presented::Nothing,
        }
    };
    headers.remove(AUTHORIZATION);
    let remote: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().starts_with(REMOTE))
        .cloned()
        .collect();
    for name in remote {
        headers.remove(name);
    }
    presented
}

/// Reads the bearer token. Other schemes are those of proxies in front, and say nothing here.
fn bearer(headers: &HeaderMap) -> Option<Presented> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let only = given.next()?;
    if given.next().is_some() {
        let reason = "The header Authorization is given more than once.";
        return Some(Presented::Unreadable(reason));
    }
    let (scheme, token) = match only.as_bytes().split_first_chunk::<7>() {
        Some((scheme, token)) => (&scheme[..], token),
        None => (only.as_bytes(), &[][..]),
    };
    let is_bearer =
        scheme.eq_ignore_ascii_case(b"bearer ") || scheme.eq_ignore_ascii_case(b"bearer");
    is_bearer.then(|| match str::from_utf8(token.trim_ascii()) {
        Ok("") | Err(_) => Presented::Unreadable("The header Authorization has no token."),
        Ok(token) => Presented::Bearer(Zeroizing::new(token.to_owned())),
    })
}

fn word_of_proxy(headers: &HeaderMap) -> Presented {
    let text = |value: &HeaderValue| String::from_utf8(value.as_bytes().to_vec()).ok();
    let users: Vec<_> = headers.get_all(REMOTE_USER).iter().map(text).collect();
    let groups: Option<Vec<_>> = headers.get_all(REMOTE_GROUP).iter().map(text).collect();
    match (&users[..], groups) {
        ([], _) => Presented::Unreadable("The proxy does not say who calls in X-Remote-User."),
        ([Some(user)], Some(groups)) => Presented::RequestHeader {
            user: user.clone(),
            groups,
        },
        ([Some(_), ..], Some(_)) => {
            Presented::Unreadable("The proxy sent the header X-Remote-User more than once.")
        }
        ([None, ..], _) | ([Some(_), ..], None) => {
            Presented::Unreadable("A header of the proxy is not UTF-8.")
        }
    }
}

/// 401 for who shows nothing.
fn unknown() -> Response {
    let message = "This server has to know who calls. Send a token in the header Authorization, as `Bearer TOKEN`, or \
                   use a client certificate that it accepts.";
    challenge(CHALLENGE, message.to_owned())
}

/// 401 for a credential that is not valid, the later the more of them the peer sends; or 503 if nobody can tell.
async fn refuse(api: &Api, peer: Option<IpAddr>, noted: &Noted, refused: &Refused) -> Response {
    match refused {
        Refused::Invalid(reason) => {
            api.metrics.login_failed();
            let delay = match api.authenticator.login_failed(peer) {
                Ok(delay) => delay,
                // Whoever goes on trying must not fill the logs.
                Err(wait) => return one_of_many(too_many(wait)),
            };
            tracing::info!(
                peer.address = peer.map(tracing::field::display),
                reason,
                "a login failed"
            );
            noted.notes().login_failed = true;
            delay.pass().await;
            challenge(INVALID, reason.clone())
        }
        Refused::Unavailable(_) => {
            tracing::warn!(
                error = %ucp_model::chain(refused),
                "a credential cannot be verified"
            );
            not_now()
        }
        // Whoever makes tokens up must not fill the log.
        Refused::Busy => not_now(),
    }
}

fn not_now() -> Response {
    let message = "Your credentials cannot be verified at the moment. Try again.";
    let failure = Failure::new(ErrorCode::ServiceUnavailable, message);
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, failure).into_response()
}

fn too_many(wait: Duration) -> Response {
    let seconds = wait.as_secs().max(1);
    let message = format!(
        "Too many logins from your address have failed. Correct the token, and try again in {seconds} seconds."
    );
    let failure = Failure::new(ErrorCode::TooManyRequests, message);
    let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, failure);
    problem.again_after(seconds).into_response()
}

/// Leaves a reply out of the audit, which counts it.
fn one_of_many(mut response: Response) -> Response {
    response.extensions_mut().insert(OneOfMany);
    response
}

fn challenge(challenge: HeaderValue, message: String) -> Response {
    let failure = Failure::new(ErrorCode::AuthenticationFailed, message);
    let problem = Problem::new(StatusCode::UNAUTHORIZED, failure);
    ([(WWW_AUTHENTICATE, challenge)], problem).into_response()
}

#[cfg(test)]
mod tests {
    use ucp_authentication::Settings;
    use ucp_listen::Authority;

    use super::*;

    fn certificate(name: &str, signed_by: &[Authority]) -> Arc<ClientCertificate> {
        Arc::new(ClientCertificate {
            name: name.to_owned(),
            common_name: Some(name.to_owned()),
            groups: vec!["ops".to_owned()],
            signed_by: signed_by.to_vec(),
        })
    }

    /// Returns what is presented, in words, and the names of the headers that are left.
    fn seen(
        given: &[(&'static str, &'static str)],
        certificate: Option<&Arc<ClientCertificate>>,
        proxies: Option<&[&str]>,
    ) -> (String, Vec<String>) {
        let settings = Settings {
            proxies: proxies.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
            ..Settings::default()
        };
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(*name, value.parse().unwrap());
        }
        let trusts = |certificate: &ClientCertificate| settings.trust(certificate);
        let presented = take(&mut headers, certificate.cloned(), trusts);
        let said = match presented {
            Presented::Nothing => "nothing".to_owned(),
            Presented::Bearer(token) => format!("bearer {}", *token),
            Presented::Certificate(certificate) => format!("certificate {}", certificate.name),
            Presented::RequestHeader { user, groups } => format!("{user} of {groups:?}"),
            Presented::Unreadable(reason) => reason.to_owned(),
        };
        let left = headers.keys().map(ToString::to_string).collect();
        (said, left)
    }

    const TOKEN: (&str, &str) = ("authorization", "Bearer abc");
    const USER: (&str, &str) = ("x-remote-user", "ada");

    #[test]
    fn a_bearer_token_counts_more_than_a_certificate() {
        let client = certificate("ada", &[Authority::OfClients]);
        let said = |given: &[_], certificate| seen(given, certificate, None).0;
        assert_eq!(said(&[TOKEN], Some(&client)), "bearer abc");
        assert_eq!(said(&[], Some(&client)), "certificate ada");
        assert_eq!(said(&[], None), "nothing");
        let basic = ("authorization", "Basic abc");
        assert_eq!(said(&[basic], Some(&client)), "certificate ada");
        assert_eq!(
            said(&[("authorization", "bEARER  abc ")], None),
            "bearer abc"
        );
        for empty in ["Bearer", "Bearer "] {
            let said = said(&[("authorization", empty)], Some(&client));
            assert!(said.contains("has no token"), "{said}");
        }
        assert!(said(&[TOKEN, TOKEN], None).contains("more than once"));
        assert!(said(&[TOKEN, basic], None).contains("more than once"));
    }

    #[test]
    fn only_a_trusted_proxy_says_who_calls() {
        let proxy = certificate("front", &[Authority::OfProxies]);
        let client = certificate("front", &[Authority::OfClients]);
        let other = certificate("other", &[Authority::OfProxies]);
        let group = |name| ("x-remote-group", name);
        let given = [
            USER,
            group("a"),
            group("b"),
            TOKEN,
            ("x-remote-extra-x", "y"),
        ];
        for (certificate, proxies, expected) in [
            (Some(&proxy), Some(&["front"][..]), r#"ada of ["a", "b"]"#),
            (Some(&proxy), Some(&[]), r#"ada of ["a", "b"]"#),
            (Some(&other), Some(&["front"]), "bearer abc"),
            (Some(&client), Some(&["front"]), "bearer abc"),
            (Some(&client), Some(&[]), "bearer abc"),
            (Some(&proxy), None, "bearer abc"),
            (None, Some(&[]), "bearer abc"),
        ] {
            let (said, left) = seen(&given, certificate, proxies);
            assert_eq!(said, expected);
            assert_eq!(left, Vec::<String>::new());
        }
        let said = |given: &[_]| seen(given, Some(&proxy), Some(&["front"])).0;
        assert!(said(&[TOKEN]).contains("does not say who calls"));
        assert!(said(&[USER, USER]).contains("more than once"));
        assert!(seen(&[USER], None, None).0 == "nothing");
    }

    #[test]
    fn only_probes_and_documentation_are_public() {
        for path in [
            "/",
            "/healthz",
            "/readyz",
            "/docs",
            "/docs/errors/x",
            "/openapi.json",
        ] {
            assert!(is_public(path), "{path}");
        }
        for path in [
            "/planes",
            "/version",
            "/docsx",
            "/planes/docs/",
            "/healthz/x",
            "",
        ] {
            assert!(!is_public(path), "{path}");
        }
    }
}
