use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ucp_app::PutCredential;
use ucp_model::{Credential, CredentialId, CredentialKind, NewCredential};
use utoipa::ToSchema;

use super::tags::tags;
use super::warning::WarningBody;
use crate::problem::Problem;
use crate::validation::Violations;

/// The body of a PUT of a credential. It replaces the whole credential, so an access key needs its secret each time.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PutCredentialRequest {
    /// `global` by convention.
    #[schema(example = "global", pattern = "^[^\\x00-\\x1F\\x7F-\\x9F]*$")]
    location: String,
    /// Tags of the credential itself.
    #[serde(default)]
    #[schema(value_type = Option<BTreeMap<String, String>>, example = json!({"team": "net"}))]
    tags: BTreeMap<String, String>,
    /// How calls to AWS are signed.
    properties: PutCredentialProperties,
}

/// How calls to AWS are signed.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "kind")]
enum PutCredentialProperties {
    /// An access key of an IAM user.
    #[serde(rename_all = "camelCase")]
    AccessKey {
        /// The id of the access key.
        #[schema(
            example = "AKIAIOSFODNN7EXAMPLE",
            pattern = "^[^\\x00-\\x1F\\x7F-\\x9F]+$"
        )]
        access_key_id: String,
        /// The secret access key. It is stored encrypted and never returned.
        #[schema(write_only, format = Password, example = "…", pattern = "^[^\\x00-\\x1F\\x7F-\\x9F]+$")]
        secret_access_key: String,
        /// Where the secret is kept.
        storage: PutStorage,
    },
    /// A role, assumed with the web identity of the Kubernetes service account that ucp runs under.
    #[serde(rename = "IRSA")]
    Irsa {
        /// The ARN of the role.
        #[serde(rename = "roleARN")]
        #[schema(
            example = "arn:aws:iam::123456789012:role/ucp",
            pattern = "^[^\\x00-\\x1F\\x7F-\\x9F]+$"
        )]
        role_arn: String,
        /// Where the secret is kept.
        storage: PutStorage,
    },
}

/// Where the secret is kept. A `secretName` in the request is ignored.
#[derive(Deserialize, ToSchema)]
struct PutStorage {
    /// What stores the secret.
    kind: StorageKind,
}

/// A credential.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CredentialBody {
    /// The id.
    #[schema(example = "/planes/aws/aws/providers/System.AWS/credentials/default")]
    id: String,
    /// The name, in the letter case of the last PUT.
    #[schema(example = "default")]
    name: String,
    /// The type of all credentials.
    #[schema(example = "System.AWS/credentials")]
    r#type: &'static str,
    /// `global` by convention.
    #[schema(example = "global")]
    location: String,
    /// Tags of the credential itself.
    tags: BTreeMap<String, String>,
    /// How calls to AWS are signed.
    properties: CredentialProperties,
    /// What the caller of a PUT should know: that AWS has not accepted the credential.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<WarningBody>,
}

/// How calls to AWS are signed, without the secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind")]
enum CredentialProperties {
    /// An access key of an IAM user.
    #[serde(rename_all = "camelCase")]
    AccessKey {
        /// The id of the access key.
        #[schema(example = "AKIAIOSFODNN7EXAMPLE")]
        access_key_id: String,
        /// Where the secret is kept.
        storage: Storage,
    },
    /// A role, assumed with the web identity of the Kubernetes service account that ucp runs under.
    #[serde(rename = "IRSA")]
    Irsa {
        /// The ARN of the role.
        #[serde(rename = "roleARN")]
        #[schema(example = "arn:aws:iam::123456789012:role/ucp")]
        role_arn: String,
        /// Where the secret is kept.
        storage: Storage,
    },
}

/// Where the secret is kept.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Storage {
    /// What stores the secret.
    kind: StorageKind,
    /// The name of the secret.
    #[schema(example = "aws-aws-default")]
    secret_name: String,
}

/// What stores a secret.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
enum StorageKind {
    /// `ucp` itself.
    Internal,
}

impl PutCredentialRequest {
    /// Reads a body. Violations name members but never repeat values.
    pub(crate) fn read(body: &Map<String, Value>, violations: &mut Violations) -> Option<Self> {
        violations.members(body, &["tags", "properties"]);
        let location = violations.location(body);
        let tags = tags("$.tags", body.get("tags"), violations);
        let properties = required(violations, "$.properties", body.get("properties"))?;
        let properties = PutCredentialProperties::read(properties, violations)?;
        Some(Self {
            location,
            tags,
            properties,
        })
    }

