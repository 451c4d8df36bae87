//! Where a write has changed a resource, for the audit: never what the values were or are.

use std::collections::{BTreeMap, BTreeSet};

use axum::Extension;
use serde::Serialize;
use serde_json::{Map, Value};
use ucp_model::pointer;

/// The most places that an event names.
const PATHS_MAX: usize = 64;
/// The most bytes that all places of an event have. Events wait in memory while the database is away.
const BYTES_MAX: usize = 4_096;
/// The most places below one that are named if there are too many.
const BELOW_MAX: usize = 16;
/// The length of the longest place that an event names, in bytes.
const PATH_MAX_BYTES: usize = 256;
/// The members of a resource that a write may change.
const MEMBERS: [&str; 3] = ["location", "properties", "tags"];

/// How many tokens a place has: `/properties/defaultTags/team` has three.
pub(crate) const DEPTH: usize = 3;
/// The same in a plane, whose settings are free, so that names in them may be confidential.
pub(crate) const SETTINGS_DEPTH: usize = 2;

/// What the server itself says of each plane.
const SAID: [&str; 2] = ["properties", "provisioningState"];

/// In the extensions of a reply: JSON Pointers into the resource that the request has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedPaths(pub(crate) Vec<String>);

impl ChangedPaths {
    /// Compares a resource as replies show it with what was there before, if anything. Places have at most `depth` tokens.
    /// `more` are places that no reply shows.
    pub(crate) fn between<T: Serialize>(
        before: Option<T>,
        after: &T,
        depth: usize,
        more: impl IntoIterator<Item = &'static str>,
    ) -> Extension<Self> {
        let (before, after) = (members(before.as_ref()), members(Some(after)));
        let mut places = Vec::new();
        for member in MEMBERS {
            differ(
                before.get(member),
                after.get(member),
                &[member],
                depth,
                &mut places,
            );
        }
        let more = more.into_iter().map(|place| {
            let tokens = place.split('/').skip(1);
            tokens.map(pointer::unescape).collect()
        });
        places.extend(more);
        Extension(Self(bounded(&places)))
    }
}

/// The reference tokens of a place.
type Place = Vec<String>;

fn members<T: Serialize>(resource: Option<&T>) -> Map<String, Value> {
    match serde_json::to_value(resource) {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => Map::new(),
    }
}

/// Adds the places in which two values differ. What is absent is compared like an empty object with one.
fn differ(
    before: Option<&Value>,
    after: Option<&Value>,
    above: &[&str],
    depth: usize,
    places: &mut Vec<Place>,
) {
    let none = Map::new();
    let (one, other) = match (before, after) {
        (before, after) if before == after => return,
        (Some(_) | None, Some(_) | None) if above.len() >= depth => {
            return places.push(above.iter().map(|&token| token.to_owned()).collect());
        }
        (Some(Value::Object(one)), Some(Value::Object(other))) => (one, other),
        (Some(Value::Object(one)), None) => (one, &none),
        (None, Some(Value::Object(other))) => (&none, other),
        (Some(_) | None, Some(_) | None) => {
            places.push(above.iter().map(|&token| token.to_owned()).collect());
            return;
        }
    };
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for name in names {
        let below = [above, &[name.as_str()]].concat();
        if below != SAID {
            differ(one.get(name), other.get(name), &below, depth, places);
        }
    }
}

/// Returns the pointers to places, in order. If they are too many, the members of the resource and of its properties stand for
/// what changed in them: first those with many places, so that many tags hide no change of a policy.
fn bounded(places: &[Place]) -> Vec<String> {
    let mut counts = BTreeMap::<&[String], usize>::new();
    for place in places {
        *counts.entry(branch(place)).or_default() += 1;
    }
    let is_crowded = |place: &[String]| counts[branch(place)] > BELOW_MAX;
    let all = pointers(places.iter().map(|place| &place[..]));
    let without_crowds = || {
        pointers(places.iter().map(|place| {
            if is_crowded(place) {
                branch(place)
            } else {
                &place[..]
            }
        }))
    };
    let branches = || pointers(places.iter().map(|place| branch(place)));
    let members = || pointers(places.iter().map(|place| &place[..1]));
    all.or_else(without_crowds)
        .or_else(branches)
        .or_else(members)
        .unwrap_or_default()
}

/// Returns the first tokens of a place: a member of the resource, or of its properties.
fn branch(place: &[String]) -> &[String] {
    let is_property = place.first().is_some_and(|member| member == "properties");
    &place[..place.len().min(1 + usize::from(is_property))]
}

