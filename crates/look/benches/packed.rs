//! Benchmarks of the texts of plans as they are stored: `cargo bench -p ucp-look`. Results are in `docs/benchmarks.md`.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use divan::Bencher;
use divan::counter::BytesCount;
use serde_json::{Value, json};
use ucp_look::{pack, unpack};

/// How many members the plans have.
const MEMBERS: [usize; 4] = [1, 10, 100, 500];

fn main() {
    divan::main();
}

/// The text of a plan: what each member is, before and after.
fn plan(members: usize) -> String {
    let member = |number: usize| {
        let properties = json!({"CidrBlock": format!("10.0.{}.0/24", number % 256), "VpcId": format!("vpc-{number:016x}"),
            "MapPublicIpOnLaunch": number.is_multiple_of(2), "Tags": [{"Key": "Name", "Value": format!("subnet {number}")}]});
        json!({"reference": format!("/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/Subnet:reference/sub-{number}"),
            "step": "Update", "before": properties, "after": properties, "delta": [{"path": "/Tags/0/Value", "kind": "modify"}]})
    };
    let members: Vec<Value> = (0..members).map(member).collect();
    json!({ "members": members }).to_string()
}

#[divan::bench(args = MEMBERS)]
fn compressed(bencher: Bencher<'_, '_>, members: usize) {
    let text = plan(members);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| pack(&text).unwrap());
}

#[divan::bench(args = MEMBERS)]
fn restored(bencher: Bencher<'_, '_>, members: usize) {
    let text = plan(members);
    let packed = pack(&text).unwrap();
    bencher
        .counter(BytesCount::new(text.len()))
        .with_inputs(|| packed.clone())
        .bench_values(|packed| unpack(packed).unwrap());
}

/// A long text that repeats itself.
#[divan::bench]
fn a_long_one_compressed(bencher: Bencher<'_, '_>) {
    let text = plan(500).repeat(30);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| pack(&text).unwrap());
}

#[divan::bench(args = MEMBERS)]
fn read_as_json_for_comparison(bencher: Bencher<'_, '_>, members: usize) {
    let text = plan(members);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| serde_json::from_str::<Value>(&text).unwrap());
}
