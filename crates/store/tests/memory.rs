//! Runs the conformance suite on the reference engine.

use std::sync::Arc;

use ucp_store::{Memory, Store};

async fn memory() -> Option<(Arc<dyn Store>, ())> {
    Some((Arc::new(Memory::new()), ()))
}

ucp_store_conformance::conformance!(crate::memory);
ucp_store_conformance::races!(crate::memory);