/// Returns the pointers to places, unless an event names no more of them.
fn pointers<'a>(places: impl Iterator<Item = &'a [String]>) -> Option<Vec<String>> {
    let pointers: BTreeSet<String> = places.map(shown).collect();
    let bytes: usize = pointers.iter().map(String::len).sum();
    let is_short = pointers.len() <= PATHS_MAX && bytes <= BYTES_MAX;
    is_short.then(|| pointers.into_iter().collect())
}

/// Returns the pointer to a place, or to the lowest one above it that is short enough.
fn shown(place: &[String]) -> String {
    let mut pointer = String::new();
    for token in place {
        let below = pointer::join(&pointer, token);
        if below.len() > PATH_MAX_BYTES {
            break;
        }
        pointer = below;
    }
    pointer
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn between(before: Option<Value>, after: &Value) -> Vec<String> {
        let Extension(ChangedPaths(paths)) = ChangedPaths::between(before, after, DEPTH, []);
        paths
    }

    #[test]
    fn what_differs_is_named_without_its_values() {
        let of = |properties: Value, tags: Value| json!({"id": "x", "location": "global", "properties": properties, "tags": tags});
        let before = of(
            json!({"a": {"b": 1, "c": [1]}, "same": {"x": null}}),
            json!({"team/net": "a"}),
        );
        let after = of(
            json!({"a": {"b": 2, "c": [1, 2]}, "same": {"x": null}, "new": {}}),
            json!({}),
        );
        let nothing: [&str; 0] = [];
        assert_eq!(between(Some(before.clone()), &before), nothing);
        let expected = ["/properties/a/b", "/properties/a/c", "/tags/team~1net"];
        assert_eq!(between(Some(before.clone()), &after), expected);
        assert_eq!(between(Some(after), &before), expected);
        let expected = [
            "/location",
            "/properties/a/b",
            "/properties/a/c",
            "/properties/same/x",
            "/tags/team~1net",
        ];
        assert_eq!(between(None, &before), expected);
        let without = json!({"location": "west", "tags": {"team/net": "a"}});
        let expected = [
            "/location",
            "/properties/a/b",
            "/properties/a/c",
            "/properties/same/x",
        ];
        assert_eq!(between(Some(before), &without), expected);
    }

    /// Nobody hides a change behind many others.
    #[test]
    fn places_above_stand_for_those_that_are_too_many_or_too_long() {
        let tags = |count: usize| {
            let tags = (0..count).map(|number| (format!("{number:03}"), json!("v")));
            json!({"properties": {"planPolicy": "required", "provisioningState": "Succeeded"}, "tags": Map::from_iter(tags)})
        };
        let whole = between(Some(json!({})), &tags(PATHS_MAX - 1));
        assert_eq!(whole.len(), PATHS_MAX);
        assert_eq!(whole[..2], ["/properties/planPolicy", "/tags/000"]);
        let more = between(Some(json!({})), &tags(PATHS_MAX));
        assert_eq!(more, ["/properties/planPolicy", "/tags"]);
        let settings = (0..=PATHS_MAX).map(|number| (format!("{number:03}"), json!("v")));
        let settings = json!({"location": "global", "properties": Map::from_iter(settings)});
        let most = between(Some(json!({})), &settings);
        assert_eq!(most, ["/location", "/properties"]);
        let long = (0..20).map(|number| (format!("{number:0250}"), json!("v")));
        let long = json!({"properties": {"planPolicy": "required"}, "tags": Map::from_iter(long)});
        let short = between(Some(json!({})), &long);
        assert_eq!(short, ["/properties/planPolicy", "/tags"]);
        let name = |length: usize| "n".repeat(length - "/tags/".len());
        let longest = json!({"tags": {name(PATH_MAX_BYTES): 1}});
        assert_eq!(between(None, &longest)[0].len(), PATH_MAX_BYTES);
        let longer = json!({"tags": {name(PATH_MAX_BYTES + 1): 1}});
        assert_eq!(between(None, &longer), ["/tags"]);
    }

    /// The names in the settings of a plane are free, and may be confidential.
    #[test]
    fn names_below_the_depth_are_left_out() {
        let before = json!({"properties": {"tokens": {"one": "ci"}}});
        let after = json!({"properties": {"tokens": {"two": "ci"}}});
        let Extension(ChangedPaths(paths)) =
            ChangedPaths::between(Some(before), &after, SETTINGS_DEPTH, []);
        assert_eq!(paths, ["/properties/tokens"]);
    }

    #[test]
    fn what_no_reply_shows_is_named_too() {
        let more = ["/properties/secretAccessKey"];
        let Extension(ChangedPaths(paths)) =
            ChangedPaths::between(Some(json!({})), &json!({}), DEPTH, more);
        assert_eq!(paths, more);
    }
}
