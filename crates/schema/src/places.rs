//! Where values of a class are in a document.

use std::collections::BTreeSet;

use serde_json::Value;
use ucp_model::json::{self, Step};
use ucp_model::pointer;

use crate::{Classes, Cursor, ResourceSchema};

impl ResourceSchema {
    /// Visits the values of a class, each with its place as a JSON Pointer, and not what is in them.
    pub fn each_of(&self, class: Classes, value: &Value, mut visit: impl FnMut(&str, &Value)) {
        descend(value, self.root(), class, "", &mut visit);
    }

    /// Returns the places of write-only values, as JSON Pointers.
    pub fn write_only_in(&self, value: &Value) -> BTreeSet<String> {
        let mut places = BTreeSet::new();
        self.each_of(Classes::WRITE_ONLY, value, |place, _| {
            places.insert(place.to_owned());
        });
        places
    }
}

fn descend(
    value: &Value,
    cursor: Cursor<'_>,
    class: Classes,
    place: &str,
    visit: &mut impl FnMut(&str, &Value),
) {
    if cursor.is(class) {
        return visit(place, value);
    }
    if !cursor.holds(class) {
        return;
    }
    for (step, child) in json::children(value) {
        if let Some(cursor) = cursor.below(step) {
            let place = match step {
                Step::Member(name) => pointer::join(place, name),
                Step::Element(index) => format!("{place}/{index}"),
            };
            descend(child, cursor, class, &place, visit);
        }
    }
}
