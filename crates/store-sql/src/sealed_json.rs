//! Columns of JSON that say something of a resource: they are sealed.
//!
//! The text of such a column is `sealed:`, followed by the sealed JSON in base64. Versions before this one stored the
//! JSON itself, which is read until the row is written again.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use ucp_store::{Cipher, Error, Sealed, SealedPlace, Stored};

use crate::json::to_json;

/// No JSON begins like this.
const MARK: &str = "sealed:";

/// Returns the text of a column with `value`.
pub(crate) fn seal<T: Serialize>(
    cipher: &dyn Cipher,
    place: &SealedPlace,
    value: &T,
) -> Result<String, Error> {
    let sealed = cipher.seal(place, to_json(value)?.as_bytes())?;
    Ok(to_text(&sealed))
}

/// Returns the JSON in the text of a column.
pub(crate) fn open<'a>(
    cipher: &dyn Cipher,
    place: &SealedPlace,
    text: &'a str,
) -> Result<Cow<'a, str>, Error> {
    let Some(digits) = text.strip_prefix(MARK) else {
        return Ok(Cow::Borrowed(text));
    };
    let json = String::from_utf8(cipher.open(place, &to_sealed(digits)?)?);
    json.map(Cow::Owned)
        .map_err(|error| Error::Corrupt(error.utf8_error().to_string()))
}

/// Returns what the text of a column stores.
pub(crate) fn stored(text: &str) -> Result<Stored, Error> {
    match text.strip_prefix(MARK) {
        Some(digits) => Ok(Stored::Sealed(to_sealed(digits)?)),
        None => Ok(Stored::Clear(text.to_owned())),
    }
}

/// Returns the text of a column that stores a sealed value.
pub(crate) fn to_text(sealed: &Sealed) -> String {
    let mut text = MARK.to_owned();
    BASE64.encode_string(&sealed.0, &mut text);
    text
}

fn to_sealed(digits: &str) -> Result<Sealed, Error> {
    let bytes = BASE64.decode(digits);
    bytes
        .map(Sealed)
        .map_err(|error| Error::Corrupt(error.to_string()))
}

/// The cipher of a store that was opened without one. It fails, so that nothing is ever written in clear.
#[derive(Debug)]
pub(crate) struct Missing;

impl Cipher for Missing {
    fn seal(&self, _: &SealedPlace, _: &[u8]) -> Result<Sealed, Error> {
        Err(without_cipher())
    }

    fn open(&self, _: &SealedPlace, _: &Sealed) -> Result<Vec<u8>, Error> {
        Err(without_cipher())
    }
}

fn without_cipher() -> Error {
    Error::Unavailable("the store was opened without a cipher".into())
}
