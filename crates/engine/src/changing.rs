//! The calls that change AWS, and those that follow a change: submit, poll and cancel.

use serde_json::Value;
use tracing::{debug, warn};
use ucp_cloud::Fault;
use ucp_model::operation::{Call, Intent, ResourceWork};
use ucp_model::{
    CallClass, FaultClass, HandlerErrorCode, Progress, ProgressStatus, RateKey, RequestToken, Scope,
};
use ucp_seal::AssociatedData;
use zeroize::Zeroizing;

use crate::abandoned::Abandoned;
use crate::engine::Parts;
use crate::stepper::{Stepper, work};

impl Stepper<'_> {
    /// Sends the change that was recorded.
    pub(crate) async fn submit(
        &mut self,
        intent: &Intent,
    ) -> Result<Result<Progress, Fault>, Abandoned> {
        let document = match intent.call {
            Call::Create | Call::Update(_) => match self.document() {
                Ok(document) => document,
                Err(fault) => return Ok(Err(fault)),
            },
            Call::Delete(_) => String::new().into(),
        };
        let ResourceWork {
            scope, type_name, ..
        } = work(&self.claimed.operation.work)?;
        let cloud = &self.engine.parts().cloud;
        let token = intent.client_token;
        let call = match &intent.call {
            Call::Create => cloud.create_resource(scope, type_name, &document, token),
            Call::Update(identifier) => {
                cloud.update_resource(scope, type_name, identifier, &document, token)
            }
            Call::Delete(identifier) => cloud.delete_resource(scope, type_name, identifier, token),
        };
        let rate = mutations(scope);
        let is_budgeted = self.permit.take().is_some();
        let reply = self.turn.call(&mut self.claimed.lease, call).await?;
        self.engine.called(&rate, is_budgeted, &reply).await;
        if reply.as_ref().is_ok_and(is_throttled) {
            self.engine.failed(&rate);
        }
        let action = intent.action();
        match &reply {
            Ok(progress) => debug!(%action, request.token = %progress.request_token, "sent"),
            Err(fault) => warn!(%action, %fault, "the call did not succeed"),
        }
        Ok(self.told(reply))
    }

    /// Puts the identifier in AWS's reply into the form that is stored.
    fn told(&self, reply: Result<Progress, Fault>) -> Result<Progress, Fault> {
        let mut progress = reply?;
        if let (Some(answered), Some(schema)) = (&progress.identifier, self.schema.as_deref()) {
            let told = match schema.canonical(answered) {
                Some(canonical) => canonical,
                None => {
                    let declared = self.declared().ok().flatten();
                    let declared = declared.as_ref().map(|it| it.declaration.properties());
                    schema.answered(answered, declared.unwrap_or(&Value::Null))
                }
            };
            progress.identifier = Some(told);
        }
        Ok(progress)
    }

    /// Returns the exact bytes that were recorded with the intent.
    fn document(&self) -> Result<Zeroizing<String>, Fault> {
        let Some(sealed) = &self.claimed.documents.document else {
            return Err(internal("the recorded document is missing".to_owned()));
        };
        let place = AssociatedData::Document(self.claimed.operation.header.id);
        let opened = self.engine.parts().keys.sealing.open(place, &sealed.0);
        let bytes = opened
            .map_err(|error| internal(format!("the recorded document does not open: {error}")))?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| internal("the recorded document is not text".to_owned()))?;
        Ok(text.to_owned().into())
    }

    /// Queries the status of the request in AWS.
    pub(crate) async fn poll(
        &mut self,
        request: &RequestToken,
    ) -> Result<Result<Progress, Fault>, Abandoned> {
        let Parts { cloud, .. } = self.engine.parts();
        let scope = &work(&self.claimed.operation.work)?.scope;
        let call = cloud.get_resource_request_status(scope, request);
        let reply = self.turn.call(&mut self.claimed.lease, call).await?;
        if reply.as_ref().is_ok_and(is_throttled) {
            self.engine.failed(&mutations(scope));
        }
        Ok(self.told(reply))
    }

    /// Asks AWS to cancel the request.
    pub(crate) async fn cancel(
        &mut self,
        request: &RequestToken,
    ) -> Result<Result<Progress, Fault>, Abandoned> {
        let Parts { cloud, .. } = self.engine.parts();
        let scope = &work(&self.claimed.operation.work)?.scope;
        let call = cloud.cancel_resource_request(scope, request);
        let reply = self.turn.call(&mut self.claimed.lease, call).await?;
        Ok(self.told(reply))
    }
}

/// Whether a change has failed since the service of its type takes no more.
fn is_throttled(progress: &Progress) -> bool {
    match &progress.status {
        ProgressStatus::Failed { code, .. } => *code == HandlerErrorCode::Throttling,
        ProgressStatus::Running | ProgressStatus::Success | ProgressStatus::Canceled => false,
    }
}

/// Returns the bucket of the calls that change something.
fn mutations(scope: &Scope) -> RateKey {
    RateKey {
        scope: scope.key(),
        class: CallClass::Mutations,
    }
}

fn internal(message: String) -> Fault {
    Fault::new(FaultClass::Rejected, "InternalFailure", message)
}
