//! Steps of claimed operations, from the claim to the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracing::{Instrument, debug, info};
use ucp_cloud::{Fault, FaultClass};
use ucp_cpu_pool::Undone;
use ucp_model::operation::group::Survey;
use ucp_model::operation::{
    Chance, Effect, Holder, Next, Observation, ReferenceChange, ResourceWork, Taken, TimeLimits,
    Work, decide,
};
use ucp_model::{Baseline, ErrorCode, NewLeftover, Operation, Secrets};
use ucp_schema::{ResourceSchema, UnknownType};
use ucp_seal::AssociatedData;
use ucp_store::{CONDEMNED, Claimed, Documents, FinishOperation, Sealed};

use crate::abandoned::Abandoned;
use crate::engine::{Engine, OTHER_KEY_PAUSE, Parts, Settings};
use crate::governor::key_of;
use crate::slots::Room;
use crate::stepper::Stepper;
use crate::turn::Turn;

/// Operations that were claimed.
pub(crate) struct Claims {
    /// How many there were.
    pub(crate) count: usize,
    /// Those of them that may be stepped now. The others wait for their turn to call AWS.
    pub(crate) admitted: Vec<Claimed>,
}

impl Engine {
    /// Claims what there is room for.
    pub(crate) async fn claim(&self, room: &Room) -> Result<Claims, Abandoned> {
        self.plans.forget_idle(self.now());
        let Room { limit, crowded } = room;
        let Settings { owner, lease, .. } = &self.settings;
        let (store, now) = (&self.parts.store, self.now());
        let claimed = if crowded.is_empty() {
            store
                .claim_due_operations(owner, now, *lease, *limit)
                .await?
        } else {
            let claimed = store.claim_elsewhere(owner, now, *lease, *limit, crowded);
            claimed.await?
        };
        Ok(Claims {
            count: claimed.len(),
            admitted: self.admit(claimed).await,
        })
    }

    /// Claims up to `limit` due operations, and returns those that may be stepped now.
    pub async fn claim_some(&self, limit: usize) -> Result<Vec<Claimed>, Abandoned> {
        self.release_turns().await?;
        let room = Room {
            limit,
            crowded: BTreeSet::new(),
        };
        Ok(self.claim(&room).await?.admitted)
    }

    /// Claims all due operations and steps them one after the other. Returns how many there were.
    pub async fn run_due(&self) -> Result<usize, Abandoned> {
        self.release_turns().await?;
        let everywhere = Room {
            limit: usize::MAX,
            crowded: BTreeSet::new(),
        };
        let Claims { count, admitted } = self.claim(&everywhere).await?;
        for claimed in admitted {
            self.step(claimed).await?;
        }
        Ok(count)
    }

    /// Steps one operation until it ends or has to wait.
    pub async fn step(&self, mut claimed: Claimed) -> Result<(), Abandoned> {
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
        let lease = claimed.lease.clone();
        let is_given_up = lease.takeovers >= CONDEMNED;
        let step = async {
            // Nothing is done any more for what is given up, since that may be what does not end.
            if let Err(error) = self.can_open(&claimed.documents)
                && !is_given_up
            {
                // At once, so that a process that can goes on.
                let not_before = self.now().after(OTHER_KEY_PAUSE);
                let handed_back = self.parts.store.hand_back(&claimed.lease, not_before);
                handed_back.await?;
                return Err(Abandoned::Keys(error));
            }
            let Parts { store, clock, .. } = &self.parts;
            let lease = self.settings.lease;
            let mut turn = Turn::new(&self.turns, store.as_ref(), clock.as_ref(), lease);
            turn.begin(&mut claimed.lease).await?;
            let (schema, observation) = match claimed.operation.work.resource() {
                _ if is_given_up => (None, Observation::GivenUp),
                None => (None, Observation::Claimed),
                Some(work) => {
                    let schema = self.schema(work);
                    match turn.call_armed(&mut claimed.lease, schema).await?? {
                        Ok(schema) => (schema, Observation::Claimed),
                        Err(fault) => (None, Observation::Unprepared(fault)),
                    }
                }
            };
            if let (Work::Resource(work), Some(schema)) = (&mut claimed.operation.work, &schema) {
                work.time_limits = TimeLimits {
                    create: schema.minutes_of_handler("create"),
                    update: schema.minutes_of_handler("update"),
                    delete: schema.minutes_of_handler("delete"),
                };
            }
            let stepper = Stepper {
                engine: self,
                permit: claimed.has_permit.then(|| key_of(&claimed)).flatten(),
                has_written: false,
                turn,
                claimed,
                schema,
                planned: None,
                set: None,
                secrets: None,
                refused: BTreeMap::new(),
                referred_bytes: 0,
            };
            stepper.run(observation).await
        };
        let step = async {
            let ended = tokio::select! {
                biased;
                done = step => done,
                lost = self.keep(lease.clone()) => Err(lost),
            };
            match ended {
                Err(Abandoned::Store(ucp_store::Error::LeaseLost)) => {
                    info!("another worker has taken over");
                    Ok(())
                }
                // It was handed back.
                Err(error @ Abandoned::Keys(_)) => Err(error),
                Err(error) if error.is_passing() => {
                    let pause = error.pause(self.settings.lease);
                    self.postpone(&lease, pause).await;
                    Err(error)
                }
                other => other,
            }
        };
        step.instrument(span).await
    }

