//! Strict reading of request bodies: limited in size, depth and time, and without duplicate members.

use std::fmt;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequest, OptionalFromRequest, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use tokio::time::timeout;
use ucp_model::json::{PRIVATE_NAME, private_name, values_at_most};
use ucp_model::{ErrorCode, Failure, excerpt, pointer};

use crate::large_bodies::LargePlace;
use crate::members::{self, kind};
use crate::problem::Problem;
use crate::state::Api;
use crate::weighed::Weight;

/// The maximum size of a body, in bytes.
pub(crate) const BODY_MAX_BYTES: usize = 1 << 20;
/// The same of a refactor, which declares all resources of several groups.
pub(crate) const LARGE_BODY_MAX_BYTES: usize = 16 << 20;
/// The maximum nesting depth, in levels. The body is the first.
pub(crate) const DEPTH_MAX: usize = 64;
/// The maximum number of values in a body: members, elements, and what is in them. The longest declaration that Cloud
/// Control accepts has one for every five characters, more than any real one.
pub(crate) const VALUES_MAX: usize = 50_000;
/// The same of a refactor: a hundred for each of the resources that it may declare.
pub(crate) const LARGE_VALUES_MAX: usize = 1_000_000;
/// The maximum length of a member's name, in characters. Names of AWS properties have at most a tenth.
pub(crate) const NAME_MAX_CHARS: usize = 1_024;
/// How long a client may take to send a body.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// What is shorter is read at once.
const QUICK_BYTES: usize = 64 << 10;
/// How much of a place a message repeats, in characters.
const SHOWN_CHARS: usize = 120;
/// The member name under which `serde_json` passes numbers of arbitrary precision.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// A body that is a JSON object, whatever its Content-Type. An empty body is an empty object.
pub(crate) struct JsonObject(pub(crate) Map<String, Value>, pub(crate) Aside);

/// Where the work with a body is done: by the thread that has it, unless the body is long.
#[derive(Clone, Default)]
pub(crate) struct Aside(Option<Weight>);

impl Aside {
    fn of(length: usize, extensions: &Extensions) -> Self {
        let is_long = length > QUICK_BYTES;
        Self(extensions.get::<Weight>().filter(|_| is_long).cloned())
    }

    /// Does work that takes as long as the body is.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        match &self.0 {
            Some(weight) => weight.read_aside(false, work).await,
            None => Ok(work()),
        }
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = <Self as OptionalFromRequest<S>>::from_request(request, state).await?;
        Ok(body.unwrap_or_else(|| Self(Map::new(), Aside::default())))
    }
}

impl JsonObject {
    /// Deserializes the body.
    pub(crate) async fn read<T: DeserializeOwned + Send + 'static>(self) -> Result<T, Problem> {
        let Self(members, aside) = self;
        let read = aside.run(move || members::read(&Value::Object(members)));
        read.await?.map_err(Problem::from)
    }

    /// Deserializes the body of a request that carries out no plan.
    pub(crate) async fn read_without_plan<T: DeserializeOwned + Send + 'static>(
        self,
    ) -> Result<T, Problem> {
        members::without_plan(&self.0)?;
        self.read().await
    }
}

/// A body that may be large. It is read as JSON where declarations are judged.
pub(crate) struct LargeBody {
    read: Read,
    weight: Option<Weight>,
}

impl<S: Send + Sync> FromRequest<S> for LargeBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        Ok(Self {
            read: read(&parts, body, LARGE_BODY_MAX_BYTES).await?,
            weight: parts.extensions.get::<Weight>().cloned(),
        })
    }
}

impl LargeBody {
    /// Reads the object that the body is. Returns its place among the large ones, too, for as long as it is in memory.
    pub(crate) async fn read<T: Send + 'static>(
        self,
        api: &Api,
        read: impl FnOnce(Map<String, Value>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<(T, Option<LargePlace>), Problem> {
        let Self {
            read: Read { bytes, values },
            weight,
        } = self;
        let is_quick = bytes.len() <= QUICK_BYTES;
        // It has come as a whole, so that nobody keeps the others waiting by sending slowly.
        let place = match &weight {
            Some(weight) if !is_quick => Some(api.large_bodies.place_of(&weight.caller).await?),
            Some(_) | None => None,
        };
        if let Some(weight) = &weight {
            weight.reads(bytes.len(), values).await?;
        }
        let work = move || {
            let members = if bytes.is_empty() {
                Map::new()
            } else {
                object_of(&bytes, LARGE_VALUES_MAX)?.0
            };
            drop(bytes);
            read(members)
        };
        let read = api.app.judge_aside(is_quick, work).await??;
        if let Some(weight) = &weight {
            weight.has_read()?;
        }
        Ok((read, place))
    }
}

impl<S: Send + Sync> OptionalFromRequest<S> for JsonObject {
    type Rejection = Problem;

