use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::BitOr;

use serde_json::{Map, Value};

use super::{ListShape, SchemaWarning};
use crate::pattern::Patterns;
use crate::subschema;

/// The maximum number of shapes in one schema, ten times that of the largest public one.
const MAX_SHAPES: usize = 50_000;

/// The maximum total size of the schema objects in all shapes, where an object counts once per shape; ten times that of
/// the largest public schema.
const MAX_SIZE: usize = 200_000;

/// The valid values at a location: the union of what its schema and the alternatives in it say.
#[derive(Debug, Default)]
pub struct Shape {
    /// The allowed JSON types. Empty if any type is allowed.
    pub types: Types,
    /// The members that are required in every alternative.
    pub required: Vec<String>,
    /// The sets of alternatives of which exactly one may be given. Each alternative is the list of members it requires.
    pub exclusive: Vec<Vec<Vec<String>>>,
    /// The same, as cfn-lint checks it in templates. AWS does not validate models against it, and a read may return
    /// several.
    pub exclusive_in_templates: Vec<Vec<Vec<String>>>,
    /// The minimum number of members of an object.
    pub min_properties: u64,
    /// The value that AWS uses if none is given.
    pub default: Option<Value>,
    /// The allowed strings, if they are enumerated.
    pub options: Vec<String>,
    /// The properties of an array.
    pub list: ListShape,
    pub(super) members: BTreeMap<String, Edge>,
    patterns: Vec<(String, usize)>,
    /// The shape of `additionalProperties`.
    values: Option<usize>,
    pub(super) element: Option<usize>,
    /// Whether additional members are forbidden.
    is_closed: bool,
}

/// A step from a shape to one of its members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) shape: usize,
    /// Whether it leads to a list that is unordered by its name.
    pub(super) is_set: bool,
}

impl Shape {
    /// Returns whether it is an object without members, which is significant only by its presence: `{"Allow": {}}`.
    pub fn is_marker(&self) -> bool {
        self.members.is_empty() && self.patterns.is_empty() && self.values.is_none()
    }

    /// Returns whether it is an object whose member names the user chooses.
    pub fn is_map(&self) -> bool {
        self.members.is_empty() && (!self.patterns.is_empty() || self.values.is_some())
    }

    /// Returns whether `null` is a valid value here, rather than only the absence of one.
    pub fn takes_null(&self) -> bool {
        self.types.is_any() || self.types.names(Types::NULL)
    }

    /// Returns whether a member is required.
    pub fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }

    /// Returns whether the schema lists a member of this name.
    pub fn has_member(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    pub(super) fn is_list(&self) -> bool {
        self.element.is_some() || self.types == Types::ARRAY
    }

    /// Returns whether the schema does not restrict the value's members or elements.
    pub(super) fn takes_anything(&self) -> bool {
        self.is_marker() && !self.is_closed && self.element.is_none()
    }

    /// Returns the names of the members that the schema lists.
    pub fn member_names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    /// `object`
    pub const OBJECT: Self = Self(1);
    /// `array`
    pub const ARRAY: Self = Self(2);
    /// `string`
    pub const STRING: Self = Self(4);
    /// `number` and `integer`
    pub const NUMBER: Self = Self(8);
    /// `boolean`
    pub const BOOLEAN: Self = Self(16);
    /// `null`
    pub const NULL: Self = Self(32);

    /// `object` and `array`
    pub const COMPOSED: Self = Self(1 | 2);

    /// Returns whether any type is allowed, because none is listed.
    pub fn is_any(self) -> bool {
        self.0 == 0
    }

    /// Returns whether one of `others` is in the set.
    pub fn names(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the type of a value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Returns the names of the types in the set.
    pub fn listed(self) -> Vec<&'static str> {
        let all = ["object", "array", "string", "number", "boolean", "null"];
        all.into_iter()
            .filter(|name| self.names(Self::named(name)))
            .collect()
    }

    fn named(name: &str) -> Self {
        match name {
            "object" => Self::OBJECT,
            "array" => Self::ARRAY,
            "string" => Self::STRING,
            "number" | "integer" => Self::NUMBER,
            "boolean" => Self::BOOLEAN,
            "null" => Self::NULL,
            _ => Self(0),
        }
    }
}

impl BitOr for Types {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// All shapes of a schema. The first one accepts anything, the second one is that of the model.
#[derive(Debug)]
pub(super) struct Shapes {
    pub(super) shapes: Vec<Shape>,
    /// The shapes that each definition is part of.
    definitions: BTreeMap<String, Vec<usize>>,
}

const ANYTHING: usize = 0;
const ROOT: usize = 1;

impl Shapes {
    pub(super) fn of(document: &Value) -> (Self, Vec<SchemaWarning>) {
        let mut maker = Maker {
            document,
            known: HashMap::new(),
            pending: Vec::new(),
            shapes: vec![Shape::default()],
            size_left: MAX_SIZE,
            is_full: false,
        };
        maker.intern([document]);
        while let Some((id, schemas)) = maker.pending.pop() {
            maker.shapes[id] = maker.shape(&schemas);
        }
        let warning = maker.is_full.then(|| SchemaWarning {
            pointer: String::new(),
            message: "the schema has too many kinds of values; the rest is not checked".to_owned(),
        });
        let shapes = Self {
            definitions: maker.definitions(),
            shapes: maker.shapes,
        };
        (shapes, warning.into_iter().collect())
    }

