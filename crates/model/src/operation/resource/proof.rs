use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::json;

/// The places that a change sets or removes, as JSON Pointers: properties, or whole lists of them. Each has a digest of
/// what was there before, or `None` if no read shows it.
///
/// The digest is of what reads show, which is stored with a reference too. It hides nothing, and needs no key: the store
/// seals both.
pub type Sent = BTreeMap<String, Option<String>>;

/// Returns the digest of a value for [`Sent`]; `None` is one that is not there.
pub fn digest_before(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return String::new();
    };
    let digest = Sha256::digest(json::canonical(value));
    digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// What AWS shows of a change after it has reported success.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Proof {
    /// How many places are as they were sent.
    pub confirmed: u32,
    /// Places that are still as they were before.
    pub dropped: Vec<String>,
    /// Places that are neither as they were sent nor as they were before.
    pub different: Vec<String>,
    /// Places that no read shows.
    pub unreadable: Vec<String>,
}
