use serde_json::{Map, Number, Value};
use ucp_schema::{Classes, Member, ResourceSchema, subschema};

use crate::chance::Chance;
use crate::choice::Choice;
use crate::text;

/// The maximum depth of a value. Beyond it, a schema is taken to require itself endlessly.
const MAX_DEPTH: usize = 24;

/// The pattern of keys in a map that accepts any.
const ANY_KEY: &str = "^key[0-9]{3}$";

/// The schema that allows everything.
pub(crate) static ANYTHING: Value = Value::Bool(true);

/// The depth up to which optional properties are generated.
const GENEROUS_DEPTH: usize = 4;

/// The depth up to which arrays have an optional element.
const TOLERANT_DEPTH: usize = 2 * GENEROUS_DEPTH;

/// Generates values that fit a schema.
pub(crate) struct Maker<'a> {
    schema: &'a ResourceSchema,
    pub(crate) chance: Chance,
    /// Whether to generate some optional properties.
    pub(crate) is_generous: bool,
    /// The path of the value that is being generated.
    path: Vec<String>,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(schema: &'a ResourceSchema, chance: Chance) -> Self {
        Self {
            schema,
            chance,
            is_generous: false,
            path: Vec::new(),
        }
    }

    /// Generates the properties of a resource.
    pub(crate) fn properties(&mut self) -> Option<Value> {
        let document = self.schema.document();
        let choice = Choice::choose(document, document, &mut self.chance);
        self.object(&choice)
    }

    /// Generates a value at `path`.
    pub(crate) fn value_at(&mut self, path: &[String], schema: &Value) -> Option<Value> {
        self.path = path.to_vec();
        self.value(schema)
    }

    fn value(&mut self, schema: &Value) -> Option<Value> {
        if self.path.len() > MAX_DEPTH {
            return None;
        }
        let choice = Choice::choose(self.schema.document(), schema, &mut self.chance);
        if let Some(constant) = choice.keywords.get("const") {
            return Some(constant.clone());
        }
        for keyword in ["enum", "enumCaseInsensitive"] {
            if let Some(options) = choice.keywords.get(keyword).and_then(Value::as_array) {
                return self.chance.pick(options).cloned();
            }
        }
        match json_type(&choice) {
            "object" => self.object(&choice),
            "array" => self.array(&choice),
            "boolean" => Some(Value::Bool(self.chance.once_in(2))),
            "integer" => number(&choice, true, &mut self.chance),
            "number" => number(&choice, false, &mut self.chance),
            _ => text::fitting(&choice, self.schema.patterns(), &mut self.chance).map(Value::from),
        }
    }

    fn member(&mut self, name: &str, schema: &Value) -> Option<Value> {
        self.path.push(name.to_owned());
        let value = self.value(schema);
        self.path.pop();
        value
    }

    fn object(&mut self, choice: &Choice) -> Option<Value> {
        let mut members = Map::new();
        for name in choice.required() {
            if self.is_settable(&name) {
                let value = match self.schema.member(&choice.keywords, &name) {
                    Member::Schema(schema) => self.member(&name, schema)?,
                    Member::Anything => Value::from("sample"),
                    Member::Forbidden => return None,
                };
                members.insert(name, value);
            }
        }
        self.add_optional(choice, &mut members);
        self.add_keys(choice, &mut members);
        Some(Value::Object(members))
    }

    /// Adds optional properties: as many as required, and a few more when generous.
    fn add_optional(&mut self, choice: &Choice, members: &mut Map<String, Value>) {
        let least = choice.count("minProperties").unwrap_or(0);
        let most = choice.count("maxProperties").unwrap_or(usize::MAX);
        let mut options: Vec<(&String, &Value)> = subschema::named(&choice.keywords, "properties")
            .filter(|(name, _)| !members.contains_key(*name) && !choice.avoided.contains(*name))
            .filter(|(name, _)| !choice.is_entangled(name) && self.is_settable(name))
            .collect();
        while !options.is_empty() {
            let (name, schema) = options.swap_remove(self.chance.below(options.len()));
            let is_generous = self.is_generous && self.path.len() < GENEROUS_DEPTH;
            let is_wanted = is_generous && members.len() < most && self.chance.once_in(4);
            if (members.len() < least || is_wanted)
                && let Some(value) = self.member(name, schema)
            {
                members.insert(name.clone(), value);
            }
        }
    }

    /// Adds the entries of a map with arbitrary keys.
    fn add_keys(&mut self, choice: &Choice, members: &mut Map<String, Value>) {
        let least = choice.count("minProperties").unwrap_or(0);
        let additional = choice.keywords.get("additionalProperties");
        let pattern = subschema::named(&choice.keywords, "patternProperties").next();
        let (pattern, schema, wanted) = match (pattern, additional) {
            (Some((pattern, schema)), _) => (pattern.as_str(), schema, least.max(1)),
            (None, Some(schema @ Value::Object(_))) => (ANY_KEY, schema, least.max(1)),
            (None, Some(Value::Bool(false))) => return,
            (None, _) if choice.keywords.contains_key("properties") => (ANY_KEY, &ANYTHING, least),
            (None, _) => (ANY_KEY, &ANYTHING, least.max(1)),
        };
        let wanted = wanted.min(choice.count("maxProperties").unwrap_or(wanted));
        for _ in 0..wanted * 4 {
            if members.len() >= wanted {
                return;
            }
            let key = text::matching(pattern, 1..=128, self.schema.patterns(), &mut self.chance);
            let Some(key) = key else { return };
            if let Some(value) = self.member(&key, schema) {
                members.insert(key, value);
            }
        }
    }

    fn array(&mut self, choice: &Choice) -> Option<Value> {
        let least = choice.count("minItems").unwrap_or(0);
        let wanted = match self.path.len() {
            0..GENEROUS_DEPTH if self.is_generous => least.max(1 + self.chance.below(3)),
            0..=TOLERANT_DEPTH => least.max(1),
            _ => least,
        };
        let wanted = wanted.min(choice.count("maxItems").unwrap_or(wanted));
        let is_set = choice.keywords.get("uniqueItems") == Some(&Value::Bool(true));
        let text = Value::from_iter([("type", "string")]);
        let schema = match choice.keywords.get("items") {
            Some(Value::Array(several)) => several.first().unwrap_or(&text),
            Some(schema @ Value::Object(_)) => schema,
            _ => &text,
        };
        let mut items: Vec<Value> = Vec::new();
        for _ in 0..wanted * 8 {
            if items.len() >= wanted {
                break;
            }
            let Some(item) = self.member("0", schema) else {
                break;
            };
            // The keys of tags are unique.
            let key = item.get("Key");
            let is_taken = |known: &Value| {
                is_set && *known == item || key.is_some() && known.get("Key") == key
            };
            if !items.iter().any(is_taken) {
                items.push(item);
            }
        }
        (items.len() >= least).then_some(Value::Array(items))
    }

    /// Whether a client may set a member of the current object.
    fn is_settable(&self, name: &str) -> bool {
        let path = self.path.iter().map(String::as_str);
        let path: Vec<&str> = path.chain([name]).collect();
        !self.schema.lists(Classes::READ_ONLY, &path)
    }
}

