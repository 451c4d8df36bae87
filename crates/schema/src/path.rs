use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use ucp_model::pointer::{escape, unescape};

/// The path of a property in the syntax of schemas, `/properties/Rules/*/Name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropertyPath(Vec<Segment>);

/// One step of a [`PropertyPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The property with this name.
    Key(String),
    /// `*`: every element of an array, or every value of a map.
    Any,
}

impl PropertyPath {
    /// Returns the path of a top-level property.
    pub(crate) fn of(name: &str) -> Self {
        Self(vec![Segment::Key(name.to_owned())])
    }

    /// Returns the path of the member `name` of what is at `above`.
    pub(crate) fn below(above: &[Segment], name: &str) -> Self {
        let last = Segment::Key(name.to_owned());
        Self(above.iter().cloned().chain([last]).collect())
    }

    /// Returns the steps from the root of the model.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Returns the top-level property of the path.
    pub fn property(&self) -> Option<&str> {
        match self.0.first()? {
            Segment::Key(name) => Some(name),
            Segment::Any => None,
        }
    }

    /// Returns the path as a JSON Pointer, `/Rules/*/Name`.
    pub fn pointer(&self) -> String {
        self.0.iter().map(|segment| format!("/{segment}")).collect()
    }

    /// Returns the path for display, `Rules/*/Name`.
    pub fn in_words(&self) -> String {
        self.pointer().trim_start_matches('/').to_owned()
    }

    /// Returns the steps as [`ResourceSchema::lists`](crate::ResourceSchema::lists) takes them.
    pub fn names<'a>(&'a self) -> Vec<&'a str> {
        let name = |segment: &'a Segment| match segment {
            Segment::Key(name) => name.as_str(),
            Segment::Any => "*",
        };
        self.0.iter().map(name).collect()
    }

    /// Returns the value at this path, or `None` if a step is `*` or is missing in `model`.
    pub fn get<'a>(&self, model: &'a Value) -> Option<&'a Value> {
        self.0
            .iter()
            .try_fold(model, |value, segment| match segment {
                Segment::Key(name) => value.get(name),
                Segment::Any => None,
            })
    }
}

impl FromStr for PropertyPath {
    type Err = std::convert::Infallible;

    /// Parses every form that schemas use: with or without the leading slash and `properties`, and with `*`, `[*]` or
    /// `items` for arrays. (A property that is really called `items` is therefore read as `*`.)
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.strip_prefix('/').unwrap_or(text);
        let text = text.strip_prefix("properties/").unwrap_or(text);
        Ok(Self(
            text.split('/')
                .map(|segment| match segment {
                    "*" | "[*]" | "items" => Segment::Any,
                    name => Segment::Key(unescape(name)),
                })
                .collect(),
        ))
    }
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/properties{}", self.pointer())
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(name) => f.write_str(&escape(name)),
            Self::Any => f.write_str("*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> PropertyPath {
        text.parse().unwrap()
    }

    #[test]
    fn every_way_to_write_a_path_is_read_as_one() {
        for text in [
            "/properties/A/*/B",
            "properties/A/*/B",
            "/properties/A/items/B",
            "/properties/A/[*]/B",
            "A/*/B",
        ] {
            assert_eq!(path(text).to_string(), "/properties/A/*/B", "{text}");
        }
    }

    #[test]
    fn names_are_escaped_as_in_json_pointers() {
        let path = path("/properties/a~1b/c~0d");
        assert_eq!(
            path.segments(),
            [Segment::Key("a/b".into()), Segment::Key("c~d".into())]
        );
        assert_eq!(path.pointer(), "/a~1b/c~0d");
    }
}
