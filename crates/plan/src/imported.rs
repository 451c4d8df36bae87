//! Warnings about a resource that was imported: no put has declared it yet.

use ucp_schema::{Classes, PropertyPath, ResourceSchema, Segment};

use crate::warning::{Warning, WarningCode};

/// Returns a warning for each property that AWS never returns.
pub fn imported(schema: &ResourceSchema) -> Vec<Warning> {
    let warning = |path: &PropertyPath| {
        let code = if is_sent_later(schema, path) {
            WarningCode::WriteOnly
        } else {
            WarningCode::NotComparable
        };
        Warning::new(code, path.pointer())
    };
    schema.listed(Classes::WRITE_ONLY).map(warning).collect()
}

/// Returns whether a put can send the property after the resource was created.
fn is_sent_later(schema: &ResourceSchema, path: &PropertyPath) -> bool {
    let mut cursor = schema.root();
    for segment in path.segments() {
        cursor = match segment {
            Segment::Key(name) => cursor.member_or_anything(name),
            Segment::Any if cursor.shape().is_map() => cursor.member_or_anything("*"),
            Segment::Any => cursor.element(),
        };
    }
    schema.is_updatable() && !cursor.is(Classes::FIXED)
}
