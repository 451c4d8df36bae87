use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tracing::{Instrument, debug, info, warn};
use ucp_cloud::{CloudControl, Fault};
use ucp_model::operation::group::Refusal;
use ucp_model::operation::{
    Call, Chance, Effect, Intent, Kind, Next, Observation, PlanOutcome, Presence, ReferenceChange,
    ResourceWork, Work, decide,
};
use ucp_model::{
    Clock, Entropy, ErrorCode, Failure, FaultClass, Identifier, Operation, Progress, RequestToken,
};
use ucp_plan::Desired;
use ucp_schema::{ResourceSchema, ResourceTypes, UnknownType};
use ucp_seal::{AssociatedData, Keys};
use ucp_store::{Claimed, FinishOperation, Lease, LeaseTerm, Sealed, Store};
use zeroize::Zeroizing;

use crate::planner::{self, Planned};

/// The dependencies of an [`Engine`].
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The AWS client.
    pub cloud: Arc<dyn CloudControl>,
    /// The resource types.
    pub types: Arc<dyn ResourceTypes>,
    /// The keys that open and seal documents.
    pub keys: Arc<Keys>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
}

/// The settings of an [`Engine`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name under which it holds leases.
    pub owner: String,
    /// The duration of a lease.
    pub lease: LeaseTerm,
    /// Time-out of calls to AWS; shorter than the lease.
    pub call_timeout: Duration,
}

/// Steps claimed operations.
pub struct Engine {
    parts: Parts,
    settings: Settings,
}

