//! Comparison of documents in properties: JSON as an object or as text, and IAM policies, which have many equivalent
//! forms.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use ucp_model::json;
use ucp_schema::{holds_unknown, is_unknown};

/// How many elements of a list of a policy that have unknown values in them are compared with what they have become. Of more, it
/// is only compared how many there are.
const OPEN_MAX: usize = 200;

/// Returns whether two values are equivalent documents: the same JSON, in any formatting, or the same policy.
pub(crate) fn same(declared: &Value, live: &Value) -> bool {
    let (Some(declared), Some(live)) = (parsed(declared), parsed(live)) else {
        return false;
    };
    same_json(&declared, &live)
}

/// Returns whether two equivalent values differ in JSON types, like `5` and `"5"`, by themselves or within documents.
pub(crate) fn is_retyped(declared: &Value, live: &Value) -> bool {
    match (parsed(declared), parsed(live)) {
        (Some(declared), Some(live)) => !is_policy(&declared) && !json::equal(&declared, &live),
        _ => declared.is_string() != live.is_string(),
    }
}

/// Returns the normal form of a document, which equivalent ones share as far as they are of the same JSON types. `None` for
/// what is none.
pub(crate) fn normal(value: &Value) -> Option<Value> {
    let document = parsed(value)?;
    match (is_policy(&document), value) {
        (true, _) => Some(normal_policy(&document)),
        (false, Value::String(_)) => Some(document.into_owned()),
        (false, _) => None,
    }
}

/// Returns the document of a text that has unknown values.
pub(crate) fn open(text: &Value) -> Option<Value> {
    let document = parsed(text)?;
    holds_unknown(&document).then(|| document.into_owned())
}

/// Returns the document of a text.
pub(crate) fn known(text: &Value) -> Option<Value> {
    parsed(text).map(Cow::into_owned)
}

/// Returns whether a policy has become as it was planned, as far as that was known. `model` is in [normal] form.
pub(crate) fn is_policy_as_planned(planned: &Value, model: &Value) -> bool {
    is_part_as_planned(&normal_policy(planned), model)
}

/// Returns whether a part of a [normal] policy is as planned. All lists of such a policy are sets. Several unknown elements may
/// have become one, or one that was known.
fn is_part_as_planned(planned: &Value, model: &Value) -> bool {
    match (planned, model) {
        (planned, _) if is_unknown(planned) => true,
        (Value::Object(members), Value::Object(others)) => {
            let is_there = |(name, member): (&String, &Value)| match others.get(name) {
                Some(other) => is_part_as_planned(member, other),
                None => is_unknown(member),
            };
            members.iter().all(is_there) && others.keys().all(|name| members.contains_key(name))
        }
        (Value::Array(elements), Value::Array(others)) => are_as_planned(elements, others),
        _ => json::equal(planned, model),
    }
}

fn are_as_planned(planned: &[Value], model: &[Value]) -> bool {
    let (wild, known): (Vec<&Value>, Vec<&Value>) =
        planned.iter().partition(|element| is_unknown(element));
    let (open, closed): (Vec<&Value>, Vec<&Value>) = known
        .into_iter()
        .partition(|element| holds_unknown(element));
    // Those that are known through and through are found at once, and first.
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for element in closed {
        *counts.entry(json::canonical(element)).or_default() += 1;
    }
    let is_left = |other: &&Value| match counts.get_mut(&json::canonical(other)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    };
    let left: Vec<&Value> = model.iter().filter(is_left).collect();
    if counts.values().any(|count| *count > 0) {
        return false;
    }
    if open.len() > OPEN_MAX {
        return left.len() <= open.len() + wild.len();
    }
    // What each of them may have become.
    let fits: Vec<Vec<usize>> = open
        .iter()
        .map(|element| {
            let fits = |index: &usize| is_part_as_planned(element, left[*index]);
            (0..left.len()).filter(fits).collect()
        })
        .collect();
    let mut owners: Vec<Option<usize>> = vec![None; left.len()];
    for (index, element) in open.iter().enumerate() {
        let is_found = find_place(index, &fits, &mut owners, &mut vec![false; left.len()]);
        // Two statements may have become the same.
        if !is_found && !model.iter().any(|other| is_part_as_planned(element, other)) {
            return false;
        }
    }
    owners.iter().filter(|owner| owner.is_none()).count() <= wild.len()
}

/// Returns whether each planned element has become another one of as many.
pub(crate) fn are_matched(
    planned: &[Value],
    model: &[Value],
    fits: impl Fn(&Value, &Value) -> bool,
) -> bool {
    let of = |element: &Value| {
        let fits = |index: &usize| fits(element, &model[*index]);
        (0..model.len()).filter(fits).collect()
    };
    let fits: Vec<Vec<usize>> = planned.iter().map(of).collect();
    let mut owners: Vec<Option<usize>> = vec![None; model.len()];
    (0..planned.len())
        .all(|index| find_place(index, &fits, &mut owners, &mut vec![false; model.len()]))
}

/// Gives an element one of those that it fits, if others that have them can have another one. Returns whether it could.
fn find_place(
    element: usize,
    fits: &[Vec<usize>],
    owners: &mut [Option<usize>],
    is_seen: &mut [bool],
) -> bool {
    fits[element].iter().any(|place| {
        if std::mem::replace(&mut is_seen[*place], true) {
            return false;
        }
        let is_free = match owners[*place] {
            None => true,
            Some(owner) => find_place(owner, fits, owners, is_seen),
        };
        if is_free {
            owners[*place] = Some(element);
        }
        is_free
    })
}

