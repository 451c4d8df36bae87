//! Values that AWS assigns: identifiers, ARNs, states and times.

use fancy_regex::Regex;
use serde_json::{Map, Value, json};
use ucp_model::Timestamp;
use ucp_schema::{Classes, Segment};

use crate::chance::Chance;
use crate::identifiers;
use crate::occurrences::{self, Place};
use crate::request::Caller;
use crate::resource_type::ResourceType;

/// The maximum depth of generated objects. Some schemas are recursive.
const MAX_DEPTH: usize = 3;

/// Assigns values to the properties of a resource.
pub(crate) struct Assigner<'a> {
    pub(crate) resource_type: &'a ResourceType,
    pub(crate) caller: &'a Caller,
    pub(crate) now: Timestamp,
    pub(crate) chance: Chance<'a>,
    /// Which revision of its name a new resource is.
    pub(crate) revision: u32,
}

impl Assigner<'_> {
    /// Sets missing parts of the identifier, including names, and missing read-only properties. Existing values are
    /// kept.
    pub(crate) fn complete(&self, model: &mut Value) {
        for path in self.resource_type.schema.primary_identifier() {
            let place = keys(path.segments());
            if occurrences::get(model, &place).is_none() {
                let value = self.value(model, &place);
                occurrences::insert(model, &place, value);
            }
        }
        let schema = &self.resource_type.schema;
        let mut paths: Vec<&[Segment]> = schema
            .listed(Classes::READ_ONLY)
            .map(|path| path.segments())
            .collect();
        paths.sort_by_key(|path| path.len());
        for path in paths {
            let Some((Segment::Key(name), above)) = path.split_last() else {
                continue;
            };
            let parents: Vec<Place> = occurrences::of(above, model)
                .into_iter()
                .filter(|(_, parent)| parent.is_object())
                .map(|(place, _)| place)
                .collect();
            for mut place in parents {
                place.push(name.clone());
                if occurrences::get(model, &place).is_none() {
                    let value = self.value(model, &place);
                    occurrences::insert(model, &place, value);
                }
            }
        }
    }

    /// Returns the value that AWS assigns to the property at `place`.
    fn value(&self, model: &mut Value, place: &[String]) -> Value {
        if let [property] = place
            && let Some(style) = identifiers::style(self.resource_type.name(), property)
        {
            let written = Value::String(self.written_in(style, model));
            let schema = self.resource_type.subschema(place);
            let is_list = schema.is_some_and(|schema| kind(schema) == "array");
            return if is_list { json!([written]) } else { written };
        }
        let name = place.last().map_or("", String::as_str);
        let mut value = match self.resource_type.subschema(place) {
            Some(schema) => self.fitting(name, schema, MAX_DEPTH),
            None => Value::String(self.text(name, &Map::new())),
        };
        if let Some(declared) = model.get("Port") {
            match &mut value {
                Value::Object(endpoint) => {
                    if let Some(port) = endpoint.get_mut("Port") {
                        *port = same_port(declared, port);
                    }
                }
                port if name == "Port" => *port = same_port(declared, port),
                _ => {}
            }
        }
        value
    }

    /// Fills in the placeholders of a [style](identifiers::style).
    fn written_in(&self, style: &str, model: &mut Value) -> String {
        let mut text = String::new();
        for (index, piece) in style.split(['{', '}']).enumerate() {
            let is_placeholder = index % 2 == 1;
            if is_placeholder {
                text.push_str(&self.placeholder(piece, model));
            } else {
                text.push_str(piece);
            }
        }
        text
    }

    fn placeholder(&self, name: &str, model: &mut Value) -> String {
        if let Some((alphabet, length)) = name.split_once(':') {
            let length = length.parse().unwrap_or_default();
            return match alphabet {
                "hex" => self.chance.hex(length),
                "digits" => self.chance.digits(length),
                "lower" => self.chance.lower(length),
                _ => self.chance.upper(length),
            };
        }
        match name {
            "account" => self.caller.account.clone(),
            "region" => self.caller.region.clone(),
            "uuid" => self.chance.uuid(),
            "revision" => self.revision.to_string(),
            property => {
                if model.get(property).is_none() {
                    let value = self.value(model, &[property.to_owned()]);
                    occurrences::insert(model, &[property.to_owned()], value);
                }
                match model.get(property) {
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => other.to_string(),
                    None => String::new(),
                }
            }
        }
    }

    /// Generates a plausible value of the property `name` that fits its schema.
    fn fitting(&self, name: &str, schema: &Map<String, Value>, depth: usize) -> Value {
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return self.choice(choices);
        }
        for combination in ["oneOf", "anyOf", "allOf"] {
            let branches = schema.get(combination).and_then(Value::as_array);
            if schema.get("type").is_none()
                && let Some(first) = branches.and_then(|branches| branches.first())
                && let Some(branch) = self.resource_type.resolve(first)
                && depth > 0
            {
                return self.fitting(name, branch, depth - 1);
            }
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => json!([]),
            "boolean" => json!(false),
            "integer" => self.number(name, schema),
            "number" => self.number(name, schema),
            _ => Value::String(self.text(name, schema)),
        }
    }

    fn choice(&self, choices: &[Value]) -> Value {
        let settled = [
            "ACTIVE",
            "AVAILABLE",
            "READY",
            "ENABLED",
            "CREATED",
            "COMPLETE",
        ];
        let is_settled = |choice: &&Value| {
            let text = choice.as_str().unwrap_or_default();
            settled.contains(&text.to_ascii_uppercase().as_str())
        };
        let chosen = choices.iter().find(is_settled).or_else(|| choices.first());
        chosen.cloned().unwrap_or_default()
    }

    fn object(&self, schema: &Map<String, Value>, depth: usize) -> Value {
        let mut object = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if depth > 0
                && let Some(property) = self.resource_type.resolve(property)
            {
                object.insert(name.clone(), self.fitting(name, property, depth - 1));
            }
        }
        Value::Object(object)
    }

    fn number(&self, name: &str, schema: &Map<String, Value>) -> Value {
        if is_moment(name) {
            return json!(self.now.as_millis() / 1_000);
        }
        let usual = if name.ends_with("Port") { 443 } else { 1 };
        let least = schema.get("minimum").and_then(Value::as_i64);
        let most = schema.get("maximum").and_then(Value::as_i64);
        json!(
            usual
                .clamp(
                    least.unwrap_or(usual).min(usual),
                    most.unwrap_or(usual).max(usual)
                )
                .max(least.unwrap_or(usual))
        )
    }

    fn text(&self, name: &str, schema: &Map<String, Value>) -> String {
        let mut candidates = self.candidates(name, schema);
        let fits = Fit::of(schema);
        let best = candidates.iter().position(|text| fits.accepts(text));
        candidates.swap_remove(best.unwrap_or_default())
    }

    /// Returns plausible values of a text property of this name, the likeliest first.
    fn candidates(&self, name: &str, schema: &Map<String, Value>) -> Vec<String> {
        let lower_name = name.to_ascii_lowercase();
        let is_time = schema.get("format").and_then(Value::as_str) == Some("date-time");
        let chance = self.chance;
        let type_name = self.resource_type.schema.type_name();
        let resource = type_name.resource();
        let service = type_name.namespace();
        let service = service
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let small = resource.to_ascii_lowercase();
        let Caller { account, region } = self.caller;
        let arn = format!(
            "arn:aws:{service}:{region}:{account}:{small}/{}",
            chance.uuid()
        );
        let likeliest = match lower_name.as_str() {
            _ if is_time || is_moment(name) => self.now.to_string(),
            name if name.ends_with("arn") => arn.clone(),
            name if name.ends_with("accountid") || name.contains("owner") => account.clone(),
            name if name.ends_with("region") => region.clone(),
            name if name.ends_with("status") || name.ends_with("state") => "ACTIVE".to_owned(),
            name if name.ends_with("version") => "1".to_owned(),
            name if name.ends_with("url") || name.ends_with("uri") => {
                format!(
                    "https://{}.{service}.{region}.amazonaws.com",
                    chance.lower(10)
                )
            }
            name if name.ends_with("address")
                || name.ends_with("endpoint")
                || name.contains("dns")
                || name.contains("domainname") =>
            {
                format!("{}.{service}.{region}.amazonaws.com", chance.lower(10))
            }
            name if name.ends_with("port") => "443".to_owned(),
            name if name.ends_with("ip") => "203.0.113.10".to_owned(),
            name if name.ends_with("name") => format!("{resource}-{}", chance.upper(12)),
            _ => chance.uuid(),
        };
        vec![
            likeliest,
            chance.uuid(),
            chance.hex(17),
            chance.lower(10),
            chance.upper(10),
            account.clone(),
            "1".to_owned(),
            format!("{resource}-{}", chance.upper(12)),
            format!("{small}-{}", chance.lower(10)),
            format!("{small}-{}", chance.hex(17)),
            arn,
        ]
    }
}

