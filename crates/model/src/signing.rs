//! Which credentials sign the AWS calls of a plane.

use serde_json::{Map, Value};

use crate::{CredentialId, Plane};

/// The name of the credential that signs. Credentials under other names are stored but not used.
pub const SIGNING: &str = "default";
/// The setting of an aws plane that says which credentials sign.
const CREDENTIALS: &str = "credentials";
/// The identity of the process signs, unless a credential is stored.
const AMBIENT: &str = "ambient";
/// Only a stored credential signs.
const STORED: &str = "stored";

impl CredentialId {
    /// Returns whether the credential signs the calls of its plane.
    pub fn signs(&self) -> bool {
        self.name.eq_ignore_ascii_case(SIGNING)
    }
}

/// Returns whether the identity of the process signs the calls of a plane that has no stored credential.
pub fn is_ambient(plane: &Plane) -> bool {
    plane.body.get(CREDENTIALS).and_then(Value::as_str) == Some(AMBIENT)
}

/// The settings of a plane for which the identity of the process signs.
pub fn ambient_settings() -> Map<String, Value> {
    Map::from_iter([(CREDENTIALS.to_owned(), AMBIENT.into())])
}

/// Returns the settings of a plane without the identity of the process.
pub fn without_ambient(mut settings: Map<String, Value>) -> Map<String, Value> {
    settings.insert(CREDENTIALS.to_owned(), STORED.into());
    settings
}