    pub(super) fn root(&self) -> &Shape {
        &self.shapes[ROOT]
    }

    pub(super) fn anything(&self) -> &Shape {
        &self.shapes[ANYTHING]
    }

    pub(super) fn at(&self, id: usize) -> &Shape {
        &self.shapes[id]
    }

    pub(super) fn of_definition(&self, name: &str) -> &[usize] {
        self.definitions.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn member<'s>(
        &'s self,
        shape: &'s Shape,
        name: &str,
        patterns: &Patterns,
    ) -> Option<(&'s Shape, bool)> {
        if let Some(edge) = shape.members.get(name) {
            return Some((&self.shapes[edge.shape], edge.is_set));
        }
        let by_pattern = shape
            .patterns
            .iter()
            .find(|(pattern, _)| patterns.matches(pattern, name));
        match by_pattern.map(|(_, id)| *id).or(shape.values) {
            Some(id) => Some((&self.shapes[id], false)),
            None if shape.is_closed => None,
            None => Some((self.anything(), false)),
        }
    }

    pub(super) fn element(&self, shape: &Shape) -> &Shape {
        &self.shapes[shape.element.unwrap_or(ANYTHING)]
    }

    /// Returns the shapes that `*` may stand for.
    pub(super) fn any(&self, shape: &Shape) -> impl Iterator<Item = usize> {
        let by_pattern = shape.patterns.iter().map(|(_, id)| *id);
        by_pattern.chain(shape.values).chain(shape.element)
    }

    /// Returns whether a value of this shape is neither an object nor an array.
    pub(super) fn is_scalar(&self, id: usize) -> bool {
        let shape = &self.shapes[id];
        let is_composed = shape.types.names(Types::COMPOSED);
        !shape.types.is_any() && !is_composed
    }
}

/// A schema object, and whether it applies in every alternative.
type Part<'d> = (&'d Map<String, Value>, bool);

/// The identity of a part, by address.
type PartKey = (*const Map<String, Value>, bool);

struct Maker<'d> {
    document: &'d Value,
    /// The shapes made so far, by the schema objects they are made of.
    known: HashMap<Vec<PartKey>, usize>,
    pending: Vec<(usize, Vec<Part<'d>>)>,
    shapes: Vec<Shape>,
    size_left: usize,
    is_full: bool,
}

impl<'d> Maker<'d> {
    /// Returns the shape of a value that all of `schemas` apply to.
    fn intern(&mut self, schemas: impl IntoIterator<Item = &'d Value>) -> usize {
        if self.is_full {
            return ANYTHING;
        }
        let mut parts = Vec::new();
        let mut seen = BTreeSet::new();
        for schema in schemas {
            self.collect(schema, true, &mut parts, &mut seen);
        }
        if parts.is_empty() {
            return ANYTHING;
        }
        let mut key: Vec<_> = parts
            .iter()
            .map(|(part, certain)| (std::ptr::from_ref(*part), *certain))
            .collect();
        key.sort_unstable();
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let size = parts.iter().map(|(part, _)| size(part)).sum::<usize>();
        if self.shapes.len() >= MAX_SHAPES || size > self.size_left {
            self.is_full = true;
            return ANYTHING;
        }
        self.size_left -= size;
        let id = self.shapes.len();
        self.shapes.push(Shape::default());
        self.known.insert(key, id);
        self.pending.push((id, parts));
        id
    }

    /// Collects a schema, its references and the schemas it combines, each once.
    fn collect(
        &self,
        schema: &'d Value,
        certain: bool,
        parts: &mut Vec<Part<'d>>,
        seen: &mut BTreeSet<*const Map<String, Value>>,
    ) {
        let Some(object) = schema.as_object() else {
            return;
        };
        if !seen.insert(std::ptr::from_ref(object)) {
            return;
        }
        parts.push((object, certain));
        if let Some(target) = object
            .get("$ref")
            .and_then(|reference| subschema::target(self.document, reference))
        {
            self.collect(target, certain, parts, seen);
        }
        for branch in subschema::branches(object, "allOf") {
            self.collect(branch, certain, parts, seen);
        }
        for branch in
            subschema::branches(object, "anyOf").chain(subschema::branches(object, "oneOf"))
        {
            self.collect(branch, false, parts, seen);
        }
    }

