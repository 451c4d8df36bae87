use std::collections::BTreeMap;

use serde_json::Value;
use ucp_schema::ResourceSchema;

use crate::{Desired, Mode, plan};

/// Returns the create-only values of `live`, by JSON Pointer, that a put of `desired` would have to replace the resource for. In the
/// read that follows that put they are AWS's own form of what was sent.
pub fn shown(desired: &Desired, live: &Value, schema: &ResourceSchema) -> BTreeMap<String, Value> {
    let plan = plan(desired, None, Some(live), schema, Mode::Merge);
    let fixed = plan.changes.iter().filter(|it| it.forces_replacement);
    fixed
        .filter_map(|change| Some((change.path.clone(), live.pointer(&change.path)?.clone())))
        .collect()
}
