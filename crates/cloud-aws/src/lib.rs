//! The AWS SDK behind `ucp-cloud`'s traits, and the only crate that knows it.
//!
//! The SDK's own retries are off: our classes of failure and our back-off decide. Every call has a time-out, so that a
//! worker's lease outlasts it.

mod fault;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_credential_types::Credentials;
use aws_sdk_cloudcontrol::types::{HandlerErrorCode, OperationStatus, ProgressEvent};
use aws_sdk_cloudformation::types::RegistryType;
use serde_json::Value;
use ucp_cloud::{Call, CloudControl, Fault, TypeRegistry};
use ucp_model::{
    ClientToken, Identifier, Progress, ProgressStatus, RequestToken, ResourceDescription,
    ResourcePage, Scope, Timestamp, TypeName,
};

use crate::fault::{incomplete, of};

/// How to reach AWS.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Another endpoint than AWS's own, for emulators.
    pub endpoint_url: Option<String>,
    /// With which credentials calls are signed.
    pub credentials: SigningCredentials,
    /// How long one call may take.
    pub call_timeout: Duration,
}

/// With which credentials calls are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigningCredentials {
    /// `aws-config`'s default chain: environment, profile, container, instance.
    DefaultChain,
    /// The account in the path is the access key id: the convention of local emulators to keep accounts apart.
    AccountAsAccessKey,
}

/// Cloud Control and the CloudFormation registry, over the network.
#[derive(Debug)]
pub struct Aws {
    config: SdkConfig,
    credentials: SigningCredentials,
    clients: Mutex<BTreeMap<(String, String), Clients>>,
}

#[derive(Clone, Debug)]
struct Clients {
    cloudcontrol: aws_sdk_cloudcontrol::Client,
    cloudformation: aws_sdk_cloudformation::Client,
}

impl Aws {
    /// Loads the configuration; nothing is called yet.
    pub async fn connect(settings: Settings) -> Self {
        let timeouts = TimeoutConfig::builder()
            .operation_timeout(settings.call_timeout)
            .connect_timeout(settings.call_timeout.min(Duration::from_secs(5)))
            .build();
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts);
        if let Some(url) = settings.endpoint_url {
            loader = loader.endpoint_url(url);
        }
        if settings.credentials == SigningCredentials::AccountAsAccessKey {
            loader = loader.credentials_provider(emulator_credentials("000000000000"));
        }
        Self {
            config: loader.load().await,
            credentials: settings.credentials,
            clients: Mutex::default(),
        }
    }

    fn clients(&self, scope: &Scope) -> Clients {
        let account = match self.credentials {
            SigningCredentials::DefaultChain => String::new(),
            SigningCredentials::AccountAsAccessKey => scope.account.clone(),
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (account, scope.region.clone());
        clients
            .entry(key)
            .or_insert_with_key(|(account, region)| self.new_clients(account, region))
            .clone()
    }

    fn new_clients(&self, account: &str, region: &str) -> Clients {
        let region = Region::new(region.to_owned());
        let mut cloudcontrol =
            aws_sdk_cloudcontrol::config::Builder::from(&self.config).region(region.clone());
        let mut cloudformation =
            aws_sdk_cloudformation::config::Builder::from(&self.config).region(region);
        if self.credentials == SigningCredentials::AccountAsAccessKey {
            cloudcontrol = cloudcontrol.credentials_provider(emulator_credentials(account));
            cloudformation = cloudformation.credentials_provider(emulator_credentials(account));
        }
        Clients {
            cloudcontrol: aws_sdk_cloudcontrol::Client::from_conf(cloudcontrol.build()),
            cloudformation: aws_sdk_cloudformation::Client::from_conf(cloudformation.build()),
        }
    }
}

