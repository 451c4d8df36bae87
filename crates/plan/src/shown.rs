use std::collections::BTreeMap;

use serde_json::Value;
use ucp_model::{Baseline, pointer};
use ucp_schema::{Classes, Declaration, ResourceSchema};

use crate::{Desired, Mode, plan};

/// Returns what a put leaves to compare the next one with. `live` is what the read that followed has shown, if it has.
pub fn applied(desired: Desired, live: Option<&Value>, schema: &ResourceSchema) -> Baseline {
    let shown = live.map(|live| shown(&desired, live, schema));
    Baseline {
        is_made: desired.baseline.is_made && shown.is_none(),
        is_seen: shown.is_some(),
        shown: shown.unwrap_or_default(),
        ..desired.baseline
    }
}

/// The same of a create that AWS calls failed, and that has made the resource. What AWS has taken of the write-only values is not
/// known, so they are sent again. The read that followed may have shown what was half made, so it does not count.
pub fn left_by_failed_create(desired: Desired, schema: &ResourceSchema) -> Baseline {
    let secrets = desired.baseline.digests.keys();
    let names = secrets.filter_map(|at| at.split('/').nth(1));
    let is_changeable =
        |name: &&str| !schema.lists(Classes::CREATE_ONLY, &[&*pointer::unescape(name)]);
    let sent = names.filter(is_changeable).map(|name| format!("/{name}"));
    Baseline {
        unconfirmed: sent.collect(),
        ..desired.baseline
    }
}

/// Returns a baseline that no read has [followed](Baseline::is_seen) as it is after the first one. That must have shown the resource
/// which was put, and not another one of its name.
pub fn first_seen(last: &Baseline, live: &Value, schema: &ResourceSchema) -> Baseline {
    let desired = Desired {
        declaration: Declaration::stored(last.declared.clone()),
        baseline: last.clone(),
    };
    applied(desired, Some(live), schema)
}

/// Returns the create-only values of `live`, by JSON Pointer, that a put of `desired` would have to replace the resource for. In the
/// read that follows that put they are AWS's own form of what was sent.
fn shown(desired: &Desired, live: &Value, schema: &ResourceSchema) -> BTreeMap<String, Value> {
    let plan = plan(desired, None, Some(live), schema, Mode::Merge);
    let fixed = plan.changes.iter().filter(|it| it.forces_replacement);
    fixed
        .filter_map(|change| Some((change.path.clone(), live.pointer(&change.path)?.clone())))
        .collect()
}
