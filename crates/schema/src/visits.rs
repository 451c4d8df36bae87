//! How much work it is to judge a value, which is found out before it is done: how often a schema is applied to a value. A
//! schema that combines others multiplies that at each level, of the schema and of the value.

use std::ops::AddAssign;

use foldhash::{HashMap, HashMapExt, HashSet};
use serde_json::{Map, Value};
use ucp_model::json;

use crate::pattern::Patterns;
use crate::subschema::{named, target};
use crate::{ResourceSchema, Violation, ViolationCode};

/// The maximum number of visits of one judgement, of a schema to a value. Declarations
/// of public types that Cloud Control accepts need fewer.
pub(crate) const MAX_VISITS: u64 = 1_000_000;

/// The maximum number of visits in alternatives. What is wrong with each of them is found out to tell what is wrong with the
/// nearest, so these take more memory than others.
pub(crate) const MAX_IN_ALTERNATIVES: u64 = 50_000;

/// What a visit in an alternative takes: 49,000 of them took 85 MB.
const ALTERNATIVE_BYTES: usize = 1_700;

/// The maximum number of visits of a judgement that is quick. Those of most declarations are fewer. Even if each were a value
/// that a plan compares with each other, they would take some milliseconds.
const QUICK_VISITS: u64 = 400;

/// The maximum size of values that are judged quickly: their characters, and as many for each value as its number takes.
const QUICK_SIZE: usize = 8 * 1024;

/// How many names, options or characters count as one visit. They are looked at quickly.
const QUICK: usize = 32;

impl ResourceSchema {
    /// Returns a violation if judging `properties` would take too long, at the deepest place to blame.
    pub(crate) fn takes_too_long(&self, properties: &Value) -> Option<Violation> {
        let mut visits = Visits::of_at_most(MAX_VISITS, self);
        let count = visits.of(self.document(), properties);
        let (what, most) = if count.told > MAX_VISITS {
            ("schemas", MAX_VISITS)
        } else if count.in_alternatives > MAX_IN_ALTERNATIVES {
            ("alternatives", MAX_IN_ALTERNATIVES)
        } else {
            return None;
        };
        let place = visits.deepest(properties);
        let what = format!(
            "would take more than {most} checks, since the schema combines many {what} here; declare less"
        );
        let code = ViolationCode::InvalidValue;
        Some(Violation::expected(&place, code, &what))
    }
}

impl ResourceSchema {
    /// Returns how many checks judging these properties takes. What takes more than one declaration may, is not counted further.
    pub fn checks_of(&self, properties: &Value) -> Checks {
        let mut visits = Visits::of_at_most(MAX_VISITS, self);
        let count = visits.of(self.document(), properties);
        Checks {
            all: count.told.min(MAX_VISITS),
            in_alternatives: count.in_alternatives.min(MAX_IN_ALTERNATIVES),
        }
    }

    /// Returns whether judging and planning with these values takes so little time that it needs no thread of its own: some
    /// milliseconds at most, and microseconds for what is usual. It is found out in less.
    pub fn is_quick_for<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> bool {
        let (mut size_left, mut visits_left) = (QUICK_SIZE, QUICK_VISITS);
        values.into_iter().all(|value| {
            if !json::take_size(value, &mut size_left) {
                return false;
            }
            let mut visits = Visits::of_at_most(visits_left, self);
            let left = visits_left.checked_sub(visits.of(self.document(), value).told);
            visits_left = left.unwrap_or_default();
            left.is_some()
        })
    }
}

/// How many checks a judgement takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// All of them.
    pub all: u64,
    /// Those in alternatives, which take memory too: what is wrong with each is found before it is known which one is nearest.
    pub in_alternatives: u64,
}

impl Checks {
    /// Returns how many bytes the judgement takes for the time of it, besides the value.
    pub fn bytes(self) -> usize {
        usize::try_from(self.in_alternatives).map_or(usize::MAX, |checks| {
            checks.saturating_mul(ALTERNATIVE_BYTES)
        })
    }
}

struct Visits<'a> {
    /// The number from which on it is only known that there are too many.
    most: u64,
    document: &'a Value,
    patterns: &'a Patterns,
    /// How many scalars were visited by schemas that apply no others to them. They are not remembered.
    scalars: u64,
    /// The visits below a schema and a value, by their addresses.
    known: HashMap<(*const Value, *const Value), Count>,
}

/// A number of visits.
#[derive(Clone, Copy, Default)]
struct Count {
    /// To know whether the value is valid.
    judged: u64,
    /// To tell what is wrong with it. Alternatives are first judged, and then told.
    told: u64,
    /// Those in alternatives.
    in_alternatives: u64,
}

impl Count {
    const TOO_MANY: Self = Self {
        judged: u64::MAX,
        told: u64::MAX,
        in_alternatives: u64::MAX,
    };

    fn quick(looks: usize) -> Self {
        let visits = u64::try_from(1 + looks / QUICK).unwrap_or(u64::MAX);
        Self {
            judged: visits,
            told: visits,
            in_alternatives: 0,
        }
    }

