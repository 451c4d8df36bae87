//! Who calls: a platform, by basic authentication of its own.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tracing::Span;
use ucp_listen::Peer;
use zeroize::Zeroizing;

use crate::answered::OneOfMany;
use crate::broker::Broker;
use crate::platforms::PlatformAccount;
use crate::problem::Problem;

const CHALLENGE: HeaderValue =
    HeaderValue::from_static(r#"Basic realm="ucp service broker", charset="UTF-8""#);

/// Adds the [`PlatformAccount`] to the extensions of the request and of the reply. The credentials are taken out of the
/// request.
pub(crate) async fn signed_in(
    State(broker): State<Arc<Broker>>,
    mut request: Request,
    next: Next,
) -> Response {
    let given = given(request.headers());
    request.headers_mut().remove(AUTHORIZATION);
    let Some((username, password)) = given else {
        return challenge("Sign in as the platform, by basic authentication.");
    };
    let peer = request.extensions().get::<Peer>();
    let peer = peer.map(|peer| peer.0.ip());
    // Who guesses passwords is not told whether one is right.
    if let Some(wait) = broker.parts.failures.too_many(peer)
        && !peer.is_some_and(|peer| broker.lately.has(peer, &username, &password))
    {
        drop(request);
        broker.parts.metrics.login_failed();
        return too_many(wait);
    }
    let found = broker.settings.platforms.find(&username, &password);
    let Some(account) = found.map(Arc::clone) else {
        drop(request);
        return refused(&broker, peer).await;
    };
    if let Some(peer) = peer {
        broker.lately.note(peer, &username, &password);
    }
    Span::current().record("caller.name", account.platform.caller());
    request.extensions_mut().insert(Arc::clone(&account));
    let mut response = next.run(request).await;
    response
        .extensions_mut()
        .insert::<Arc<PlatformAccount>>(account);
    response
}

/// Reads the name and the password.
fn given(headers: &HeaderMap) -> Option<(String, Zeroizing<String>)> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (only, None) = (values.next()?, values.next()) else {
        return None;
    };
    let (scheme, encoded) = only.to_str().ok()?.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = Zeroizing::new(BASE64.decode(encoded.trim()).ok()?);
    let text = str::from_utf8(&decoded).ok()?;
    let (username, password) = text.split_once(':')?;
    Some((username.to_owned(), Zeroizing::new(password.to_owned())))
}

/// 401 for a password that is not valid, the later the more of them the peer sends.
async fn refused(broker: &Broker, peer: Option<IpAddr>) -> Response {
    broker.parts.metrics.login_failed();
    match broker.parts.failures.failed(peer) {
        Ok(delay) => {
            tracing::info!(
                peer.address = peer.map(tracing::field::display),
                reason = "The name or the password of the platform is not valid.",
                "a login failed"
            );
            delay.pass().await;
            challenge("The name or the password of the platform is not valid.")
        }
        Err(wait) => too_many(wait),
    }
}

/// Whoever goes on trying must not fill the logs.
fn too_many(wait: Duration) -> Response {
    let seconds = wait.as_secs().max(1);
    let description = format!(
        "Too many logins from your address have failed. Correct the password, and try again in {seconds} seconds."
    );
    let problem = Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "TooManyRequests",
        description,
    );
    let mut response = ([(RETRY_AFTER, seconds.to_string())], problem).into_response();
    response.extensions_mut().insert(OneOfMany);
    response
}

fn challenge(description: &str) -> Response {
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "Unauthorized", description);
    ([(WWW_AUTHENTICATE, CHALLENGE)], problem).into_response()
}
