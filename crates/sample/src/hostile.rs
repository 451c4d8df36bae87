use serde_json::{Map, Value};
use ucp_schema::{ResourceSchema, subschema};

use crate::chance::Chance;
use crate::choice::Choice;
use crate::text;
use crate::value::{ANYTHING, json_type};

/// The maximum number of characters of a body.
const BODY_MAX: usize = 1_048_576;

/// The most that requests may declare, less what names and options usually take: characters of JSON, and values.
const MOST: Size = Size {
    chars: 250_000,
    values: 49_000,
};
const MAX_DEPTH: usize = 60;

/// How many elements or members of one object or array may be the same.
const COPIES: [usize; 6] = [1, 1, 8, 256, 4_096, MOST.values];

/// What texts of no pattern consist of.
const STUFF: [&str; 6] = ["a", " ", "-", "0", "\u{1d54f}", "a-"];

/// Generates properties that are made to take long to judge: as large as the limits of requests allow, with long texts that
/// nearly match their patterns, wide arrays, objects of many members, and deep nests, where the schema allows them and where
/// it does not.
pub fn hostile(schema: &ResourceSchema, seed: u64) -> Value {
    let mut size = MOST;
    loop {
        let properties = generate(schema, seed, size);
        if properties.to_string().chars().count() <= BODY_MAX {
            return properties;
        }
        // Many copies of long names or options.
        size = size.shared_by(2);
    }
}

fn generate(schema: &ResourceSchema, seed: u64, size: Size) -> Value {
    let mut attack = Attack {
        schema,
        chance: Chance::new(seed, u64::MAX),
    };
    let document = schema.document();
    let choice = Choice::choose(document, document, &mut attack.chance);
    attack.object(&choice, size, 0)
}

/// Returns a model that is as hard to compare with `model` as possible: the same values in another order, some of them with
/// a difference.
pub fn disarranged(model: &Value, seed: u64) -> Value {
    differ(model, &mut Chance::new(seed, u64::MAX))
}

fn differ(model: &Value, chance: &mut Chance) -> Value {
    match model {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| differ(item, chance)).collect();
            match chance.below(3) {
                0 => items.reverse(),
                1 if !items.is_empty() => items.rotate_left(1),
                _ => {}
            }
            Value::Array(items)
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, _)| (name.clone(), differ(value, chance));
            Value::Object(members.iter().rev().map(member).collect())
        }
        Value::String(text) if chance.once_in(4) => Value::from(format!("{text}~")),
        other => other.clone(),
    }
}

/// How large a value may be.
#[derive(Clone, Copy)]
struct Size {
    chars: usize,
    values: usize,
}

impl Size {
    fn shared_by(self, count: usize) -> Self {
        Self {
            chars: self.chars / count.max(1),
            values: self.values / count.max(1),
        }
    }
}

struct Attack<'a> {
    schema: &'a ResourceSchema,
    chance: Chance,
}

