//! Strict reading of request bodies: limited in size, depth and time, and without duplicate members.

use std::fmt;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, OptionalFromRequest, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use ucp_model::{ErrorCode, Failure, excerpt, pointer};

use crate::members::{self, kind};
use crate::problem::Problem;

/// The maximum size of a body, in bytes.
pub(crate) const BODY_MAX_BYTES: usize = 1 << 20;
/// The maximum nesting depth, in levels. The body is the first.
pub(crate) const DEPTH_MAX: usize = 64;
/// The maximum number of values in a body: members, elements, and what is in them. The longest declaration that Cloud
/// Control accepts has one for every five characters, more than any real one.
pub(crate) const VALUES_MAX: usize = 50_000;
/// The maximum length of a member's name, in characters. Names of AWS properties have at most a tenth.
pub(crate) const NAME_MAX_CHARS: usize = 1_024;
/// How long a client may take to send a body.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of a place a message repeats, in characters.
const SHOWN_CHARS: usize = 120;
/// The member name under which `serde_json` passes numbers of arbitrary precision.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// A body that is a JSON object, whatever its Content-Type. An empty body is an empty object.
pub(crate) struct JsonObject(pub(crate) Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = <Self as OptionalFromRequest<S>>::from_request(request, state).await?;
        Ok(body.unwrap_or_else(|| Self(Map::new())))
    }
}

impl JsonObject {
    /// Deserializes the body.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, Problem> {
        let Self(members) = self;
        members::read(&Value::Object(members)).map_err(Problem::from)
    }
}

impl<S: Send + Sync> OptionalFromRequest<S> for JsonObject {
    type Rejection = Problem;

    /// `None` when the body is empty.
    async fn from_request(request: Request, _: &S) -> Result<Option<Self>, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts.headers, body).await?;
        if bytes.is_empty() {
            return Ok(None);
        }
        object(&bytes)
            .map(|body| Some(Self(body)))
            .map_err(Problem::from)
    }
}

/// Parses a body as a JSON object, or returns the reason why it is not one.
pub(crate) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Misread> {
    match parse(bytes)? {
        Value::Object(members) => Ok(members),
        other => Err(Misread {
            reason: format!("the body is {}, not an object", kind(&other)),
            place: None,
        }),
    }
}

/// Whether the Content-Type is `application/json`, ignoring parameters.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let given = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    given
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case("application/json")
}

/// Reads a body, with limits on size and time.
pub(crate) async fn read(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Problem> {
    if let Some(encoding) = headers
        .get(CONTENT_ENCODING)
        .filter(|encoding| *encoding != "identity")
    {
        let message = format!(
            "The Content-Encoding '{}' is not supported. Send the body unencoded.",
            excerpt(&String::from_utf8_lossy(encoding.as_bytes()))
        );
        let failure = Failure::new(ErrorCode::UnsupportedMediaType, message);
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, failure));
    }
    let collected =
        tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, BODY_MAX_BYTES).collect());
    match collected.await {
        Ok(Ok(collected)) => Ok(collected.to_bytes().to_vec()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("The body is larger than {BODY_MAX_BYTES} bytes. Declare less.");
            let failure = Failure::new(ErrorCode::RequestEntityTooLarge, message);
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, failure))
        }
        Ok(Err(_)) => Err(Problem::bad_request(
            "The body cannot be read: it ended unexpectedly.",
        )),
        Err(_) => {
            let message = format!(
                "The body did not arrive within {} seconds.",
                BODY_TIMEOUT.as_secs()
            );
            Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                Failure::new(ErrorCode::RequestTimeout, message),
            ))
        }
    }
}

/// Why a body cannot be read.
#[derive(Debug)]
pub(crate) struct Misread {
    reason: String,
    /// The place that exceeds a limit, as a JSON Pointer.
    place: Option<String>,
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The body cannot be read: {}.", self.reason)
    }
}

impl From<Misread> for Problem {
    fn from(misread: Misread) -> Self {
        let problem = Problem::bad_request(misread.to_string());
        match misread.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }
}

/// Parses JSON, refusing duplicate members and deep nesting. The error names the place.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Misread> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let mut reading = Reading::default();
    let value = Strict(&mut reading).deserialize(&mut deserializer);
    let value = value.and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| Misread {
        reason: error.to_string(),
        place: reading.exceeds,
    })
}

/// How far the reading of a body has come.
#[derive(Default)]
struct Reading {
    /// The reference tokens of the current place.
    place: Vec<String>,
    /// The number of values so far.
    values: usize,
    /// The place that exceeds a limit, as it is shown.
    exceeds: Option<String>,
}

/// Deserializes one value.
struct Strict<'a>(&'a mut Reading);

