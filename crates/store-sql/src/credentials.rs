//! The credentials, each with its secret beside it.

use async_trait::async_trait;
use ucp_model::{Credential, CredentialId, CredentialKind, Timestamp};
use ucp_store::{Credentials, Error, NewCredential, Precondition, Sealed, StoredCredential};

use crate::Sql;
use crate::database::{Abort, Row, Transaction, statements, transaction, values};
use crate::state::{corrupt, from_json, to_json};

/// All that a [`Credential`] is made of.
macro_rules! columns {
    () => {
        "plane, name, location, tags, access_key_id, role_arn, created_at, updated_at, revision"
    };
}

statements! {
    /// When two first puts of a name meet here, the second waits, fails, and run anew finds what it is to replace.
    INSERT = ["INSERT INTO credentials (key, location, tags, access_key_id, role_arn, secret, created_at, updated_at,
            plane_key, plane, name, revision)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10, 1)
        RETURNING ", columns!()];
    UPDATE = ["UPDATE credentials SET
            location = $2, tags = $3, access_key_id = $4, role_arn = $5, secret = $6, updated_at = $7,
            revision = revision + 1
        WHERE key = $1
        RETURNING ", columns!()];
    GET = ["SELECT ", columns!(), ", secret FROM credentials WHERE key = $1"];
    LOCK = ["SELECT ", columns!(), " FROM credentials WHERE key = $1"] lock " FOR UPDATE";
    LIST = ["SELECT ", columns!(), " FROM credentials WHERE plane_key = $1 AND key > $2
        ORDER BY key LIMIT $3"];
    DELETE = ["DELETE FROM credentials WHERE key = $1"];
}

#[async_trait]
impl Credentials for Sql {
    async fn put_credential(
        &self,
        new: NewCredential,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Credential, Error> {
        transaction!(self, |tx| async {
            let current = lock(&mut tx, &new.id).await?;
            precondition.judge(current.as_ref().map(Credential::etag))?;
            let (access_key_id, role_arn) = match &new.kind {
                CredentialKind::AccessKey { access_key_id } => (Some(access_key_id.as_str()), None),
                CredentialKind::Irsa { role_arn } => (None, Some(role_arn.as_str())),
            };
            let mut values = values![
                new.id.key(),
                new.location.as_str(),
                to_json(&new.tags)?,
                access_key_id,
                role_arn,
                new.secret.as_ref().map(|secret| secret.0.clone()),
                now.as_millis(),
            ];
            let statement = match current {
                Some(_) => UPDATE,
                None => {
                    let CredentialId { plane, name } = &new.id;
                    values.extend(values![
                        plane.to_ascii_lowercase(),
                        plane.as_str(),
                        name.as_str(),
                    ]);
                    INSERT
                }
            };
            let row = tx.fetch_optional(statement, values).await?;
            let row =
                row.ok_or_else(|| Error::Corrupt("a written credential is not there".to_owned()))?;
            Ok(read(&row)?)
        })
    }

    async fn get_credential(&self, id: &CredentialId) -> Result<Option<StoredCredential>, Error> {
        let rows = self.database.read(GET, values![id.key()]).await?;
        let stored = |row: &Row| {
            let secret: Option<Vec<u8>> = row.get("secret")?;
            Ok(StoredCredential {
                credential: read(row)?,
                secret: secret.map(Sealed),
            })
        };
        rows.first().map(stored).transpose()
    }

    async fn list_credentials(
        &self,
        plane: &str,
        after: Option<&CredentialId>,
        limit: usize,
    ) -> Result<Vec<Credential>, Error> {
        let after = after.map(CredentialId::key).unwrap_or_default();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = values![plane.to_ascii_lowercase(), after, limit];
        let rows = self.database.read(LIST, values).await?;
        rows.iter().map(read).collect()
    }

    async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Error> {
        transaction!(self, |tx| async {
            let Some(current) = lock(&mut tx, id).await? else {
                return Ok(false);
            };
            precondition.judge(Some(current.etag()))?;
            tx.execute(DELETE, values![id.key()]).await?;
            Ok(true)
        })
    }
}

/// The credential, which nobody else changes until the transaction ends.
async fn lock(
    transaction: &mut Transaction,
    id: &CredentialId,
) -> Result<Option<Credential>, Abort> {
    let row = transaction.fetch_optional(LOCK, values![id.key()]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

fn read(row: &Row) -> Result<Credential, Error> {
    let kind = match (row.get("access_key_id")?, row.get("role_arn")?) {
        (Some(access_key_id), None) => CredentialKind::AccessKey { access_key_id },
        (None, Some(role_arn)) => CredentialKind::Irsa { role_arn },
        (None, None) | (Some(_), Some(_)) => {
            return corrupt("a credential is an access key or a role, and one of the two");
        }
    };
    Ok(Credential {
        id: CredentialId {
            plane: row.get("plane")?,
            name: row.get("name")?,
        },
        location: row.get("location")?,
        tags: from_json(row.get("tags")?)?,
        kind,
        created_at: Timestamp::from_millis(row.get("created_at")?),
        updated_at: Timestamp::from_millis(row.get("updated_at")?),
        revision: row.count("revision")?,
    })
}
