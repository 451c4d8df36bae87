use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::json::kind;

/// The members of a body, taken one by one; `null` stands for absence. What is wrong is said with its place.
pub(super) struct Members(pub(super) Map<String, Value>);

impl Members {
    /// Refuses members that differ from one of `known` in letter case alone: ignoring them would drop what was meant.
    pub(super) fn spelled_as(&self, known: &[&str]) -> Result<(), String> {
        for given in self.0.keys() {
            let meant = known
                .iter()
                .find(|member| member.eq_ignore_ascii_case(given) && *member != given);
            if let Some(meant) = meant {
                return Err(format!("/{given}: did you mean '{meant}'?"));
            }
        }
        Ok(())
    }

    pub(super) fn text(&mut self, member: &str) -> Result<Option<String>, String> {
        match self.take(member) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(member, "a string", &other)),
        }
    }

    pub(super) fn flag(&mut self, member: &str) -> Result<Option<bool>, String> {
        match self.take(member) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(wrong(member, "a boolean", &other)),
        }
    }

    pub(super) fn object(&mut self, member: &str) -> Result<Option<Map<String, Value>>, String> {
        match self.take(member) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(other) => Err(wrong(member, "an object", &other)),
        }
    }

    /// An object whose values are strings, such as tags.
    pub(super) fn texts(
        &mut self,
        member: &str,
    ) -> Result<Option<BTreeMap<String, String>>, String> {
        let Some(members) = self.object(member)? else {
            return Ok(None);
        };
        let mut texts = BTreeMap::new();
        for (name, value) in members {
            match value {
                Value::String(text) => texts.insert(name, text),
                other => return Err(wrong(&format!("{member}/{name}"), "a string", &other)),
            };
        }
        Ok(Some(texts))
    }

    /// One of a few words, each with what it means.
    pub(super) fn choice<T: Copy>(
        &mut self,
        member: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, String> {
        let Some(given) = self.text(member)? else {
            return Ok(None);
        };
        let chosen = choices.iter().find(|(word, _)| *word == given);
        let words: Vec<String> = choices
            .iter()
            .map(|(word, _)| format!("'{word}'"))
            .collect();
        match chosen {
            Some((_, choice)) => Ok(Some(*choice)),
            None => Err(format!("/{member}: expected {}.", words.join(" or "))),
        }
    }

    fn take(&mut self, member: &str) -> Option<Value> {
        self.0.shift_remove(member).filter(|value| !value.is_null())
    }
}

fn wrong(member: &str, expected: &str, value: &Value) -> String {
    format!("/{member}: expected {expected}, got {}.", kind(value))
}
