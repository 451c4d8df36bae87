use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{EncodingKey, encode};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, PKCS_RSA_SHA256, SigningKey as _};
use serde_json::json;

use super::*;

const NOW: i64 = 1_800_000_000;

fn settings() -> Settings {
    Settings {
        issuer: "https://issuer.example.com".to_owned(),
        audiences: vec!["ucp".to_owned(), "ucp-too".to_owned()],
        username_claim: "sub".to_owned(),
        groups_claim: "groups".to_owned(),
        prefix: "oidc:".to_owned(),
        ca: None,
    }
}

/// Claims of a good token, and others, of which those that are `null` are left out.
fn claims(others: Value) -> Value {
    let mut claims = json!({
        "iss": "https://issuer.example.com",
        "aud": "ucp",
        "sub": "alice",
        "exp": NOW + 300,
        "iat": NOW,
    });
    let members = claims.as_object_mut().unwrap();
    members.extend(others.as_object().unwrap().clone());
    members.retain(|_, value| !value.is_null());
    claims
}

struct Signer {
    pair: KeyPair,
    algorithm: Algorithm,
}

impl Signer {
    fn es() -> Self {
        Self {
            pair: KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap(),
            algorithm: Algorithm::ES256,
        }
    }

    fn ed() -> Self {
        Self {
            pair: KeyPair::generate_for(&PKCS_ED25519).unwrap(),
            algorithm: Algorithm::EdDSA,
        }
    }

    fn rs() -> Self {
        Self {
            pair: KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap(),
            algorithm: Algorithm::RS256,
        }
    }

    /// Returns the public key, as it comes out of a set.
    fn public(&self) -> DecodingKey {
        let raw = self.pair.public_key_raw();
        let key = match self.algorithm {
            Algorithm::ES256 => DecodingKey::from_ec_der(raw),
            Algorithm::EdDSA => DecodingKey::from_ed_der(raw),
            _ => DecodingKey::from_rsa_der(raw),
        };
        let jwk = Jwk::from_decoding_key(&key, Some(self.algorithm)).unwrap();
        DecodingKey::from_jwk(&jwk).unwrap()
    }

    fn sign(&self, claims: &Value) -> String {
        let header = jsonwebtoken::Header::new(self.algorithm);
        let der = self.pair.serialized_der();
        match self.algorithm {
            Algorithm::ES256 => encode(&header, claims, &EncodingKey::from_ec_der(der)).unwrap(),
            Algorithm::EdDSA => encode(&header, claims, &EncodingKey::from_ed_der(der)).unwrap(),
            _ => {
                let signed = unsigned(&json!({"alg": "RS256", "typ": "JWT"}), claims);
                let signature = self.pair.sign(signed.as_bytes()).unwrap();
                format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
            }
        }
    }

    fn verify(&self, token: &str) -> Result<Principal, Refused> {
        self.verify_with(token, &settings())
    }

    fn verify_with(&self, token: &str, settings: &Settings) -> Result<Principal, Refused> {
        let now = Timestamp::from_millis(NOW * 1_000);
        let header = header(token)?;
        let verified = verify(token, header.algorithm, &self.public(), settings, now)?;
        Ok(verified.principal)
    }
}

fn unsigned(header: &Value, claims: &Value) -> String {
    let [header, claims] =
        [header, claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string()));
    format!("{header}.{claims}")
}

fn claim(name: &str) -> Refused {
    Refused::Claim(name.to_owned())
}

#[test]
fn a_good_token_names_its_user_and_groups() {
    for signer in [Signer::es(), Signer::ed(), Signer::rs()] {
        let principal = signer.verify(&signer.sign(&claims(json!({"groups": ["dev", "ops"]}))));
        let expected = Principal {
            name: "oidc:alice".to_owned(),
            groups: vec!["oidc:dev".to_owned(), "oidc:ops".to_owned()],
            source: Source::Oidc,
            grants: Vec::new(),
        };
        assert_eq!(principal, Ok(expected), "{:?}", signer.algorithm);
    }
}

