//! Places in the properties of a resource.

use ucp_model::pointer;
use ucp_schema::{Classes, Cursor, ResourceSchema, Types};

/// A place in the properties of a resource, through objects alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The index of the resource.
    pub(crate) resource: usize,
    /// The names of members.
    pub(crate) path: Vec<String>,
}

/// Returns a path as a JSON Pointer.
pub(crate) fn to_pointer<T: AsRef<str>>(path: &[T]) -> String {
    let path = path.iter();
    path.fold(String::new(), |above, name| {
        pointer::join(&above, name.as_ref())
    })
}

/// Returns the cursor at a path. `None` if the type has no such property, or only through a list.
pub(crate) fn cursor<'s, T: AsRef<str>>(
    schema: &'s ResourceSchema,
    path: &[T],
) -> Option<Cursor<'s>> {
    path.iter().try_fold(schema.root(), |cursor, name| {
        let types = cursor.shape().types;
        let is_object = types.is_any() || types.names(Types::OBJECT);
        is_object.then(|| cursor.member(name.as_ref())).flatten()
    })
}

/// Returns why values at a place cannot be changed once the resource exists, if so. In paths of values, elements of lists
/// are named by their index.
pub(crate) fn fixed(schema: &ResourceSchema, path: &[String]) -> Option<String> {
    let type_name = schema.type_name();
    if !schema.is_updatable() {
        return Some(format!(
            "{type_name} cannot be updated: it has no update handler"
        ));
    }
    let at = path
        .iter()
        .fold(schema.root(), |cursor, name| match name.parse::<usize>() {
            Ok(_) if cursor.member(name).is_none() || is_list(cursor) => cursor.element(),
            _ => cursor.member_or_anything(name),
        });
    let place = to_pointer(path);
    if at.is(Classes::CREATE_ONLY) {
        return Some(format!("{place} of {type_name} is create-only"));
    }
    at.holds(Classes::CREATE_ONLY)
        .then(|| format!("{place} of {type_name} has create-only properties in it"))
}

fn is_list(cursor: Cursor<'_>) -> bool {
    cursor.shape().types == Types::ARRAY
}