/// The reason why a step was not finished. Any worker can continue later from the stored state.
#[derive(Debug, thiserror::Error)]
pub enum Abandoned {
    /// The store refused or could not be reached.
    #[error("the store refused a step")]
    Store(#[from] ucp_store::Error),
    /// The schema of the operation's type is not available now.
    #[error("the schema of the type is not available")]
    Schema(#[source] UnknownType),
}

impl Engine {
    /// Creates an engine.
    pub fn new(parts: Parts, settings: Settings) -> Self {
        Self { parts, settings }
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.parts.store
    }

    /// Returns the current time of its clock.
    pub fn now(&self) -> ucp_model::Timestamp {
        self.parts.clock.now()
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns a lease that outlasts a call to AWS, renewed if necessary.
    pub(crate) async fn held(&self, lease: &Lease) -> Result<Lease, Abandoned> {
        let Settings {
            lease: term,
            call_timeout,
            ..
        } = &self.settings;
        let now = self.now();
        if lease.expires_at > now.after(*call_timeout) {
            return Ok(lease.clone());
        }
        Ok(self.parts.store.renew_lease(lease, now, *term).await?)
    }

    /// Claims up to `limit` due operations.
    pub async fn claim(&self, limit: usize) -> Result<Vec<Claimed>, Abandoned> {
        let Settings { owner, lease, .. } = &self.settings;
        let store = &self.parts.store;
        let claimed = store.claim_due_operations(owner, self.now(), *lease, limit);
        Ok(claimed.await?)
    }

    /// Claims all due operations and steps them one after the other. Returns how many there were.
    pub async fn run_due(&self) -> Result<usize, Abandoned> {
        let claimed = self.claim(usize::MAX).await?;
        let count = claimed.len();
        for claimed in claimed {
            self.step(claimed).await?;
        }
        Ok(count)
    }

    /// Steps one operation until it ends or has to wait.
    pub async fn step(&self, claimed: Claimed) -> Result<(), Abandoned> {
        let header = &claimed.operation.header;
        let reference = claimed.operation.work.reference();
        let group = claimed.operation.work.group();
        let span = tracing::info_span!(
            "step",
            operation.id = %header.id,
            alias = reference.map(|id| id.alias.as_str()),
            reference.id = reference.map(tracing::field::display),
            group.id = group.map(|work| tracing::field::display(&work.group)),
            correlation.id = %header.correlation_id,
            lease.generation = claimed.lease.generation,
        );
        let step = async {
            let schema = match claimed.operation.work.resource() {
                Some(work) => self.schema(work).await?,
                None => None,
            };
            let stepper = Stepper {
                engine: self,
                claimed,
                schema,
                planned: None,
                refused: BTreeMap::new(),
            };
            stepper.run().await
        };
        match step.instrument(span).await {
            Err(Abandoned::Store(ucp_store::Error::LeaseLost)) => {
                info!("another worker has taken over");
                Ok(())
            }
            other => other,
        }
    }

    /// Returns the schema that the operation was validated with, if it is still known.
    async fn schema(&self, work: &ResourceWork) -> Result<Option<Arc<ResourceSchema>>, Abandoned> {
        let ResourceWork {
            scope,
            type_name,
            schema_fingerprint,
            ..
        } = work;
        let types = &self.parts.types;
        let schema = types.get_version(scope, type_name, schema_fingerprint);
        match schema.await {
            Ok(schema) => Ok(Some(schema)),
            Err(unknown @ (UnknownType::Unreachable(_) | UnknownType::Store(_))) => {
                Err(Abandoned::Schema(unknown))
            }
            Err(
                UnknownType::Missing { .. } | UnknownType::Refused(_) | UnknownType::Unusable(_),
            ) => Ok(None),
        }
    }
}

/// One operation under its lease.
pub(crate) struct Stepper<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) claimed: Claimed,
    /// `None` if the type is no longer known, or if the operation has no type.
    schema: Option<Arc<ResourceSchema>>,
    planned: Option<Planned>,
    /// The reasons why children could not be started, by the key of their reference.
    pub(crate) refused: BTreeMap<String, Refusal>,
}

impl Stepper<'_> {
    async fn run(mut self) -> Result<(), Abandoned> {
        let Parts {
            clock,
            entropy,
            store,
            ..
        } = &self.engine.parts;
        let mut observation = Observation::Claimed;
        loop {
            let chance = Chance {
                token: ucp_model::ClientToken(entropy.uuid("client-token")),
                jitter: entropy.fraction("jitter"),
            };
            let decision = decide(&self.claimed.operation, observation, clock.now(), chance);
            debug!(
                state = self.claimed.operation.state_name(),
                effect = decision.effect.as_ref().map(Effect::name),
                reason = decision.reason,
                "decided"
            );
            match decision.next {
                Next::Keep => {}
                Next::Move {
                    operation,
                    is_new_intent,
                } => self.commit(*operation, is_new_intent).await?,
                Next::Finish {
                    operation,
                    reference,
                } => {
                    return self.finish(*operation, reference, decision.reason).await;
                }
            }
            let Some(effect) = decision.effect else {
                store.release_lease(&self.claimed.lease).await?;
                return Ok(());
            };
            observation = self.perform(effect).await?;
        }
    }

    async fn commit(&mut self, operation: Operation, is_new_intent: bool) -> Result<(), Abandoned> {
        let Parts {
            store,
            keys,
            clock,
            entropy,
            ..
        } = &self.engine.parts;
        let planned = self.planned.take().filter(|_| is_new_intent);
        let document = planned.and_then(|planned| planned.document).map(|text| {
            let place = AssociatedData::Document(operation.header.id);
            Sealed(keys.sealing.seal(place, text.as_bytes(), entropy.as_ref()))
        });
        let lease = &self.claimed.lease;
        let term = self.engine.settings.lease;
        self.claimed.lease = store
            .commit_step(lease, &operation, document.clone(), clock.now(), term)
            .await?;
        self.claimed.operation = operation;
        self.claimed.documents.document =
            document.or_else(|| self.claimed.documents.document.take());
        Ok(())
    }

    async fn finish(
        self,
        mut operation: Operation,
        reference: Option<ReferenceChange>,
        reason: &'static str,
    ) -> Result<(), Abandoned> {
        // If AWS returns a write-only value after all, it is not stored.
        if let (Work::Resource(work), Some(schema)) = (&mut operation.work, self.schema.as_deref())
            && let Some(live) = &mut work.result
        {
            *live = schema.without_write_only(live);
        }
        let baseline = match self.declared() {
            Ok(Some(desired)) => Some(desired.baseline),
            Ok(None) | Err(_) => None,
        };
        let kind = operation.work.kind();
        let outcome = operation.status();
        let code = operation.failure().map(|failure| failure.code.clone());
        let finish = FinishOperation {
            operation,
            reference,
            baseline,
        };
        let store = &self.engine.parts.store;
        store.finish_operation(&self.claimed.lease, finish).await?;
        info!(kind, outcome, code, reason, "operation ended");
        Ok(())
    }

