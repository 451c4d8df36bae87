//! Invariants of all plans, for every embedded type, in seeded worlds.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod every;
mod judge;
mod worlds;

use serde_json::Value;
use ucp_model::{json, pointer};
use ucp_plan::{Action, Cause, Effect, Known, Mode, Plan, Reason, deltas, plan};
use ucp_schema::{Classes, ResourceSchema};

use judge::{baseline, desired};
use worlds::Chance;

fn for_every_type(check: impl Fn(&ResourceSchema, u64) -> Result<(), String> + Sync) {
    every::type_and_seed(|schema, seed| check(schema, seed).map(|()| 1));
}

#[test]
fn what_is_declared_is_reached_and_nothing_else_is_touched() {
    for_every_type(|schema, seed| {
        let mut chance = Chance::new(seed);
        let declared = ucp_sample::declaration(schema, seed);
        let live = worlds::live(schema, &declared, &mut chance);
        let next = worlds::mutated(schema, &declared, &mut chance);
        for mode in [Mode::Merge, Mode::Replace] {
            check_plan(schema, &next, Some(&declared), &live, mode).map_err(|problem| {
                format!("{mode:?}: {problem}\n  live {live}\n  last {declared}\n  next {next}")
            })?;
        }
        check_plan(schema, &next, None, &live, Mode::Merge)
            .map_err(|problem| format!("without history: {problem}\n  live {live}\n  next {next}"))
    });
}

#[test]
fn what_is_applied_already_is_not_applied_again() {
    for_every_type(|schema, seed| {
        let mut chance = Chance::new(seed);
        let declared = ucp_sample::declaration(schema, seed);
        let live = worlds::live(schema, &declared, &mut chance);
        let again = planned(schema, &declared, Some(&declared), &live, Mode::Merge);
        match again.action {
            Action::Noop => Ok(()),
            _ => Err(format!("{again:?}\n  live {live}\n  declared {declared}")),
        }
    });
}

/// After an import no digest is known. A write-only value of a type without an update handler can be neither compared
/// nor sent, so it is assumed to be unchanged, with a warning.
#[test]
fn what_can_be_neither_compared_nor_sent_is_assumed_unchanged() {
    for_every_type(|schema, seed| {
        if schema.is_updatable() {
            return Ok(());
        }
        let mut chance = Chance::new(seed);
        let declared = ucp_sample::declaration(schema, seed);
        let live = worlds::live(schema, &declared, &mut chance);
        let imported = planned(schema, &declared, None, &live, Mode::Merge);
        match imported.action {
            Action::Noop => Ok(()),
            _ => Err(format!(
                "{imported:?}\n  live {live}\n  declared {declared}"
            )),
        }
    });
}

#[test]
fn the_order_of_members_says_nothing() {
    for_every_type(|schema, seed| {
        let mut chance = Chance::new(seed);
        let declared = ucp_sample::declaration(schema, seed);
        let live = worlds::live(schema, &declared, &mut chance);
        let next = worlds::mutated(schema, &declared, &mut chance);
        let one = planned(schema, &next, Some(&declared), &live, Mode::Merge);
        let shuffle = |value: &Value| worlds::shuffled(value, &mut Chance::new(seed));
        let other = planned(
            schema,
            &shuffle(&next),
            Some(&shuffle(&declared)),
            &shuffle(&live),
            Mode::Merge,
        );
        let told = |plan: &Plan| {
            let patch = serde_json::to_value(&plan.patch).unwrap();
            format!(
                "{:?} {:?} {}",
                plan.action,
                plan.replace_paths,
                json::canonical(&patch)
            )
        };
        if told(&one) == told(&other) {
            Ok(())
        } else {
            Err(format!("{}\n  {}", told(&one), told(&other)))
        }
    });
}

/// A change of the caller is never told as one of others, and the other way round.
#[test]
fn each_difference_has_the_right_cause() {
    for_every_type(|schema, seed| {
        let mut chance = Chance::new(seed);
        let declared = ucp_sample::declaration(schema, seed);
        let live = worlds::live(schema, &declared, &mut chance);
        let next = worlds::mutated(schema, &declared, &mut chance);
        let drifted = worlds::live(schema, &next, &mut Chance::new(seed));
        // Who has changed it: the caller, or AWS; and the latter since the last put, or ever since.
        for (live, observed, declaration, wrong) in [
            (&live, &live, &next, [Cause::Drift, Cause::NotApplied]),
            (
                &drifted,
                &live,
                &declared,
                [Cause::Declaration, Cause::NotApplied],
            ),
            (
                &drifted,
                &drifted,
                &declared,
                [Cause::Declaration, Cause::Drift],
            ),
        ] {
            let plan = planned(schema, declaration, Some(&declared), live, Mode::Merge);
            let last = baseline(&declared, schema);
            let declared_now = baseline(declaration, schema);
            let known = Known {
                live,
                declared: &declared_now,
                last_applied: Some(&last),
                observed: Some(observed),
            };
            let deltas = deltas(&plan, &known, schema);
            let changes = deltas.iter().filter(|delta| delta.effect != Effect::None);
            let found = changes.clone().find(|delta| wrong.contains(&delta.cause));
            if let Some(found) = found {
                return Err(format!(
                    "{found:?} {:?} {:?}\n  live {live}\n  observed {observed}\n  last {declared}\n  next {declaration}",
                    found.before, found.after
                ));
            }
            if plan.action == Action::Update && changes.count() == 0 {
                return Err(format!("{plan:?} tells nothing"));
            }
        }
        Ok(())
    });
}

