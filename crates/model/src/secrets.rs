use std::fmt;

use serde_json::{Map, Value};

use crate::{Failure, json};

/// What stands in the place of a value that is shown to nobody.
pub const SENSITIVE: &str = "(sensitive)";

/// Texts that are shown to nobody but the platform that has ordered them: the random values of a service instance and of its
/// bindings.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// These texts.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        Self(texts.into_iter().filter(|it| !it.is_empty()).collect())
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces each of them in a text with [`SENSITIVE`].
    pub fn mask_text(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret) {
                *text = text.replace(secret, SENSITIVE);
            }
        }
    }

    /// The same in all texts of a value.
    pub fn mask(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.mask_text(text),
            Value::Array(_) | Value::Object(_) if !self.is_empty() => {
                *value = json::map_children(value, |_, child| {
                    let mut child = child.clone();
                    self.mask(&mut child);
                    Some(child)
                });
            }
            Value::Array(_)
            | Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_) => {}
        }
    }

    /// The same in all members.
    pub fn mask_members(&self, members: &mut Map<String, Value>) {
        for value in members.values_mut() {
            self.mask(value);
        }
    }

    /// The same in what a failure says: AWS quotes what it refuses.
    pub fn mask_failure(&self, failure: &mut Failure) {
        self.mask_text(&mut failure.message);
        for detail in &mut failure.details {
            self.mask_text(&mut detail.message);
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Detail;

    #[test]
    fn all_texts_of_a_value_are_masked() {
        let secrets = Secrets::new(["pass".to_owned(), String::new(), "salt".to_owned()]);
        let mut value = json!({"a": ["pass", 1, {"b": "a pass and salt"}], "c": null, "d": "word"});
        secrets.mask(&mut value);
        let masked = json!({"a": [SENSITIVE, 1, {"b": "a (sensitive) and (sensitive)"}], "c": null, "d": "word"});
        assert_eq!(value, masked);
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    }

    #[test]
    fn what_a_failure_quotes_is_masked() {
        let secrets = Secrets::new(["pass".to_owned()]);
        let detail = Detail {
            code: "Invalid".to_owned(),
            message: "'pass' is short".to_owned(),
            target: Some("/Password".to_owned()),
        };
        let mut failure = Failure::new("Code", "no 'pass'").with_details(vec![detail]);
        secrets.mask_failure(&mut failure);
        assert_eq!(failure.message, "no '(sensitive)'");
        assert_eq!(failure.details[0].message, "'(sensitive)' is short");
    }
}
