//! Suites that take minutes, or need programs of others: `.ci/nightly` runs them all. `.ci/run` runs those whose own files, or
//! what they test, have changed since they passed last (`.ci/suites`).

mod chaos;
mod clients;
mod failover;
mod hostile;
mod stack;
mod worlds;

// The real binary, as in the end-to-end tests. Not every suite uses all of it.
#[path = "../e2e/processes/client.rs"]
#[allow(dead_code, reason = "shared")]
mod client;
#[path = "../e2e/processes/desk.rs"]
#[allow(dead_code, reason = "shared")]
mod desk;
#[path = "../e2e/processes/issuer.rs"]
#[allow(dead_code, reason = "shared")]
mod issuer;
#[path = "../e2e/processes/process.rs"]
#[allow(dead_code, reason = "shared")]
mod process;
#[path = "../e2e/processes/proxy.rs"]
#[allow(dead_code, reason = "shared")]
mod proxy;

// Of every type, as the end-to-end tests have it of an eighth.
#[path = "../e2e/kept_plans/left_open.rs"]
mod left_open;
#[path = "../e2e/what_if/restated.rs"]
mod restated;
