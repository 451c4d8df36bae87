//! The calls of a step under its lease, and when the end of a holder is held against an operation.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tracing::info;
use ucp_model::Clock;
use ucp_store::{CONDEMNED, Lease, LeaseTerm, SUSPECTED, Store, TAKEN_OVER_OFTEN};

use crate::abandoned::Abandoned;

/// How many operations that were taken over are armed at once in a process. When it is killed, the fewer are armed, the
/// fewer are suspected without reason; and each is armed for some milliseconds only.
const BESIDE: u32 = 8;

/// The duration of the lease of a suspect that is armed. Far more than a busy store or a slow machine delays a renewal, so
/// that the lease runs out only if its holder hangs or is gone.
const ALONE: Duration = Duration::from_secs(60);

/// The turns of a process.
pub(crate) struct Turns(Semaphore);

impl Turns {
    pub(crate) fn new() -> Self {
        Self(Semaphore::new(BESIDE as usize))
    }
}

/// The turn of an operation that was taken over. What is known to be able to end a worker is long work on the CPU: judging
/// and planning what is large. Only while such work is done is the operation armed, so that other causes of death
/// have little time to be taken for it. What was taken over often or is a suspect may end workers in any other way. So it is
/// armed all the time, but for the waiting for AWS. A suspect is armed alone: what else is armed might be the cause.
///
/// Nothing is held against most operations. Those are never armed, which would cost a statement each time.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    store: &'a dyn Store,
    clock: &'a dyn Clock,
    /// The duration of a lease.
    term: LeaseTerm,
    /// While the operation is armed.
    armed: Option<SemaphorePermit<'a>>,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        turns: &'a Turns,
        store: &'a dyn Store,
        clock: &'a dyn Clock,
        term: LeaseTerm,
    ) -> Self {
        Self {
            turns,
            store,
            clock,
            term,
            armed: None,
        }
    }

    /// Begins a step, or goes on with it.
    pub(crate) async fn begin(&mut self, lease: &mut Lease) -> Result<(), Abandoned> {
        if lease.takeovers < TAKEN_OVER_OFTEN {
            Ok(())
        } else {
            self.arm(lease).await
        }
    }

    /// Arms an operation that was taken over, when it is its turn.
    pub(crate) async fn arm(&mut self, lease: &mut Lease) -> Result<(), Abandoned> {
        if self.armed.is_some() {
            return Ok(());
        }
        let (turns, term) = match lease.takeovers {
            0 | CONDEMNED.. => return Ok(()),
            SUSPECTED => (BESIDE, LeaseTerm(ALONE.max(self.term.0))),
            _ => (1, self.term),
        };
        let turn = self.turns.0.acquire_many(turns);
        let Ok(Ok(turn)) = tokio::time::timeout(ALONE, turn).await else {
            return Err(Abandoned::NoTurn);
        };
        if lease.takeovers == SUSPECTED {
            info!("its last worker died of this operation, or beside it; it is worked on alone");
        }
        *lease = self.store.arm(lease, self.clock.now(), term).await?;
        self.armed = Some(turn);
        Ok(())
    }

    /// Makes a call under a lease, which is renewed before the call unless it is fresh. An armed operation stays so: a
    /// schema may have to be compiled, and the registry is hardly ever asked for one that an operation has.
    pub(crate) async fn call_armed<T>(
        &self,
        lease: &mut Lease,
        call: impl Future<Output = T>,
    ) -> Result<T, Abandoned> {
        let (now, term) = (self.clock.now(), self.term);
        if lease.expires_at <= now.after(term.0 * 2 / 3) {
            *lease = self.store.renew_lease(lease, now, term).await?;
        }
        Ok(call.await)
    }

    /// Calls AWS under a lease. The operation is not armed meanwhile.
    pub(crate) async fn call<T>(
        &mut self,
        lease: &mut Lease,
        call: impl Future<Output = T>,
    ) -> Result<T, Abandoned> {
        let Some(turn) = self.armed.take() else {
            return self.call_armed(lease, call).await;
        };
        *lease = self
            .store
            .disarm(lease, self.clock.now(), self.term)
            .await?;
        drop(turn);
        let reply = call.await;
        self.begin(lease).await?;
        Ok(reply)
    }

    /// Ends the turn of an operation against which nothing is held any more, since a step of it is written.
    pub(crate) fn end(&mut self) {
        self.armed = None;
    }
}
