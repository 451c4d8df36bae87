use json_patch::Patch;
use serde_json::Value;
use ucp_model::pointer;
use ucp_schema::{Classes, Cursor, ResourceSchema, Segment, is_unknown, unknown, unknown_pointers};

use crate::change::{self, Change, ChangeKind, Reason};
use crate::merge::Merge;
use crate::{Action, Desired, Plan, same};

/// Plans a create.
pub(crate) fn plan<'a>(
    desired: &'a Desired,
    mut merge: Merge<'a>,
    schema: &'a ResourceSchema,
) -> Plan {
    let root = schema.root();
    let properties = desired.declaration.properties();
    let mut planned = merge.fresh(properties, root);
    let mut found = merge.found;
    found.errors.extend(same::wrong_types(properties, root));
    let changes = created(&planned, root);
    let mut unknown = unknown_pointers(properties);
    for path in schema.listed(Classes::READ_ONLY) {
        if let Some(pointer) = assign(&mut planned, path.segments(), root) {
            unknown.push(pointer);
        }
    }
    found.sort();
    unknown.sort_unstable();
    let action = if found.errors.is_empty() {
        Action::Create
    } else {
        Action::Error
    };
    Plan {
        action,
        patch: Patch(Vec::new()),
        planned,
        replace_paths: Vec::new(),
        unknown,
        changes,
        warnings: found.warnings,
        errors: found.errors,
    }
}

fn created(planned: &Value, root: Cursor<'_>) -> Vec<Change> {
    let members = planned.as_object().into_iter().flatten();
    let mut changes: Vec<Change> = members
        .map(|(name, value)| {
            let cursor = root.member_or_anything(name);
            let path = pointer::join("", name);
            Change {
                kind: ChangeKind::Add,
                before: None,
                is_sensitive: change::is_sensitive(value, cursor),
                after: Some(change::redacted(value, cursor)),
                reason: Reason::Declared,
                is_write_only: cursor.is(Classes::WRITE_ONLY),
                forces_replacement: false,
                path,
            }
        })
        .collect();
    changes.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    changes
}

/// Inserts an unknown value where AWS will set one, if the object that contains it will exist. Returns its pointer.
fn assign(model: &mut Value, path: &[Segment], cursor: Cursor<'_>) -> Option<String> {
    let (Segment::Key(name), rest) = path.split_first()? else {
        return None;
    };
    // Everything in an unknown value is unknown too, and is not listed.
    if is_unknown(model) {
        return None;
    }
    let below = cursor.member(name)?;
    let members = model.as_object_mut()?;
    let pointer = pointer::join("", name);
    if !rest.is_empty() {
        return Some(pointer + &assign(members.get_mut(name)?, rest, below)?);
    }
    if members.contains_key(name) {
        return None;
    }
    members.insert(name.clone(), unknown());
    Some(pointer)
}
