//! References between resources, found in their live properties. They determine the order of deletion.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Longer strings are taken for documents and compared only as a whole.
const NAME_MAX_BYTES: usize = 2048;
/// The maximum number of consecutive parts of a name that are joined to match an identifier of several parts.
const PARTS_MAX: usize = 16;

/// Resources by their identifiers. Resources of different types may share one.
#[derive(Debug, Default)]
pub(super) struct Names<'a>(BTreeMap<&'a str, Vec<usize>>);

impl<'a> Names<'a> {
    pub(super) fn insert(&mut self, identifier: &'a str, resource: usize) {
        self.0.entry(identifier).or_default().push(resource);
    }

    /// Returns the resources that a string in `model` names, either as a whole or as a part of something like an ARN
    /// (`arn:aws:iam::1:role/r` names `r`). Parts of a string with white space do not count: it is probably prose.
    pub(super) fn named_in(&self, model: &Value) -> BTreeSet<usize> {
        let mut named = BTreeSet::new();
        self.collect(model, &mut named);
        named
    }

    fn collect(&self, value: &Value, named: &mut BTreeSet<usize>) {
        match value {
            Value::String(text) => self.collect_text(text, named),
            Value::Array(elements) => {
                for element in elements {
                    self.collect(element, named);
                }
            }
            Value::Object(members) => {
                for member in members.values() {
                    self.collect(member, named);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn collect_text(&self, text: &str, named: &mut BTreeSet<usize>) {
        let mut look_up = |name: &str| named.extend(self.0.get(name).into_iter().flatten());
        look_up(text);
        if text.len() > NAME_MAX_BYTES || text.contains(char::is_whitespace) {
            return;
        }
        let parts: Vec<(usize, usize)> = parts(text);
        for (first, (start, _)) in parts.iter().enumerate() {
            for (_, end) in parts.iter().skip(first).take(PARTS_MAX) {
                // An identifier that is a path begins with the slash.
                let from = start.saturating_sub(usize::from(text[..*start].ends_with('/')));
                look_up(&text[*start..*end]);
                look_up(&text[from..*end]);
            }
        }
    }
}

/// Returns the ranges of the parts of a name, which are separated by colons, slashes and other characters that simple
/// identifiers do not contain.
fn parts(text: &str) -> Vec<(usize, usize)> {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let mut parts = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        match (is_part(letter), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                parts.push((from, at));
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    if let Some(from) = start {
        parts.push((from, text.len()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(identifier: &str, model: Value) -> bool {
        let mut names = Names::default();
        names.insert(identifier, 0);
        !names.named_in(&model).is_empty()
    }

    #[test]
    fn whole_values_and_parts_of_arns_name_a_resource() {
        for (identifier, text) in [
            ("vpc-1", "vpc-1"),
            ("my-role", "arn:aws:iam::1:role/my-role"),
            (
                "/aws/lambda/f",
                "arn:aws:logs:eu-west-1:1:log-group:/aws/lambda/f:*",
            ),
            ("arn:aws:sns:eu-west-1:1:t", "arn:aws:sns:eu-west-1:1:t"),
            ("a b", "a b"),
            ("api|stage", "api|stage"),
            ("queue", "https://sqs.eu-west-1.amazonaws.com/1/queue"),
            ("vpc-1", "${vpc-1}"),
        ] {
            assert!(
                names(identifier, json!({"a": [{"b": text}]})),
                "{identifier} in {text}"
            );
        }
    }

    #[test]
    fn a_part_of_another_word_or_of_prose_names_nothing() {
        for (identifier, text) in [
            ("vpc-1", "vpc-12"),
            ("role", "my-role"),
            ("web", "the web tier"),
            ("logs", "logs.example"),
        ] {
            assert!(
                !names(identifier, json!({"a": text})),
                "{identifier} in {text}"
            );
        }
        assert!(!names("a", json!({"a": 1})), "a member's name");
    }
}
