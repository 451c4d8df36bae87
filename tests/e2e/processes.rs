//! Tests of the real binary: kills at every crash point, a shared database, secrets, key rotation, accounts, logs,
//! shutdown. `tests/nightly` has those that take minutes, or need clients of others.

mod accounts;
mod audit;
mod certificates;
mod client;
mod command_line;
mod connections;
mod crash_points;
mod credential_changes;
mod daily_commands;
mod desk;
mod documents;
mod engine;
mod issuer;
mod logs;
mod nginx;
mod oidc;
mod outages;
mod pooler;
#[allow(dead_code, reason = "shared with tests/nightly")]
mod process;
mod profiles;
mod proxy;
mod regions;
mod rotation;
mod secrets;
mod service_secrets;
mod set_crash_points;
mod slow_readers;
mod story;
mod tls;
mod tokens;
mod two_replicas;
