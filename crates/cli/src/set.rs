//! A set of declarations, from one or more documents.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value};
use ucp_client::Refusal;

use crate::document;

/// The members of a resource by which a document is known to be one, and not a set.
const OF_A_RESOURCE: [&str; 5] = ["alias", "trackedBy", "type", "properties", "symbolicName"];

/// A document, and what it is called in messages.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// The body of an `:apply`.
#[derive(Debug, Default)]
pub(crate) struct Set {
    pub(crate) body: Map<String, Value>,
    /// Where each resource comes from. Empty if there is only one document, which is then the set itself.
    places: Vec<Place>,
    /// Whether a document says what the resources are, if only that there are none.
    pub(crate) has_resources: bool,
}

#[derive(Debug)]
struct Place {
    document: String,
    pointer: String,
}

impl Set {
    /// Reads the documents of files as one set.
    pub(crate) fn read<'a>(files: impl Iterator<Item = &'a Path>) -> anyhow::Result<Self> {
        let mut documents = Vec::new();
        for path in files {
            let values = document::read_all(path)?;
            let name = document::name(path);
            ensure!(!values.is_empty(), "{name}: it declares nothing");
            let are_many = values.len() > 1;
            for (index, value) in values.into_iter().enumerate() {
                let name = if are_many {
                    format!("{name} (document {})", index + 1)
                } else {
                    name.clone()
                };
                documents.push(Document { name, value });
            }
        }
        Self::of(documents)
    }

    /// Makes one set of documents, each of which is a set, a list of resources, or a resource. The `scope` of a document
    /// is for its own resources.
    pub(crate) fn of(documents: Vec<Document>) -> anyhow::Result<Self> {
        let are_many = documents.len() > 1;
        let (mut set, mut resources) = (Self::default(), Vec::new());
        for Document { name, value } in documents {
            let mut part = Part::of(value).with_context(|| name.clone())?;
            set.has_resources |= part.has_resources;
            if are_many && let Some(scope) = part.body.shift_remove("scope") {
                part.give(&scope);
            }
            for (index, resource) in part.resources.into_iter().enumerate() {
                resources.push(resource);
                if are_many || part.shape != Shape::Set {
                    set.places.push(Place {
                        document: name.clone(),
                        pointer: part.shape.pointer(index),
                    });
                }
            }
            for (member, value) in part.body {
                add(&mut set.body, &member, value).with_context(|| name.clone())?;
            }
        }
        let resources = Value::Array(resources);
        set.body.insert("resources".to_owned(), resources);
        Ok(set)
    }

    /// Makes a body that is no set, but has what several groups hold.
    pub(crate) fn of_all(body: Map<String, Value>) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// Rewrites places in the body, which nobody has written, to places in the documents.
    pub(crate) fn locate(&self, refusal: &mut Refusal) {
        for detail in &mut refusal.details {
            let located = detail.target.as_deref().and_then(|at| self.located(at));
            detail.target = located.or_else(|| detail.target.take());
        }
    }

    fn located(&self, pointer: &str) -> Option<String> {
        let (index, rest) = match pointer.strip_prefix("/resources/")?.split_once('/') {
            Some((index, rest)) => (index, format!("/{rest}")),
            None => (pointer.strip_prefix("/resources/")?, String::new()),
        };
        let place = self.places.get(index.parse::<usize>().ok()?)?;
        Some(format!("{} {}{rest}", place.document, place.pointer))
    }
}

/// What a document declares.
#[derive(Debug)]
struct Part {
    shape: Shape,
    resources: Vec<Value>,
    has_resources: bool,
    /// The other members of a set.
    body: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Set,
    List,
    Resource,
}

impl Shape {
    /// Where a resource is in its document.
    fn pointer(self, index: usize) -> String {
        match self {
            Shape::Set => format!("/resources/{index}"),
            Shape::List => format!("/{index}"),
            Shape::Resource => String::new(),
        }
    }
}

impl Part {
    fn of(document: Value) -> anyhow::Result<Self> {
        let mut has_resources = true;
        let (shape, resources, body) = match document {
            Value::Array(resources) => (Shape::List, resources, Map::new()),
            Value::Object(mut body) => match body.shift_remove("resources") {
                Some(Value::Array(resources)) => (Shape::Set, resources, body),
                Some(_) => bail!("`resources` is not a list"),
                None if OF_A_RESOURCE.iter().any(|name| body.contains_key(*name)) => {
                    (Shape::Resource, vec![Value::Object(body)], Map::new())
                }
                None => {
                    has_resources = false;
                    (Shape::Set, Vec::new(), body)
                }
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                bail!("expected a set, a list of resources, or a resource")
            }
        };
        Ok(Self {
            shape,
            resources,
            has_resources,
            body,
        })
    }