    /// Returns the visits of an alternative. Those of alternatives in it are among them.
    fn of_alternative(self) -> Self {
        Self {
            told: self.told.saturating_add(self.judged),
            in_alternatives: self.judged,
            ..self
        }
    }

    fn is_too_many(self) -> bool {
        self.told > MAX_VISITS || self.in_alternatives > MAX_IN_ALTERNATIVES
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.judged = self.judged.saturating_add(other.judged);
        self.told = self.told.saturating_add(other.told);
        self.in_alternatives = self.in_alternatives.saturating_add(other.in_alternatives);
    }
}

impl<'a> Visits<'a> {
    fn of_at_most(most: u64, schema: &'a ResourceSchema) -> Self {
        Self {
            most,
            document: schema.document(),
            patterns: schema.patterns(),
            scalars: 0,
            known: HashMap::new(),
        }
    }

    /// Returns the visits of a schema and those below it to a value and those in it. Each pair is counted once, and no more
    /// pairs than there may be visits.
    fn of(&mut self, schema: &'a Value, value: &Value) -> Count {
        let Value::Object(keywords) = schema else {
            return Count::quick(0);
        };
        let is_composed = value.is_object() || value.is_array();
        if !is_composed && !keywords.keys().any(|keyword| applies_schemas(keyword)) {
            self.scalars += 1;
            return if self.scalars + self.known.len() as u64 > self.most {
                Count::TOO_MANY
            } else {
                Count::quick(looks(keywords, value))
            };
        }
        let pair = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        if self.scalars + self.known.len() as u64 >= self.most {
            return Count::TOO_MANY;
        }
        self.known.insert(pair, Count::TOO_MANY);
        let mut count = Count::quick(looks(keywords, value));
        for (keyword, applied) in keywords {
            match (keyword.as_str(), applied) {
                ("$ref", _) => {
                    if let Some(target) = target(self.document, applied) {
                        count += self.of(target, value);
                    }
                }
                ("not" | "if" | "then" | "else", _) => count += self.of(applied, value),
                ("dependencies", Value::Object(schemas)) => {
                    for schema in schemas.values() {
                        count += self.of(schema, value);
                    }
                }
                ("allOf", Value::Array(branches)) => {
                    for branch in branches {
                        count += self.of(branch, value);
                    }
                }
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    for branch in branches {
                        count += self.of(branch, value).of_alternative();
                    }
                }
                _ => {}
            }
        }
        match value {
            Value::Object(members) => count += self.members(keywords, members),
            Value::Array(items) => count += self.items(keywords, items),
            _ => {}
        }
        self.known.insert(pair, count);
        count
    }

    fn members(&mut self, keywords: &'a Map<String, Value>, members: &Map<String, Value>) -> Count {
        let mut count = Count::default();
        let properties = keywords.get("properties");
        for (name, member) in members {
            let mut is_named = false;
            if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                is_named = true;
                count += self.of(schema, member);
            }
            for (pattern, schema) in named(keywords, "patternProperties") {
                count += Count::quick(name.len());
                if self.patterns.matches(pattern, name) {
                    is_named = true;
                    count += self.of(schema, member);
                }
            }
            if let Some(schema) = keywords.get("additionalProperties").filter(|_| !is_named) {
                count += self.of(schema, member);
            }
            if keywords.contains_key("propertyNames") {
                count += Count::quick(name.len());
            }
        }
        count
    }

    fn items(&mut self, keywords: &'a Map<String, Value>, items: &[Value]) -> Count {
        let mut count = Count::default();
        for (index, item) in items.iter().enumerate() {
            let of_item = match keywords.get("items") {
                Some(Value::Array(schemas)) => schemas.get(index),
                other => other,
            };
            let of_each = keywords.get("contains").into_iter();
            for schema in of_each.chain(of_item) {
                count += self.of(schema, item);
            }
        }
        count
    }

    /// Returns the place of the deepest value that by itself has too many visits.
    fn deepest(&self, properties: &Value) -> String {
        let too_many = self.known.iter().filter(|(_, count)| count.is_too_many());
        let too_many: HashSet<*const Value> = too_many.map(|((_, value), _)| *value).collect();
        let mut deepest = String::new();
        json::walk(properties, |place, value| {
            if too_many.contains(&std::ptr::from_ref(value)) {
                let place = place.to_string();
                if place.starts_with(&deepest) {
                    deepest = place;
                }
            }
        });
        deepest
    }
}

/// Returns whether a keyword applies other schemas to the value itself.
fn applies_schemas(keyword: &str) -> bool {
    matches!(
        keyword,
        "$ref" | "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependencies"
    )
}

/// Returns the number of quick looks at a value itself.
fn looks(keywords: &Map<String, Value>, value: &Value) -> usize {
    let looks = |(keyword, of): (&String, &Value)| match (keyword.as_str(), value, of) {
        ("enum", _, Value::Array(options)) => options.len(),
        ("properties", Value::Object(_), Value::Object(schemas)) => schemas.len(),
        ("required", Value::Object(_), Value::Array(names)) => names.len(),
        ("uniqueItems", Value::Array(items), _) => items.len(),
        ("pattern", Value::String(text), _) => text.len(),
        _ => 0,
    };
    keywords.iter().map(looks).sum()
}
