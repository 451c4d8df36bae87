//! Has a migration that was added embedded.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
