//! Serialization of an optional id as its displayed text.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<T: Display, S: Serializer>(
    id: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    id.as_ref().map(T::to_string).serialize(serializer)
}

pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    let parsed = text.map(|text| text.parse()).transpose();
    parsed.map_err(serde::de::Error::custom)
}
