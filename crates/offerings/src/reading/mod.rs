//! From the value of a file to an offering, with all that is wrong with it.

mod binding;
mod circles;
mod edges;
mod flow;
mod names;
pub(crate) mod offering;
mod parameters;
mod plans;
mod properties;
mod resources;
