//! Cases reduced from bug reports about tools on Cloud Control, each with live state, declaration and expected plan
//! (`vectors/README.md`).

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod judge;

use serde_json::Value;

use judge::Case;

/// The public vectors, or those of the file that `UCP_VECTORS` names.
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

/// Our own cases in the same classes, and in `beyond-…` cases that the classes do not cover.
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
