//! The SQL engines of `ucp_store`: SQLite, so that one command runs everything, and Postgres, for production.
//!
//! All SQL of `ucp` stands here. Both databases get the same statements, apart from locking clauses, and the logic stands
//! once: a file per table, over the transactions, values and rows (`database`) that the two have in common. What the
//! contract makes of the rows is decided by `ucp_store::rules`.
//!
//! Not here: compile-time checked queries, which know one database per crate. A test prepares every statement on both.

mod arm_resources;
mod busy;
mod credentials;
mod database;
mod events;
mod groups;

mod json;
mod leases;
mod migrations;
mod nudges;
mod open;
mod operation_row;
mod operations;
mod planes;
mod reference_row;
mod references;
mod sealed;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(test)]
mod tests;
mod type_schemas;

pub use open::OpenError;
pub use store::Sql;
