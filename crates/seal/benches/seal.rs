//! Benchmarks of sealing and opening documents as a database stores them: `cargo bench -p ucp-seal`. Results are in
//! `docs/benchmarks.md`.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use divan::Bencher;
use divan::counter::BytesCount;
use serde_json::{Value, json};
use ucp_model::{OperationId, SeededEntropy};
use ucp_seal::{AssociatedData, Keyring, SealingKey};

/// The sizes of the documents, in bytes.
const SIZES: [usize; 3] = [1_024, 4_096, 32_768];

fn main() {
    divan::main();
}

/// Properties of a Lambda function: many environment variables.
fn document(size: usize) -> String {
    let mut variables = serde_json::Map::new();
    let mut text = String::new();
    while text.len() < size {
        let name = format!("VARIABLE_{}", variables.len());
        let value = format!("the value of variable {}", variables.len());
        variables.insert(name, value.into());
        text = json!({"FunctionName": "f", "Environment": {"Variables": variables}}).to_string();
    }
    text
}

fn place() -> AssociatedData<'static> {
    let id: OperationId = "6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d".parse().unwrap();
    AssociatedData::Desired(id)
}

fn ring() -> Keyring {
    Keyring::from(SealingKey::new([7; 32]))
}

fn sealed(size: usize) -> String {
    let text = document(size);
    BASE64.encode(ring().seal(place(), text.as_bytes(), &SeededEntropy::new(2)))
}

#[divan::bench(args = SIZES)]
fn seal(bencher: Bencher<'_, '_>, size: usize) {
    let (ring, text, entropy) = (ring(), document(size), SeededEntropy::new(2));
    let bencher = bencher.counter(BytesCount::of_str(&text));
    bencher.bench_local(|| BASE64.encode(ring.seal(place(), text.as_bytes(), &entropy)));
}

#[divan::bench(args = SIZES)]
fn open(bencher: Bencher<'_, '_>, size: usize) {
    let (ring, stored) = (ring(), sealed(size));
    let bencher = bencher.counter(BytesCount::new(size));
    bencher.bench_local(|| {
        let bytes = BASE64.decode(&stored).unwrap();
        ring.open(place(), &bytes).unwrap()
    });
}

/// What a read does with the document in any case.
#[divan::bench(args = SIZES)]
fn parse(bencher: Bencher<'_, '_>, size: usize) {
    let text = document(size);
    let bencher = bencher.counter(BytesCount::of_str(&text));
    bencher.bench_local(|| serde_json::from_str::<Value>(&text).unwrap());
}
