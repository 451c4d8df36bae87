//! The simulator, which implements AWS's rules independently, accepts every patch and then returns the planned model.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../simulator/tests/aws/mod.rs"]
mod aws;
mod every;
mod judge;
mod worlds;

use serde_json::Value;
use ucp_plan::{Action, Mode, Plan, plan};
use ucp_schema::{ResourceSchema, Violation};
use ucp_simulator::{OperationStatus, Request};

use aws::{Aws, create, update};
use judge::{baseline, desired};
use worlds::Chance;

#[test]
fn every_patch_is_accepted_and_leads_to_what_is_declared() {
    let updates = every::type_and_seed(|schema, seed| {
        let handlers = schema.handlers();
        if !(handlers.create && handlers.read && handlers.update) {
            return Ok(0);
        }
        live(schema, seed)
    });
    println!("{updates} patches were accepted");
    // The others have nothing that an update could change, or the change requires a replacement.
    assert!(updates > 2_500, "{updates}");
}

/// Creates a resource and changes it three times. Returns how many patches were sent.
fn live(schema: &ResourceSchema, seed: u64) -> Result<u64, String> {
    let mut aws = Aws::new();
    let mut chance = Chance::new(seed);
    let mut declared = ucp_sample::declaration(schema, seed);
    let name = schema.type_name().as_str();
    // A sample may break a rule outside of the schema: a name may be empty by its pattern, but not as a part of an
    // identifier.
    let Ok(identifier) = finish(&mut aws, &create(name, &declared)) else {
        return Ok(0);
    };
    let mut updates = 0;
    for _ in 0..3 {
        let live = aws
            .get(name, &identifier)
            .map_err(|refusal| refusal.message)?;
        let next = worlds::mutated(schema, &declared, &mut chance);
        let plan = planned(schema, &next, &declared, &live);
        let is_valid =
            schema.validate_model(&next).is_empty() && introduced(schema, &live, &plan).is_empty();
        if plan.action != Action::Update || !is_valid {
            continue;
        }
        let patch = serde_json::to_value(&plan.patch).unwrap();
        let told = |problem: String| {
            format!("{problem}\n  patch {patch}\n  live {live}\n  last {declared}\n  next {next}")
        };
        finish(&mut aws, &update(name, &identifier, &patch)).map_err(told)?;
        updates += 1;
        let live = aws
            .get(name, &identifier)
            .map_err(|refusal| refusal.message)?;
        let again = planned(schema, &next, &next, &live);
        if again.action != Action::Noop {
            return Err(told(format!("does not settle: {again:?}\n  then {live}")));
        }
        declared = next;
    }
    Ok(updates)
}

fn planned(schema: &ResourceSchema, next: &Value, last: &Value, live: &Value) -> Plan {
    let last = baseline(last, schema);
    plan(
        &desired(next, schema),
        Some(&last),
        Some(live),
        schema,
        Mode::Merge,
    )
}

/// The violations that the planned model has and the live one does not. Such a patch is not sent.
fn introduced(schema: &ResourceSchema, live: &Value, plan: &Plan) -> Vec<Violation> {
    let already = schema.validate_model(live);
    let is_new = |violation: &Violation| {
        !already
            .iter()
            .any(|old| old.pointer == violation.pointer && old.code == violation.code)
    };
    schema
        .validate_model(&plan.planned)
        .into_iter()
        .filter(is_new)
        .collect()
}

fn finish(aws: &mut Aws, request: &Request) -> Result<String, String> {
    let accepted = aws.change(request).map_err(|refusal| refusal.message)?;
    aws.pass(std::time::Duration::from_secs(1));
    let event = aws
        .status(&accepted.request_token)
        .map_err(|refusal| refusal.message)?;
    match event.operation_status {
        OperationStatus::Success => Ok(event.identifier.unwrap()),
        _ => Err(event.status_message.unwrap_or_default()),
    }
}
