//! Black-box tests of `ucp plan`.

mod lines;
mod people;
mod process;
mod schemas;