/// The JSON type to generate when a schema names several or none.
pub(crate) fn json_type(choice: &Choice) -> &str {
    let types = subschema::types(&choice.keywords);
    let has = |keyword| choice.keywords.contains_key(keyword);
    let is_allowed = |name| types.is_empty() || types.contains(&name);
    if is_allowed("array") && has("items") {
        "array"
    } else if is_allowed("object")
        && (has("properties") || has("patternProperties") || has("required"))
    {
        "object"
    } else {
        types.first().unwrap_or(&"string")
    }
}

fn number(choice: &Choice, is_integer: bool, chance: &mut Chance) -> Option<Value> {
    let bound = |keyword| choice.keywords.get(keyword).and_then(Value::as_f64);
    let step = bound("multipleOf").unwrap_or(1.0);
    let least = bound("minimum").or_else(|| Some(bound("exclusiveMinimum")? + step));
    let most = bound("maximum").or_else(|| Some(bound("exclusiveMaximum")? - step));
    let lowest = match (least, most) {
        (Some(least), _) => (least / step).ceil() * step,
        (None, Some(most)) if most < 1.0 => (most / step).floor() * step,
        _ => step,
    };
    let highest = most.unwrap_or(f64::INFINITY).min(lowest + 100.0 * step);
    let options = 1..=101_usize;
    let steps = options
        .take_while(|steps| lowest + (*steps as f64) * step <= highest)
        .count();
    let number = lowest + chance.below(steps + 1) as f64 * step;
    if number.fract() == 0.0 {
        return Some(Value::from(number as i64));
    }
    (!is_integer)
        .then(|| Number::from_f64(number).map(Value::Number))
        .flatten()
}
