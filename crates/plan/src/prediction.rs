//! How good a plan was: what a put was to make of a resource, compared with what AWS shows after it.

use std::collections::BTreeSet;

use serde_json::Value;
use ucp_model::operation::{Difference, DifferenceKind, Prediction, Proof};
use ucp_model::{json, pointer};
use ucp_schema::{Classes, ResourceSchema};

use crate::{Change, Desired, Plan, Reason};

/// The most places of a kind that a prediction names.
const PLACES_MAX: usize = 100;
/// The longest value that a difference has, in characters of JSON.
const VALUE_MAX: usize = 1_000;

/// Returns how good the plan of a put was. `again` is what a put of the planned model would change now, and `shown` what AWS
/// shows.
///
/// Values are compared as a plan compares them, so those that AWS stores in another form are as planned. What no read
/// shows and what only AWS sets cannot be wrong, nor can values that AWS adds where none was planned.
pub(crate) fn prediction(
    again: &Plan,
    proof: &Proof,
    desired: &Desired,
    shown: &Value,
    schema: &ResourceSchema,
) -> Prediction {
    let is_seen = |change: &&Change| change.reason == Reason::Declared && !change.is_write_only;
    let mut differences: Vec<Difference> = again
        .changes
        .iter()
        .filter(is_seen)
        .map(|change| difference(change, shown))
        .collect();
    // What was to be removed is not declared, so another put would not see it.
    for place in proof.dropped.iter().chain(&proof.different) {
        let is_told = differences.iter().any(|told| {
            pointer::is_within(&told.path, place) || pointer::is_within(place, &told.path)
        });
        if !is_told {
            differences.push(Difference {
                path: place.clone(),
                kind: DifferenceKind::Different,
                planned: None,
                live: shown.pointer(place).and_then(short),
            });
        }
    }
    let secrets = desired.baseline.digests.keys();
    let unreadable: BTreeSet<&String> = proof.unreadable.iter().chain(secrets).collect();
    let declared = desired.baseline.declared.as_object();
    let confirmed = declared.into_iter().flatten().filter(|(name, _)| {
        let property = pointer::join("", name);
        let cursor = schema.root().member_or_anything(name);
        let mut differences = differences.iter();
        !cursor.is(Classes::READ_ONLY)
            && !differences.any(|difference| pointer::is_within(&difference.path, &property))
    });
    let confirmed = confirmed.count();
    let exact = differences.is_empty();
    differences.truncate(PLACES_MAX);
    Prediction {
        exact,
        confirmed: u32::try_from(confirmed).unwrap_or(u32::MAX),
        differences,
        unreadable: unreadable.into_iter().take(PLACES_MAX).cloned().collect(),
    }
}

fn difference(change: &Change, shown: &Value) -> Difference {
    let is_missing = shown.pointer(&change.path).is_none();
    let value = |value: &Option<Value>| {
        let value = value.as_ref().filter(|_| !change.is_sensitive);
        value.and_then(short)
    };
    Difference {
        path: change.path.clone(),
        kind: if is_missing {
            DifferenceKind::Missing
        } else {
            DifferenceKind::Different
        },
        planned: value(&change.after),
        live: value(&change.before),
    }
}

fn short(value: &Value) -> Option<Value> {
    (json::canonical(value).len() <= VALUE_MAX).then(|| value.clone())
}