#[test]
fn claims_are_judged() {
    let signer = Signer::es();
    let minute = 60;
    for (others, expected) in [
        (json!({}), Ok(())),
        (json!({"aud": ["other", "ucp-too"]}), Ok(())),
        (json!({"aud": "UCP"}), Err(Refused::Audience)),
        (json!({"aud": ["other"]}), Err(Refused::Audience)),
        (json!({"aud": []}), Err(Refused::Audience)),
        (json!({"aud": null}), Err(claim("aud"))),
        (json!({"aud": 7}), Err(claim("aud"))),
        (
            json!({"iss": "https://issuer.example.com/"}),
            Err(Refused::Issuer),
        ),
        (
            json!({"iss": "https://other.example.com"}),
            Err(Refused::Issuer),
        ),
        (
            json!({"iss": ["https://issuer.example.com"]}),
            Err(claim("iss")),
        ),
        (json!({"iss": null}), Err(claim("iss"))),
        (json!({"exp": null}), Err(claim("exp"))),
        (json!({"exp": "soon"}), Err(claim("exp"))),
        (json!({"exp": -1}), Err(claim("exp"))),
        (json!({"exp": NOW - minute}), Err(Refused::Expired)),
        (json!({"exp": NOW - minute + 1}), Ok(())),
        (json!({"exp": 1e300}), Ok(())),
        (json!({"exp": f64::from(2_000_000_000) + 0.5}), Ok(())),
        (json!({"nbf": NOW + minute}), Ok(())),
        (json!({"nbf": NOW + minute + 1}), Err(Refused::NotYet)),
        (json!({"nbf": "now"}), Err(claim("nbf"))),
        (json!({"iat": null}), Ok(())),
        (json!({"iat": NOW + minute}), Ok(())),
        (json!({"iat": NOW + minute + 1}), Err(Refused::NotYet)),
        (json!({"sub": null}), Err(claim("sub"))),
        (json!({"sub": ""}), Err(claim("sub"))),
        (json!({"sub": " "}), Err(claim("sub"))),
        (json!({"sub": 7}), Err(claim("sub"))),
        (json!({"groups": 7}), Err(claim("groups"))),
        (json!({"groups": {"a": true}}), Err(claim("groups"))),
        (json!({"groups": ["a", 7]}), Err(claim("groups"))),
        (json!({"groups": ["a", ""]}), Err(claim("groups"))),
    ] {
        let judged = signer.verify(&signer.sign(&claims(others.clone())));
        assert_eq!(judged.map(drop), expected, "{others}");
    }
}

#[test]
fn groups_are_a_string_or_an_array() {
    let signer = Signer::es();
    for (groups, expected) in [
        (Value::Null, &[][..]),
        (json!([]), &[]),
        (json!("dev"), &["oidc:dev"]),
        (json!(["dev"]), &["oidc:dev"]),
    ] {
        let token = signer.sign(&claims(json!({ "groups": groups })));
        assert_eq!(signer.verify(&token).unwrap().groups, expected, "{groups}");
    }
}

#[test]
fn names_come_from_the_claims_and_the_prefix_of_the_settings() {
    let signer = Signer::es();
    let mut settings = settings();
    settings.username_claim = "email".to_owned();
    settings.groups_claim = "roles".to_owned();
    settings.prefix = "corp-".to_owned();
    let mut others = json!({"email": "a@example.com", "roles": "dev", "groups": ["not these"]});
    let verify =
        |others: &Value| signer.verify_with(&signer.sign(&claims(others.clone())), &settings);
    let principal = verify(&others).unwrap();
    assert_eq!(principal.name, "corp-a@example.com");
    assert_eq!(principal.groups, ["corp-dev"]);
    for (verified, expected) in [
        (json!(true), Ok(())),
        (json!(false), Err(claim("email_verified"))),
        (json!("true"), Err(claim("email_verified"))),
    ] {
        others["email_verified"] = verified.clone();
        assert_eq!(verify(&others).map(drop), expected, "{verified}");
    }
}

#[test]
fn what_the_issuer_has_not_signed_is_refused() {
    let signer = Signer::es();
    let good = signer.sign(&claims(json!({})));
    assert_eq!(signer.verify(&good).map(drop), Ok(()));
    assert_eq!(Signer::es().verify(&good), Err(Refused::Signature));
    // The claims of one token, and the signature of another.
    let other = signer.sign(&claims(json!({"sub": "mallory"})));
    let (signed, _) = other.rsplit_once('.').unwrap();
    let (_, signature) = good.rsplit_once('.').unwrap();
    let mixed = format!("{signed}.{signature}");
    assert_eq!(signer.verify(&mixed), Err(Refused::Signature));
    let cut = &good[..good.len() - 2];
    assert_eq!(signer.verify(cut), Err(Refused::Signature));
    let none = format!("{signed}.");
    assert_eq!(signer.verify(&none), Err(Refused::Signature));
}

