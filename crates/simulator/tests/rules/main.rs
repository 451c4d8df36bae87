//! Tests of AWS's rules on the pure core.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../aws/mod.rs"]
mod aws;

mod creates;
mod faults;
mod following;
mod globals;
mod identifiers;
mod lags;
mod lists;
mod needs;
mod out_of_band;
mod profiles;
mod requests;
mod sessions;
mod stored;
mod tokens;
mod updates;
