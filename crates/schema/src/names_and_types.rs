//! Validation of declared properties that does not depend on live state: types and names.
//!
//! Real schemas contradict themselves, so only violations under every interpretation are reported.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};
use ucp_model::pointer;

use crate::schema::Member;
use crate::subschema::{self, is_of_type};
use crate::{ResourceSchema, Violation, ViolationCode, is_unknown};

/// How many violations are found in an alternative. More of them make it no nearer.
const IN_ALTERNATIVE_MAX: usize = 100;

impl ResourceSchema {
    /// Returns all violations in declared properties that do not depend on live state: values of a wrong JSON type and
    /// unknown properties. `null`, which means not declared, and unknown values are skipped.
    pub fn validate_declaration(&self, properties: &Value) -> Vec<Violation> {
        if let Some(violation) = self.takes_too_long(properties) {
            return vec![violation];
        }
        self.names_and_types(properties)
    }

    /// The same, once it is known that it does not take too long.
    pub(crate) fn names_and_types(&self, properties: &Value) -> Vec<Violation> {
        if !properties.is_object() {
            return vec![Violation::wrong_type("", &["object"], properties)];
        }
        let reading = Reading {
            schema: self,
            alternatives: Cell::new(0),
        };
        let root = Place {
            pointer: "",
            names: &BTreeSet::new(),
        };
        reading.check(self.document(), properties, &root)
    }

    /// Creates the violation of a property `name` that the object at `pointer`, with the properties `known`, does not
    /// have.
    pub(crate) fn unknown_property<'a>(
        &self,
        pointer: &str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Violation {
        let owner = match pointer {
            "" => self.type_name().to_string(),
            pointer => format!("`{pointer}`"),
        };
        let property = pointer::join(pointer, name);
        Violation::unknown_property(property, name, &owner, known)
    }
}

/// The check of one document against a schema.
struct Reading<'a> {
    schema: &'a ResourceSchema,
    /// In how many alternatives it is.
    alternatives: Cell<usize>,
}

/// The location of a value, and the findings of the enclosing schemas about it.
struct Place<'a> {
    pointer: &'a str,
    /// The property names in these schemas. An alternative may omit them.
    names: &'a BTreeSet<&'a str>,
}

impl<'a> Reading<'a> {
    fn check(&self, schema: &'a Value, value: &Value, place: &Place<'_>) -> Vec<Violation> {
        if value.is_null() || is_unknown(value) {
            return Vec::new();
        }
        let Some(schema) = subschema::resolve(self.schema.document(), schema) else {
            return Vec::new();
        };
        let types = subschema::types(schema);
        if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
            return vec![Violation::wrong_type(place.pointer, &types, value)];
        }
        let mut names = place.names.clone();
        if value.is_object() {
            self.collect_names(schema, &mut names);
        }
        let place = Place {
            pointer: place.pointer,
            names: &names,
        };
        let mut violations = match value {
            Value::Object(members) => self.check_members(schema, members, &place),
            Value::Array(items) => self.check_items(schema, items, &place),
            _ => Vec::new(),
        };
        for branch in subschema::branches(schema, "allOf") {
            violations.extend(self.check(branch, value, &place));
        }
        for keyword in ["anyOf", "oneOf"] {
            violations.extend(self.check_alternatives(schema, keyword, value, &place));
        }
        violations
    }

    fn check_members(
        &self,
        schema: &'a Map<String, Value>,
        members: &Map<String, Value>,
        place: &Place<'_>,
    ) -> Vec<Violation> {
        let mut violations = Vec::new();
        for (name, value) in members {
            if self.is_told_enough(&violations) {
                break;
            }
            let pointer = pointer::join(place.pointer, name);
            match self.schema.member(schema, name) {
                Member::Schema(member) => {
                    violations.extend(self.check_below(member, value, &pointer))
                }
                Member::Forbidden if !value.is_null() && !place.names.contains(name.as_str()) => {
                    let known = place.names.iter().copied();
                    violations.push(self.schema.unknown_property(place.pointer, name, known));
                }
                Member::Forbidden | Member::Anything => {}
            }
        }
        violations
    }

    fn check_items(
        &self,
        schema: &'a Map<String, Value>,
        items: &[Value],
        place: &Place<'_>,
    ) -> Vec<Violation> {
        let Some(item_schema @ Value::Object(_)) = schema.get("items") else {
            return Vec::new();
        };
        let mut violations = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if self.is_told_enough(&violations) {
                break;
            }
            let pointer = format!("{}/{index}", place.pointer);
            violations.extend(self.check_below(item_schema, item, &pointer));
        }
        violations
    }

    /// Returns whether the alternatives that it is in have more violations than are told of one.
    fn is_told_enough(&self, violations: &[Violation]) -> bool {
        self.alternatives.get() > 0 && violations.len() >= IN_ALTERNATIVE_MAX
    }

    fn check_below(&self, schema: &'a Value, value: &Value, pointer: &str) -> Vec<Violation> {
        let place = Place {
            pointer,
            names: &BTreeSet::new(),
        };
        self.check(schema, value, &place)
    }

    /// Checks alternatives. If one finds no violation, there is none. Otherwise the one with the fewest violations
    /// counts; if none accepts a value of this type, the expected types of all are reported.
    fn check_alternatives(
        &self,
        schema: &'a Map<String, Value>,
        keyword: &str,
        value: &Value,
        place: &Place<'_>,
    ) -> Vec<Violation> {
        let above = self.alternatives.get();
        self.alternatives.set(above + 1);
        let found: Vec<Vec<Violation>> = subschema::branches(schema, keyword)
            .map(|branch| self.check(branch, value, place))
            .collect();
        self.alternatives.set(above);
        if found.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        let is_type_here = |violations: &Vec<Violation>| {
            violations.iter().all(|violation| {
                violation.code == ViolationCode::WrongType && violation.pointer == place.pointer
            })
        };
        let (of_type_here, deeper): (Vec<_>, Vec<_>) = found.into_iter().partition(is_type_here);
        if let Some(nearest) = deeper.into_iter().min_by_key(Vec::len) {
            return nearest;
        }
        if of_type_here.is_empty() {
            return Vec::new();
        }
        let expected: BTreeSet<&str> = subschema::branches(schema, keyword)
            .filter_map(|branch| subschema::resolve(self.schema.document(), branch))
            .flat_map(subschema::types)
            .collect();
        let expected: Vec<&str> = expected.into_iter().collect();
        vec![Violation::wrong_type(place.pointer, &expected, value)]
    }

    /// Collects the property names in a schema and its alternatives.
    fn collect_names(&self, schema: &'a Map<String, Value>, names: &mut BTreeSet<&'a str>) {
        names.extend(subschema::named(schema, "properties").map(|(name, _)| name.as_str()));
        let listed = ["allOf", "anyOf", "oneOf"]
            .into_iter()
            .flat_map(|keyword| subschema::branches(schema, keyword));
        let conditional = ["then", "else"]
            .into_iter()
            .filter_map(|keyword| schema.get(keyword));
        for branch in listed.chain(conditional) {
            if let Some(branch) = subschema::resolve(self.schema.document(), branch) {
                self.collect_names(branch, names);
            }
        }
    }
}
