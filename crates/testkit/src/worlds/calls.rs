//! What worlds do to calls to AWS: they end in time, and the faults that strike them are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use ucp_cloud::{CloudControl, Fault};
use ucp_model::{
    ClientToken, FaultClass, HandlerErrorCode, Identifier, Progress, ProgressStatus, RequestPage,
    RequestToken, ResourceDescription, ResourcePage, Scope, TypeName,
};
use ucp_simulator::faults::Effect;
use ucp_simulator::{Action, LogEntry, Simulator};

use super::coverage::{self, Coverage};
use super::fate::STATE;
use super::plant::{BelievedAbsences, Plant};

/// How long a call may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Cloud Control in a world.
pub(super) struct Calls {
    pub(super) inner: Arc<dyn CloudControl>,
    pub(super) aws: Simulator,
    pub(super) coverage: Coverage,
    /// What operations believe to be absent, if that defect is planted.
    pub(super) believed: Option<Arc<BelievedAbsences>>,
    pub(super) plant: Option<Plant>,
    /// How often something was read, if each read shows another form of it.
    pub(super) looks: AtomicUsize,
}

impl Calls {
    /// Makes a call, whose entry in the log of AWS is the latest that `is_this`.
    async fn in_time<R>(
        &self,
        action: Action,
        is_this: impl Fn(&LogEntry) -> bool,
        call: impl Future<Output = Result<R, Fault>>,
    ) -> Result<R, Fault> {
        let reply = tokio::time::timeout(TIMEOUT, call).await;
        let state = STATE.try_with(std::cell::Cell::get);
        if let Ok(state) = state {
            let is_this = |entry: &LogEntry| entry.operation == action && is_this(entry);
            let entry = self.aws.latest(is_this);
            for effect in entry.into_iter().flat_map(|entry| entry.faults) {
                // It is counted when it is over.
                if !matches!(effect, Effect::Hang { .. }) || reply.is_err() {
                    self.coverage.note(coverage::name(&effect), state);
                }
            }
        }
        reply.unwrap_or_else(|_| {
            let message = "the call was not answered in time".to_owned();
            Err(match action {
                Action::CreateResource | Action::UpdateResource | Action::DeleteResource => {
                    Fault::outcome_unknown(message)
                }
                _ => Fault::new(FaultClass::Transient, "TimeoutError", message),
            })
        })
    }
}

#[async_trait]
impl CloudControl for Calls {
    async fn create_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        desired_state: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        if let Some(believed) = &self.believed {
            believed.created();
        }
        let is_this = bears(&client_token);
        let inner = &self.inner;
        let call = inner.create_resource(scope, type_name, desired_state, client_token);
        self.in_time(Action::CreateResource, is_this, call).await
    }

    async fn update_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        patch: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let is_this = bears(&client_token);
        let inner = &self.inner;
        let call = inner.update_resource(scope, type_name, identifier, patch, client_token);
        self.in_time(Action::UpdateResource, is_this, call).await
    }

    async fn delete_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let is_this = bears(&client_token);
        let inner = &self.inner;
        let call = inner.delete_resource(scope, type_name, identifier, client_token);
        self.in_time(Action::DeleteResource, is_this, call).await
    }

    async fn get_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        if let Some(believed) = &self.believed
            && believed.has(identifier)
        {
            let message = format!("{identifier} was not found before");
            let code = "ResourceNotFoundException";
            return Err(Fault::new(FaultClass::Missing, code, message));
        }
        let is_this = |entry: &LogEntry| {
            entry.type_name.as_deref() == Some(type_name.as_str())
                && entry.identifier.as_deref() == Some(identifier.as_str())
        };
        let call = self.inner.get_resource(scope, type_name, identifier);
        let mut reply = self.in_time(Action::GetResource, is_this, call).await;
        if self.plant == Some(Plant::ForgottenForm)
            && let Ok(read) = &mut reply
            && let Some(Value::String(block)) = read.properties.get_mut("CidrBlock")
            && block.ends_with('.')
        {
            *block += &".".repeat(self.looks.fetch_add(1, Ordering::SeqCst));
        }
        if let Some(believed) = &self.believed
            && let Err(fault) = &reply
            && fault.class == FaultClass::Missing
        {
            believed.believe(identifier);
        }
        reply
    }

    async fn list_resources(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        let is_this = |entry: &LogEntry| entry.type_name.as_deref() == Some(type_name.as_str());
        let call = self.inner.list_resources(scope, type_name, next_token);
        let mut page = self.in_time(Action::ListResources, is_this, call).await?;
        if let Some(believed) = &self.believed {
            let is_there = |resource: &ResourceDescription| !believed.has(&resource.identifier);
            page.resources.retain(is_there);
        }
        Ok(page)
    }

    async fn get_resource_request_status(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let is_this = is_of(request_token);
        let call = self.inner.get_resource_request_status(scope, request_token);
        let status = self.in_time(Action::GetResourceRequestStatus, is_this, call);
        let status = status.await;
        if self.plant == Some(Plant::TakenForHalfMade)
            && let Ok(Progress {
                status: ProgressStatus::Failed { code, .. },
                type_name: Some(type_name),
                identifier: Some(identifier),
                ..
            }) = &status
            && *code == HandlerErrorCode::AlreadyExists
            && let Ok(token) = request_token.as_str().parse()
        {
            let _ = (self.inner)
                .delete_resource(scope, type_name, identifier, token)
                .await;
        }
        status
    }

    async fn list_resource_requests(
        &self,
        scope: &Scope,
        next_token: Option<&str>,
    ) -> Result<RequestPage, Fault> {
        let call = self.inner.list_resource_requests(scope, next_token);
        self.in_time(Action::ListResourceRequests, |_| true, call)
            .await
    }

    async fn cancel_resource_request(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let is_this = is_of(request_token);
        let call = self.inner.cancel_resource_request(scope, request_token);
        self.in_time(Action::CancelResourceRequest, is_this, call)
            .await
    }
}

/// Whether an entry in the log is of the change with this token.
fn bears(token: &ClientToken) -> impl Fn(&LogEntry) -> bool + use<> {
    let token = token.to_string();
    move |entry| entry.client_token.as_ref() == Some(&token)
}

/// Whether an entry in the log is of a call about this request.
fn is_of(request: &RequestToken) -> impl Fn(&LogEntry) -> bool {
    |entry| entry.request_token.as_deref() == Some(request.as_str())
}
