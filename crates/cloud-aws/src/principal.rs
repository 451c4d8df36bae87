//! Principals: base credentials, and the clients and sessions derived from them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_config::identity::IdentityCache;
use aws_config::sts::AssumeRoleProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::credential_fn::provide_credentials_fn;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, SharedCredentialsProvider};
use tokio::sync::OnceCell;
use ucp_cloud::Call;
use ucp_model::{Fault, FaultClass};

use crate::accounts::AssumedRole;
use crate::clients::{Clients, Kept, Name, PrincipalNumber};
use crate::credential::BaseCredential;
use crate::fault::of;

/// A session is renewed this long before it ends.
const RENEWED_BEFORE: Duration = Duration::from_secs(60);
/// The time-outs of calls to STS and of loading credentials.
const STS_TIMEOUT: Duration = Duration::from_secs(5);
const LOAD_TIMEOUT: Duration = Duration::from_secs(15);
/// The session name of a web identity, as shown in the logs of the account.
const WEB_IDENTITY_SESSION: &str = "ucp";

/// Base credentials, with their account and the clients and sessions derived from them. Other credentials make another
/// principal.
#[derive(Debug)]
pub(crate) struct Principal {
    config: SdkConfig,
    account: OnceCell<String>,
    number: PrincipalNumber,
    clients: Arc<Mutex<Kept>>,
    /// Held by the task that makes clients.
    making: tokio::sync::Mutex<()>,
}

impl Drop for Principal {
    fn drop(&mut self) {
        locked(&self.clients).remove_all(self.number);
    }
}

impl Principal {
    /// The principal of the credentials in `config`. Its clients are among `clients`.
    pub(crate) fn new(config: &SdkConfig, clients: &Arc<Mutex<Kept>>) -> Self {
        Self {
            config: with_cache(config.clone()),
            account: OnceCell::new(),
            number: locked(clients).number(),
            clients: Arc::clone(clients),
            making: tokio::sync::Mutex::default(),
        }
    }

    /// The principal of `credential`.
    pub(crate) fn of(
        credential: &BaseCredential,
        config: &SdkConfig,
        clients: &Arc<Mutex<Kept>>,
        web_identity_token_file: PathBuf,
    ) -> Self {
        let provider = match credential {
            BaseCredential::AccessKey {
                access_key_id,
                secret_access_key,
            } => SharedCredentialsProvider::new(Credentials::new(
                access_key_id,
                secret_access_key.as_str(),
                None,
                None,
                "ucp",
            )),
            BaseCredential::WebIdentity { role_arn } => {
                let sts = aws_sdk_sts::Client::new(&for_sts(config, None));
                let role_arn = role_arn.clone();
                SharedCredentialsProvider::new(provide_credentials_fn(move || {
                    web_identity(
                        sts.clone(),
                        role_arn.clone(),
                        web_identity_token_file.clone(),
                    )
                }))
            }
        };
        let config = config.to_builder().credentials_provider(provider).build();
        Self::new(&config, clients)
    }

    /// Returns the account of the base credentials. AWS is queried once, in `region`.
    pub(crate) async fn account(&self, region: &str) -> Result<&str, Fault> {
        let account = self.account.get_or_try_init(|| async {
            let sts = aws_sdk_sts::Client::new(&for_sts(&self.config, Some(region)));
            let identity = sts.get_caller_identity().send().await;
            let identity = identity.map_err(|error| of(Call::Read, &error))?;
            identity.account.ok_or_else(|| {
                Fault::new(
                    FaultClass::Transient,
                    "InternalFailure",
                    "GetCallerIdentity named no account",
                )
            })
        });
        Ok(account.await?)
    }

    /// Returns the clients for `region` with the base credentials.
    pub(crate) async fn clients(&self, region: &str) -> Clients {
        let make = async { new_clients(&self.config, region) };
        self.kept(Name::Base, region, make).await
    }

