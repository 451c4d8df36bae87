//! What is shown to people: differences, changes and tables.

pub mod diff;
pub mod paper;
pub(crate) mod refactor;
pub(crate) mod table;
pub(crate) mod what_if;

pub use diff::Line;
pub use paper::{Mark, Paper};
pub(crate) use ucp_model::ids::readable;
