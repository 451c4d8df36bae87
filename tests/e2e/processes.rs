//! Tests of the real binary: kills at every crash point, a shared database, secrets, key rotation, accounts, real
//! clients, shutdown.

mod accounts;
mod client;
mod clients;
mod connections;
mod crash_points;
mod process;
mod rotation;
mod secrets;
mod story;
mod two_replicas;
