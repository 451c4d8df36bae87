//! Implements the traits of `ucp-cloud` with the AWS SDK. No other crate depends on the SDK.
//!
//! The SDK's own retries are off: `ucp` classifies failures and backs off by itself. Every call has a time-out that is
//! shorter than a worker's lease.
//!
//! The scope of a call determines the credentials that sign it. A plane's stored credential, or else the SDK's default
//! chain, makes a principal (`principal.rs`). The account's role, if any, is assumed on top of it. Unless that check is
//! off, no call is sent about an account that its credentials do not belong to.

mod accounts;
mod credential;
mod fault;
mod principal;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_cloudcontrol::config::http::HttpResponse;
use aws_sdk_cloudcontrol::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_cloudcontrol::types::{HookProgressEvent, OperationStatus, ProgressEvent};
use aws_sdk_cloudformation::types::{ProvisioningType, RegistryType};

use serde_json::Value;
use tokio::time::Instant;
use ucp_cloud::{Call, CloudControl, Fault, TypeDescription, TypeRegistry};
use ucp_model::{
    ClientToken, FaultClass, HandlerErrorCode, HookFailure, Identifier, Progress, ProgressStatus,
    RequestToken, ResourceDescription, ResourcePage, Scope, Timestamp, TypeName,
};

use crate::fault::{incomplete, of};
use crate::principal::{Clients, Principal};

pub use accounts::{Account, Accounts, AssumedRole};
pub use credential::{BaseCredential, CredentialSource};

/// The settings of [`Aws`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// An endpoint to use instead of AWS's own, for emulators.
    pub endpoint_url: Option<String>,
    /// The credentials that sign calls.
    pub credentials: SigningCredentials,
    /// The file in which the platform keeps the web identity token of this process.
    pub web_identity_token_file: PathBuf,
    /// How long a credential stays in use after another process has changed it.
    pub credential_max_age: Duration,
    /// Time-out of one call.
    pub call_timeout: Duration,
}

/// The credentials that sign calls.
#[derive(Clone, Debug)]
pub enum SigningCredentials {
    /// Those of the account in the path.
    PerAccount(Accounts),
    /// The account in the path is the access key id, by which local emulators keep accounts apart.
    AccountAsAccessKey,
}

/// Cloud Control and the CloudFormation registry, over the network.
pub struct Aws {
    config: SdkConfig,
    settings: Settings,
    source: Arc<dyn CredentialSource>,
    /// The principal of the SDK's default chain.
    ambient: Arc<Principal>,
    /// The signer of each aws plane, by its folded name.
    signers: Mutex<BTreeMap<String, Signer>>,
}

/// The signer of calls for an aws plane.
struct Signer {
    credential: Option<BaseCredential>,
    principal: Arc<Principal>,
    /// When the source was queried.
    asked_at: Instant,
}

/// Everything that a call for one scope needs.
struct Access {
    clients: Clients,
    /// The role that Cloud Control assumes.
    role_arn: Option<String>,
    /// The principal and the scope of a role session.
    session: Option<(Arc<Principal>, Scope)>,
    /// The deadline of the call.
    deadline: Instant,
}

