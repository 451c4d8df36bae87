//! The simulator without a network, behind the traits with which `ucp` calls AWS.

use async_trait::async_trait;
use ucp_cloud::{Call, CloudControl, Fault, TypeDescription, TypeRegistry, fault_of};
use ucp_model::{
    Action, ClientToken, FaultClass, HandlerErrorCode, HookFailure, Identifier, Progress,
    ProgressStatus, RequestPage, RequestToken, ResourceDescription, ResourcePage, Scope, TypeName,
};

use crate::exception::{Exception, ExceptionCode};
use crate::progress::{HookProgressEvent, Operation, OperationStatus, ProgressEvent};
use crate::request::{self, Caller, Reply, Request};
use crate::simulator::Simulator;
use crate::world::Outcome;

#[async_trait]
impl CloudControl for Simulator {
    async fn create_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        desired_state: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let request = Request::CreateResource(request::CreateResource {
            type_name: type_name.to_string(),
            desired_state: desired_state.to_owned(),
            client_token: Some(client_token.to_string()),
            role_arn: None,
        });
        progress(self.direct(scope, &request).await?)
    }

    async fn update_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        patch_document: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let request = Request::UpdateResource(request::UpdateResource {
            type_name: type_name.to_string(),
            identifier: identifier.to_string(),
            patch_document: patch_document.to_owned(),
            client_token: Some(client_token.to_string()),
            role_arn: None,
        });
        progress(self.direct(scope, &request).await?)
    }

    async fn delete_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let request = Request::DeleteResource(request::DeleteResource {
            type_name: type_name.to_string(),
            identifier: identifier.to_string(),
            client_token: Some(client_token.to_string()),
            role_arn: None,
        });
        progress(self.direct(scope, &request).await?)
    }

    async fn get_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        let request = Request::GetResource(request::GetResource {
            type_name: type_name.to_string(),
            identifier: identifier.to_string(),
            role_arn: None,
        });
        match self.direct(scope, &request).await? {
            Reply::Resource { resource, .. } => described(resource),
            _ => Err(unexpected()),
        }
    }

    async fn list_resources(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        let request = Request::ListResources(request::ListResources {
            type_name: type_name.to_string(),
            next_token: next_token.map(str::to_owned),
            ..request::ListResources::default()
        });
        let Reply::Resources {
            resources,
            next_token,
            ..
        } = self.direct(scope, &request).await?
        else {
            return Err(unexpected());
        };
        let resources = resources.into_iter().map(described);
        Ok(ResourcePage {
            resources: resources.collect::<Result<_, Fault>>()?,
            next_token,
        })
    }

    async fn get_resource_request_status(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let request = Request::GetResourceRequestStatus(request::RequestToken {
            request_token: request_token.to_string(),
        });
        progress(self.direct(scope, &request).await?)
    }

    async fn list_resource_requests(
        &self,
        scope: &Scope,
        next_token: Option<&str>,
    ) -> Result<RequestPage, Fault> {
        let in_flight = request::StatusFilter {
            operations: None,
            operation_statuses: Some(vec![
                OperationStatus::Pending,
                OperationStatus::InProgress,
                OperationStatus::CancelInProgress,
            ]),
        };
        let request = Request::ListResourceRequests(request::ListResourceRequests {
            max_results: Some(100),
            next_token: next_token.map(str::to_owned),
            resource_request_status_filter: Some(in_flight),
        });
        let reply = self.direct(scope, &request).await?;
        let Reply::Requests {
            requests,
            next_token,
        } = reply
        else {
            return Err(unexpected());
        };
        Ok(RequestPage {
            requests: requests.into_iter().map(told).collect(),
            next_token,
        })
    }

    async fn cancel_resource_request(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let request = Request::CancelResourceRequest(request::RequestToken {
            request_token: request_token.to_string(),
        });
        progress(self.direct(scope, &request).await?)
    }
}

