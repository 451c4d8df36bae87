//! Benchmarks of compiling schemas and making plans: `cargo bench -p ucp-plan`. Results are in `docs/benchmarks.md`.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;
use std::sync::Arc;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use serde_json::{Value, json};
use ucp_model::{Baseline, Digest, TypeName, json::canonical};
use ucp_plan::{Action, Desired, Mode, plan};
use ucp_schema::{Catalogue, Classes, Declaration, ResourceSchema};

const TYPES: [&str; 4] = [
    "AWS::S3::Bucket",
    "AWS::EC2::LaunchTemplate",
    "AWS::RDS::DBInstance",
    "AWS::QuickSight::Dashboard",
];

/// A property of each type, and a value for it that no sample has.
const LEAVES: [(&str, &str); 4] = [
    (
        "AccelerateConfiguration",
        r#"{"AccelerationStatus": "Suspended"}"#,
    ),
    ("VersionDescription", r#""another one""#),
    ("BackupRetentionPeriod", "9"),
    ("Name", r#""another one""#),
];

fn main() {
    divan::main();
}

fn schema(name: &str) -> Arc<ResourceSchema> {
    let name = TypeName::from_cloudformation(name).unwrap();
    Catalogue::embedded().get(&name).unwrap()
}

fn desired(properties: Value, schema: &ResourceSchema) -> Desired {
    Desired::new(Declaration::unjudged(properties), schema, |_, value| {
        Digest {
            key_id: "bench".to_owned(),
            hmac: canonical(value),
        }
    })
}

/// The inputs of a plan.
struct Inputs {
    schema: Arc<ResourceSchema>,
    desired: Desired,
    last: Baseline,
    live: Value,
}

impl Inputs {
    fn new(schema: Arc<ResourceSchema>, next: Value, last: Value) -> Self {
        let live = schema.without_write_only(&last);
        Self {
            desired: desired(next, &schema),
            last: desired(last, &schema).baseline,
            live,
            schema,
        }
    }

    fn bench(self, bencher: Bencher<'_, '_>, expected: Action) {
        let bytes = self.live.to_string().len();
        let make = || {
            plan(
                &self.desired,
                Some(&self.last),
                Some(&self.live),
                &self.schema,
                Mode::Merge,
            )
        };
        assert_eq!(make().action, expected);
        bencher
            .counter(BytesCount::new(bytes))
            .bench(|| black_box(make()));
    }
}

/// The longest of many generated declarations.
fn declaration(schema: &ResourceSchema, seeds: std::ops::Range<u64>) -> Value {
    let declarations = seeds.map(|seed| ucp_sample::declaration(schema, seed));
    declarations
        .max_by_key(|declaration| declaration.to_string().len())
        .unwrap()
}

#[divan::bench(args = TYPES)]
fn compile(bencher: Bencher<'_, '_>, name: &str) {
    let text = schema(name).document().to_string();
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        let schema = ResourceSchema::parse(&text).unwrap();
        black_box(schema.root());
        schema
    });
}

/// What it takes to name a type that was not named lately: to read its schema, and to compile all of it.
#[divan::bench(args = TYPES)]
fn miss(bencher: Bencher<'_, '_>, name: &str) {
    let text = schema(name).document().to_string();
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        let schema = ResourceSchema::parse(&text).unwrap();
        schema.compile();
        schema
    });
}

/// Types that are named in turn, so many that the last ones push out the first ones before these are named again, or fewer.
#[divan::bench(args = [30, 100, 300], sample_count = 20)]
fn mix(bencher: Bencher<'_, '_>, count: usize) {
    let catalogue = Catalogue::embedded();
    let names: Vec<&TypeName> = catalogue.type_names().collect();
    let apart = names.len() / count;
    let mixed: Vec<&TypeName> = names.into_iter().step_by(apart).take(count).collect();
    bencher.counter(ItemsCount::new(count)).bench(|| {
        for name in &mixed {
            let schema = catalogue.get(name).unwrap();
            schema.compile();
            black_box(schema);
        }
    });
}

#[divan::bench(args = TYPES)]
fn noop(bencher: Bencher<'_, '_>, name: &str) {
    let schema = schema(name);
    let declared = declaration(&schema, 0..40);
    Inputs::new(schema, declared.clone(), declared).bench(bencher, Action::Noop);
}

#[divan::bench(args = TYPES)]
fn one_leaf(bencher: Bencher<'_, '_>, name: &str) {
    let schema = schema(name);
    let declared = declaration(&schema, 0..40);
    let leaf = TYPES
        .iter()
        .zip(LEAVES)
        .find(|(type_name, _)| **type_name == name);
    let (_, (property, value)) = leaf.unwrap();
    let mut next = declared.clone();
    next[property] = serde_json::from_str(value).unwrap();
    Inputs::new(schema, next, declared).bench(bencher, Action::Update);
}

#[divan::bench(args = TYPES)]
fn everything(bencher: Bencher<'_, '_>, name: &str) {
    let schema = schema(name);
    let declared = declaration(&schema, 0..40);
    let mut next = declaration(&schema, 40..80);
    // Read-only and create-only values stay, so that the plan is an update.
    for path in schema
        .listed(Classes::CREATE_ONLY)
        .chain(schema.primary_identifier())
    {
        if let (Some(name), Some(members)) = (path.property(), next.as_object_mut()) {
            members.shift_remove(name);
            members.extend(
                declared
                    .get(name)
                    .map(|value| (name.to_owned(), value.clone())),
            );
        }
    }
    Inputs::new(schema, next, declared).bench(bencher, Action::Update);
}

fn rules(count: usize) -> Vec<Value> {
    let rule = |port: usize| json!({"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "10.0.0.0/8", "Description": format!("port {port}")});
    (0..count).map(rule).collect()
}

fn group(rules: Vec<Value>) -> Value {
    json!({"GroupDescription": "web", "GroupName": "web", "VpcId": "vpc-0aaaabbbbccccdddd", "SecurityGroupIngress": rules})
}

/// An unordered list that is returned in another order.
#[divan::bench(args = [10, 100, 1_000])]
fn list_in_another_order(bencher: Bencher<'_, '_>, count: usize) {
    let declared = rules(count);
    let mut read = declared.clone();
    read.reverse();
    let mut inputs = Inputs::new(
        schema("AWS::EC2::SecurityGroup"),
        group(declared.clone()),
        group(declared),
    );
    inputs.live = group(read);
    inputs.bench(bencher, Action::Noop);
}

/// The same with one new element.
#[divan::bench(args = [10, 100, 1_000])]
fn list_with_one_more(bencher: Bencher<'_, '_>, count: usize) {
    let declared = rules(count + 1);
    let mut read = declared[1..].to_vec();
    read.reverse();
    let mut inputs = Inputs::new(
        schema("AWS::EC2::SecurityGroup"),
        group(declared),
        group(read.clone()),
    );
    inputs.live = group(read);
    inputs.bench(bencher, Action::Update);
}

/// A keyed list in which one element changes.
#[divan::bench(args = [10, 100, 1_000])]
fn keyed_list(bencher: Bencher<'_, '_>, count: usize) {
    let tags = |changed: &str| -> Value {
        let tag = |index: usize| json!({"Key": format!("key-{index}"), "Value": if index == count / 2 { changed } else { "same" }});
        json!({"QueueName": "jobs", "Tags": (0..count).map(tag).collect::<Vec<_>>()})
    };
    let inputs = Inputs::new(schema("AWS::SQS::Queue"), tags("new"), tags("old"));
    inputs.bench(bencher, Action::Update);
}
