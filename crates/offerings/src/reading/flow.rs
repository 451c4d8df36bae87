//! Where a value gets to: from its place to the properties that refer to that, and on from there.

use std::collections::BTreeSet;

use ucp_model::pointer;

use crate::place::{Place, to_pointer};
use crate::template::{Name, Use};

/// Returns the places, and all that have a value of theirs. `uses` are the names in the properties of resources, by their
/// indexes. What AWS makes of a value, such as the ARN of a name, is not known here.
pub(super) fn reached<'u>(
    from: impl IntoIterator<Item = Place>,
    uses: impl Iterator<Item = &'u (usize, Use)> + Clone,
) -> BTreeSet<Place> {
    let mut found: BTreeSet<Place> = BTreeSet::new();
    let mut next: Vec<Place> = from.into_iter().collect();
    while let Some(place) = next.pop() {
        if found.contains(&place) {
            continue;
        }
        let at = to_pointer(&place.path);
        let users = uses.clone().filter(|(_, used)| match &used.name {
            Name::Property { resource, pointer } => {
                *resource == place.resource
                    && (pointer::is_within(pointer, &at) || pointer::is_within(&at, pointer))
            }
            Name::Context(_) | Name::Parameter(_) | Name::Random(_) => false,
        });
        next.extend(users.map(|(user, used)| Place {
            resource: *user,
            path: used.path.clone(),
        }));
        found.insert(place);
    }
    found
}