/// Parses a document: an object or array, or the text of one.
fn parsed(value: &Value) -> Option<Cow<'_, Value>> {
    match value {
        Value::Object(_) | Value::Array(_) => Some(Cow::Borrowed(value)),
        Value::String(text) => {
            // No other whitespace is JSON's. Much of it is skipped quickly.
            let text = text.trim_ascii_start();
            // IAM returns policies percent-encoded.
            let decoded = match text.get(..3) {
                Some("%7B" | "%7b" | "%5B" | "%5b") => {
                    percent_decode_str(text).decode_utf8().ok()?
                }
                _ => Cow::Borrowed(text),
            };
            if !decoded.starts_with(['{', '[']) {
                return None;
            }
            json::parse(&decoded).map(Cow::Owned)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn same_json(declared: &Value, live: &Value) -> bool {
    if is_policy(declared) && is_policy(live) {
        return json::equal(&normal_policy(declared), &normal_policy(live));
    }
    match (declared, live) {
        (Value::Object(declared), Value::Object(live)) => {
            declared.len() == live.len()
                && declared.iter().all(|(name, value)| {
                    live.get(name).is_some_and(|other| same_json(value, other))
                })
        }
        (Value::Array(declared), Value::Array(live)) => {
            declared.len() == live.len()
                && declared
                    .iter()
                    .zip(live)
                    .all(|(one, other)| same_json(one, other))
        }
        _ => json::equal(declared, live) || same_text(declared, live),
    }
}

/// Returns whether one value is a string and the other the number or Boolean that it spells.
pub(crate) fn same_text(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(text), Value::Number(number))
        | (Value::Number(number), Value::String(text)) => {
            number.as_str() == text || {
                let is_number = |text: &str| {
                    text.starts_with(|first: char| first.is_ascii_digit() || first == '-')
                        && !text.contains(['.', 'e', 'E'])
                };
                // `5.0` is `5`, but the version `1.10` is not `1.1`.
                is_number(text)
                    && json::parse(text)
                        .is_some_and(|parsed| json::equal(&parsed, &Value::Number(number.clone())))
            }
        }
        (Value::String(text), Value::Bool(truth)) | (Value::Bool(truth), Value::String(text)) => {
            text.eq_ignore_ascii_case(if *truth { "true" } else { "false" })
        }
        _ => false,
    }
}

/// Returns whether it has the structure of an IAM policy document.
pub(crate) fn is_policy(value: &Value) -> bool {
    let has_effect = |statement: &Value| {
        let effect = statement.get("Effect");
        effect.is_some_and(|effect| effect.is_string() || is_unknown(effect))
            || is_unknown(statement)
    };
    match value.get("Statement") {
        Some(Value::Array(statements)) => statements.iter().all(has_effect),
        Some(statement) => has_effect(statement),
        None => false,
    }
}

/// Normalizes a policy: single values become lists, and sets are sorted.
fn normal_policy(policy: &Value) -> Value {
    let mut normal = policy.as_object().cloned().unwrap_or_default();
    if let Some(statements) = normal.get_mut("Statement")
        && !is_unknown(statements)
    {
        let mut listed: Vec<Value> = as_list(statements).iter().map(normal_statement).collect();
        listed.sort_by_cached_key(json::canonical);
        *statements = Value::Array(listed);
    }
    Value::Object(normal)
}

fn normal_statement(statement: &Value) -> Value {
    let Some(members) = statement.as_object().filter(|_| !is_unknown(statement)) else {
        return statement.clone();
    };
    let normal = |(name, value): (&String, &Value)| {
        let value = match name.as_str() {
            "Action" | "NotAction" | "Resource" | "NotResource" => as_set(value, Value::clone),
            "Principal" | "NotPrincipal" => normal_principal(value),
            "Condition" => each_member(value, |tests| {
                each_member(tests, |value| as_set(value, text_of))
            }),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    Value::Object(members.iter().map(normal).collect())
}

/// Normalizes a principal: `"*"` is the same as `{"AWS": "*"}`, and an account number the same as the ARN of its root.
fn normal_principal(principal: &Value) -> Value {
    let everybody = Value::from("*");
    if *principal == everybody {
        return Value::Object(Map::from_iter([(
            "AWS".to_owned(),
            Value::Array(vec![everybody]),
        )]));
    }
    each_member(principal, |principals| {
        as_set(principals, |one| match one.as_str().and_then(account) {
            Some(account) => Value::from(account),
            None => one.clone(),
        })
    })
}

/// Returns the account of an ARN like `arn:aws:iam::111122223333:root`.
fn account(arn: &str) -> Option<&str> {
    let (partition, rest) = arn.strip_prefix("arn:aws")?.split_once(":iam::")?;
    let is_partition = partition
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let account = rest.strip_suffix(":root")?;
    (is_partition && account.len() == 12).then_some(account)
}

/// Returns the value of a condition as IAM compares it.
fn text_of(value: &Value) -> Value {
    match value {
        Value::Bool(truth) => Value::from(truth.to_string()),
        Value::Number(number) => Value::from(number.to_string()),
        other => other.clone(),
    }
}

fn as_list(value: &Value) -> &[Value] {
    match value {
        Value::Array(elements) => elements,
        one => std::slice::from_ref(one),
    }
}

/// Returns the elements of a set in an order, and each once. What is not known yet may be a list.
fn as_set(value: &Value, normal: impl Fn(&Value) -> Value) -> Value {
    if is_unknown(value) {
        return value.clone();
    }
    let mut elements: Vec<Value> = as_list(value).iter().map(normal).collect();
    elements.sort_by_cached_key(json::canonical);
    elements.dedup_by(|one, other| one == other && !is_unknown(one));
    Value::Array(elements)
}

fn each_member(value: &Value, normal: impl Fn(&Value) -> Value) -> Value {
    match value {
        unknown if is_unknown(unknown) => unknown.clone(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), normal(member)))
            .collect(),
        other => other.clone(),
    }
}
