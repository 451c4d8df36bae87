//! Adapters between `ucp-cloud-aws` and crates that do not depend on it: account checks and stored credentials.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ucp_app::Rejection;
use ucp_cloud_aws::{Aws, BaseCredential, CredentialSource};
use ucp_model::{CredentialId, CredentialKind, Failure, Fault, FaultClass, Scope};
use ucp_seal::{AssociatedData, Keys};
use ucp_store::{Credentials, StoredCredential};
use zeroize::Zeroizing;

/// The name of the credential that signs calls. Credentials under other names are stored but not used.
const SIGNING: &str = "default";
/// How long a process may keep using a credential that another process has changed, if it is not told.
pub(crate) const CREDENTIAL_MAX_AGE: Duration = Duration::from_secs(30);

/// Account checks against AWS.
pub(crate) struct OfAws(pub(crate) Arc<Aws>);

#[async_trait]
impl ucp_app::Accounts for OfAws {
    async fn verify(&self, scope: &Scope) -> Result<(), Rejection> {
        self.0.verify(scope).await.map_err(|fault| {
            let failure = Failure::from(&fault);
            if fault.class == FaultClass::Denied {
                Rejection::Forbidden(failure)
            } else {
                Rejection::NotNow(failure)
            }
        })
    }

    fn credential_changed(&self, plane: &str) {
        self.0.credential_changed(plane);
    }
}

/// Drops cached credentials whenever another process may have changed one.
pub(crate) async fn follow_changes(store: Arc<dyn Credentials>, aws: Arc<Aws>) {
    loop {
        store.credentials_changed().await;
        aws.credentials_changed();
    }
}

/// The credentials in the store.
pub(crate) struct StoredCredentials {
    pub(crate) store: Arc<dyn Credentials>,
    pub(crate) keys: Arc<Keys>,
}

#[async_trait]
impl CredentialSource for StoredCredentials {
    async fn base_credential(&self, plane: &str) -> Result<Option<BaseCredential>, Fault> {
        let Ok(id) = CredentialId::new(plane, SIGNING) else {
            return Ok(None);
        };
        let stored = self.store.get_credential(&id).await;
        let stored = stored.map_err(|error| {
            Fault::new(
                FaultClass::Transient,
                "ServiceUnavailable",
                format!("cannot read {id} from the store: {error}"),
            )
        })?;
        stored.map(|stored| self.opened(stored)).transpose()
    }
}

impl StoredCredentials {
    fn opened(&self, stored: StoredCredential) -> Result<BaseCredential, Fault> {
        let id = &stored.credential.id;
        let unreadable = || {
            Fault::new(
                FaultClass::Denied,
                "InvalidCredentials",
                format!("The secret of {id} cannot be decrypted. Put it again."),
            )
        };
        match stored.credential.body {
            CredentialKind::Irsa { role_arn } => Ok(BaseCredential::WebIdentity { role_arn }),
            CredentialKind::AccessKey { access_key_id } => {
                let sealed = stored.secret.as_ref().ok_or_else(unreadable)?;
                let secret = self
                    .keys
                    .sealing
                    .open(AssociatedData::Credential(id), &sealed.0)
                    .map_err(|error| match error {
                        // Another process may have it, or this one later.
                        ucp_seal::Error::OtherKey { .. } => Fault::new(
                            FaultClass::Transient,
                            "ServiceUnavailable",
                            format!(
                                "The secret of {id} cannot be decrypted by this process: {error}."
                            ),
                        ),
                        ucp_seal::Error::NotAKey | ucp_seal::Error::Corrupt => unreadable(),
                    })?;
                let secret = std::str::from_utf8(&secret).map_err(|_| unreadable())?;
                Ok(BaseCredential::AccessKey {
                    access_key_id,
                    secret_access_key: Zeroizing::new(secret.to_owned()),
                })
            }
        }
    }
}
