//! The SQL engines of `ucp_store`: SQLite, for a single process without a database server, and Postgres, for
//! production.
//!
//! All SQL of `ucp` is in this crate, a file per table. Both databases run the same statements, apart from locking
//! clauses, and share the logic above `database`, which abstracts over their transactions, values and rows. The rules
//! of the contract are in `ucp_store::rules`.
//!
//! Queries are not checked at compile time, since sqlx supports one database per crate for that. A test prepares every
//! statement on both databases.

mod accept;
mod addresses;
mod arm_resources;
mod aside;
mod audit_events;
mod busy;
mod connections;
mod credentials;
mod database;
mod ended_orders;
mod erasing;
mod events;
mod gathering;
mod groups;
mod held_groups;
mod json;
mod kept_plans;
mod leases;
mod leftover_row;
mod leftovers;
mod migrations;
mod moves;
mod nudges;
mod open;
mod operation_row;
mod operations;
mod orders;
mod planes;
#[cfg(test)]
mod plans;
mod rates;
mod refactor_row;
mod refactors;
mod reference_row;
mod references;
mod role_assignments;
mod sealed;
mod sealed_json;
mod security;
mod servers;
mod service_broker;
mod service_row;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(test)]
mod tests;
mod tokens;
mod track_records;
mod type_schemas;
mod unreadable;
mod watches;

pub use open::OpenError;
pub use store::Sql;
