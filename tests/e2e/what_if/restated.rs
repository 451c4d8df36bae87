//! A resource of each type, of which AWS shows create-only values in a form of its own from the start: what is declared as it was
//! declared last is no change.

use serde_json::{Value, json};
use ucp_model::TypeName;
use ucp_schema::{Catalogue, Classes, ResourceSchema};
use ucp_simulator::Action;
use ucp_simulator::faults::{Effect, fault};
use ucp_testkit::{World, tracked_by};

/// One of so many types has its turn in a normal run; with `UCP_TYPES=all` all have, as in the nightly suite.
const SHARE: usize = 8;
/// Of so many samples of a type, the first that can be put is taken. One may be invalid in ways that the schema does not express.
const SAMPLES: std::ops::Range<u64> = 1..6;

/// What was told of the types.
#[derive(Default)]
struct Told {
    /// Those of which no sample could be put.
    refused: Vec<String>,
    /// How many could be put.
    put: usize,
    /// Of how many of them AWS shows a create-only value otherwise.
    restated: usize,
    /// How many of them AWS does not show.
    unreadable: usize,
    /// Those of which the same put is not answered with 200, or its what-if is not `NoChange`.
    changed: Vec<String>,
}

/// Puts a sample that can be put. Returns it.
async fn put(world: &World, arm: &str, schema: &ResourceSchema) -> Option<Value> {
    for seed in SAMPLES {
        let declared = ucp_sample::declaration(schema, seed);
        let reply = world.put(arm, "a", declared.clone()).await;
        if reply.status == 201 {
            world.settle().await;
            if world.status(&reply).await["status"] == "Succeeded" {
                return Some(declared);
            }
        }
    }
    None
}

/// Whether AWS shows a declared create-only value otherwise.
fn is_restated(world: &World, schema: &ResourceSchema, declared: &Value) -> bool {
    let resources = world.aws.resources();
    let live = resources
        .iter()
        .find(|live| live.type_name == schema.type_name().as_str());
    let live = live.map(|live| &live.properties);
    let mut declared = declared.as_object().into_iter().flatten();
    declared.any(|(name, value)| {
        let shown = live.and_then(|live| live.get(name));
        schema.lists(Classes::CREATE_ONLY, &[name]) && shown.is_some_and(|shown| shown != value)
    })
}

async fn tell(name: &TypeName, schema: &ResourceSchema, told: &mut Told) {
    let world = World::builder().build().await;
    let restates = fault(Effect::RestateFixed {}).on(Action::CreateResource);
    world.aws.add_fault(restates);
    let arm = name.arm();
    let Some(declared) = put(&world, &arm, schema).await else {
        told.refused.push(arm);
        return;
    };
    told.put += 1;
    told.restated += usize::from(is_restated(&world, schema, &declared));
    told.unreadable += usize::from(!schema.handlers().read);
    let again = world.put(&arm, "a", declared.clone()).await;
    let body = json!({"trackedBy": tracked_by(&arm, "a"), "properties": declared});
    let result = world.post(&arm, "whatIf", &body).await.expect(200);
    let kind = &result.body["properties"]["changes"][0]["changeType"];
    if again.status != 200 || kind != "NoChange" {
        let code = again.body["error"]["code"].as_str().unwrap_or_default();
        let put = again.status;
        told.changed.push(format!("{arm}: {put} {code}, {kind}"));
    }
}

/// Judges one of `share` types, from that of the number `first` on.
async fn judge((first, share): (usize, usize)) {
    let catalogue = Catalogue::embedded();
    let mut told = Told::default();
    for name in catalogue.type_names().skip(first).step_by(share) {
        let schema = catalogue.get(name).expect("a schema");
        if schema.is_provisionable() {
            tell(name, &schema, &mut told).await;
        }
    }
    let Told {
        refused,
        put,
        restated,
        unreadable,
        changed,
    } = told;
    println!("{put} types put, {restated} of them restated, {unreadable} not readable");
    println!("{} changed without a change: {changed:#?}", changed.len());
    assert!(refused.is_empty(), "not put: {refused:?}");
    assert!(restated * 4 > put, "only {restated} of {put} are restated");
    assert!(changed.is_empty(), "{changed:#?}");
}

#[tokio::test]
async fn what_aws_shows_otherwise_from_the_start_is_no_change() {
    let is_all = std::env::var("UCP_TYPES").is_ok_and(|types| types == "all");
    let share = if is_all {
        (0, 1)
    } else {
        ucp_choice::share(SHARE, "restated")
    };
    judge(share).await;
}

/// Of every type.
#[cfg(feature = "nightly")]
mod every_type {
    #[tokio::test]
    async fn first_quarter() {
        super::judge((0, 4)).await;
    }

    #[tokio::test]
    async fn second_quarter() {
        super::judge((1, 4)).await;
    }

    #[tokio::test]
    async fn third_quarter() {
        super::judge((2, 4)).await;
    }

    #[tokio::test]
    async fn fourth_quarter() {
        super::judge((3, 4)).await;
    }
}
