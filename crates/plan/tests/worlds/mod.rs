//! Seeded worlds: a last declaration, the live model AWS made of it, and the next declaration.

#![allow(dead_code, reason = "each test binary uses a part")]

use serde_json::{Map, Value};
use ucp_schema::{Classes, Cursor, ResourceSchema, Segment, Types};

/// A small deterministic random number generator (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or_default()
    }
}

/// The live model of a resource created as declared: without write-only values, with the properties that AWS sets, and
/// sometimes with an undeclared property.
pub(crate) fn live(schema: &ResourceSchema, declared: &Value, chance: &mut Chance) -> Value {
    let mut live = schema.without_write_only(declared);
    let other = schema.without_write_only(&ucp_sample::declaration(schema, chance.next()));
    if let (Value::Object(live), Value::Object(other)) = (&mut live, other) {
        for (name, value) in other {
            if chance.below(3) == 0 && !live.contains_key(&name) {
                live.insert(name, value);
            }
        }
    }
    for path in schema.listed(Classes::READ_ONLY) {
        assign(&mut live, path.segments(), chance);
    }
    rewrite(&mut live, schema.root(), chance);
    live
}

/// Rewrites a model as AWS might: unordered lists in another order, numbers as strings, and reserved tags added.
fn rewrite(value: &mut Value, cursor: Cursor<'_>, chance: &mut Chance) {
    if cursor.is(Classes::READ_ONLY) {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                rewrite(member, cursor.member_or_anything(name), chance);
            }
        }
        Value::Array(elements) => {
            for element in elements.iter_mut() {
                rewrite(element, cursor.element(), chance);
            }
            if cursor.keeps_live_order() && chance.below(2) == 0 {
                elements.reverse();
            }
            let is_fixed =
                cursor.is(Classes::CREATE_ONLY) || cursor.is_or_holds(Classes::WRITE_ONLY);
            let has_keys = cursor.list().key.as_deref() == Some("Key");
            if cursor.is(Classes::TAGS) && has_keys && !is_fixed && chance.below(4) == 0 {
                let tag = serde_json::json!({"Key": "aws:made:by", "Value": "aws"});
                elements.insert(chance.below(elements.len() + 1), tag);
            }
        }
        Value::Number(number)
            if cursor.shape().types.names(Types::NUMBER) && chance.below(4) == 0 =>
        {
            *value = Value::from(number.to_string());
        }
        _ => {}
    }
}

fn assign(value: &mut Value, path: &[Segment], chance: &mut Chance) {
    match (path, value) {
        ([Segment::Key(name)], Value::Object(members)) => {
            let made = format!("made-{:08x}", chance.next() as u32);
            members.insert(name.clone(), Value::from(made));
        }
        ([Segment::Key(name), rest @ ..], Value::Object(members)) => {
            if let Some(member) = members.get_mut(name) {
                assign(member, rest, chance);
            }
        }
        ([Segment::Any, rest @ ..], Value::Object(members)) => {
            members
                .values_mut()
                .for_each(|member| assign(member, rest, chance));
        }
        ([Segment::Any, rest @ ..], Value::Array(elements)) => {
            elements
                .iter_mut()
                .for_each(|element| assign(element, rest, chance));
        }
        _ => {}
    }
}

/// The declaration with a few changes of the kinds that people make.
pub(crate) fn mutated(schema: &ResourceSchema, declared: &Value, chance: &mut Chance) -> Value {
    let mut next = declared.clone();
    for _ in 0..=chance.below(3) {
        match chance.below(6) {
            0 | 1 => {
                if let Some(changed) = ucp_sample::changed(schema, &next, chance.next()) {
                    next = changed;
                }
            }
            2 => take_property(schema, &mut next, chance),
            3 => {
                visit(&mut next, chance, &mut |value, chance| match value {
                    Value::Object(members) if !members.is_empty() => {
                        let index = chance.below(members.len());
                        let name = members.keys().nth(index).cloned().unwrap_or_default();
                        members.shift_remove(&name);
                        true
                    }
                    _ => false,
                });
            }
            4 => {
                visit(&mut next, chance, &mut |value, _| match value {
                    Value::Array(elements) if elements.len() > 1 => {
                        elements.reverse();
                        true
                    }
                    _ => false,
                });
            }
            _ => {
                visit(&mut next, chance, &mut |value, chance| match value {
                    Value::Array(elements) if !elements.is_empty() => {
                        elements.remove(chance.below(elements.len()));
                        true
                    }
                    _ => false,
                });
            }
        }
    }
    drop_doubled_tags(&mut next);
    next
}