fn planned(
    schema: &ResourceSchema,
    next: &Value,
    last: Option<&Value>,
    live: &Value,
    mode: Mode,
) -> Plan {
    let last = last.map(|last| baseline(last, schema));
    plan(
        &desired(next, schema),
        last.as_ref(),
        Some(live),
        schema,
        mode,
    )
}

fn check_plan(
    schema: &ResourceSchema,
    next: &Value,
    last: Option<&Value>,
    live: &Value,
    mode: Mode,
) -> Result<(), String> {
    let plan = planned(schema, next, last, live, mode);
    let patch = serde_json::to_string(&plan.patch).unwrap();
    match plan.action {
        Action::Create | Action::Error => return Err(format!("{plan:?}")),
        Action::Noop if plan.patch.0.is_empty() => return Ok(()),
        Action::Replace if plan.patch.0.is_empty() && !plan.replace_paths.is_empty() => {
            return Ok(());
        }
        Action::Update if !plan.patch.0.is_empty() => {}
        Action::Noop | Action::Replace | Action::Update => {
            return Err(format!("{plan:?}: {patch}"));
        }
    }
    let mut result = live.clone();
    json_patch::patch(&mut result, &plan.patch).map_err(|error| format!("{error}: {patch}"))?;
    if !json::equal(&result, &plan.planned) {
        return Err(format!("{patch} gives {result}, not {}", plan.planned));
    }
    let written = plan
        .patch
        .0
        .iter()
        .map(|operation| operation.path().to_string());
    if let Some(path) = written.into_iter().find(|path| is_fixed(schema, path)) {
        return Err(format!("writes to {path}: {patch}"));
    }
    let visible = schema.without_write_only(&result);
    for class in [Classes::READ_ONLY, Classes::CREATE_ONLY] {
        check_fixed(schema, live, &visible, class)?;
    }
    if mode == Mode::Merge {
        check_kept(next, last, live, &plan)?;
    }
    let again = planned(schema, next, Some(next), &visible, mode);
    if again.action != Action::Noop {
        return Err(format!(
            "{patch} does not settle: {again:?} {}",
            serde_json::to_string(&again.patch).unwrap()
        ));
    }
    Ok(())
}

fn is_fixed(schema: &ResourceSchema, path: &str) -> bool {
    let tokens: Vec<String> = path.split('/').skip(1).map(pointer::unescape).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    schema.lists(Classes::READ_ONLY | Classes::CREATE_ONLY, &tokens)
}

/// Read-only and create-only values are unchanged, except those of removed list elements.
fn check_fixed(
    schema: &ResourceSchema,
    live: &Value,
    result: &Value,
    class: Classes,
) -> Result<(), String> {
    let mut left = worlds::of_class(live, schema.root(), class);
    let after = worlds::of_class(result, schema.root(), class);
    for value in &after {
        match left.iter().position(|known| known == value) {
            Some(place) => drop(left.swap_remove(place)),
            None if class == Classes::CREATE_ONLY && value.0.contains('*') => {}
            None => return Err(format!("{value:?} is new in {class:?}")),
        }
    }
    match left.iter().find(|(place, _)| !place.contains('*')) {
        Some(lost) if !is_in_list(live, &lost.0) => Err(format!("{lost:?} is lost")),
        _ => Ok(()),
    }
}

fn is_in_list(live: &Value, pattern: &str) -> bool {
    live.pointer(pattern).is_none()
}

/// Undeclared top-level properties are unchanged, except for values that AWS would refuse in an update.
fn check_kept(next: &Value, last: Option<&Value>, live: &Value, plan: &Plan) -> Result<(), String> {
    for (name, value) in live.as_object().unwrap() {
        let is_declared =
            next.get(name).is_some() || last.is_some_and(|last| last.get(name).is_some());
        let place = pointer::join("", name);
        let is_tidied = plan
            .changes
            .iter()
            .any(|change| change.reason == Reason::Tidied && change.path.starts_with(&place));
        if !is_declared && !is_tidied && plan.planned.get(name) != Some(value) {
            return Err(format!("{name} was never declared and changes"));
        }
    }
    Ok(())
}