    /// `None` when the body is empty.
    async fn from_request(request: Request, _: &S) -> Result<Option<Self>, Problem> {
        let (parts, body) = request.into_parts();
        let read = read(&parts, body, BODY_MAX_BYTES).await?;
        if read.bytes.is_empty() {
            return Ok(None);
        }
        let aside = Aside::of(read.bytes.len(), &parts.extensions);
        let read = object(read, &parts.extensions).await?;
        Ok(Some(Self(read.map_err(Problem::from)?, aside)))
    }
}

/// Parses a body as a JSON object, or returns the reason why it is not one. Fails if there is no room to work with it.
pub(crate) async fn object(
    Read { bytes, values }: Read,
    extensions: &Extensions,
) -> Result<Result<Map<String, Value>, Misread>, Problem> {
    let Some(weight) = extensions.get::<Weight>() else {
        return Ok(object_of(&bytes, VALUES_MAX).map(|(members, _)| members));
    };
    let length = bytes.len();
    weight.reads(length, values).await?;
    let read = weight.read_aside(length <= QUICK_BYTES, move || object_of(&bytes, VALUES_MAX));
    let read = read.await?;
    weight.has_read()?;
    Ok(match read {
        Ok((members, values)) => {
            weight.settle(length, values)?;
            Ok(members)
        }
        Err(misread) => Err(misread),
    })
}

/// Returns the object, and how many values it has.
fn object_of(bytes: &[u8], most: usize) -> Result<(Map<String, Value>, usize), Misread> {
    match parse_up_to(bytes, most)? {
        (Value::Object(members), values) => Ok((members, values)),
        (other, _) => Err(Misread {
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

/// What has arrived.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) bytes: Vec<u8>,
    /// How many values it may have at most as JSON.
    pub(crate) values: usize,
}

/// Reads a body of at most so many bytes, with a limit on time. What has arrived counts among the bodies of the caller.
pub(crate) async fn read(parts: &Parts, body: Body, most: usize) -> Result<Read, Problem> {
    if let Some(encoding) = parts
        .headers
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
    let too_large = || {
        let message = format!("The body is larger than {most} bytes. Declare less.");
        let failure = Failure::new(ErrorCode::RequestEntityTooLarge, message);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, failure)
    };
    let is_within = |length: u64| usize::try_from(length).is_ok_and(|length| length <= most);
    if !is_within(body.size_hint().lower()) {
        return Err(too_large());
    }
    let weight = parts.extensions.get::<Weight>();
    if let Some(weight) = weight {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(most);
        weight.may_come(announced)?;
    }
    let mut body = body;
    let reading = async {
        let mut read = Read::default();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| {
                Problem::bad_request("The body cannot be read: it ended unexpectedly.")
            })?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if read.bytes.len() + data.len() > most {
                return Err(too_large());
            }
            read.bytes.extend_from_slice(&data);
            read.values += values_at_most(&data);
            if let Some(weight) = weight {
                weight.has_come(read.bytes.len())?;
            }
        }
        Ok(read)
    };
    timeout(BODY_TIMEOUT, reading).await.unwrap_or_else(|_| {
        let message = format!(
            "The body did not arrive within {} seconds.",
            BODY_TIMEOUT.as_secs()
        );
        Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            Failure::new(ErrorCode::RequestTimeout, message),
        ))
    })
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

/// Parses JSON of at most so many values, and returns how many it has. Refuses duplicate members and deep nesting. The error
/// names the place.
fn parse_up_to(bytes: &[u8], values: usize) -> Result<(Value, usize), Misread> {
    if let Some(place) = private_name(bytes) {
        let place: String = place.chars().take(SHOWN_CHARS).collect();
        return Err(Misread {
            reason: format!("the name of the member {place} {PRIVATE_NAME}"),
            place: Some(place),
        });
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let mut reading = Reading {
        place: Vec::new(),
        room: values,
        values,
        exceeds: None,
    };
    let value = Strict(&mut reading).deserialize(&mut deserializer);
    let value = value.and_then(|value| deserializer.end().map(|()| value));
    match value {
        Ok(value) => Ok((value, values - reading.room)),
        Err(error) => Err(Misread {
            reason: error.to_string(),
            place: reading.exceeds,
        }),
    }
}

/// How far the reading of a body has come.
struct Reading {
    /// The reference tokens of the current place.
    place: Vec<String>,
    /// The number of values that may follow.
    room: usize,
    /// The number of values that there may be.
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
        match self.0.room.checked_sub(1) {
            Some(room) => {
                self.0.room = room;
                Ok(())
            }
            None => {
                let (values, shown) = (self.0.values, self.exceeds(&self.pointer()));
                Err(E::custom(format!(
                    "it has more than {values} members and elements, the last at {shown}"
                )))
            }
        }
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

    fn parse(bytes: &[u8]) -> Result<Value, Misread> {
        parse_up_to(bytes, VALUES_MAX).map(|(value, _)| value)
    }

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
    fn refuses_names_that_are_read_otherwise() {
        let text = r#"{"properties": {"a": [{"$serde_json::private::Number": "1"}]}}"#;
        let refused = parse(text.as_bytes()).unwrap_err();
        let place = "/properties/a/0/$serde_json::private::Number";
        assert_eq!(refused.place.as_deref(), Some(place));
        assert!(refused.reason.contains(place), "{refused}");
        // The text of the other one is JSON, past every limit.
        let text = r#"{"$serde_json::private::RawValue": "[[[[{}]]]]"}"#;
        assert!(parse(text.as_bytes()).is_err());
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
