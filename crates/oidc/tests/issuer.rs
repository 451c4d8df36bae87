//! An issuer that is asked over the network: away, slow, too large, or wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, encode};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use ucp_authentication::{IdentityProvider as _, Refused};
use ucp_model::{Clock, Timestamp};
use ucp_oidc::{Issuer, Settings, Unusable};

const NOW: i64 = 1_800_000_000;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(NOW * 1_000)
    }
}

fn settings(address: SocketAddr) -> Settings {
    Settings {
        issuer: format!("http://{address}"),
        audiences: vec!["ucp".to_owned()],
        username_claim: "sub".to_owned(),
        groups_claim: "groups".to_owned(),
        prefix: "oidc:".to_owned(),
        ca: None,
    }
}

fn issuer(address: SocketAddr) -> Issuer {
    Issuer::new(settings(address), Arc::new(Fixed)).unwrap()
}

struct Signer {
    pair: KeyPair,
    issuer: String,
}

impl Signer {
    fn of(address: SocketAddr) -> Self {
        Self {
            pair: KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap(),
            issuer: format!("http://{address}"),
        }
    }

    fn discovery(&self) -> Value {
        json!({"issuer": self.issuer, "jwks_uri": format!("{}/jwks", self.issuer)})
    }

    fn jwks(&self) -> Value {
        let key = DecodingKey::from_ec_der(self.pair.public_key_raw());
        let mut key = Jwk::from_decoding_key(&key, Some(Algorithm::ES256)).unwrap();
        key.common.key_id = Some("one".to_owned());
        json!({ "keys": [key] })
    }

    fn token(&self) -> String {
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some("one".to_owned());
        let issuer = &self.issuer;
        let claims = json!({"iss": issuer, "aud": "ucp", "sub": "alice", "exp": NOW + 300});
        let key = EncodingKey::from_ec_der(self.pair.serialized_der());
        encode(&header, &claims, &key).unwrap()
    }
}

/// Starts an issuer that gives each of these answers once, and verifies one of its tokens, twice.
async fn verified(
    discovery: impl Fn(&Signer) -> Response,
    jwks: impl Fn(&Signer) -> Response,
) -> Result<String, &'static str> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let signer = Signer::of(address);
    let once = |response: Response| {
        let response = Arc::new(Mutex::new(Some(response)));
        get(async move || {
            let response = response.lock().unwrap().take();
            response.unwrap_or_else(|| StatusCode::GONE.into_response())
        })
    };
    let routes = Router::new()
        .route(
            "/.well-known/openid-configuration",
            once(discovery(&signer)),
        )
        .route("/jwks", once(jwks(&signer)))
        .route("/elsewhere", once(jwks(&signer)));
    let server = tokio::spawn(async move { axum::serve(listener, routes).await });
    let issuer = issuer(address);
    let token = signer.token();
    let found = told(&issuer, &token).await;
    assert_eq!(told(&issuer, &token).await, found);
    server.abort();
    found
}

/// Returns the name of whose token it is, or in a word why it is refused.
async fn told(issuer: &Issuer, token: &str) -> Result<String, &'static str> {
    match issuer.verify(token).await {
        Ok(principal) => Ok(principal.name),
        Err(Refused::Invalid(_)) => Err("invalid"),
        Err(Refused::Unavailable(_)) => Err("unavailable"),
        Err(Refused::Busy) => Err("busy"),
    }
}

fn discovery(signer: &Signer) -> Response {
    signer.discovery().to_string().into_response()
}

fn jwks(signer: &Signer) -> Response {
    signer.jwks().to_string().into_response()
}

#[tokio::test]
async fn a_token_is_verified_by_the_keys_of_its_issuer() {
    assert_eq!(verified(discovery, jwks).await, Ok("oidc:alice".to_owned()));
}

#[tokio::test]
async fn an_issuer_that_is_wrong_vouches_for_nobody() {
    let text = |text: &'static str| move |_: &Signer| text.into_response();
    let status = |status: StatusCode| move |_: &Signer| status.into_response();
    let padded = |document: Value, bytes: usize| {
        let document = document.to_string();
        format!("{document}{}", " ".repeat(bytes)).into_response()
    };
    let giant_keys = |signer: &Signer| padded(signer.jwks(), 512 * 1024);
    let giant = |signer: &Signer| padded(signer.discovery(), 512 * 1024);
    let redirected = |_: &Signer| Redirect::temporary("/elsewhere").into_response();
    let other = |signer: &Signer| {
        let mut document = signer.discovery();
        document["issuer"] = json!("https://other.example.com");
        document.to_string().into_response()
    };
    for (what, found) in [
        ("404", verified(status(StatusCode::NOT_FOUND), jwks).await),
        ("HTML", verified(text("<html>"), jwks).await),
        ("giant", verified(giant, jwks).await),
        ("another issuer", verified(other, jwks).await),
        (
            "keys 502",
            verified(discovery, status(StatusCode::BAD_GATEWAY)).await,
        ),
        ("keys []", verified(discovery, text("[]")).await),
        ("no keys", verified(discovery, text(r#"{"keys":[]}"#)).await),
        ("giant keys", verified(discovery, giant_keys).await),
        ("keys elsewhere", verified(discovery, redirected).await),
    ] {
        assert_eq!(found, Err("unavailable"), "{what}");
    }
}

#[tokio::test]
async fn an_issuer_that_is_away_vouches_for_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let token = Signer::of(address).token();
    let found = told(&issuer(address), &token).await;
    assert_eq!(found, Err("unavailable"));
}

#[tokio::test]
async fn an_issuer_that_takes_connections_and_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let token = Signer::of(address).token();
    let began = Instant::now();
    let found = told(&issuer(address), &token).await;
    assert_eq!(found, Err("unavailable"));
    assert!(began.elapsed() < Duration::from_secs(60));
    drop(listener);
}

#[test]
fn authorities_that_cannot_be_read_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    for file in [empty, folder.path().join("missing.pem")] {
        let settings = Settings {
            ca: Some(file.clone()),
            ..settings(([127, 0, 0, 1], 1).into())
        };
        let error = Issuer::new(settings, Arc::new(Fixed)).unwrap_err();
        assert!(matches!(&error, Unusable::Authorities { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&file.display().to_string()), "{text}");
    }
}
