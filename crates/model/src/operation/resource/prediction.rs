use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How good the plan of a put was: the planned model, compared with what AWS shows after the put.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prediction {
    /// Whether AWS shows all that was planned.
    pub exact: bool,
    /// How many declared properties are as planned.
    pub confirmed: u32,
    /// What is otherwise.
    pub differences: Vec<Difference>,
    /// Places that no read shows, as JSON Pointers.
    pub unreadable: Vec<String>,
}

/// A place where AWS shows something else than was planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The place, as a JSON Pointer into the live model.
    pub path: String,
    /// In what it differs.
    pub kind: DifferenceKind,
    /// The planned value; `None` if none was to be there, or the value is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<Value>,
    /// The live value; `None` if there is none, or it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
}

/// In what a planned value and the live one differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DifferenceKind {
    /// There is another value, or one where none was to be.
    Different,
    /// There is no value.
    Missing,
}
