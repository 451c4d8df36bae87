use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ETag, Identifier, Lineage, OperationId, ReferenceId, Scope, Target, Timestamp, pointer,
};

/// A reference: the AWS resource that an alias stands for, and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The reference id, in the casing of the first write.
    pub id: ReferenceId,
    /// What it keeps when it is moved to another id.
    pub lineage: Lineage,
    /// The account and region of the AWS resource.
    pub scope: Scope,
    /// The primary identifier, as AWS spells it. `None` while the resource is being created.
    pub identifier: Option<Identifier>,
    /// Whether deleting the reference deletes the AWS resource.
    pub owned: bool,
    /// Whether the caller has told the reference to own the resource, whose mark that may carry.
    pub told_to_own: bool,
    /// Whether its own mark has been seen on the AWS resource.
    pub marked: bool,
    /// ARM tags of the reference itself. They are never sent to AWS.
    pub tags: BTreeMap<String, String>,
    /// The live operation on the reference, if any.
    pub operation: Option<OperationId>,
    /// The operation in progress, or the outcome of the last change that was carried out.
    pub provisioning_state: ProvisioningState,
    /// The declaration of the last successful put, or of the create that made the resource although it failed, or of the create
    /// whose outcome is [undecided](Baseline::is_undecided).
    pub baseline: Option<Baseline>,
    /// The live properties as last observed. They never contain write-only values.
    pub observed: Option<Value>,
    /// When the live properties were observed.
    pub observed_at: Option<Timestamp>,
    /// When the alias was first claimed.
    pub created_at: Timestamp,
    /// When the reference last changed.
    pub updated_at: Timestamp,
    /// Increases by one with each write.
    pub revision: u64,
    /// How many of these writes only gave it another id.
    pub moves: u64,
}

impl Reference {
    /// Returns the ETag of the latest write. An id has it only once, whatever references come there and go: it names the
    /// lineage, unless that is the one of the id.
    pub fn etag(&self) -> ETag {
        if self.lineage == Lineage::of(&self.id) {
            ETag::of_revision(self.created_at, self.revision)
        } else {
            ETag::of_lineage(&self.lineage, self.created_at, self.revision)
        }
    }

    /// Returns the ETag of the latest write that was not a move: whatever ids the reference has had since, all else is as it was.
    pub fn written(&self) -> ETag {
        let writes = self.revision.saturating_sub(self.moves);
        ETag::of_lineage(&self.lineage, self.created_at, writes)
    }

    /// Returns the AWS resource it refers to, once known.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProvisioningState {
    /// A put is in progress.
    Provisioning,
    /// A delete is in progress.
    Deleting,
    /// The latest change that was carried out succeeded.
    Succeeded,
    /// The latest change that was carried out failed.
    Failed,
    /// The latest change that was carried out was cancelled.
    Canceled,
    /// The outcome of its create cannot be determined. A put would make a second resource, so it is refused until the
    /// outcome is decided.
    Unknown,
}

impl ProvisioningState {
    /// Returns ARM's name of the state.
    pub fn as_str(self) -> &'static str {
        match self {
            ProvisioningState::Provisioning => "Provisioning",
            ProvisioningState::Deleting => "Deleting",
            ProvisioningState::Succeeded => "Succeeded",
            ProvisioningState::Failed => "Failed",
            ProvisioningState::Canceled => "Canceled",
            ProvisioningState::Unknown => "Unknown",
        }
    }

    /// Parses ARM's name of a state.
    pub fn parse(word: &str) -> Option<Self> {
        [
            Self::Provisioning,
            Self::Deleting,
            Self::Succeeded,
            Self::Failed,
            Self::Canceled,
            Self::Unknown,
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

/// The declaration of a put, kept so that the next put can tell what changed. Write-only values must not be kept: a
/// digest stands in for each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The declared properties without their write-only values.
    pub declared: Value,
    /// A digest of each declared write-only value, by JSON Pointer.
    #[serde(default)]
    pub digests: BTreeMap<String, Digest>,
    /// The top-level properties, as JSON Pointers, that a put sent which did not succeed, this one or a later one. Their values in
    /// AWS are unknown until a put succeeds.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unconfirmed: BTreeSet<String>,
    /// The create-only values, by JSON Pointer, that AWS showed in another form than they were declared in, in the read that
    /// followed the put.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shown: BTreeMap<String, Value>,
    /// Whether a read has followed the put, so that `shown` has all that AWS shows otherwise. Earlier versions did not note that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_seen: bool,
    /// Whether AWS has reported the success of a create of this declaration that put no mark on the resource. Until a read has
    /// followed, that proves what the first one shows, although a declared name may be somebody else's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_made: bool,
    /// Whether it is of a create of unknown outcome. It is kept, and nothing is compared with it, until it is proven that this
    /// create has made what there is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_undecided: bool,
}

impl Reference {
    /// Returns what the next put is compared with.
    pub fn last_put(&self) -> Option<&Baseline> {
        // An earlier version told an undecided baseline by the state alone.
        let is_unknown = self.provisioning_state == ProvisioningState::Unknown;
        let last = self.baseline.as_ref();
        last.filter(|last| !last.is_undecided && !is_unknown)
    }

    /// Returns what stands in for the live model if the type of the resource has no read handler: the last declaration whose put
    /// succeeded.
    pub fn unread_model(&self) -> Option<&Value> {
        let last = self.last_put().map(|last| &last.declared);
        last.or(self.observed.as_ref())
    }
}

/// A [`Reference`] without what was declared and seen of its resource, which is most of it: `baseline` and `observed` are `None`.
/// It is read where many are, and never written back.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline(Reference);

impl Outline {
    /// Returns the outline of a reference.
    pub fn of(reference: Reference) -> Self {
        Self(Reference {
            baseline: None,
            observed: None,
            ..reference
        })
    }
}

impl From<Outline> for Reference {
    fn from(Outline(reference): Outline) -> Self {
        reference
    }
}

impl Deref for Outline {
    type Target = Reference;

    fn deref(&self) -> &Reference {
        &self.0
    }
}

impl Baseline {
    /// Returns whether the value at `pointer` may have been changed by a put that has not succeeded.
    pub fn is_unconfirmed(&self, pointer: &str) -> bool {
        let mut above = self.unconfirmed.iter();
        above.any(|above| pointer::is_within(pointer, above))
    }
}

/// A keyed digest of a value. Digests under different keys are not comparable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// The id of the digest key.
    pub key_id: String,
    /// The HMAC, in hexadecimal.
    pub hmac: String,
}
