//! Member names to which `serde_json` gives a meaning of its own: `{"$serde_json::private::Number": "1"}` is read as a number, and
//! the text of a `RawValue` as JSON, past every limit that its reader sets.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::pointer::PointerBuf;

/// What is wrong with such a name, as a message says it behind the place.
pub const PRIVATE_NAME: &str =
    "begins with '$serde_json::private::', by which a reader of JSON tells numbers and texts";

/// How these names begin.
const PREFIX: &str = "$serde_json::private::";
/// The name under which `serde_json` passes numbers.
const NUMBER: &str = "$serde_json::private::Number";

/// Returns the place of the first such name in a JSON text, as a JSON Pointer. A text that is no JSON is left to its reader.
pub fn private_name(text: &[u8]) -> Option<String> {
    if !may_have_one(text) {
        return None;
    }
    let mut names = Names {
        place: PointerBuf::root(),
        is_found: false,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    // It ends with an error at the first one.
    let _ = (&mut names).deserialize(&mut deserializer);
    names.is_found.then(|| names.place.to_string())
}

/// Returns whether a text has the letters of such a name, or escapes some letter. Few have.
fn may_have_one(text: &[u8]) -> bool {
    let mut signs = [&b"serde_json"[..], b"\\u"].into_iter();
    signs.any(|sign| memmem::find(text, sign).is_some())
}

/// Visits all names of a document.
struct Names {
    /// The current place, and at last that of what was found.
    place: PointerBuf,
    is_found: bool,
}

impl<'de> DeserializeSeed<'de> for &mut Names {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Names {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        for index in 0.. {
            self.place.push_back(index);
            if elements.next_element_seed(&mut *self)?.is_none() {
                break;
            }
            self.place.pop_back();
        }
        self.place.pop_back();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Cow<'_, str>>()? {
            let is_number = name == NUMBER && members.next_value_seed(Digits)?;
            if is_number {
                continue;
            }
            self.place.push_back(name.as_ref());
            if name.starts_with(PREFIX) {
                self.is_found = true;
                return Err(A::Error::custom("a private name"));
            }
            members.next_value_seed(&mut *self)?;
            self.place.pop_back();
        }
        Ok(())
    }
}

/// Whether the value under the name of numbers is that of a number, which comes as an owned text. One of the document does not.
struct Digits;

impl<'de> DeserializeSeed<'de> for Digits {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Digits {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("digits")
    }

    fn visit_string<E>(self, _: String) -> Result<bool, E> {
        Ok(true)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<bool, A::Error> {
        IgnoredAny.visit_seq(elements).map(|_| false)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<bool, A::Error> {
        IgnoredAny.visit_map(members).map(|_| false)
    }
}

#[cfg(test)]
mod tests {
    use super::private_name;

    #[test]
    fn numbers_have_no_private_name() {
        for text in [
            "1",
            "[1, -0.5e+400, 9007199254740993]",
            r#"{"a": {"b": [1.10]}, "serde_json": "\u0031"}"#,
            r#"{"a": "$serde_json::private::Number"}"#,
            r#"{"$serde_json": 1}"#,
        ] {
            assert_eq!(private_name(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_private_name_is_found_wherever_it_stands_and_however_it_is_written() {
        for name in ["Number", "RawValue", "x"] {
            for value in [
                r#""1""#,
                r#""\u0031""#,
                "1",
                "null",
                "true",
                "[1]",
                r#"{"a": 1}"#,
            ] {
                for (above, text) in [
                    (
                        "",
                        format!(r#"{{"$serde_json::private::{name}": {value}}}"#),
                    ),
                    (
                        "/1",
                        format!(r#"[1, {{"a": 1.5, "$serde_json::private::{name}": {value}}}]"#),
                    ),
                    (
                        "/a~1b",
                        format!(
                            r#"{{"c": [1], "a/b": {{"\u0024serde_json::private::{name}": {value}, "b": 1}}}}"#
                        ),
                    ),
                ] {
                    let expected = Some(format!("{above}/$serde_json::private::{name}"));
                    assert_eq!(private_name(text.as_bytes()), expected, "{text}");
                }
            }
        }
    }
}
