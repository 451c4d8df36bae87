//! The text of a token: `ucp_`, an id, `_`, and a secret. Scanners for secrets find it by its start.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use ucp_model::Entropy;
use ucp_store::Token;
use zeroize::Zeroizing;

/// What every token begins with.
pub(crate) const START: &str = "ucp_";
/// The number of letters of an id.
const ID_LETTERS: usize = 12;
/// The number of letters of a secret: 32 bytes in base64.
const SECRET_LETTERS: usize = 43;

/// A new token. Nothing else knows its text.
pub struct NewToken {
    /// The part of the text that is no secret.
    pub id: String,
    /// The digest of the secret.
    pub digest: [u8; 32],
    /// The whole text.
    pub text: Zeroizing<String>,
}

impl NewToken {
    /// Draws a token.
    pub fn draw(entropy: &dyn Entropy) -> Self {
        let letters = entropy.draw("token-id").into_iter().take(ID_LETTERS);
        let id: String = letters.map(|byte| char::from(b'a' + byte % 26)).collect();
        let halves = [entropy.draw("token-secret"), entropy.draw("token-secret")];
        let bytes = Zeroizing::new(halves.concat());
        let secret = Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()));
        Self {
            digest: digest(&secret),
            text: Zeroizing::new(format!("{START}{id}_{}", *secret)),
            id,
        }
    }
}

/// The parts of a token that a caller has sent.
#[derive(Clone, Copy)]
pub struct GivenToken<'a> {
    /// The id.
    pub id: &'a str,
    secret: &'a str,
}

impl<'a> GivenToken<'a> {
    /// Splits a token. `None` if it has another shape, since it is cut off, for example.
    pub fn split(text: &'a str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(START)?.split_at_checked(ID_LETTERS)?;
        let secret = secret.strip_prefix('_')?;
        let is_one = id.bytes().all(|byte| byte.is_ascii_lowercase())
            && secret.len() == SECRET_LETTERS
            && secret.is_ascii();
        is_one.then_some(Self { id, secret })
    }

    /// Returns whether the secret is that of `token`. How long that takes says nothing about the secret.
    pub fn is_of(self, token: &Token) -> bool {
        self.id == token.id && bool::from(digest(self.secret).ct_eq(&token.digest))
    }
}

/// A fast hash is enough for a secret of 256 random bits.
fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use ucp_model::SeededEntropy;

    use super::*;

    #[test]
    fn a_token_is_split_as_it_was_drawn() {
        let entropy = SeededEntropy::new(1);
        let (one, other) = (NewToken::draw(&entropy), NewToken::draw(&entropy));
        assert_ne!((&one.id, one.digest), (&other.id, other.digest));
        assert_eq!(one.text.len(), 60);
        let given = GivenToken::split(&one.text).unwrap();
        let secret = digest(given.secret);
        assert_eq!((given.id, secret), (one.id.as_str(), one.digest));
    }

    #[test]
    fn what_has_another_shape_is_no_token() {
        let token = NewToken::draw(&SeededEntropy::new(1));
        let text = token.text.as_str();
        for wrong in [
            "",
            "ucp_",
            &text[..59],
            &text[1..],
            &format!("{text}x"),
            &text.replacen("ucp_", "UCP_", 1),
            &text.replace(&token.id, "ABCDEFGHIJKL"),
            &format!("ucp_{}é{}", &token.id[2..], &text[17..]),
        ] {
            assert!(GivenToken::split(wrong).is_none(), "{wrong}");
        }
    }
}