    /// Returns the clients for `region` in a role of `account`. They share a session, which starts when it is first
    /// needed and is renewed before it expires.
    pub(crate) async fn clients_in_role(
        &self,
        account: &str,
        role: &AssumedRole,
        region: &str,
    ) -> Clients {
        let make = async {
            let provider = AssumeRoleProvider::builder(&role.arn)
                .session_name(&role.session_name)
                .configure(&for_sts(&self.config, Some(region)));
            let provider = match &role.external_id {
                Some(external_id) => provider.external_id(external_id),
                None => provider,
            };
            let provider = SharedCredentialsProvider::new(Box::pin(provider.build()).await);
            let config = self.config.to_builder().credentials_provider(provider);
            new_clients(&with_cache(config.build()), region)
        };
        self.kept(Name::Role(account.to_owned()), region, make)
            .await
    }

    /// Returns the clients for `region` with `account` as the access key id.
    pub(crate) async fn emulated_clients(&self, account: &str, region: &str) -> Clients {
        let make = async {
            let provider = SharedCredentialsProvider::new(emulator_credentials(account));
            let config = self.config.to_builder().credentials_provider(provider);
            new_clients(&with_cache(config.build()), region)
        };
        self.kept(Name::Emulated(account.to_owned()), region, make)
            .await
    }

    /// Returns the clients of an identity in `region`, and makes them if they are not kept. One task at a time makes
    /// some, so that a role has one session.
    async fn kept(&self, name: Name, region: &str, make: impl Future<Output = Clients>) -> Clients {
        let key = (self.number, name, region.to_owned());
        if let Some(clients) = locked(&self.clients).get(&key) {
            return clients;
        }
        let _making = self.making.lock().await;
        if let Some(clients) = locked(&self.clients).get(&key) {
            return clients;
        }
        let fresh = make.await;
        locked(&self.clients).insert(key, fresh.clone());
        fresh
    }

    /// Drops the cached session of a role, after AWS has reported that it expired.
    pub(crate) fn forget_session(&self, account: &str, region: &str) {
        let name = Name::Role(account.to_owned());
        let key = (self.number, name, region.to_owned());
        locked(&self.clients).remove(&key);
    }
}

fn locked(clients: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    clients.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Emulators accept any secret.
fn emulator_credentials(account: &str) -> Credentials {
    Credentials::new(account, "emulator", None, None, "ucp")
}

fn new_clients(config: &SdkConfig, region: &str) -> Clients {
    let region = Region::new(region.to_owned());
    let config = config.to_builder().region(region).build();
    Clients {
        cloudcontrol: aws_sdk_cloudcontrol::Client::new(&config),
        cloudformation: aws_sdk_cloudformation::Client::new(&config),
    }
}

/// Returns `config` with an identity cache of its own.
fn with_cache(config: SdkConfig) -> SdkConfig {
    let cache = IdentityCache::lazy()
        .buffer_time(RENEWED_BEFORE)
        .load_timeout(LOAD_TIMEOUT)
        .build();
    config.into_builder().identity_cache(cache).build()
}

/// Returns `config` with the short time-outs of calls to STS.
fn for_sts(config: &SdkConfig, region: Option<&str>) -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .operation_timeout(STS_TIMEOUT)
        .connect_timeout(STS_TIMEOUT)
        .build();
    let mut config = config.to_builder().timeout_config(timeouts);
    if let Some(region) = region {
        config = config.region(Region::new(region.to_owned()));
    }
    config.build()
}

/// Returns credentials of a role for the web identity in `token_file`, which the platform refreshes.
async fn web_identity(
    sts: aws_sdk_sts::Client,
    role_arn: String,
    token_file: PathBuf,
) -> provider::Result {
    let token = tokio::fs::read_to_string(&token_file).await;
    let token = token.map_err(|error| {
        CredentialsError::invalid_configuration(format!(
            "the web identity token {} cannot be read: {error}",
            token_file.display()
        ))
    })?;
    let call = sts.assume_role_with_web_identity().role_arn(role_arn);
    let call = call.role_session_name(WEB_IDENTITY_SESSION);
    let reply = call.web_identity_token(token).send().await;
    let begun = reply
        .map_err(CredentialsError::provider_error)?
        .credentials
        .ok_or_else(|| CredentialsError::unhandled("the reply contains no credentials"))?;
    let expiry = begun
        .expiration
        .try_into()
        .map_err(CredentialsError::unhandled)?;
    Ok(Credentials::new(
        begun.access_key_id,
        begun.secret_access_key,
        Some(begun.session_token),
        Some(expiry),
        "WebIdentity",
    ))
}
