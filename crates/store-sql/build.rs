//! Rebuilds the crate when a migration is added, so that it gets embedded.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
