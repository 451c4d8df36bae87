//! Runs the conformance suite on an observed store.

use std::sync::Arc;

use ucp_observe::{CrashPoint, Crashed, Observer, Process};
use ucp_store::{Memory, Store};

struct Idle;

impl Observer for Idle {
    fn reached(&self, _: CrashPoint) -> Result<(), Crashed> {
        Ok(())
    }
}

async fn observed() -> Option<(Arc<dyn Store>, ())> {
    let process = Process::observed_by(Arc::new(Idle));
    Some((process.store(Arc::new(Memory::new())), ()))
}

ucp_store::conformance!(crate::observed);
