//! The compiled form of a schema, for lookups in constant time during a walk through a document. A [`Shape`] describes
//! the valid values at a location, [`Classes`] are its property classes, and a [`Cursor`] is the current location.

mod classes;
mod cursor;
mod list;
mod list_shape;
mod resolve;
mod shape;
mod warning;

use serde_json::Value;
use ucp_model::pointer;

pub use classes::Classes;
pub use cursor::Cursor;
pub use list_shape::ListShape;
pub use shape::{Shape, Types};
pub use warning::SchemaWarning;

use crate::{PropertyPath, Transform};
use classes::Trie;
use shape::Shapes;

/// The compiled form of a schema document.
#[derive(Debug)]
pub(crate) struct Compiled {
    type_name: String,
    shapes: Shapes,
    trie: Trie,
    /// The paths in `createOnlyProperties`, which nodes of the trie refer to by index.
    create_only: Vec<PropertyPath>,
    transforms: Vec<Transform>,
    pub(crate) warnings: Vec<SchemaWarning>,
}

impl Compiled {
    pub(crate) fn of(document: &Value) -> Self {
        let type_name = document.get("typeName").and_then(Value::as_str);
        let type_name = type_name.unwrap_or_default();
        let (mut shapes, mut warnings) = Shapes::of(document);
        shapes.judge_lists(type_name);
        let mut compiled = Self {
            type_name: type_name.into(),
            shapes,
            trie: Trie::default(),
            create_only: Vec::new(),
            transforms: Vec::new(),
            warnings: Vec::new(),
        };
        let mut routes = classes::Routes::default();
        let mut steps_left = resolve::MAX_STEPS;
        for (class, keyword) in Classes::LISTED {
            let listed = document.get(keyword).and_then(Value::as_array);
            for (index, text) in listed.into_iter().flatten().enumerate() {
                let text = text.as_str().unwrap_or_default();
                let mut mark = classes::Mark::of(class);
                if class == Classes::CREATE_ONLY {
                    mark.create_only = Some(compiled.create_only.len());
                    compiled.create_only.push(resolve::listed(text));
                }
                let resolved = compiled.shapes.resolve(text, &mut steps_left);
                if resolved.is_empty() {
                    warnings.push(SchemaWarning {
                        pointer: format!("/{keyword}/{index}"),
                        message: format!("{text} leads to no property"),
                    });
                }
                for path in resolved {
                    routes.add(&path, mark);
                }
            }
        }
        compiled.mark_identifier(document, &mut routes, &mut steps_left);
        compiled.mark_tags(document, &mut routes, &mut steps_left);
        compiled.mark_transforms(document, &mut routes, &mut warnings, &mut steps_left);
        compiled.trie = routes.into_trie();
        compiled.warnings = warnings;
        compiled
    }

    /// Marks the primary identifier as create-only, even if the schema does not list it there.
    fn mark_identifier(
        &self,
        document: &Value,
        routes: &mut classes::Routes,
        steps_left: &mut usize,
    ) {
        let listed = document.get("primaryIdentifier").and_then(Value::as_array);
        for text in listed.into_iter().flatten().filter_map(Value::as_str) {
            for path in self.shapes.resolve(text, steps_left) {
                routes.add(&path, classes::Mark::of(Classes::CREATE_ONLY));
            }
        }
    }

    /// Marks the tags: the property in `tagging.tagProperty`, or the one called `Tags`.
    fn mark_tags(&self, document: &Value, routes: &mut classes::Routes, steps_left: &mut usize) {
        let named = document.pointer("/tagging/tagProperty");
        let text = named.and_then(Value::as_str).unwrap_or("/properties/Tags");
        for path in self.shapes.resolve(text, steps_left) {
            routes.add(&path, classes::Mark::of(Classes::TAGS));
        }
    }

    fn mark_transforms(
        &mut self,
        document: &Value,
        routes: &mut classes::Routes,
        warnings: &mut Vec<SchemaWarning>,
        steps_left: &mut usize,
    ) {
        let transforms = document.get("propertyTransform").and_then(Value::as_object);
        for (path, expression) in transforms.into_iter().flatten() {
            let (transform, problems) = Transform::parse(expression.as_str().unwrap_or_default());
            let resolved = self.shapes.resolve(path, steps_left);
            let unresolved = resolved
                .is_empty()
                .then(|| format!("{path} leads to no property"));
            warnings.extend(problems.into_iter().chain(unresolved).map(|message| {
                let pointer = pointer::join("/propertyTransform", path);
                SchemaWarning { pointer, message }
            }));
            for path in resolved {
                let mut mark = classes::Mark::of(Classes::NONE);
                mark.transform = Some(self.transforms.len());
                routes.add(&path, mark);
            }
            self.transforms.push(transform);
        }
    }
}