#[test]
fn algorithms_without_a_private_key_are_refused() {
    for signer in [Signer::rs(), Signer::es()] {
        for algorithm in ["none", "None", "NONE", ""] {
            let token = unsigned(&json!({"alg": algorithm}), &claims(json!({})));
            for signature in ["", "c2lnbmF0dXJl"] {
                let token = format!("{token}.{signature}");
                assert_eq!(signer.verify(&token), Err(Refused::Unreadable), "{token}");
            }
        }
        // The public key, in each form that somebody may have, as a shared secret.
        let jwk = Jwk::from_decoding_key(&signer.public(), Some(signer.algorithm)).unwrap();
        for secret in [
            signer.pair.public_key_raw().to_vec(),
            signer.pair.public_key_pem().into_bytes(),
            serde_json::to_vec(&jwk).unwrap(),
        ] {
            for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
                let header = jsonwebtoken::Header::new(algorithm);
                let key = EncodingKey::from_secret(&secret);
                let token = encode(&header, &claims(json!({})), &key).unwrap();
                assert_eq!(signer.verify(&token), Err(Refused::Unreadable), "{token}");
            }
        }
    }
}

#[test]
fn a_key_verifies_only_what_is_signed_by_its_kind() {
    let (rs, es) = (Signer::rs(), Signer::es());
    let token = rs.sign(&claims(json!({})));
    assert_eq!(es.verify(&token), Err(Refused::Signature));
    // Signed by RS256, and said to be by PS256.
    let (signed, _) = token.rsplit_once('.').unwrap();
    let (_, payload) = signed.split_once('.').unwrap();
    let header = BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"PS256"}"#);
    let signature = rs
        .pair
        .sign(format!("{header}.{payload}").as_bytes())
        .unwrap();
    let signature = BASE64_URL_SAFE_NO_PAD.encode(signature);
    let token = format!("{header}.{payload}.{signature}");
    assert_eq!(rs.verify(&token), Err(Refused::Signature));
}

#[test]
fn what_is_no_token_is_refused() {
    let signer = Signer::es();
    let claims = claims(json!({}));
    for token in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "a.b".to_owned(),
        "a.b.c".to_owned(),
        "ä.ö.ü".to_owned(),
        format!("{}.c.d", unsigned(&json!({"alg": "ES256"}), &claims)),
        format!("{}.c", unsigned(&json!([]), &claims)),
        format!(
            "{}.c",
            unsigned(&json!({"alg": "ES256", "crit": ["exp"]}), &claims)
        ),
        format!(
            "{}.c",
            unsigned(&json!({"alg": "RSA-OAEP", "enc": "A256GCM"}), &claims)
        ),
        // What is encrypted has five parts.
        "a.b.c.d.e".to_owned(),
    ] {
        assert_eq!(signer.verify(&token), Err(Refused::Unreadable), "{token}");
    }
    let not_claims = signer.sign(&json!(["exp", NOW + 300]));
    assert_eq!(signer.verify(&not_claims), Err(Refused::Unreadable));
}

#[test]
fn a_token_has_so_many_bytes() {
    let signer = Signer::es();
    let of_bytes = |bytes: usize| {
        let padded = |padding: usize| signer.sign(&claims(json!({"padding": "x".repeat(padding)})));
        // Three bytes become four letters.
        let start = (bytes - padded(0).len()) * 3 / 4;
        let mut tokens = (0..8).map(|more| padded(start - 4 + more));
        tokens.find(|token| token.len() >= bytes).unwrap()
    };
    let longest = of_bytes(TOKEN_BYTES - 1);
    assert!(longest.len() <= TOKEN_BYTES);
    assert_eq!(signer.verify(&longest).map(drop), Ok(()));
    let longer = of_bytes(TOKEN_BYTES + 1);
    assert_eq!(signer.verify(&longer), Err(Refused::TooLong));
    assert_eq!(signer.verify(&"x".repeat(1 << 24)), Err(Refused::TooLong));
}
