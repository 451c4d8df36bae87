use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Identifier, ReferenceId, Scope, Target, Timestamp};

/// A tracked resource: which AWS resource an alias stands for, and what we know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The reference id, in the casing of the first write.
    pub id: ReferenceId,
    /// Where the AWS resource lives.
    pub scope: Scope,
    /// AWS's name for it; none while its creation is under way.
    pub identifier: Option<Identifier>,
    /// Whether deleting the reference deletes the AWS resource.
    pub owned: bool,
    /// ARM tags of the reference itself; they never reach AWS.
    pub tags: BTreeMap<String, String>,
    /// What the latest operation made of it.
    pub provisioning_state: ProvisioningState,
    /// What the last successful put declared.
    pub baseline: Option<Baseline>,
    /// The live form as last observed; it never holds write-only values.
    pub observed: Option<Value>,
    /// When it was observed.
    pub observed_at: Option<Timestamp>,
    /// When the alias was first claimed.
    pub created_at: Timestamp,
    /// When the reference last changed.
    pub updated_at: Timestamp,
    /// Rises by one with each write.
    pub revision: u64,
}

impl Reference {
    /// The AWS resource it maps to, once known.
    pub fn target(&self) -> Option<Target<'_>> {
        let identifier = self.identifier.as_ref()?;
        Some(Target {
            scope: &self.scope,
            type_name: &self.id.type_name,
            identifier,
        })
    }
}

/// ARM's `provisioningState` of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisioningState {
    /// A put is under way.
    Provisioning,
    /// A delete is under way.
    Deleting,
    /// The latest put succeeded.
    Succeeded,
    /// AWS refused or broke off the latest change.
    Failed,
    /// The latest change was cancelled.
    Canceled,
}

impl ProvisioningState {
    /// ARM's word.
    pub fn as_str(self) -> &'static str {
        match self {
            ProvisioningState::Provisioning => "Provisioning",
            ProvisioningState::Deleting => "Deleting",
            ProvisioningState::Succeeded => "Succeeded",
            ProvisioningState::Failed => "Failed",
            ProvisioningState::Canceled => "Canceled",
        }
    }

    /// The state that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        [
            Self::Provisioning,
            Self::Deleting,
            Self::Succeeded,
            Self::Failed,
            Self::Canceled,
        ]
        .into_iter()
        .find(|state| state.as_str() == word)
    }
}

impl fmt::Display for ProvisioningState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a put declared, kept so that the next one can tell what changed: every leaf a value, or a digest where the
/// value is write-only and must not be kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The declared properties without their write-only values.
    pub declared: Value,
    /// A digest for each declared write-only value, by JSON Pointer.
    #[serde(default)]
    pub digests: BTreeMap<String, Digest>,
}

/// A keyed digest of a value. Digests under different keys say nothing about each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Which digest key made it.
    pub key_id: String,
    /// The HMAC, in hexadecimal.
    pub hmac: String,
}
