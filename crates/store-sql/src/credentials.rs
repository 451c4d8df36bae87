//! The credentials, each with its secret beside it.

use ucp_model::{Credential, CredentialId, CredentialKind, Timestamp};
use ucp_store::{Error, NewCredential, Sealed, StoredCredential};

use crate::database::{Abort, Database, Row, Transaction, statements, values};
use crate::state::{corrupt, from_json, to_json};

/// All that a [`Credential`] is made of.
macro_rules! columns {
    () => {
        "plane, name, location, tags, access_key_id, role_arn, created_at, updated_at, revision"
    };
}

statements! {
    PUT = ["INSERT INTO credentials (key, plane_key, plane, name, location, tags, access_key_id, role_arn, secret,
            created_at, updated_at, revision)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, 1)
        ON CONFLICT (key) DO UPDATE SET
            location = excluded.location,
            tags = excluded.tags,
            access_key_id = excluded.access_key_id,
            role_arn = excluded.role_arn,
            secret = excluded.secret,
            updated_at = excluded.updated_at,
            revision = credentials.revision + 1
        RETURNING ", columns!()];
    GET = ["SELECT ", columns!(), ", secret FROM credentials WHERE key = $1"];
    LIST = ["SELECT ", columns!(), " FROM credentials WHERE plane_key = $1 AND key > $2
        ORDER BY key LIMIT $3"];
    DELETE = ["DELETE FROM credentials WHERE key = $1"];
}

pub(crate) async fn put(
    transaction: &mut Transaction,
    new: &NewCredential,
    now: Timestamp,
) -> Result<Credential, Abort> {
    let (access_key_id, role_arn) = match &new.kind {
        CredentialKind::AccessKey { access_key_id } => (Some(access_key_id.as_str()), None),
        CredentialKind::Irsa { role_arn } => (None, Some(role_arn.as_str())),
    };
    let values = values![
        new.id.key(),
        new.id.plane.to_ascii_lowercase(),
        new.id.plane.as_str(),
        new.id.name.as_str(),
        new.location.as_str(),
        to_json(&new.tags)?,
        access_key_id,
        role_arn,
        new.secret.as_ref().map(|secret| secret.0.clone()),
        now.as_millis(),
    ];
    let row = transaction.fetch_optional(PUT, values).await?;
    let row = row.ok_or_else(|| Error::Corrupt("a written credential is not there".to_owned()))?;
    Ok(read(&row)?)
}

pub(crate) async fn get(
    database: &Database,
    id: &CredentialId,
) -> Result<Option<StoredCredential>, Error> {
    let rows = database.read(GET, values![id.key()]).await?;
    let stored = |row: &Row| {
        let secret: Option<Vec<u8>> = row.get("secret")?;
        Ok(StoredCredential {
            credential: read(row)?,
            secret: secret.map(Sealed),
        })
    };
    rows.first().map(stored).transpose()
}

pub(crate) async fn list(
    database: &Database,
    plane: &str,
    after: Option<&CredentialId>,
    limit: usize,
) -> Result<Vec<Credential>, Error> {
    let after = after.map(CredentialId::key).unwrap_or_default();
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = values![plane.to_ascii_lowercase(), after, limit];
    let rows = database.read(LIST, values).await?;
    rows.iter().map(read).collect()
}

pub(crate) async fn delete(
    transaction: &mut Transaction,
    id: &CredentialId,
) -> Result<bool, Abort> {
    Ok(transaction.execute(DELETE, values![id.key()]).await? > 0)
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
