fn main() {
    // A migration that was added must be embedded.
    println!("cargo::rerun-if-changed=../../migrations");
}
