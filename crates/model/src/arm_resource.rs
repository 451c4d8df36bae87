use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CredentialId, ETag, GroupId, OperationId, PlaneId, Timestamp};

/// An ARM resource: the members common to all resources, and the body specific to its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmResource<Id, Body> {
    /// Its id, in the casing of the first write.
    pub id: Id,
    /// The location that the caller gave, `global` by convention.
    pub location: String,
    /// ARM tags of the resource itself. They are never sent to AWS.
    pub tags: BTreeMap<String, String>,
    /// The body specific to its kind.
    pub body: Body,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Incremented by one with each write.
    pub revision: u64,
}

/// A resource as a PUT declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewArmResource<Id, Body> {
    /// Its id.
    pub id: Id,
    /// Its location.
    pub location: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// The body specific to its kind.
    pub body: Body,
}

impl<Id: Clone, Body> ArmResource<Id, Body> {
    /// Returns the ETag of the latest write.
    pub fn etag(&self) -> ETag {
        ETag::of_revision(self.created_at, self.revision)
    }

    /// Returns the result of a PUT of `new` over `current`: everything but the id and the creation time is replaced.
    pub fn put(
        current: Option<&Self>,
        new: NewArmResource<Id, Body>,
        now: Timestamp,
    ) -> ArmResource<Id, Body> {
        Self {
            id: current.map_or(new.id, |current| current.id.clone()),
            location: new.location,
            tags: new.tags,
            body: new.body,
            created_at: current.map_or(now, |current| current.created_at),
            updated_at: now,
            revision: current.map_or(1, |current| current.revision + 1),
        }
    }
}

/// A plane. It need not exist for resources below it to exist. Its body holds its settings, which may be secret.
pub type Plane = ArmResource<PlaneId, Map<String, Value>>;
/// A plane as a PUT declares it.
pub type NewPlane = NewArmResource<PlaneId, Map<String, Value>>;

/// A resource group: the scope of a deployment, in which aliases are unique per resource type.
pub type ResourceGroup = ArmResource<GroupId, GroupBody>;
/// A resource group as a PUT declares it.
pub type NewResourceGroup = NewArmResource<GroupId, GroupBody>;

/// The body of a resource group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GroupBody {
    /// Default AWS tags of the resources put into the group.
    pub default_tags: BTreeMap<String, String>,
    /// Which changes it takes, if anybody has said so. A PUT that does not say so leaves it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_policy: Option<PlanPolicy>,
    /// Whether who has asked for a plan may approve it, if anybody has said so. A PUT that does not say so leaves it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_approval: Option<bool>,
    /// The operation that is deleting the group, if any. Meanwhile nothing else may change the group or its references.
    /// No PUT sets it.
    #[serde(skip)]
    pub deletion: Option<OperationId>,
}

impl GroupBody {
    /// Returns which changes it takes.
    pub fn policy(&self) -> PlanPolicy {
        let policy = self.plan_policy.unwrap_or_default();
        if policy == PlanPolicy::Approved && self.self_approval == Some(false) {
            PlanPolicy::ApprovedByAnother
        } else {
            policy
        }
    }
}

/// Which changes a resource group takes. What takes fewer is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanPolicy {
    /// All.
    #[default]
    Optional,
    /// Those that were planned.
    Required,
    /// Those whose plan was approved.
    Approved,
    /// Those whose plan another caller has approved than who asked for it. It is [`Approved`](Self::Approved) of a group without
    /// [`GroupBody::self_approval`], and is not stored.
    #[serde(skip)]
    ApprovedByAnother,
}

impl PlanPolicy {
    /// Returns whether it takes only changes that somebody has approved.
    pub fn needs_approval(&self) -> bool {
        *self >= PlanPolicy::Approved
    }

    /// Returns whether it takes all changes.
    pub fn is_optional(&self) -> bool {
        *self == PlanPolicy::Optional
    }
}

/// A credential for AWS. The secret is not part of it.
pub type Credential = ArmResource<CredentialId, CredentialKind>;
/// A credential as a PUT declares it.
pub type NewCredential = NewArmResource<CredentialId, CredentialKind>;

/// The AWS principal of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CredentialKind {
    /// An IAM user's access key. Its secret is stored sealed, separately.
    AccessKey {
        /// The access key id.
        access_key_id: String,
    },
    /// An IAM role, assumed through the Kubernetes service account of the process.
    Irsa {
        /// The role's ARN.
        role_arn: String,
    },
}