impl Aws {
    /// Loads the configuration. Makes no calls to AWS yet.
    pub async fn connect(settings: Settings, source: Arc<dyn CredentialSource>) -> Self {
        let timeouts = TimeoutConfig::builder()
            .operation_timeout(settings.call_timeout)
            .connect_timeout(settings.call_timeout.min(Duration::from_secs(5)))
            .build();
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts);
        if let Some(url) = &settings.endpoint_url {
            loader = loader.endpoint_url(url);
        }
        let config = loader.load().await;
        Self {
            ambient: Arc::new(Principal::new(&config)),
            config,
            settings,
            source,
            signers: Mutex::default(),
        }
    }

    /// Returns [`FaultClass::Denied`] if the credentials do not belong to the account of the scope. Any other fault
    /// means that this is not known. A credential that was just changed is taken into account.
    pub async fn verify(&self, scope: &Scope) -> Result<(), Fault> {
        self.open(scope, Duration::ZERO).await.map(drop)
    }

    async fn access(&self, scope: &Scope) -> Result<Access, Fault> {
        let opening = self.open(scope, self.settings.credential_max_age);
        let opened = tokio::time::timeout(self.settings.call_timeout, opening).await;
        opened.unwrap_or_else(|_| {
            Err(Fault::new(
                FaultClass::Transient,
                "ServiceUnavailable",
                "The credentials to sign with could not be determined in time.",
            ))
        })
    }

    async fn open(&self, scope: &Scope, max_age: Duration) -> Result<Access, Fault> {
        let Scope {
            account, region, ..
        } = scope;
        let deadline = Instant::now() + self.settings.call_timeout;
        let access = |clients, role_arn, session| Access {
            clients,
            role_arn,
            session,
            deadline,
        };
        let accounts = match &self.settings.credentials {
            SigningCredentials::AccountAsAccessKey => {
                let clients = self.ambient.emulated_clients(account, region).await;
                return Ok(access(clients, None, None));
            }
            SigningCredentials::PerAccount(accounts) => accounts,
        };
        let principal = self.principal(&scope.plane, max_age).await?;
        let mapped = accounts.by_id.get(account);
        let role_arn = mapped.and_then(|mapped| mapped.cloud_control_role_arn.clone());
        if let Some(role) = mapped.and_then(|mapped| mapped.role.as_ref()) {
            let clients = principal.clients_in_role(account, role, region).await;
            return Ok(access(clients, role_arn, Some((principal, scope.clone()))));
        }
        if accounts.verify {
            verify_account(&principal, scope).await?;
        }
        Ok(access(principal.clients(region).await, role_arn, None))
    }

    /// Returns the principal of an aws plane, from a cache entry no older than `max_age`.
    async fn principal(&self, plane: &str, max_age: Duration) -> Result<Arc<Principal>, Fault> {
        let key = plane.to_ascii_lowercase();
        let asked_at = Instant::now();
        if let Some(signer) = self.signers().get(&key)
            && asked_at.duration_since(signer.asked_at) < max_age
        {
            return Ok(Arc::clone(&signer.principal));
        }
        let credential = self.source.base_credential(plane).await?;
        let mut signers = self.signers();
        // Callers can name any number of planes without a credential.
        signers.retain(|_, signer| {
            signer.credential.is_some() || asked_at.duration_since(signer.asked_at) < max_age
        });
        let principal = match (&credential, signers.get(&key)) {
            // A later query has already updated the entry.
            (_, Some(known)) if known.asked_at > asked_at => {
                return Ok(Arc::clone(&known.principal));
            }
            (None, _) => Arc::clone(&self.ambient),
            (Some(_), Some(known)) if known.credential == credential => {
                Arc::clone(&known.principal)
            }
            (Some(credential), _) => {
                let token_file = self.settings.web_identity_token_file.clone();
                Arc::new(Principal::of(credential, &self.config, token_file))
            }
        };
        let signer = Signer {
            credential,
            principal: Arc::clone(&principal),
            asked_at,
        };
        signers.insert(key, signer);
        Ok(principal)
    }

    fn signers(&self) -> MutexGuard<'_, BTreeMap<String, Signer>> {
        self.signers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ensures that a call reaches the account that it names.
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

impl Access {
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
        match (fault, self.session) {
            // Refused before any work was done: AWS's clock is ahead of ours, or the session was revoked.
            (fault, Some((principal, scope)))
                if fault.class == FaultClass::Denied
                    && matches!(
                        fault.code.as_str(),
                        "ExpiredToken" | "ExpiredTokenException"
                    ) =>
            {
                principal
                    .forget_session(&scope.account, &scope.region)
                    .await;
                Err(Fault {
                    class: FaultClass::Transient,
                    ..fault
                })
            }
            (fault, _) => Err(fault),
        }
    }
}

