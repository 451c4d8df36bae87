use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CredentialId, ETag, GroupId, OperationId, PlaneId, Timestamp};

/// What ARM's resources have in common, and the body that is a resource's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmResource<Id, Body> {
    /// Its id, in the casing of the first write.
    pub id: Id,
    /// The location that the caller gave, `global` by convention.
    pub location: String,
    /// ARM tags of the resource itself. They never reach AWS.
    pub tags: BTreeMap<String, String>,
    /// What is its own.
    pub body: Body,
    /// When it was first written.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Rises by one with each write.
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
    /// What is its own.
    pub body: Body,
}

impl<Id: Clone, Body> ArmResource<Id, Body> {
    /// The tag of its latest write.
    pub fn etag(&self) -> ETag {
        ETag::of_revision(self.created_at, self.revision)
    }

    /// What a PUT of `new` over `current` makes: all but the id and the time of the first write is replaced.
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

/// A plane. What lies below it does not need it to exist. Its body is its settings, which may be secret.
pub type Plane = ArmResource<PlaneId, Map<String, Value>>;
/// A plane as a PUT declares it.
pub type NewPlane = NewArmResource<PlaneId, Map<String, Value>>;

/// A resource group: the deployment scope, in which aliases are unique per resource type.
pub type ResourceGroup = ArmResource<GroupId, GroupBody>;
/// A resource group as a PUT declares it.
pub type NewResourceGroup = NewArmResource<GroupId, GroupBody>;

/// What is a resource group's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GroupBody {
    /// AWS tags that the resources put into the group get by default.
    pub default_tags: BTreeMap<String, String>,
    /// The operation that deletes it. Meanwhile nothing else may change it or its references. No PUT sets it.
    #[serde(skip)]
    pub deletion: Option<OperationId>,
}

/// How `ucp` signs in to AWS. The secret is no part of it.
pub type Credential = ArmResource<CredentialId, CredentialKind>;
/// A credential as a PUT declares it.
pub type NewCredential = NewArmResource<CredentialId, CredentialKind>;

/// Who a credential is to AWS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CredentialKind {
    /// A user of IAM, by an access key whose secret is sealed beside it.
    AccessKey {
        /// The public half of the access key.
        access_key_id: String,
    },
    /// A role of IAM, taken by the service account that the process runs under.
    Irsa {
        /// The role's ARN.
        role_arn: String,
    },
}
