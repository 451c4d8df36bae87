//! Large sets: 200 resources of 20 types that refer to each other at random, some of whose creates fail once.

use serde_json::{Value, json};
use ucp_model::TypeName;
use ucp_schema::{Catalogue, Declaration, ResourceSchema};
use ucp_simulator::faults::{fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{World, apply, on_every_store};

use super::{send, set};

const RESOURCES: usize = 200;
const TYPES: usize = 20;
/// Five percent of the creates.
const FAILURES: u32 = 10;

/// A tag of such a value is valid with any identifier in it.
const ANY: &str = "a|b:/c{d}é";

/// A few steps of a generator of numbers, so that a seed makes one graph.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("a number of 31 bits") % bound.max(1)
    }
}

/// A small declaration of a type that AWS names and that has tags, if it is such a type.
fn sample(schema: &ResourceSchema, tag: &Value) -> Option<Value> {
    let handlers = schema.handlers();
    if !(schema.is_provisionable() && handlers.read && handlers.delete && schema.is_named_by_aws())
    {
        return None;
    }
    let mut declared = ucp_sample::declaration(schema, 7);
    let is_small = declared.to_string().len() < 1_000;
    declared
        .as_object_mut()?
        .insert("Tags".to_owned(), json!([{"Key": "of", "Value": ANY}]));
    let is_tagged = schema.validate_model(&declared).is_empty();
    let parsed = Declaration::parse(
        declared.as_object()?.clone(),
        schema,
        &Default::default(),
        None,
    );
    if !(is_small && is_tagged && schema.takes_default_tags() && parsed.is_ok()) {
        return None;
    }
    declared["Tags"][0]["Value"] = tag.clone();
    Some(declared)
}

fn types() -> Vec<TypeName> {
    let catalogue = Catalogue::embedded();
    let fits = |name: &&TypeName| {
        let schema = catalogue.get(name).expect("a schema");
        sample(&schema, &json!("x")).is_some()
    };
    catalogue
        .type_names()
        .filter(fits)
        .take(TYPES)
        .cloned()
        .collect()
}

fn random_set(seed: u64) -> Value {
    let (catalogue, types) = (Catalogue::embedded(), types());
    assert_eq!(types.len(), TYPES);
    let mut draw = Draw(seed);
    let resources = (0..RESOURCES).map(|index| {
        let mut parts = vec![json!(format!("{index}"))];
        for _ in 0..draw.below(3) {
            let other = draw.below(index);
            if other < index {
                parts.push(json!("-"));
                parts.push(json!({"$reference": format!("r{other}")}));
            }
        }
        let name = &types[index % TYPES];
        let schema = catalogue.get(name).expect("a schema");
        let properties = sample(&schema, &json!({ "$concat": parts }));
        json!({"alias": format!("r{index}"), "type": name.arm(), "properties": properties})
    });
    let mut resources: Vec<Value> = resources.collect();
    // The order of the body says nothing.
    for index in (1..resources.len()).rev() {
        resources.swap(index, draw.below(index + 1));
    }
    set(json!(resources))
}

#[apply(on_every_store)]
async fn a_large_set_is_applied_in_three_applies_with_one_create_each(world: &World) {
    let set = random_set(4);
    let failure = fault(fail(HandlerErrorCode::InvalidRequest).saying("Not now."));
    let failure = failure.on(Action::CreateResource).with_probability(0.05);
    world.aws.add_fault(failure.times(FAILURES));
    let mut applies = 0;
    loop {
        applies += 1;
        let reply = send(world, "apply", &set).await.expect(202);
        world.settle().await;
        let status = world.status(&reply).await;
        if status["status"] == "Succeeded" {
            break;
        }
        assert_eq!(status["error"]["code"], "ApplyFailed", "{status}");
        for detail in status["error"]["details"].as_array().expect("details") {
            let is_expected = detail["code"] == "InvalidRequest" || detail["code"] == "Help";
            assert!(is_expected, "{detail}");
        }
        assert!(applies < 3, "{status}");
    }
    assert!(applies > 1, "nothing failed");
    assert_eq!(world.aws.resources().len(), RESOURCES);
    assert_eq!(world.references().await.len(), 100, "the first page");
}
