//! The decorator of Cloud Control.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::Instant;
use ucp_cloud::{CloudControl, Fault};
use ucp_model::{
    ClientToken, FaultClass, Identifier, Progress, RequestPage, RequestToken, ResourceDescription,
    ResourcePage, Scope, TypeName,
};

use crate::Metrics;

/// Cloud Control, whose calls are counted.
struct Counted {
    inner: Arc<dyn CloudControl>,
    metrics: Metrics,
}

impl Metrics {
    /// Wraps Cloud Control, so that its calls are counted.
    pub fn of_calls(&self, inner: Arc<dyn CloudControl>) -> Arc<dyn CloudControl> {
        let metrics = self.clone();
        Arc::new(Counted { inner, metrics })
    }
}

/// A call that has not been answered yet. Dropped, it was given up.
struct Call<'a> {
    metrics: &'a Metrics,
    name: &'static str,
    began: Instant,
    outcome: &'static str,
}

impl<'a> Call<'a> {
    fn begin(metrics: &'a Metrics, name: &'static str) -> Self {
        let (began, outcome) = (Instant::now(), "givenUp");
        Self {
            metrics,
            name,
            began,
            outcome,
        }
    }

    fn end(mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.metrics
            .called(self.name, self.outcome, self.began.elapsed());
    }
}

/// Returns what came of a call, in a word.
fn outcome<R>(reply: &Result<R, Fault>) -> &'static str {
    let Err(fault) = reply else { return "ok" };
    match fault.class {
        FaultClass::Throttled => "throttled",
        FaultClass::Transient => "transient",
        FaultClass::OutcomeUnknown => "outcomeUnknown",
        FaultClass::Concurrent => "concurrent",
        FaultClass::TokenConflict => "tokenConflict",
        FaultClass::TokenUnknown => "tokenUnknown",
        FaultClass::AlreadyExists => "alreadyExists",
        FaultClass::Missing => "missing",
        FaultClass::Denied => "denied",
        FaultClass::Rejected => "rejected",
    }
}

/// Implements [`CloudControl`], given its methods without `&self` and `scope`, each with its success type and the name of
/// the action at AWS.
macro_rules! counted {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $reply:ty = $call:literal;)*) => {
        #[async_trait]
        impl CloudControl for Counted {
            $(async fn $name(&self, scope: &Scope, $($argument: $type),*) -> Result<$reply, Fault> {
                let call = Call::begin(&self.metrics, $call);
                let reply = self.inner.$name(scope, $($argument),*).await;
                call.end(outcome(&reply));
                reply
            })*
        }
    };
}

counted! {
    fn create_resource(name: &TypeName, desired: &str, token: ClientToken) -> Progress = "CreateResource";
    fn update_resource(name: &TypeName, id: &Identifier, patch: &str, token: ClientToken) -> Progress
        = "UpdateResource";
    fn delete_resource(name: &TypeName, id: &Identifier, token: ClientToken) -> Progress = "DeleteResource";
    fn get_resource(name: &TypeName, id: &Identifier) -> ResourceDescription = "GetResource";
    fn list_resources(name: &TypeName, next: Option<&str>) -> ResourcePage = "ListResources";
    fn get_resource_request_status(token: &RequestToken) -> Progress = "GetResourceRequestStatus";
    fn list_resource_requests(next: Option<&str>) -> RequestPage = "ListResourceRequests";
    fn cancel_resource_request(token: &RequestToken) -> Progress = "CancelResourceRequest";
}