#[async_trait]
impl TypeRegistry for Simulator {
    async fn describe_type(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<TypeDescription, Fault> {
        let request = Request::DescribeType(request::DescribeType {
            kind: Some("RESOURCE".to_owned()),
            type_name: Some(type_name.to_string()),
            arn: None,
        });
        match self.direct(scope, &request).await? {
            Reply::Type {
                schema,
                description,
            } => Ok(TypeDescription {
                schema,
                is_provisioned: description.provisioning_type != "NON_PROVISIONABLE",
            }),
            _ => Err(unexpected()),
        }
    }
}

impl Simulator {
    async fn direct(&self, scope: &Scope, request: &Request) -> Result<Reply, Fault> {
        let caller = Caller::new(&scope.account, &scope.region);
        match self.answer(&caller, request).await {
            Outcome::Replied(reply) => Ok(reply),
            Outcome::Refused(exception) => Err(fault(request, exception)),
            Outcome::Dropped | Outcome::Hung => Err(lost(request)),
        }
    }
}

fn progress(reply: Reply) -> Result<Progress, Fault> {
    let Reply::Progress(event) = reply else {
        return Err(unexpected());
    };
    Ok(told(event))
}

fn told(event: ProgressEvent) -> Progress {
    Progress {
        status: status(&event),
        request_token: RequestToken::new(event.request_token),
        type_name: TypeName::from_cloudformation(&event.type_name).ok(),
        action: Some(match event.operation {
            Operation::Create => Action::Create,
            Operation::Update => Action::Update,
            Operation::Delete => Action::Delete,
        }),
        identifier: event.identifier.map(Identifier::new),
        retry_after: event.retry_after,
    }
}

fn status(event: &ProgressEvent) -> ProgressStatus {
    match event.operation_status {
        OperationStatus::Pending
        | OperationStatus::InProgress
        | OperationStatus::CancelInProgress => ProgressStatus::Running,
        OperationStatus::Success => ProgressStatus::Success,
        OperationStatus::CancelComplete => ProgressStatus::Canceled,
        OperationStatus::Failed => ProgressStatus::Failed {
            code: HandlerErrorCode::of(
                &event
                    .error_code
                    .map(|code| code.to_string())
                    .unwrap_or_default(),
            ),
            message: event.status_message.clone().unwrap_or_default(),
            hooks: event.hooks.iter().filter_map(hook_failure).collect(),
        },
    }
}

/// Converts a hook event to the model's type, if the hook did not succeed.
fn hook_failure(event: &HookProgressEvent) -> Option<HookFailure> {
    let status = event.hook_status.as_str();
    HookFailure::STATUSES
        .contains(&status)
        .then(|| HookFailure {
            type_name: Some(event.hook_type_name.clone()),
            type_arn: Some(event.hook_type_arn.clone()),
            type_version_id: Some(event.hook_type_version_id.clone()),
            invocation_point: Some(event.invocation_point.clone()),
            status: status.to_owned(),
            failure_mode: Some(event.failure_mode.to_string()),
            message: Some(event.hook_status_message.clone()),
        })
}

/// The fault of a call whose reply is lost.
fn lost(request: &Request) -> Fault {
    let message = "the connection was closed before a reply came".to_owned();
    match call(request) {
        Call::Mutation => Fault::outcome_unknown(message),
        Call::Read => Fault::new(FaultClass::Transient, "NetworkFailure", message),
    }
}

/// The fault that an exception stands for, as over the wire.
fn fault(request: &Request, exception: Exception) -> Fault {
    let Exception { code, message } = exception;
    let status = code.http_status();
    fault_of(call(request), &code.to_string(), &message, status)
}

fn call(request: &Request) -> Call {
    match request {
        Request::CreateResource(_) | Request::UpdateResource(_) | Request::DeleteResource(_) => {
            Call::Mutation
        }
        _ => Call::Read,
    }
}

fn described(resource: request::ResourceDescription) -> Result<ResourceDescription, Fault> {
    Ok(ResourceDescription {
        identifier: Identifier::new(resource.identifier),
        properties: serde_json::from_str(&resource.properties).map_err(|_| unexpected())?,
    })
}

fn unexpected() -> Fault {
    Fault::new(
        FaultClass::Transient,
        ExceptionCode::InternalFailure.to_string(),
        "the reply does not match the call",
    )
}
