//! Deserializes a JSON object. `null` means absent, and errors name their place as a JSON Pointer.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::{Error, Map, Value};
use serde_path_to_error::Segment;
use ucp_model::{excerpt, pointer};

use crate::problem::Problem;

/// Members of every ARM resource. Clients send them back with what they have read; they are ignored.
pub(crate) const COMMON: [&str; 8] = [
    "etag",
    "id",
    "kind",
    "location",
    "name",
    "sku",
    "systemData",
    "type",
];

/// The most unknown members that a message names.
const UNKNOWN_MAX: usize = 10;

/// Returns the message about members that a body does not have.
pub(crate) fn unknown<'a>(unknown: &[&str], known: impl IntoIterator<Item = &'a str>) -> String {
    let first = unknown.iter().take(UNKNOWN_MAX);
    let first: Vec<String> = first
        .map(|name| pointer::join("", &excerpt(name)))
        .collect();
    let known: Vec<&str> = known.into_iter().collect();
    let (first, known) = (first.join(", "), known.join(", "));
    let more = unknown.len().saturating_sub(UNKNOWN_MAX);
    match (unknown, more) {
        ([_], _) => format!("{first}: is not a member of this body. Its members are {known}."),
        (_, 0) => format!("{first}: are not members of this body. Its members are {known}."),
        (_, more) => format!(
            "{first} and {more} more: are not members of this body. Its members are {known}."
        ),
    }
}

/// Why an object is not what was expected.
#[derive(Debug)]
pub(crate) struct Misfit {
    /// What is wrong, after its place.
    pub(crate) message: String,
    /// The place, as a JSON Pointer; empty if it is the object itself.
    place: String,
}

impl Misfit {
    /// Returns the place, as a JSON Pointer; empty if it is the object itself.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }
}

impl From<Misfit> for Problem {
    fn from(misfit: Misfit) -> Self {
        let problem = Problem::bad_request(misfit.message);
        if misfit.place.is_empty() {
            problem
        } else {
            problem.at(misfit.place)
        }
    }
}

/// Deserializes `object`. Members that nobody reads are refused, except for the [common](COMMON) ones.
pub(crate) fn read<T: DeserializeOwned>(object: &Value) -> Result<T, Misfit> {
    serde_path_to_error::deserialize(Members(object)).map_err(|error| misfit(&error, object))
}

/// Returns whether an object names a plan.
pub(crate) fn names_plan(object: &Map<String, Value>) -> bool {
    object.get("planId").is_some_and(|plan| !plan.is_null())
}

/// Refuses a plan in the body of a request that carries none out: without it, something else than was planned would be done.
pub(crate) fn without_plan(body: &Map<String, Value>) -> Result<(), Problem> {
    if names_plan(body) {
        let message = "/planId: this request carries out no plan. Leave it out.";
        Err(Problem::bad_request(message).at("/planId"))
    } else {
        Ok(())
    }
}

/// Deserializes a string with [`FromStr`]; for `deserialize_with`.
pub(crate) fn parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse()
        .map(Some)
        .map_err(|error| D::Error::custom(format!("{error}.")))
}

/// The name of the JSON type of a value, with its article.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A deserializer over a JSON value. It refuses members that differ from a known one in letter case alone, since
/// ignoring them would lose data, and the alternative forms that serde accepts for structs and enums.
struct Members<'a>(&'a Value);

impl Members<'_> {
    fn is_not(&self, expected: &'static str) -> Error {
        Error::custom(format!("invalid type, expected {expected}"))
    }
}

