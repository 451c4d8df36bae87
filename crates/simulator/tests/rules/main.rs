//! AWS's rules, tried on the core.

#[path = "../aws/mod.rs"]
mod aws;

mod creates;
mod faults;
mod lists;
mod out_of_band;
mod requests;
mod tokens;
mod updates;
