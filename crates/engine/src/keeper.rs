use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing::{info, warn};
use ucp_model::operation::Kind;
use ucp_model::{Clock, CorrelationId, Entropy, Leftover, OperationId, ReferenceId, Timestamp};
use ucp_schema::{ResourceSchema, ResourceTypes};
use ucp_store::{Error, Leftovers, NewOperation, NewResourceWork, NewWork, Retried};

use crate::Nudges;

/// The number of leftovers claimed in one transaction.
const BATCH: usize = 50;
/// How long other processes leave alone what one has claimed. By then the operation that it has accepted keeps them off.
const CLAIM: Duration = Duration::from_secs(5 * 60);
/// The caller that the history names.
const CALLER: &str = "ucp";

/// Keeps the register of leftovers: deletes again what is ours, sees whether the rest is gone, and finds out what came of
/// creates. Each try is an ordinary operation, which any worker
/// carries out. Several processes may keep the register concurrently.
pub struct Keeper {
    /// The register.
    pub store: Arc<dyn Leftovers>,
    /// The resource types.
    pub types: Arc<dyn ResourceTypes>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Tells the workers of the operations.
    pub nudges: Nudges,
    /// The interval at which it looks for what is due.
    pub interval: Duration,
}

impl Keeper {
    /// Keeps the register until `shutdown` turns true.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        while !*shutdown.borrow() {
            if let Err(error) = self.keep().await {
                warn!(
                    error = %ucp_model::chain(&error),
                    "could not look after the leftovers"
                );
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval) => {}
                _ = shutdown.changed() => {}
            }
        }
    }

    /// Tries all leftovers that are due. Returns how many operations were accepted.
    pub async fn keep(&self) -> Result<usize, Error> {
        let mut count = 0;
        loop {
            let now = self.clock.now();
            let due = self.store.claim_due_leftovers(now, now.after(CLAIM), BATCH);
            let due = due.await?;
            if due.is_empty() {
                return Ok(count);
            }
            for leftover in due {
                count += usize::from(self.retry(&leftover).await?);
            }
        }
    }

    /// Accepts an operation on a leftover, if it is to be tried now. Returns whether there is one.
    async fn retry(&self, leftover: &Leftover) -> Result<bool, Error> {
        let Some(new) = self.attempt(leftover).await else {
            return Ok(false);
        };
        let id = new.id;
        match self.store.retry_leftover(&leftover.id, new).await {
            Ok(Retried::Accepted(_)) => {
                self.nudges.due();
                info!(operation.id = %id, leftover.id = %leftover.id, "a leftover is tried again");
                Ok(true)
            }
            // Somebody works on it, or has decided. If it is still there, it is due again later.
            Ok(Retried::Gone | Retried::Referenced | Retried::Abandoned)
            | Err(Error::Busy(_) | Error::GroupDeleting(_) | Error::NoSuchGroup) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The operation on a leftover. `None` if there is nothing to try.
    async fn attempt(&self, leftover: &Leftover) -> Option<NewOperation> {
        let Leftover {
            scope,
            type_name,
            operation,
            ..
        } = leftover;
        let schema = self.types.get(scope, type_name).await.ok()?;
        let work = match leftover.undecided() {
            Some(reference) => resolve(leftover, reference),
            None if leftover.reason.is_ours() => delete(leftover, &schema)?,
            None => look(leftover, &schema, self.clock.now())?,
        };
        Some(NewOperation {
            id: OperationId(self.entropy.uuid("operation")),
            parent: None,
            correlation_id: CorrelationId::new(operation.to_string()),
            caller: CALLER.to_owned(),
            keeps_plan_policy: false,
            accepted_at: self.clock.now(),
            work: NewWork::Resource(Box::new(NewResourceWork {
                schema_fingerprint: schema.fingerprint().to_owned(),
                ..work
            })),
        })
    }
}

/// The operation that finds out what came of the create of a reference.
fn resolve(leftover: &Leftover, reference: &ReferenceId) -> NewResourceWork {
    NewResourceWork {
        reference: Some(reference.clone()),
        // An import that has found nothing has taken it from the reference.
        identifier: leftover.identifier.clone(),
        ..work(Kind::Resolve, leftover)
    }
}

/// The delete of a leftover. `None` if its type cannot be deleted, or if nothing can prove that it is still the same.
fn delete(leftover: &Leftover, schema: &ResourceSchema) -> Option<NewResourceWork> {
    let needs_mark = !schema.is_named_by_aws();
    let is_known = leftover.identifier.is_some();
    if !is_known || !schema.handlers().delete || needs_mark && leftover.reference.is_none() {
        return None;
    }
    Some(NewResourceWork {
        identifier: leftover.identifier.clone(),
        // One "not found" does not prove that it is gone, either.
        is_referenced: true,
        // Another resource may have its name by now.
        marked_for: leftover.reference.clone().filter(|_| needs_mark),
        lineage: leftover.lineage.clone(),
        ..work(Kind::Delete, leftover)
    })
}

/// The operation that sees whether a leftover is gone that may not be ours, or may be wanted. `None` if no look can tell, or AWS
/// may still be making it.
fn look(leftover: &Leftover, schema: &ResourceSchema, now: Timestamp) -> Option<NewResourceWork> {
    let can_be_seen = leftover.identifier.is_some() && schema.handlers().read;
    let is_made = leftover
        .create
        .is_none_or(|create| create.may_show_until <= now);
    (can_be_seen && is_made).then(|| NewResourceWork {
        identifier: leftover.identifier.clone(),
        is_referenced: true,
        looks_only: true,
        ..work(Kind::Delete, leftover)
    })
}

fn work(kind: Kind, leftover: &Leftover) -> NewResourceWork {
    NewResourceWork::new(kind, leftover.scope.clone(), leftover.type_name.clone())
}
