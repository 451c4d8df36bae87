use std::ops::Bound;

use async_trait::async_trait;
use ucp_model::{Credential, CredentialId, NewCredential, Timestamp};

use super::Memory;
use crate::{Credentials, Error, Precondition, Sealed, StoredCredential, Written};

#[async_trait]
impl Credentials for Memory {
    async fn put_credential(
        &self,
        new: NewCredential,
        secret: Option<Sealed>,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Written<StoredCredential>, Error> {
        let mut tables = self.tables();
        let key = new.id.key();
        let first = tables.credentials.get(&key).map(|row| &row.credential);
        let credential = precondition.put(first, new, now)?;
        let after = StoredCredential { credential, secret };
        let before = tables.credentials.insert(key, after.clone());
        Ok(Written { before, after })
    }

    async fn get_credential(&self, id: &CredentialId) -> Result<Option<StoredCredential>, Error> {
        Ok(self.tables().credentials.get(&id.key()).cloned())
    }

    async fn list_credentials(
        &self,
        plane: &str,
        after: Option<&CredentialId>,
        limit: usize,
    ) -> Result<Vec<Credential>, Error> {
        let tables = self.tables();
        let after = after.map(CredentialId::key).unwrap_or_default();
        Ok(tables
            .credentials
            .range((Bound::Excluded(after), Bound::Unbounded))
            .map(|(_, row)| &row.credential)
            .filter(|credential| credential.id.plane.eq_ignore_ascii_case(plane))
            .take(limit)
            .cloned()
            .collect())
    }

    async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Error> {
        let mut tables = self.tables();
        let Some(row) = tables.credentials.get(&id.key()) else {
            return Ok(false);
        };
        precondition.judge(Some(row.credential.etag()))?;
        tables.credentials.remove(&id.key());
        Ok(true)
    }
}
