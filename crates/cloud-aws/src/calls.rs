//! The calls of the SDK, and their replies in the terms of `ucp-model`.

use async_trait::async_trait;
use aws_sdk_cloudcontrol::types::{
    HookProgressEvent, Operation, OperationStatus, ProgressEvent, ResourceRequestStatusFilter,
};
use aws_sdk_cloudformation::types::{ProvisioningType, RegistryType};
use ucp_cloud::{Call, CloudControl, Fault, TypeDescription, TypeRegistry};
use ucp_model::json::private_name;
use ucp_model::{
    Action, ClientToken, HandlerErrorCode, HookFailure, Identifier, Progress, ProgressStatus,
    RequestPage, RequestToken, ResourceDescription, ResourcePage, Scope, Timestamp, TypeName,
};

use crate::Aws;
use crate::fault::incomplete;

/// The requests on a page, which is the most that AWS lists at once.
const REQUESTS_ON_PAGE: i32 = 100;

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
    ) -> Result<ResourceDescription, Fault> {
        let access = self.access(scope).await?;
        let call = access.clients.cloudcontrol.get_resource();
        let call = call
            .type_name(type_name.as_str())
            .identifier(identifier.as_str())
            .set_role_arn(access.role_arn.clone());
        let reply = access.sent(Call::Read, call.send()).await?;
        let described = reply.resource_description.and_then(described);
        described.ok_or_else(|| incomplete(Call::Read, "GetResource returned no readable resource"))
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

    async fn list_resource_requests(
        &self,
        scope: &Scope,
        next_token: Option<&str>,
    ) -> Result<RequestPage, Fault> {
        let access = self.access(scope).await?;
        let in_flight = ResourceRequestStatusFilter::builder()
            .operation_statuses(OperationStatus::Pending)
            .operation_statuses(OperationStatus::InProgress)
            .operation_statuses(OperationStatus::CancelInProgress);
        let call = access.clients.cloudcontrol.list_resource_requests();
        let call = call
            .max_results(REQUESTS_ON_PAGE)
            .set_next_token(next_token.map(str::to_owned))
            .resource_request_status_filter(in_flight.build());
        let reply = access.sent(Call::Read, call.send()).await?;
        let listed = reply.resource_request_status_summaries.unwrap_or_default();
        let requests = listed
            .into_iter()
            .map(|event| progress(Call::Read, Some(event), Vec::new()));
        Ok(RequestPage {
            requests: requests.collect::<Result<_, Fault>>()?,
            next_token: reply.next_token.filter(|token| !token.is_empty()),
        })
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
    let properties = description.properties?;
    // It would be read as something else.
    let is_as_sent = private_name(properties.as_bytes()).is_none();
    let properties = is_as_sent.then(|| serde_json::from_str(&properties).ok())??;
    Some(ResourceDescription {
        identifier: Identifier::new(description.identifier?),
        properties,
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
        type_name: event
            .type_name
            .and_then(|name| TypeName::from_cloudformation(&name).ok()),
        action: event.operation.and_then(|operation| match operation {
            Operation::Create => Some(Action::Create),
            Operation::Update => Some(Action::Update),
            Operation::Delete => Some(Action::Delete),
            _ => None,
        }),
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