    async fn perform(&mut self, effect: Effect) -> Result<Observation, Abandoned> {
        match effect {
            Effect::Look(identifier) => {
                let mut presence = self.read(identifier).await?;
                let mut planned = self.plan(&presence)?;
                if let PlanOutcome::Replace {
                    old,
                    identifier: Some(new),
                    ..
                } = &planned.outcome
                    && new != old
                {
                    let new = new.clone();
                    match self.read(Some(new.clone())).await? {
                        Presence::Absent | Presence::Unreadable(_) => {}
                        Presence::Present { .. } => {
                            planned = planner::name_is_taken(self.work()?, &new);
                        }
                        unknown @ Presence::Unknown(_) => presence = unknown,
                    }
                }
                let outcome = planned.outcome.clone();
                self.note_warnings(&planned);
                self.planned = Some(planned);
                Ok(Observation::Looked(presence, outcome))
            }
            Effect::Read(identifier) => Ok(Observation::Read(self.read(identifier).await?)),
            Effect::Submit(intent) => Ok(Observation::Submitted(self.submit(&intent).await?)),
            Effect::Poll(request) => Ok(Observation::Polled(self.poll(&request).await?)),
            Effect::Cancel(request) => Ok(Observation::CancelAsked(self.cancel(&request).await?)),
            Effect::Survey => Ok(Observation::Surveyed(self.survey().await?)),
            Effect::Start(children) => Ok(Observation::Surveyed(self.start(children).await?)),
        }
    }

    /// Reads the resource from AWS. Without an identifier the resource counts as absent.
    async fn read(&mut self, identifier: Option<Identifier>) -> Result<Presence, Abandoned> {
        let Some(identifier) = identifier else {
            return Ok(Presence::Absent);
        };
        if self
            .schema
            .as_deref()
            .is_some_and(|schema| !schema.handlers().read)
        {
            return Ok(Presence::Unreadable(identifier));
        }
        self.hold_lease().await?;
        let ResourceWork {
            scope, type_name, ..
        } = self.work()?;
        let cloud = &self.engine.parts.cloud;
        let reply = cloud.get_resource(scope, type_name, &identifier).await;
        Ok(match reply {
            Ok(live) => Presence::Present {
                identifier,
                digest: planner::live_digest(&live),
                live,
            },
            Err(fault) if fault.class == FaultClass::Missing => Presence::Absent,
            Err(fault) => Presence::Unknown(fault),
        })
    }

    /// Returns the work of an operation on a resource.
    fn work(&self) -> Result<&ResourceWork, Abandoned> {
        let work = self.claimed.operation.work.resource();
        Ok(work.ok_or_else(|| {
            ucp_store::Error::Corrupt("an operation on a group has no resource".to_owned())
        })?)
    }

    fn plan(&self, presence: &Presence) -> Result<Planned, Abandoned> {
        let work = self.work()?;
        if work.deletes() {
            return Ok(planner::plan_delete(presence));
        }
        if work.kind == Kind::Import {
            return Ok(planner::plan_import(self.schema.as_deref()));
        }
        Ok(match (self.declared(), self.schema.as_deref()) {
            (Ok(Some(desired)), Some(schema)) => {
                let baseline = self.claimed.baseline.as_ref();
                planner::plan_put(work, &desired, baseline, presence, schema)
            }
            (Err(failure), _) => failure.into(),
            (Ok(None), _) => {
                Failure::new(ErrorCode::InternalFailure, "The declaration is missing.").into()
            }
            (_, None) => Failure::new(
                ErrorCode::TypeNotFoundException,
                format!("{} is not a resource type that ucp knows.", work.type_name),
            )
            .into(),
        })
    }

