//! Implements the traits of `ucp-cloud` with the AWS SDK. No other crate depends on the SDK.
//!
//! The SDK's own retries are off: `ucp` classifies failures and backs off by itself. Every call has a time-out that is
//! shorter than a worker's lease.
//!
//! The scope of a call determines the credentials that sign it. A plane's stored credential, or else the SDK's default
//! chain, makes a principal (`principal.rs`). The account's role, if any, is assumed on top of it. Unless that check is
//! off, no call is sent about an account that its credentials do not belong to.

mod accounts;
mod calls;
mod clients;
mod connections;
mod credential;
mod fault;
mod principal;
mod signers;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_cloudcontrol::config::http::HttpResponse;
use aws_sdk_cloudcontrol::error::{ProvideErrorMetadata, SdkError};
use tokio::time::Instant;
use ucp_cloud::{Call, Fault};
use ucp_model::{FaultClass, Scope};

use crate::clients::{Clients, Kept};
use crate::fault::{incomplete, of};
use crate::principal::Principal;
use crate::signers::Signers;

pub use accounts::{Account, Accounts, AssumedRole};
pub use clients::LIMITS;
pub use connections::REPLY_MAX_BYTES;
pub use credential::{BaseCredential, CredentialSource};

/// The region of calls that are about no other.
const HOME: &str = "us-east-1";

/// The settings of [`Aws`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// An endpoint to use instead of AWS's own, for emulators.
    pub endpoint_url: Option<String>,
    /// The credentials that sign calls.
    pub credentials: SigningCredentials,
    /// The file in which the platform keeps the web identity token of this process.
    pub web_identity_token_file: PathBuf,
    /// How long a credential stays in use without being read again. Changes are told by
    /// [`Aws::credential_changed`] and [`Aws::credentials_changed`]; this is for those that are not.
    pub credential_max_age: Duration,
    /// Time-out of one call.
    pub call_timeout: Duration,
}

/// The credentials that sign calls.
#[derive(Clone, Debug)]
pub enum SigningCredentials {
    /// Those of the account in the path.
    PerAccount(Accounts),
    /// The account in the path is the access key id, by which local emulators keep accounts apart. Calls of a plane that
    /// could not sign are refused all the same, as with AWS.
    AccountAsAccessKey,
}

/// The longest time to connect to AWS. An address that takes longer does not answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Cloud Control and the CloudFormation registry, over the network.
pub struct Aws {
    config: SdkConfig,
    settings: Settings,
    /// The clients of all principals.
    clients: Arc<Mutex<Kept>>,
    /// The principal of the SDK's default chain.
    ambient: Arc<Principal>,
    /// The signer of each aws plane.
    signers: Signers,
}

/// Everything that a call for one scope needs.
struct Access<'a> {
    clients: Clients,
    /// The role that Cloud Control assumes.
    role_arn: Option<String>,
    /// The principal and the scope of a role session.
    session: Option<(Arc<Principal>, Scope)>,
    /// The deadline of the call.
    deadline: Instant,
    /// The signers, and the plane whose credential signs.
    signers: &'a Signers,
    plane: String,
}

