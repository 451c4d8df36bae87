//! Adapters between `ucp-cloud-aws` and crates that do not depend on it: account checks and stored credentials.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ucp_app::{Rejection, Roles};
use ucp_cloud_aws::{Aws, BaseCredential, CredentialSource};
use ucp_model::{
    CredentialId, CredentialKind, ErrorCode, Failure, Fault, FaultClass, PlaneId, PlaneKind,
    SIGNING, Scope, is_ambient,
};
use ucp_seal::{AssociatedData, Keys};
use ucp_store::{Credentials, Store, StoredCredential};
use zeroize::Zeroizing;

/// How long a process may keep using a credential that another process has changed, if it is not told.
pub(crate) const CREDENTIAL_MAX_AGE: Duration = Duration::from_secs(30);

/// Account checks against AWS.
pub(crate) struct OfAws(pub(crate) Arc<Aws>);

#[async_trait]
impl ucp_app::Accounts for OfAws {
    async fn verify(&self, scope: &Scope) -> Result<(), Rejection> {
        self.0.verify(scope).await.map_err(|fault| refused(&fault))
    }

    async fn identify(
        &self,
        credential: &CredentialKind,
        secret: Option<&str>,
    ) -> Result<(), Rejection> {
        let credential = match credential {
            CredentialKind::Irsa { role_arn } => BaseCredential::WebIdentity {
                role_arn: role_arn.clone(),
            },
            CredentialKind::AccessKey { access_key_id } => BaseCredential::AccessKey {
                access_key_id: access_key_id.clone(),
                secret_access_key: Zeroizing::new(secret.unwrap_or_default().to_owned()),
            },
        };
        let identified = self.0.identify(&credential).await;
        identified.map_err(|fault| refused(&fault))
    }

    async fn may_accept_ambient(&self) -> bool {
        self.0.may_accept_ambient().await
    }

    fn credential_changed(&self, plane: &str) {
        self.0.credential_changed(plane);
    }
}

fn refused(fault: &Fault) -> Rejection {
    let failure = Failure::from(fault);
    match fault.class {
        FaultClass::Denied if fault.code == ErrorCode::NotFound.as_str() => {
            Rejection::Missing(failure)
        }
        FaultClass::Denied => Rejection::Forbidden(failure),
        FaultClass::Throttled
        | FaultClass::Transient
        | FaultClass::OutcomeUnknown
        | FaultClass::Concurrent
        | FaultClass::TokenConflict
        | FaultClass::TokenUnknown
        | FaultClass::AlreadyExists
        | FaultClass::Rejected
        | FaultClass::Missing => Rejection::NotNow(failure),
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
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) roles: Roles,
}

#[async_trait]
impl CredentialSource for StoredCredentials {
    async fn base_credential(&self, plane: &str) -> Result<Option<BaseCredential>, Fault> {
        let unreadable = |error: ucp_store::Error| {
            Fault::new(
                FaultClass::Transient,
                "ServiceUnavailable",
                format!(
                    "The credential of the plane '{plane}' cannot be read from the store: {error}."
                ),
            )
        };
        let plane_id = PlaneId {
            kind: PlaneKind::Aws,
            name: plane.to_owned(),
        };
        let (Ok(id), Some(settings)) = (
            CredentialId::new(plane, SIGNING),
            self.store.get_plane(&plane_id).await.map_err(unreadable)?,
        ) else {
            let message = format!(
                "The plane '{plane}' does not exist. Put it to /planes/aws/{plane}, and its credential to \
                 /planes/aws/{plane}/providers/System.AWS/credentials/{SIGNING}."
            );
            return Err(Fault::new(FaultClass::Denied, ErrorCode::NotFound, message));
        };
        match self.store.get_credential(&id).await.map_err(unreadable)? {
            Some(stored) => self.opened(stored).map(Some),
            None if is_ambient(&settings) => Ok(None),
            None => Err(Fault::new(
                FaultClass::Denied,
                "InvalidCredentials",
                format!(
                    "The plane '{plane}' has no credential. Put one to {id}, or let the identity of the process sign: {}",
                    ucp_app::way_back(plane)
                ),
            )),
        }
    }
}

impl StoredCredentials {
    fn opened(&self, stored: StoredCredential) -> Result<BaseCredential, Fault> {
        let id = &stored.credential.id;
        let admitted = self.roles.admit(&stored.credential.body);
        admitted.map_err(|refused| {
            let message = format!("{} It is that of {id}.", refused.message);
            Fault::new(FaultClass::Denied, ErrorCode::AuthorizationFailed, message)
        })?;
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
