//! Runs the conformance suite on an observed store.

mod observed;

ucp_store_conformance::conformance!(crate::observed::observed);
