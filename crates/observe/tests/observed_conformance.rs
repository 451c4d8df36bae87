//! Runs the conformance suite on an observed store.

mod observed;

ucp_store::conformance!(crate::observed::observed);