impl<'de> Deserializer<'de> for Members<'de> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Value::Object(members) = self.0 else {
            return Err(self.is_not("an object"));
        };
        let given = members.keys().map(String::as_str);
        let unread: Vec<&str> = given.filter(|given| !known.contains(given)).collect();
        for given in &unread {
            if let Some(meant) = known.iter().find(|name| name.eq_ignore_ascii_case(given)) {
                let place = pointer::join("", &excerpt(given));
                return Err(Error::custom(format!("{place}: did you mean '{meant}'?")));
            }
        }
        let refused = unread.into_iter().filter(|given| !COMMON.contains(given));
        let refused: Vec<&str> = refused.collect();
        if !refused.is_empty() {
            let known = known.iter().copied();
            return Err(Error::custom(unknown(&refused, known)));
        }
        let present = members.iter().filter(|(_, value)| !value.is_null());
        visitor.visit_map(MapDeserializer::new(
            present.map(|(name, value)| (name.as_str(), Members(value))),
        ))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(_) => self.0.deserialize_enum(name, variants, visitor),
            _ => Err(self.is_not("a string")),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(elements) => {
                visitor.visit_seq(SeqDeserializer::new(elements.iter().map(Members)))
            }
            _ => Err(self.is_not("an array")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        tuple tuple_struct map identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for Members<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// A serde error in terms of JSON.
fn misfit(error: &serde_path_to_error::Error<Error>, object: &Value) -> Misfit {
    let mut place = String::new();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => place = pointer::join(&place, &index.to_string()),
            Segment::Map { key } => place = pointer::join(&place, key),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    let said = error.inner().to_string();
    let said = match said.rsplit_once(", expected ") {
        Some((wrong, expected)) => {
            let expected = match expected {
                "a map" => "an object".to_owned(),
                "a sequence" => "an array".to_owned(),
                "string or map" => "a string".to_owned(),
                expected => expected.replace('`', "'"),
            };
            match object.pointer(&place) {
                Some(given) if wrong.starts_with("invalid type") => {
                    format!("expected {expected}, got {}.", kind(given))
                }
                _ => format!("expected {expected}."),
            }
        }
        None => said,
    };
    let message = if place.is_empty() {
        said
    } else {
        format!("{place}: {said}")
    };
    Misfit { message, place }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Outer {
        mode: Option<Mode>,
        items: Option<Vec<Item>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Mode {
        Merge,
    }

    #[derive(Debug, Deserialize)]
    struct Item {
        alias: String,
    }

    fn refusal(body: Value) -> String {
        read::<Outer>(&body).expect_err("it is refused").message
    }

    #[test]
    fn what_serde_would_take_for_an_object_or_a_word_is_refused() {
        for (body, expected) in [
            (
                json!({"mode": {"merge": null}}),
                "/mode: expected a string, got an object.",
            ),
            (
                json!({"mode": {}}),
                "/mode: expected a string, got an object.",
            ),
            (
                json!({"items": [["a"]]}),
                "/items/0: expected an object, got an array.",
            ),
            (
                json!({"items": [5]}),
                "/items/0: expected an object, got a number.",
            ),
            (
                json!({"items": {}}),
                "/items: expected an array, got an object.",
            ),
            (
                json!({"items": [{"alias": 1}]}),
                "/items/0/alias: expected a string, got a number.",
            ),
        ] {
            assert_eq!(refusal(body.clone()), expected, "{body}");
        }
    }

    #[test]
    fn what_nobody_reads_is_refused_with_its_place() {
        assert_eq!(
            refusal(json!({"mode": "merge", "a/b": 1})),
            "/a~1b: is not a member of this body. Its members are mode, items."
        );
        assert_eq!(
            refusal(json!({"x": 1, "tags": {}})),
            "/x, /tags: are not members of this body. Its members are mode, items."
        );
        assert_eq!(
            refusal(json!({"items": [{"alias": "a", "other": null}]})),
            "/items/0: /other: is not a member of this body. Its members are alias."
        );
    }

    #[test]
    fn members_are_read_and_null_is_absence() {
        let body = json!({"mode": "merge", "items": [{"alias": "a", "id": 1}], "etag": "x"});
        let outer: Outer = read(&body).expect("it is read");
        assert!(matches!(outer.mode, Some(Mode::Merge)));
        assert_eq!(outer.items.expect("items")[0].alias, "a");
        let outer: Outer = read(&json!({"mode": null, "items": null})).expect("it is read");
        assert!(outer.mode.is_none() && outer.items.is_none());
    }
}
