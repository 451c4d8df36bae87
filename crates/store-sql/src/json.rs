//! Conversion of columns that hold JSON, ids and counts.

use serde::Serialize;
use serde::de::DeserializeOwned;
use ucp_store::Error;

pub(crate) fn corrupt<T>(what: impl Into<String>) -> Result<T, Error> {
    Err(Error::Corrupt(what.into()))
}

/// Converts a revision to a column value.
pub(crate) fn count(revision: u64) -> Result<i64, Error> {
    i64::try_from(revision).map_err(|error| Error::Corrupt(error.to_string()))
}

/// Serializes `value` to the JSON text of a column.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Corrupt(error.to_string()))
}

/// Parses the JSON text of a column.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Corrupt(error.to_string()))
}

/// Parses the id in a column.
pub(crate) fn parsed<T>(text: &str) -> Result<T, Error>
where
    T: std::str::FromStr<Err = ucp_model::ids::InvalidId>,
{
    text.parse()
        .map_err(|error: ucp_model::ids::InvalidId| Error::Corrupt(error.to_string()))
}