impl Aws {
    /// Loads the configuration. Makes no calls to AWS yet.
    pub async fn connect(settings: Settings, source: Arc<dyn CredentialSource>) -> Self {
        let timeouts = TimeoutConfig::builder()
            .operation_timeout(settings.call_timeout)
            .connect_timeout(settings.call_timeout.min(CONNECT_TIMEOUT))
            .build();
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .region(Region::from_static(HOME))
            .http_client(connections::shared())
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts);
        if let Some(url) = &settings.endpoint_url {
            loader = loader.endpoint_url(url);
        }
        let config = loader.load().await;
        let clients = Arc::default();
        Self {
            ambient: Arc::new(Principal::new(&config, &clients)),
            clients,
            config,
            settings,
            signers: Signers::new(source),
        }
    }

    /// Returns [`FaultClass::Denied`] if the credentials do not belong to the account of the scope. Any other fault
    /// means that this is not known.
    pub async fn verify(&self, scope: &Scope) -> Result<(), Fault> {
        match &self.settings.credentials {
            SigningCredentials::AccountAsAccessKey => self.signer(scope).await.map(drop),
            SigningCredentials::PerAccount(accounts) => {
                self.verified(accounts, scope).await.map(drop)
            }
        }
    }

    /// Returns the principal of the plane of a scope.
    async fn signer(&self, scope: &Scope) -> Result<Arc<Principal>, Fault> {
        let warm = Instant::now().checked_sub(self.settings.credential_max_age);
        self.principal(&scope.plane, warm).await
    }

    /// Returns the principal for a scope. Before it is refused its credential is read again, since a change may have
    /// been missed.
    async fn verified(&self, accounts: &Accounts, scope: &Scope) -> Result<Arc<Principal>, Fault> {
        let began = Instant::now();
        let warm = began.checked_sub(self.settings.credential_max_age);
        let principal = self.principal(&scope.plane, warm).await?;
        let Err(fault) = accounts.verify(&principal, scope).await else {
            return Ok(principal);
        };
        if fault.class != FaultClass::Denied {
            return Err(fault);
        }
        self.signers.doubt(&scope.plane, began);
        let current = self.principal(&scope.plane, warm).await?;
        if Arc::ptr_eq(&current, &principal) {
            return Err(fault);
        }
        accounts.verify(&current, scope).await?;
        Ok(current)
    }

    /// Returns [`FaultClass::Denied`] if AWS does not accept a credential. Any other fault means that this is not known.
    pub async fn identify(&self, credential: &BaseCredential) -> Result<(), Fault> {
        match &self.settings.credentials {
            SigningCredentials::AccountAsAccessKey => Ok(()),
            SigningCredentials::PerAccount(_) => {
                let token_file = self.settings.web_identity_token_file.clone();
                let principal = Principal::of(credential, &self.config, &self.clients, token_file);
                let account = principal.account(HOME).await;
                account.map(drop).map_err(unacceptable)
            }
        }
    }

    /// Returns whether AWS may accept the identity of the process: it has not refused it just now.
    pub async fn may_accept_ambient(&self) -> bool {
        match &self.settings.credentials {
            SigningCredentials::AccountAsAccessKey => true,
            SigningCredentials::PerAccount(_) => match self.ambient.account(HOME).await {
                Ok(_) => true,
                Err(fault) => fault.class != FaultClass::Denied,
            },
        }
    }

    /// Drops what is cached of the credential of an aws plane, which has been changed.
    pub fn credential_changed(&self, plane: &str) {
        self.signers.changed(plane);
    }

    /// Drops what is cached of all credentials, any of which may have been changed.
    pub fn credentials_changed(&self) {
        self.signers.any_changed();
    }

    async fn access(&self, scope: &Scope) -> Result<Access<'_>, Fault> {
        let opened = tokio::time::timeout(self.settings.call_timeout, self.open(scope)).await;
        opened.unwrap_or_else(|_| {
            Err(Fault::new(
                FaultClass::Transient,
                "ServiceUnavailable",
                "The credentials to sign with could not be determined in time.",
            ))
        })
    }

    async fn open(&self, scope: &Scope) -> Result<Access<'_>, Fault> {
        let Scope {
            account, region, ..
        } = scope;
        let deadline = Instant::now() + self.settings.call_timeout;
        let access = |clients, role_arn, session| Access {
            clients,
            role_arn,
            session,
            deadline,
            signers: &self.signers,
            plane: scope.plane.clone(),
        };
        let accounts = match &self.settings.credentials {
            SigningCredentials::AccountAsAccessKey => {
                self.signer(scope).await?;
                let clients = self.ambient.emulated_clients(account, region).await;
                return Ok(access(clients, None, None));
            }
            SigningCredentials::PerAccount(accounts) => accounts,
        };
        let principal = self.verified(accounts, scope).await?;
        let mapped = accounts.by_id.get(account);
        let role_arn = mapped.and_then(|mapped| mapped.cloud_control_role_arn.clone());
        if let Some(role) = mapped.and_then(|mapped| mapped.role.as_ref()) {
            let clients = principal.clients_in_role(account, role, region).await;
            return Ok(access(clients, role_arn, Some((principal, scope.clone()))));
        }
        Ok(access(principal.clients(region).await, role_arn, None))
    }

    /// Returns the principal of an aws plane as its credential was at `since` or later.
    async fn principal(
        &self,
        plane: &str,
        since: Option<Instant>,
    ) -> Result<Arc<Principal>, Fault> {
        let make = |credential: Option<&BaseCredential>| match credential {
            None => Arc::clone(&self.ambient),
            Some(credential) => {
                let token_file = self.settings.web_identity_token_file.clone();
                Arc::new(Principal::of(
                    credential,
                    &self.config,
                    &self.clients,
                    token_file,
                ))
            }
        };
        self.signers.principal(plane, since, make).await
    }
}

impl Accounts {
    /// Ensures that a call reaches the account that it names. A role leads to its account.
    async fn verify(&self, principal: &Principal, scope: &Scope) -> Result<(), Fault> {
        let mapped = self.by_id.get(&scope.account);
        let role = mapped.and_then(|mapped| mapped.role.as_ref());
        if let Some(plane) = role.and_then(|role| role.only_plane())
            && !plane.eq_ignore_ascii_case(&scope.plane)
        {
            return Err(of_another_plane(plane, scope));
        }
        if !self.verify || mapped.is_some_and(|mapped| mapped.role.is_some()) {
            return Ok(());
        }
        verify_account(principal, scope).await
    }
}

