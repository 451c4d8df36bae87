//! TLS with Postgres and with PgBouncer. They listen on loopback; `0.0.0.0` is a name of this machine too, and not one of
//! loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::error::Error as _;

use ucp_store_sql::testing::Listening;
use ucp_store_sql::{OpenError, Sql};

const NETWORK: &str = "0.0.0.0";
const LOOPBACK: &str = "127.0.0.1";

/// Opens the store, and returns whether it speaks TLS.
async fn encrypted(server: &Listening, url: &str) -> Result<bool, String> {
    let store = Sql::connect_postgres(url).await.map_err(told)?;
    let encrypted = server.encrypted().await;
    assert!(!encrypted.is_empty());
    store.close().await;
    let first = encrypted[0];
    assert!(encrypted.iter().all(|encrypted| *encrypted == first));
    Ok(first)
}

/// Returns what a process says that cannot start.
fn told(error: OpenError) -> String {
    assert!(matches!(error, OpenError::Tls(_)), "{error:?}");
    format!("{error}: {}", error.source().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_spoken_as_the_url_says() {
    let Some(server) = Listening::with_tls().await else {
        return;
    };
    let authority = format!("sslrootcert={}", server.authority().display());
    for (host, parameters, expected) in [
        (NETWORK, "", true),
        (NETWORK, "sslmode=disable", false),
        (LOOPBACK, "", true),
        (LOOPBACK, "sslmode=disable", false),
        (LOOPBACK, &format!("{authority}&sslmode=verify-ca"), true),
        (LOOPBACK, &format!("{authority}&sslmode=require"), true),
        (
            "localhost",
            &format!("{authority}&sslmode=verify-full"),
            true,
        ),
        ("localhost", &authority, true),
    ] {
        let url = server.url(host, parameters);
        assert_eq!(encrypted(&server, &url).await, Ok(expected), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_prove_who_it_is_is_refused() {
    let (Some(server), Some(other)) = tokio::join!(Listening::with_tls(), Listening::with_tls())
    else {
        return;
    };
    let authority = format!("sslrootcert={}", server.authority().display());
    let another = format!("sslrootcert={}", other.authority().display());
    for (host, parameters) in [
        // The certificate is of another name.
        (LOOPBACK, format!("{authority}&sslmode=verify-full")),
        (LOOPBACK, authority.clone()),
        // Another authority has signed it.
        ("localhost", "sslmode=verify-full".to_owned()),
        (LOOPBACK, "sslmode=verify-ca".to_owned()),
        ("localhost", format!("{another}&sslmode=verify-full")),
        (LOOPBACK, format!("{another}&sslmode=verify-ca")),
        (LOOPBACK, format!("{another}&sslmode=require")),
    ] {
        let url = server.url(host, &parameters);
        let error = Sql::connect_postgres(&url).await.unwrap_err();
        let told = chain(&error);
        assert!(told.contains("certificate"), "{url}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_is_refused_off_loopback() {
    let Some(server) = Listening::without_tls().await else {
        return;
    };
    for (host, parameters) in [(NETWORK, ""), (LOOPBACK, "sslmode=require")] {
        let url = server.url(host, parameters);
        let told = encrypted(&server, &url).await.unwrap_err();
        assert!(told.contains("sslmode"), "{told}");
        assert!(told.contains("does not support TLS"), "{told}");
    }
    for (host, parameters) in [(NETWORK, "sslmode=disable"), (LOOPBACK, "")] {
        let url = server.url(host, parameters);
        assert_eq!(encrypted(&server, &url).await, Ok(false), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_and_the_listener_beside_it_are_spoken_with_over_tls() {
    let (Some(server), Some(plain)) = tokio::join!(Listening::with_tls(), Listening::without_tls())
    else {
        return;
    };
    let Some((_pooler, pooled)) = server.pooler(NETWORK).await else {
        return;
    };
    // The pooler takes nothing else, and talks to the server over its socket.
    let direct = server.url(NETWORK, "");
    let store = Sql::connect_postgres_and_listen(&pooled, Some(&direct)).await;
    let store = store.unwrap();
    // The connection that listens is the only one of ours that reaches the server itself over the network.
    let encrypted = server.encrypted().await;
    assert_eq!(encrypted.iter().filter(|encrypted| **encrypted).count(), 1);
    store.close().await;

    let direct = plain.url(NETWORK, "");
    let refused = Sql::connect_postgres_and_listen(&pooled, Some(&direct)).await;
    assert!(told(refused.unwrap_err()).contains("does not support TLS"));
    let insecure = format!("{pooled}sslmode=disable");
    let refused = Sql::connect_postgres(&insecure).await.unwrap_err();
    assert!(
        chain(&refused).contains("SSL required"),
        "{}",
        chain(&refused)
    );
}

fn chain(error: &dyn std::error::Error) -> String {
    ucp_model::chain(error)
}