    fn definitions(&self) -> BTreeMap<String, Vec<usize>> {
        let Some(document) = self.document.as_object() else {
            return BTreeMap::new();
        };
        let mut parts: Vec<(*const Map<String, Value>, usize)> = self
            .known
            .iter()
            .flat_map(|(key, id)| key.iter().map(|(part, _)| (*part, *id)))
            .collect();
        parts.sort_unstable();
        parts.dedup();
        let shapes = |schema: &Value| {
            let part = schema
                .as_object()
                .map_or(std::ptr::null(), std::ptr::from_ref);
            let first = parts.partition_point(|(other, _)| *other < part);
            let same = parts[first..]
                .iter()
                .take_while(|(other, _)| *other == part);
            same.map(|(_, id)| *id).collect()
        };
        subschema::named(document, "definitions")
            .map(|(name, schema)| (name.as_str().into(), shapes(schema)))
            .collect()
    }

    fn shape(&mut self, parts: &[Part<'d>]) -> Shape {
        let mut shape = Shape {
            list: ListShape::of(parts.iter().map(|(part, _)| *part)),
            ..Shape::default()
        };
        let mut members: BTreeMap<&'d str, Vec<&'d Value>> = BTreeMap::new();
        let mut patterns: BTreeMap<&'d str, Vec<&'d Value>> = BTreeMap::new();
        let mut values = Vec::new();
        let mut elements = Vec::new();
        for &(part, certain) in parts {
            for name in subschema::types(part) {
                shape.types = shape.types | Types::named(name);
            }
            for (name, schema) in subschema::named(part, "properties") {
                members.entry(name).or_default().push(schema);
            }
            for (pattern, schema) in subschema::named(part, "patternProperties") {
                patterns.entry(pattern).or_default().push(schema);
            }
            match part.get("additionalProperties") {
                Some(Value::Bool(false)) => shape.is_closed = true,
                Some(schema @ Value::Object(_)) => values.push(schema),
                _ => {}
            }
            match part.get("items") {
                Some(Value::Array(several)) => elements.extend(several),
                Some(schema) => elements.push(schema),
                None => {}
            }
            shape.options.extend(texts(part.get("enum")));
            shape.exclusive.extend(exclusive(self.document, part));
            let in_templates = exclusive_in_templates(part);
            shape.exclusive_in_templates.extend(in_templates);
            if shape.default.is_none() {
                shape.default = part.get("default").cloned();
            }
            if certain {
                shape.required.extend(texts(part.get("required")));
                let min = part.get("minProperties").and_then(Value::as_u64);
                shape.min_properties = shape.min_properties.max(min.unwrap_or(0));
            }
        }
        shape.required.sort_unstable();
        shape.required.dedup();
        shape.members = members
            .into_iter()
            .map(|(name, schemas)| {
                let shape = self.intern(schemas);
                (
                    name.into(),
                    Edge {
                        shape,
                        is_set: false,
                    },
                )
            })
            .collect();
        shape.patterns = patterns
            .into_iter()
            .map(|(pattern, schemas)| (pattern.into(), self.intern(schemas)))
            .collect();
        shape.values = (!values.is_empty()).then(|| self.intern(values));
        shape.element = (!elements.is_empty()).then(|| self.intern(elements));
        shape
    }
}

/// Returns the size of a schema object, without nested levels.
fn size(schema: &Map<String, Value>) -> usize {
    let size = |value: &Value| match value {
        Value::Object(members) => 1 + members.len(),
        Value::Array(elements) => 1 + elements.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    };
    1 + schema.values().map(size).sum::<usize>()
}

/// Returns the alternatives of a schema that exclude each other, by the members they require.
fn exclusive(document: &Value, schema: &Map<String, Value>) -> Option<Vec<Vec<String>>> {
    let branches: Vec<Vec<String>> = subschema::branches(schema, "oneOf")
        .filter_map(|branch| subschema::resolve(document, branch))
        .map(needs)
        .collect();
    let are_told_apart = branches.len() > 1 && branches.iter().all(|needs| !needs.is_empty());
    are_told_apart.then_some(branches)
}

/// The same for cfn-lint's keywords `requiredXor` and `dependentExcluded`.
fn exclusive_in_templates(schema: &Map<String, Value>) -> Vec<Vec<Vec<String>>> {
    let mut found = Vec::new();
    let listed: Vec<Vec<String>> = texts(schema.get("requiredXor"))
        .map(|name| vec![name])
        .collect();
    if listed.len() > 1 {
        found.push(listed);
    }
    for (name, others) in subschema::named(schema, "dependentExcluded") {
        for other in texts(Some(others)) {
            found.push(vec![vec![name.as_str().into()], vec![other]]);
        }
    }
    found
}

/// Returns the members that an alternative requires.
fn needs(branch: &Map<String, Value>) -> Vec<String> {
    let required: Vec<String> = texts(branch.get("required")).collect();
    if !required.is_empty() {
        return required;
    }
    let mut names = subschema::named(branch, "properties").map(|(name, _)| name.as_str().into());
    match (names.next(), names.next()) {
        (Some(only), None) => vec![only],
        _ => Vec::new(),
    }
}

fn texts(listed: Option<&Value>) -> impl Iterator<Item = String> {
    let listed = listed.and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).map(str::to_owned)
}