    /// Gives the scope of the document to its resources.
    fn give(&mut self, scope: &Value) {
        for resource in self.resources.iter_mut().filter_map(Value::as_object_mut) {
            if !resource.contains_key("scope") {
                resource.insert("scope".to_owned(), scope.clone());
            }
        }
    }
}

/// Adds a member of a set to that of other documents.
fn add(body: &mut Map<String, Value>, member: &str, value: Value) -> anyhow::Result<()> {
    match (body.get_mut(member), value) {
        (Some(Value::Object(all)), Value::Object(more)) if member == "outputs" => {
            for (name, value) in more {
                if all.contains_key(&name) {
                    bail!("another document has an output `{name}` too");
                }
                all.insert(name, value);
            }
        }
        (Some(there), value) if *there == value => {}
        (Some(_), _) => bail!("`{member}` is another one than in another document"),
        (None, value) => {
            body.insert(member.to_owned(), value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(documents: &[(&str, Value)]) -> anyhow::Result<Set> {
        let document = |(name, value): &(&str, Value)| Document {
            name: (*name).to_owned(),
            value: value.clone(),
        };
        Set::of(documents.iter().map(document).collect())
    }

    fn body(documents: &[(&str, Value)]) -> Value {
        Value::Object(set(documents).expect("a set").body)
    }

    #[test]
    fn a_set_of_its_own_is_left_as_it_is() {
        let given = json!({"scope": "/s", "mode": "Complete", "resources": [{"alias": "a"}], "outputs": {"o": 1}});
        assert_eq!(body(&[("a.json", given.clone())]), given);
    }

    #[test]
    fn a_list_and_a_resource_are_sets_too() {
        let resource = json!({"alias": "a", "type": "T/U"});
        for given in [json!([resource]), resource.clone()] {
            assert_eq!(body(&[("a", given)]), json!({"resources": [resource]}));
        }
    }

    #[test]
    fn documents_are_joined_and_each_keeps_its_scope() {
        let one = json!({"scope": "/one", "resources": [{"alias": "a"}, {"alias": "b", "scope": "/own"}], "outputs": {"x": 1}});
        let two = json!({"scope": "/two", "resources": [{"alias": "c"}], "outputs": {"y": 2}});
        let three = json!([{"alias": "d"}]);
        assert_eq!(
            body(&[("one", one), ("two", two), ("three", three)]),
            json!({"outputs": {"x": 1, "y": 2}, "resources": [
                {"alias": "a", "scope": "/one"}, {"alias": "b", "scope": "/own"}, {"alias": "c", "scope": "/two"},
                {"alias": "d"}]})
        );
    }

    #[test]
    fn what_contradicts_another_document_is_refused() {
        let told = |one: Value, other: Value| {
            let error = set(&[("one", one), ("two", other)]).expect_err("a contradiction");
            format!("{error:#}")
        };
        assert_eq!(
            told(json!({"mode": "Complete"}), json!({"mode": "Incremental"})),
            "two: `mode` is another one than in another document"
        );
        assert_eq!(
            told(json!({"outputs": {"o": 1}}), json!({"outputs": {"o": 1}})),
            "two: another document has an output `o` too"
        );
        assert_eq!(
            told(json!({}), json!("text")),
            "two: expected a set, a list of resources, or a resource"
        );
        assert_eq!(
            told(json!({}), json!({"resources": 1})),
            "two: `resources` is not a list"
        );
    }

    #[test]
    fn errors_are_told_where_they_were_written() {
        let set = set(&[
            ("a.yaml", json!({"resources": [{"alias": "a"}]})),
            ("b.yaml", json!([{"alias": "b"}, {"alias": "c"}])),
            ("c.yaml", json!({"alias": "d"})),
        ])
        .expect("a set");
        for (pointer, place) in [
            (
                "/resources/0/properties/X",
                "a.yaml /resources/0/properties/X",
            ),
            ("/resources/2", "b.yaml /1"),
            ("/resources/3/properties", "c.yaml /properties"),
        ] {
            assert_eq!(set.located(pointer).as_deref(), Some(place));
        }
        for elsewhere in ["/outputs/x", "/resources/9", "/resources/x"] {
            assert_eq!(set.located(elsewhere), None);
        }
    }
}
