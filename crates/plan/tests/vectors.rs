//! Cases reduced from bug reports of tools that drive Cloud Control: what is live, what is declared, and what must come
//! out (`vectors/README.md`).

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod judge;

use serde_json::Value;

use judge::Case;

/// The vectors, or with `UCP_VECTORS=FILE` those of another file.
fn vectors() -> Vec<Value> {
    match std::env::var_os("UCP_VECTORS") {
        Some(file) => serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap(),
        None => serde_json::from_str(include_str!("vectors/public.json")).unwrap(),
    }
}

#[test]
fn every_vector_is_planned_as_it_must_be() {
    judge(&vectors());
}

/// Cases of our own in the same classes, and in `beyond-…` of what the classes do not cover.
#[test]
fn every_vector_of_our_own_is_planned_as_it_must_be() {
    for text in [
        include_str!("vectors/more-a.json"),
        include_str!("vectors/more-b.json"),
    ] {
        judge(&serde_json::from_str::<Vec<Value>>(text).unwrap());
    }
}

fn judge(vectors: &[Value]) {
    let failures: Vec<String> = vectors
        .iter()
        .filter_map(|vector| {
            let why = Case::of(vector).judge().err()?;
            Some(format!("{} [{}]: {why}", vector["id"], vector["class"]))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        vectors.len(),
        failures.join("\n")
    );
}