/// Emulators take any secret.
fn emulator_credentials(account: &str) -> Credentials {
    Credentials::new(account, "emulator", None, None, "ucp")
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
        let call = self.clients(scope).cloudcontrol.create_resource();
        let call = call
            .type_name(type_name.as_str())
            .desired_state(desired_state);
        let reply = call.client_token(client_token.to_string()).send().await;
        progress(
            Call::Mutation,
            reply
                .map_err(|error| of(Call::Mutation, error))?
                .progress_event,
        )
    }

    async fn update_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        patch_document: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let call = self.clients(scope).cloudcontrol.update_resource();
        let call = call
            .type_name(type_name.as_str())
            .identifier(identifier.as_str());
        let call = call
            .patch_document(patch_document)
            .client_token(client_token.to_string());
        let reply = call.send().await;
        progress(
            Call::Mutation,
            reply
                .map_err(|error| of(Call::Mutation, error))?
                .progress_event,
        )
    }

    async fn delete_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let call = self.clients(scope).cloudcontrol.delete_resource();
        let call = call
            .type_name(type_name.as_str())
            .identifier(identifier.as_str());
        let reply = call.client_token(client_token.to_string()).send().await;
        progress(
            Call::Mutation,
            reply
                .map_err(|error| of(Call::Mutation, error))?
                .progress_event,
        )
    }

    async fn get_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<Value, Fault> {
        let call = self.clients(scope).cloudcontrol.get_resource();
        let call = call
            .type_name(type_name.as_str())
            .identifier(identifier.as_str());
        let reply = call.send().await.map_err(|error| of(Call::Read, error))?;
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
        let call = self.clients(scope).cloudcontrol.list_resources();
        let call = call
            .type_name(type_name.as_str())
            .set_next_token(next_token.map(str::to_owned));
        let reply = call.send().await.map_err(|error| of(Call::Read, error))?;
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
        let call = self
            .clients(scope)
            .cloudcontrol
            .get_resource_request_status();
        let reply = call.request_token(request_token.as_str()).send().await;
        progress(
            Call::Read,
            reply.map_err(|error| of(Call::Read, error))?.progress_event,
        )
    }

    async fn cancel_resource_request(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let call = self.clients(scope).cloudcontrol.cancel_resource_request();
        let reply = call.request_token(request_token.as_str()).send().await;
        progress(
            Call::Read,
            reply.map_err(|error| of(Call::Read, error))?.progress_event,
        )
    }
}

#[async_trait]
impl TypeRegistry for Aws {
    async fn describe_type(&self, scope: &Scope, type_name: &TypeName) -> Result<String, Fault> {
        let call = self.clients(scope).cloudformation.describe_type();
        let call = call
            .r#type(RegistryType::Resource)
            .type_name(type_name.as_str());
        let reply = call.send().await.map_err(|error| of(Call::Read, error))?;
        reply
            .schema
            .ok_or_else(|| incomplete(Call::Read, "DescribeType returned no schema"))
    }
}

/// A resource as AWS describes it; none when its properties cannot be read.
fn described(
    description: aws_sdk_cloudcontrol::types::ResourceDescription,
) -> Option<ResourceDescription> {
    Some(ResourceDescription {
        identifier: Identifier::new(description.identifier?),
        properties: serde_json::from_str(&description.properties?).ok()?,
    })
}

/// The progress event of a reply.
fn progress(call: Call, event: Option<ProgressEvent>) -> Result<Progress, Fault> {
    let event = event.ok_or_else(|| incomplete(call, "the reply holds no progress event"))?;
    let request_token = event
        .request_token
        .ok_or_else(|| incomplete(call, "the reply holds no request token"))?;
    let status = match event.operation_status {
        Some(OperationStatus::Success) => ProgressStatus::Success,
        Some(OperationStatus::CancelComplete) => ProgressStatus::Canceled,
        Some(OperationStatus::Failed) => ProgressStatus::Failed {
            code: event
                .error_code
                .as_ref()
                .map_or("InternalFailure", HandlerErrorCode::as_str)
                .to_owned(),
            message: event
                .status_message
                .unwrap_or_else(|| "AWS reports failure without a message.".to_owned()),
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
