//! The members of an object, read by serde into what they mean. `null` stands for absence, and what is wrong is said with
//! its place.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::{Error, Value};
use serde_path_to_error::Segment;
use ucp_model::pointer;

/// What `object` says. Members that `T` does not have are ignored, as templates carry all kinds of them.
pub(crate) fn read<T: DeserializeOwned>(object: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(Members(object)).map_err(|error| reason(&error, object))
}

/// For members that are texts of a type.
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

/// What a person calls a JSON value.
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

/// Refuses members that differ from a known one in letter case alone: ignoring them would drop what was meant.
struct Members<'a>(&'a Value);

impl<'de> Deserializer<'de> for Members<'de> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Value::Object(members) = self.0 else {
            return self.0.deserialize_struct(name, known, visitor);
        };
        for given in members
            .keys()
            .filter(|given| !known.contains(&given.as_str()))
        {
            if let Some(meant) = known.iter().find(|name| name.eq_ignore_ascii_case(given)) {
                return Err(Error::custom(format!("/{given}: did you mean '{meant}'?")));
            }
        }
        let present = members.iter().filter(|(_, value)| !value.is_null());
        visitor.visit_map(MapDeserializer::new(
            present.map(|(name, value)| (name.as_str(), value)),
        ))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// serde's reason in the words of JSON, after its place.
fn reason(error: &serde_path_to_error::Error<Error>, object: &Value) -> String {
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
    if place.is_empty() {
        said
    } else {
        format!("{place}: {said}")
    }
}