    /// Returns an error if the documents are sealed under another key, as while keys are being changed. Any other defect
    /// of theirs is one of the operation, which ends by it.
    fn can_open(&self, documents: &Documents) -> Result<(), ucp_seal::Error> {
        let Documents {
            desired,
            document,
            look,
        } = documents;
        for sealed in [desired, document, look].into_iter().flatten() {
            if let Err(error @ ucp_seal::Error::OtherKey { .. }) =
                self.parts.keys.sealing.knows_key_of(&sealed.0)
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns the schema that the operation was validated with, if it is still known, or why the registry does not tell
    /// it now.
    async fn schema(
        &self,
        work: &ResourceWork,
    ) -> Result<Result<Option<Arc<ResourceSchema>>, Fault>, Abandoned> {
        let ResourceWork {
            scope,
            type_name,
            schema_fingerprint,
            ..
        } = work;
        let types = &self.parts.types;
        let schema = types.get_version(scope, type_name, schema_fingerprint);
        match schema.await {
            Ok(schema) => Ok(Ok(Some(schema))),
            Err(UnknownType::Unreachable(fault)) => Ok(Err(fault)),
            Err(UnknownType::Refused(fault)) if fault.class == FaultClass::Throttled => {
                Ok(Err(fault))
            }
            Err(UnknownType::Busy) => Err(Undone::Busy.into()),
            Err(UnknownType::Store(error)) => Err(Abandoned::Schema(error)),
            Err(
                UnknownType::Missing { .. } | UnknownType::Refused(_) | UnknownType::Unusable(_),
            ) => Ok(Ok(None)),
        }
    }
}

impl Stepper<'_> {
    async fn run(mut self, first: Observation) -> Result<(), Abandoned> {
        let Parts {
            clock,
            entropy,
            store,
            ..
        } = &self.engine.parts;
        let mut observation = first;
        loop {
            let chance = Chance {
                token: ucp_model::ClientToken(entropy.uuid("client-token")),
                jitter: entropy.fraction("jitter"),
            };
            self.foresee(&observation);
            let decision = decide(&self.claimed.operation, observation, clock.now(), chance);
            debug!(
                state = self.claimed.operation.state_name(),
                effect = decision.effect.as_ref().map(Effect::name),
                reason = decision.reason,
                "decided"
            );
            let written = match decision.next {
                Next::Keep => Ok(()),
                Next::Move {
                    operation,
                    is_new_intent,
                } => self.commit(*operation, is_new_intent).await?,
                Next::Finish {
                    operation,
                    reference,
                    leftover,
                } => {
                    let end = self.finish(*operation, reference, leftover, decision.reason);
                    match end.await? {
                        Ok(()) => return Ok(()),
                        Err(taken) => Err(taken),
                    }
                }
            };
            if let Err(taken) = written {
                observation = Observation::Taken(taken);
                continue;
            }
            let Some(effect) = decision.effect else {
                store.release_lease(&self.claimed.lease).await?;
                return Ok(());
            };
            observation = self.perform(effect).await?;
            if observation.is_denied() {
                self.note_permissions().await?;
            }
            if observation.is_unexplained_conflict() {
                self.note_what_is_in_the_way().await?;
            }
        }
    }

    /// Masks the random values of a service instance in what AWS has answered. Returns them.
    async fn mask(&mut self, work: &mut Work) -> Result<&Secrets, Abandoned> {
        let secrets = match self.secrets.take() {
            Some(secrets) => secrets,
            None => self.secrets_of(work).await?,
        };
        if !secrets.is_empty() {
            work.mask(&secrets);
        }
        Ok(self.secrets.insert(secrets))
    }

    async fn secrets_of(&self, work: &Work) -> Result<Secrets, Abandoned> {
        let store = self.engine.parts.store.as_ref();
        let instance = match work {
            Work::Group(work) => work.order().map(|order| order.instance.clone()),
            // A leftover has none, but perhaps that of another resource.
            Work::Resource(work) => match work.reference.as_ref().or(work.marked_for.as_ref()) {
                Some(id) => ucp_store::of_an_instance(store, id).await?.map(|it| it.1),
                None => None,
            },
        };
        Ok(match &instance {
            Some(instance) => ucp_store::secrets_of(store, instance).await?,
            None => Secrets::default(),
        })
    }

    async fn commit(
        &mut self,
        mut operation: Operation,
        is_new_intent: bool,
    ) -> Result<Result<(), Taken>, Abandoned> {
        self.mask(&mut operation.work).await?;
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
        let step = store.commit_step(lease, &operation, document.clone(), clock.now(), term);
        self.claimed.lease = match step.await {
            Ok(lease) => lease,
            Err(error) => return Ok(Err(taken(error, &operation)?)),
        };
        self.has_written = true;
        self.turn.end();
        self.engine.parts.progress.progressed(&operation);
        self.claimed.operation = operation;
        self.claimed.documents.document =
            document.or_else(|| self.claimed.documents.document.take());
        Ok(Ok(()))
    }

    /// Returns what a put leaves to compare the next one with, if it succeeds, or has made a resource although it fails, or may have.
    /// AWS may show create-only values in a form of its own.
    async fn baseline_after(
        &mut self,
        operation: &Operation,
        reference: Option<ReferenceChange>,
    ) -> Result<Option<Baseline>, Abandoned> {
        let (Ok(Some(mut desired)), Some(work), Some(schema)) =
            (self.declared(), operation.work.resource(), &self.schema)
        else {
            return Ok(None);
        };
        match reference {
            Some(ReferenceChange::Applied { .. }) => {}
            // It counts once it is found out that the create has made something.
            Some(ReferenceChange::Unknown) if schema.handlers().read => {
                return Ok(Some(ucp_plan::left_by_failed_create(desired, schema)));
            }
            // What AWS cannot read is sent again until a put succeeds.
            Some(ReferenceChange::Kept { owned: true })
                if work.created && schema.handlers().read =>
            {
                let partial = ErrorCode::PartiallyApplied.as_str();
                let has_succeeded = operation.failure().is_some_and(|it| it.code == partial);
                if !has_succeeded {
                    return Ok(Some(ucp_plan::left_by_failed_create(desired, schema)));
                }
            }
            _ => return Ok(None),
        }
        let live = work.result.clone();
        let documents = live.iter().chain([desired.declaration.properties()]);
        let is_quick = schema.is_quick_for(documents);
        let schema = Arc::clone(schema);
        // If nothing could be read, only AWS's report of success has led here.
        desired.baseline.is_made = work.created && !work.marked;
        let left = move || ucp_plan::applied(desired, live.as_ref(), &schema);
        if !is_quick {
            self.turn.arm(&mut self.claimed.lease).await?;
        }
        let pool = &self.engine.parts().pool;
        Ok(Some(pool.run_unless_quick(is_quick, left).await?))
    }

    async fn finish(
        &mut self,
        mut operation: Operation,
        reference: Option<ReferenceChange>,
        mut leftover: Option<NewLeftover>,
        reason: &'static str,
    ) -> Result<Result<(), Taken>, Abandoned> {
        let baseline = self.baseline_after(&operation, reference).await?;
        let secrets = self.mask(&mut operation.work).await?;
        if let Some(error) = leftover.as_mut().and_then(|it| it.error.as_mut()) {
            secrets.mask_failure(error);
        }
        // Neither a write-only value, should AWS return one after all, nor the mark is stored.
        if let (Work::Resource(work), Some(schema)) = (&mut operation.work, self.schema.as_deref())
            && let Some(live) = &mut work.result
        {
            *live = schema.shown(live);
        }
        let kind = operation.work.kind();
        let outcome = operation.status();
        let code = operation.failure().map(|failure| failure.code.clone());
        let left_over = leftover.clone();
        let finish = FinishOperation {
            operation: operation.clone(),
            reference,
            baseline,
            leftover,
        };
        let store = &self.engine.parts.store;
        if let Err(error) = store.finish_operation(&self.claimed.lease, finish).await {
            return Ok(Err(taken(error, &operation)?));
        }
        self.has_written = true;
        // Those who wait are shown what is stored.
        let kept = ucp_store::rules::kept(&operation);
        self.engine.parts.progress.progressed(&kept);
        info!(kind, outcome, code, reason, "operation ended");
        if let Some(NewLeftover {
            identifier, reason, ..
        }) = left_over
        {
            let identifier = identifier.as_ref().map(tracing::field::display);
            info!(identifier, %reason, "something is left over in AWS");
        }
        Ok(Ok(()))
    }

    async fn perform(&mut self, effect: Effect) -> Result<Observation, Abandoned> {
        match effect {
            Effect::Look(identifier) => self.look(identifier).await,
            Effect::Read(identifier) => {
                let presence = self.read(identifier).await?;
                self.prove(&presence).await?;
                Ok(Observation::Read(presence))
            }
            Effect::List(identifier) => Ok(Observation::Listed(self.list(&identifier).await?)),
            Effect::Search => Ok(Observation::Searched(self.search().await?)),
            Effect::Submit(intent) => Ok(Observation::Submitted(self.submit(&intent).await?)),
            Effect::Poll(request) => Ok(Observation::Polled(self.poll(&request).await?)),
            Effect::Cancel(request) => Ok(Observation::CancelAsked(self.cancel(&request).await?)),
            Effect::Survey => Ok(Observation::Surveyed(self.survey().await?)),
            Effect::Start(children) => {
                Ok(Observation::Surveyed(Box::pin(self.start(children)).await?))
            }
            Effect::ReadOutputs => {
                let (outputs, there) = self.outputs().await?;
                let survey = self.survey().await?;
                Ok(Observation::Surveyed(Survey {
                    outputs: Some(outputs),
                    there,
                    ..survey
                }))
            }
            Effect::TakeBack => {
                let taken_back = Some(self.take_back().await?);
                let survey = self.survey().await?;
                Ok(Observation::Surveyed(Survey {
                    taken_back,
                    ..survey
                }))
            }
        }
    }
}

/// Returns why the store does not let `operation` work on the resource that AWS names.
fn taken(error: ucp_store::Error, operation: &Operation) -> Result<Taken, Abandoned> {
    let work = operation.work.resource();
    let identifier = work.and_then(|work| work.identifier.clone());
    match (error, identifier) {
        (ucp_store::Error::Busy(id), Some(identifier)) => Ok(Taken {
            identifier,
            by: Holder::Operation(id),
        }),
        (ucp_store::Error::OwnedElsewhere(owner), Some(identifier)) => Ok(Taken {
            identifier,
            by: Holder::Owner(owner),
        }),
        (ucp_store::Error::PolicyElsewhere(policy), Some(identifier)) => Ok(Taken {
            identifier,
            by: Holder::Policy(policy),
        }),
        (ucp_store::Error::Shared(others), Some(identifier)) => Ok(Taken {
            identifier,
            by: Holder::Shared(others),
        }),
        (error, _) => Err(error.into()),
    }
}