impl Strict<'_> {
    fn pointer(&self) -> String {
        self.0
            .place
            .iter()
            .fold(String::new(), |above, token| pointer::join(&above, token))
    }

    /// Notes that a place exceeds a limit, and returns what a message shows of it.
    fn exceeds(&mut self, place: &str) -> String {
        let shown: String = place.chars().take(SHOWN_CHARS).collect();
        self.0.exceeds = Some(shown.clone());
        shown
    }

    fn judge_depth<E: de::Error>(&mut self) -> Result<(), E> {
        if self.0.place.len() >= DEPTH_MAX {
            let shown = self.exceeds(&self.pointer());
            return Err(E::custom(format!(
                "nested deeper than {DEPTH_MAX} levels, at {shown}…"
            )));
        }
        Ok(())
    }

    fn count<E: de::Error>(&mut self) -> Result<(), E> {
        self.0.values += 1;
        if self.0.values > VALUES_MAX {
            let shown = self.exceeds(&self.pointer());
            return Err(E::custom(format!(
                "it has more than {VALUES_MAX} members and elements, the last at {shown}"
            )));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(mut self, deserializer: D) -> Result<Value, D::Error> {
        self.judge_depth()?;
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        loop {
            self.0.place.push(array.len().to_string());
            let element = elements.next_element_seed(Strict(self.0))?;
            self.0.place.pop();
            match element {
                Some(element) => array.push(element),
                None => return Ok(Value::Array(array)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == NUMBER_TOKEN {
                let digits: String = members.next_value()?;
                let number = digits.parse::<Number>().map_err(de::Error::custom)?;
                return Ok(Value::Number(number));
            }
            if object.contains_key(&name) {
                let place = self.pointer();
                let place = if place.is_empty() {
                    "the top level".to_owned()
                } else {
                    place
                };
                return Err(de::Error::custom(format!(
                    "the member '{}' appears twice at {place}",
                    excerpt(&name)
                )));
            }
            if name.chars().nth(NAME_MAX_CHARS).is_some() {
                let place = pointer::join(&self.pointer(), &excerpt(&name));
                self.exceeds(&place);
                return Err(de::Error::custom(format!(
                    "the name of the member {place} is longer than {NAME_MAX_CHARS} characters"
                )));
            }
            self.0.place.push(name.clone());
            let value = members.next_value_seed(Strict(self.0))?;
            self.0.place.pop();
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_big_numbers() {
        let text = r#"{"b":9007199254740993,"a":[1.10,-0.5e+400],"c":"\u0000"}"#;
        assert_eq!(
            parse(text.as_bytes()).unwrap().to_string(),
            r#"{"b":9007199254740993,"a":[1.10,-0.5e+400],"c":"\u0000"}"#
        );
    }

    #[test]
    fn refuses_duplicates_and_says_where() {
        let reason = parse(br#"{"properties":{"a/b":[{"x":1,"x":2}]}}"#)
            .unwrap_err()
            .reason;
        assert!(
            reason.starts_with("the member 'x' appears twice at /properties/a~1b/0"),
            "{reason}"
        );
        let reason = parse(br#"{"a":1,"a":1}"#).unwrap_err().reason;
        assert!(
            reason.starts_with("the member 'a' appears twice at the top level"),
            "{reason}"
        );
    }

    #[test]
    fn refuses_deep_nesting() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
        let refused = parse(nested(DEPTH_MAX + 1).as_bytes()).unwrap_err();
        assert!(refused.reason.starts_with("nested deeper than 64"));
        assert!(refused.place.unwrap().starts_with("/0/0/0"));
        assert!(parse(nested(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn refuses_more_values_and_longer_names_than_any_declaration_has() {
        let elements = |count: usize| format!("[{}]", vec!["0"; count].join(","));
        assert!(parse(elements(VALUES_MAX - 1).as_bytes()).is_ok());
        let reason = parse(elements(VALUES_MAX).as_bytes()).unwrap_err().reason;
        let expected = "it has more than 50000 members and elements, the last at /49999";
        assert!(reason.starts_with(expected), "{reason}");
        let named = |length: usize| format!(r#"{{"a":{{"{}":1}}}}"#, "n".repeat(length));
        assert!(parse(named(NAME_MAX_CHARS).as_bytes()).is_ok());
        let reason = parse(named(NAME_MAX_CHARS + 1).as_bytes())
            .unwrap_err()
            .reason;
        assert!(
            reason.starts_with("the name of the member /a/nnn"),
            "{reason}"
        );
        assert!(reason.len() < 300, "{reason}");
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in [
            "",
            "{",
            "{}{}",
            "nul",
            "[1,]",
            "{\"a\":01}",
            "\"\\ud800\"",
            "{a:1}",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(b"\"\xff\"").is_err());
    }
}
