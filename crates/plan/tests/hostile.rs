//! Declarations that are made to take long, of every embedded type. What judging them takes is measured in CPU time of the
//! thread, so that a busy machine makes no difference, and beside what reading a document takes, so that a slow one makes none.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use ucp_model::operation::Options;
use ucp_model::{Digest, Identifier, Scope, TypeName};
use ucp_plan::{Desired, Live, Question, Subject, judge};
use ucp_sample::{cpu_time, disarranged, hostile};
use ucp_schema::{Catalogue, Declaration, ResourceSchema};

/// How often the longest declaration could be read in the time of one judgement, at most.
const BOUND: u32 = 120;
/// How often it is read to measure that. The fastest counts.
const READINGS: usize = 20;

/// Returns the CPU time that reading a document of the length of the longest declaration takes.
fn reading() -> Duration {
    let element = r#"{"Name":"a name","Values":["one",2,null]},"#;
    let mut text = format!("[{}", element.repeat(1_048_576 / element.len()));
    text.replace_range(text.len() - 1.., "]");
    let took = (0..READINGS).map(|_| {
        let before = cpu_time();
        let read: Value = serde_json::from_str(&text).expect("a document");
        let took = cpu_time().saturating_sub(before);
        drop(read);
        took
    });
    took.min().expect("it is read")
}

/// How many types are told at the end.
const TOLD: usize = 10;

/// What took longest, the worst first. Each type once.
#[derive(Default)]
struct Worst(Vec<Judged>);

struct Judged {
    took: Duration,
    type_name: TypeName,
    what: String,
}

impl Worst {
    fn measure<T>(
        &mut self,
        what: &str,
        schema: &ResourceSchema,
        seed: u64,
        work: impl FnOnce() -> T,
    ) -> T {
        let before = cpu_time();
        let done = work();
        let took = cpu_time().saturating_sub(before);
        let type_name = schema.type_name();
        let is_worse = |judged: &Judged| judged.type_name == *type_name && judged.took >= took;
        if !self.0.iter().any(is_worse) {
            self.0.retain(|judged| judged.type_name != *type_name);
            self.0.push(Judged {
                took,
                type_name: type_name.clone(),
                what: format!("{what} {type_name} with seed {seed}"),
            });
            self.0.sort_by_key(|judged| std::cmp::Reverse(judged.took));
            self.0.truncate(TOLD);
        }
        done
    }

    /// Prints the worst, and fails if it is above the bound.
    fn judge(&self) {
        for Judged { took, what, .. } in &self.0 {
            println!("{took:>10.1?}: {what}");
        }
        let worst = self.0.first().expect("something was judged");
        let reading = reading();
        println!("{reading:>10.1?}: reading a document of that length");
        assert!(
            worst.took < reading * BOUND,
            "{:?}: {}; reading a document takes {reading:?}",
            worst.took,
            worst.what
        );
    }
}

fn desired(properties: Value, schema: &ResourceSchema) -> Desired {
    Desired::new(Declaration::stored(properties), schema, |_, _| {
        Digest::default()
    })
}

fn attack(schema: &ResourceSchema, seed: u64, worst: &mut Worst) {
    let properties = hostile(schema, seed);
    let length = properties.to_string().chars().count();
    assert!(
        length <= 1_048_576,
        "{} with seed {seed}: {length}",
        schema.type_name()
    );
    // What is compiled once is not part of any judgement.
    schema.compile();
    let members = properties.as_object().cloned().expect("an object");
    let tags = Default::default();
    let _ = worst.measure("parsing", schema, seed, || {
        Declaration::parse(members, schema, &tags, None).is_ok()
    });
    let live = disarranged(&properties, seed);
    let last = desired(disarranged(&properties, seed + 1), schema).baseline;
    let wanted = worst.measure("digesting", schema, seed, || desired(properties, schema));
    let scope = Scope::new("aws", "123456789012", "us-east-1").expect("a scope");
    let identifier = Identifier::new("a");
    for (what, live, last_applied) in [
        ("creating", Live::Absent, None),
        ("changing", Live::Present(&identifier, &live), None),
        (
            "changing again",
            Live::Present(&identifier, &live),
            Some(&last),
        ),
    ] {
        let question = Question {
            desired: &wanted,
            last_applied,
            live,
            subject: Subject::new(&scope, schema.type_name()),
            schema,
            options: Options::default(),
        };
        worst.measure(what, schema, seed, || judge(&question));
    }
}

/// What was found to take longer once.
const FOUND: [(&str, u64); 5] = [
    // Texts of spaces, each of which was searched for a document whenever it was compared.
    ("AWS::CloudWatch::ResourceMetricsConfiguration", 1663),
    ("AWS::FraudDetector::EventType", 1299),
    ("AWS::RDS::OptionGroup", 1127),
    ("AWS::SageMaker::ModelPackage", 1706),
    ("AWS::SecurityHub::SecurityControl", 2071),
];

#[test]
fn what_took_long_does_not_any_more() {
    let mut worst = Worst::default();
    for (name, seed) in FOUND {
        let name = TypeName::from_cloudformation(name).expect("a name");
        let schema = Catalogue::embedded().get(&name).expect("a schema");
        attack(&schema, seed, &mut worst);
    }
    worst.judge();
}

fn environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Judges declarations for `UCP_SECONDS` seconds of all threads together, each of another type, with a seed from `UCP_SEED` on.
/// With `UCP_TYPES=all` it goes on until it has judged one of each type.
#[test]
fn no_declaration_takes_long() {
    let seconds = environment("UCP_SECONDS").unwrap_or(20);
    let first = environment("UCP_SEED").unwrap_or(1);
    let are_all = std::env::var("UCP_TYPES").is_ok_and(|types| types == "all");
    let catalogue = Catalogue::embedded();
    let names: Vec<&TypeName> = catalogue.type_names().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let time = Duration::from_secs(seconds) / u32::try_from(threads).expect("a small number");
    let (start, begun) = (Instant::now(), AtomicUsize::new(0));
    let judge = || {
        let mut worst = Worst::default();
        loop {
            let index = begun.fetch_add(1, Ordering::Relaxed);
            if start.elapsed() > time && (!are_all || index >= names.len()) {
                return worst;
            }
            let seed = first + index as u64;
            // Each of them once in as many seeds as there are types.
            let spread = usize::try_from(seed).expect("a small seed") * 7_919;
            let schema = catalogue.get(names[spread % names.len()]);
            attack(&schema.expect("a schema"), seed, &mut worst);
        }
    };
    let shares: Vec<Worst> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(judge)).collect();
        let ends = workers.into_iter().map(|worker| worker.join());
        ends.map(|end| end.expect("no panic")).collect()
    });
    let count = begun.into_inner() - threads;
    println!("{count} declarations of {} types", count.min(names.len()));
    shares.iter().for_each(Worst::judge);
}
