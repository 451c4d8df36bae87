//! Comparison, canonical form and traversal of JSON.

use std::io;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::pointer::{Pointer, PointerBuf, Token};

mod private;

pub use private::{PRIVATE_NAME, private_name};

/// Parses the JSON text that a value is; `None` if it is none, or has a [private name](private_name), by which it would be read as
/// something else.
pub fn parse(text: &str) -> Option<Value> {
    match private_name(text.as_bytes()) {
        Some(_) => None,
        None => serde_json::from_str(text).ok(),
    }
}

/// Returns the canonical text of `value`: object keys sorted, no white space, numbers normalized. Two values have the
/// same text if and only if they are [`equal`], so digests are computed over this form.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_unstable();
            text.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(&members[key], text);
            }
            text.push('}');
        }
        Value::Array(elements) => {
            text.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_canonical(element, text);
            }
            text.push(']');
        }
        Value::Number(number) => text.push_str(&canonical_number(number)),
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

/// Returns how many values a text may have at most as JSON: each but the first comes after one of these letters.
pub fn values_at_most(text: &[u8]) -> usize {
    // One letter after the other: that is counted many bytes at a time.
    let counts = [b'[', b'{', b','].map(|letter| memchr::memchr_iter(letter, text).count());
    1 + counts.iter().sum::<usize>()
}

/// Returns how many bytes the texts in a value have, with the names of its members, and how many values there are. That takes less
/// time than to know how long it is as JSON.
pub fn extent(value: &Value) -> (usize, usize) {
    let own = match value {
        Value::String(text) => text.len(),
        Value::Object(members) => members.keys().map(String::len).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => 0,
    };
    let below = children(value).map(|(_, child)| extent(child));
    below.fold((own, 1), |(bytes, values), (more_bytes, more_values)| {
        (bytes + more_bytes, values + more_values)
    })
}

/// What [`take_size`] counts for each value besides its bytes.
const SIZE_OF_VALUE: usize = 16;

/// Takes the size of a value from what is `left`. Returns whether there was enough, and looks no further than that.
pub fn take_size(value: &Value, left: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len(),
        Value::Object(members) => members.keys().map(String::len).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => 0,
    };
    match left.checked_sub(own + SIZE_OF_VALUE) {
        Some(rest) => *left = rest,
        None => return false,
    }
    children(value).all(|(_, child)| take_size(child, left))
}

/// Returns how many bytes something has as JSON, without writing it anywhere.
pub fn length(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        // What cannot be written is not small.
        Err(_) => usize::MAX,
    }
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether two documents are equal. Key order is irrelevant; `5` equals `5.0` and `50e-1`, but not `"5"`.
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Number(left), Value::Number(right)) => {
            canonical_number(left) == canonical_number(right)
        }
        _ => left == right,
    }
}

/// Normalizes a number without converting it to a float: `[-]digits`, with trailing zeros moved into the exponent, as
/// in `5`, `-15e-1`, `1e3`.
fn canonical_number(number: &Number) -> String {
    let text = number.to_string();
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.as_str()),
    };
    let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Ok(exponent) = exponent.parse::<i64>() else {
        return text;
    };
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
    let exponent = exponent
        .saturating_sub(length(fraction))
        .saturating_add(length(digits) - length(significant));
    if exponent == 0 {
        format!("{sign}{significant}")
    } else {
        format!("{sign}{significant}e{exponent}")
    }
}

/// Removes every `null` member, at any depth: `null` means "not declared". Array elements stay, since removing one
/// would shift the others.
pub fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(elements) => elements.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns `base` with the members of `overlay` added or replaced at the top level.
pub fn overlay(base: &Map<String, Value>, overlay: &Map<String, Value>) -> Map<String, Value> {
    let mut result = base.clone();
    result.extend(
        overlay
            .iter()
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    result
}

/// One step from a value to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'v> {
    /// A member of an object.
    Member(&'v str),
    /// An element of an array.
    Element(usize),
}

impl<'v> From<Step<'v>> for Token<'v> {
    fn from(step: Step<'v>) -> Self {
        match step {
            Step::Member(name) => Token::new(name),
            Step::Element(index) => Token::from(index),
        }
    }
}

