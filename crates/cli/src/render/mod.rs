//! What is shown to people: differences and changes.

pub mod diff;
pub mod paper;
pub(crate) mod what_if;

pub use diff::Line;
pub use paper::{Mark, Paper, readable};
