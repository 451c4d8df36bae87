//! Records the commit that is built: `UCP_COMMIT` if it is set, or else that of the git repository.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=UCP_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let given = std::env::var("UCP_COMMIT").ok();
    let commit = given
        .filter(|commit| !commit.is_empty())
        .or_else(checked_out);
    println!(
        "cargo:rustc-env=UCP_COMMIT={}",
        commit.as_deref().unwrap_or("unknown")
    );
}

/// The commit that is checked out. `None` without git, or if these sources are only a part of another repository.
fn checked_out() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "crates/ucp/" {
        return None;
    }
    // Git appends to this file whenever another commit is checked out. Cargo runs the script each time if it is told of
    // a file that does not exist.
    let moves = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&moves).exists() {
        println!("cargo:rerun-if-changed={moves}");
    }
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
