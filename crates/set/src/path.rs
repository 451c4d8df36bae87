//! Whether a place exists in the live properties of a type, as far as its schema says.

use ucp_model::pointer::Pointer;
use ucp_schema::{Classes, Cursor, ResourceSchema, Types};

use crate::detail_code::DetailCode;

/// Returns what is wrong with a reference to a place, if anything.
pub fn objection(schema: &ResourceSchema, pointer: &Pointer) -> Option<(DetailCode, String)> {
    let mut cursor = schema.root();
    let type_name = schema.type_name().arm();
    for token in pointer.tokens() {
        let name = token.decoded();
        let Some(next) = below(cursor, &name) else {
            let message =
                format!("{type_name} has no property at {pointer}. Refer to one that it has.");
            return Some((DetailCode::UnknownPath, message));
        };
        cursor = next;
    }
    if cursor.is(Classes::WRITE_ONLY) {
        let message = format!(
            "{pointer} of {type_name} is write-only: nobody can read it. Declare the value in both places, or refer to another one."
        );
        return Some((DetailCode::WriteOnly, message));
    }
    None
}

fn below<'s>(cursor: Cursor<'s>, name: &str) -> Option<Cursor<'s>> {
    let types = cursor.shape().types;
    let is_index = name == "0" || !name.starts_with('0') && name.parse::<u32>().is_ok();
    let may_be = |kind| types.is_any() || types.names(kind);
    let member = may_be(Types::OBJECT).then(|| cursor.member(name)).flatten();
    let element = (is_index && may_be(Types::ARRAY)).then(|| cursor.element());
    member.or(element)
}
