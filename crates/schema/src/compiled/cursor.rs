use ucp_model::json::Step;

use super::classes::TrieNode;
use super::shape::Shape;
use super::{Classes, Compiled, ListShape};
use crate::pattern::Patterns;
use crate::{PropertyPath, Transform};

/// Where a walk through a document stands in its schema.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'s> {
    compiled: &'s Compiled,
    patterns: &'s Patterns,
    shape: &'s Shape,
    node: Option<&'s TrieNode>,
    classes: Classes,
    create_only: Option<usize>,
    /// Whether it is a list whose name tells that its order means nothing.
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

    /// The type whose schema it is.
    pub fn type_name(self) -> &'s str {
        &self.compiled.type_name
    }

    /// The member of an object that is called `name`; none when the object has no such member.
    pub fn member(self, name: &str) -> Option<Self> {
        let shapes = &self.compiled.shapes;
        let (shape, is_set) = shapes.member(self.shape, name, self.patterns)?;
        Some(self.step(shape, self.node_of(name), is_set))
    }

    /// The same, taking a member that the schema does not know for anything: AWS may return more than it publishes.
    pub fn member_or_anything(self, name: &str) -> Self {
        self.member(name).unwrap_or_else(|| {
            let anything = self.compiled.shapes.anything();
            self.step(anything, self.node_of(name), false)
        })
    }

    /// What `step` leads to; none when it leads to a member that an object does not have.
    pub fn below(self, step: Step<'_>) -> Option<Self> {
        match step {
            Step::Member(name) => self.member(name),
            Step::Element(_) => Some(self.element()),
        }
    }

    /// The same, taking a member that the schema does not know for anything.
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

    /// An element of an array.
    pub fn element(self) -> Self {
        let shape = self.compiled.shapes.element(self.shape);
        let node = self.node.and_then(|node| self.compiled.trie.element(node));
        self.step(shape, node, false)
    }

    /// What a value here may be.
    pub fn shape(self) -> &'s Shape {
        self.shape
    }

    /// How elements of an array here are told apart.
    pub fn list(self) -> &'s ListShape {
        &self.shape.list
    }

    /// Whether the order of a list here means nothing: the schema says so, it holds tags, or it is named after things of
    /// which AWS keeps sets.
    pub fn is_unordered(self) -> bool {
        self.keeps_live_order() || self.is_set
    }

    /// Whether the order of a list here means nothing, as the schema says.
    pub fn keeps_live_order(self) -> bool {
        self.shape.list.is_unordered || self.is(Classes::TAGS)
    }

    /// Whether a value here is in one of `classes`.
    pub fn is(self, classes: Classes) -> bool {
        self.classes.has(classes)
    }

    /// Whether something further down is in one of `classes`.
    pub fn holds(self, classes: Classes) -> bool {
        self.node.is_some_and(|node| node.below.has(classes))
    }

    /// Whether a value here or something further down is in one of `classes`.
    pub fn is_or_holds(self, classes: Classes) -> bool {
        self.is(classes) || self.holds(classes)
    }

    /// The path of `createOnlyProperties` that makes a value here create-only.
    pub fn create_only_path(self) -> Option<&'s PropertyPath> {
        self.create_only
            .map(|index| &self.compiled.create_only[index])
    }

    /// How AWS stores what is declared here.
    pub fn transform(self) -> Option<&'s Transform> {
        let index = self.node?.mark.transform?;
        Some(&self.compiled.transforms[index])
    }
}

impl Classes {
    /// Those that hold for what is below as well. A tag list is one, its tags are not.
    fn inherited(self) -> Self {
        Self(self.0 & !Self::TAGS.0)
    }
}
