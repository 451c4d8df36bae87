//! What a token says, and whether it is to be believed. Does no I/O.

use std::time::Duration;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};
use ucp_access::{Principal, Source};
use ucp_model::Timestamp;

use crate::keys::ACCEPTED;
use crate::settings::Settings;

/// The most bytes of a token.
pub(crate) const TOKEN_BYTES: usize = 16 * 1024;
/// By how much the clock of the issuer may differ from ours.
const SKEW: Duration = Duration::from_secs(60);

/// Why a token is not believed. The texts contain nothing of the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// It is too long.
    #[error("The token is longer than {TOKEN_BYTES} bytes.")]
    TooLong,
    /// It has another form, or another algorithm.
    #[error("The token is not a JWT that is signed by RS, PS, ES or EdDSA.")]
    Unreadable,
    /// Its key is not one of the issuer's.
    #[error("The token is signed with a key that its issuer does not have.")]
    UnknownKey,
    /// Somebody else has signed it.
    #[error("The signature of the token is wrong.")]
    Signature,
    /// Another issuer has made it.
    #[error("The token is of another issuer.")]
    Issuer,
    /// It is for others.
    #[error("The token is for another audience.")]
    Audience,
    /// Its time is over.
    #[error("The token has expired.")]
    Expired,
    /// Its time has not begun.
    #[error("The token is not valid yet.")]
    NotYet,
    /// A claim is missing, or is not what it must be.
    #[error("The claim `{0}` of the token is missing, or is not what it must be.")]
    Claim(String),
    /// The keys of the issuer are not known, so that no token can be verified.
    #[error("The issuer of tokens cannot be reached.")]
    Unavailable,
}

/// What a token says before it is verified.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) algorithm: Algorithm,
    /// The id of the key with which it is signed.
    pub(crate) key: Option<String>,
}

/// What a token says, if it is verified.
#[derive(Debug)]
pub(crate) struct Verified {
    /// Whose it is.
    pub(crate) principal: Principal,
    /// When it is not believed any more.
    pub(crate) ends: Timestamp,
}

/// Reads how a token is signed.
pub(crate) fn header(token: &str) -> Result<Header, Refused> {
    if token.len() > TOKEN_BYTES {
        return Err(Refused::TooLong);
    }
    let header = decode_header(token).map_err(|_| Refused::Unreadable)?;
    // What is critical and not understood makes a token unusable (RFC 7515, section 4.1.11). Nothing is understood here.
    if header.crit.is_some() || !ACCEPTED.contains(&header.alg) {
        return Err(Refused::Unreadable);
    }
    Ok(Header {
        algorithm: header.alg,
        key: header.kid,
    })
}

/// Verifies a token that is signed with `key`.
pub(crate) fn verify(
    token: &str,
    algorithm: Algorithm,
    key: &DecodingKey,
    settings: &Settings,
    now: Timestamp,
) -> Result<Verified, Refused> {
    let mut validation = Validation::new(algorithm);
    validation.set_issuer(&[&settings.issuer]);
    validation.set_audience(&settings.audiences);
    validation.set_required_spec_claims(&["iss", "aud"]);
    // Judged below.
    validation.validate_exp = false;
    let claims = decode::<Claims>(token, key, &validation);
    let claims = claims.map_err(|error| refusal(error.kind()))?.claims;
    // An issuer is one string; `jsonwebtoken` takes several too.
    if text(&claims, "iss")? != settings.issuer {
        return Err(Refused::Issuer);
    }
    let ends = in_time(&claims, now)?;
    let principal = principal(&claims, settings)?;
    Ok(Verified { principal, ends })
}

type Claims = Map<String, Value>;

fn refusal(error: &ErrorKind) -> Refused {
    match error {
        ErrorKind::InvalidIssuer => Refused::Issuer,
        ErrorKind::InvalidAudience => Refused::Audience,
        ErrorKind::MissingRequiredClaim(claim) => Refused::Claim(claim.clone()),
        ErrorKind::InvalidToken
        | ErrorKind::Base64(_)
        | ErrorKind::Json(_)
        | ErrorKind::Utf8(_) => Refused::Unreadable,
        _ => Refused::Signature,
    }
}

/// Returns until when a token is good, if now is within its time.
fn in_time(claims: &Claims, now: Timestamp) -> Result<Timestamp, Refused> {
    let end = moment(claims, "exp")?.ok_or_else(|| Refused::Claim("exp".to_owned()))?;
    let ends = end.after(SKEW);
    if ends <= now {
        return Err(Refused::Expired);
    }
    for begins in ["nbf", "iat"] {
        if moment(claims, begins)?.is_some_and(|begin| begin.before(SKEW) > now) {
            return Err(Refused::NotYet);
        }
    }
    Ok(ends)
}

/// Reads a time, in seconds since the Unix epoch, which may have a fraction.
fn moment(claims: &Claims, name: &str) -> Result<Option<Timestamp>, Refused> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0);
    let seconds = seconds.ok_or_else(|| Refused::Claim(name.to_owned()))?;
    #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
    Ok(Some(Timestamp::from_millis((seconds * 1000.0) as i64)))
}

fn principal(claims: &Claims, settings: &Settings) -> Result<Principal, Refused> {
    let name = text(claims, &settings.username_claim)?;
    // Whoever can write any address into an account could be anybody otherwise.
    if settings.username_claim == "email"
        && claims
            .get("email_verified")
            .is_some_and(|verified| *verified != true)
    {
        return Err(Refused::Claim("email_verified".to_owned()));
    }
    let named = |name: &str| format!("{}{name}", settings.prefix);
    let wrong = || Refused::Claim(settings.groups_claim.clone());
    let groups = match claims.get(&settings.groups_claim) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(group)) => vec![group.as_str()],
        Some(Value::Array(groups)) => {
            let groups: Option<Vec<_>> = groups.iter().map(Value::as_str).collect();
            groups.ok_or_else(wrong)?
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => return Err(wrong()),
    };
    let groups = groups.into_iter();
    let groups: Option<Vec<_>> = groups
        .map(|group| is_name(group).then(|| named(group)))
        .collect();
    Ok(Principal {
        name: named(name),
        groups: groups.ok_or_else(wrong)?,
        source: Source::Oidc,
        grants: Vec::new(),
    })
}

fn text<'a>(claims: &'a Claims, claim: &str) -> Result<&'a str, Refused> {
    let text = claims.get(claim).and_then(Value::as_str);
    text.filter(|text| is_name(text))
        .ok_or_else(|| Refused::Claim(claim.to_owned()))
}

/// Whether something is there to be called by. The authenticator judges whether it may be a name.
fn is_name(text: &str) -> bool {
    !text.trim().is_empty()
}

#[cfg(test)]
mod tests;