/// Drops all but the first of tags with the same key, which would be refused.
fn drop_doubled_tags(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(drop_doubled_tags),
        Value::Array(elements) => {
            let mut seen = Vec::new();
            elements.retain(|element| match element.get("Key") {
                Some(key) if seen.contains(key) => false,
                key => {
                    seen.extend(key.cloned());
                    true
                }
            });
            elements.iter_mut().for_each(drop_doubled_tags);
        }
        _ => {}
    }
}

/// Takes a top-level property from another declaration. A list gets the elements of both.
fn take_property(schema: &ResourceSchema, next: &mut Value, chance: &mut Chance) {
    let other = ucp_sample::declaration(schema, chance.next());
    let (Value::Object(members), Value::Object(mut other)) = (next, other) else {
        return;
    };
    let Some(name) = other.keys().nth(chance.below(other.len())).cloned() else {
        return;
    };
    let taken = other.shift_remove(&name).unwrap_or_default();
    match (members.get_mut(&name), taken) {
        (Some(Value::Array(elements)), Value::Array(taken)) if chance.below(2) == 0 => {
            let place = chance.below(elements.len() + 1);
            elements.splice(place..place, taken);
        }
        (_, taken) => {
            members.insert(name, taken);
        }
    }
}

/// Applies `change` to one of the values in `value` that it applies to.
fn visit(
    value: &mut Value,
    chance: &mut Chance,
    change: &mut impl FnMut(&mut Value, &mut Chance) -> bool,
) -> bool {
    if chance.below(3) == 0 && change(value, chance) {
        return true;
    }
    let below: Vec<&mut Value> = match value {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(elements) => elements.iter_mut().collect(),
        _ => return false,
    };
    let count = below.len();
    let start = chance.below(count);
    let mut below: Vec<Option<&mut Value>> = below.into_iter().map(Some).collect();
    (0..count).any(|offset| {
        let value = below[(start + offset) % count].take();
        value.is_some_and(|value| visit(value, chance, change))
    })
}

/// The same document with members in another order.
pub(crate) fn shuffled(value: &Value, chance: &mut Chance) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            for index in (1..members.len()).rev() {
                members.swap(index, chance.below(index + 1));
            }
            let shuffle =
                |(name, value): (&String, &Value)| (name.clone(), shuffled(value, chance));
            Value::Object(members.into_iter().map(shuffle).collect::<Map<_, _>>())
        }
        Value::Array(elements) => elements
            .iter()
            .map(|element| shuffled(element, chance))
            .collect(),
        scalar => scalar.clone(),
    }
}

/// The values of a class, each with its property.
pub(crate) fn of_class(value: &Value, cursor: Cursor<'_>, class: Classes) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(value, cursor, class, String::new(), &mut found);
    found.sort();
    found
}

fn collect(
    value: &Value,
    cursor: Cursor<'_>,
    class: Classes,
    pattern: String,
    found: &mut Vec<(String, String)>,
) {
    if cursor.is(class) {
        found.push((pattern, ucp_model::json::canonical(value)));
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let below = format!("{pattern}/{name}");
                collect(value, cursor.member_or_anything(name), class, below, found);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                let below = format!("{pattern}/*");
                collect(element, cursor.element(), class, below, found);
            }
        }
        _ => {}
    }
}