/// Iterates over the children of an object or an array in order, each with its step.
pub fn children(value: &Value) -> impl Iterator<Item = (Step<'_>, &Value)> {
    let (members, elements) = (value.as_object(), value.as_array());
    let members = members.into_iter().flatten();
    let elements = elements.into_iter().flatten().enumerate();
    members
        .map(|(name, member)| (Step::Member(name), member))
        .chain(elements.map(|(index, element)| (Step::Element(index), element)))
}

/// Returns `value` with each child replaced by the result of `map`. Children for which `map` returns `None` are
/// removed.
pub fn map_children(
    value: &Value,
    mut map: impl FnMut(Step<'_>, &Value) -> Option<Value>,
) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter_map(|(name, member)| Some((name.clone(), map(Step::Member(name), member)?)))
            .collect(),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .filter_map(|(index, element)| map(Step::Element(index), element))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Visits `value` and all its descendants, each with its pointer. Parents come before their children.
pub fn walk<'v>(value: &'v Value, mut visit: impl FnMut(&Pointer, &'v Value)) {
    walk_below(value, &mut PointerBuf::root(), &mut visit);
}

fn walk_below<'v>(
    value: &'v Value,
    place: &mut PointerBuf,
    visit: &mut impl FnMut(&Pointer, &'v Value),
) {
    visit(place, value);
    for (step, child) in children(value) {
        place.push_back(step);
        walk_below(child, place, visit);
        place.pop_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value {
        super::parse(text).unwrap()
    }

    #[test]
    fn a_text_is_read_as_nothing_else() {
        let private = r#"{"$serde_json::private::Number": "1"}"#;
        assert_eq!(super::parse(private), None);
        assert_eq!(super::parse("{"), None);
    }

    #[test]
    fn numbers_are_compared_by_value() {
        for same in ["5", "5.0", "50e-1", "0.5e1", "5E0", "500.00e-2"] {
            assert!(equal(&parse("5"), &parse(same)), "{same}");
            assert_eq!(canonical(&parse(same)), "5", "{same}");
        }
        for zero in ["0", "0.0", "-0", "0e9"] {
            assert!(equal(&parse("0"), &parse(zero)), "{zero}");
        }
        assert!(!equal(&parse("5"), &parse("\"5\"")));
        assert!(!equal(
            &parse("9007199254740993"),
            &parse("9007199254740992")
        ));
        assert!(equal(&parse("1000"), &parse("1e3")));
        assert!(!equal(&parse("-1"), &parse("1")));
    }

    #[test]
    fn key_order_does_not_matter_and_array_order_does() {
        assert!(equal(
            &parse(r#"{"a":1,"b":[1,2]}"#),
            &parse(r#"{"b":[1,2],"a":1}"#)
        ));
        assert!(!equal(&parse("[1,2]"), &parse("[2,1]")));
        assert_eq!(
            canonical(&parse(r#"{"b":[1,2.0],"a":{"d":null,"c":"é\""}}"#)),
            r#"{"a":{"c":"é\"","d":null},"b":[1,2]}"#
        );
    }

    #[test]
    fn a_walk_comes_to_every_value_in_its_order() {
        let value = parse(r#"{"b/c":[1,{"d":null}],"a":"x"}"#);
        let mut places = Vec::new();
        walk(&value, |place, found| {
            assert_eq!(value.pointer(place.as_str()), Some(found));
            places.push(place.to_string());
        });
        assert_eq!(
            places,
            ["", "/b~1c", "/b~1c/0", "/b~1c/1", "/b~1c/1/d", "/a"]
        );
    }

    #[test]
    fn children_are_mapped_or_left_out() {
        let odd = |step: Step<'_>, value: &Value| {
            let is_kept = !matches!(step, Step::Member("b") | Step::Element(1));
            is_kept.then(|| Value::from(format!("<{value}>")))
        };
        let mapped = map_children(&parse(r#"{"a":1,"b":2}"#), odd);
        assert_eq!(mapped, parse(r#"{"a":"<1>"}"#));
        assert_eq!(map_children(&parse("[1,2]"), odd), parse(r#"["<1>"]"#));
        assert_eq!(map_children(&parse("5"), odd), parse("5"));
    }

    #[test]
    fn nulls_are_not_declared() {
        let mut value = parse(r#"{"a":null,"b":{"c":null,"d":[null,{"e":null}]}}"#);
        drop_nulls(&mut value);
        assert_eq!(value, parse(r#"{"b":{"d":[null,{}]}}"#));
    }
}
