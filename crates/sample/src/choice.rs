use std::collections::BTreeSet;

use serde_json::{Map, Value};

use ucp_schema::subschema;

use crate::chance::Chance;

/// A schema with its references resolved and its alternatives chosen.
#[derive(Default)]
pub(crate) struct Choice {
    /// The keywords that apply together.
    pub(crate) keywords: Map<String, Value>,
    /// The properties of alternatives that were not chosen; better omitted.
    pub(crate) avoided: BTreeSet<String>,
}

impl Choice {
    /// Chooses one of each set of alternatives in `schema`.
    pub(crate) fn choose(document: &Value, schema: &Value, chance: &mut Chance) -> Self {
        let mut choice = Self::default();
        choice.add(document, schema, chance);
        choice.choose_required(chance);
        choice
    }

    fn add(&mut self, document: &Value, schema: &Value, chance: &mut Chance) {
        let Some(schema) = subschema::resolve(document, schema) else {
            return;
        };
        for (keyword, value) in schema {
            let is_taken = keyword == "pattern" && self.keywords.contains_key(keyword);
            if !is_taken || chance.once_in(2) {
                self.add_keyword(keyword, value);
            }
        }
        for branch in subschema::branches(schema, "allOf") {
            self.add(document, branch, chance);
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches: Vec<&Value> = subschema::branches(schema, keyword).collect();
            let chosen = chance.below(branches.len());
            for (index, branch) in branches.into_iter().enumerate() {
                if index == chosen {
                    self.add(document, branch, chance);
                } else if let Some(branch) = subschema::resolve(document, branch) {
                    self.avoided.extend(texts(branch.get("required")));
                }
            }
        }
    }

    fn add_keyword(&mut self, keyword: &str, value: &Value) {
        let known = self.keywords.get_mut(keyword);
        match (keyword, known, value) {
            ("allOf" | "anyOf" | "oneOf" | "definitions" | "handlers", _, _) => {}
            ("properties", Some(Value::Object(known)), Value::Object(added)) => {
                for (name, schema) in added {
                    let both = match known.get(name) {
                        Some(before) => Value::from_iter([(
                            "allOf",
                            [before, schema].map(Value::clone).to_vec(),
                        )]),
                        None => schema.clone(),
                    };
                    known.insert(name.clone(), both);
                }
            }
            ("required", Some(Value::Array(known)), Value::Array(added)) => {
                known.extend(added.iter().cloned());
            }
            ("enum", Some(Value::Array(known)), Value::Array(added)) => {
                known.retain(|option| added.contains(option));
            }
            _ => {
                self.keywords.insert(keyword.to_owned(), value.clone());
            }
        }
    }

    /// Chooses properties for `requiredOr` and `requiredXor`, which are keywords of cfn-lint.
    fn choose_required(&mut self, chance: &mut Chance) {
        let required = self.required();
        for keyword in ["requiredOr", "requiredXor"] {
            let options: Vec<String> = texts(self.keywords.get(keyword)).collect();
            let chosen = options
                .iter()
                .find(|name| required.contains(*name))
                .or_else(|| chance.pick(&options))
                .cloned();
            let Some(chosen) = chosen else { continue };
            self.avoided
                .extend(options.into_iter().filter(|name| *name != chosen));
            self.add_keyword("required", &Value::from(vec![chosen]));
        }
        let required = self.required();
        self.avoided.retain(|name| !required.contains(name));
    }

    /// Returns the required properties, including those that they require in turn.
    pub(crate) fn required(&self) -> Vec<String> {
        let mut required: Vec<String> = texts(self.keywords.get("required")).collect();
        let mut next = 0;
        while let Some(name) = required.get(next).cloned() {
            next += 1;
            for keyword in ["dependencies", "dependentRequired"] {
                let needed = self
                    .keywords
                    .get(keyword)
                    .and_then(|needed| needed.get(&name));
                required.extend(texts(needed).collect::<Vec<_>>());
            }
            let mut seen = BTreeSet::new();
            required.retain(|name| seen.insert(name.clone()));
        }
        required
    }

    /// Whether the property `name` may require or exclude other properties.
    pub(crate) fn is_entangled(&self, name: &str) -> bool {
        let is_exclusive = texts(self.keywords.get("requiredXor")).any(|other| other == name);
        is_exclusive
            || ["dependencies", "dependentRequired", "dependentExcluded"]
                .into_iter()
                .filter_map(|keyword| self.keywords.get(keyword)?.as_object())
                .flatten()
                .any(|(one, others)| one == name || texts(Some(others)).any(|other| other == name))
    }

    pub(crate) fn count(&self, keyword: &str) -> Option<usize> {
        usize::try_from(self.keywords.get(keyword)?.as_u64()?).ok()
    }
}

fn texts(listed: Option<&Value>) -> impl Iterator<Item = String> {
    let listed = listed.and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).map(str::to_owned)
}