    /// Keeps the warnings of a plan with the operation. Those of a put stay while a replacement deletes a resource.
    fn note_warnings(&mut self, planned: &Planned) {
        if let Work::Resource(work) = &mut self.claimed.operation.work
            && !work.deletes()
        {
            work.warnings.clone_from(&planned.warnings);
        }
    }

    async fn submit(&mut self, intent: &Intent) -> Result<Result<Progress, Fault>, Abandoned> {
        self.hold_lease().await?;
        let document = match intent.call {
            Call::Create | Call::Update(_) => match self.document() {
                Ok(document) => document,
                Err(fault) => return Ok(Err(fault)),
            },
            Call::Delete(_) => String::new().into(),
        };
        let ResourceWork {
            scope, type_name, ..
        } = self.work()?;
        let cloud = &self.engine.parts.cloud;
        let token = intent.client_token;
        let call = match &intent.call {
            Call::Create => cloud.create_resource(scope, type_name, &document, token),
            Call::Update(identifier) => {
                cloud.update_resource(scope, type_name, identifier, &document, token)
            }
            Call::Delete(identifier) => cloud.delete_resource(scope, type_name, identifier, token),
        };
        let reply = call.await;
        let action = intent.action();
        match &reply {
            Ok(progress) => debug!(%action, request.token = %progress.request_token, "sent"),
            Err(fault) => warn!(%action, %fault, "the call did not succeed"),
        }
        Ok(reply)
    }

    /// Returns the exact bytes that were recorded with the intent.
    fn document(&self) -> Result<Zeroizing<String>, Fault> {
        let Some(sealed) = &self.claimed.documents.document else {
            return Err(internal("the recorded document is missing".to_owned()));
        };
        let place = AssociatedData::Document(self.claimed.operation.header.id);
        let opened = self.engine.parts.keys.sealing.open(place, &sealed.0);
        let bytes = opened
            .map_err(|error| internal(format!("the recorded document does not open: {error}")))?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| internal("the recorded document is not text".to_owned()))?;
        Ok(text.to_owned().into())
    }

    /// Queries the status of the request in AWS.
    async fn poll(&mut self, request: &RequestToken) -> Result<Result<Progress, Fault>, Abandoned> {
        self.hold_lease().await?;
        let cloud = &self.engine.parts.cloud;
        let scope = &self.work()?.scope;
        Ok(cloud.get_resource_request_status(scope, request).await)
    }

    /// Asks AWS to cancel the request.
    async fn cancel(
        &mut self,
        request: &RequestToken,
    ) -> Result<Result<Progress, Fault>, Abandoned> {
        self.hold_lease().await?;
        let cloud = &self.engine.parts.cloud;
        let scope = &self.work()?.scope;
        Ok(cloud.cancel_resource_request(scope, request).await)
    }

    /// Ensures that the lease outlasts the next call.
    pub(crate) async fn hold_lease(&mut self) -> Result<(), Abandoned> {
        self.claimed.lease = self.engine.held(&self.claimed.lease).await?;
        Ok(())
    }

    /// Returns the declaration of a put.
    fn declared(&self) -> Result<Option<Desired>, Failure> {
        let Operation { header, work } = &self.claimed.operation;
        let (Work::Resource(work), Some(sealed), Some(schema)) = (
            work,
            &self.claimed.documents.desired,
            self.schema.as_deref(),
        ) else {
            return Ok(None);
        };
        let keys = &self.engine.parts.keys;
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::new(
                ErrorCode::InternalFailure,
                format!("The stored declaration cannot be read: {error}."),
            )
        };
        let bytes = keys
            .sealing
            .open(AssociatedData::Desired(header.id), &sealed.0)
            .map_err(|error| unreadable(&error))?;
        let properties = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        let desired = planner::declaration(work, properties, schema, &keys.digest);
        Ok(Some(desired))
    }
}

fn internal(message: String) -> Fault {
    Fault::new(FaultClass::Rejected, "InternalFailure", message)
}
