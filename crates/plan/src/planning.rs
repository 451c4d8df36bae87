use json_patch::Patch;
use serde_json::Value;
use ucp_model::Baseline;
use ucp_schema::{ResourceSchema, unknown_pointers};

use crate::budget::Budget;
use crate::edit::Edit;
use crate::merge::Merge;
use crate::same;
use crate::{Action, Desired, Mode, Plan, change, create};

/// Plans a declaration. `last_applied` is the baseline of the last successful put, `live` the live model; either may be
/// absent.
pub fn plan(
    desired: &Desired,
    last_applied: Option<&Baseline>,
    live: Option<&Value>,
    schema: &ResourceSchema,
    mode: Mode,
) -> Plan {
    let properties = desired.declaration.properties();
    if !properties.is_object() {
        let errors = schema.validate_declaration(properties);
        return Plan::impossible(errors, live);
    }
    let budget = Budget::new();
    let merge = Merge::new(desired, last_applied, mode, schema, &budget);
    match live {
        None => create::plan(desired, merge, schema),
        Some(live) if change::is_sensitive(live, schema.root()) => {
            // Some reads return write-only values nevertheless, usually masked.
            let live = schema.without_write_only(live);
            change_plan(desired, merge, &live, schema)
        }
        Some(live) => change_plan(desired, merge, live, schema),
    }
}

/// Plans a change of a live resource.
fn change_plan<'a>(
    desired: &'a Desired,
    mut merge: Merge<'a>,
    live: &'a Value,
    schema: &'a ResourceSchema,
) -> Plan {
    let root = schema.root();
    merge.found.errors = same::wrong_types(desired.declaration.properties(), root);
    let last = merge.last.map(|last| &last.declared);
    let edit = match live {
        Value::Object(members) => {
            merge.object(desired.declaration.properties(), members, last, root)
        }
        _ => Edit::Keep,
    };
    let (mode, budget) = (merge.mode, merge.same.budget);
    let mut found = merge.found;
    found.sort();
    let is_change = edit.is_change();
    if is_change && !schema.is_updatable() {
        found.replace_all_of(&edit);
    }
    let action = if !found.errors.is_empty() {
        Action::Error
    } else if !found.replace_paths.is_empty() {
        Action::Replace
    } else if is_change {
        Action::Update
    } else {
        Action::Noop
    };
    let mut unknown = unknown_pointers(desired.declaration.properties());
    unknown.sort_unstable();
    let mut changes = found.replacements;
    if is_change {
        changes.extend(change::of(&edit, live, root));
    }
    let (patch, planned) = match action {
        Action::Update => (edit.patch(live), edit.apply(live).unwrap_or_default()),
        Action::Replace => {
            let new = create::plan(
                desired,
                Merge::new(desired, None, mode, schema, budget),
                schema,
            );
            unknown = new.unknown;
            (Patch(Vec::new()), new.planned)
        }
        Action::Create | Action::Noop | Action::Error => (Patch(Vec::new()), live.clone()),
    };
    Plan {
        action,
        patch,
        planned,
        replace_paths: found.replace_paths,
        unknown,
        changes,
        warnings: found.warnings,
        errors: found.errors,
    }
}
