//! Stepping an operation on a group: it starts children, waits for them, and says what came of them.

use std::collections::BTreeMap;

use tracing::{debug, info};
use ucp_model::group_operation::{Child, Finish, Moved, Next, Refusal, Survey, decide};
use ucp_model::operation::Options;
use ucp_model::{CrashPoint, Crashed, Detail, Failure, Moment, OperationId};
use ucp_store::{ClaimedGroup, Error, NewOperation};

use crate::Engine;
use crate::engine::{Abandoned, Parts};

/// One operation on a group under its lease.
pub(crate) struct GroupStepper<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) claimed: ClaimedGroup,
}

impl GroupStepper<'_> {
    pub(crate) async fn run(mut self) -> Result<(), Abandoned> {
        let Parts { store, clock, .. } = self.engine.parts();
        let mut refused = BTreeMap::new();
        loop {
            let operation = &self.claimed.operation;
            let references = store.list_references(&operation.group).await?;
            let children = store.list_children(operation.id).await?;
            let survey = Survey {
                references: &references,
                children: &children,
                refused: &refused,
            };
            let decision = decide(operation, survey, clock.now());
            debug!(%decision, "decided");
            match decision.next {
                Next::Keep => return Ok(()),
                Next::Start(children) => {
                    for child in children {
                        let key = child.reference.key();
                        if let Some(refusal) = self.start(child).await? {
                            refused.insert(key, refusal);
                        }
                    }
                }
                Next::Wait(moved) => {
                    let ended = children.iter().filter(|child| child.ended_at.is_some());
                    return self.commit(moved, ended.count()).await;
                }
                Next::Finish(finish) => return self.finish(finish, decision.reason).await,
            }
        }
    }

    /// Starts a child. Why not, where something else stands in its way.
    async fn start(&mut self, child: Child) -> Result<Option<Refusal>, Abandoned> {
        let Parts {
            store,
            types,
            clock,
            entropy,
            ..
        } = self.engine.parts();
        let now = clock.now();
        self.claimed.lease = self.engine.held(&self.claimed.lease).await?;
        let schema = types.get(&child.scope, &child.reference.type_name).await;
        let operation = &self.claimed.operation;
        let new = NewOperation {
            id: OperationId(entropy.uuid("operation")),
            kind: child.kind,
            scope: child.scope,
            type_name: child.reference.type_name.clone(),
            reference: Some(child.reference),
            identifier: child.identifier,
            options: Options {
                take_ownership: child.take_ownership,
                ..Options::default()
            },
            desired: None,
            schema_fingerprint: schema
                .map(|schema| schema.fingerprint().to_owned())
                .unwrap_or_default(),
            correlation_id: operation.correlation_id.clone(),
            caller: operation.caller.clone(),
            parent: Some(operation.id),
            accepted_at: now,
        };
        let kind = new.kind;
        self.reached(CrashPoint::before(Moment::StartChild))?;
        let started = store.accept_child(&self.claimed.lease, new).await;
        self.reached(CrashPoint::after(Moment::StartChild))?;
        match started {
            Ok(accepted) => {
                debug!(child.id = %accepted.operation.id, %kind, "child started");
                Ok(None)
            }
            Err(error) => Ok(Some(refusal(error)?)),
        }
    }

    async fn commit(self, moved: Moved, ended_children: usize) -> Result<(), Abandoned> {
        let Parts { store, clock, .. } = self.engine.parts();
        let operation = self.claimed.operation.moved(moved);
        let (lease, term) = (&self.claimed.lease, self.engine.lease_term());
        self.reached(CrashPoint::before(Moment::RecordProgress))?;
        let lease = store
            .commit_group_step(lease, &operation, ended_children, clock.now(), term)
            .await?;
        self.reached(CrashPoint::after(Moment::RecordProgress))?;
        store.release_lease(&lease).await?;
        Ok(())
    }

    async fn finish(self, finish: Finish, reason: &'static str) -> Result<(), Abandoned> {
        let Parts { store, clock, .. } = self.engine.parts();
        let operation = self.claimed.operation.finished(finish, clock.now());
        self.reached(CrashPoint::before(Moment::Finish))?;
        store
            .finish_group_operation(&self.claimed.lease, &operation)
            .await?;
        self.reached(CrashPoint::after(Moment::Finish))?;
        let code = operation.failure().map(|failure| failure.code.as_str());
        info!(
            kind = operation.kind(),
            outcome = operation.status(),
            code,
            reason,
            "operation ended"
        );
        Ok(())
    }

    fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        self.engine.parts().checkpoints.reached(point)
    }
}

/// What stands in the way of a child; or the error that ends the step.
fn refusal(error: Error) -> Result<Refusal, Error> {
    let failure = match error {
        Error::Busy(_) => return Ok(Refusal::Busy),
        Error::OwnedElsewhere(owner) => {
            let message = format!(
                "The resource is owned by {owner}, and only one reference can own it. Leave ownedResource out."
            );
            let detail = Detail::at("OwnedElsewhere", "owns the resource", owner.to_string());
            Failure::new("Conflict", message).with_details(vec![detail])
        }
        // What the survey told has changed meanwhile; the next one tells what it is now.
        error @ (Error::NotMapped | Error::AlreadyMapped | Error::MappedElsewhere(_)) => {
            Failure::new("Conflict", format!("Not started: {error}."))
        }
        error @ (Error::NoSuchGroup
        | Error::GroupDeleting(_)
        | Error::PreconditionFailed
        | Error::LeaseLost
        | Error::Unavailable(_)
        | Error::Corrupt(_)) => return Err(error),
    };
    Ok(Refusal::Lasting(failure))
}
