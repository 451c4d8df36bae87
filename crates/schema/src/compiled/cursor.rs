use ucp_model::json::Step;

use super::classes::TrieNode;
use super::shape::Shape;
use super::{Classes, Compiled, ListShape};
use crate::pattern::Patterns;
use crate::{PropertyPath, Transform};

/// A location in a schema during a walk through a document.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'s> {
    compiled: &'s Compiled,
    patterns: &'s Patterns,
    shape: &'s Shape,
    node: Option<&'s TrieNode>,
    classes: Classes,
    create_only: Option<usize>,
    /// Whether it is a list that is unordered by its name.
    is_set: bool,
}

impl<'s> Cursor<'s> {
    pub(crate) fn root(compiled: &'s Compiled, patterns: &'s Patterns) -> Self {
        Self {
            compiled,
            patterns,
            shape: compiled.shapes.root(),
            node: compiled.trie.root(),
            classes: Classes::NONE,
            create_only: None,
            is_set: false,
        }
    }

    fn step(self, shape: &'s Shape, node: Option<&'s TrieNode>, is_set: bool) -> Self {
        let mark = node.map(|node| node.mark).unwrap_or_default();
        Self {
            shape,
            node,
            classes: self.classes.inherited() | mark.classes,
            create_only: mark.create_only.or(self.create_only),
            is_set,
            ..self
        }
    }

    /// Returns the name of the schema's type.
    pub fn type_name(self) -> &'s str {
        &self.compiled.type_name
    }

    /// Returns the member `name` of an object, or `None` if the object has no such member.
    pub fn member(self, name: &str) -> Option<Self> {
        let shapes = &self.compiled.shapes;
        let (shape, is_set) = shapes.member(self.shape, name, self.patterns)?;
        Some(self.step(shape, self.node_of(name), is_set))
    }

    /// Like [`member`](Self::member), but any value is valid for a member that the schema does not have: AWS may return
    /// undocumented members.
    pub fn member_or_anything(self, name: &str) -> Self {
        self.member(name).unwrap_or_else(|| {
            let anything = self.compiled.shapes.anything();
            self.step(anything, self.node_of(name), false)
        })
    }

    /// Takes a step. Returns `None` for a member that an object does not have.
    pub fn below(self, step: Step<'_>) -> Option<Self> {
        match step {
            Step::Member(name) => self.member(name),
            Step::Element(_) => Some(self.element()),
        }
    }

    /// Like [`below`](Self::below), but any value is valid for a member that the schema does not have.
    pub fn below_or_anything(self, step: Step<'_>) -> Self {
        match step {
            Step::Member(name) => self.member_or_anything(name),
            Step::Element(_) => self.element(),
        }
    }

    fn node_of(self, name: &str) -> Option<&'s TrieNode> {
        let node = self.node?;
        self.compiled.trie.member(node, name)
    }

    /// Returns the location of an array's elements.
    pub fn element(self) -> Self {
        let shape = self.compiled.shapes.element(self.shape);
        let node = self.node.and_then(|node| self.compiled.trie.element(node));
        self.step(shape, node, false)
    }

    /// Returns the shape of values here.
    pub fn shape(self) -> &'s Shape {
        self.shape
    }

    /// Returns the shape of a list here.
    pub fn list(self) -> &'s ListShape {
        &self.shape.list
    }

    /// Returns whether a list here is unordered: by its schema, because it contains tags, or by its name.
    pub fn is_unordered(self) -> bool {
        self.keeps_live_order() || self.is_set
    }

    /// Returns whether a list here is unordered by its schema or because it contains tags.
    pub fn keeps_live_order(self) -> bool {
        self.shape.list.is_unordered || self.is(Classes::TAGS)
    }

    /// Returns whether a value here has one of `classes`.
    pub fn is(self, classes: Classes) -> bool {
        self.classes.has(classes)
    }

    /// Returns whether a value below has one of `classes`.
    pub fn holds(self, classes: Classes) -> bool {
        self.node.is_some_and(|node| node.below.has(classes))
    }

    /// Returns whether a value here or below has one of `classes`.
    pub fn is_or_holds(self, classes: Classes) -> bool {
        self.is(classes) || self.holds(classes)
    }

    /// Returns the path in `createOnlyProperties` that makes a value here create-only.
    pub fn create_only_path(self) -> Option<&'s PropertyPath> {
        self.create_only
            .map(|index| &self.compiled.create_only[index])
    }

    /// Returns the transform of values here, if any.
    pub fn transform(self) -> Option<&'s Transform> {
        let index = self.node?.mark.transform?;
        Some(&self.compiled.transforms[index])
    }
}

impl Classes {
    /// Returns the classes that also apply to values below. `TAGS` is not one of them.
    fn inherited(self) -> Self {
        Self(self.0 & !Self::TAGS.0)
    }
}
