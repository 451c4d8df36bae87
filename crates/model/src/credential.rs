use std::collections::BTreeMap;

use crate::{CredentialId, ETag, Timestamp};

/// How `ucp` signs in to AWS. The secret is no part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Its id, in the casing of the first write.
    pub id: CredentialId,
    /// The location the caller gave, `global` by convention.
    pub location: String,
    /// ARM tags of the credential itself; they never reach AWS.
    pub tags: BTreeMap<String, String>,
    /// Who it is to AWS.
    pub kind: CredentialKind,
    /// When it was first written.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Rises by one with each write.
    pub revision: u64,
}

impl Credential {
    /// The tag of its latest write.
    pub fn etag(&self) -> ETag {
        ETag::of_revision(self.created_at, self.revision)
    }
}

/// Who a credential is to AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
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
