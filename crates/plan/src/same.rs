//! Comparison of declared and live values across the representations that AWS uses.

use serde_json::{Map, Value};
use ucp_model::json::{self, Step};
use ucp_model::pointer::PointerBuf;
use ucp_schema::{Classes, Cursor, Types, Violation, is_unknown};

use crate::budget::Budget;
use crate::pairing::Likeness;
use crate::{document, pairing, tags};

/// The context of comparisons, constant for the whole walk.
#[derive(Clone, Copy)]
pub(crate) struct Sameness<'a> {
    /// The declared properties, which transforms may read.
    pub(crate) root: &'a Value,
    pub(crate) budget: &'a Budget,
}

impl Sameness<'_> {
    /// Returns whether `live` has everything that `declared`, a value in the object `parent`, has. Additions by AWS and
    /// values that no read returns are ignored.
    pub(crate) fn holds(
        self,
        declared: &Value,
        live: &Value,
        cursor: Cursor<'_>,
        parent: &Value,
    ) -> bool {
        if cursor.is(Classes::WRITE_ONLY) {
            return true;
        }
        if !self.budget.take_values(declared, live) {
            return declared == live;
        }
        let is_same = match (declared, live) {
            (Value::Object(members), Value::Object(live_members)) => {
                self.holds_members(declared, members, live_members, cursor)
                    || document::is_policy(declared) && self.is_same_document(declared, live)
            }
            (Value::Array(elements), Value::Array(live_elements)) => {
                self.holds_elements(elements, live_elements, cursor, parent)
            }
            _ => json::equal(declared, live) || self.is_same_form(declared, live, cursor),
        };
        is_same || self.is_transformed(live, cursor, parent)
    }

    /// Returns whether `live` is the form in which AWS stores the declared value, by the schema's transform.
    pub(crate) fn is_transformed(self, live: &Value, cursor: Cursor<'_>, parent: &Value) -> bool {
        cursor.transform().is_some_and(|transform| {
            let size = transform.size_of_operands(self.root, parent);
            self.budget.take_transform(size) && transform.gives(self.root, parent, live)
        })
    }

    /// Returns whether two values are equivalent documents, or texts of such.
    pub(crate) fn is_same_document(self, declared: &Value, live: &Value) -> bool {
        self.budget.take_documents(declared, live) && document::same(declared, live)
    }

    /// Returns whether two scalars, or a document and its text, are equivalent.
    fn is_same_form(self, declared: &Value, live: &Value, cursor: Cursor<'_>) -> bool {
        match (declared, live) {
            (Value::String(one), Value::String(other)) => {
                is_other_spelling(one, other, cursor) || document::same(declared, live)
            }
            (Value::Object(_) | Value::Array(_), Value::String(_))
            | (Value::String(_), Value::Object(_) | Value::Array(_)) => {
                self.is_same_document(declared, live)
            }
            _ => document::same_text(declared, live),
        }
    }

    fn holds_members(
        self,
        object: &Value,
        declared: &Map<String, Value>,
        live: &Map<String, Value>,
        cursor: Cursor<'_>,
    ) -> bool {
        if is_unknown(object) {
            return false;
        }
        declared.iter().all(|(name, value)| {
            let Some(cursor) = cursor.member(name) else {
                return false;
            };
            match live.get(name).filter(|live| !live.is_null()) {
                Some(live) => self.holds(value, live, cursor, object),
                None => self.holds_nothing(value, cursor),
            }
        })
    }

    /// Returns whether the absence of a live value satisfies `declared`.
    pub(crate) fn holds_nothing(self, declared: &Value, cursor: Cursor<'_>) -> bool {
        if cursor.is(Classes::WRITE_ONLY) || cursor.is(Classes::DEPRECATED | Classes::NON_PUBLIC) {
            return true;
        }
        let is_default = |default: &Value| json::equal(declared, default);
        if cursor.shape().default.as_ref().is_some_and(is_default) {
            return true;
        }
        match declared {
            Value::Null => true,
            Value::Object(members) => members.iter().all(|(name, value)| {
                let cursor = cursor.member(name);
                cursor.is_some_and(|cursor| self.holds_nothing(value, cursor))
            }),
            Value::Array(elements) => elements.iter().all(|element| {
                let cursor = cursor.element();
                cursor.holds(Classes::WRITE_ONLY) && self.holds_nothing(element, cursor)
            }),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    fn holds_elements(
        self,
        declared: &[Value],
        live: &[Value],
        cursor: Cursor<'_>,
        parent: &Value,
    ) -> bool {
        let element = cursor.element();
        let declared: Vec<&Value> = tags::visible(declared, cursor).collect();
        let live: Vec<&Value> = tags::visible(live, cursor).collect();
        if declared.len() != live.len() {
            return false;
        }
        let holds = |one: &Value, other: &Value| {
            let parent = if one.is_object() { one } else { parent };
            self.holds(one, other, element, parent)
        };
        if pairing::is_set(&declared, cursor) {
            pairing::all_match(&declared, &live, self.budget, holds)
        } else {
            declared
                .iter()
                .zip(&live)
                .all(|(one, other)| holds(one, other))
        }
    }
}

impl Sameness<'_> {
    /// Computes the likeness of a declared and a live list element.
    pub(crate) fn likeness(
        self,
        declared: &Value,
        live: &Value,
        (list, cursor): (Option<&str>, Cursor<'_>),
    ) -> Likeness {
        let (Value::Object(members), Value::Object(live_members)) = (declared, live) else {
            return Likeness::NONE;
        };
        let mut count = Count::default();
        self.count(declared, live, cursor, &mut count);
        let is_type = |name: &&String| name.as_str() == "Type";
        let differs = |name: &String| {
            let live = live_members.get(name);
            live.is_some_and(|live| !json::equal(live, &members[name]))
        };
        let has_other_id = members.keys().any(|name| {
            let is_read_only = cursor.member_or_anything(name).is(Classes::READ_ONLY);
            is_read_only && differs(name)
        });
        let list = list.unwrap_or_default().to_ascii_lowercase();
        // The name of the element, such as the `RuleName` of `Rules`, and of nothing that it refers to.
        let is_name = |name: &&String| {
            let noun = name
                .strip_suffix("Name")
                .or_else(|| name.strip_suffix("Id"));
            noun.is_some_and(|noun| list.starts_with(&noun.to_ascii_lowercase()))
        };
        let mut names = (members.keys().filter(is_name))
            .filter(|name| members[*name].is_string())
            .peekable();
        let has_same_name = names.peek().is_some()
            && names.all(|name| live_members.get(name) == Some(&members[name]));
        Likeness {
            has_same_name,
            share: count.same as f64 / count.all.max(1) as f64,
            is_possible: !has_other_id && !members.keys().filter(is_type).any(differs),
        }
    }

    fn count(self, declared: &Value, live: &Value, cursor: Cursor<'_>, count: &mut Count) {
        match declared {
            Value::Object(members) => {
                for (name, value) in members {
                    let below = cursor.member_or_anything(name);
                    if !below.is(Classes::WRITE_ONLY) {
                        let live = live.get(name).unwrap_or(&Value::Null);
                        self.count(value, live, below, count);
                    }
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    let live = live.get(index).unwrap_or(&Value::Null);
                    self.count(element, live, cursor.element(), count);
                }
            }
            _ => {
                count.all += 1;
                count.same += usize::from(self.holds(declared, live, cursor, &Value::Null));
            }
        }
    }
}

/// The number of declared scalars of an element, and how many of them are live.
#[derive(Default)]
struct Count {
    all: usize,
    same: usize,
}

/// Returns whether `live` is an enumerated option and `declared` differs from it only in letter case.
fn is_other_spelling(declared: &str, live: &str, cursor: Cursor<'_>) -> bool {
    let options = &cursor.shape().options;
    let is_option = |text: &str| options.iter().any(|option| option == text);
    declared.eq_ignore_ascii_case(live) && is_option(live) && !is_option(declared)
}

/// Returns `value` as it is sent: without read-only values and reserved tags, and in the JSON types that the schema
/// has. Where it has a string, `4` becomes `"4"` and a document its text; likewise in reverse.
pub(crate) fn coerced(value: &Value, cursor: Cursor<'_>) -> Value {
    let types = cursor.shape().types;
    match value {
        unknown if is_unknown(unknown) => unknown.clone(),
        Value::Object(_) | Value::Array(_) if wants(types, Types::STRING, Types::COMPOSED) => {
            Value::from(json::canonical(value))
        }
        Value::Object(_) | Value::Array(_) => {
            let counts = tags::counts(cursor);
            json::map_children(value, |step, child| {
                let below = cursor.below_or_anything(step);
                let is_sent = match step {
                    Step::Member(name) => {
                        let is_reserved = cursor.is(Classes::TAGS) && tags::is_reserved_key(name);
                        !is_reserved && !below.is(Classes::READ_ONLY)
                    }
                    Step::Element(_) => counts(child),
                };
                is_sent.then(|| coerced(child, below))
            })
        }
        Value::Number(number) if wants(types, Types::STRING, Types::NUMBER) => {
            Value::from(number.as_str())
        }
        Value::Bool(truth) if wants(types, Types::STRING, Types::BOOLEAN) => {
            Value::from(truth.to_string())
        }
        Value::String(text) if !types.is_any() && !types.names(Types::STRING) => {
            match json::parse(text) {
                Some(number @ Value::Number(_)) if types.names(Types::NUMBER) => number,
                Some(truth @ Value::Bool(_)) if types.names(Types::BOOLEAN) => truth,
                Some(object @ Value::Object(_)) if types.names(Types::OBJECT) => object,
                Some(array @ Value::Array(_)) if types.names(Types::ARRAY) => array,
                _ => value.clone(),
            }
        }
        _ => value.clone(),
    }
}

/// Returns violations for values of a wrong JSON type that coercion cannot fix. (The walk reports unknown properties.)
pub(crate) fn wrong_types(properties: &Value, root: Cursor<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    find_misfits(properties, root, &mut PointerBuf::root(), &mut violations);
    violations
}

/// Finds the values that cannot be coerced to a type of the schema.
fn find_misfits(
    value: &Value,
    cursor: Cursor<'_>,
    place: &mut PointerBuf,
    found: &mut Vec<Violation>,
) {
    let types = cursor.shape().types;
    let fits = |value: &Value| types.is_any() || types.names(Types::of(value));
    if value.is_null() || cursor.is(Classes::READ_ONLY) || is_unknown(value) {
        return;
    }
    if !fits(value) {
        if !fits(&coerced(value, cursor)) {
            found.push(Violation::wrong_type(
                place.as_str(),
                &types.listed(),
                value,
            ));
        }
        return;
    }
    for (step, child) in json::children(value) {
        if let Some(below) = cursor.below(step) {
            place.push_back(step);
            find_misfits(child, below, place, found);
            place.pop_back();
        }
    }
}

fn wants(types: Types, wanted: Types, given: Types) -> bool {
    types.names(wanted) && !types.names(given)
}

/// Returns whether a value is `null`, or consists of nothing but empty objects and arrays.
pub(crate) fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(_) | Value::Array(_) => {
            json::children(value).all(|(_, child)| is_hollow(child))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
