//! The lineage of a reference.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::reference::ReferenceId;
use super::tokens::OperationId;

/// What a reference keeps when it is moved to another alias or group: what is bound to the reference, and not to its
/// address, names this. Digests of secrets, the mark on the AWS resource and what is sealed do.
///
/// It is the key of the address where the reference was first claimed, so that it is the same in a database that was lost
/// and begun anew. If a reference that was moved away still has that, the one that is claimed there gets one of its own:
/// the key and a drawn part. No two references have the same lineage at one time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lineage(String);

impl Lineage {
    /// Returns the lineage of a reference that is first claimed at `id`.
    pub fn of(id: &ReferenceId) -> Self {
        Self(id.key())
    }

    /// Returns the lineage of a reference that `operation` first claims at `id`, where one that was moved away began.
    /// No alias contains a slash, so this is no key.
    pub fn drawn(id: &ReferenceId, operation: OperationId) -> Self {
        Self(format!("{}/{operation}", id.key()))
    }

    /// Returns the lineage of a reference that `operation` first claims at `id`. `is_taken` says whether one that was moved
    /// away has that of the alias.
    pub fn claimed(id: &ReferenceId, is_taken: bool, operation: OperationId) -> Self {
        if is_taken {
            Self::drawn(id, operation)
        } else {
            Self::of(id)
        }
    }

    /// Returns a lineage as it was stored.
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the text that is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the plane and the group where the reference was first claimed, as they are compared.
    pub(crate) fn birthplace(&self) -> (&str, &str) {
        // /planes/radius/{plane}/resourcegroups/{group}/providers/…
        let mut segments = self.0.split('/').skip(3);
        let plane = segments.next().unwrap_or_default();
        (plane, segments.nth(1).unwrap_or_default())
    }
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
