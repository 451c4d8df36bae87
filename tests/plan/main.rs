//! Black-box tests of `ucp plan`.

mod judged;
mod lines;
mod people;
mod process;
mod schemas;