impl Attack<'_> {
    fn value(&mut self, schema: &Value, size: Size, depth: usize) -> Value {
        let choice = Choice::choose(self.schema.document(), schema, &mut self.chance);
        if depth >= MAX_DEPTH || size.values < 2 {
            return self.leaf(&choice, size);
        }
        // A value of another type is wrong at once, unless there are many of it.
        let json_type = match self.chance.below(16) {
            0 => "array",
            1 => "object",
            _ => json_type(&choice),
        };
        match json_type {
            "object" => self.object(&choice, size, depth),
            "array" => self.array(&choice, size, depth),
            _ => self.leaf(&choice, size),
        }
    }

    fn leaf(&mut self, choice: &Choice, size: Size) -> Value {
        let option = ["enum", "enumCaseInsensitive"]
            .into_iter()
            .find_map(|keyword| {
                let options = choice.keywords.get(keyword)?.as_array()?;
                self.chance.pick(options).cloned()
            });
        match (json_type(choice), option, self.chance.below(4)) {
            (_, Some(option), 1..) => option,
            (_, _, 0) => Value::from(""),
            ("string", ..) => Value::from(self.text(choice, size.chars)),
            ("boolean", ..) => Value::Bool(true),
            ("object", ..) => Value::Object(Map::new()),
            ("array", ..) => Value::Array(Vec::new()),
            _ => Value::from(self.chance.below(1_000)),
        }
    }

    /// Generates a text of as many characters as its schema allows and there is room for, sometimes of more than it allows.
    fn text(&mut self, choice: &Choice, room: usize) -> String {
        let most = choice.count("maxLength").unwrap_or(room);
        let length = match self.chance.below(4) {
            0 => room,
            1 => most.min(16).min(room),
            _ => most.min(room),
        };
        let fitting = text::fitting(choice, self.schema.patterns(), &mut self.chance);
        let part = match fitting {
            Some(fitting) if !fitting.is_empty() && !self.chance.once_in(4) => {
                let letters: Vec<char> = fitting.chars().collect();
                let start = self.chance.below(letters.len());
                let part = &letters[start..start + 1 + self.chance.below(letters.len() - start)];
                let whole: String = part.iter().collect();
                return (fitting.chars().chain(whole.chars().cycle()))
                    .take(length)
                    .collect();
            }
            _ => self.chance.pick(&STUFF).copied().unwrap_or("a"),
        };
        part.chars().cycle().take(length).collect()
    }

    fn copies(&mut self, size: Size) -> usize {
        let copies = self.chance.pick(&COPIES).copied().unwrap_or(1);
        copies.min(size.values / 2).min(size.chars / 8).max(1)
    }

    fn array(&mut self, choice: &Choice, size: Size, depth: usize) -> Value {
        let schema = match choice.keywords.get("items") {
            Some(Value::Array(several)) => several.first().unwrap_or(&ANYTHING),
            Some(schema @ Value::Object(_)) => schema,
            _ => &ANYTHING,
        };
        let count = self.copies(size);
        let item = self.value(schema, size.shared_by(count), depth + 1);
        let are_equal = self.chance.once_in(3);
        let items = (0..count).map(|index| {
            if are_equal {
                item.clone()
            } else {
                distinct(&item, index)
            }
        });
        Value::Array(items.collect())
    }

    fn object(&mut self, choice: &Choice, size: Size, depth: usize) -> Value {
        let known: Vec<(&String, &Value)> =
            subschema::named(&choice.keywords, "properties").collect();
        let mut members = Map::new();
        let is_map = known.is_empty() || self.chance.once_in(8);
        if is_map {
            self.add_members(choice, size, depth, &mut members);
            return Value::Object(members);
        }
        let count = match self.chance.below(3) {
            0 => known.len().min(size.values / 2).max(1),
            _ => 1,
        };
        let first = self.chance.below(known.len());
        let room = size.shared_by(count);
        for (name, schema) in known.iter().cycle().skip(first).take(count) {
            let value = self.value(schema, room, depth + 1);
            members.insert((*name).clone(), value);
        }
        Value::Object(members)
    }

    /// Adds members of names that the schema allows, or does not know.
    fn add_members(
        &mut self,
        choice: &Choice,
        size: Size,
        depth: usize,
        members: &mut Map<String, Value>,
    ) {
        let pattern = subschema::named(&choice.keywords, "patternProperties").next();
        let additional = choice.keywords.get("additionalProperties");
        let schema = pattern.map(|(_, schema)| schema).or(additional);
        let count = self.copies(size);
        let room = size.shared_by(count);
        let value = self.value(schema.unwrap_or(&ANYTHING), room, depth + 1);
        let name = match pattern {
            Some((pattern, _)) if !self.chance.once_in(4) => {
                let patterns = self.schema.patterns();
                text::matching(pattern, 1..=room.chars.max(1), patterns, &mut self.chance)
            }
            _ => None,
        };
        let name = name.unwrap_or_else(|| "k".to_owned());
        for index in 0..count {
            members.insert(format!("{name}{index}"), value.clone());
        }
    }
}

/// Returns a value that differs from all with another index.
fn distinct(value: &Value, index: usize) -> Value {
    match value {
        Value::String(text) => {
            let mut letters: String = text.chars().skip(index.to_string().len()).collect();
            letters.push_str(&index.to_string());
            Value::from(letters)
        }
        Value::Number(_) => Value::from(index),
        Value::Object(members) => {
            let mut is_done = false;
            let member = |(name, value): (&String, &Value)| {
                let is_here = !is_done && (value.is_string() || value.is_number());
                is_done |= is_here;
                let value = if is_here {
                    distinct(value, index)
                } else {
                    value.clone()
                };
                (name.clone(), value)
            };
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}