#[async_trait]
impl CloudControl for Aws {
    async fn create_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        desired_state: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudcontrol.create_resource();
        let call = call
            .type_name(type_name.as_str())
            .desired_state(desired_state);
        let call = call
            .client_token(client_token.to_string())
            .set_role_arn(access.role_arn.clone());
        let reply = access.sent(Call::Mutation, call.send()).await?;
        progress(Call::Mutation, reply.progress_event, Vec::new())
    }

    async fn update_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        patch_document: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudcontrol.update_resource();
        let call = call
            .type_name(type_name.as_str())
            .identifier(identifier.as_str());
        let call = call
            .patch_document(patch_document)
            .client_token(client_token.to_string())
            .set_role_arn(access.role_arn.clone());
        let reply = access.sent(Call::Mutation, call.send()).await?;
        progress(Call::Mutation, reply.progress_event, Vec::new())
    }

    async fn delete_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudcontrol.delete_resource();
        let call = call
            .type_name(type_name.as_str())
            .identifier(identifier.as_str());
        let call = call
            .client_token(client_token.to_string())
            .set_role_arn(access.role_arn.clone());
        let reply = access.sent(Call::Mutation, call.send()).await?;
        progress(Call::Mutation, reply.progress_event, Vec::new())
    }

    async fn get_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<Value, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudcontrol.get_resource();
        let call = call
            .type_name(type_name.as_str())
            .identifier(identifier.as_str())
            .set_role_arn(access.role_arn.clone());
        let reply = access.sent(Call::Read, call.send()).await?;
        let described = reply.resource_description.and_then(described);
        let described = described
            .ok_or_else(|| incomplete(Call::Read, "GetResource returned no readable properties"))?;
        Ok(described.properties)
    }

    async fn list_resources(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudcontrol.list_resources();
        let call = call
            .type_name(type_name.as_str())
            .set_next_token(next_token.map(str::to_owned))
            .set_role_arn(access.role_arn.clone());
        let reply = access.sent(Call::Read, call.send()).await?;
        let listed = reply.resource_descriptions.unwrap_or_default().into_iter();
        let resources = listed.map(described).collect::<Option<_>>();
        Ok(ResourcePage {
            resources: resources.ok_or_else(|| {
                incomplete(Call::Read, "ListResources returned an unreadable resource")
            })?,
            next_token: reply.next_token.filter(|token| !token.is_empty()),
        })
    }

    async fn get_resource_request_status(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudcontrol.get_resource_request_status();
        let call = call.request_token(request_token.as_str());
        let reply = access.sent(Call::Read, call.send()).await?;
        let hooks = reply.hooks_progress_event.unwrap_or_default();
        let failed = hooks.into_iter().filter_map(hook_failure).collect();
        progress(Call::Read, reply.progress_event, failed)
    }

    async fn cancel_resource_request(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudcontrol.cancel_resource_request();
        let call = call.request_token(request_token.as_str());
        let reply = access.sent(Call::Read, call.send()).await?;
        progress(Call::Read, reply.progress_event, Vec::new())
    }
}

#[async_trait]
impl TypeRegistry for Aws {
    async fn describe_type(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<TypeDescription, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudformation.describe_type();
        let call = call
            .r#type(RegistryType::Resource)
            .type_name(type_name.as_str());
        let reply = access.sent(Call::Read, call.send()).await?;
        let is_provisioned = reply.provisioning_type != Some(ProvisioningType::NonProvisionable);
        let schema = reply
            .schema
            .ok_or_else(|| incomplete(Call::Read, "DescribeType returned no schema"))?;
        Ok(TypeDescription {
            schema,
            is_provisioned,
        })
    }
}

/// Converts AWS's description of a resource; `None` if its properties cannot be read.
fn described(
    description: aws_sdk_cloudcontrol::types::ResourceDescription,
) -> Option<ResourceDescription> {
    Some(ResourceDescription {
        identifier: Identifier::new(description.identifier?),
        properties: serde_json::from_str(&description.properties?).ok()?,
    })
}

/// Converts a hook that did not succeed; `None` for any other.
fn hook_failure(event: HookProgressEvent) -> Option<HookFailure> {
    let status = event.hook_status?;
    HookFailure::STATUSES
        .contains(&status.as_str())
        .then_some(HookFailure {
            type_name: event.hook_type_name,
            type_arn: event.hook_type_arn,
            type_version_id: event.hook_type_version_id,
            invocation_point: event.invocation_point,
            status,
            failure_mode: event.failure_mode,
            message: event.hook_status_message,
        })
}

/// Converts the progress event of a reply, with the hooks that did not succeed.
fn progress(
    call: Call,
    event: Option<ProgressEvent>,
    hooks: Vec<HookFailure>,
) -> Result<Progress, Fault> {
    let event = event.ok_or_else(|| incomplete(call, "the reply contains no progress event"))?;
    let request_token = event
        .request_token
        .ok_or_else(|| incomplete(call, "the reply contains no request token"))?;
    let status = match event.operation_status {
        Some(OperationStatus::Success) => ProgressStatus::Success,
        Some(OperationStatus::CancelComplete) => ProgressStatus::Canceled,
        Some(OperationStatus::Failed) => ProgressStatus::Failed {
            code: HandlerErrorCode::of(
                event
                    .error_code
                    .as_ref()
                    .map_or("InternalFailure", |code| code.as_str()),
            ),
            message: event
                .status_message
                .unwrap_or_else(|| "AWS reports failure without a message.".to_owned()),
            hooks,
        },
        _ => ProgressStatus::Running,
    };
    Ok(Progress {
        request_token: RequestToken::new(request_token),
        status,
        identifier: event
            .identifier
            .filter(|text| !text.is_empty())
            .map(Identifier::new),
        retry_after: event
            .retry_after
            .and_then(|moment| moment.to_millis().ok())
            .map(Timestamp::from_millis),
    })
}
