use std::collections::BTreeMap;
use std::ops::BitOr;

use crate::Segment;

/// The classes that a schema assigns to a property. They also apply to everything below the property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes(pub(super) u8);

impl Classes {
    /// No class.
    pub const NONE: Self = Self(0);
    /// Set by AWS only.
    pub const READ_ONLY: Self = Self(1);
    /// Cannot be changed after creation.
    pub const CREATE_ONLY: Self = Self(2);
    /// Cannot always be changed after creation.
    pub const CONDITIONAL_CREATE_ONLY: Self = Self(4);
    /// Never returned by reads.
    pub const WRITE_ONLY: Self = Self(8);
    /// Deprecated by AWS.
    pub const DEPRECATED: Self = Self(16);
    /// Not documented by AWS.
    pub const NON_PUBLIC: Self = Self(32);
    /// The tags of the resource.
    pub const TAGS: Self = Self(64);

    /// Create-only, conditional or not.
    pub const FIXED: Self = Self(2 | 4);

    /// All classes that a schema lists.
    pub(crate) const ALL_LISTED: Self = Self(1 | 2 | 4 | 8 | 16 | 32);

    /// The classes that a schema lists, each with its keyword.
    pub(crate) const LISTED: [(Self, &'static str); 6] = [
        (Self::READ_ONLY, "readOnlyProperties"),
        (Self::CREATE_ONLY, "createOnlyProperties"),
        (
            Self::CONDITIONAL_CREATE_ONLY,
            "conditionalCreateOnlyProperties",
        ),
        (Self::WRITE_ONLY, "writeOnlyProperties"),
        (Self::DEPRECATED, "deprecatedProperties"),
        (Self::NON_PUBLIC, "nonPublicProperties"),
    ];

    /// Returns whether one of `others` is among these.
    pub fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

impl BitOr for Classes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The maximum number of nodes in a trie before the subtree of `*` is no longer repeated: each `*` may double the
/// nodes. A hundred times the need of the largest public schema.
const MAX_NODES: usize = 10_000;

/// The marks of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) classes: Classes,
    /// The index of the path in `createOnlyProperties`.
    pub(super) create_only: Option<usize>,
    pub(super) transform: Option<usize>,
}

impl Mark {
    pub(super) fn of(classes: Classes) -> Self {
        Self {
            classes,
            ..Self::default()
        }
    }

    fn add(&mut self, other: Self) {
        self.classes = self.classes | other.classes;
        self.create_only = other.create_only.or(self.create_only);
        self.transform = other.transform.or(self.transform);
    }
}

/// The paths as listed, in which a value may be reached both by its name and by `*`.
#[derive(Debug, Default)]
pub(super) struct Routes {
    mark: Mark,
    named: BTreeMap<String, Routes>,
    any: Option<Box<Routes>>,
}

impl Routes {
    pub(super) fn add(&mut self, path: &[Segment], mark: Mark) {
        let end = path.iter().fold(self, |routes, segment| match segment {
            Segment::Key(name) => routes.named.entry(name.as_str().into()).or_default(),
            Segment::Any => routes.any.get_or_insert_default(),
        });
        end.mark.add(mark);
    }

    pub(super) fn into_trie(self) -> Trie {
        let mut trie = Trie { nodes: Vec::new() };
        trie.insert(&[&self]);
        trie
    }
}

/// The same paths with exactly one node per step: the subtree of `*` is repeated below each name.
#[derive(Debug, Default)]
pub(super) struct Trie {
    nodes: Vec<TrieNode>,
}

#[derive(Debug)]
pub(super) struct TrieNode {
    pub(super) mark: Mark,
    /// The classes of everything below.
    pub(super) below: Classes,
    named: BTreeMap<String, usize>,
    any: Option<usize>,
}

impl Trie {
    pub(super) fn root(&self) -> Option<&TrieNode> {
        self.nodes.first()
    }

    pub(super) fn member(&self, node: &TrieNode, name: &str) -> Option<&TrieNode> {
        let next = node.named.get(name).copied().or(node.any);
        next.map(|next| &self.nodes[next])
    }

    pub(super) fn element(&self, node: &TrieNode) -> Option<&TrieNode> {
        node.any.map(|next| &self.nodes[next])
    }

    /// Adds a node that combines `routes`, and the nodes below it.
    fn insert(&mut self, routes: &[&Routes]) -> usize {
        let id = self.nodes.len();
        let mut mark = Mark::default();
        routes.iter().for_each(|one| mark.add(one.mark));
        self.nodes.push(TrieNode {
            mark,
            below: Classes::NONE,
            named: BTreeMap::new(),
            any: None,
        });
        let any: Vec<&Routes> = routes.iter().filter_map(|one| one.any.as_deref()).collect();
        let mut below = Classes::NONE;
        let names = routes.iter().flat_map(|one| one.named.keys());
        for name in names {
            if self.nodes[id].named.contains_key(name) {
                continue;
            }
            let named = routes.iter().filter_map(|one| one.named.get(name));
            let next: Vec<&Routes> = if self.nodes.len() < MAX_NODES {
                named.chain(any.iter().copied()).collect()
            } else {
                named.collect()
            };
            let next = self.insert(&next);
            below = below | self.reach(next);
            self.nodes[id].named.insert(name.clone(), next);
        }
        if !any.is_empty() {
            let next = self.insert(&any);
            below = below | self.reach(next);
            self.nodes[id].any = Some(next);
        }
        self.nodes[id].below = below;
        id
    }

    fn reach(&self, id: usize) -> Classes {
        self.nodes[id].mark.classes | self.nodes[id].below
    }
}
