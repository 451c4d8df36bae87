use serde_json::Value;

use crate::path::{PropertyPath, Segment};

/// The properties of one class, such as the write-only ones. The class of a property applies to everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathSet(Vec<PropertyPath>);

impl PathSet {
    /// Returns the paths in the order of the schema.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PropertyPath> {
        self.0.iter()
    }

    /// Returns whether the value at `segments` of a model has this class. Array elements are named by their index.
    pub(crate) fn contains(&self, segments: &[&str]) -> bool {
        self.0.iter().any(|path| covers(path.segments(), segments))
    }

    /// Removes every value of this class from `model`.
    pub(crate) fn remove_from(&self, model: &mut Value) {
        for path in &self.0 {
            remove(path.segments(), model);
        }
    }
}

impl FromIterator<PropertyPath> for PathSet {
    fn from_iter<I: IntoIterator<Item = PropertyPath>>(paths: I) -> Self {
        Self(paths.into_iter().collect())
    }
}

/// Returns whether `path` covers `segments`. Some schemas omit the `*` of an array, so an index that the path does not
/// have is skipped, here and in [`remove`].
fn covers(path: &[Segment], segments: &[&str]) -> bool {
    let Some((step, rest)) = path.split_first() else {
        return true;
    };
    let Some((segment, below)) = segments.split_first() else {
        return false;
    };
    match step {
        Segment::Any => covers(rest, below),
        Segment::Key(name) if name == segment => covers(rest, below),
        Segment::Key(_) => is_index(segment) && covers(path, below),
    }
}

fn is_index(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_digit())
}

fn remove(path: &[Segment], value: &mut Value) {
    match (path, value) {
        ([Segment::Key(name)], Value::Object(members)) => {
            members.shift_remove(name);
        }
        ([Segment::Key(name), rest @ ..], Value::Object(members)) => {
            if let Some(member) = members.get_mut(name) {
                remove(rest, member);
            }
        }
        ([Segment::Key(_), ..], Value::Array(items)) => {
            items.iter_mut().for_each(|item| remove(path, item));
        }
        ([Segment::Any], Value::Object(members)) => members.clear(),
        ([Segment::Any], Value::Array(items)) => items.clear(),
        ([Segment::Any, rest @ ..], Value::Object(members)) => {
            members.values_mut().for_each(|member| remove(rest, member));
        }
        ([Segment::Any, rest @ ..], Value::Array(items)) => {
            items.iter_mut().for_each(|item| remove(rest, item));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(paths: &[&str]) -> PathSet {
        paths.iter().map(|path| path.parse().unwrap()).collect()
    }

    #[test]
    fn a_class_covers_what_is_below_it_and_nothing_above() {
        let set = set(&["/properties/A/B", "/properties/Rules/*/Name"]);
        assert!(set.contains(&["A", "B"]));
        assert!(set.contains(&["A", "B", "C", "0"]));
        assert!(!set.contains(&["A"]));
        assert!(!set.contains(&["A", "Bc"]));
        assert!(set.contains(&["Rules", "0", "Name"]));
        assert!(set.contains(&["Rules", "some-key", "Name"]));
        assert!(!set.contains(&["Rules", "0", "Value"]));
        assert!(!set.contains(&[]));
    }

    #[test]
    fn an_array_is_entered_even_when_the_path_forgets_to_say_so() {
        let set = set(&["/properties/Rules/Secret"]);
        assert!(set.contains(&["Rules", "3", "Secret"]));
        let mut model = json!({"Rules": [{"Secret": "s", "Name": "a"}, {"Name": "b"}]});
        set.remove_from(&mut model);
        assert_eq!(model, json!({"Rules": [{"Name": "a"}, {"Name": "b"}]}));
    }

    #[test]
    fn values_are_removed_below_arrays_and_maps() {
        let mut model = json!({
            "Users": [{"Password": "p", "Name": "a"}, "not an object"],
            "Hooks": {"x": {"Token": "t"}, "y": {"Token": "u", "Url": "v"}},
            "All": {"a": 1},
            "Nested": [[{"S": 1, "T": 2}]],
            "Key": "k",
        });
        set(&[
            "/properties/Users/*/Password",
            "/properties/Hooks/*/Token",
            "/properties/All/*",
            "/properties/Nested/*/*/S",
            "/properties/Key",
            "/properties/Absent/*/X",
        ])
        .remove_from(&mut model);
        assert_eq!(
            model,
            json!({
                "Users": [{"Name": "a"}, "not an object"],
                "Hooks": {"x": {}, "y": {"Url": "v"}},
                "All": {},
                "Nested": [[{"T": 2}]],
            })
        );
    }
}