/// Ensures that the credentials of a principal belong to the account of the scope.
async fn verify_account(principal: &Principal, scope: &Scope) -> Result<(), Fault> {
    let account = principal.account(&scope.region).await;
    let account = account.map_err(|fault| unidentified(fault, scope))?;
    if account == scope.account {
        return Ok(());
    }
    let named = &scope.account;
    Err(Fault::new(
        FaultClass::Denied,
        ucp_model::ErrorCode::AccountMismatch,
        format!(
            "The path names the account {named}, but ucp's credentials belong to the account {account}. Use {account} in the path, give ucp credentials of {named}, or configure a role to assume: role_arn under [accounts.{named}] in its configuration file."
        ),
    ))
}

/// The fault if the role of an account is for the credential of another plane.
fn of_another_plane(plane: &str, scope: &Scope) -> Fault {
    let Scope {
        account,
        plane: named,
        ..
    } = scope;
    Fault::new(
        FaultClass::Denied,
        ucp_model::ErrorCode::AccountMismatch,
        format!(
            "The role of the account {account} is assumed with the credential of the plane '{plane}' alone, and the path names the plane '{named}'. Use /planes/aws/{plane}, or set plane under [accounts.{account}] in the configuration file of ucp."
        ),
    )
}

/// The fault if a credential cannot be put in the place of another.
fn unacceptable(fault: Fault) -> Fault {
    let Fault { code, message, .. } = &fault;
    match fault.class {
        FaultClass::Denied | FaultClass::AlreadyExists | FaultClass::Rejected => Fault::new(
            FaultClass::Denied,
            "InvalidCredentials",
            format!("AWS does not accept the credential ({code}: {message})."),
        ),
        FaultClass::Throttled
        | FaultClass::Transient
        | FaultClass::OutcomeUnknown
        | FaultClass::Concurrent
        | FaultClass::TokenConflict
        | FaultClass::TokenUnknown
        | FaultClass::Missing => Fault::new(
            FaultClass::Transient,
            "ServiceUnavailable",
            format!(
                "Whether AWS accepts the credential is not known: STS did not answer ({code}: {message})."
            ),
        ),
    }
}

/// The fault if the account of the credentials cannot be determined.
fn unidentified(fault: Fault, scope: &Scope) -> Fault {
    let Fault { code, message, .. } = &fault;
    match fault.class {
        FaultClass::Denied | FaultClass::AlreadyExists | FaultClass::Rejected => Fault::new(
            FaultClass::Denied,
            "InvalidCredentials",
            format!(
                "AWS does not accept ucp's credentials ({code}: {message}). Put valid ones to /planes/aws/{}/providers/System.AWS/credentials/default, or correct those in its environment.",
                scope.plane
            ),
        ),
        FaultClass::Throttled
        | FaultClass::Transient
        | FaultClass::OutcomeUnknown
        | FaultClass::Concurrent
        | FaultClass::TokenConflict
        | FaultClass::TokenUnknown
        | FaultClass::Missing => Fault::new(
            FaultClass::Transient,
            "ServiceUnavailable",
            format!(
                "The account of ucp's credentials is not known yet: STS in {} did not return it ({code}: {message}). Try again.",
                scope.region
            ),
        ),
    }
}

impl Access<'_> {
    /// Sends a call and returns its reply, if it arrives before the deadline.
    async fn sent<T, E>(
        self,
        call: Call,
        sending: impl Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    ) -> Result<T, Fault>
    where
        E: std::error::Error + ProvideErrorMetadata + Send + Sync + 'static,
    {
        let reply = tokio::time::timeout_at(self.deadline, sending).await;
        let reply = reply.map_err(|_| incomplete(call, "no reply arrived in time"))?;
        let fault = match reply {
            Ok(reply) => return Ok(reply),
            Err(error) => of(call, &error),
        };
        if fault.class == FaultClass::Denied {
            self.signers.doubt(&self.plane, Instant::now());
        }
        match (fault, self.session) {
            // Refused before any work was done: AWS's clock is ahead of ours, or the session was revoked.
            (fault, Some((principal, scope)))
                if fault.class == FaultClass::Denied
                    && matches!(
                        fault.code.as_str(),
                        "ExpiredToken" | "ExpiredTokenException"
                    ) =>
            {
                principal.forget_session(&scope.account, &scope.region);
                Err(Fault {
                    class: FaultClass::Transient,
                    ..fault
                })
            }
            (fault, _) => Err(fault),
        }
    }
}