/// The constraints of a schema on a text.
struct Fit {
    pattern: Option<Regex>,
    lengths: std::ops::RangeInclusive<u64>,
}

impl Fit {
    fn of(schema: &Map<String, Value>) -> Self {
        let pattern = schema.get("pattern").and_then(Value::as_str);
        let bound = |keyword| schema.get(keyword).and_then(Value::as_u64);
        Self {
            pattern: pattern.and_then(|pattern| Regex::new(pattern).ok()),
            lengths: bound("minLength").unwrap_or(0)..=bound("maxLength").unwrap_or(u64::MAX),
        }
    }

    fn accepts(&self, text: &str) -> bool {
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        let matches = |pattern: &Regex| pattern.is_match(text).unwrap_or(false);
        self.lengths.contains(&length) && self.pattern.as_ref().is_none_or(matches)
    }
}

/// Returns the declared port, as a text where the made up one is.
fn same_port(declared: &Value, made_up: &Value) -> Value {
    match (declared, made_up) {
        (Value::Number(number), Value::String(_)) => Value::String(number.to_string()),
        _ => declared.clone(),
    }
}

/// Whether a property of this name is a timestamp.
fn is_moment(name: &str) -> bool {
    [
        "Time",
        "Timestamp",
        "Date",
        "CreatedAt",
        "UpdatedAt",
        "ModifiedAt",
        "On",
    ]
    .iter()
    .any(|end| name.ends_with(end))
}

/// The type of a schema; the first one if there are several.
fn kind(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("string"),
        _ if schema.contains_key("properties") => "object",
        _ if schema.contains_key("items") => "array",
        _ => "string",
    }
}

/// The place that a path without `*` names.
fn keys(path: &[Segment]) -> Place {
    let names = path.iter().filter_map(|segment| match segment {
        Segment::Key(name) => Some(name.clone()),
        Segment::Any => None,
    });
    names.collect()
}
