//! The credentials, with their secrets.

use async_trait::async_trait;
use ucp_model::{Credential, CredentialId, CredentialKind, NewCredential, Timestamp};
use ucp_model::{PlaneId, PlaneKind};
use ucp_store::{Credentials, Error, Precondition, Sealed, StoredCredential, Written};

use crate::Sql;
use crate::arm_resources::{arm_resources, read};
use crate::database::{Row, transaction, values};
use crate::nudges::Topic;

arm_resources! { "credentials", "secret";
    SET_SECRET = ["UPDATE credentials SET secret = $2 WHERE key = $1"];
    LIST = ["SELECT id, location, tags, body, created_at, updated_at, revision FROM credentials
        WHERE parent_key = $1 AND key > $2 ORDER BY key LIMIT $3"];
}

#[async_trait]
impl Credentials for Sql {
    async fn put_credential(
        &self,
        new: NewCredential,
        secret: Option<Sealed>,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<StoredCredential>, Error> {
        let written = transaction!(self, |tx| async {
            let key = new.id.key();
            let row = TABLE.lock(&mut tx, key.clone()).await?;
            let before = row.as_ref().map(stored).transpose()?;
            let current = before.as_ref().map(|before| &before.credential);
            let credential = precondition.put(current, new.clone(), now)?;
            TABLE
                .put(&mut tx, &credential, plane(&new.id.plane))
                .await?;
            let sealed = secret.as_ref().map(|secret| secret.0.clone());
            tx.execute(SET_SECRET, values![key, sealed]).await?;
            let secret = secret.clone();
            let after = StoredCredential { credential, secret };
            Ok(Written { before, after })
        });
        // Even after another error, since the commit may have succeeded.
        if !matches!(written, Err(Error::PreconditionFailed)) {
            self.nudge(Topic::Credentials);
            self.erase_deleted().await;
        }
        written
    }

    async fn get_credential(&self, id: &CredentialId) -> Result<Option<StoredCredential>, Error> {
        let row = TABLE.get(&self.database, id.key()).await?;
        row.as_ref().map(stored).transpose()
    }

    async fn list_credentials(
        &self,
        plane_name: &str,
        after: Option<&CredentialId>,
        limit: usize,
    ) -> Result<Vec<Credential>, Error> {
        let after = after.map(CredentialId::key).unwrap_or_default();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = values![plane(plane_name), after, limit];
        let rows = self.database.read(LIST, values).await?;
        rows.iter().map(read).collect()
    }

    async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Error> {
        let existed = transaction!(self, |tx| TABLE.delete::<CredentialId, CredentialKind>(
            &mut tx,
            id,
            precondition
        ));
        if !matches!(existed, Ok(false) | Err(Error::PreconditionFailed)) {
            self.nudge(Topic::Credentials);
            self.erase_deleted().await;
        }
        existed
    }

    async fn credentials_changed(&self) {
        self.nudged_about(Topic::Credentials).await;
    }
}

fn stored(row: &Row) -> Result<StoredCredential, Error> {
    let secret: Option<Vec<u8>> = row.get("secret")?;
    Ok(StoredCredential {
        credential: read(row)?,
        secret: secret.map(Sealed),
    })
}

/// Returns the plane's key, by which credentials are listed.
fn plane(name: &str) -> String {
    let (kind, name) = (PlaneKind::Aws, name.to_owned());
    PlaneId { kind, name }.key()
}
