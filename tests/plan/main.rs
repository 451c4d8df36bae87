//! `ucp plan` from outside.

mod lines;
mod people;
mod process;
mod schemas;
