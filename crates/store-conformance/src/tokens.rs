//! Tokens by which callers are known.

use std::time::Duration;

use ucp_access::{Role, Scope};
use ucp_model::Timestamp;
use ucp_store::{ENDED_TOKEN_RETENTION, TOKENS_MAX, Token, TokenState};

use super::fixture::*;

fn token(id: &str, second: i64) -> Token {
    let scopes = ["/planes/radius/local/resourcegroups/É", "/planes/aws/aws"];
    Token {
        id: id.to_owned(),
        name: "c\u{ef}".to_owned(),
        digest: [7; 32],
        role: Role::CredentialsAdmin,
        scopes: scopes.map(|scope| scope.parse().unwrap()).into(),
        created_at: at(second),
        expires_at: Some(at(second + 100)),
        last_used_at: None,
        revoked_at: None,
    }
}

async fn create(store: &Engine, token: Token) {
    assert!(store.create_token(token).await.unwrap());
}

async fn stored(store: &Engine, id: &str) -> Option<Token> {
    store.get_token(id).await.unwrap()
}

async fn listed(store: &Engine, after: Option<&str>, limit: usize) -> Vec<String> {
    let tokens = store.list_tokens(after, limit).await.unwrap();
    tokens.into_iter().map(|token| token.id).collect()
}

/// A token is read as it was written, by its exact id.
pub async fn a_token_is_remembered(store: Engine) {
    assert_eq!(stored(&store, "a").await, None);
    let one = token("a", 1);
    let ageless = Token {
        expires_at: None,
        scopes: vec![Scope::everything()],
        ..token("b", 2)
    };
    create(&store, ageless.clone()).await;
    create(&store, one.clone()).await;
    assert_eq!(stored(&store, "a").await, Some(one.clone()));
    assert_eq!(stored(&store, "A").await, None);
    let all = store.list_tokens(None, 10).await.unwrap();
    assert_eq!(all, [one, ageless], "tokens may have the same name");
    assert_eq!(listed(&store, None, 1).await, ["a"]);
    assert_eq!(listed(&store, Some("a"), 10).await, ["b"]);
    assert_eq!(listed(&store, Some("aa"), 10).await, ["b"]);
}

/// A token is revoked once, whether it has expired or not.
pub async fn a_token_is_revoked_once(store: Engine) {
    create(&store, token("a", 1)).await;
    assert!(!store.revoke_token("b", at(5)).await.unwrap());
    assert!(store.revoke_token("a", at(5)).await.unwrap());
    assert!(!store.revoke_token("a", at(6)).await.unwrap());
    let revoked = stored(&store, "a").await.unwrap();
    assert_eq!(revoked.revoked_at, Some(at(5)));
    assert_eq!(revoked.ends_at(), Some(at(5)));
    assert_eq!(revoked.state(at(200)), TokenState::Revoked);

    create(&store, token("late", 1)).await;
    assert!(store.revoke_token("late", at(500)).await.unwrap());
    let late = stored(&store, "late").await.unwrap();
    assert_eq!(late.ends_at(), Some(at(101)));
}

/// The last use only moves forward.
pub async fn the_last_use_of_a_token_is_remembered(store: Engine) {
    create(&store, token("a", 1)).await;
    store.note_token_use("b", at(3)).await.unwrap();
    for (used, last) in [(3, 3), (2, 3), (4, 4)] {
        store.note_token_use("a", at(used)).await.unwrap();
        let last = Some(at(last));
        assert_eq!(stored(&store, "a").await.unwrap().last_used_at, last);
    }
}

/// There is a limit to valid tokens. Those that have ended do not count, and are removed after a while.
pub async fn tokens_have_a_limit_and_an_end(store: Engine) {
    let gone = |token: &Token| -> Timestamp {
        let end = token.ends_at().unwrap();
        end.after(ENDED_TOKEN_RETENTION + Duration::from_secs(1))
    };
    let (expired, revoked) = (token("expired", 1), token("revoked", 2));
    create(&store, expired.clone()).await;
    create(&store, revoked.clone()).await;
    assert!(store.revoke_token("revoked", at(3)).await.unwrap());
    let name = |number: usize| format!("n{number:04}");
    let ageless = |number: usize| Token {
        expires_at: None,
        ..token(&name(number), 101)
    };
    for number in 0..TOKENS_MAX {
        create(&store, ageless(number)).await;
    }
    assert!(!store.create_token(ageless(TOKENS_MAX)).await.unwrap());
    assert!(stored(&store, &name(TOKENS_MAX)).await.is_none());
    assert!(store.revoke_token(&name(0), at(101)).await.unwrap());
    create(&store, ageless(TOKENS_MAX)).await;
    assert!(stored(&store, "expired").await.is_some());
    assert!(stored(&store, "revoked").await.is_some());

    assert!(store.revoke_token(&name(1), at(102)).await.unwrap());
    let later = Token {
        created_at: gone(&expired),
        ..token("later", 1)
    };
    create(&store, later).await;
    assert_eq!(stored(&store, "expired").await, None);
    assert_eq!(stored(&store, "revoked").await, None);
    // It ended later than the others.
    assert!(stored(&store, &name(1)).await.is_some());
}
