//! The keys of an issuer, as a JSON Web Key Set (RFC 7517) has them.

use std::sync::Arc;

use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// The most keys of a set.
const MOST: usize = 100;

/// The algorithms by which a token may be signed. None of them has a shared secret: whoever could verify tokens by such a
/// secret could make them too.
pub(crate) const ACCEPTED: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// The public keys by which an issuer's signatures are verified.
#[derive(Debug)]
pub(crate) struct Keys(Vec<Key>);

#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The algorithm that the key is for; `None` if it is for all of its family.
    algorithm: Option<Algorithm>,
    key: Arc<DecodingKey>,
}

/// Why a document has no keys.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    #[error("its keys cannot be read")]
    Unreadable(#[source] serde_json::Error),
    #[error("it has {0} keys, and at most {MOST} are taken")]
    TooMany(usize),
    #[error("none of its {0} keys verifies signatures of an accepted algorithm")]
    Useless(usize),
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl Keys {
    /// Reads a set. Keys that are for something else, or unknown, are left out.
    pub(crate) fn read(document: &[u8]) -> Result<Self, Wrong> {
        let Document { keys } = serde_json::from_slice(document).map_err(Wrong::Unreadable)?;
        let given = keys.len();
        if given > MOST {
            return Err(Wrong::TooMany(given));
        }
        match keys.into_iter().filter_map(Key::read).collect::<Vec<_>>() {
            none if none.is_empty() => Err(Wrong::Useless(given)),
            keys => Ok(Self(keys)),
        }
    }

    /// Returns the key of a token. One that names no key has been signed with the only one of its algorithm.
    pub(crate) fn of(&self, id: Option<&str>, algorithm: Algorithm) -> Option<Arc<DecodingKey>> {
        let mut fitting = self.0.iter().filter(|key| key.takes(algorithm));
        let key = match id {
            Some(_) => fitting.find(|key| key.id.as_deref() == id),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        };
        key.map(|key| Arc::clone(&key.key))
    }
}

impl Key {
    fn read(key: Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(key).ok()?;
        match &jwk.common.public_key_use {
            None | Some(PublicKeyUse::Signature) => {}
            Some(PublicKeyUse::Encryption | PublicKeyUse::Other(_)) => return None,
        }
        let algorithm = match jwk.common.key_algorithm {
            Some(algorithm) => Some(Algorithm::try_from(algorithm).ok()?),
            None => None,
        };
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        let key = Self {
            id: jwk.common.key_id,
            algorithm,
            key: Arc::new(key),
        };
        // Nothing is signed with a key for another purpose, or with a shared secret.
        ACCEPTED
            .iter()
            .any(|accepted| key.takes(*accepted))
            .then_some(key)
    }

    fn takes(&self, algorithm: Algorithm) -> bool {
        self.algorithm.is_none_or(|own| own == algorithm) && self.key.family() == algorithm.family()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A key of P-256; it is the one of RFC 7517, appendix A.1.
    fn ec(more: Value) -> Value {
        let mut key = json!({
            "kty": "EC",
            "crv": "P-256",
            "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        });
        let members = key.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        key
    }

    fn read(keys: Value) -> Result<Keys, Wrong> {
        Keys::read(json!({ "keys": keys }).to_string().as_bytes())
    }

    #[test]
    fn a_token_has_the_key_that_it_names() {
        let keys = read(json!([
            ec(json!({"kid": "a"})),
            ec(json!({"kid": "b", "use": "sig"}))
        ]));
        let keys = keys.unwrap();
        assert_eq!(keys.0.len(), 2);
        for (id, found) in [
            (Some("a"), true),
            (Some("b"), true),
            (Some("A"), false),
            (None, false),
        ] {
            assert_eq!(keys.of(id, Algorithm::ES256).is_some(), found, "{id:?}");
        }
    }

    #[test]
    fn a_key_is_for_its_algorithm_only() {
        let keys = read(json!([ec(json!({"kid": "a", "alg": "ES256"}))])).unwrap();
        assert!(keys.of(Some("a"), Algorithm::ES256).is_some());
        assert!(keys.of(None, Algorithm::ES256).is_some());
        for other in [Algorithm::ES384, Algorithm::RS256, Algorithm::HS256] {
            assert!(keys.of(Some("a"), other).is_none(), "{other:?}");
            assert!(keys.of(None, other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn keys_that_are_not_for_signatures_are_left_out() {
        for useless in [
            ec(json!({"use": "enc"})),
            ec(json!({"alg": "ECDH-ES"})),
            ec(json!({"alg": "HS256"})),
            json!({"kty": "oct", "kid": "a", "k": "c2VjcmV0", "alg": "HS256"}),
            json!({"kty": "oct", "kid": "a", "k": "c2VjcmV0"}),
            json!({"kty": "AKP", "kid": "a"}),
            json!({"kty": "RSA", "n": "?", "e": "AQAB"}),
            json!("a"),
            json!(1),
        ] {
            let alone = read(json!([useless]));
            assert!(matches!(alone, Err(Wrong::Useless(1))), "{useless}");
            let keys = read(json!([useless, ec(json!({"kid": "b"}))])).unwrap();
            assert_eq!(keys.0.len(), 1, "{useless}");
        }
    }

    #[test]
    fn a_set_that_cannot_be_used_says_why() {
        let unreadable = |document: &str| Keys::read(document.as_bytes()).unwrap_err();
        for document in ["", "[]", "{}", r#"{"keys":{}}"#, "<html>"] {
            assert!(
                matches!(unreadable(document), Wrong::Unreadable(_)),
                "{document}"
            );
        }
        assert!(matches!(read(json!([])), Err(Wrong::Useless(0))));
        let many = |count| read(Value::Array(vec![ec(json!({})); count]));
        assert_eq!(many(MOST).unwrap().0.len(), MOST);
        assert!(matches!(many(MOST + 1), Err(Wrong::TooMany(101))));
    }
}
