//! Serialization of a list of ids as their displayed texts.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<T: Display, S: Serializer>(
    ids: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let texts: Vec<String> = ids.iter().map(T::to_string).collect();
    texts.serialize(serializer)
}

pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    let texts = Vec::<String>::deserialize(deserializer)?.into_iter();
    let parsed = texts.map(|text| text.parse()).collect::<Result<_, _>>();
    parsed.map_err(serde::de::Error::custom)
}
