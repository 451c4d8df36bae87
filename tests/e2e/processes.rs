//! The real binary: killed at every crash point, sharing a database, keeping secrets, shutting down.

mod client;
mod crash_points;
mod process;
mod secrets;
mod story;
mod two_replicas;
