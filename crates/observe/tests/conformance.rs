//! Runs the conformance suite on an observed store.

use std::sync::Arc;

use async_trait::async_trait;
use ucp_observe::{CrashPoint, Crashed, Observer, Process};
use ucp_store::{Memory, Store};

struct Idle;

#[async_trait]
impl Observer for Idle {
    async fn reached(&self, _: CrashPoint) -> Result<(), Crashed> {
        Ok(())
    }
}

async fn observed() -> Option<(Arc<dyn Store>, ())> {
    let process = Process::observed_by(Arc::new(Idle));
    Some((process.store(Arc::new(Memory::new())), ()))
}

ucp_store::conformance!(crate::observed);
