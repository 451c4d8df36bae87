//! The real binary: killed at every crash point, sharing a database, keeping secrets, changing
//! keys, reaching accounts, serving real clients, shutting down.

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