    /// Converts the request to the app's type.
    pub(crate) fn put(self, id: CredentialId) -> PutCredential {
        let (kind, secret) = match self.properties {
            PutCredentialProperties::AccessKey {
                access_key_id,
                secret_access_key,
                storage:
                    PutStorage {
                        kind: StorageKind::Internal,
                    },
            } => (
                CredentialKind::AccessKey { access_key_id },
                Some(secret_access_key),
            ),
            PutCredentialProperties::Irsa {
                role_arn,
                storage:
                    PutStorage {
                        kind: StorageKind::Internal,
                    },
            } => (CredentialKind::Irsa { role_arn }, None),
        };
        let new = NewCredential {
            id,
            location: self.location,
            tags: self.tags,
            body: kind,
        };
        PutCredential { new, secret }
    }
}

impl PutCredentialProperties {
    fn read(properties: &Map<String, Value>, violations: &mut Violations) -> Option<Self> {
        let storage = PutStorage::read(properties.get("storage"), violations);
        let mut text = |member: &str| {
            let path = format!("$.properties.{member}");
            let text = violations.text(&path, properties.get(member))?;
            if text.is_empty() {
                violations.property(&path, "must not be empty");
            }
            Some(text)
        };
        let kind = text("kind")?;
        let own: &[&str] = match kind.as_str() {
            "AccessKey" => &["accessKeyId", "secretAccessKey"],
            "IRSA" => &["roleARN"],
            _ => &[],
        };
        if !own.is_empty() {
            let known = [own, &["kind", "storage", "provisioningState"]].concat();
            violations.members_of("$.properties", properties, &known);
        }
        let mut text = |member: &str| {
            let path = format!("$.properties.{member}");
            let text = violations.text(&path, properties.get(member))?;
            if text.is_empty() {
                violations.property(&path, "must not be empty");
            }
            Some(text)
        };
        match kind.as_str() {
            "AccessKey" => {
                let (id, secret) = (text("accessKeyId"), text("secretAccessKey"));
                Some(Self::AccessKey {
                    access_key_id: id?,
                    secret_access_key: secret?,
                    storage: storage?,
                })
            }
            "IRSA" => Some(Self::Irsa {
                role_arn: text("roleARN")?,
                storage: storage?,
            }),
            "" => None,
            _ => {
                let message = "The credential kind is not supported. Set $.properties.kind to 'AccessKey' or 'IRSA'.";
                violations.refuse(Problem::bad_request(message));
                None
            }
        }
    }
}

impl PutStorage {
    fn read(storage: Option<&Value>, violations: &mut Violations) -> Option<Self> {
        let storage = required(violations, "$.properties.storage", storage)?;
        violations.members_of("$.properties.storage", storage, &["kind", "secretName"]);
        let kind = violations.text("$.properties.storage.kind", storage.get("kind"))?;
        if kind != "Internal" {
            violations.property("$.properties.storage.kind", "must be 'Internal'");
            return None;
        }
        Some(Self {
            kind: StorageKind::Internal,
        })
    }
}

/// Reads a required object.
fn required<'a>(
    violations: &mut Violations,
    path: &str,
    value: Option<&'a Value>,
) -> Option<&'a Map<String, Value>> {
    if value.is_none_or(Value::is_null) {
        violations.property(path, "is required");
    }
    violations.object(path, value)
}

impl From<Credential> for CredentialBody {
    fn from(credential: Credential) -> Self {
        let Credential { id, body: kind, .. } = credential;
        let storage = Storage {
            kind: StorageKind::Internal,
            secret_name: format!("aws-{}-{}", id.plane, id.name).to_ascii_lowercase(),
        };
        Self {
            id: id.to_string(),
            name: id.name,
            r#type: "System.AWS/credentials",
            location: credential.location,
            tags: credential.tags,
            properties: match kind {
                CredentialKind::AccessKey { access_key_id } => CredentialProperties::AccessKey {
                    access_key_id,
                    storage,
                },
                CredentialKind::Irsa { role_arn } => {
                    CredentialProperties::Irsa { role_arn, storage }
                }
            },
            warnings: Vec::new(),
        }
    }
}
